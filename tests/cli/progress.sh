#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# The line on what takes long: told at once when asked, never into a pipe unasked, wiped before results and errors; nothing has colours.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1
{ echo "a,b"; i=0; while [ $i -lt 60000 ]; do echo "1.000000000000$i,2.000000000000"; i=$((i + 1)); done; } >long.csv
run() { "$CLFUSE" run -e 'sum(order(exp(X), by=1)); nrow(X)' --in X=long.csv; }
run >plain 2>err || fault "run: $(cat err)"
true_that 'a pipe hears nothing' [ ! -s err ]
CLF_PROGRESS=off run >off.out 2>err && true_that 'off is silent' [ ! -s err ]
CLF_PROGRESS=on run >out 2>err || fault "CLF_PROGRESS=on: $(cat err)"
true_that 'results are the same' cmp -s plain out
tr '\r' '\n' <err >lines
for what in 'reading long.csv [1-9][0-9]* %' 'planning' 'step 1 of'; do true_that "says '$what'" grep -q "^clfuse: $what" lines; done
true_that 'the line is wiped at the end' [ -z "$(tail -1 lines | tr -d ' ')" ]
true_that 'no line is longer than a terminal' awk 'length($0) > 79 { exit 1 }' lines
CLF_PROGRESS=on "$CLFUSE" run -e 'sum(X) + sum(Y)' --in X=long.csv --in Y=none.csv 2>err
tr '\r' '\n' <err >lines
true_that 'an error has a line of its own' grep -q '^clfuse: .*none.csv' lines
ends 2 'expected one of auto|on|off' env CLF_PROGRESS=loud "$CLFUSE" run -e 1
escape=$(printf '\033')
for command in "run -e 1" info "explain -e 1" --help; do
    # shellcheck disable=SC2086
    TERM=xterm-256color "$CLFUSE" $command >all 2>&1
    true_that "$command has no colours" [ "$(grep -c "$escape" all)" -eq 0 ]
done
if command -v python3 >/dev/null 2>&1; then
    TERM=xterm python3 -c "import pty, sys; sys.exit(pty.spawn(sys.argv[1:]) != 0)" "$CLFUSE" run -e 'sum(X)' --in X=long.csv >tty 2>&1 </dev/null
    true_that 'what is quick is quiet on a terminal, too, and has no colours' [ "$(grep -c -e "$escape" -e reading tty)" -eq 0 ]
fi
finish
