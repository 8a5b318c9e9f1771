#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Include direction. Each folder may include only what stands below it; one line per rule: the folder, then what it may name in an
# #include "..." (a prefix, or a whole file). Quoted includes are written from the repository root, or public as clfuse/...
# OpenCL headers belong to device/ alone. tests/ and perf/ may include anything of ours.
cd "$(dirname "$0")/../.." || exit 1
{
cat <<'RULES'
rule core/include clfuse/
rule host/include clfuse/
rule host/tool host/tool/ clfuse/
rule examples examples/ clfuse/
rule core core/ clfuse/types.h
rule formats formats/ core/ clfuse/types.h
rule device device/ core/ clfuse/types.h
rule planner planner/ core/ clfuse/types.h formats/fmt.h device/profile.h device/source.h
rule kernels-cl kernels-cl/ core/ clfuse/types.h formats/ planner/cplan.h planner/skel.h planner/builder.h device/profile.h device/source.h
rule host host/ kernels-cl/ planner/ formats/ device/ core/ clfuse/
RULES
find core formats device planner kernels-cl host examples -name '*.[ch]' | LC_ALL=C sort |
    xargs grep -nE '^[[:space:]]*#[[:space:]]*include' /dev/null
} | awk '
$1 == "rule" { n++; folder[n] = $2 "/"; for (i = 3; i <= NF; i++) allowed[n] = allowed[n] " " $i; next }
{
    seen++
    split($0, at, ":"); file = at[1]; where = at[1] ":" at[2]
    for (r = 1; r <= n && index(file, folder[r]) != 1; r++);
    if ($0 ~ /<CL\//) { if (folder[r] != "device/") bad("only device/ includes OpenCL headers"); next }
    if (!match($0, /"[^"]*"/)) next
    name = substr($0, RSTART + 1, RLENGTH - 2)
    if (name ~ /\.inc$/) next   # generated into the build folder
    m = split(allowed[r], may, " ")
    for (i = 1; i <= m; i++)
        if (name == may[i] || (may[i] ~ /\/$/ && index(name, may[i]) == 1)) {
            if (folder[r] == "host/" && index(name, "host/tool/") == 1) break
            next
        }
    bad(folder[r] " must not include \"" name "\"")
}
function bad(text) { print where ": " text; faults++ }
END { if (!seen) { print "no include found: the check is broken"; exit 1 } exit faults > 0 }'
