; SPDX-License-Identifier: Apache-2.0
; Q = P * (X %*% W); t(X) %*% (Q - P * rowSums(Q))
%0 = PARAM f64 100000x100 slot 0
%1 = TRANSPOSE f64 100x100000 (%0)
%2 = PARAM f64 100000x5 slot 1
%3 = PARAM f64 100x5 slot 2
%4 = MATMUL f64 100000x5 (%0 %3)
%5 = MUL f64 100000x5 (%2 %4)
%6 = FOLD f64 100000x1 sum rows (%5)
%7 = MUL f64 100000x5 (%2 %6)
%8 = SUB f64 100000x5 (%5 %7)
%9 = MATMUL f64 100x5 (%1 %8)
roots %9

(machine "host") (price 2.37e+04 us) (gap 0 us) (peak 4000)
(step 0 fused Row (in %0 %2 %3) (out %9) (covers %4 %5 %6 %7 %8 %9))
(cut %9 result "kept as a result")

(machine "host and fast gpu") (price 2.37e+04 us) (gap 2.36e+04 us) (peak 4000)
(step 0 fused Row (in %0 %2 %3) (out %9) (covers %4 %5 %6 %7 %8 %9))
(cut %9 result "kept as a result")

(machine "host and slow gpu") (price 2.37e+04 us) (gap 0 us) (peak 4000)
(step 0 fused Row (in %0 %2 %3) (out %9) (covers %4 %5 %6 %7 %8 %9))
(cut %9 result "kept as a result")

(machine "two equal") (price 920 us) (gap 0 us) (peak 4000)
(step 0 fused Row (in %0 %2 %3) (out %9) (covers %4 %5 %6 %7 %8 %9))
(cut %9 result "kept as a result")
