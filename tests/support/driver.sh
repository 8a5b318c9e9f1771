#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# driver.sh OUT FOLDERS...: the machine's OpenCL drivers for suites of kernels, in OUT/vendors; PoCL with a shorter header. Of what takes it
# to build a program a third is to read declarations of 18,000 lines, and it reads them before it looks whether it has that program.
# Here it declares functions whose names stand in sources in FOLDERS, and what is written for several types. A function is declared as
# in PoCL's own header, with all its overloads, or not at all: a text means the same, or does not compile.
# PoCL looks for its files beside its library: here are links to all of them but that header. Where it cannot be found in this way, drivers
# are those of the machine.
set -u
out=$1; shift
rm -rf "$out" && mkdir -p "$out/vendors" "$out/lib/any" "$out/share/pocl/include" || exit 1

: >"$out/names"
names() {
    echo get_global_size get_local_size get_num_groups get_global_offset get_work_dim mad clamp min max fabs fma printf # and of CLBlast
    grep -rhoE '[A-Za-z_][A-Za-z_0-9]*' --include='*.[ch]' --include='*.cl' --include='*.clh' --include='*.def' "$@"
}

# header FOLDERS...: of PoCL's, from standard input.
header() {
    names "$@" | tr ' ' '\n' | sort -u >"$out/names"
    awk 'FNR == NR { known[$1] = 1; next }
        rest { rest = !/;/; next }
        /__ovld/ && !/^#/ {
            name = $0; sub(/\(.*/, "", name); sub(/.*[ *]/, "", name)
            typed = name ~ /^(convert_[a-z]*(2|4|8|16)?(_sat)?|v(load|store)(2|4|8|16))$/
            if (!(name in known) && !typed) { rest = !/;/; next }
        }
        { print }' "$out/names" -
}

# pocl NAME: its library, if its header is where it would look for it.
pocl() {
    library=$1
    case $library in /*) ;; *) library=$(/sbin/ldconfig -p 2>/dev/null | awk '$1 ~ /^libpocl[.]so/ { print $NF; exit }') ;; esac
    library=$(readlink -f "$library") || return 1
    share=$(dirname "$library")/../../share/pocl
    [ -f "$library" ] && [ -f "$share/include/opencl-c.h" ] && grep -q '[.][.]/[.][.]/share/pocl' "$library"
}

for vendor in /etc/OpenCL/vendors/*.icd; do
    [ -f "$vendor" ] || continue
    cp "$vendor" "$out/vendors/"
    case $(head -n 1 "$vendor") in *libpocl*) pocl "$(head -n 1 "$vendor")" || continue ;; *) continue ;; esac
    ln -s "$library" "$(dirname "$library")/pocl" "$out/lib/any/"
    for file in "$share"/*; do [ -d "$file" ] || ln -s "$(readlink -f "$file")" "$out/share/pocl/"; done
    cp "$share"/include/* "$out/share/pocl/include/"
    header "$@" <"$share/include/opencl-c.h" >"$out/share/pocl/include/opencl-c.h"
    echo "$out/lib/any/$(basename "$library")" >"$out/vendors/$(basename "$vendor")"
done
