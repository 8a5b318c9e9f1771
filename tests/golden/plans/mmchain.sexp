; SPDX-License-Identifier: Apache-2.0
; t(X) %*% (w * (X %*% v))
%0 = PARAM f64 100000x100 slot 0
%1 = TRANSPOSE f64 100x100000 (%0)
%2 = PARAM f64 100000x1 slot 1
%3 = PARAM f64 100x1 slot 2
%4 = MATMUL f64 100000x1 (%0 %3)
%5 = MUL f64 100000x1 (%2 %4)
%6 = MATMUL f64 100x1 (%1 %5)
roots %6

(machine "host") (price 7.15e+03 us) (gap 0 us) (peak 800)
(step 0 fused Row (in %0 %2 %3) (out %6) (covers %4 %5 %6))
(cut %6 result "kept as a result")

(machine "host and fast gpu") (price 7.15e+03 us) (gap 0 us) (peak 800)
(step 0 fused Row (in %0 %2 %3) (out %6) (covers %4 %5 %6))
(cut %6 result "kept as a result")

(machine "host and slow gpu") (price 7.15e+03 us) (gap 0 us) (peak 800)
(step 0 fused Row (in %0 %2 %3) (out %6) (covers %4 %5 %6))
(cut %6 result "kept as a result")

(machine "two equal") (price 603 us) (gap 0 us) (peak 800)
(step 0 fused Row (in %0 %2 %3) (out %6) (covers %4 %5 %6))
(cut %6 result "kept as a result")
