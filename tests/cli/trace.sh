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
for stage in graph plan cplan; do
    true_that "$stage is dumped" [ -n "$(find "$work/dump" -name "*.$stage.txt" -size +0)" ]
done
ends 2 'nonsense' env CLF_LOG=nonsense "$CLFUSE" run -e 1
finish
