/* SPDX-License-Identifier: Apache-2.0
 * How many work-items a group of a GPU has, and cells a work-item at a step (see group_local.h). */
#include "kernels-cl/skel/group_local.h"

enum { WORD = 8 };

static bool has_room(const clf_profile *p, int local, int words) {
    return !(p->unit_local_bytes > 0) || (double)WORD * (CLF_BATCH_STATES * local + words) <= p->unit_local_bytes;
}

int clf_group_local(const clf_profile *p, int kind, int words) {
    int local = p->group_items[kind] > 0 ? (int)p->group_items[kind] : CLF_MOST_LOCAL;
    while (local > CLF_LEAST_LOCAL && !has_room(p, local, words)) local /= 2;
    return has_room(p, local, words) ? local : 0;
}

static bool is_wide(int dtype) { return clf_dtype_bytes((clf_dtype)dtype) > 4; }

int clf_group_width(const clf_cplan *c, const clf_profile *p) {
    bool wide = false;
    for (int k = 0; k < c->nin; k++) wide = wide || is_wide(c->in[k].dtype);
    for (int s = 0; s < c->nsink; s++) wide = wide || (c->sink[s].kind == CLF_SINK_STORE && is_wide(c->out[c->sink[s].out[0]].dtype));
    if (p->item_cells[wide] > 0) return (int)p->item_cells[wide];
    return p->kind != CLF_DEV_GPU ? 1 : wide ? 2 : 4;
}
