/* SPDX-License-Identifier: Apache-2.0
 * Counting for facts. See facts.h. */
#include "kernels-cl/skel/facts.h"

double clf_facts_cells(const clf_cplan *c, uint32_t axes) {
    double n = 1;
    for (int a = 0; a < c->naxes; a++)
        if (axes >> a & 1u) n *= (double)c->axis[a].n.n;
    return n;
}

void clf_facts_read(clf_facts *f, const clf_cplan *c, int k, double elems) {
    double all = 1;
    for (int d = 0; d < c->in[k].rank; d++) all *= (double)c->in[k].dim[d].n;
    f->read_bytes += (elems < all ? elems : all) * (double)clf_dtype_bytes((clf_dtype)c->in[k].dtype);
}

void clf_facts_loads(clf_facts *f, const clf_cplan *c, const uint8_t *used) {
    for (int k = 0; k < c->nin; k++) {
        double read = 0;
        for (int v = 0; v < c->nvalue; v++) {
            bool load = (!used || used[v]) && c->value[v].op == CLF_V_LOAD;
            if (load && c->access[c->value[v].arg].input == k) read += clf_facts_cells(c, c->value[v].axes);
        }
        clf_facts_read(f, c, k, read);
    }
}

void clf_facts_value(clf_facts *f, const clf_cplan *c, int v, double times) {
    const clf_value *w = &c->value[v];
    f->cells[c->value[w->in[0]].dtype == CLF_F64][clf_ops[w->op].class_] += times;
}

void clf_facts_write(clf_facts *f, const clf_cplan *c, const clf_sink *s, double elems) {
    f->write_bytes += elems * (double)clf_dtype_bytes((clf_dtype)c->out[s->out[0]].dtype);
}
