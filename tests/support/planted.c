/* SPDX-License-Identifier: Apache-2.0
 * Planted faults (see planted.h): one kernel each, with the arguments of ours, in -> out through scratch. */
#include "tests/support/planted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"

#define HEAD "__kernel void planted(__global const int *in, __global int *out, __global int *scratch)\n{\n    int i = get_global_id(0);\n"
enum { N = 16, SKIPPED = 77 };

static const struct {
    const char *name, *text;
} kernels[] = {
    {"none", HEAD "    scratch[i] = in[i];\n    out[i] = scratch[i] + 1;\n}\n"},
    {"race", HEAD "    scratch[i] = in[i];\n    out[i / 2] = i;\n}\n"},
    {"bounds", HEAD "    scratch[i] = in[i];\n    out[i + 1] = in[i + 1];\n}\n"},
    {"uninitialised", HEAD "    if (i) scratch[i] = in[i];\n    out[i] = scratch[i] > 2 ? 1 : 2;\n}\n"},
};

static clf_status launch(clf_devs *d, const char *text, clf_err *err) {
    static const clf_arg_desc args[] = {{CLF_ARG_MEM_IN, CLF_I32, 0}, {CLF_ARG_MEM_OUT, CLF_I32, 0}, {CLF_ARG_SCRATCH, CLF_I32, 0}};
    clf_source src = {.text = text, .text_len = strlen(text), .entry = "planted", .options = "", .args = args, .nargs = 3};
    clf_program *p = NULL;
    int *m = calloc(3 * N + 3, sizeof *m); /* with room for what is written out of bounds */
    if (!m) return clf_fail(err, CLF_E_NOMEM, "out of memory");
    clf_arg arg[3];
    for (int i = 0; i < 3; i++) arg[i] = (clf_arg){.ptr = m + i * N, .bytes = N * sizeof *m};
    src.hash = clf_hash_bytes(text, src.text_len);
    clf_status st = clf_program_get(d, 0, &src, &p, NULL, err);
    if (st == CLF_OK) st = clf_launch(d, 0, p, arg, 3, N, 1, err);
    if (st == CLF_OK) st = clf_dev_wait(d, 0, err);
    free(m);
    return st;
}

int planted_run(const char *which) {
    clf_mem mem;
    clf_devs *d = NULL;
    clf_err err = {CLF_OK, ""};
    size_t k = 0, n = sizeof kernels / sizeof *kernels;
    while (k < n && strcmp(kernels[k].name, which)) k++;
    if (k == n) return 1;
    clf_mem_init(&mem, NULL, NULL);
    clf_dev_opts o = {.mem = &mem, .cache_dir = getenv("CLF_CACHE_DIR") ? getenv("CLF_CACHE_DIR") : "", .no_host_pointers = 1};
    clf_status st = clf_devs_open(&d, &o, &err);
    bool none = st == CLF_OK && clf_devs_count(d) < 1;
    if (st == CLF_OK && !none) st = launch(d, kernels[k].text, &err);
    if (st != CLF_OK || none) printf("%s\n", none ? clf_devs_why(d) : err.text);
    clf_devs_close(d);
    return none ? SKIPPED : st != CLF_OK;
}
