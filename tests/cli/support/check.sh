# SPDX-License-Identifier: Apache-2.0
# What the scripts of this folder share; sourced. CLFUSE is the tool. A check that does not hold prints a line; finish exits 1 then.
: "${CLFUSE:?is the path of the tool}"
CLF_DEVICE=${CLF_DEVICE:-host}
export CLF_DEVICE
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
faults=0
checks=0

fault() {
    faults=$((faults + 1))
    printf '%s\n' "$*"
}

# is PROGRAM EXPECTED [OPTIONS...]: exactly these lines on stdout, rows of EXPECTED separated by " / ", nothing on stderr, exit 0.
is() {
    program=$1; expected=$2; shift 2
    checks=$((checks + 1))
    got=$("$CLFUSE" run -e "$program" "$@" 2>"$work/err"); rc=$?
    want=$(printf '%s' "$expected" | sed 's| / |\
|g')
    if [ $rc -ne 0 ] || [ "$got" != "$want" ] || [ -s "$work/err" ]; then
        fault "run -e '$program' $*: exit $rc, printed '$got', expected '$want'; $(cat "$work/err")"
    fi
}

# near PROGRAM VALUE [OPTIONS...]: one number, equal within 1e-12 of its size.
near() {
    checks=$((checks + 1))
    program=$1; value=$2; shift 2
    got=$("$CLFUSE" run -e "$program" "$@" 2>&1)
    echo "$got $value" | awk '{ d = $1 - $2; s = $2 < 0 ? -$2 : $2; exit !(NF == 2 && (d < 0 ? -d : d) <= 1e-12 * (1 + s)) }' ||
        fault "run -e '$program' $*: printed '$got', expected about '$value'"
}

# ends CODE TEXT COMMAND...: exit CODE, nothing on stdout, one line on stderr that begins with "clfuse: " and holds TEXT.
ends() {
    code=$1; text=$2; shift 2
    checks=$((checks + 1))
    "$@" >"$work/out" 2>"$work/err"; rc=$?
    lines=$(wc -l <"$work/err")
    case $(cat "$work/err") in
        "clfuse: "*"$text"*) said=yes ;;
        *) said=no ;;
    esac
    if [ $rc -ne "$code" ] || [ "$lines" -ne 1 ] || [ $said = no ] || [ -s "$work/out" ]; then
        fault "$*: exit $rc, expected $code and one line with '$text'; said: $(head -c 600 "$work/err")"
    fi
}

# true_that WHAT COMMAND...: the command succeeds.
true_that() {
    what=$1; shift
    checks=$((checks + 1))
    "$@" || fault "$what"
}

# json FILE PYTHON-EXPRESSION over d: valid JSON, and the expression holds. Without python3 nothing is checked.
json() {
    command -v python3 >/dev/null 2>&1 || return
    checks=$((checks + 1))
    python3 -m json.tool <"$1" >/dev/null || { fault "$1 is not JSON: $(head -c 300 "$1")"; return; }
    python3 -c "import json,sys; d = json.load(open(sys.argv[1])); sys.exit(not ($2))" "$1" || fault "$1: not $2: $(head -c 600 "$1")"
}

finish() {
    echo "$checks checks, $faults faults"
    [ $faults -eq 0 ] && [ $checks -gt 0 ]
    exit $?
}
