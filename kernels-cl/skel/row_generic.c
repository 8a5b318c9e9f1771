/* SPDX-License-Identifier: Apache-2.0
 * row.generic: the text of cell.generic.cl over rows, with dots of rows before and sums over rows behind a block's instructions (see
 * generic_rows.h). One program for all such cplans of a float type. */
#include <string.h>

#include "kernels-cl/skel/generic_rows.h"
#include "kernels-cl/skel/generic_text.h"
#include "kernels-cl/skel/row_plan.h"

extern const clf_skel clf_skel_row_generic, clf_skel_row_chunk;

static void walk(clf_args *w, const void *plan, int64_t first) {
    const clf_generic_rows *r = plan;
    clf_gen_walk_operands(w, &r->g);
    for (int k = 0; k < CLF_GEN_DOTS; k++) clf_args_size(w, "d", k, r->vector[k]);
    for (int k = 0; k < CLF_GEN_COLS; k++) clf_args_size(w, "e", k, r->base[k]);
    for (int k = 0; k < CLF_GEN_COLS; k++) clf_args_size(w, "g", k, r->step[k]);
    clf_args_size(w, "links", 0, r->dots | r->cols << 32);
    clf_args_size(w, "inner", 0, r->inner);
    clf_args_size(w, "block", 0, r->block);
    clf_args_size(w, "levels", 0, r->levels);
    clf_args_size(w, "padded", 0, r->padded);
    clf_args_size(w, "tiles", 0, r->tiles);
    clf_args_size(w, "area", 0, r->area);
    clf_gen_walk_sizes(w, &r->g, first);
}

static const clf_twin twin = {&clf_skel_row_generic, "skel/cell.generic.cl", "CLF_GEN_FOLDS", clf_gen_row_holes, walk};

static bool fits(const clf_cplan *c, const clf_profile *p) {
    clf_generic_rows r;
    clf_row row;
    return p->fp64 && clf_generic_rows_plan(&r, c, p->cores) && clf_row_plan_on(&row, c, p) && clf_twin_args_fit(&twin, &r, p);
}

/* Never cut: a part would see a part of the matrix, whose vectors it needs whole. */
static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_generic_rows r;
    if (!clf_generic_rows_plan(&r, c, p->cores)) return clf_fail(err, CLF_E_INTERNAL, "row.generic: cplan does not fit");
    const clf_twin_grid all = {.chunks = r.g.cell.chunks, .cbase = r.tiles, .cstride = r.area};
    CLF_TRY(clf_twin_sched(&twin, &r, &all, grid, out, err));
    out->variant = (int)r.g.t;
    out->width = clf_lanes(r.g.t);
    out->grain = r.g.run;
    out->extent = 0;
    return CLF_OK;
}

static void facts(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_facts *out) {
    clf_generic_rows r;
    clf_row row;
    memset(out, 0, sizeof *out);
    if (!clf_generic_rows_plan(&r, c, p->cores) || !clf_row_plan_on(&row, c, p)) return;
    clf_gen_facts(&clf_skel_row_chunk, row.chunks, c, p, s, r.g.cell.chunks, out);
}

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    (void)s;
    clf_generic_rows r;
    if (!clf_generic_rows_plan(&r, c, 1)) return clf_fail(err, CLF_E_INTERNAL, "row.generic: cplan does not fit");
    return clf_gen_emit(&twin, &r, r.g.t, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_row_generic = {
    .name = "row.generic",
    .strategy = "generic",
    .tier = 1,
    .fits = fits,
    .sched = sched,
    .facts = facts,
    .emit = emit,
};
