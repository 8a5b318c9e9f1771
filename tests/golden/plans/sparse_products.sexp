; SPDX-License-Identifier: Apache-2.0
; t(S) %*% (S %*% u)
%0 = PARAM f64 100000x50000 slot 0
%1 = TRANSPOSE f64 50000x100000 (%0)
%2 = PARAM f64 50000x1 slot 1
%3 = MATMUL f64 100000x1 (%0 %2)
%4 = MATMUL f64 50000x1 (%1 %3)
roots %4

(machine "host") (price 3.46e+04 us) (gap 0 us) (peak 400000)
(step 0 fused Row entries (in %0 %2) (out %4) (covers %3 %4))
(cut %4 result "kept as a result")

(machine "host and fast gpu") (price 2.08e+04 us) (gap 0 us) (peak 400000)
(step 0 fused Row entries (device 1) (in %0 %2) (out %4) (covers %3 %4))
(cut %4 result "kept as a result")

(machine "host and slow gpu") (price 3.46e+04 us) (gap 0 us) (peak 400000)
(step 0 fused Row entries (in %0 %2) (out %4) (covers %3 %4))
(cut %4 result "kept as a result")

(machine "two equal") (price 2.16e+03 us) (gap 0 us) (peak 400000)
(step 0 fused Row entries (in %0 %2) (out %4) (covers %3 %4))
(cut %4 result "kept as a result")
