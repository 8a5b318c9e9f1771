/* SPDX-License-Identifier: Apache-2.0
 * The plan as a picture: DOT for graphviz, and a small SVG of our own so that no tool is needed. One box a step, steps in order from
 * top to bottom, one line per value from maker (or the left margin, for inputs) to reader, its width by bytes. */
#include <math.h>

#include "host/graph/explain.h"

enum { MOST_STEPS = 200 };

static int32_t steps_shown(const clf_report *r) { return r->x->plan->nstep < MOST_STEPS ? r->x->plan->nstep : MOST_STEPS; }

static double line_width(double bytes) {
    double w = log10(bytes + 10) - 1;
    return w < 1 ? 1 : w;
}

/* User text inside XML or a DOT string. */
static void put_escaped(clf_str *out, const char *s) {
    for (; *s; s++) {
        switch (*s) {
        case '&': clf_str_put(out, "&amp;"); break;
        case '<': clf_str_put(out, "&lt;"); break;
        case '>': clf_str_put(out, "&gt;"); break;
        case '"': clf_str_put(out, "&quot;"); break;
        case '\\': clf_str_put(out, "&#92;"); break;
        default: clf_str_putn(out, s, 1);
        }
    }
}

static void put_title(const clf_report *r, int32_t s, clf_str *out) {
    const clf_step *t = &r->x->plan->step[s];
    const clf_exe_step *e = &r->x->step[s];
    clf_str_fmt(out, "F%d ", s + 1);
    put_escaped(out, clf_report_template(r, t));
    clf_str_put(out, " · ");
    put_escaped(out, clf_report_skeleton(e));
    clf_str_put(out, " · ");
    clf_put_time(out, e->predicted_ns);
    if (r->analyzed) {
        clf_str_put(out, " / ");
        clf_put_time(out, e->measured_ns);
    }
}

static void put_body(const clf_report *r, int32_t s, clf_str *out) {
    clf_str text;
    clf_str_init(&text, &r->c->mem);
    clf_report_covers(r, &r->x->plan->step[s], 12, &text);
    put_escaped(out, clf_str_c(&text));
    clf_str_release(&text);
}

static void put_label(const clf_report *r, int32_t value, clf_str *out) {
    char name[32];
    put_escaped(out, clf_report_name(r, value, name, sizeof name));
    clf_str_put(out, " ");
    clf_put_bytes(out, (double)r->x->plan->value[value].bytes);
}

void clf_explain_dot(const clf_report *r, clf_str *out) {
    const clf_plan *p = r->x->plan;
    clf_str_put(out, "digraph plan {\n  node [shape=box, fontname=\"sans-serif\"];\n");
    for (int32_t s = 0; s < steps_shown(r); s++) {
        clf_str_fmt(out, "  s%d [label=\"", s);
        put_title(r, s, out);
        clf_str_put(out, "\\n");
        put_body(r, s, out);
        clf_str_put(out, "\"];\n");
        for (int i = 0; i < p->step[s].nin; i++) {
            int32_t v = p->step[s].in[i];
            if (p->value[v].made < 0) clf_str_fmt(out, "  v%d [shape=plaintext, label=\"", v);
            if (p->value[v].made < 0) put_label(r, v, out);
            if (p->value[v].made < 0)
                clf_str_fmt(out, "\"];\n  v%d -> s%d", v, s);
            else
                clf_str_fmt(out, "  s%d -> s%d", p->value[v].made, s);
            clf_str_fmt(out, " [penwidth=%.1f];\n", line_width((double)p->value[v].bytes));
        }
    }
    for (int32_t i = 0; i < p->nroot; i++) {
        if (p->value[p->root[i]].made < 0 || p->value[p->root[i]].made >= steps_shown(r)) continue;
        clf_str_fmt(out, "  r%d [shape=plaintext, label=\"", i);
        put_label(r, p->root[i], out);
        clf_str_fmt(out, "\"];\n  s%d -> r%d;\n", p->value[p->root[i]].made, i);
    }
    clf_str_put(out, "}\n");
}

/* ---- SVG ---- */

enum { BOX_X = 260, BOX_W = 460, BOX_H = 54, GAP = 34, TOP = 40, LINE = 16 };

static int box_rows(const clf_report *r, int32_t s) {
    int inputs = 0;
    for (int i = 0; i < r->x->plan->step[s].nin; i++) inputs += r->x->plan->value[r->x->plan->step[s].in[i]].made < 0;
    return inputs;
}

static int box_height(const clf_report *r, int32_t s) {
    int rows = box_rows(r, s) * LINE + 8;
    return rows > BOX_H ? rows : BOX_H;
}

static void svg_inputs(const clf_report *r, int32_t s, int y, clf_str *out) {
    const clf_plan *p = r->x->plan;
    int row = 0;
    for (int i = 0; i < p->step[s].nin; i++) {
        int32_t v = p->step[s].in[i];
        if (p->value[v].made >= 0) continue;
        int at = y + 14 + row++ * LINE;
        clf_str_fmt(out, "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">", BOX_X - 60, at + 4);
        put_label(r, v, out);
        clf_str_fmt(out, "</text><line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#567\" stroke-width=\"%.1f\"/>\n", BOX_X - 54, at,
                    BOX_X, at, line_width((double)p->value[v].bytes));
    }
}

static void svg_box(const clf_report *r, int32_t s, int y, clf_str *out) {
    bool kernel = clf_exe_on_device(&r->x->step[s]);
    clf_str_fmt(out, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" rx=\"6\" fill=\"%s\" stroke=\"#234\"/>", BOX_X, y, BOX_W,
                box_height(r, s), kernel ? "#dbe9f6" : "#eef3e2");
    clf_str_fmt(out, "<text x=\"%d\" y=\"%d\" font-weight=\"bold\">", BOX_X + 10, y + 20);
    put_title(r, s, out);
    clf_str_fmt(out, "</text><text x=\"%d\" y=\"%d\">", BOX_X + 10, y + 40);
    put_body(r, s, out);
    clf_str_put(out, "</text>\n");
}

static void svg_outputs(const clf_report *r, int32_t s, int y, clf_str *out) {
    const clf_plan *p = r->x->plan;
    int row = 0;
    for (int i = 0; i < p->step[s].nout; i++) {
        int32_t v = p->step[s].out[i];
        if (!p->value[v].root) continue;
        int at = y + 14 + row++ * LINE;
        clf_str_fmt(out, "<line x1=\"%d\" y1=\"%d\" x2=\"%d\" y2=\"%d\" stroke=\"#283\" stroke-width=\"%.1f\"/><text x=\"%d\" y=\"%d\">",
                    BOX_X + BOX_W, at, BOX_X + BOX_W + 40, at, line_width((double)p->value[v].bytes), BOX_X + BOX_W + 46, at + 4);
        put_label(r, v, out);
        clf_str_put(out, "</text>\n");
    }
}

/* A value made by one step and read by another: down the right side of the left margin. */
static void svg_between(const clf_report *r, const int *y, int32_t s, clf_str *out) {
    const clf_plan *p = r->x->plan;
    for (int i = 0; i < p->step[s].nin; i++) {
        int32_t m = p->value[p->step[s].in[i]].made;
        if (m < 0) continue;
        int x = BOX_X + 30 + (int)((s - m) % 20) * 20;
        clf_str_fmt(out, "<path d=\"M %d %d L %d %d\" stroke=\"#a52\" fill=\"none\" stroke-width=\"%.1f\" stroke-opacity=\"0.6\"/>\n", x,
                    y[m] + box_height(r, m), x, y[s], line_width((double)p->value[p->step[s].in[i]].bytes));
    }
}

void clf_explain_svg(const clf_report *r, clf_str *out) {
    int32_t n = steps_shown(r);
    int y[MOST_STEPS + 1], at = TOP;
    for (int32_t s = 0; s < n; s++) {
        y[s] = at;
        at += box_height(r, s) + GAP;
    }
    clf_str_fmt(out, "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" font-family=\"sans-serif\" font-size=\"12\">\n",
                BOX_X + BOX_W + 260, at + 10);
    clf_str_put(out, "<rect width=\"100%\" height=\"100%\" fill=\"white\"/><text x=\"16\" y=\"22\">");
    clf_str_fmt(out, "%d steps, selector %s, predicted ", r->x->plan->nstep, r->selector);
    clf_put_time(out, r->x->predicted_ns);
    clf_str_put(out, "</text>\n");
    for (int32_t s = 0; s < n; s++) svg_between(r, y, s, out);
    for (int32_t s = 0; s < n; s++) {
        svg_inputs(r, s, y[s], out);
        svg_box(r, s, y[s], out);
        svg_outputs(r, s, y[s], out);
    }
    clf_str_put(out, "</svg>\n");
}
