/* SPDX-License-Identifier: Apache-2.0
 * What is a plane of cells. See plane.h. */
#include "kernels-cl/skel/plane.h"

#include "kernels-cl/skel/strides.h"

static bool value_ok(const clf_cplan *c, const clf_value *v) {
    clf_strides s;
    if (clf_op_is_cell(v->op) || v->op == CLF_V_PARAM || v->op == CLF_V_CAST || v->op == CLF_V_INDEX) return true;
    return v->op == CLF_V_LOAD && clf_strides_of(c, &c->access[v->arg], &s);
}

static bool sink_ok(const clf_cplan *c, const clf_plane *p, const clf_sink *s) {
    uint32_t all = p->i | p->j;
    if (s->guard >= 0) return false;
    if (s->kind == CLF_SINK_STORE) return true;
    return s->kind == CLF_SINK_FOLD && (s->keep == 0 || (p->i && s->keep != all)) && clf_sink_loop(c, s) == all;
}

bool clf_plane_of(const clf_cplan *c, clf_plane *out) {
    clf_plane p = {.rows = 1, .cols = 1};
    if (c->naxes > 2) return false;
    for (int a = 0; a < c->naxes; a++)
        if (c->axis[a].kind != CLF_AXIS_RANGE || c->axis[a].n.n < 0) return false;
    for (int k = 0; k < c->nin; k++)
        if (c->in[k].format != 0) return false;
    p.i = c->naxes == 2 ? 1 : 0;
    p.j = c->naxes == 2 ? 2 : (uint32_t)c->naxes;
    if (c->naxes == 2) p.rows = c->axis[0].n.n;
    if (c->naxes) p.cols = c->axis[c->naxes - 1].n.n;
    for (int v = 0; v < c->nvalue; v++)
        if (!value_ok(c, &c->value[v])) return false;
    for (int s = 0; s < c->nsink; s++)
        if (!sink_ok(c, &p, &c->sink[s])) return false;
    if (__builtin_mul_overflow(p.rows, p.cols, &p.n) || p.n > INT64_MAX / 16) return false;
    *out = p;
    return true;
}
