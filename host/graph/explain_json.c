/* SPDX-License-Identifier: Apache-2.0
 * Explain as JSON, schema 1 of docs/language.md. Streamed; no tree is built. */
#include <inttypes.h>
#include <math.h>

#include "host/graph/explain.h"
#include "planner/rewrite.h"

static void put_string(clf_str *out, const char *s) {
    clf_str_put(out, "\"");
    for (; *s; s++) {
        unsigned char ch = (unsigned char)*s;
        if (ch == '"' || ch == '\\')
            clf_str_fmt(out, "\\%c", ch);
        else if (ch < 0x20)
            clf_str_fmt(out, "\\u%04x", ch);
        else
            clf_str_putn(out, s, 1);
    }
    clf_str_put(out, "\"");
}

static void put_number(clf_str *out, double x) {
    if (isfinite(x))
        clf_str_fmt(out, "%.15g", x);
    else
        clf_str_put(out, "null");
}

static void put_pair(clf_str *out, const char *key, const char *value) {
    clf_str_fmt(out, "\"%s\": ", key);
    put_string(out, value);
    clf_str_put(out, ", ");
}

static void put_inputs(const clf_report *r, const clf_step *t, clf_str *out) {
    char name[32];
    for (int i = 0; i < t->nin; i++) {
        clf_str_put(out, i ? ", {" : "{");
        put_pair(out, "name", clf_report_name(r, t->in[i], name, sizeof name));
        clf_str_fmt(out, "\"bytes\": %zu, \"access\": \"%s\", ", r->x->plan->value[t->in[i]].bytes,
                    t->kind == CLF_STEP_FUSED ? "stream" : "whole");
        int64_t nnz = clf_report_entries(r, t->in[i]);
        if (nnz >= 0)
            clf_str_fmt(out, "\"format\": \"csr\", \"nnz\": %" PRId64 "}", nnz);
        else
            clf_str_put(out, "\"format\": \"dense\", \"nnz\": null}");
    }
}

static void put_covers(const clf_report *r, const clf_step *t, clf_str *out) {
    for (int i = 0; i < t->ncover; i++) {
        const clf_gnode *x = &r->x->plan->g.node[t->cover[i]];
        clf_str_fmt(out, "%s\"%%%d %s\"", i ? ", " : "", t->cover[i],
                    x->op == CLF_OP_FOLD ? clf_folds[x->attr[0]].name : clf_ops[x->op].id);
    }
}

/* The sparse operand whose entries the loop visits; why it does, or why not, where there is one. */
static void put_driver(const clf_report *r, const clf_step *t, clf_str *out) {
    char name[32];
    if (t->kind == CLF_STEP_FUSED && t->driver >= 0)
        put_pair(out, "driver", clf_report_name(r, t->driver, name, sizeof name));
    else
        clf_str_put(out, "\"driver\": null, ");
    if (t->kind == CLF_STEP_FUSED && t->sparse && t->sparse[0]) put_pair(out, "sparsity", t->sparse);
}

static void put_step(const clf_report *r, int32_t s, clf_str *out) {
    const clf_step *t = &r->x->plan->step[s];
    const clf_exe_step *e = &r->x->step[s];
    clf_str_fmt(out, "{\"id\": %d, ", s);
    put_pair(out, "kind", clf_report_kind(t));
    put_pair(out, "template", clf_report_template(r, t));
    put_pair(out, "skeleton", clf_report_skeleton(e));
    put_pair(out, "device", clf_report_where(r, s));
    if (e->why[0]) put_pair(out, "because", e->why);
    if (clf_exe_splits(e)) clf_str_fmt(out, "\"split_percent\": %d, ", e->split->percent);
    if (clf_exe_where_also(r->c, r->x, e)) {
        put_pair(out, "split_also", clf_exe_where_also(r->c, r->x, e));
        clf_str_fmt(out, "\"split_also_percent\": %d, ", e->split->also->percent);
    }
    put_driver(r, t, out);
    clf_str_put(out, "\"covers\": [");
    put_covers(r, t, out);
    clf_str_put(out, "], \"inputs\": [");
    put_inputs(r, t, out);
    clf_str_put(out, "], \"reads_bytes\": ");
    put_number(out, e->read_bytes);
    clf_str_put(out, ", \"writes_bytes\": ");
    put_number(out, e->write_bytes);
    clf_str_put(out, ", \"flops\": ");
    put_number(out, t->flops);
    clf_str_put(out, ", \"predicted_ns\": ");
    put_number(out, e->predicted_ns);
    clf_str_put(out, ", \"measured_ns\": ");
    put_number(out, r->analyzed ? e->measured_ns : NAN);
    clf_str_fmt(out, ", \"tier\": %d, \"launches\": %d}", e->executor == CLF_ON_KERNEL ? e->sched.skel->tier : 0,
                e->executor == CLF_ON_KERNEL ? e->facts.launches : 1);
}

/* What was rewritten before anything was planned. */
static void put_rules(const clf_plan *p, clf_str *out) {
    bool first = true;
    clf_str_put(out, "\"rules\": [");
    for (int i = 0; clf_rules[i].id; i++) {
        if (!p->fired[i]) continue;
        clf_str_put(out, first ? "{" : ", {");
        put_pair(out, "name", clf_rules[i].name);
        put_pair(out, "id", clf_rules[i].id);
        put_pair(out, "kind", clf_rule_kind_name(clf_rules[i].kind));
        clf_str_fmt(out, "\"applied\": %d}", p->fired[i]);
        first = false;
    }
    clf_str_put(out, "], ");
}

static void put_search(const clf_report *r, clf_str *out) {
    if (r->searched)
        clf_str_fmt(out, "\"search\": {\"costed\": %" PRId64 ", \"gap_ns\": %.15g}, ", r->x->plan->ncosted,
                    1e-3 * (double)r->x->plan->gap_ps);
    else
        clf_str_put(out, "\"search\": null, ");
}

/* A step's number, or null for the caller and what the caller lent. */
static void put_end(const clf_report *r, const char *end, int32_t step, clf_str *out) {
    if (step >= 0)
        clf_str_fmt(out, "\"%s_step\": %d, \"%s_device\": ", end, step, end);
    else
        clf_str_fmt(out, "\"%s_step\": null, \"%s_device\": ", end, end);
    put_string(out, clf_report_where(r, step));
}

static void put_handovers(const clf_report *r, clf_str *out) {
    char name[32];
    clf_str_put(out, "\"transfers\": [");
    for (int32_t i = 0; i < r->nhandover; i++) {
        const clf_handover *h = &r->handover[i];
        clf_str_put(out, i ? ",\n  {" : "\n  {");
        put_pair(out, "name", clf_report_name(r, h->value, name, sizeof name));
        put_end(r, "from", h->from, out);
        clf_str_put(out, ", ");
        put_end(r, "to", h->to, out);
        clf_str_fmt(out, ", \"bytes\": %zu, \"predicted_ns\": ", r->x->plan->value[h->value].bytes);
        put_number(out, h->predicted_ns);
        clf_str_put(out, "}");
    }
    clf_str_put(out, "], ");
}

static void put_alternatives(const clf_report *r, clf_str *out) {
    for (int i = 0; i < r->nalternative; i++) {
        const clf_alternative *a = &r->alternative[i];
        clf_str_put(out, i ? ", {" : "{");
        put_pair(out, "selector", a->selector);
        put_pair(out, "device", a->device);
        clf_str_fmt(out, "\"steps\": %d, \"predicted_ns\": ", a->steps);
        put_number(out, a->predicted_ns);
        clf_str_put(out, ", \"transfer_ns\": ");
        put_number(out, a->transfer_ns);
        clf_str_put(out, "}");
    }
}

void clf_explain_json(const clf_report *r, clf_str *out) {
    const clf_plan *p = r->x->plan;
    char name[32];
    clf_str_put(out, "{\"schema\": 1, ");
    put_rules(p, out);
    clf_str_put(out, "\"steps\": [");
    for (int32_t s = 0; s < p->nstep; s++) {
        clf_str_put(out, s ? ",\n  " : "\n  ");
        put_step(r, s, out);
    }
    clf_str_put(out, "],\n \"roots\": [");
    for (int32_t i = 0; i < p->nroot; i++) {
        clf_str_put(out, i ? ", " : "");
        put_string(out, clf_report_name(r, p->root[i], name, sizeof name));
    }
    clf_str_put(out, "], ");
    put_handovers(r, out);
    clf_str_put(out, "\"predicted_ns\": ");
    put_number(out, r->x->predicted_ns);
    clf_str_fmt(out, ", \"peak_bytes\": %zu,\n ", r->peak_bytes);
    put_search(r, out);
    clf_str_put(out, "\"alternatives\": [");
    put_alternatives(r, out);
    clf_str_put(out, "],\n \"cuts\": [");
    for (int32_t i = 0; i < p->ncut; i++) {
        clf_str_fmt(out, "%s{\"edge\": \"%%%d -> ", i ? ", " : "", p->cut[i].from);
        if (p->cut[i].to >= 0)
            clf_str_fmt(out, "%%%d", p->cut[i].to);
        else
            clf_str_put(out, "result");
        clf_str_put(out, "\", \"reason\": ");
        put_string(out, clf_reason_text((clf_reason)p->cut[i].reason));
        clf_str_put(out, "}");
    }
    clf_str_put(out, "]}\n");
}
