/* SPDX-License-Identifier: Apache-2.0
 * The text of row.group.merge.cl: states of blocks, leaves and runs of entries, merged in the order of the tree. */

#include "kernels-cl/skel/band_text.h"

#include "core/print.h"

/* A run of parts becomes the state of its first; what one pass has merged is done. */
static void merge_run(clf_btext *t, int s) {
    static const clf_place first = {"mine[((long)(", ") * each + lo) * results]", 0},
                           one = {"mine[((long)(", ") * each + c_) * results]", 0},
                           later = {"mine[((long)(", ") * each + c_ + w_) * results]", 0};
    CLF_PUT(&t->x, "for (long w_ = 1; w_ < run; w_ *= 2) for (long c_ = lo; c_ + w_ < hi; c_ += 2 * w_)\n"
                   "if (done == 1 || c_ / done != (min(c_ + 2 * w_, parts) - 1) / done) {\n");
    clf_state_fetch(&t->x, s, 'a', one);
    clf_state_fetch(&t->x, s, 'b', later);
    clf_state_merge(&t->x, s);
    clf_state_save(&t->x, s, 'a', one);
    CLF_PUT(&t->x, "}\n");
    clf_state_fetch(&t->x, s, 'a', first);
}

static void put_tree(clf_btext *t, int s) {
    static const clf_place mine = {"tree[", " * CLF_GROUP + me]", 0}, others = {"tree[", " * CLF_GROUP + other]", 0};
    clf_state_save(&t->x, s, 'a', mine);
    CLF_PUT(&t->x,
            "CLF_TREE_UNITS { CLF_TREE_SYNC const int other = me + step * inner; if (!(unit & (2 * step - 1)) && unit + step < valid && "
            "(done == 1 || lo / done != (min(lo + 2 * step * run, parts) - 1) / done)) {\n");
    clf_state_fetch(&t->x, s, 'b', others);
    clf_state_merge(&t->x, s);
    clf_state_save(&t->x, s, 'a', mine);
    CLF_PUT(&t->x, "} }\nCLF_TREE_SYNC\n");
}

static void merge_item(clf_btext *t, int s) {
    char to[128], parts[32] = "each";
    int o = t->c.sink[s].out[0];
    if (t->p->job[t->p->item[s].job].kind == CLF_JOB_ENTRIES) clf_print(parts, sizeof parts, "scratch[some%d]", s); /* it was counted */
    CLF_PUT(&t->x,
            "if (group < end%d) {\nconst int inner = (int)inner%d, units = (int)units%d, unit = me / inner;\nconst long run = run%d, "
            "each = parts%d, results = results%d, done = done%d, result = (group - begin%d) * inner + me %% inner;\n"
            "const long parts = %s;\nconst long lo = unit * run, hi = min(parts, lo + run);\nconst int valid = (int)((parts + run - 1) / "
            "run);\n"
            "const bool there = result < results && lo < hi;\n__global long *const mine = scratch + at%d + result;\n",
            s, s, s, s, s, s, s, s, parts, s);
    clf_state_empty(&t->x, s);
    CLF_PUT(&t->x, "if (there) {\n");
    merge_run(t, s);
    CLF_PUT(&t->x, "}\n");
    put_tree(t, s);
    CLF_PUT(&t->x, "if (there && unit == 0) {\n");
    clf_btext_rest_comes(t, s);
    if (clf_band_turned(t->p, t->p->item[s].job))
        clf_print(to, sizeof to, "o%d[ob%d + result %% each%d * (results / each%d) + result / each%d]", o, o, s, s, s);
    else
        clf_print(to, sizeof to, "o%d[ob%d + result]", o, o);
    clf_state_result(&t->x, s, to);
    CLF_PUT(&t->x, "}\nreturn;\n}\n");
}

void clf_btext_merges(clf_ctext *x) {
    clf_btext *t = (clf_btext *)x;
    for (int s = 0; s < t->p->c->nsink; s++)
        if (t->p->item[s].parts > 1) merge_item(t, s);
}
