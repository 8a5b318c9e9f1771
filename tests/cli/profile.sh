#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# CLF_PROFILE prints a table on stderr and nothing on stdout; CLF_TRACE's file is JSON in the Trace Event Format: slices of one track nest
# or follow each other, every track has a name, and what is on top of the host's track together with the table gives the same steps.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1
program='s = sum(X * Y + 1); g = t(X) %*% (X %*% v); sum(g) + s'
in='--in X=rand:20000x50 --in Y=rand:20000x50 --in v=rand:50x1'
# shellcheck disable=SC2086
CLF_PROFILE=1 CLF_TRACE=t.json "$CLFUSE" run -e "$program" $in >with.out 2>table || fault "run: $(cat table)"
# shellcheck disable=SC2086
"$CLFUSE" run -e "$program" $in >without.out 2>err || fault "run: $(cat err)"
true_that 'results are the same' cmp -s with.out without.out
true_that 'without settings nothing is said' [ ! -s err ]
for row in 'clfuse profile: ' 'of roof' 'planning' 'evaluation beside its steps' 'the program itself'; do
    true_that "the table has '$row'" grep -q "$row" table
done
true_that 'it ends at 100 %' grep -q 'together.* 100.0 %' table
awk '!/together/ { for (i = 2; i <= NF; i++) if ($i == "%") { s += $(i - 1); break } } END { exit !(s > 98 && s < 102) }' table ||
    fault "shares do not add up to 100 %: $(cat table)" # the first share of a row is that of the time, a second one that of the roof
json t.json "all(e['ph'] in 'XM' for e in d['traceEvents']) and d['otherData']['lost'] == '0'"
json t.json "{e['tid'] for e in d['traceEvents'] if e['ph'] == 'X'} <= {e['tid'] for e in d['traceEvents'] if e['name'] == 'thread_name'}"
json t.json "'host' in [e['args']['name'] for e in d['traceEvents'] if e['name'] == 'thread_name']"
json t.json "all(e['dur'] >= 0 and e['ts'] >= 0 for e in d['traceEvents'] if e['ph'] == 'X')"
json t.json "len([e for e in d['traceEvents'] if e['ph'] == 'X' and e['tid'] == 0 and e.get('cat') == 'steps']) >= 2"
cat >nest.py <<'END'
import json, sys
events = [e for e in json.load(open(sys.argv[1]))["traceEvents"] if e["ph"] == "X"]
for track in {e["tid"] for e in events}:
    open_until = []
    for e in sorted((e for e in events if e["tid"] == track), key=lambda e: (e["ts"], -e["dur"])):
        while open_until and open_until[-1] <= e["ts"] + 0.002:
            open_until.pop()
        if open_until and e["ts"] + e["dur"] > open_until[-1] + 0.002:
            sys.exit("track %d: %s at %f reaches over its end" % (track, e["name"], e["ts"]))
        open_until.append(e["ts"] + e["dur"])
END
if command -v python3 >/dev/null 2>&1; then
    true_that 'slices nest' python3 nest.py t.json
fi
ends 4 'CLF_TRACE: cannot write' env CLF_TRACE=none/t.json "$CLFUSE" run -e 1
ends 2 'is not on or off' env CLF_PROFILE=maybe "$CLFUSE" run -e 1
finish
