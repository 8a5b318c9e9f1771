/* SPDX-License-Identifier: Apache-2.0
 * The C twin of cell.generic.cl. Its text depends on the float type alone, and so does the list of its arguments: a cplan's own are values
 * of arguments, and operands that it does not have are memory of no bytes. So one program serves all cplans, and is there before they are. */
#include <string.h>

#include "kernels-cl/skel/generic_text.h"

extern const clf_skel clf_skel_cell_generic, clf_skel_cell_chunk;

/* ---- arguments ---- */

static void walk_memory(clf_args *w, clf_dtype t) {
    char buf[CLF_EMIT_NAME];
    const char *type = clf_emit_type(buf, t, 1);
    for (int k = 0; k < CLF_GEN_INPUTS; k++) {
        clf_args_put(w, CLF_ARG_MEM_IN, t, k);
        if (w->text) clf_str_fmt(w->text, "const __global %s *x%d, ", type, k);
        clf_args_size(w, "xb", k, 0);
    }
    for (int k = 0; k < CLF_GEN_OUTPUTS; k++) {
        clf_args_put(w, CLF_ARG_MEM_OUT, t, k);
        if (w->text) clf_str_fmt(w->text, "__global %s *o%d, ", type, k);
        clf_args_size(w, "ob", k, 0);
    }
    for (int k = 0; k < CLF_GEN_PARAMS; k++) {
        clf_args_put(w, CLF_ARG_PARAM, t, k);
        if (w->text) clf_str_fmt(w->text, "%s p%d, ", type, k);
    }
}

void clf_gen_walk_operands(clf_args *w, const clf_generic *g) {
    walk_memory(w, g->t);
    for (int a = 0; a < CLF_GEN_ACCESSES; a++) clf_args_size(w, "y", a, g->base[a]);
    for (int a = 0; a < CLF_GEN_ACCESSES; a++) clf_args_size(w, "z", a, g->step[a]);
    for (int k = 0; k < CLF_GEN_CODE; k++) clf_args_size(w, "c", k, g->code[k]);
}

void clf_gen_walk_sizes(clf_args *w, const clf_generic *g, int64_t first) {
    const clf_cell *p = &g->cell;
    const int64_t size[] = {p->n,      g->run,   p->chunk, first,     p->chunks, p->ent,   g->states, g->areas, g->area,
                            g->tails,  g->reads, g->folds, g->stores, g->nfold,  g->nonce, g->later,  g->ncode, p->cols > 0 ? p->cols : 1,
                            g->rowwise};
    clf_args_end(w, sizeof size / sizeof *size, size);
}

void clf_gen_facts(const clf_skel *of, int64_t its_chunks, const clf_cplan *c, const clf_profile *p, const clf_sched *s, int64_t chunks,
                   clf_facts *out) {
    clf_sched all = *s;
    all.global = (size_t)its_chunks;
    of->facts(c, p, &all, out);
    clf_twin_share(out, s, chunks);
}

clf_status clf_gen_emit(const clf_twin *t, const void *plan, clf_dtype type, const char *kernel_dir, clf_arena *arena, clf_source *out,
                        clf_err *err) {
    clf_gen_text x;
    CLF_TRY(clf_gen_text_begin(&x, type, arena, err));
    return clf_twin_write(t, &x.x, plan, CLF_GEN_FOLDS, kernel_dir, arena, out, err);
}

static void walk(clf_args *w, const void *plan, int64_t first) {
    const clf_generic *g = plan;
    clf_gen_walk_operands(w, g);
    clf_args_size(w, "lanes", 0, g->lanes);
    clf_args_size(w, "block", 0, g->block);
    clf_args_size(w, "levels", 0, g->levels);
    clf_gen_walk_sizes(w, plan, first);
}

static const clf_twin twin = {&clf_skel_cell_generic, "skel/cell.generic.cl", "CLF_GEN_FOLDS", clf_gen_holes, walk};

/* ---- fits, sched, facts ---- */

static bool fits(const clf_cplan *c, const clf_profile *p) {
    clf_generic g;
    return p->fp64 && clf_generic_plan(&g, c, p->cores) && clf_twin_args_fit(&twin, &g, p);
}

static clf_status sched(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err) {
    clf_generic g;
    if (!clf_generic_plan(&g, c, p->cores)) return clf_fail(err, CLF_E_INTERNAL, "cell.generic: cplan does not fit");
    const clf_twin_grid all = {.chunks = g.cell.chunks, .cbase = g.words};
    CLF_TRY(clf_twin_sched(&twin, &g, &all, grid, out, err));
    out->variant = (int)g.t;
    out->width = clf_lanes(g.t);
    out->flat = 1;
    out->grain = g.run;
    out->extent = g.cell.n;
    return CLF_OK;
}

static void facts(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_facts *out) {
    clf_generic g;
    clf_cell cell;
    memset(out, 0, sizeof *out);
    if (!clf_generic_plan(&g, c, p->cores) || !clf_cell_plan(&cell, c, p->cores)) return;
    clf_gen_facts(&clf_skel_cell_chunk, cell.chunks, c, p, s, g.cell.chunks, out);
}

static clf_status emit(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err) {
    (void)s;
    clf_generic g;
    if (!clf_generic_plan(&g, c, 1)) return clf_fail(err, CLF_E_INTERNAL, "cell.generic: cplan does not fit");
    return clf_gen_emit(&twin, &g, g.t, kernel_dir, arena, out, err);
}

const clf_skel clf_skel_cell_generic = {
    .name = "cell.generic",
    .strategy = "generic",
    .tier = 1,
    .fits = fits,
    .sched = sched,
    .facts = facts,
    .emit = emit,
};
