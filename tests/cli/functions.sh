#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every function and operator of the language on tiny inputs. X is 1..6 in two rows; the values are worked out by hand.
. "$(dirname "$0")/support/check.sh"

while IFS='~' read -r program expected; do
    [ -n "$program" ] && is "$program" "$expected" --in X=seq:2x3
done <<'TABLE'
-2^2~-4
2^-1~0.5
2^3^2~512
-X[1,1]^2~-1
2 * X[1, ] %*% t(X[1, ])~28
7 - 2 - 1~4
1 + 2 * 3~7
7 %/% 2 * 2~6
7 %/% -2~-4
-7 %% 3~2
7 %% -3~-2
5 %% 0~NaN
1 / 0~Inf
-1 / 0~-Inf
1 < 2~1
2 <= 1~0
1 > 2~0
2 >= 2~1
X == 3~0 0 1 / 0 0 0
X != 3~1 1 0 / 1 1 1
!X~0 0 0 / 0 0 0
!1 == 2~1
!NaN~0
NaN & 1~1
1 & 0~0
0 | 2~1
1 | 0 & 0~1
xor(1, 0)~1
xor(2, 3)~0
bitwAnd(6, 3)~2
bitwOr(6, 3)~7
TRUE + TRUE~2
FALSE~0
pi~3.1415926535897931
NaN~NaN
-Inf~-Inf
1e-15~1.0000000000000001e-15
.5~0.5
t(X)~1 4 / 2 5 / 3 6
nrow(X)~2
ncol(X)~3
length(X)~6
sum(X)~21
mean(X)~3.5
min(X)~1
max(X)~6
prod(X)~720
var(X)~3.5
sd(X)~1.8708286933869707
min(X, 2)~1 2 2 / 2 2 2
max(X, 3, 5)~5 5 5 / 5 5 6
min(X, NaN)~NaN NaN NaN / NaN NaN NaN
max(NaN, 1)~NaN
rowSums(X)~6 / 15
rowMeans(X)~2 / 5
rowMaxs(X)~3 / 6
rowMins(X)~1 / 4
rowVars(X)~1 / 1
rowProds(X)~6 / 120
rowIndexMax(X)~3 / 3
rowIndexMin(X)~1 / 1
rowIndexMax(matrix(1, rows=2, cols=3))~1 / 1
colSums(X)~5 7 9
colMeans(X)~2.5 3.5 4.5
colMaxs(X)~4 5 6
colMins(X)~1 2 3
colVars(X)~4.5 4.5 4.5
colProds(X)~4 10 18
exp(0 * X)~1 1 1 / 1 1 1
log(X[1, 1])~0
log(8, 2)~3
log(1000, 10)~3
log1p(0)~0
expm1(0)~0
log2(X[1, 2])~1
log10(100)~2
sqrt(X[2, 1])~2
abs(-X)~1 2 3 / 4 5 6
sign(X - 3)~-1 -1 0 / 1 1 1
round(2.5)~3
round(-2.5)~-2
floor(-1.5)~-2
ceil(1.2)~2
sin(0)~0
cos(0)~1
tan(0)~0
asin(0)~0
acos(1)~0
atan(0)~0
atan2(0, 1)~0
sinh(0)~0
cosh(0)~1
tanh(0)~0
sigmoid(0)~0.5
erf(0)~0
pnorm(0)~0.5
is.nan(X / 0 - X / 0)~1 1 1 / 1 1 1
is.na(NaN)~1
is.na(X[1, ])~0 0 0
is.infinite(1 / 0)~1
is.infinite(NaN)~0
ifelse(X > 3, X, 0)~0 0 0 / 4 5 6
ifelse(NaN, 1, 2)~1
replace(target=X, pattern=2, replacement=9)~1 9 3 / 4 5 6
replace(target=matrix(NaN, rows=1, cols=2), pattern=NaN, replacement=0)~0 0
outer(seq(1, 2), seq(1, 3), "+")~2 3 4 / 3 4 5
outer(seq(1, 2), t(seq(1, 3)), "<=")~1 1 1 / 0 1 1
diag(seq(1, 2))~1 0 / 0 2
diag(matrix(seq(1, 4), rows=2, cols=2))~1 / 4
cbind(seq(1, 2), seq(3, 4), seq(5, 6))~1 3 5 / 2 4 6
rbind(X, X[1, ])~1 2 3 / 4 5 6 / 1 2 3
rbind(cbind(1, 2), cbind(3, 4))~1 2 / 3 4
seq(1, 3)~1 / 2 / 3
seq(5, 1, -2)~5 / 3 / 1
seq(0, 1, 0.25)~0 / 0.25 / 0.5 / 0.75 / 1
matrix(7, rows=1, cols=2)~7 7
matrix(X, rows=3, cols=2)~1 2 / 3 4 / 5 6
matrix(sum(X), rows=1, cols=2)~21 21
rand(rows=1, cols=2, min=3, max=3)~3 3
nrow(rand(rows=5, cols=2))~5
as.scalar(X[1, 2])~2
as.matrix(3)~3
cumsum(X)~1 2 3 / 5 7 9
cumprod(X)~1 2 3 / 4 10 18
cummin(-X)~-1 -2 -3 / -4 -5 -6
cummax(rbind(X, X[1, ]))~1 2 3 / 4 5 6 / 4 5 6
t(cumsum(t(X)))~1 3 6 / 4 9 15
t(cummin(t(-X))) + cbind(X[, 2:3], 0 * X[, 1])~1 1 -3 / 1 1 -6
rev(X)~4 5 6 / 1 2 3
order(target=X, by=1, decreasing=TRUE)~4 5 6 / 1 2 3
order(target=X, by=2, decreasing=TRUE, index.return=TRUE)~2 / 1
X[2, 1:2]~4 5
X[, 2]~2 / 5
X[nrow(X), ]~4 5 6
X[1:nrow(X), 2:(ncol(X) - 1)]~2 / 5
X - rowMeans(X)~-1 0 1 / -1 0 1
X - colMeans(X)~-1.5 -1.5 -1.5 / 1.5 1.5 1.5
X + as.matrix(1)~2 3 4 / 5 6 7
X^2~1 4 9 / 16 25 36
sum(matrix(0, rows=0, cols=3))~0
prod(matrix(0, rows=0, cols=3))~1
min(matrix(0, rows=0, cols=3))~Inf
max(matrix(0, rows=0, cols=3))~-Inf
mean(matrix(0, rows=0, cols=3))~NaN
colSums(matrix(0, rows=0, cols=3))~0 0 0
var(5)~NaN
TABLE

near 'exp(1)' 2.718281828459045
near 'log(10)' 2.302585092994046
near 'log(8, 3)' 1.892789260714372
near 'sin(1) + cos(1) + tan(1)' 2.939181015330939
near 'asin(0.5) + acos(0.5) + atan(0.5)' 2.0344439357957027
near 'atan2(1, -1)' 2.356194490192345
near 'sinh(1) + cosh(1) + tanh(1)' 3.4798759844148
near 'sigmoid(1)' 0.7310585786300049
near 'erf(0.5)' 0.5204998778130465
near 'pnorm(1)' 0.8413447460685429
near 'log1p(1e-10) / 1e-10' 0.99999999995
near 'expm1(1e-10) / 1e-10' 1.00000000005
near 'sqrt(2)' 1.4142135623730951
near '2^0.5' 1.4142135623730951

# One program, many results: all in order, computed together.
is 'a = X + 1; sum(a); a[1, ]; b = a * 2; max(b)' '27 / 2 3 4 / 14' --in X=seq:2x3
is 'a = X + 1; b <- sum(a)' 27 --in X=seq:2x3
is 'n = 2; X[n, ]' '4 5 6' --in X=seq:2x3
is 'X[n, n:3]' '5 6' --in X=seq:2x3 --in n=2
is 'n * 2' 5 --in n=2.5
is 'rand(rows=3, cols=2, seed=5) == rand(rows=3, cols=2, seed=5)' '1 1 / 1 1 / 1 1'
is 'sum(rand(rows=10, cols=10) == rand(rows=10, cols=10)) < 100' 1
is 's = sum(rand(rows=100, cols=100, sparsity=0.5) != 0); s > 4700 & s < 5300' 1
is 'R = rand(rows=100, cols=100, min=-1, max=3); min(R) >= -1 & max(R) < 3 & abs(mean(R) - 1) < 0.1' 1

# Derivatives are expressions, too.
is 'grad(sum(X^2), X)' '2 4 6 / 8 10 12' --in X=seq:2x3
is 'y = X * 2; loss = sum(y^2); loss; grad(loss, x=y); grad(loss, X)' '364 / 4 8 12 / 16 20 24 / 8 16 24 / 32 40 48' --in X=seq:2x3
is 'grad(sum(X %*% t(X)), X)' '10 14 18 / 10 14 18' --in X=seq:2x3
is 'g = grad(sum(X^3), X); grad(sum(g), X)' '6 12 18 / 24 30 36' --in X=seq:2x3
ends 4 'line 1, column 1: grad: the loss is 2x2' "$CLFUSE" run -e 'grad(X, X)' --in X=seq:2x2
ends 4 'grad: the cumulative min has no derivative' "$CLFUSE" run -e 'grad(sum(cummin(X)), X)' --in X=seq:2x2
finish
