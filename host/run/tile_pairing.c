/* SPDX-License-Identifier: Apache-2.0
 * Which operators of a tile program share a loop: a sum, difference or product of cells, and an operand of it that nothing else reads.
 * A value is in one pair at most; the last operators choose first. */
#include "host/run/tile_prog.h"

static bool is_cell(const clf_cplan *c, const clf_value *v) { return c->naxes > 0 && v->axes == (c->naxes < 2 ? 1u : 3u); }

static int uniform(const clf_cplan *c, int32_t v) { return v >= 0 && c->value[v].axes == 0; }

/* How outer operators use the inner one's result, on their left side and on their right one; -1: not at all. */
static int form_of(int op, int side) {
    if (op == CLF_OP_ADD) return CLF_PAIR_ADD;
    if (op == CLF_OP_MUL) return CLF_PAIR_MUL;
    if (op != CLF_OP_SUB) return -1;
    return side ? CLF_PAIR_FROM : CLF_PAIR_SUB;
}

clf_loop_fn clf_tile_pair_loop(const clf_tile *t, const clf_cplan *c, int32_t v, int side) {
    const clf_value *x = &c->value[v];
    int form = form_of(x->op, side);
    if (form < 0) return NULL;
    const clf_value *p = &c->value[x->in[side]];
    if (!is_cell(c, x) || !is_cell(c, p) || !clf_op_is_cell(p->op)) return NULL;
    int type = c->value[p->in[0]].dtype;
    if (p->dtype != type || x->dtype != type || c->value[x->in[!side]].dtype != type) return NULL;
    const clf_pair_loops *loops = t->isa.pair->inner[p->op];
    return loops ? loops->form[form][type][uniform(c, p->in[0]) | uniform(c, p->in[1]) << 1 | uniform(c, x->in[!side]) << 2] : NULL;
}

clf_loop_fn clf_tile_uniform_loop(const clf_tile *t, const clf_cplan *c, int32_t v) {
    const clf_value *x = &c->value[v];
    const clf_pair_loops *loops = is_cell(c, x) ? t->isa.pair->inner[x->op] : NULL;
    return loops ? loops->form[CLF_PAIR_ALONE][c->value[x->in[0]].dtype][uniform(c, x->in[0]) | uniform(c, x->in[1]) << 1] : NULL;
}

void clf_tile_pair_up(const clf_tile *t, const clf_cplan *c, const int32_t *uses, uint8_t *folded, int8_t *side) {
    for (int32_t v = 0; v < c->nvalue; v++) side[v] = -1;
    for (int32_t v = c->nvalue - 1; v >= 0; v--)
        for (int s = 1; s >= 0 && uses[v] > 0 && !folded[v] && side[v] < 0; s--) {
            if (!clf_tile_pair_loop(t, c, v, s)) continue;
            int32_t p = c->value[v].in[s];
            if (uses[p] != 1 || folded[p]) continue;
            folded[p] = 1;
            side[v] = (int8_t)s;
        }
}
