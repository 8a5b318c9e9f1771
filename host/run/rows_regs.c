/* SPDX-License-Identifier: Apache-2.0
 * Registers of a row program. MAT values share them by liveness, axis by axis: a cell loop may write over an operand that dies there,
 * other loops may not. Also: whether batches may end inside a row. */
#include "host/run/rows_fits.h"

/* ---- registers ----------------------------------------------------------------------------------------------------------- */

static int32_t take_reg(struct clf_rows *r, clf_rows_regs *g, int axis) {
    for (int i = g->nfree - 1; i >= 0; i--)
        if (g->free_axis[i] == axis) {
            int32_t reg = g->free[i];
            g->nfree--;
            g->free[i] = g->free[g->nfree], g->free_axis[i] = g->free_axis[g->nfree];
            return reg;
        }
    return r->nreg[axis]++;
}

/* Give back the registers of operands that instruction i reads last. */
static void release_dead(struct clf_rows *r, clf_rows_regs *g, const clf_row_instr *in, int i) {
    for (int q = 0; q < 3; q++) {
        int32_t s = in->in[q];
        bool again = (q > 0 && s == in->in[0]) || (q > 1 && s == in->in[1]);
        if (s < 0 || again || r->slot[s].reg < 0 || r->slot[s].shape != CLF_RS_MAT || g->last[s] != i) continue;
        g->last[s] = -1;
        g->free_axis[g->nfree] = r->slot[s].axis;
        g->free[g->nfree++] = r->slot[s].reg;
    }
}

static bool same_size(const struct clf_rows *r, const clf_row_instr *in) {
    for (int q = 0; q < 3; q++)
        if (in->in[q] >= 0 && r->slot[in->in[q]].log2 != r->slot[in->dst].log2) return false;
    return true;
}

/* Stored values that no loop reads beyond their end are always read where they stand. */
static bool in_place(const struct clf_rows *r, const clf_row_instr *in) {
    return in->kind == CLF_RI_LOAD && r->c.access[in->arg].protocol == CLF_ENTRIES && !r->slot[in->dst].padded;
}

void clf_rows_assign(struct clf_rows *r, clf_rows_regs *g) {
    for (int s = 0; s < r->nslot; s++) g->last[s] = -1;
    for (int i = 0; i < r->nbatch; i++) {
        if (r->batch[i].dst >= 0) g->last[r->batch[i].dst] = i;
        for (int q = 0; q < 3; q++)
            if (r->batch[i].in[q] >= 0) g->last[r->batch[i].in[q]] = i;
    }
    for (int i = 0; i < r->nbatch; i++) {
        const clf_row_instr *in = &r->batch[i];
        if (in->kind == CLF_RI_OP && same_size(r, in)) release_dead(r, g, in, i);
        if (in->dst >= 0 && r->slot[in->dst].shape == CLF_RS_MAT && !in_place(r, in))
            r->slot[in->dst].reg = take_reg(r, g, r->slot[in->dst].axis);
        release_dead(r, g, in, i);
    }
}

/* ---- batches that may end inside a row ----------------------------------------------------------------------------------- */

bool clf_rows_may_split(const struct clf_rows *r) {
    if (r->entry < 0) return false;
    for (int i = 0; i < r->nbatch; i++)
        if (r->batch[i].over == r->entry) return false;
    for (int i = 0; i < r->nsink; i++) {
        const clf_row_sink *s = &r->sink[i];
        if (s->axis != r->entry || (s->kind != CLF_RK_STORE && s->kind != CLF_RK_FULL)) return false;
        if (s->h >= 0 && r->slot[s->h].shape == CLF_RS_ROW) return false; /* cells without entry, row by row */
    }
    return r->nsink > 0;
}
