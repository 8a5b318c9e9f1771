#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# vector_math.sh OBJECTS...: the hand-written references call the vector forms of exp, log and erfc. Left scalar, they would be
# several times slower, and every ratio against them worth nothing.
[ $# -gt 0 ] || exit 1
faults=0
for object in "$@"; do
    suffix=; case $object in *f32*) suffix=f ;; esac
    case $object in # what it calls
        */f32*|*/f64*) names="exp log erfc" ;;
        */outer*) names=log ;;
        */alg_glm*) names="exp log erfc" ;;
        */alg_mlogreg*) names="exp log" ;;
        *) names= ;;
    esac
    for name in $names; do
        nm --undefined-only "$object" | grep -qE " _ZGV[a-zA-Z][NM][0-9]+v_$name$suffix\$" ||
            { echo "$object: no vector $name$suffix"; faults=$((faults + 1)); }
    done
done
echo "$# objects, $faults at fault"
[ $faults -eq 0 ]
