; SPDX-License-Identifier: Apache-2.0
; Y + X * (U %*% t(V))
%0 = PARAM f64 2000x1500 slot 0
%1 = PARAM f64 2000x1500 slot 1
%2 = PARAM f64 2000x10 slot 2
%3 = PARAM f64 1500x10 slot 3
%4 = TRANSPOSE f64 10x1500 (%3)
%5 = MATMUL f64 2000x1500 (%2 %4)
%6 = MUL f64 2000x1500 (%1 %5)
%7 = ADD f64 2000x1500 (%0 %6)
roots %7

(machine "host") (price 1.16e+04 us) (gap 0 us) (peak 48000000)
(step 0 fused Outer entries (in %1 %2 %3) (out %6) (covers %5 %6))
(step 1 convert to-dense (in %6) (out %6) (covers))
(step 2 fused Cell (in %0 %6) (out %7) (covers %7))
(cut %7 result "kept as a result")
(cut %6 %7 "reading it from memory is cheaper than computing it again, or in one loop with its consumer")

(machine "host and fast gpu") (price 1.16e+04 us) (gap 0 us) (peak 48000000)
(step 0 fused Outer entries (in %1 %2 %3) (out %6) (covers %5 %6))
(step 1 convert to-dense (in %6) (out %6) (covers))
(step 2 fused Cell (in %0 %6) (out %7) (covers %7))
(cut %7 result "kept as a result")
(cut %6 %7 "reading it from memory is cheaper than computing it again, or in one loop with its consumer")

(machine "host and slow gpu") (price 1.16e+04 us) (gap 0 us) (peak 48000000)
(step 0 fused Outer entries (in %1 %2 %3) (out %6) (covers %5 %6))
(step 1 convert to-dense (in %6) (out %6) (covers))
(step 2 fused Cell (in %0 %6) (out %7) (covers %7))
(cut %7 result "kept as a result")
(cut %6 %7 "reading it from memory is cheaper than computing it again, or in one loop with its consumer")

(machine "two equal") (price 699 us) (gap 0 us) (peak 48000000)
(step 0 fused Outer entries (in %1 %2 %3) (out %6) (covers %5 %6))
(step 1 convert to-dense (in %6) (out %6) (covers))
(step 2 fused Cell (in %0 %6) (out %7) (covers %7))
(cut %7 result "kept as a result")
(cut %6 %7 "reading it from memory is cheaper than computing it again, or in one loop with its consumer")
