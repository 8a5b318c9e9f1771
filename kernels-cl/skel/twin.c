/* SPDX-License-Identifier: Apache-2.0
 * The common parts of the C twins. See twin.h. */
#include <string.h>

#include "kernels-cl/skel/twin.h"

/* BUSY_GROUPS: work-groups of each compute unit, below which some idle. TEXT_BYTES: few programs are longer. */
enum { ARG_BYTES = 8, BUSY_GROUPS = 4, TEXT_BYTES = 1 << 16 };

/* ---- arguments ---- */

void clf_args_put(clf_args *w, clf_arg_kind kind, int dtype, int index) {
    if (w->desc) w->desc[w->n] = (clf_arg_desc){(uint8_t)kind, (uint8_t)dtype, (int16_t)index};
    w->n++;
}

void clf_args_size(clf_args *w, const char *name, int id, int64_t value) {
    if (w->value && w->nvalue < CLF_SCHED_ARGS) w->value[w->nvalue] = value;
    if (w->text && name) clf_str_fmt(w->text, "long %s%d, ", name, id);
    clf_args_put(w, CLF_ARG_I64, CLF_I64, w->nvalue++);
}

void clf_args_input(clf_args *w, const clf_cplan *c, int a, int64_t base) {
    char buf[CLF_EMIT_NAME];
    int in = c->access[a].input;
    clf_dtype t = (clf_dtype)c->in[in].dtype;
    clf_args_put(w, CLF_ARG_MEM_IN, t, in);
    if (w->text) clf_str_fmt(w->text, "const __global %s *restrict x%d, ", clf_emit_type(buf, t, 1), a);
    clf_args_size(w, "xb", a, base);
}

void clf_args_results(clf_args *w, const clf_cplan *c) {
    char buf[CLF_EMIT_NAME];
    for (int o = 0; o < c->nout; o++) {
        clf_args_put(w, CLF_ARG_MEM_OUT, c->out[o].dtype, o);
        if (w->text) clf_str_fmt(w->text, "__global %s *restrict o%d, ", clf_emit_type(buf, (clf_dtype)c->out[o].dtype, 1), o);
        clf_args_size(w, "ob", o, 0);
    }
    for (int k = 0; k < c->nparam; k++) {
        clf_args_put(w, CLF_ARG_PARAM, c->param[k], k);
        if (w->text) clf_str_fmt(w->text, "%s p%d, ", clf_emit_type(buf, (clf_dtype)c->param[k], 1), k);
    }
}

void clf_args_end(clf_args *w, int n, const int64_t *size) {
    clf_args_put(w, CLF_ARG_SCRATCH, CLF_U8, 0);
    clf_args_put(w, CLF_ARG_COUNTER, CLF_I32, 0);
    for (int k = 0; k < n; k++) clf_args_size(w, NULL, 0, size[k]);
}

bool clf_twin_floats_fit(const clf_cplan *c, const clf_profile *p) {
    if (p->fp64) return true;
    for (int v = 0; v < c->nvalue; v++)
        if (c->value[v].dtype == CLF_F64) return false;
    for (int s = 0; s < c->nsink; s++)
        if (c->sink[s].kind == CLF_SINK_FOLD && clf_dtype_float((clf_dtype)c->value[c->sink[s].value[0]].dtype)) return false;
    return true;
}

bool clf_twin_args_fit(const clf_twin *t, const void *plan, const clf_profile *profile) {
    clf_args w = {.n = 0};
    t->walk(&w, plan, 0);
    return w.nvalue <= CLF_SCHED_ARGS && (profile->max_arg_bytes <= 0 || (double)w.n * ARG_BYTES <= profile->max_arg_bytes);
}

/* ---- schedule, facts ---- */

clf_status clf_twin_sched(const clf_twin *t, const void *plan, const clf_twin_grid *g, clf_grid grid, clf_sched *out, clf_err *err) {
    int64_t hi = grid.hi < 1 && grid.lo == 0 ? g->chunks : grid.hi < g->chunks ? grid.hi : g->chunks, units;
    if (__builtin_mul_overflow(g->chunks, g->cstride, &units) || __builtin_add_overflow(units, g->extra, &units) ||
        units > INT64_MAX / 16 - g->cbase)
        return clf_fail(err, CLF_E_LIMIT, "%s: scratch is too large", t->skel->name);
    memset(out, 0, sizeof *out);
    out->skel = t->skel;
    out->index_bits = 64;
    out->global = grid.lo < hi ? (size_t)(hi - grid.lo) : 0;
    out->local = 1;
    out->scratch_bytes = (size_t)(g->cbase + units) * 8 + 64;
    clf_args w = {.value = out->arg};
    t->walk(&w, plan, grid.lo);
    out->narg = w.nvalue;
    return CLF_OK;
}

void clf_twin_share(clf_facts *f, const clf_sched *s, int64_t chunks) {
    double part = (double)s->global / (double)chunks;
    f->read_bytes *= part;
    f->write_bytes *= part;
    for (int k = 0; k < 2 * CLF_NCLASSES; k++) f->cells[k / CLF_NCLASSES][k % CLF_NCLASSES] *= part;
    f->launches = s->global > 0;
}

/* ---- of work-groups ---- */

static void fill_groups(const clf_twin *t, const void *plan, const clf_twin_groups *g, int64_t first, int64_t groups, clf_sched *out) {
    memset(out, 0, sizeof *out);
    out->skel = t->skel;
    out->width = g->width > 1 ? g->width : 1;
    out->index_bits = g->index_bits;
    out->flat = g->flat;
    out->grain = g->grain;
    out->extent = g->extent;
    out->local = (size_t)g->local;
    out->global = (size_t)(groups > 0 ? groups : 0) * out->local;
    out->scratch_bytes = (size_t)g->words * 8 + 64;
    clf_args w = {.value = out->arg};
    t->walk(&w, plan, first);
    out->narg = w.nvalue;
}

void clf_twin_group_sched(const clf_twin *t, const void *plan, const clf_twin_groups *g, clf_grid grid, clf_sched *out) {
    int64_t hi = grid.hi < g->groups ? grid.hi : g->groups;
    fill_groups(t, plan, g, grid.lo, hi - grid.lo, out);
    out->merge = g->merges > 0 ? CLF_MERGE_FOLLOWS : CLF_MERGE_NONE;
}

void clf_twin_group_merge(const clf_twin *t, const void *plan, const clf_twin_groups *g, clf_sched *out) {
    fill_groups(t, plan, g, 0, g->merges, out);
    out->merge = CLF_MERGE_ITSELF;
}

void clf_twin_group_share(clf_facts *f, const clf_sched *s, const clf_twin_groups *g, const clf_profile *profile) {
    double busy = (double)(profile->cores > 0 ? profile->cores : 1) * BUSY_GROUPS, groups = (double)(s->global / s->local);
    clf_twin_share(f, s, g->groups > 0 ? g->groups * g->local : 1);
    f->launches = (s->global > 0) + (g->merges > 0);
    f->occupancy = groups < busy ? groups / busy : 1;
}

/* ---- text ---- */

bool clf_twin_text(clf_ctext *x, int nvalue, clf_arena *arena) {
    x->stage = clf_arena_new(arena, (size_t)nvalue, 1);
    x->uses = clf_arena_new(arena, (size_t)nvalue, sizeof *x->uses);
    return x->stage && x->uses;
}

clf_status clf_twin_no_memory(const clf_twin *t, clf_err *err) {
    return clf_fail(err, CLF_E_NOMEM, "%s: out of memory while writing a kernel", t->skel->name);
}

static void full_merge(clf_ctext *x) { clf_fold_hole_full(x, 0); }
static void full_put(clf_ctext *x) { clf_fold_hole_full(x, 1); }
static void full_get(clf_ctext *x) { clf_fold_hole_full(x, 2); }
static void full_init(clf_ctext *x) { clf_fold_hole_full(x, 3); }
static const clf_hole full_folds[] = {{"CLF_FULL_MERGE(slot)", full_merge},
                                      {"CLF_FULL_PUT(slot)", full_put},
                                      {"CLF_FULL_GET(slot)", full_get},
                                      {"CLF_FULL_INIT", full_init},
                                      {NULL, NULL}};

static void fill(const clf_hole *hole, clf_ctext *x, clf_str *out) {
    clf_str body;
    clf_str_init(&body, out->mem);
    x->e.out = &body;
    for (; hole->name; hole++) {
        clf_str_clear(&body);
        hole->write(x);
        clf_emit_define(out, hole->name, clf_str_c(&body));
    }
    out->failed = out->failed || body.failed;
    clf_str_release(&body);
}

/* A program while it is written. */
typedef struct draft {
    clf_str holes, families, all, entry;
    clf_pieces pieces;
} draft;

static void draft_begin(draft *d, clf_mem *mem) {
    clf_str *all[] = {&d->holes, &d->families, &d->all, &d->entry};
    for (int k = 0; k < 4; k++) clf_str_init(all[k], mem);
    d->pieces.n = 0;
}

static void draft_end(draft *d) {
    clf_str *all[] = {&d->holes, &d->families, &d->all, &d->entry};
    for (int k = 0; k < 4; k++) clf_str_release(all[k]);
}

/* The entry is named by the text of the holes, so equal kernels have equal names. */
static clf_status put_program(const clf_twin *t, clf_ctext *x, const void *plan, int constant, const char *kernel_dir, draft *d,
                              clf_err *err) {
    clf_args w = {.text = &d->holes};
    clf_emit_init(&x->e, &d->holes);
    clf_str_put(&d->holes, "#define CLF_ARGS ");
    t->walk(&w, plan, 0);
    clf_str_fmt(&d->holes, "\n#define %s %d\n", t->constant, constant);
    fill(t->hole, x, &d->holes);
    if (!x->groups) fill(full_folds, x, &d->holes);
    clf_emit_prelude(&x->e, &d->families);
    clf_hash h = clf_hash_bytes(clf_str_c(&d->holes), strlen(clf_str_c(&d->holes)));
    clf_str_fmt(&d->entry, "k_%016llx", (unsigned long long)h.lo);
    clf_str_room(&d->all, TEXT_BYTES);
    clf_str_fmt(&d->all, "#define CLF_ENTRY %s\n%s", clf_str_c(&d->entry), clf_str_c(&d->holes));
    clf_pieces_note(&d->pieces, CLF_TEXT_HOLES, &d->all);
    CLF_TRY(clf_kernel_expand(t->file, kernel_dir, clf_str_c(&d->families), &d->pieces, &d->all, err));
    bool failed = d->all.failed || d->entry.failed || d->holes.failed || d->families.failed;
    return failed ? clf_twin_no_memory(t, err) : CLF_OK;
}

static clf_status hand_over(const clf_twin *t, const void *plan, const draft *d, clf_arena *arena, clf_source *out, clf_err *err) {
    clf_args w = {.n = 0};
    t->walk(&w, plan, 0);
    int npieces = d->pieces.n <= CLF_TEXT_PIECES ? d->pieces.n : 0;
    clf_arg_desc *desc = clf_arena_new(arena, (size_t)w.n, sizeof *desc);
    clf_text_piece *piece = clf_arena_new(arena, (size_t)npieces, sizeof *piece);
    char *text = clf_arena_strn(arena, clf_str_c(&d->all), d->all.len), *entry = clf_arena_strn(arena, clf_str_c(&d->entry), d->entry.len);
    if (!desc || !piece || !text || !entry) return clf_twin_no_memory(t, err);
    w = (clf_args){.desc = desc};
    t->walk(&w, plan, 0);
    memcpy(piece, d->pieces.at, (size_t)npieces * sizeof *piece);
    *out = (clf_source){.text = text,
                        .text_len = d->all.len,
                        .entry = entry,
                        .options = "",
                        .args = desc,
                        .nargs = w.n,
                        .piece = piece,
                        .npieces = npieces,
                        .hash = clf_hash_bytes(text, d->all.len)};
    return CLF_OK;
}

clf_status clf_twin_write(const clf_twin *t, clf_ctext *x, const void *plan, int constant, const char *kernel_dir, clf_arena *arena,
                          clf_source *out, clf_err *err) {
    draft d;
    draft_begin(&d, arena->mem);
    clf_status st = put_program(t, x, plan, constant, kernel_dir, &d, err);
    if (st == CLF_OK) st = hand_over(t, plan, &d, arena, out, err);
    draft_end(&d);
    return st;
}
