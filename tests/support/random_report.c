/* SPDX-License-Identifier: Apache-2.0
 * A program as something to run by hand: its inputs as .npy files, its text as a file, and the command line of the tool. They lie in
 * a folder `failures` beside the figures of the run, or, when no figures are kept, in the current folder. */
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "tests/support/random_make.h"

/* The folder in `out`, made if need be. */
static void failures(char *out, size_t bytes) {
    const char *figures = getenv("CLF_FIGURES");
    snprintf(out, bytes, ".");
    if (!figures || !*figures) return;
    snprintf(out, bytes, "%s/../failures", figures);
    mkdir(out, 0777);
}

/* Version 1.0 of the format: magic, header length, a header padded to 64 bytes, the cells. */
static bool write_npy(const char *path, const rp_matrix *m) {
    static const char *const descr[] = {"<f4", "<f8", "<i4", "<i8", "|u1"};
    char shape[64] = "()", head[128];
    if (!m->scalar) snprintf(shape, sizeof shape, "(%" PRId64 ", %" PRId64 ")", m->rows, m->cols);
    int len = snprintf(head, sizeof head, "{'descr': '%s', 'fortran_order': False, 'shape': %s, }", descr[m->t], shape);
    int padded = (10 + len + 1 + 63) / 64 * 64 - 10;
    size_t cells = (size_t)rp_count(m), bytes = cells * clf_dtype_bytes(m->t);
    void *data = calloc(cells + 1, sizeof(double));
    FILE *f = data ? fopen(path, "wb") : NULL;
    bool good = f != NULL;
    if (data) rp_store(m, data);
    if (f) {
        fwrite("\x93NUMPY\x01\x00", 1, 8, f);
        fputc(padded & 255, f);
        fputc(padded >> 8, f);
        fprintf(f, "%s%*s\n", head, padded - len - 1, "");
        good = fwrite(data, 1, bytes, f) == bytes;
        good = fclose(f) == 0 && good;
    }
    free(data);
    return good;
}

bool rp_save(const rp_program *p, const char *folder, FILE *command) {
    char path[PATH_MAX];
    bool variable[RP_NODES];
    snprintf(path, sizeof path, "%s/seed%" PRIu64 ".clf", folder, p->seed);
    FILE *f = fopen(path, "w");
    bool good = f && rp_expression(p, f, variable);
    if (f) good = fclose(f) == 0 && good;
    if (good) fprintf(command, "clfuse run %s", path);
    for (int i = 0; good && i < p->n; i++) {
        if (!variable[i]) continue;
        snprintf(path, sizeof path, "%s/seed%" PRIu64 "_n%d.npy", folder, p->seed, i);
        good = write_npy(path, &p->node[i].m);
        fprintf(command, " --in n%d=%s", i, path);
    }
    return good;
}

void rp_report(const rp_program *p, const char *why) {
    char folder[PATH_MAX / 2];
    failures(folder, sizeof folder);
    printf("\n    %s\n", why);
    rp_print(p);
    if (!rp_save(p, folder, stdout))
        printf("\n(no command: the comments say what has no spelling; or files cannot be written to %s)", folder);
    printf("\n");
}
