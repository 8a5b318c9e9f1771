#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Who compiles kernels, and when: whatever the settings say, the result is the same; without a worker program one line of the log says who
# compiles instead; explain says which tier a step is on and why.
. "$(dirname "$0")/support/check.sh"
program='sum(X + X)'
expected=1000001000000
for compile in wait background off; do
    CLF_COMPILE=$compile is "$program" "$expected" --in X=seq:1000000x1
    CLF_COMPILE=$compile CLF_DEVICE= is "$program" "$expected" --in X=seq:1000000x1
done
ends 2 'perhaps' env CLF_COMPILE=perhaps "$CLFUSE" run -e 1
ends 2 'CLF_WORKER_MS' env CLF_WORKER_MS=0 "$CLFUSE" run -e 1

worker=$(dirname "$CLFUSE")/clfuse-worker
"$worker" argument >"$work/out" 2>"$work/err"
[ $? -eq 2 ] && [ ! -s "$work/out" ] && grep -q 'takes no arguments' "$work/err" || fault "the worker started by hand does not say that it is not for that"
"$worker" </dev/null >"$work/out"
[ $? -eq 0 ] && [ ! -s "$work/out" ] || fault 'the worker without a message does not end in silence'

# With a device for CPUs: the first run is on the host, and the kernel asked for.
if "$CLFUSE" info 2>/dev/null | grep -q ' cpu '; then
    CLF_DEVICE=cpu CLF_COMPILE=background CLF_WORKER="$work/none" CLF_LOG=build "$CLFUSE" run -e "$program" --in X=rand:1000000x1 \
        >"$work/out" 2>"$work/log"
    true_that 'one line says who compiles without a worker' [ "$(grep -c 'a thread of this process builds kernels' "$work/log")" -eq 1 ]
    true_that 'the log says that a kernel is asked for' grep -q 'is asked for' "$work/log"
    CLF_DEVICE=cpu CLF_COMPILE=background "$CLFUSE" explain -e "$program" --in X=rand:1000000x1 >"$work/plan"
    true_that 'explain says which tier and why' grep -q 'because  tier 0: ' "$work/plan"
    CLF_DEVICE=cpu CLF_COMPILE=background CLF_LOG=cplan "$CLFUSE" run -e "$program" --in X=rand:1000000x1 >"$work/out" 2>"$work/log"
    true_that 'and so does the log' grep -q 'step 0: .* tier 0: ' "$work/log"

    # With the generic kernel on disk the step waits there; without it, or where that is off, on the host executor.
    CLF_CACHE=on CLF_CACHE_DIR=$work/generic
    export CLF_CACHE CLF_CACHE_DIR
    CLF_DEVICE=cpu CLF_TIER=1 is "$program" "$expected" --in X=seq:1000000x1
    CLF_DEVICE=cpu CLF_COMPILE=background is "$program" "$expected" --in X=seq:1000000x1
    CLF_DEVICE=cpu CLF_COMPILE=background "$CLFUSE" explain -e "$program" --in X=rand:1000000x1 >"$work/plan"
    true_that 'explain says that it is a generic kernel' grep -q 'because  tier 1: ' "$work/plan"
    CLF_TIER1=off CLF_DEVICE=cpu CLF_COMPILE=background "$CLFUSE" explain -e "$program" --in X=rand:1000000x1 >"$work/plan"
    true_that 'or is not' grep -q 'because  tier 0: ' "$work/plan"
    rows='q = X %*% t(X[1,]); sum(t(X) %*% (q * q + 1))'
    CLF_DEVICE=cpu CLF_TIER=1 "$CLFUSE" run -e "$rows" --in X=rand:20000x50:1:7 >"$work/tier1"
    CLF_DEVICE=cpu CLF_COMPILE=background "$CLFUSE" explain -e "$rows" --in X=rand:20000x50:1:7 >"$work/plan"
    true_that 'rows have a generic kernel, too' grep -q 'row.generic' "$work/plan"
    CLF_DEVICE=cpu CLF_TIER=2 CLF_COMPILE=wait "$CLFUSE" run -e "$rows" --in X=rand:20000x50:1:7 >"$work/tier2" 2>"$work/err"
    true_that 'a driver that compiles in this process has nothing to say' [ ! -s "$work/err" ]
    true_that 'the bits of tier 1 are those of tier 2' cmp -s "$work/tier1" "$work/tier2"
fi
finish
