; SPDX-License-Identifier: Apache-2.0
; A = X*Y+Z; A; sum(A)
%0 = PARAM f64 100000x100 slot 0
%1 = PARAM f64 100000x100 slot 1
%2 = MUL f64 100000x100 (%0 %1)
%3 = PARAM f64 100000x100 slot 2
%4 = ADD f64 100000x100 (%2 %3)
%5 = FOLD f64 scalar sum all (%4)
roots %4 %5

(machine "host") (price 2.05e+04 us) (gap 0 us) (peak 80000008)
(step 0 fused Cell (in %0 %1 %3) (out %4 %5) (covers %2 %4 %5))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")

(machine "host and fast gpu") (price 2.05e+04 us) (gap 0 us) (peak 80000008)
(step 0 fused Cell (in %0 %1 %3) (out %4 %5) (covers %2 %4 %5))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")

(machine "host and slow gpu") (price 2.05e+04 us) (gap 0 us) (peak 80000008)
(step 0 fused Cell (in %0 %1 %3) (out %4 %5) (covers %2 %4 %5))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")

(machine "two equal") (price 2.19e+03 us) (gap 0 us) (peak 80000008)
(step 0 fused Cell (in %0 %1 %3) (out %4 %5) (covers %2 %4 %5))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")
