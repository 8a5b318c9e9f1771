#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Every topic of CLF_LOG speaks where it has something to say, and silence is the default; CLF_DUMP writes every stage of a plan.
. "$(dirname "$0")/support/check.sh"
program='sum(t(t(X)) * X + 1)'
"$CLFUSE" run -e "$program" --in X=seq:40x40 2>"$work/silent" >/dev/null
true_that 'nothing is said unasked' [ ! -s "$work/silent" ]
CLF_LOG=all CLF_DUMP="$work/dump" "$CLFUSE" run -e "$program" --in X=seq:40x40 2>"$work/log" >/dev/null
for topic in graph rules memo cost plan cplan mem; do
    true_that "topic $topic speaks" grep -q "clfuse $topic: " "$work/log"
done
CLF_LOG=cost,plan "$CLFUSE" run -e "$program" --in X=seq:40x40 2>"$work/some" >/dev/null
true_that 'only the topics named speak' [ "$(grep -c -v -e 'clfuse cost: ' -e 'clfuse plan: ' "$work/some")" -eq 0 ]
for stage in graph rewritten memo plan cplan; do
    true_that "$stage is dumped" [ -n "$(find "$work/dump" -name "*.$stage.txt" -size +0)" ]
done
true_that 'the recorded graph has what a rewrite took away' grep -q TRANSPOSE "$work"/dump/*.graph.txt
true_that 'the rewritten one does not, and says by which rule' grep -q '^# ' "$work"/dump/*.rewritten.txt
true_that 'no transpose is left' [ "$(cat "$work"/dump/*.rewritten.txt | grep -c TRANSPOSE)" -eq 0 ]
if "$CLFUSE" info 2>/dev/null | grep -q ' cpu '; then
    CLF_DEVICE=cpu CLF_DUMP="$work/kernels" "$CLFUSE" run --tier 2 -e "$program" --in X=seq:40x40 >/dev/null 2>"$work/err" || fault "$(cat "$work/err")"
    true_that 'kernels are dumped' grep -q __kernel "$work"/kernels/*.kernel.cl
fi
ends 2 'nonsense' env CLF_LOG=nonsense "$CLFUSE" run -e 1
finish
