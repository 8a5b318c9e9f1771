/* SPDX-License-Identifier: Apache-2.0
 * Factorise ratings X into U and V by gradient descent with momentum, on the plain formula. It would fill X's whole shape with numbers;
 * recorded, it and both its gradients visit the stored ratings alone.
 *     clfuse run -e 'R = X' --in X=powerlaw:100000x50000:0.001 --out R=ratings.mtx
 *     factorize ratings.mtx [RANK [EPOCHS]]
 * exit: 0, 2 command line, 4 everything else. */
#include <clfuse/clfuse.h>
#include <stdio.h>
#include <stdlib.h>

enum { LOSS, U, V, DU, DV, STATE }; /* results of an epoch; all but the first, for which X stands, are the next one's arguments */

static int fail(clf_ctx *c) { return fprintf(stderr, "factorize: %s\n", c ? clf_last_error(c) : clf_open_error()), 4; }

int main(int argc, char **argv) {
    long rank = argc > 2 ? atol(argv[2]) : 20, epochs = argc > 3 ? atol(argv[3]) : 10;
    if (argc < 2 || rank < 1 || epochs < 1) return fprintf(stderr, "usage: factorize ratings.mtx [RANK [EPOCHS]]\n"), 2;
    clf_ctx *c = NULL;
    if (clf_open(&c, NULL) != CLF_OK) return fail(NULL);
    clf_mat *ratings = clf_load(c, argv[1]);
    clf_storage about = {.struct_size = sizeof about};
    int64_t n, m;
    if (clf_info(ratings, &n, &m, NULL, NULL) != CLF_OK || clf_storage_of(ratings, &about) != CLF_OK) return fail(c);

    clf_mat *x = clf_param_sparse(c, CLF_F64, n, m, about.nnz), *g[2];
    clf_mat *u = clf_param(c, CLF_F64, n, rank, false), *v = clf_param(c, CLF_F64, m, rank, false);
    clf_mat *du = clf_param(c, CLF_F64, n, rank, false), *dv = clf_param(c, CLF_F64, m, rank, false);
    const clf_binding formula[] = {{"X", x}, {"U", u}, {"V", v}};
    clf_mat *loss = clf_expr(c, "sum((X != 0) * (X - U %*% t(V))^2) + 0.02 * (sum(U^2) + sum(V^2))", formula, 3);
    clf_grad(loss, 2, (clf_mat *[]){u, v}, g);
    const clf_binding step[] = {{"U", u}, {"V", v}, {"P", du}, {"Q", dv}, {"G", g[0]}, {"H", g[1]}, {"L", loss}};
    static const char descend[] = "L; U + 0.9*P - 5e-5*G; V + 0.9*Q - 5e-5*H; 0.9*P - 5e-5*G; 0.9*Q - 5e-5*H";
    clf_result r[STATE];
    size_t results = STATE;
    if (clf_parse(c, descend, step, 7, r, &results)) return fail(c);
    clf_mat *param[] = {x, u, v, du, dv}, *result[STATE];
    clf_fn *epoch;
    for (int i = 0; i < STATE; i++) result[i] = r[i].value;
    if (clf_fn_new(c, 5, param, STATE, result, &epoch)) return fail(c);

    clf_mat *now[STATE] = {ratings, clf_rand(c, CLF_F64, n, rank, 0, 0.3, 1, 1), clf_rand(c, CLF_F64, m, rank, 0, 0.3, 1, 2),
                           clf_fill(c, CLF_F64, n, rank, 0), clf_fill(c, CLF_F64, m, rank, 0)};
    for (long e = 0; e < epochs; e++) {
        clf_stats before = {.struct_size = sizeof before}, after = before;
        clf_mat *next[STATE] = {NULL};
        double l;
        clf_get_stats(c, &before);
        if (clf_call(epoch, STATE, now, STATE, next) || clf_read_f64(next[LOSS], &l)) return fail(c);
        clf_get_stats(c, &after);
        clf_free(next[LOSS]);
        for (int i = U; i < STATE; i++) clf_free(now[i]), now[i] = next[i];
        printf("epoch %3ld  loss %.6e  predicted %7.1f ms  measured %7.1f ms\n", e + 1, l,
               (double)(after.predicted_ns - before.predicted_ns) * 1e-6, (double)(after.run_ns - before.run_ns) * 1e-6);
    }
    clf_mem_stats mem = {.struct_size = sizeof mem};
    clf_get_mem_stats(c, &mem);
    printf("%lld x %lld, %lld ratings, rank %ld: peak %.0f MB\n", (long long)n, (long long)m, (long long)about.nnz, rank,
           (double)mem.peak * 1e-6);
    clf_close(c);
}
