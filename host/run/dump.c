/* SPDX-License-Identifier: Apache-2.0
 * CLF_DUMP: every stage of every plan as numbered files in a folder, in the order they come to be: graph (as recorded), rewritten (with
 * the rules that fired), memo, plan, one cplan a fused step, then kernel, and failure where one could not be had. Files of earlier
 * runs are written over by number; nothing here fails an evaluation. */
#include <stdio.h>
#include <sys/stat.h>

#include "host/run/run.h"
#include "planner/template.h"

void clf_run_dump(clf_ctx *c, const char *what, const char *ext, const char *text, size_t n) {
    if (!c->knobs.dump[0]) return;
    char path[CLF_KNOB_TEXT_MAX + 64];
    mkdir(c->knobs.dump, 0777);
    snprintf(path, sizeof path, "%s/%05llu.%s.%s", c->knobs.dump, (unsigned long long)c->run->dump_serial++, what, ext);
    FILE *f = fopen(path, "wb");
    if (!f) {
        CLF_TRACE(&c->trace, io, "cannot write %s", path);
        return;
    }
    fwrite(text, 1, n, f);
    fclose(f);
}

static void put(clf_ctx *c, const char *what, clf_str *t) {
    clf_run_dump(c, what, "txt", clf_str_c(t), t->len);
    clf_str_release(t);
}

static void put_fired(const clf_plan *p, clf_str *out) {
    for (int i = 0; clf_rules[i].id; i++)
        if (p->fired[i]) clf_str_fmt(out, "# %s: %s, %d times\n", clf_rules[i].id, clf_rules[i].name, p->fired[i]);
}

/* The plan keeps no memo: exploring is a function of the graph alone. */
static void put_memo(clf_ctx *c, const clf_graph *g, clf_str *out) {
    clf_memo memo;
    clf_arena scratch;
    clf_arena_init(&scratch, &c->mem);
    if (clf_explore(g, &scratch, &memo, NULL) == CLF_OK) clf_memo_print(&memo, out);
    clf_arena_release(&scratch);
    put(c, "memo", out);
}

void clf_run_dump_plan(clf_ctx *c, const clf_graph *g, const clf_plan *p) {
    clf_str t;
    if (!c->knobs.dump[0]) return;
    clf_str_init(&t, &c->mem);
    clf_graph_print(g, &t);
    put(c, "graph", &t);
    put_fired(p, &t);
    clf_graph_print(&p->g, &t);
    put(c, "rewritten", &t);
    put_memo(c, &p->g, &t);
    clf_plan_print(p, &t);
    put(c, "plan", &t);
    for (int32_t s = 0; s < p->nstep; s++) {
        if (p->step[s].kind != CLF_STEP_FUSED) continue;
        clf_cplan_print(&p->step[s].c, &t);
        put(c, "cplan", &t);
    }
}
