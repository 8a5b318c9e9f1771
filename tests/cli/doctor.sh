#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# doctor finds what is wrong: planted faults of the installation, the settings, the caches, the drivers, one at a time.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1
unset CLF_DEVICE OPENBLAS_CORETYPE
mkdir -p empty bad lib

# finds CODE LEVEL TEXT [VARIABLE=VALUE...]: doctor exits with CODE and has a finding of LEVEL whose line holds TEXT.
finds() {
    code=$1; level=$2; text=$3; shift 3
    checks=$((checks + 1))
    env "$@" "$CLFUSE" doctor >out 2>err; rc=$?
    { [ $rc -eq "$code" ] && grep "^ $level" out | grep -qF "$text"; } ||
        fault "doctor with $*: exit $rc, expected $code and '$level ... $text': $(cat out err)"
}

# What a healthy machine says; the rest is compared with it.
"$CLFUSE" doctor >healthy 2>err; well=$?
checks=$((checks + 1))
grep -q 'device 0 computes right' healthy || fault "doctor: $(cat healthy err)"
if grep -q 'device 1 computes right' healthy; then
    true_that 'a healthy machine has no problem' [ $well -eq 0 ]
    finds 1 FAIL 'no OpenCL driver is registered' "OCL_ICD_VENDORS=$work/empty"
    echo libnothing.so.9 >bad/nothing.icd
    finds 1 FAIL 'bad/nothing.icd names a driver that cannot be loaded' "OCL_ICD_VENDORS=$work/bad"
    : >bad/nothing.icd
    finds 1 FAIL 'bad/nothing.icd names no driver' "OCL_ICD_VENDORS=$work/bad"
    if command -v cc >/dev/null 2>&1; then
        echo 'int clf_fake_driver;' | cc -shared -fPIC -x c - -o lib/libnvidia-opencl.so.1
        finds 1 FAIL 'libnvidia-opencl.so.1 is installed, but no file' "LD_LIBRARY_PATH=$work/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
        checks=$((checks + 1))
        grep -q 'remedy: .*echo libnvidia-opencl.so.1 >.*nvidia-opencl.icd' out || fault "the remedy for a driver that is not registered: $(cat out)"
    fi
    mkdir -p kernels/skel kernels/prelude
    echo 'no OpenCL C' >kernels/prelude/math.clh
    finds 1 FAIL 'device 1' "CLF_KERNEL_DIR=$work/kernels"
    finds 0 note 'reports only 1.00 GiB' POCL_MEMORY_LIMIT=1
fi
if grep -q 'CLBlast is found' healthy; then
    checks=$((checks + 1))
    CLF_CLBLAST_LIBRARY=/nowhere/libclblast.so "$CLFUSE" doctor >out 2>err
    grep -q 'CLBlast is found' out && fault "doctor finds a CLBlast that is not there: $(cat out)"
    CLF_CLBLAST=off "$CLFUSE" doctor >out 2>err
    grep -q 'CLBlast' out && fault "doctor speaks of a CLBlast that is switched off: $(cat out)"
fi
finds $well note 'OPENBLAS_CORETYPE=Prescott' OPENBLAS_CORETYPE=Prescott
finds 1 FAIL 'the library does not open' CLF_FUSE=nonsense
: >file
finds 1 FAIL "the cache $work/file/cache cannot be written" "CLF_CACHE_DIR=$work/file/cache"
[ "$(nproc)" -gt 1 ] && command -v taskset >/dev/null 2>&1 && finds $well note 'processors may be used' taskset -c 0
"$CLFUSE" doctor --json >d.json
json d.json "d['schema'] == 1 and len(d['findings']) > 4 and all(f['level'] in ('ok', 'note', 'fail') for f in d['findings'])"
json d.json "d['problems'] == sum(f['level'] == 'fail' for f in d['findings'])"
ends 2 "unexpected 'x'" "$CLFUSE" doctor x
finish
