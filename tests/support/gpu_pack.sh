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
# gpu.sh [FOLDER]: what the GPU is, the tests and the bench on it; figures and what doctor found go to FOLDER (default: here).
here=$(cd "$(dirname "$0")" && pwd) out=${1:-.}
mkdir -p "$out"
export LD_LIBRARY_PATH="$here/lib:$(dirname "$(find "$here/lib" -name 'libclfuse.so.0' | head -n 1)")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
export CLF_CACHE_DIR="$out/cache"
# A driver that is there without its ICD file is named to the loader.
if ! ls /etc/OpenCL/vendors/*.icd >/dev/null 2>&1; then
    driver=$(ldconfig -p 2>/dev/null | awk '/libnvidia-opencl\.so\.1|libamdocl64\.so|libigdrcl\.so/ { print $NF; exit }')
    [ -n "$driver" ] && mkdir -p "$out/icd" && echo "$driver" >"$out/icd/gpu.icd" && export OCL_ICD_VENDORS="$out/icd/"
fi
rc=0
"$here/bin/clfuse" doctor | tee "$out/doctor.txt" || rc=1
"$here/tests/test_prop_device_net" gpu 2>&1 | tee "$out/device_net.txt" | tail -n 20
"$here/bin/clfuse" bench --device gpu --suite micro,ml --json "$out/bench.json" | tee "$out/bench.txt" || rc=1
exit $rc
TEXT
chmod +x "$pack/gpu.sh"
mib=$(du -sm "$pack" | cut -f1)
echo "$pack: $mib MiB; there: sh gpu.sh"
[ "$mib" -le $most_mib ] || { echo "gpu_pack.sh: more than $most_mib MiB" >&2; exit 1; }
