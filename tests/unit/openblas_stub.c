/* SPDX-License-Identifier: Apache-2.0
 * A library in the place of OpenBLAS that knows no processor: unless told which loops to run, it says Prescott. It multiplies nothing. */
#include <stdio.h>
#include <stdlib.h>

static char core[32];

__attribute__((constructor)) static void pick(void) {
    const char *told = getenv("OPENBLAS_CORETYPE");
    snprintf(core, sizeof core, "%s", told ? told : "Prescott");
}

const char *openblas_get_corename(void);
const char *openblas_get_corename(void) { return core; }
