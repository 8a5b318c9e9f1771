; SPDX-License-Identifier: Apache-2.0
; ((S != 0) * (U %*% t(V) - S)) %*% V + 0.1 * U
%0 = PARAM f64 100000x50000 slot 0
%1 = CONST f64 scalar slot 1
%2 = NE u8 100000x50000 (%0 %1)
%3 = PARAM f64 100000x10 slot 2
%4 = PARAM f64 50000x10 slot 3
%5 = TRANSPOSE f64 10x50000 (%4)
%6 = MATMUL f64 100000x50000 (%3 %5)
%7 = SUB f64 100000x50000 (%6 %0)
%8 = MUL f64 100000x50000 (%2 %7)
%9 = MATMUL f64 100000x10 (%8 %4)
%10 = CONST f64 scalar slot 4
%11 = MUL f64 100000x10 (%10 %3)
%12 = ADD f64 100000x10 (%9 %11)
roots %12

(machine "host") (price 9.75e+04 us) (gap 0 us) (peak 8000000)
(step 0 fused Outer entries (in %0 %3 %4) (out %12) (covers %2 %6 %7 %8 %9 %11 %12))
(cut %12 result "kept as a result")

(machine "host and fast gpu") (price 2.74e+04 us) (gap 0 us) (peak 8000000)
(step 0 fused Outer entries (device 1) (in %0 %3 %4) (out %12) (covers %2 %6 %7 %8 %9 %11 %12))
(cut %12 result "kept as a result")

(machine "host and slow gpu") (price 9.75e+04 us) (gap 0 us) (peak 8000000)
(step 0 fused Outer entries (in %0 %3 %4) (out %12) (covers %2 %6 %7 %8 %9 %11 %12))
(cut %12 result "kept as a result")

(machine "two equal") (price 3.44e+03 us) (gap 0 us) (peak 8000000)
(step 0 fused Outer entries (in %0 %3 %4) (out %12) (covers %2 %6 %7 %8 %9 %11 %12))
(cut %12 result "kept as a result")
