#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# coverage.sh FOLDER LEAST: what the tests that ran in a build with --coverage covered: lines and branches of each folder and file.
# A branch counts once it was taken, in whichever object its source line was compiled. Fails when core, planner, formats and host
# together have less than LEAST per cent of their branches taken. Nothing is excluded. One gcov at a time: two would mix their lines.
set -u
folder=$1 least=$2
cd "$(dirname "$0")/../.." || exit 1
objects=$(find "$folder/core" "$folder/planner" "$folder/formats" "$folder/host" "$folder/device" "$folder/kernels-cl" -name '*.gcno' | LC_ALL=C sort)
[ -n "$objects" ] || { echo "no coverage build in $folder"; exit 1; }
# The sources were given to the compiler by their full paths: what stands below this folder is ours.
echo "$objects" | xargs -n 8 gcov --stdout --branch-probabilities --branch-counts 2>/dev/null | awk -v root="$(pwd)/" -v least="$least" '
/^ *-: *0:Source:/ {
    file = $0; sub(/^ *-: *0:Source:/, "", file)
    ours = index(file, root) == 1
    file = ours ? substr(file, length(root) + 1) : file
    if (file ~ /^\/|^build|^tests\//) ours = 0
    next
}
!ours { next }
/^branch / {
    b = file SUBSEP line SUBSEP n++
    if (!(b in branch)) { branch[b] = 0; all_b[file]++ }
    if (!branch[b] && $4 + 0 > 0) { branch[b] = 1; taken[file]++ }
    next
}
/^(call|function|unconditional) / || /^---/ { next }
{
    split($0, part, ":")
    count = part[1]; gsub(/ /, "", count)
    if (part[2] + 0 != line) { line = part[2] + 0; n = 0 } else n = 0
    if (count == "-" || line == 0) next
    l = file SUBSEP line
    if (!(l in seen)) { seen[l] = 0; all_l[file]++ }
    if (!seen[l] && count !~ /^[#=]/) { seen[l] = 1; hit[file]++ }
}
function percent(a, b) { return b ? sprintf("%5.1f", 100 * a / b) : "    -" }
END {
    for (f in all_l) {
        folder = f; sub(/\/.*/, "", folder)
        L[folder] += all_l[f]; H[folder] += hit[f]; B[folder] += all_b[f]; T[folder] += taken[f]
        printf "%d\t%s\t%d\t%d\t%s\n", all_b[f] - taken[f], percent(taken[f], all_b[f]), taken[f], all_b[f], f | "LC_ALL=C sort -rn | head -60 >&2"
    }
    printf "%-12s %8s %8s\n", "folder", "lines", "branches"
    n = split("core planner formats host kernels-cl device", order, " ")
    for (i = 1; i <= n; i++) {
        f = order[i]
        printf "%-12s %7s%% %7s%%  of %d and %d\n", f, percent(H[f], L[f]), percent(T[f], B[f]), L[f], B[f]
        if (i <= 4) { t += T[f]; b += B[f] }
    }
    printf "core, planner, formats and host: %s%% of %d branches, %s%% are asked for\n", percent(t, b), b, least
    exit !(b > 0 && 100 * t >= least * b)
}'
