; SPDX-License-Identifier: Apache-2.0
; E = exp(X - rowMaxs(X)); E / rowSums(E)
%0 = PARAM f64 100000x200 slot 0
%1 = FOLD f64 100000x1 max rows (%0)
%2 = SUB f64 100000x200 (%0 %1)
%3 = EXP f64 100000x200 (%2)
%4 = FOLD f64 100000x1 sum rows (%3)
%5 = DIV f64 100000x200 (%3 %4)
roots %5

(machine "host") (price 8.12e+04 us) (gap 0 us) (peak 160000000)
(step 0 fused Row (in %0) (out %5) (covers %1 %2 %3 %4 %5))
(cut %5 result "kept as a result")

(machine "host and fast gpu") (price 8.12e+04 us) (gap 0 us) (peak 160000000)
(step 0 fused Row (in %0) (out %5) (covers %1 %2 %3 %4 %5))
(cut %5 result "kept as a result")

(machine "host and slow gpu") (price 8.12e+04 us) (gap 0 us) (peak 160000000)
(step 0 fused Row (in %0) (out %5) (covers %1 %2 %3 %4 %5))
(cut %5 result "kept as a result")

(machine "two equal") (price 2.27e+03 us) (gap 0 us) (peak 160000000)
(step 0 fused Row (in %0) (out %5) (covers %1 %2 %3 %4 %5))
(cut %5 result "kept as a result")
