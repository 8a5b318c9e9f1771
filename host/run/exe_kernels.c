/* SPDX-License-Identifier: Apache-2.0
 * The kernels of a plan: written for a window of steps first, built together where they are new, then handed to their steps. A kernel
 * that cannot be written or built sends its own step to the host executor and no other: when a program of many does not build, its
 * kernels are built one by one. Only running out of memory fails the plan. What comes later is exe_later.c's. */
#include "host/run/exe_kernels.h"

#include <string.h>

#include "core/clock.h"
#include "host/run/exe_window.h"
#include "host/run/meter.h"
#include "host/run/run.h"

static clf_status no_memory(clf_err *err) { return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan"); }

/* Do the tier and strategy settings allow it? Generic kernels are for who asks, and for steps that wait (exe_generic.c). */
static bool allowed(const clf_ctx *c, const clf_skel *skel) {
    const char tier[2] = {(char)('0' + skel->tier), 0};
    bool named = !strcmp(c->knobs.strategy, skel->strategy);
    if (strcmp(c->knobs.tier, "auto")) return !strcmp(c->knobs.tier, tier) && (named || !strcmp(c->knobs.strategy, "auto"));
    return named || (skel->tier == 2 && !strcmp(c->knobs.strategy, "auto"));
}

/* Groups of neighbouring work-items are for GPUs. Another strategy runs there too where no group does; on a CPU groups are for who asks. */
static int rank_on(const clf_ctx *c, const clf_skel *skel, const clf_profile *dev) {
    bool group = strcmp(skel->strategy, "group") == 0;
    if (group == (dev->kind == CLF_DEV_GPU)) return 0;
    return !group || !strcmp(c->knobs.strategy, "group") ? 1 : 2;
}

const clf_skel *clf_exe_skel(const clf_ctx *c, const clf_cplan *cplan, const clf_profile *dev) {
    for (int rank = 0; rank < 2; rank++)
        for (int i = 0; clf_skels[i]; i++)
            if (rank_on(c, clf_skels[i], dev) == rank && allowed(c, clf_skels[i]) && clf_skels[i]->fits(cplan, dev)) return clf_skels[i];
    return NULL;
}

/* ---- writing ---- */

/* GPUs divide f32 and take square roots as they like, unless asked; then results have the bits of other devices. Part of a program's key. */
static void ask_for_rounding(const clf_ctx *c, int dev, clf_source *src) {
    const clf_dev_info *info = clf_devs_info(c->run->devs, dev);
    if (info->kind == CLF_DEV_GPU && info->round_f32) src->options = "-cl-fp32-correctly-rounded-divide-sqrt";
}

/* A kernel's text is what it is found by, on the disk too: to write it is a part of loading it. */
clf_status clf_exe_write(clf_ctx *c, int dev, const clf_cplan *cp, const clf_sched *sched, clf_arena *arena, clf_source *out,
                         clf_err *err) {
    uint64_t start = clf_now_ns();
    clf_meter_enter(c->meter, CLF_PART_BUILD);
    clf_status st = sched->skel->emit(cp, sched, c->knobs.kernel_dir, arena, out, err);
    if (st == CLF_OK) ask_for_rounding(c, dev, out);
    clf_meter_leave(c->meter);
    c->stats.build_ns += clf_now_ns() - start;
    return st;
}

static clf_status write_merge(clf_window *w, clf_draft *d, const clf_cplan *cp, clf_err *err) {
    clf_ctx *c = w->c;
    if (w->x->step[d->step].sched.merge != CLF_MERGE_FOLLOWS) return CLF_OK;
    d->merge_sched = clf_arena_new(&w->arena, 1, sizeof *d->merge_sched);
    if (!d->merge_sched) return no_memory(err);
    CLF_TRY(d->skel->merge(cp, clf_run_profile_of(c, w->dev), d->merge_sched, err));
    CLF_TRY(clf_exe_write(c, w->dev, cp, d->merge_sched, &w->arena, &d->merge, err));
    if (!w->again) clf_run_dump(c, "kernel", "cl", d->merge.text, d->merge.text_len);
    CLF_TRACE(&c->trace, emit, "step %d: merged by %s, %zu bytes of text", d->step, d->merge.entry, d->merge.text_len);
    return CLF_OK;
}

static clf_status write_kernel(clf_window *w, clf_draft *d, clf_err *err) {
    clf_ctx *c = w->c;
    const clf_cplan *cp = &w->x->plan->step[d->step].c;
    clf_exe_step *e = &w->x->step[d->step];
    const clf_profile *dev = clf_run_profile_of(c, w->dev);
    CLF_TRY(d->skel->sched(cp, dev, (clf_grid){0, INT64_MAX}, &e->sched, err));
    d->skel->facts(cp, dev, &e->sched, &e->facts);
    CLF_TRY(clf_exe_write(c, w->dev, cp, &e->sched, &w->arena, &d->src, err));
    if (!w->again) clf_run_dump(c, "kernel", "cl", d->src.text, d->src.text_len);
    CLF_TRACE(&c->trace, emit, "step %d: %s by %s, %zu bytes of text, %d arguments", d->step, d->src.entry, d->skel->name, d->src.text_len,
              d->src.nargs);
    return write_merge(w, d, cp, err);
}

/* What cannot have its kernel runs on the host, whatever went wrong short of running out of memory. */
clf_status clf_window_give_up(clf_ctx *c, clf_exe *x, int32_t s, const clf_err *failed, clf_err *err) {
    CLF_TRACE(&c->trace, build, "step %d falls back to the host executor: %s", s, failed->text);
    x->step[s].waiting = false;
    clf_run_dump(c, "failure", "txt", failed->text, strlen(failed->text));
    if (failed->code == CLF_E_NOMEM || failed->code == CLF_E_CANCELLED) return clf_fail(err, failed->code, "%s", failed->text);
    CLF_TRY(clf_exe_on_host(c, x, s, err));
    x->step[s].trial = NULL; /* nobody tries it again */
    x->step[s].why = "its kernel did not build, or does not fit the device";
    return CLF_OK;
}

static clf_status add_draft(clf_window *w, int32_t s, clf_err *err) {
    clf_err failed = {CLF_OK, ""};
    clf_draft *d = &w->d[w->n];
    *d = (clf_draft){.step = s, .skel = clf_exe_skel(w->c, &w->x->plan->step[s].c, clf_run_profile_of(w->c, w->dev))};
    if (!d->skel) {
        CLF_TRY(clf_exe_on_host(w->c, w->x, s, err));
        w->x->step[s].why = "no skeleton covers this operator";
        return CLF_OK;
    }
    d->generic = w->again && w->x->step[s].executor == CLF_ON_KERNEL;
    if (w->again) CLF_TRY(clf_exe_on_host(w->c, w->x, s, err)); /* what is written now is for another kernel */
    if (write_kernel(w, d, &failed) != CLF_OK) return clf_window_give_up(w->c, w->x, s, &failed, err);
    w->n++;
    w->text_bytes += d->src.text_len + d->merge.text_len;
    return CLF_OK;
}

/* ---- building ---- */

clf_status clf_window_program(clf_ctx *c, int dev, const clf_source *src, uint64_t done, uint64_t all, clf_program **out, bool *compiled,
                              clf_err *err) {
    if (!clf_program_known(c->run->devs, dev, src)) CLF_TRY(clf_ask_on(&c->ask, CLF_STAGE_BUILD, src->entry, done, all, err));
    clf_meter_enter(c->meter, CLF_PART_BUILD);
    clf_status st = clf_program_get(c->run->devs, dev, src, out, compiled, err);
    clf_meter_leave(c->meter);
    return st;
}

clf_status clf_exe_build(clf_ctx *c, int dev, const clf_source *src, clf_program **out, clf_err *err) {
    bool compiled = false;
    CLF_TRY(clf_window_program(c, dev, src, 0, 1, out, &compiled, err));
    c->stats.kernels_built += compiled;
    c->stats.kernel_hits += !compiled;
    return CLF_OK;
}

/* Best effort: what this does not bring into the cache is built alone afterwards. */
static void build_joined(clf_window *w) {
    clf_join *j = &w->join;
    clf_err failed = {CLF_OK, ""};
    if (j->n > 1) clf_ask_on(&w->c->ask, CLF_STAGE_BUILD, j->src[0]->entry, w->done, w->nkernels, &w->cancelled);
    clf_meter_enter(w->c->meter, CLF_PART_BUILD);
    if (j->n > 1 && !j->text.failed && w->cancelled.code == CLF_OK &&
        clf_programs_build(w->c->run->devs, w->dev, clf_str_c(&j->text), j->text.len, j->src, j->n, &failed) != CLF_OK)
        CLF_TRACE(&w->c->trace, build, "%d kernels are built one by one: %s", j->n, failed.text);
    clf_meter_leave(w->c->meter);
    clf_join_release(j);
}

static bool join(clf_window *w, const clf_source *src) {
    if (!src->text || clf_program_known(w->c->run->devs, w->dev, src)) return false;
    clf_join_verdict v = clf_join_add(&w->join, src);
    if (v == CLF_JOIN_FULL) {
        build_joined(w);
        v = clf_join_add(&w->join, src);
    }
    return v == CLF_JOIN_TAKEN;
}

static void build_new(clf_window *w) {
    for (int i = 0; i < w->n; i++) {
        w->d[i].joined = join(w, &w->d[i].src);
        join(w, &w->d[i].merge);
    }
    build_joined(w);
}

/* What a loop over stored entries was scheduled for. */
static clf_status keep_axes(clf_window *w, int32_t s, clf_err *err) {
    const clf_cplan *cp = &w->x->plan->step[s].c;
    if (clf_entry_axis(cp) < 0) return CLF_OK;
    clf_axis *axis = clf_arena_new(&w->x->arena, (size_t)cp->naxes, sizeof *axis);
    if (!axis) return no_memory(err);
    memcpy(axis, cp->axis, (size_t)cp->naxes * sizeof *axis);
    w->x->step[s].axis = axis;
    return CLF_OK;
}

static clf_arg_desc *keep_args(clf_window *w, const clf_source *src) {
    clf_arg_desc *args = clf_arena_new(&w->x->arena, (size_t)src->nargs, sizeof *args);
    if (args) memcpy(args, src->args, (size_t)src->nargs * sizeof *args);
    return args;
}

static clf_status keep_merge(clf_window *w, const clf_draft *d, clf_err *err) {
    bool compiled = false;
    if (!d->merge.text) return CLF_OK;
    clf_exe_merge *m = clf_arena_new(&w->x->arena, 1, sizeof *m);
    if (!m) return no_memory(err);
    CLF_TRY(clf_program_get(w->c->run->devs, w->dev, &d->merge, &m->program, &compiled, err));
    m->sched = *d->merge_sched;
    m->nargs = d->merge.nargs;
    m->args = keep_args(w, &d->merge);
    if (!m->args) return no_memory(err);
    w->x->step[d->step].merge = m;
    return CLF_OK;
}

clf_status clf_window_keep(clf_window *w, const clf_draft *d, clf_err *err) {
    clf_exe_step *e = &w->x->step[d->step];
    bool compiled = false;
    CLF_TRY(clf_window_program(w->c, w->dev, &d->src, w->done, w->nkernels, &e->program, &compiled, err));
    compiled = compiled || d->joined;
    w->c->stats.kernels_built += compiled;
    w->c->stats.kernel_hits += !compiled;
    CLF_TRY(clf_exe_cut(w->c, w->x, d->step, d->skel, err)); /* behind building, so that memory limits change no program text */
    if (e->sched.scratch_bytes > w->x->scratch_bytes) w->x->scratch_bytes = e->sched.scratch_bytes;
    e->nargs = d->src.nargs;
    e->args = keep_args(w, &d->src);
    if (!e->args) return no_memory(err);
    CLF_TRY(keep_merge(w, d, err));
    return keep_axes(w, d->step, err);
}

/* ---- windows ---- */

static clf_status build_window(clf_window *w, clf_err *err) {
    if (w->later) return clf_window_later(w, err);
    if (w->n > 1 || (w->n == 1 && w->d[0].merge.text)) build_new(w);
    if (w->cancelled.code != CLF_OK) return clf_fail(err, w->cancelled.code, "%s", w->cancelled.text);
    for (int i = 0; i < w->n; i++) {
        clf_err failed = {CLF_OK, ""};
        if (clf_window_keep(w, &w->d[i], &failed) != CLF_OK) CLF_TRY(clf_window_give_up(w->c, w->x, w->d[i].step, &failed, err));
        w->done++;
    }
    return CLF_OK;
}

static bool is_meant(const clf_window *w, const clf_exe_step *e) {
    return e->on == w->on && (w->again ? e->waiting : e->executor == CLF_ON_KERNEL);
}

/* From step *s on, as many kernels as a window holds. */
static clf_status one_window(clf_window *w, int32_t *s, clf_err *err) {
    clf_arena_init_from(&w->arena, &w->c->mem, &w->c->run->spares);
    w->n = 0;
    w->text_bytes = 0;
    clf_status st = CLF_OK;
    for (; st == CLF_OK && *s < w->x->plan->nstep && w->n < CLF_WINDOW_KERNELS && w->text_bytes < CLF_WINDOW_BYTES; (*s)++)
        if (is_meant(w, &w->x->step[*s])) st = add_draft(w, *s, err);
    if (st == CLF_OK) st = build_window(w, err);
    clf_arena_release(&w->arena);
    return st;
}

clf_status clf_windows(clf_ctx *c, clf_exe *x, bool again, bool all, clf_err *err) {
    clf_window *w = clf_mem_new(&c->mem, 1, sizeof *w);
    if (!w) return no_memory(err);
    w->c = c;
    w->x = x;
    w->later = clf_exe_later(c);
    w->again = again;
    w->all = all;
    clf_join_init(&w->join, &c->mem);
    for (int32_t s = 0; s < x->plan->nstep; s++) w->nkernels += x->step[s].executor == CLF_ON_KERNEL;
    clf_status st = CLF_OK;
    for (w->on = 1; st == CLF_OK && w->on <= x->ndevice; w->on++) {
        w->dev = x->device[w->on - 1];
        for (int32_t s = 0; st == CLF_OK && s < x->plan->nstep;) st = one_window(w, &s, err);
    }
    clf_mem_free(&c->mem, w, 1, sizeof *w);
    return st;
}

clf_status clf_exe_kernels(clf_ctx *c, clf_exe *x, clf_err *err) { return !x->ndevice ? CLF_OK : clf_windows(c, x, false, false, err); }
