#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# clfuse bench finds its program in a build and in an installation, passes options and exit code on, and says when it is missing.
. "$(dirname "$0")/support/check.sh"
cd "$work" || exit 1
mkdir -p bin libexec/clfuse far/alone
cp "$CLFUSE" bin/clfuse && cp "$CLFUSE" far/alone/clfuse || exit 1
LD_LIBRARY_PATH=$(dirname "$CLFUSE")${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
printf '#!/bin/sh\necho "got $*"\nexit 1\n' >libexec/clfuse/clfuse-bench
chmod +x libexec/clfuse/clfuse-bench

got=$(bin/clfuse bench --suite micro --quick); rc=$?
true_that 'options are passed' [ "$got" = 'got --suite micro --quick' ]
true_that 'the exit code is passed' [ $rc -eq 1 ]
ends 3 'clfuse-bench' far/alone/clfuse bench
finish
