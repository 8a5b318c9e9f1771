/* SPDX-License-Identifier: Apache-2.0
 * A library with the interface of CLBlast that a test can hold up, and that fails or errs when told to (clblast_stub.c). It is loaded by
 * its path, CLF_CLBLAST_STUB; a test that loads it, too, finds `clblast_stub` in it. */
#ifndef CLF_TESTS_CLBLAST_STUB_H
#define CLF_TESTS_CLBLAST_STUB_H
#include <stdatomic.h>

typedef struct clblast_stub_state {
    atomic_int calls, clears;
    atomic_int hold;         /* calls wait while it is set */
    atomic_int wrong;        /* one cell of each result is off: 1 of all products, 2 of those with both sides transposed, 3 of large ones */
    atomic_int fail_at;      /* the call of that number ... */
    atomic_int fail_status;  /* gives this; with half of the result written */
} clblast_stub_state;
#endif
