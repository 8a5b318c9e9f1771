/* SPDX-License-Identifier: Apache-2.0
 * A cover that is not proved the cheapest may have a part on the wrong device: openings are on one device as a whole, and a search that its
 * budget ended has not tried all. So its parts are tried on the other devices, one after the other, the rest staying where it is; what is
 * made last comes first, for small results are often read on the host. */
#include "planner/searching.h"

enum { MOST_PRICED = 1024 }; /* parts, in all covers together that are priced */

static bool may_be_on(const clf_problem *p, const clf_part *part, int d) { return part->loop || clf_problem_alone_on(p, part->node[0], d); }

clf_status clf_leaf_move(clf_searcher *s, clf_ps *saved, clf_err *err) {
    clf_cover *c = &s->leaf;
    clf_ps begun, least;
    clf_cover_drivers(s->p->g, c);
    CLF_TRY(clf_cover_price(&s->pricer, c, &begun, err));
    least = begun;
    for (int32_t i = c->npart, priced = 0; i-- > 0;)
        for (int d = 0, begun_on = c->part[i].device; d < s->p->dev.n && priced + c->npart <= MOST_PRICED; d++) {
            clf_part *part = &c->part[i];
            uint8_t was = part->device;
            clf_ps cost;
            if (d == begun_on || !may_be_on(s->p, part, d)) continue;
            priced += c->npart;
            part->device = (uint8_t)d;
            CLF_TRY(clf_cover_price(&s->pricer, c, &cost, err));
            if (cost < least)
                least = cost;
            else
                part->device = was;
        }
    *saved = begun - least;
    return CLF_OK;
}
