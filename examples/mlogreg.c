/* SPDX-License-Identifier: Apache-2.0
 * Multinomial logistic regression (SystemML's MultiLogReg.dml): labels 1 to K, of which the last has score 0; minimises over B, m x (K-1),
 *     sum over rows of log(sum over classes of exp(score)) - score of the label, + lambda/2*|B|^2        scores: X B
 * by the trust region Newton method of trust_region.c, whose parameters are read, and `rank`: K, 0: the largest label.
 *
 * The product with the second derivative, W*Z less W times its row sums, is one pass over X whatever K is; neither scores nor indicators
 * of the classes are ever in memory, only the probabilities W. Constant columns need no care: nothing is divided by a deviation. */
#include "examples/trust_region.h"

/* Shifted by the largest score, exp stays within range; the last class has its 0 in it. */
static const char point[] = "top = max(rowMaxs(L), 0); E = exp(L - top); all = rowSums(E) + exp(-top); W2 = E/all\n"
                            "Y = outer(y, classes, \"==\"); D = Y - W2; loss = sum(log(all) + top - rowSums(Y*L))";
static const char curve[] = "Q = W*Z; C = Q - W*rowSums(Q)";

/* The number of classes, from how many labels are none and the largest; of those found in the data, each must have a row. */
static bool classes(alg_run *r, const double *label, int64_t *k) {
    const clf_binding vars[] = {{"y", r->y}};
    double distinct;
    const double odd = label[0], most = label[1], count = r->p.rank > 0 ? (double)r->p.rank : most;
    if (odd > 0) return alg_fail(r, "%.0f of %lld labels are not whole numbers from 1", odd, (long long)r->n);
    if (most > count) return alg_fail(r, "labels go up to %.0f, but there are %.0f classes", most, count);
    if (count < 2) return alg_fail(r, "a single class: nothing to tell apart");
    if (count > (double)r->n) return alg_fail(r, "%.0f classes, but %lld rows", count, (long long)r->n);
    *k = (int64_t)count;
    if (r->p.rank > 0) return true;
    if (!alg_numbers(r, "s = order(target=y); 1 + sum(s[2:nrow(s), ] != s[1:nrow(s)-1, ])", vars, 1, 1, &distinct)) return false;
    return distinct == count || alg_fail(r, "of the classes 1 to %.0f only %.0f have rows", count, distinct);
}

static bool train(alg_run *r) {
    int64_t k = 0;
    double found[3];
    if (!alg_check(r, "sum(y != floor(y) | y < 1); max(y); " TRUST_RADIUS, 3, found) || !classes(r, found, &k)) return false;
    clf_mat *y = clf_cast(r->y, r->type), *row = clf_t(clf_cast(clf_seq(r->c, 1, (double)(k - 1), 1), r->type));
    trust_loss loss = {.point = point, .curve = curve, .k = k - 1, .vars = {{"y", y}, {"classes", row}}, .nvars = 2, .radius = found[2]};
    bool good = trust_train(r, &loss);
    clf_free(y);
    clf_free(row);
    return good;
}

const algorithm alg_mlogreg = {
    .name = "mlogreg",
    .about = "multinomial logistic regression, labels 1 to K (K: --rank, or from the data)",
    .labels = true,
    .generate = "c = k + 2*0^k; X = rand(rows=n, cols=m, min=-1, max=1, seed=seed)\n"
                "V = rand(rows=m, cols=c, min=-1, max=1, seed=seed+1)\n"
                "y = rowIndexMax(X %*% V + rand(rows=n, cols=c, min=-1, max=1, seed=seed+2))",
    .rows = 100000,
    .cols = 100,
    .defaults = {.lambda = 1e-3, .tolerance = 1e-12, .iterations = 20, .inner = 10, .seed = 1},
    .train = train,
};
