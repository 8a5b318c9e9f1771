#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# gpu_pack.sh BUILD FOLDER: everything that a machine with a GPU needs and a bare system has not, in one folder that works anywhere: the
# installed library, tool, bench and worker, the tests with label gpu, and the shared libraries they load, the OpenCL loader among them,
# but for the C library's own. In it `sh gpu.sh` says what is there, runs those tests and the bench on the GPU.
set -eu
[ $# -eq 2 ] || { echo "usage: gpu_pack.sh BUILD FOLDER" >&2; exit 2; }
build=$1 pack=$2
most_mib=64
rm -rf "$pack"
mkdir -p "$pack/tests"
DESTDIR='' cmake --install "$build" --prefix "$pack" --strip >"$build/gpu_pack.log"
rm -rf "$pack/include" "$pack/share" "$pack"/lib*/*.a "$pack"/lib*/*/*.a "$pack"/lib*/cmake "$pack"/lib*/*/cmake "$pack"/lib*/pkgconfig "$pack"/lib*/*/pkgconfig
cp "$build/tests/test_prop_device_net" "$pack/tests/"
strip "$pack/tests/test_prop_device_net"

# What those load, of what they load, and what is loaded by name: the system's own C library stays where it is.
mkdir -p "$pack/lib"
for name in libOpenCL.so.1 libopenblas.so.0 libclblast.so.1; do
    library=$(ldconfig -p | awk -v name="$name" '$1 == name { print $NF; exit }')
    [ -z "$library" ] || cp -L "$library" "$pack/lib/$name"
done
for program in "$pack/bin/clfuse" "$pack"/libexec/clfuse/* "$pack"/tests/* "$pack"/lib/*.so.*; do ldd "$program"; done |
    awk '$3 ~ /^\// { print $3 }' | sort -u | grep -Ev '/(libc|libm|libmvec|libdl|librt|libpthread|libclfuse|ld-linux[^/]*)\.so' |
    while read -r library; do cp -nL "$library" "$pack/lib/"; done

cat >"$pack/gpu.sh" <<'TEXT'
#!/bin/sh
# gpu.sh [FOLDER] [STEP...]: what the GPU is, the tests and the bench on it; what was said and measured goes to FOLDER (default: here).
# Steps: doctor explain bench net algorithms (default: the first four), each for so many seconds at most.
here=$(cd "$(dirname "$0")" && pwd) out=${1:-.}
[ $# -eq 0 ] || shift
[ $# -gt 0 ] || set -- doctor explain bench net
mkdir -p "$out"
export LD_LIBRARY_PATH="$here/lib:$(dirname "$(find "$here/lib" -name 'libclfuse.so.0' | head -n 1)")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CLF_CACHE_DIR="$out/cache"
# A driver that is there without its ICD file is named to the loader.
if ! grep -qsE 'nvidia|amdocl|igdrcl' /etc/OpenCL/vendors/*.icd; then
    drivers='libnvidia-opencl.so.1|libamdocl64.so|libigdrcl.so'
    driver=$(ldconfig -p 2>/dev/null | awk -v names="$drivers" '$1 ~ names { print $NF; exit }')
    [ -n "$driver" ] || driver=$(find /usr/local /opt /usr/lib -regextype posix-extended -regex ".*/($drivers)" 2>/dev/null | head -n 1)
    [ -n "$driver" ] && mkdir -p "$out/icd" && echo "$driver" >"$out/icd/gpu.icd" && export OCL_ICD_VENDORS="$out/icd/"
    unset OCL_ICD_FILENAMES
fi
rc=0
clfuse() { seconds=$1; shift; timeout "$seconds" "$here/bin/clfuse" "$@" || rc=1; }
explain() {
    echo "#### $*"
    CLF_COMPILE=wait clfuse 30 explain --device gpu --analyze -e "$@"
}
explain_all() {
    cells="--in X=rand:33554x1000 --in Y=rand:33554x1000 --in Z=rand:33554x1000"
    for text in 's = sum(X*Y*Z)' 'A = X*Y + Z; s = sum(A)' 'A = X*Y + Z'; do explain "$text" $cells; done
    for text in 'r = rowSums(X)' 'r = colSums(X)'; do
        for of in 5033164x10 50331x1000 5033x10000; do explain "$text" --in X=rand:$of; done
    done
    for cols in 10 100 1000 10000; do explain 'q = t(X) %*% (X %*% v)' --in X=rand:$((50331648 / cols))x$cols --in v=rand:${cols}x1; done
    for text in 'R = X %*% v' 'q = t(X) %*% (X %*% v)'; do explain "$text" --in X=rand:100000x100000:0.001 --in v=rand:100000x1; done
    explain 'l = sum((X - U %*% t(V))^2 * (X != 0))' --in X=rand:20000x20000:0.01 --in U=rand:20000x10 --in V=rand:20000x10
}
for step in "$@"; do
    echo "== $step"
    case $step in
        doctor) { clfuse 60 doctor; clfuse 60 doctor --calibrate; cat "$CLF_CACHE_DIR"/profile-*; } >"$out/doctor.txt"; cat "$out/doctor.txt" ;;
        explain) explain_all >"$out/explain.txt" 2>&1; cat "$out/explain.txt" ;;
        bench) clfuse 300 bench --device gpu --suite micro,ml --json "$out/bench.json" >"$out/bench.txt"; cat "$out/bench.txt" ;;
        algorithms) clfuse 300 bench --device gpu --suite algorithms --json "$out/algorithms.json" >"$out/algorithms.txt"; cat "$out/algorithms.txt" ;;
        net)
            CLF_COMPILE=wait timeout 300 "$here/tests/test_prop_device_net" gpu >"$out/device_net.txt" 2>&1 || rc=1
            tail -n 20 "$out/device_net.txt" ;;
        *) echo "gpu.sh: no step '$step'" >&2; exit 2 ;;
    esac
done
exit $rc
TEXT
chmod +x "$pack/gpu.sh"
mib=$(du -sm "$pack" | cut -f1)
tar czf "$pack.tgz" -C "$(dirname "$pack")" "$(basename "$pack")"
echo "$pack: $mib MiB, $(du -sm "$pack.tgz" | cut -f1) in $pack.tgz; there: sh gpu.sh"
[ "$mib" -le $most_mib ] || { echo "gpu_pack.sh: more than $most_mib MiB" >&2; exit 1; }
