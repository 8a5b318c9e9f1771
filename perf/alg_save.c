/* SPDX-License-Identifier: Apache-2.0
 * The inputs of a case of the suite algorithms as files, for the peers (perf/peers/algorithms.py): arrays as they lie in memory, named
 * NAME.f64, NAME.i64 or NAME.i32; case.json has the sizes and the parameters. What is not there has no file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include "perf/algorithms.h"

static FILE *create(const char *folder, const char *name, char *why, size_t why_n) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *f = fopen(path, "wb");
    if (!f) snprintf(why, why_n, "%s cannot be written", path);
    return f;
}

static bool save(const char *folder, const char *name, const void *at, size_t count, size_t size, char *why, size_t why_n) {
    if (!at) return true;
    FILE *f = create(folder, name, why, why_n);
    if (!f) return false;
    bool good = fwrite(at, size, count, f) == count;
    good = fclose(f) == 0 && good;
    if (!good) snprintf(why, why_n, "%s cannot be written", name);
    return good;
}

static bool save_facts(const hand_alg *a, const alg_case *k, const char *folder, char *why, size_t why_n) {
    FILE *f = create(folder, "case.json", why, why_n);
    if (!f) return false;
    fprintf(f, "{\"case\": \"%s\", \"algorithm\": \"%s\", \"n\": %lld, \"m\": %lld, \"k\": %lld, \"sparse\": %s,\n", k->name, k->algorithm,
            (long long)a->n, (long long)a->m, (long long)a->k, a->x ? "false" : "true");
    fprintf(f,
            " \"lambda\": %.17g, \"tolerance\": %.17g, \"step\": %.17g, \"iterations\": %d, \"inner\": %d, \"batch\": %lld, \"objective\": "
            "%.17g}\n",
            a->lambda, a->tolerance, a->step, a->iterations, a->inner, (long long)a->batch, a->objective);
    return fclose(f) == 0;
}

bool alg_data_save(const alg_data *d, const alg_case *k, const char *folder, char *why, size_t why_n) {
    const hand_alg *a = &d->a;
    const size_t n = (size_t)a->n, cells = n * (size_t)a->m, entries = (size_t)a->s.nnz;
    bool good = mkdir(folder, 0777) == 0 || errno == EEXIST;
    if (!good) return snprintf(why, why_n, "%s cannot be made", folder), false;
    for (int i = 0; i < ALG_STARTS && good; i++) {
        const char name[] = {'s', 't', 'a', 'r', 't', (char)('0' + i), '.', 'f', '6', '4', 0};
        good = save(folder, name, a->start[i], d->start_cells[i], 8, why, why_n);
    }
    return good && save_facts(a, k, folder, why, why_n) && save(folder, "X.f64", a->x, cells, 8, why, why_n) &&
           save(folder, "y.f64", a->y, n, 8, why, why_n) && save(folder, "offsets.i64", a->s.ptr, n + 1, 8, why, why_n) &&
           save(folder, "columns.i32", a->s.idx, entries, 4, why, why_n) && save(folder, "values.f64", a->s.val, entries, 8, why, why_n);
}
