/* SPDX-License-Identifier: Apache-2.0
 * The planner as a list: rewrite -> explore -> select -> lower -> liveness -> check. */
#include "planner/plan.h"

#include <inttypes.h>
#include <string.h>

#include "planner/cover_kept.h"
#include "planner/lower.h"
#include "planner/rewrite.h"
#include "planner/search.h"

const char *clf_reason_text(clf_reason r) {
    static const char *const text[] = {
#define R(id, text) text,
        CLF_REASONS(R)
#undef R
    };
    return (unsigned)r < CLF_NREASONS ? text[r] : "";
}

/* The plan's own graph: what the rules leave of g. */
static clf_status rewrite(clf_plan *p, const clf_graph *g, const clf_gate *gate, clf_arena *scratch, clf_err *err) {
    p->fired = clf_arena_new(&p->arena, CLF_MOST_RULES, sizeof *p->fired);
    if (!p->fired) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    CLF_TRY(clf_graph_check(g, err));
    CLF_TRY(clf_rewrite(g, gate, &p->arena, scratch, &p->g, p->fired, err));
    for (int r = 0; clf_rules[r].id; r++) p->nfired += p->fired[r];
    return clf_graph_check(&p->g, err);
}

static clf_status make_values(clf_plan *p, clf_err *err) {
    p->value_of = clf_arena_new(&p->arena, (size_t)p->g.n, sizeof *p->value_of);
    p->other_of = clf_arena_new(&p->arena, (size_t)p->g.n, sizeof *p->other_of);
    p->twin_of = clf_arena_new(&p->arena, (size_t)p->g.n, sizeof *p->twin_of);
    p->mark = clf_arena_new(&p->arena, (size_t)p->g.n, 1);
    p->value = clf_arena_new(&p->arena, (size_t)p->g.n * 3, sizeof *p->value);
    if (!p->value_of || !p->other_of || !p->twin_of || !p->mark || !p->value)
        return clf_fail(err, CLF_E_NOMEM, "planning: out of memory for %d values", p->g.n);
    for (int32_t i = 0; i < p->g.n; i++) p->value_of[i] = p->other_of[i] = p->twin_of[i] = -1;
    return CLF_OK;
}

static clf_status lower_all(clf_plan *p, clf_cover *c, clf_arena *scratch, clf_err *err) {
    clf_lowered done = {clf_arena_new(scratch, (size_t)p->g.n, sizeof(int32_t)), clf_arena_new(scratch, (size_t)p->g.n, sizeof(int32_t)),
                        clf_arena_new(scratch, (size_t)p->g.n, sizeof(int32_t))};
    p->step = clf_arena_new(&p->arena, (size_t)c->npart + 2 * (size_t)p->g.n, sizeof *p->step);
    if (!p->step || !done.value || !done.stamp || !done.axis)
        return clf_fail(err, CLF_E_NOMEM, "planning: out of memory for %d steps", c->npart);
    for (int32_t i = 0; i < c->npart; i++) CLF_TRY(clf_lower(p, c, i, &done, err));
    return CLF_OK;
}

static clf_status find_roots(clf_plan *p, clf_err *err) {
    p->root = clf_arena_new(&p->arena, (size_t)p->g.nroot, sizeof *p->root);
    if (!p->root) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    for (int32_t r = 0; r < p->g.nroot; r++) {
        p->root[r] = clf_plan_value_for(p, p->g.root[r]);
        p->value[p->root[r]].root = 1;
    }
    p->nroot = p->g.nroot;
    return CLF_OK;
}

static void find_liveness(clf_plan *p) {
    for (int32_t s = 0; s < p->nstep; s++) {
        const clf_step *t = &p->step[s];
        for (int i = 0; i < t->nin; i++) p->value[t->in[i]].last = s;
        for (int i = 0; i < t->nout; i++) {
            p->value[t->out[i]].made = s;
            if (p->value[t->out[i]].last < s) p->value[t->out[i]].last = s;
        }
    }
    for (int32_t r = 0; r < p->nroot; r++) p->value[p->root[r]].last = p->nstep;
}

static clf_status keep_cuts(clf_plan *p, const clf_cover *c, clf_err *err) {
    p->cut = clf_arena_new(&p->arena, (size_t)c->ncut, sizeof *p->cut);
    if (!p->cut) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    if (c->ncut) memcpy(p->cut, c->cut, (size_t)c->ncut * sizeof *p->cut);
    p->ncut = c->ncut;
    return CLF_OK;
}

static clf_status search(clf_plan *p, const clf_memo *m, const clf_limits *lim, clf_arena *scratch, clf_cover *out, clf_err *err) {
    clf_problem problem;
    clf_search_stats stats;
    const clf_search_options options = {.ask = lim->ask, .share = lim->search_share};
    clf_limits with = *lim;
    clf_profile assumed;
    if (!with.dev.n) {
        clf_profile_assume(&assumed, CLF_DEV_HOST, 1);
        with.dev = (clf_devices){.n = 1, .profile = {&assumed}};
    }
    CLF_TRY(clf_problem_new(m, &with, scratch, &problem, err));
    CLF_TRY(clf_kept_search(&problem, &options, scratch, out, &stats, err));
    p->ndevice = with.dev.n;
    p->cost_ps = stats.cost;
    p->ncosted = stats.plans;
    p->gap_ps = stats.gap;
    p->kept = stats.kept;
    return clf_cuts_find(&problem, out, scratch, err);
}

static clf_status cover_of(clf_plan *p, const clf_memo *m, const clf_selector *sel, const clf_limits *lim, clf_arena *scratch,
                           clf_cover *out, clf_err *err) {
    if (sel->searches) return search(p, m, lim, scratch, out, err);
    CLF_TRY(sel->cover ? sel->cover(sel, m, scratch, out, err) : clf_select(m, sel, lim, scratch, out, err));
    clf_cover_drivers(&p->g, out);
    return CLF_OK;
}

/* Every operand is a slot or made by an earlier step; every value has one maker; roots exist. */
static clf_status check_values(const clf_plan *p, clf_err *err) {
    for (int32_t s = 0; s < p->nstep; s++) {
        const clf_step *t = &p->step[s];
        for (int i = 0; i < t->nin; i++) {
            const clf_plan_value *v = &p->value[t->in[i]];
            if (v->slot < 0 && (v->made < 0 || v->made >= s))
                return clf_fail(err, CLF_E_INTERNAL, "plan step %d reads value %d before it is made", s, t->in[i]);
        }
        for (int i = 0; i < t->nout; i++)
            if (p->value[t->out[i]].made != s) return clf_fail(err, CLF_E_INTERNAL, "plan value %d is made twice", t->out[i]);
    }
    for (int32_t r = 0; r < p->nroot; r++)
        if (p->value[p->root[r]].slot < 0 && p->value[p->root[r]].made < 0)
            return clf_fail(err, CLF_E_INTERNAL, "plan root %d is never made", r);
    return CLF_OK;
}

/* What lowering has built it has checked. */
static clf_status build(clf_plan *p, const clf_graph *g, const clf_selector *sel, const clf_limits *lim, clf_arena *scratch, clf_err *err) {
    clf_memo memo;
    clf_cover cover;
    CLF_TRY(rewrite(p, g, &lim->rules, scratch, err));
    CLF_TRY(clf_explore(&p->g, scratch, &memo, err));
    p->nentry = memo.nentry;
    CLF_TRY(cover_of(p, &memo, sel, lim, scratch, &cover, err));
    CLF_TRY(make_values(p, err));
    CLF_TRY(lower_all(p, &cover, scratch, err));
    CLF_TRY(find_roots(p, err));
    find_liveness(p);
    CLF_TRY(clf_plan_find_peak(p, scratch, err));
    CLF_TRY(keep_cuts(p, &cover, err));
    return check_values(p, err);
}

clf_status clf_plan_new(clf_plan **out, const clf_graph *g, const clf_selector *sel, const clf_limits *lim, clf_mem *mem, clf_err *err) {
    clf_plan *p = clf_mem_new(mem, 1, sizeof *p);
    if (!p) return clf_fail(err, CLF_E_NOMEM, "planning: out of memory");
    clf_arena scratch;
    clf_arena_init(&p->arena, mem);
    clf_arena_init_from(&scratch, mem, lim->spares);
    clf_status st = build(p, g, sel, lim, &scratch, err);
    clf_arena_release(&scratch);
    if (st == CLF_OK)
        *out = p;
    else
        clf_plan_free(p);
    return st;
}

void clf_plan_free(clf_plan *p) {
    if (!p) return;
    clf_mem *mem = p->arena.mem;
    clf_arena_release(&p->arena);
    clf_mem_free(mem, p, 1, sizeof *p);
}

clf_status clf_plan_check(const clf_plan *p, clf_err *err) {
    CLF_TRY(check_values(p, err));
    for (int32_t s = 0; s < p->nstep; s++)
        if (p->step[s].kind == CLF_STEP_FUSED) CLF_TRY(clf_cplan_check(&p->step[s].c, err));
    return CLF_OK;
}

double clf_step_cost_ns(const clf_plan *p, const clf_step *s, const clf_profile *dev) {
    return 1e-3 * (double)(s->bill ? clf_bill_pay(s->bill, &p->g, dev) : clf_cost_launch(dev, s->kind));
}

double clf_step_occupancy(const clf_step *s, const clf_profile *dev) { return s->bill ? clf_bill_occupancy(s->bill, dev) : 1; }

static void print_step(const clf_plan *p, int32_t s, clf_str *out) {
    static const char *const kind[] = {"fused", "library", "convert", "transfer", "callout", "check"};
    static const char *const convert[] = {"to-dense", "to-sparse", "twin"};
    const clf_step *t = &p->step[s];
    clf_str_fmt(out, "(step %d %s", s, kind[t->kind]);
    if (t->kind == CLF_STEP_FUSED)
        clf_str_fmt(out, " %s%s", clf_templates[t->template_]->name, t->driver >= 0 ? " entries" : "");
    else if (t->kind == CLF_STEP_CONVERT)
        clf_str_fmt(out, " %s", convert[t->convert]);
    else
        clf_str_fmt(out, " %s%s%s%s", clf_ops[p->g.node[t->node].op].name, clf_step_of_entries(p, t) ? " entries" : "", t->ta ? " ta" : "",
                    t->tb ? " tb" : "");
    if (t->device) clf_str_fmt(out, " (device %d)", t->device);
    clf_str_put(out, " (in");
    for (int i = 0; i < t->nin; i++) clf_str_fmt(out, " %%%d", p->value[t->in[i]].node);
    clf_str_put(out, ") (out");
    for (int i = 0; i < t->nout; i++) clf_str_fmt(out, " %%%d", p->value[t->out[i]].node);
    clf_str_put(out, ") (covers");
    for (int i = 0; i < t->ncover; i++) clf_str_fmt(out, " %%%d", t->cover[i]);
    clf_str_put(out, "))\n");
}

void clf_plan_print(const clf_plan *p, clf_str *out) {
    for (int32_t s = 0; s < p->nstep; s++) print_step(p, s, out);
    for (int32_t i = 0; i < p->ncut; i++) {
        clf_str_fmt(out, "(cut %%%d ", p->cut[i].from);
        if (p->cut[i].to >= 0)
            clf_str_fmt(out, "%%%d", p->cut[i].to);
        else
            clf_str_put(out, "result");
        clf_str_fmt(out, " \"%s\")\n", clf_reason_text((clf_reason)p->cut[i].reason));
    }
}
