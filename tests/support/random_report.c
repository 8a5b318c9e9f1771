/* SPDX-License-Identifier: Apache-2.0
 * A program as something to run by hand: its inputs as .npy files (sparse ones as .mtx with the zeros that were stored), its text as a
 * file, and the command line of the tool. They lie in a folder `failures` beside the figures of the run, or, when no figures are kept,
 * in the current folder. A sparse input of another type than f64 has no command: coordinate files are read as f64. */
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

static bool write_mtx(const char *path, const rp_node *n) {
    const rp_matrix *m = &n->m;
    bool zeros = rp_doors[n->attr[0]].zeros;
    FILE *f = fopen(path, "w");
    if (!f) return false;
    fprintf(f, "%%%%MatrixMarket matrix coordinate real general\n%" PRId64 " %" PRId64 " %" PRId64 "\n", m->rows, m->cols,
            rp_stored_count(m, zeros));
    for (int64_t k = 0; k < rp_count(m); k++)
        if (rp_stored(m, k, zeros)) fprintf(f, "%" PRId64 " %" PRId64 " %.17g\n", k / m->cols + 1, k % m->cols + 1, m->v[k]);
    return fclose(f) == 0;
}

static bool write_input(const rp_node *n, const char *path) { return rp_sparse_leaf(n) ? write_mtx(path, n) : write_npy(path, &n->m); }

/* Do files say what the program has? */
static bool reads_alike(const rp_node *n) { return !rp_sparse_leaf(n) || n->m.t == CLF_F64; }

bool rp_save(const rp_program *p, const char *folder, FILE *command) {
    char path[PATH_MAX];
    bool variable[RP_NODES];
    snprintf(path, sizeof path, "%s/seed%" PRIu64 ".clf", folder, p->seed);
    FILE *f = fopen(path, "w");
    bool good = f && rp_expression(p, f, variable), alike = true;
    if (f) good = fclose(f) == 0 && good;
    if (good) fprintf(command, "clfuse run %s", path);
    for (int i = 0; good && i < p->n; i++) {
        if (!variable[i]) continue;
        const rp_node *n = &p->node[i];
        snprintf(path, sizeof path, "%s/seed%" PRIu64 "_n%d.%s", folder, p->seed, i, rp_sparse_leaf(n) ? "mtx" : "npy");
        good = write_input(n, path);
        alike = alike && reads_alike(n);
        fprintf(command, " --in n%d=%s", i, path);
    }
    return good && alike;
}

void rp_report(const rp_program *p, const char *why) {
    char folder[PATH_MAX / 2];
    failures(folder, sizeof folder);
    printf("\n    %s\n", why);
    rp_print(p);
    if (!rp_save(p, folder, stdout))
        printf("\n(no full command: the comments say what has no spelling, .mtx files are read as f64, or files cannot be written to %s)",
               folder);
    printf("\n");
}
