/* SPDX-License-Identifier: Apache-2.0
 * Explain: collect what is known of the plan (and, when asked, run it step by step), then let a format write it. */
#include "host/graph/explain.h"

#include <stdio.h>
#include <string.h>

#include "host/run/exe_kernels.h"
#include "planner/select.h"

enum { LOADS_MS = 1000 };

/* The label of the slot that value v is; NULL if there is none. */
static const char *label_of(const clf_report *r, int32_t value) {
    const clf_plan_value *v = &r->x->plan->value[value];
    const clf_node *node = v->slot >= 0 && (size_t)v->slot < r->f->nslot ? r->f->slot_node[v->slot] : NULL;
    return node ? node->text : NULL;
}

/* What of a named matrix the slot that value v is holds, if it is a part of one. */
static bool part_name(const clf_report *r, int32_t value, char *buf, size_t n) {
    const int32_t slot = r->x->plan->value[value].slot;
    for (size_t i = 0; slot >= 0 && (size_t)slot < r->f->nslot && i < r->f->npart; i++) {
        const clf_part_slot *p = &r->f->part[i];
        if (p->leaf != r->f->slot_node[slot] || !p->of->g.nin || !p->of->in[0]->text) continue;
        snprintf(buf, n, p->of->g.op == CLF_OP_INDEX ? "%s[...]" : "matrix(%s, ...)", p->of->in[0]->text);
        return true;
    }
    return false;
}

const char *clf_report_name(const clf_report *r, int32_t value, char *buf, size_t n) {
    const clf_plan *p = r->x->plan;
    const clf_gnode *x = &p->g.node[p->value[value].node];
    int32_t below = x->op == CLF_OP_TRANSPOSE ? p->value_of[x->in[0]] : -1;
    const char *text = label_of(r, value), *turned = below >= 0 ? label_of(r, below) : NULL;
    if (text) return text;
    if (part_name(r, value, buf, n)) return buf;
    if (turned)
        snprintf(buf, n, "t(%s)", turned);
    else
        snprintf(buf, n, "%%%d", p->value[value].node);
    return buf;
}

int64_t clf_report_entries(const clf_report *r, int32_t value) {
    const clf_plan_value *v = &r->x->plan->value[value];
    const clf_node *node = v->slot >= 0 && (size_t)v->slot < r->f->nslot ? r->f->slot_node[v->slot] : NULL;
    if (v->format != CLF_CSR) return -1;
    return node ? node->g.nnz : v->nnz;
}

void clf_report_covers(const clf_report *r, const clf_step *s, int most, clf_str *out) {
    for (int i = 0; i < s->ncover; i++) {
        const clf_gnode *x = &r->x->plan->g.node[s->cover[i]];
        static const char *const way[] = {"", "row ", "col "};
        if (i == most) {
            clf_str_fmt(out, " ... (%d in all)", s->ncover);
            return;
        }
        clf_str_put(out, i ? " " : "");
        if (x->op == CLF_OP_FOLD)
            clf_str_fmt(out, "%s%s", way[x->attr[1]], clf_folds[x->attr[0]].name);
        else if (x->op == CLF_OP_CUM)
            clf_str_fmt(out, "%scum%s", way[x->attr[1]], clf_folds[x->attr[0]].name);
        else
            clf_str_put(out, clf_ops[x->op].name);
    }
}

const char *clf_report_kind(const clf_step *s) {
    static const char *const kind[] = {"FUSED", "LIBRARY", "CONVERT", "TRANSFER", "CALLOUT", "CHECK"};
    return kind[s->kind];
}

const char *clf_report_template(const clf_report *r, const clf_step *s) {
    static const char *const convert[] = {"to dense", "to csr", "twin"};
    if (s->kind == CLF_STEP_CONVERT) return convert[s->convert];
    if (clf_step_of_entries(r->x->plan, s)) return "MATMUL over entries";
    return s->kind == CLF_STEP_FUSED ? clf_templates[s->template_]->name : clf_ops[r->x->plan->g.node[s->node].op].name;
}

const char *clf_report_where(const clf_report *r, int32_t s) {
    if (s < 0) return r->devices ? r->devices->profile[0]->name : "host";
    return r->devices ? r->devices->profile[r->x->plan->step[s].device]->name : clf_exe_where(r->c, r->x, &r->x->step[s]);
}

const clf_profile *clf_report_profile(const clf_report *r, int32_t s) {
    if (r->devices) return r->devices->profile[r->x->plan->step[s].device];
    return clf_exe_on_device(&r->x->step[s]) ? clf_run_profile_of(r->c, clf_exe_device(r->x, &r->x->step[s])) : clf_run_host_profile(r->c);
}

const char *clf_report_skeleton(const clf_exe_step *e) {
    return e->executor == CLF_ON_KERNEL ? e->sched.skel->name : clf_executor_name((clf_executor)e->executor);
}

static const char *pick_unit(double x, const double *scale, const char *const *unit, int n, double *scaled) {
    int i = 0;
    while (i < n - 1 && x >= scale[i + 1]) i++;
    *scaled = x / scale[i];
    return unit[i];
}

void clf_put_time(clf_str *out, double ns) {
    static const double scale[] = {1, 1e3, 1e6, 1e9};
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    double x;
    const char *u = pick_unit(ns, scale, unit, 4, &x);
    clf_str_fmt(out, "%.3g %s", x, u);
}

void clf_put_bytes(clf_str *out, double bytes) {
    static const double scale[] = {1, 1e3, 1e6, 1e9};
    static const char *const unit[] = {"B", "kB", "MB", "GB"};
    double x;
    const char *u = pick_unit(bytes, scale, unit, 4, &x);
    clf_str_fmt(out, "%.3g %s", x, u);
}

static clf_status fill_slots(const clf_report *r, clf_frozen *f, clf_err *err) {
    for (size_t s = 0; s < f->nslot; s++) {
        if (f->slot_node[s]->g.op == CLF_OP_PARAM) return clf_fail(err, CLF_E_ARG, "explain: a program with parameters cannot be measured");
        clf_slot_fill(&f->slot[s], f->slot_node[s]);
    }
    return clf_leaves_check(r->c, f->nslot, f->slot_node, err);
}

/* The first run warms up, and settles which plan it is when a device fails; the second is timed. */
static clf_status run_twice(clf_report *r, clf_frozen *f, clf_buf **bufs, clf_err *err) {
    clf_ctx *c = r->c;
    clf_exe *x = NULL;
    CLF_TRY(fill_slots(r, f, err));
    CLF_TRY(clf_run_plan(c, &f->g, f->slot, &x, err));
    CLF_TRY(clf_run_exe(c, &f->g, x, f->slot, bufs, err));
    for (size_t i = 0; i < f->nroot; i++) clf_buf_unref(bufs[i]);
    CLF_TRY(clf_run_plan(c, &f->g, f->slot, &x, err));
    r->x = x = clf_exe_latest(x);
    CLF_TRY(clf_exe_run(c, x, f->slot, true, bufs, err));
    for (size_t i = 0; i < f->nroot; i++) clf_buf_unref(bufs[i]);
    for (int32_t s = 0; s < x->plan->nstep; s++) r->measured_ns += x->step[s].measured_ns;
    r->analyzed = true;
    return CLF_OK;
}

static clf_status analyze(clf_report *r, clf_frozen *f, clf_err *err) {
    clf_ctx *c = r->c;
    clf_buf **bufs = clf_mem_new(&c->mem, f->nroot, sizeof *bufs);
    if (!bufs) return clf_fail(err, CLF_E_NOMEM, "explain: out of memory");
    clf_status st = run_twice(r, f, bufs, err);
    clf_mem_free(&c->mem, bufs, f->nroot, sizeof *bufs);
    return st;
}

static clf_status write_report(clf_report *r, clf_explain_format format, clf_write_fn write, void *user, clf_err *err) {
    static void (*const writer[])(const clf_report *, clf_str *) = {clf_explain_text, clf_explain_dot, clf_explain_svg, clf_explain_json};
    clf_str out;
    clf_str_init(&out, &r->c->mem);
    writer[format](r, &out);
    clf_status st = out.failed ? clf_fail(err, CLF_E_NOMEM, "explain: out of memory") : CLF_OK;
    if (st == CLF_OK) write(user, clf_str_c(&out), out.len);
    clf_str_release(&out);
    return st;
}

/* What the caller asks for. */
typedef struct asked {
    size_t n, nprofile;
    clf_mat *const *m;
    const char *const *profile;
    clf_explain_format format;
    unsigned flags;
    clf_write_fn write;
    void *user;
} asked;

static clf_status roots_of(clf_ctx *c, const asked *a, clf_node **nodes, clf_err *err) {
    for (size_t i = 0; i < a->n; i++) {
        if (!a->m[i] || a->m[i]->ctx != c) return clf_fail(err, CLF_E_ARG, "explain: result %zu is missing or of another context", i + 1);
        nodes[i] = a->m[i]->node;
    }
    return CLF_OK;
}

static clf_status report(clf_report *r, const asked *a, clf_arena *arena, clf_err *err) {
    const clf_selector *sel;
    CLF_TRY(clf_run_selector(r->c, &sel, err));
    r->selector = sel->name;
    r->searched = sel->searches;
    r->memo = (a->flags & CLF_EXPLAIN_MEMO) != 0;
    r->kernel = (a->flags & CLF_EXPLAIN_KERNEL) != 0;
    CLF_TRY(clf_exe_scratch(r->c, r->x, &r->peak_bytes, err));
    r->peak_bytes += r->x->plan->peak_bytes;
    CLF_TRY(clf_report_handovers(r, arena, err));
    CLF_TRY(clf_report_compare(r, err));
    return write_report(r, a->format, a->write, a->user, err);
}

/* The plan that evaluation would use, or uses. */
static clf_status explain_here(clf_ctx *c, const asked *a, clf_frozen *f, clf_arena *arena, clf_err *err) {
    clf_exe *x;
    for (size_t s = 0; s < f->nslot; s++) /* parameters hold nothing yet, nor do blocks of them */
        if (!clf_slot_is_bound(f->slot_node[s])) clf_slot_fill(&f->slot[s], f->slot_node[s]);
    CLF_TRY(clf_run_plan(c, &f->g, f->slot, &x, err));
    if (clf_run_await_loads(c, LOADS_MS)) { /* what a second run would have */
        CLF_TRY(clf_run_plan(c, &f->g, f->slot, &x, err));
        CLF_TRY(clf_exe_promote(c, clf_exe_latest(x), false, err));
    }
    clf_report r = {.c = c, .x = clf_exe_latest(x), .f = f};
    if (a->flags & CLF_EXPLAIN_ANALYZE) CLF_TRY(analyze(&r, f, err));
    return report(&r, a, arena, err);
}

/* A plan for devices that need not be there. */
static clf_status explain_there(clf_ctx *c, const asked *a, clf_frozen *f, clf_arena *arena, clf_err *err) {
    clf_devices dev;
    clf_exe *x;
    if (a->flags & CLF_EXPLAIN_ANALYZE) return clf_fail(err, CLF_E_ARG, "explain: a plan for profiles cannot be measured");
    CLF_TRY(clf_report_profiles(a->nprofile, a->profile, arena, &dev, err));
    CLF_TRY(clf_report_plan_for(c, &f->g, &dev, arena, &x, err));
    clf_report r = {.c = c, .x = x, .f = f, .devices = &dev};
    clf_status st = report(&r, a, arena, err);
    clf_plan_free(x->plan);
    return st;
}

static clf_status explain_locked(clf_ctx *c, const asked *a, clf_err *err) {
    clf_node **nodes = clf_mem_new(&c->mem, a->n, sizeof *nodes);
    clf_status st = nodes ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "explain: out of memory");
    clf_frozen f;
    clf_arena arena;
    memset(&f, 0, sizeof f);
    clf_arena_init(&arena, &c->mem);
    if (st != CLF_OK) goto out;
    CLF_GO(roots_of(c, a, nodes, err));
    CLF_GO(clf_ctx_usable(c, err));
    CLF_GO(clf_freeze(c, a->n, nodes, 0, NULL, &f, err));
    CLF_GO(a->nprofile ? explain_there(c, a, &f, &arena, err) : explain_here(c, a, &f, &arena, err));
out:
    clf_arena_release(&arena);
    clf_frozen_release(&f);
    clf_mem_free(&c->mem, nodes, a->n, sizeof *nodes);
    return st;
}

static clf_status explain(const char *call, const asked *a) {
    if (!a->n || !a->m || !a->m[0] || !a->m[0]->ctx) return CLF_E_ARG;
    clf_ctx *c = a->m[0]->ctx;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    clf_status st;
    if (!a->write || (int)a->format < 0 || (int)a->format > CLF_JSON)
        st = clf_fail(&err, CLF_E_ARG, "%s: no writer, or no format %d", call, (int)a->format);
    else
        st = explain_locked(c, a, &err);
    if (st != CLF_OK) clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}

clf_status clf_explain(size_t n, clf_mat *const *m, clf_explain_format format, unsigned flags, clf_write_fn write, void *user) {
    return explain("clf_explain", &(asked){.n = n, .m = m, .format = format, .flags = flags, .write = write, .user = user});
}

clf_status clf_explain_for(size_t nprofile, const char *const *profile, size_t n, clf_mat *const *m, clf_explain_format format,
                           unsigned flags, clf_write_fn write, void *user) {
    asked a = {.n = n, .m = m, .nprofile = nprofile, .profile = profile, .format = format, .flags = flags, .write = write, .user = user};
    return nprofile && profile ? explain("clf_explain_for", &a) : CLF_E_ARG;
}
