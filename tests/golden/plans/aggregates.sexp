; SPDX-License-Identifier: Apache-2.0
; sum(X*Y); sum(X*Z); max(X); colSums(X^2)
%0 = PARAM f64 100000x100 slot 0
%1 = PARAM f64 100000x100 slot 1
%2 = MUL f64 100000x100 (%0 %1)
%3 = FOLD f64 scalar sum all (%2)
%4 = PARAM f64 100000x100 slot 2
%5 = MUL f64 100000x100 (%0 %4)
%6 = FOLD f64 scalar sum all (%5)
%7 = FOLD f64 scalar max all (%0)
%8 = FOLD f64 1x100 sumsq cols (%0)
roots %3 %6 %7 %8

(machine "host") (price 1.89e+04 us) (gap 0 us) (peak 824)
(step 0 fused Cell (in %0 %1 %4) (out %3 %6 %7 %8) (covers %2 %3 %5 %6 %7 %8))
(cut %3 result "kept as a result")
(cut %6 result "kept as a result")
(cut %7 result "kept as a result")
(cut %8 result "kept as a result")

(machine "host and fast gpu") (price 1.89e+04 us) (gap 0 us) (peak 824)
(step 0 fused Cell (in %0 %1 %4) (out %3 %6 %7 %8) (covers %2 %3 %5 %6 %7 %8))
(cut %3 result "kept as a result")
(cut %6 result "kept as a result")
(cut %7 result "kept as a result")
(cut %8 result "kept as a result")

(machine "host and slow gpu") (price 1.89e+04 us) (gap 0 us) (peak 824)
(step 0 fused Cell (in %0 %1 %4) (out %3 %6 %7 %8) (covers %2 %3 %5 %6 %7 %8))
(cut %3 result "kept as a result")
(cut %6 result "kept as a result")
(cut %7 result "kept as a result")
(cut %8 result "kept as a result")

(machine "two equal") (price 1.61e+03 us) (gap 0 us) (peak 824)
(step 0 fused Cell (in %0 %1 %4) (out %3 %6 %7 %8) (covers %2 %3 %5 %6 %7 %8))
(cut %3 result "kept as a result")
(cut %6 result "kept as a result")
(cut %7 result "kept as a result")
(cut %8 result "kept as a result")
