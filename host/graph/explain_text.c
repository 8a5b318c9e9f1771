/* SPDX-License-Identifier: Apache-2.0
 * Explain as text, for people. */
#include "host/graph/explain.h"

#include <inttypes.h>

#include "planner/rewrite.h"
#include "planner/template.h"

static void put_values(const clf_report *r, const char *what, int n, const int32_t *value, clf_str *out) {
    char name[32];
    clf_str_fmt(out, "       %-9s", what);
    if (!n) clf_str_put(out, "nothing");
    for (int i = 0; i < n; i++) {
        clf_str_fmt(out, "%s%s ", i ? ", " : "", clf_report_name(r, value[i], name, sizeof name));
        clf_put_bytes(out, (double)r->x->plan->value[value[i]].bytes);
        int64_t nnz = clf_report_entries(r, value[i]);
        if (nnz >= 0) clf_str_fmt(out, " (csr, %" PRId64 " entries)", nnz);
    }
    clf_str_put(out, "\n");
}

static void put_times(const clf_report *r, int32_t s, clf_str *out) {
    const clf_exe_step *e = &r->x->step[s];
    const clf_profile *dev = clf_report_profile(r, s);
    double filled = clf_step_occupancy(&r->x->plan->step[s], dev);
    clf_str_put(out, "       predicted ");
    clf_put_time(out, e->predicted_ns);
    if (filled < 0.995) clf_str_fmt(out, " at %.2g %% occupancy", 100 * filled);
    if (dev->assumed) clf_str_put(out, " (profile assumed; clf_calibrate measures it)");
    if (r->analyzed && e->measured_ns > 0) {
        double gbs = (e->read_bytes + e->write_bytes) / e->measured_ns, roof = dev->read_bytes_per_s[CLF_PROFILE_TIERS - 1] / 1e9;
        clf_str_put(out, "   measured ");
        clf_put_time(out, e->measured_ns);
        clf_str_fmt(out, " (%+.0f %%)   %.3g GB/s", 100 * (e->measured_ns / e->predicted_ns - 1), gbs);
        if (!dev->assumed && roof > 0) clf_str_fmt(out, " of %.3g", roof);
    }
    clf_str_put(out, "\n");
}

/* Which entries a loop over sparse operands visits, and why. */
static void put_driver(const clf_report *r, const clf_step *t, clf_str *out) {
    char name[32];
    if (t->kind != CLF_STEP_FUSED || !t->sparse || !t->sparse[0]) return;
    if (t->driver >= 0)
        clf_str_fmt(out, "       visits   the stored entries of %s: %s\n", clf_report_name(r, t->driver, name, sizeof name), t->sparse);
    else
        clf_str_fmt(out, "       visits   all cells: %s\n", t->sparse);
}

static void put_split(const clf_report *r, int32_t s, const clf_exe_split *split, clf_str *out) {
    const char *also = clf_exe_where_also(r->c, r->x, &r->x->step[s]);
    int rest = also ? split->also->percent : 0;
    clf_str_fmt(out, "       split    %d %% %s, ", split->percent, clf_report_where(r, s));
    if (also) clf_str_fmt(out, "%d %% %s, ", rest, also);
    clf_str_fmt(out, "%d %% host\n", 100 - split->percent - rest);
}

static void put_step(const clf_report *r, int32_t s, clf_str *out) {
    const clf_step *t = &r->x->plan->step[s];
    const clf_exe_step *e = &r->x->step[s];
    clf_str_fmt(out, " %-4d  %s %s  %s on %s\n", s + 1, clf_report_kind(t), clf_report_template(r, t), clf_report_skeleton(e),
                clf_report_where(r, s));
    if (t->kind == CLF_STEP_FUSED) {
        clf_str_put(out, "       covers   ");
        clf_report_covers(r, t, 24, out);
        clf_str_put(out, "\n");
    }
    put_driver(r, t, out);
    put_values(r, "reads", t->nin, t->in, out);
    put_values(r, "writes", t->nout, t->out, out);
    put_times(r, s, out);
    if (clf_exe_splits(e)) put_split(r, s, e->split, out);
    if (e->why[0]) clf_str_fmt(out, "       because  %s\n", e->why);
}

static void put_cuts(const clf_report *r, clf_str *out) {
    const clf_plan *p = r->x->plan;
    enum { MOST = 24 };
    for (int32_t i = 0; i < p->ncut && i < MOST; i++) {
        const clf_cut *c = &p->cut[i];
        clf_str_fmt(out, "%s %s %%%d", i ? "      " : " cuts ", clf_ops[p->g.node[c->from].op].name, c->from);
        if (c->to >= 0) clf_str_fmt(out, " -> %s %%%d", clf_ops[p->g.node[c->to].op].name, c->to);
        clf_str_fmt(out, ": %s\n", clf_reason_text((clf_reason)c->reason));
    }
    if (p->ncut > MOST) clf_str_fmt(out, "       ... and %d more\n", p->ncut - MOST);
}

static void put_end(const clf_report *r, int32_t step, const char *none, clf_str *out) {
    if (step >= 0)
        clf_str_fmt(out, "step %d on %s", step + 1, clf_report_where(r, step));
    else
        clf_str_fmt(out, "%s on %s", none, clf_report_where(r, step));
}

static void put_handovers(const clf_report *r, clf_str *out) {
    enum { MOST = 24 };
    char name[32];
    for (int32_t i = 0; i < r->nhandover && i < MOST; i++) {
        const clf_handover *h = &r->handover[i];
        clf_str_fmt(out, "%s %s ", i ? "      " : " moves", clf_report_name(r, h->value, name, sizeof name));
        clf_put_bytes(out, (double)r->x->plan->value[h->value].bytes);
        clf_str_put(out, " from ");
        put_end(r, h->from, "a leaf", out);
        clf_str_put(out, " to ");
        put_end(r, h->to, "a result", out);
        clf_str_put(out, ": predicted ");
        clf_put_time(out, h->predicted_ns);
        clf_str_put(out, "\n");
    }
    if (r->nhandover > MOST) clf_str_fmt(out, "       ... and %d more\n", r->nhandover - MOST);
}

static void put_rules(const clf_plan *p, clf_str *out) {
    for (int i = 0, first = 1; clf_rules[i].id; i++) {
        if (!p->fired[i]) continue;
        clf_str_fmt(out, "%s %s: %s, %s", first ? " rules" : ";", clf_rules[i].id, clf_rules[i].name,
                    clf_rule_kind_name(clf_rules[i].kind));
        if (p->fired[i] > 1) clf_str_fmt(out, " (%d times)", p->fired[i]);
        first = 0;
    }
    if (p->nfired) clf_str_put(out, "\n");
}

/* How thoroughly was searched. */
static void put_search(const clf_report *r, clf_str *out) {
    const clf_plan *p = r->x->plan;
    if (!r->searched) return;
    clf_str_fmt(out, " search %" PRId64 " partial cover%s costed; ", p->ncosted, p->ncosted == 1 ? "" : "s");
    if (!p->gap_ps) {
        clf_str_put(out, "proved cheapest\n");
        return;
    }
    clf_str_put(out, "another could be cheaper by ");
    clf_put_time(out, 1e-3 * (double)p->gap_ps);
    clf_str_put(out, " at most\n");
}

static void put_alternatives(const clf_report *r, clf_str *out) {
    for (int i = 0; i < r->nalternative; i++) {
        const clf_alternative *a = &r->alternative[i];
        clf_str_fmt(out, " not   %s", a->selector);
        if (a->elsewhere) clf_str_fmt(out, " on %s alone", a->device);
        clf_str_fmt(out, ": %d step%s, predicted ", a->steps, a->steps == 1 ? "" : "s");
        clf_put_time(out, a->predicted_ns);
        if (a->transfer_ns > 0) {
            clf_str_put(out, " = ");
            clf_put_time(out, a->predicted_ns - a->transfer_ns);
            clf_str_put(out, " + transfers ");
            clf_put_time(out, a->transfer_ns);
        }
        clf_str_put(out, "\n");
    }
}

void clf_explain_text(const clf_report *r, clf_str *out) {
    const clf_plan *p = r->x->plan;
    enum { MOST = 64 };
    int fused = 0;
    for (int32_t s = 0; s < p->nstep; s++) fused += p->step[s].kind == CLF_STEP_FUSED;
    clf_str_fmt(out, " plan  %d step%s, %d fused, selector %s, predicted ", p->nstep, p->nstep == 1 ? "" : "s", fused, r->selector);
    clf_put_time(out, r->x->predicted_ns);
    if (r->analyzed) {
        clf_str_put(out, ", measured ");
        clf_put_time(out, r->measured_ns);
    }
    clf_str_put(out, ", peak ");
    clf_put_bytes(out, (double)r->peak_bytes);
    clf_str_put(out, " of results, intermediates and working memory\n");
    put_rules(p, out);
    for (int32_t s = 0; s < p->nstep && s < MOST; s++) put_step(r, s, out);
    if (p->nstep > MOST) clf_str_fmt(out, "       ... and %d more steps\n", p->nstep - MOST);
    put_handovers(r, out);
    put_alternatives(r, out);
    put_search(r, out);
    put_cuts(r, out);
    if (r->memo) clf_report_memo(r, out);
}
