/* SPDX-License-Identifier: Apache-2.0
 * How many work-items a group of a GPU has (see group_local.h). */
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
