/* SPDX-License-Identifier: Apache-2.0
 * The layout of each part of a complete cover: does it visit the entries of a sparse operand, or all cells of what is converted first? A
 * loop that visits entries pays for gathering along them and for the gaps between them; one over cells for a conversion, which all parts on
 * its device share, and what it stores is dense for its readers. So parts are chosen together: their layouts are counted through like the
 * digits of a number, a part's choice depending on those before it, whose results have their formats by then.
 *
 * Two digits are fixed. A part that stores a result in a driver's pattern keeps it (problem.h). And one that stores nothing sparse, and
 * whose loop over cells costs no less even where conversion is free, visits entries: nobody else is better off if it does not, unless the
 * entries had to be brought to its device for it. */
#include "planner/problem.h"

enum { MOST_PRICED = 64 }; /* layouts of one cover; beyond them parts are tried one by one */

static bool stores_sparse(const clf_problem *p, const clf_cover *c, int32_t i, uint8_t flag) {
    for (int32_t j = 0; j < c->part[i].n; j++) {
        int32_t n = c->part[i].node[j];
        if (clf_cover_stores(c, i, n) && c->csr[n] && (p->is[n] & flag) == flag) return true;
    }
    return false;
}

/* Has the part, whose driver and formats are known, a choice? */
static bool is_free(const clf_problem *p, const clf_cover *c, int32_t i) {
    return (c->part[i].driver >= 0 || clf_part_twins(p->g, c, i)) && !stores_sparse(p, c, i, CLF_IS_ROOT);
}

/* What part i costs by itself, visiting entries of `driver`. */
static clf_status pay(clf_pricer *w, clf_cover *c, int32_t i, int32_t driver, clf_ps *out, clf_err *err) {
    int32_t was = c->part[i].driver;
    c->part[i].driver = driver;
    clf_cover_enter(c, i);
    clf_status st = clf_bill_part(w->p->g, c, i, w->mark, w->arena, &w->bill, err);
    c->part[i].driver = was;
    if (st == CLF_OK) *out = clf_bill_pay(&w->bill, w->p->g, w->p->dev.profile[c->part[i].device]);
    return st;
}

/* Might the cover be cheaper if part i took cells? */
static clf_status may_pay(clf_pricer *w, clf_cover *c, int32_t i, bool *may, clf_err *err) {
    clf_ps entries = 0, cells = 0;
    *may = is_free(w->p, c, i);
    bool brought = clf_cost_transfer(w->p->dev.profile[c->part[i].device], 1) > 0;
    if (!*may || brought || stores_sparse(w->p, c, i, 0)) return CLF_OK;
    CLF_TRY(pay(w, c, i, c->part[i].driver, &entries, err));
    CLF_TRY(pay(w, c, i, -1, &cells, err));
    *may = cells < entries;
    return CLF_OK;
}

/* The next number: the last part that may takes cells, those behind it visit entries again. */
static clf_status count_on(clf_pricer *w, clf_cover *c, bool *more, clf_err *err) {
    *more = false;
    for (int32_t i = c->npart; i-- > 0 && !*more;) {
        if (c->part[i].layout == CLF_LAYOUT_STORED) CLF_TRY(may_pay(w, c, i, more, err));
        c->part[i].layout = *more ? CLF_LAYOUT_CELLS : CLF_LAYOUT_STORED;
    }
    return CLF_OK;
}

/* Price the cover as it is laid out; the cheapest layout is noted. */
static clf_status compare(clf_pricer *w, clf_cover *c, clf_ps *best, clf_err *err) {
    clf_ps cost;
    clf_cover_drivers(w->p->g, c);
    CLF_TRY(clf_cover_price(w, c, &cost, err));
    if (cost >= *best) return CLF_OK;
    *best = cost;
    for (int32_t i = 0; i < c->npart; i++) w->layout[i] = c->part[i].layout;
    return CLF_OK;
}

static void take_best(const clf_pricer *w, clf_cover *c) {
    for (int32_t i = 0; i < c->npart; i++) c->part[i].layout = w->layout[i];
    clf_cover_drivers(w->p->g, c);
}

/* From the cheapest so far, one part more at a time. */
static clf_status one_by_one(clf_pricer *w, clf_cover *c, clf_ps *best, clf_err *err) {
    for (int32_t i = 0; i < c->npart; i++) {
        take_best(w, c);
        if (c->part[i].layout == CLF_LAYOUT_CELLS || !is_free(w->p, c, i)) continue;
        c->part[i].layout = CLF_LAYOUT_CELLS;
        CLF_TRY(compare(w, c, best, err));
    }
    return CLF_OK;
}

clf_status clf_cover_layouts(clf_pricer *w, clf_cover *c, clf_ps *out, bool *all, clf_err *err) {
    clf_ps best = CLF_PS_MOST;
    bool more = true;
    int priced = 0;
    for (int32_t i = 0; i < c->npart; i++) c->part[i].layout = w->layout[i] = CLF_LAYOUT_STORED;
    for (; more && priced < MOST_PRICED; priced++) {
        CLF_TRY(compare(w, c, &best, err));
        more = c->zero != NULL; /* something is sparse */
        if (more) CLF_TRY(count_on(w, c, &more, err));
    }
    *all = !more;
    if (more) CLF_TRY(one_by_one(w, c, &best, err));
    if (priced > 1) take_best(w, c);
    *out = best;
    return CLF_OK;
}

bool clf_cover_lay_out(const clf_problem *p, clf_cover *c, const uint8_t *layout) {
    for (int32_t i = 0; i < c->npart; i++) c->part[i].layout = CLF_LAYOUT_STORED;
    clf_cover_drivers(p->g, c);
    for (int32_t i = 0; i < c->npart; i++) {
        if (layout[i] == CLF_LAYOUT_STORED) continue;
        if (!is_free(p, c, i)) return false;
        c->part[i].layout = CLF_LAYOUT_CELLS;
        clf_cover_drivers(p->g, c);
    }
    return true;
}
