; SPDX-License-Identifier: Apache-2.0
; r = p - a*q; r; sum(r^2)
%0 = PARAM f64 1000000x1 slot 0
%1 = PARAM f64 scalar slot 1
%2 = PARAM f64 1000000x1 slot 2
%3 = MUL f64 1000000x1 (%1 %2)
%4 = SUB f64 1000000x1 (%0 %3)
%5 = FOLD f64 scalar sumsq all (%4)
roots %4 %5

(machine "host") (price 1.03e+03 us) (gap 0 us) (peak 8000008)
(step 0 fused Cell (in %2 %0) (out %4 %5) (covers %3 %4 %5))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")

(machine "host and fast gpu") (price 1.03e+03 us) (gap 0 us) (peak 8000008)
(step 0 fused Cell (in %2 %0) (out %4 %5) (covers %3 %4 %5))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")

(machine "host and slow gpu") (price 1.03e+03 us) (gap 0 us) (peak 8000008)
(step 0 fused Cell (in %2 %0) (out %4 %5) (covers %3 %4 %5))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")

(machine "two equal") (price 169 us) (gap 0 us) (peak 8000008)
(step 0 fused Cell (in %2 %0) (out %4 %5) (covers %3 %4 %5))
(cut %4 result "kept as a result")
(cut %5 result "kept as a result")
