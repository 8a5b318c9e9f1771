/* SPDX-License-Identifier: Apache-2.0
 * The rounding expressions of the coverage set in postfix, interpreted with bounds. */
#include "tests/support/coverage_bounds.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "tests/oracle/dd_postfix.h"

static const struct {
    const char *id, *text;
} meaning[] = {
    {"C2", "1 1 X neg exp + /"},
    {"C4", "X exp abs 10 + X w abs 1 + / z + abs round floor +"},
    {"C15", "2 X abs 1 + log * colSums"},
    {"softmax", "X X rowMaxs - exp dup rowSums /"},
    {"softmax2", "X P cbind dup rowMaxs - exp dup rowSums /"},
    {"O1", "X 1 1 U V t %*% neg exp + / *"},
    {"O2", "X U V t %*% abs 1 + /"},
    {"O3", "X U V t %*% abs 1 + log * sum"},
    {"S8", "X u - exp rowMaxs X u - exp rowSums X u * w - exp colSums X w + abs 1 + log colVars"},
    {"Z1", "X X rowSums abs 1 + / Y + sum X sqr abs Y + sum X 0 != U V t %*% Y + * sum"},
};

static const char *meaning_of(const char *id) {
    for (size_t i = 0; i < sizeof meaning / sizeof *meaning; i++)
        if (strcmp(meaning[i].id, id) == 0) return meaning[i].text;
    return NULL;
}

bool coverage_meant(const char *id) { return meaning_of(id) != NULL; }

static bool add_leaf(rp_program *p, const coverage_leaf *l, clf_dtype t) {
    size_t bytes = (size_t)(l->rows * l->cols) * sizeof *l->cells;
    rp_node *n = &p->node[p->n++];
    *n = (rp_node){.kind = RP_LEAF, .attr = {l->sparse ? RP_DENSE_DOORS : 0}, .m = {t, false, false, l->rows, l->cols, malloc(bytes + 1)}};
    if (n->m.v && bytes) memcpy(n->m.v, l->cells, bytes);
    return n->m.v != NULL;
}

bool coverage_bounds_make(coverage_bounds *b, const char *id, const coverage_leaf *leaf, int n, clf_dtype t) {
    const char *text = meaning_of(id);
    char names[RP_NODES] = "";
    memset(b, 0, sizeof *b);
    b->p.domain = RP_REAL;
    for (int i = 0; i < n; i++) {
        if (!add_leaf(&b->p, &leaf[i], t)) return false;
        names[i] = leaf[i].name;
    }
    return text && dd_postfix(&b->p, names, text) && dd_interpret(&b->p, &b->x);
}

void coverage_bounds_release(coverage_bounds *b) {
    dd_release(&b->x);
    rp_release(&b->p);
}

int64_t coverage_outside(const coverage_bounds *b, int r, clf_mat *got, dd_tally *tally) {
    const rp_matrix *m = &b->p.node[b->p.root[r]].m;
    int64_t rows, cols;
    clf_dtype t;
    const void *data;
    if (clf_info(got, &rows, &cols, &t, NULL) != CLF_OK || rows != m->rows || cols != m->cols || t != m->t) return -2;
    if (clf_data(got, &data) != CLF_OK) return -2;
    return dd_check(&b->p, &b->x, b->p.root[r], data, tally);
}

double coverage_widest(const coverage_bounds *b, clf_dtype t) {
    double eps = t == CLF_F32 ? (double)FLT_EPSILON : DBL_EPSILON, widest = 0;
    for (int r = 0; r < b->p.nroot; r++) {
        const rp_node *n = &b->p.node[b->p.root[r]];
        for (int64_t k = 0; n->kind == RP_CELL && k < rp_count(&n->m); k++) {
            dd_cell c = b->x.cell[b->p.root[r]][k];
            if (dd_finite(c)) widest = fmax(widest, c.e / (eps * fmax(1, fabs(c.v.hi))));
        }
    }
    return widest;
}
