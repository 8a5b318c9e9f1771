; SPDX-License-Identifier: Apache-2.0
; sum((S != 0) * (S - U %*% t(V))^2) + 0.1 * (sum(U^2) + sum(V^2))
%0 = PARAM f64 100000x50000 slot 0
%1 = CONST f64 scalar slot 1
%2 = NE u8 100000x50000 (%0 %1)
%3 = PARAM f64 100000x10 slot 2
%4 = PARAM f64 50000x10 slot 3
%5 = TRANSPOSE f64 10x50000 (%4)
%6 = MATMUL f64 100000x50000 (%3 %5)
%7 = SUB f64 100000x50000 (%0 %6)
%8 = SQR f64 100000x50000 (%7)
%9 = MUL f64 100000x50000 (%2 %8)
%10 = FOLD f64 scalar sum all (%9)
%11 = CONST f64 scalar slot 4
%12 = FOLD f64 scalar sumsq all (%3)
%13 = FOLD f64 scalar sumsq all (%4)
%14 = ADD f64 scalar (%12 %13)
%15 = MUL f64 scalar (%11 %14)
%16 = ADD f64 scalar (%10 %15)
roots %16

(machine "host") (price 8e+04 us) (gap 0 us) (peak 32)
(step 0 fused Outer entries (in %0 %3 %4) (out %10 %12) (covers %2 %6 %7 %8 %9 %10 %12))
(step 1 fused Cell (in %4) (out %13) (covers %13))
(step 2 fused Cell (in %10 %12 %13) (out %16) (covers %16))
(cut %16 result "kept as a result")
(cut %10 %16 "an aggregate must see all cells before its result is used")
(cut %12 %14 "an aggregate must see all cells before its result is used")
(cut %13 %14 "an aggregate must see all cells before its result is used")

(machine "host and fast gpu") (price 2.46e+04 us) (gap 2.44e+04 us) (peak 32)
(step 0 fused Outer entries (device 1) (in %0 %3 %4) (out %10 %12) (covers %2 %6 %7 %8 %9 %10 %12))
(step 1 fused Cell (device 1) (in %4) (out %13) (covers %13))
(step 2 fused Cell (device 1) (in %10 %12 %13) (out %16) (covers %16))
(cut %16 result "kept as a result")
(cut %10 %16 "an aggregate must see all cells before its result is used")
(cut %12 %14 "an aggregate must see all cells before its result is used")
(cut %13 %14 "an aggregate must see all cells before its result is used")

(machine "host and slow gpu") (price 8e+04 us) (gap 3.02e+04 us) (peak 32)
(step 0 fused Outer entries (in %0 %3 %4) (out %10 %12) (covers %2 %6 %7 %8 %9 %10 %12))
(step 1 fused Cell (in %4) (out %13) (covers %13))
(step 2 fused Cell (in %10 %12 %13) (out %16) (covers %16))
(cut %16 result "kept as a result")
(cut %10 %16 "an aggregate must see all cells before its result is used")
(cut %12 %14 "an aggregate must see all cells before its result is used")
(cut %13 %14 "an aggregate must see all cells before its result is used")

(machine "two equal") (price 2.31e+03 us) (gap 0 us) (peak 32)
(step 0 fused Outer entries (in %0 %3 %4) (out %10 %12) (covers %2 %6 %7 %8 %9 %10 %12))
(step 1 fused Cell (in %4) (out %13) (covers %13))
(step 2 fused Cell (in %10 %12 %13) (out %16) (covers %16))
(cut %16 result "kept as a result")
(cut %10 %16 "an aggregate must see all cells before its result is used")
(cut %12 %14 "an aggregate must see all cells before its result is used")
(cut %13 %14 "an aggregate must see all cells before its result is used")
