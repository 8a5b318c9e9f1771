; SPDX-License-Identifier: Apache-2.0
; T = abs(S) * w; sum(T^2); colSums(T); rowSums(S != 0)
%0 = PARAM f64 100000x50000 slot 0
%1 = ABS f64 100000x50000 (%0)
%2 = PARAM f64 100000x1 slot 1
%3 = MUL f64 100000x50000 (%1 %2)
%4 = FOLD f64 scalar sumsq all (%3)
%5 = FOLD f64 1x50000 sum cols (%3)
%6 = FOLD i64 100000x1 nnz rows (%0)
roots %4 %5 %6

(machine "host") (price 3.33e+04 us) (gap 0 us) (peak 1200008)
(step 0 fused Cell entries (in %0 %2) (out %4 %5 %6) (covers %1 %3 %4 %5 %6))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")
(cut %6 result "kept as a result")

(machine "host and fast gpu") (price 2.13e+04 us) (gap 0 us) (peak 1200008)
(step 0 fused Cell entries (device 1) (in %0 %2) (out %4 %5 %6) (covers %1 %3 %4 %5 %6))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")
(cut %6 result "kept as a result")

(machine "host and slow gpu") (price 3.33e+04 us) (gap 0 us) (peak 1200008)
(step 0 fused Cell entries (in %0 %2) (out %4 %5 %6) (covers %1 %3 %4 %5 %6))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")
(cut %6 result "kept as a result")

(machine "two equal") (price 2.3e+03 us) (gap 0 us) (peak 1200008)
(step 0 fused Cell entries (in %0 %2) (out %4 %5 %6) (covers %1 %3 %4 %5 %6))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")
(cut %6 result "kept as a result")
