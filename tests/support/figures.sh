#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# A document with the figures of the last test run between its two marks.
# usage: figures.sh DOCUMENT FILE.tsv... >RESULT     a file has lines "what<TAB>value", of one run
set -u
document=$1
shift
table=$(mktemp) || exit 1
trap 'rm -f "$table"' EXIT
{
    echo '| suite | figure | value |'
    echo '| --- | --- | --- |'
    for file in "$@"; do
        [ -f "$file" ] || continue
        suite=$(basename "$file" .tsv | sed 's/^test_//; s/^prop_//')
        case $file in */fuzz_*) ;; build-asan/*) suite="$suite, sanitized" ;; esac
        awk -F '\t' -v suite="$suite" 'NF >= 2 && !seen[$0]++ { gsub(/\|/, "/"); printf "| %s | %s | %s |\n", suite, $1, $2 }' "$file"
    done
} >"$table"
[ "$(wc -l <"$table")" -gt 2 ] || { echo "no figures among: $*" >&2; exit 1; }
awk -v table="$table" '
    /^<!-- figures begin -->$/ { print; print ""; while ((getline line <table) > 0) print line; print ""; skip = 1; next }
    /^<!-- figures end -->$/ { skip = 0 }
    !skip' "$document"
