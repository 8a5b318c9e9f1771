/* SPDX-License-Identifier: Apache-2.0
 * What cplans made for cell.generic have alike (see generic_made.h). */
#include "kernels-cl/skel/generic_made.h"

void clf_generic_made_begin(clf_generic_made *m, const clf_axis *axis) {
    const clf_cplan *c = m->from;
    m->axis = *axis;
    m->c = (clf_cplan){.naxes = 1,
                       .nin = c->nin,
                       .nparam = c->nparam,
                       .nout = c->nout,
                       .axis = &m->axis,
                       .in = m->in,
                       .param = c->param,
                       .out = m->out,
                       .access = m->access,
                       .value = m->value,
                       .sink = m->sink};
    for (int i = 0; i < c->nin; i++) m->in[i] = c->in[i];
    for (int o = 0; o < c->nout; o++) m->out[o] = c->out[o];
    for (int v = 0; v < c->nvalue; v++) m->as[v] = -1;
}

void clf_generic_made_use(clf_generic_made *m) {
    const clf_cplan *c = m->from;
    for (int v = c->nvalue - 1; v >= 0; v--)
        for (int k = 0; m->used[v] && k < clf_generic_arity(&c->value[v]); k++) m->used[c->value[v].in[k]] = true;
}

bool clf_generic_made_operands(clf_generic_made *m) {
    clf_value *to = &m->value[m->c.nvalue];
    for (int k = 0; k < clf_generic_arity(to); k++) {
        to->in[k] = m->as[to->in[k]];
        if (to->in[k] < 0) return false;
    }
    return true;
}

int clf_generic_made_access(clf_generic_made *m, const clf_access *a) {
    if (m->c.naccess == CLF_GEN_ACCESSES) return -1;
    m->access[m->c.naccess] = *a;
    return m->c.naccess++;
}
