/* SPDX-License-Identifier: Apache-2.0
 * entry.generic: the text of cell.generic.cl over the stored entries of a CSR operand (see generic_entries.h). One program for all such
 * cplans of a float type. */
#include <string.h>

#include "kernels-cl/skel/entry_plan.h"
#include "kernels-cl/skel/generic_entries.h"
#include "kernels-cl/skel/generic_text.h"

extern const clf_skel clf_skel_entry_generic, clf_skel_entry_chunk;

static void walk(clf_args *w, const void *plan, int64_t first) {
    const clf_generic_entries *r = plan;
    clf_args_put(w, CLF_ARG_CSR_PTR, CLF_I64, r->csr);
    clf_args_put(w, CLF_ARG_CSR_IDX, CLF_I32, r->csr);
    if (w->text) clf_str_put(w->text, "const __global long *xp, const __global int *xc, ");
    clf_gen_walk_operands(w, &r->g);
    for (int k = 0; k < CLF_GEN_ACCESSES; k++) clf_args_size(w, "e", k, r->across[k]);
    for (int k = 0; k < CLF_GEN_PAIRS; k++) clf_args_size(w, "d", k, r->second[k]);
    clf_args_size(w, "rows", 0, r->rows);
    clf_args_size(w, "gathers", 0, r->gathers);
    clf_args_size(w, "links", 0, r->links);
    clf_args_size(w, "tiles", 0, r->tiles);
    clf_args_size(w, "area", 0, r->area);
    clf_gen_walk_sizes(w, &r->g, first);
}

static const clf_twin twin = {&clf_skel_entry_generic, "skel/cell.generic.cl", "CLF_GEN_FOLDS", clf_gen_entry_holes, walk};

static bool fits(const clf_cplan *c, const clf_profile *p) {
    clf_generic_entries r;
    clf_entry e;
    return p->fp64 && clf_generic_entries_plan(&r, c, p->cores) && clf_entry_plan(&e, c, p->cores) && clf_twin_args_fit(&twin, &r, p);
}

/* Never cut: a part would see a part of the operand, whose rows it needs whole. */
static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_generic_entries r;
    if (!clf_generic_entries_plan(&r, c, p->cores)) return clf_fail(err, CLF_E_INTERNAL, "entry.generic: cplan does not fit");
    const clf_twin_grid all = {.chunks = r.g.cell.chunks, .cbase = r.tiles, .cstride = r.area};
    CLF_TRY(clf_twin_sched(&twin, &r, &all, grid, out, err));
    out->variant = (int)r.g.t;
    out->width = clf_lanes(r.g.t);
    out->grain = 1;
    return CLF_OK;
}

static void facts(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_facts *out) {
    clf_generic_entries r;
    clf_entry e;
    memset(out, 0, sizeof *out);
    if (!clf_generic_entries_plan(&r, c, p->cores) || !clf_entry_plan(&e, c, p->cores)) return;
    clf_gen_facts(&clf_skel_entry_chunk, e.cell.chunks, c, p, s, r.g.cell.chunks, out);
}

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    (void)s;
    clf_generic_entries r;
    if (!clf_generic_entries_plan(&r, c, 1)) return clf_fail(err, CLF_E_INTERNAL, "entry.generic: cplan does not fit");
    return clf_gen_emit(&twin, &r, r.g.t, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_entry_generic = {
    .name = "entry.generic",
    .strategy = "generic",
    .tier = 1,
    .fits = fits,
    .sched = sched,
    .facts = facts,
    .emit = emit,
};
