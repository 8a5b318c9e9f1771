/* SPDX-License-Identifier: Apache-2.0
 * The checker's part on sinks: what each kind may refer to, what may be kept, and whether it fits its outputs. */
#include <inttypes.h>

#include "planner/cplan_check.h"

static bool is_value(const clf_cplan *c, int v) { return v >= 0 && v < c->nvalue; }
static bool is_out(const clf_cplan *c, int o) { return o >= 0 && o < c->nout; }

static bool is_one(clf_dim d) { return d.sym < 0 && d.n == 1; }

/* Positions a kept axis indexes: those of an ENTRY axis are its owner's columns. */
static clf_dim kept_extent(const clf_cplan *c, int a) {
    return c->axis[a].kind == CLF_AXIS_ENTRY ? c->in[c->access[c->axis[a].owner].input].dim[1] : c->axis[a].n;
}

/* The kept extents against the first n dimensions of the output; extents of 1 may be missing on either side. */
static clf_status check_shape(clf_check *k, const clf_coutput *o, int n, uint32_t keep) {
    int d = 0, a = 0;
    for (;;) {
        while (d < n && is_one(o->dim[d])) d++;
        while (a < k->c->naxes && (!clf_set_has(keep, a) || is_one(kept_extent(k->c, a)))) a++;
        if (d >= n || a >= k->c->naxes) break;
        clf_dim x = kept_extent(k->c, a), y = o->dim[d];
        if (x.sym < 0 && y.sym < 0 && x.n != y.n) BAD(k, "keeps axis %d of extent %" PRId64 ", the output has %" PRId64, a, x.n, y.n);
        d++;
        a++;
    }
    if (d < n) BAD(k, "dimension %d of the output is not written by any kept axis", d);
    if (a < k->c->naxes) BAD(k, "kept axis %d has no dimension in the output", a);
    return CLF_OK;
}

/* What may be kept, and whether the values fit inside: STORE and PATTERN. */
static clf_status check_keep_cells(clf_check *k, const clf_sink *s) {
    const clf_cplan *c = k->c;
    uint32_t moves = s->keep;
    int segment = -1;
    for (int a = 0; a < c->naxes; a++) {
        if (!clf_set_has(s->keep, a)) continue;
        moves |= clf_axis_moves(c, a);
        if (c->axis[a].kind == CLF_AXIS_ENTRY || c->axis[a].kind == CLF_AXIS_SEG) segment = a;
    }
    const clf_coutput *o = &c->out[s->out[0]];
    clf_axis_kind want = s->kind == CLF_SINK_PATTERN ? CLF_AXIS_ENTRY : CLF_AXIS_SEG;
    if (s->kind == CLF_SINK_PATTERN && segment < 0) BAD(k, "a pattern keeps an entry axis");
    if (segment >= 0 && c->axis[segment].kind != want) BAD(k, "entries leave through pattern, segments through store");
    if (segment >= 0 && s->keep != (1u << segment | 1u << c->axis[segment].parent))
        BAD(k, "axis %d is kept with its parent and nothing else", segment);
    if (segment >= 0 && o->rank != 1) BAD(k, "its output has rank 1, not %d", o->rank);
    uint32_t used = c->value[s->value[0]].axes | (s->guard >= 0 ? c->value[s->guard].axes : 0);
    if (used & ~moves) BAD(k, "its value or guard varies with axes %#" PRIx32 ", kept are %#" PRIx32, used, s->keep);
    return segment >= 0 ? CLF_OK : check_shape(k, o, o->rank, s->keep);
}

static clf_status check_keep_ranges(clf_check *k, const clf_sink *s) {
    for (int a = 0; a < k->c->naxes; a++)
        if (clf_set_has(s->keep, a) && (k->c->axis[a].kind == CLF_AXIS_ENTRY || k->c->axis[a].kind == CLF_AXIS_SEG))
            BAD(k, "axis %d has no place in the output; scatter by its index", a);
    return CLF_OK;
}

/* An ENTRY axis is kept by column, where its rows alone are folded and everything kept stands inside them. */
static clf_status check_keep_columns(clf_check *k, const clf_sink *s) {
    const clf_cplan *c = k->c;
    uint32_t folded = clf_sink_loop(c, s) & ~s->keep;
    for (int a = 0; a < c->naxes; a++) {
        if (!clf_set_has(s->keep, a)) continue;
        if (c->axis[a].kind == CLF_AXIS_SEG) BAD(k, "axis %d has no place in the output; scatter by its index", a);
        if (c->axis[a].kind != CLF_AXIS_ENTRY) continue;
        uint32_t rows = 1u << c->axis[a].parent;
        if (c->axis[c->axis[a].parent].kind != CLF_AXIS_RANGE) BAD(k, "the rows of axis %d, which it keeps, are no range", a);
        if (folded != rows) BAD(k, "keeps the columns of axis %d, so it folds axis %d alone, not %#" PRIx32, a, c->axis[a].parent, folded);
        if (s->keep & (rows - 1)) BAD(k, "keeps the columns of axis %d and an axis outside its rows", a);
    }
    return CLF_OK;
}

static clf_status check_store(clf_check *k, const clf_sink *s) {
    const clf_cplan *c = k->c;
    if (c->out[s->out[0]].dtype != c->value[s->value[0]].dtype) BAD(k, "its value and its output differ in type");
    return check_keep_cells(k, s);
}

bool clf_check_by_columns(const clf_cplan *c, uint32_t axes, uint32_t loop, int entry) {
    clf_dim cols = kept_extent(c, entry);
    if (axes & (axes - 1) || axes & loop) return false;
    for (int a = 0; a < c->naxes; a++)
        if (clf_set_has(axes, a))
            return c->axis[a].kind == CLF_AXIS_RANGE && (c->axis[a].n.sym >= 0 || cols.sym >= 0 || c->axis[a].n.n == cols.n);
    return false;
}

/* The value of the cells without entry: of one matrix, folded whole or by columns. */
static clf_status check_rest(clf_check *k, const clf_sink *s) {
    const clf_cplan *c = k->c;
    const clf_value *rest = &c->value[s->value[1]];
    uint32_t loop = clf_sink_loop(c, s), rows = 0;
    int entry = -1;
    for (int a = 0; a < c->naxes; a++)
        if (clf_set_has(loop, a) && c->axis[a].kind == CLF_AXIS_ENTRY) entry = a;
    if (entry >= 0) rows = 1u << c->axis[entry].parent;
    if (entry < 0 || (s->keep && s->keep != 1u << entry) || loop != (1u << entry | rows))
        BAD(k, "a rest needs rows and their entries to be folded whole or by columns, not axes %#" PRIx32 ", keeping %#" PRIx32, loop,
            s->keep);
    if (c->axis[c->axis[entry].parent].kind != CLF_AXIS_RANGE) BAD(k, "the rows of axis %d are no range", entry);
    if (s->guard >= 0) BAD(k, "a fold with a rest has no guard");
    if (!s->keep && (s->fold == CLF_FOLD_ARGMIN || s->fold == CLF_FOLD_ARGMAX)) BAD(k, "%s has no rest here", clf_folds[s->fold].id);
    if (rest->dtype != c->value[s->value[0]].dtype) BAD(k, "its rest is %s", clf_dtype_name((clf_dtype)rest->dtype));
    if (!rest->axes || rest->axes == rows || clf_check_by_columns(c, rest->axes, loop, entry)) return CLF_OK;
    return clf_check_bad(k, "its rest varies with axes %#" PRIx32, rest->axes);
}

static clf_status check_fold_sink(clf_check *k, const clf_sink *s) {
    const clf_coutput *o = &k->c->out[s->out[0]];
    CLF_TRY(clf_check_fold_types(k, s->fold, k->c->value[s->value[0]].dtype, o->dtype));
    if (s->value[1] != -1) CLF_TRY(check_rest(k, s));
    CLF_TRY(check_keep_columns(k, s));
    return check_shape(k, o, o->rank, s->keep);
}

/* t(A) %*% B: the rows are folded, and nothing else. */
static clf_status check_dot_sink(clf_check *k, const clf_sink *s) {
    const clf_cplan *c = k->c;
    const clf_coutput *o = &c->out[s->out[0]];
    if (!is_value(c, s->value[1])) BAD(k, "value %" PRId32 " does not exist", s->value[1]);
    if (s->fold > 3) BAD(k, "skip %d is not 0 to 3", s->fold);
    for (int q = 0; q < 2; q++)
        if (c->value[s->value[q]].dtype != o->dtype) BAD(k, "its values and its output differ in type");
    uint32_t folded = clf_sink_loop(c, s) & ~s->keep;
    if (folded != 1u) BAD(k, "it folds axes %#" PRIx32 "; a dot folds axis 0 and nothing else", folded);
    CLF_TRY(check_keep_columns(k, s));
    return check_shape(k, o, o->rank, s->keep);
}

static clf_status check_key(clf_check *k, const clf_sink *s, int q) {
    if (!is_value(k->c, s->key[q])) BAD(k, "key %d is value %" PRId32 ", which does not exist", q, s->key[q]);
    return k->c->value[s->key[q]].dtype == CLF_I64 ? CLF_OK : clf_check_bad(k, "key %d is not i64", q);
}

static clf_status check_scatter(clf_check *k, const clf_sink *s) {
    const clf_coutput *o = &k->c->out[s->out[0]];
    int nkey = s->key[1] >= 0 ? 2 : 1;
    for (int q = 0; q < nkey; q++) CLF_TRY(check_key(k, s, q));
    CLF_TRY(clf_check_fold_types(k, s->fold, k->c->value[s->value[0]].dtype, o->dtype));
    CLF_TRY(check_keep_ranges(k, s));
    if (o->rank < nkey) BAD(k, "its output has rank %d, below its %d keys", o->rank, nkey);
    return check_shape(k, o, o->rank - nkey, s->keep);
}

static clf_status check_count(clf_check *k, const clf_sink *s) {
    if (s->keep) BAD(k, "it keeps no axes");
    if (s->out[3] < 0) return CLF_OK;
    const clf_coutput *o = &k->c->out[s->out[3]];
    return o->dtype == CLF_I64 && o->rank == 0 ? CLF_OK : clf_check_bad(k, "the count is an i64 scalar");
}

static clf_status check_group(clf_check *k, const clf_sink *s) {
    const clf_coutput *sums = &k->c->out[s->out[0]];
    CLF_TRY(check_key(k, s, 0));
    if (s->key[1] != -1) BAD(k, "a group has one key");
    CLF_TRY(clf_check_fold_types(k, s->fold, k->c->value[s->value[0]].dtype, sums->dtype));
    if (s->out[1] < 0) BAD(k, "a group needs an output for its keys");
    if (k->c->out[s->out[1]].dtype != CLF_I64) BAD(k, "the keys' output is not i64");
    if (sums->rank != 1 || k->c->out[s->out[1]].rank != 1) BAD(k, "the outputs of a group have rank 1");
    return check_count(k, s);
}

static clf_status check_append(clf_check *k, const clf_sink *s) {
    const clf_cplan *c = k->c;
    uint32_t loop = clf_sink_loop(c, s);
    for (int q = 0; q < 3 && s->value[q] >= 0; q++) {
        const clf_coutput *o = &c->out[s->out[q]];
        if (o->dtype != c->value[s->value[q]].dtype) BAD(k, "column %d and its output differ in type", q);
        if (o->rank != 1) BAD(k, "the columns of an append have rank 1");
    }
    for (int a = 0; a < c->naxes; a++)
        if (s->order < 0 && clf_set_has(loop, a) && !c->axis[a].ascending) BAD(k, "appends along axis %d, which is not ascending", a);
    if (s->out[3] < 0) BAD(k, "an append needs an output for its count");
    return check_count(k, s);
}

/* Per kind: how many values, outputs and keys it may have (a bit each), and the rest. folds: `fold` says something. */
static const struct sink_rule {
    clf_status (*check)(clf_check *, const clf_sink *);
    uint8_t values, outs, keys;
    bool ordered, folds;
} sink_rules[] = {
    [CLF_SINK_STORE] = {check_store, 1, 1, 0, false, false},    [CLF_SINK_FOLD] = {check_fold_sink, 3, 1, 0, false, true},
    [CLF_SINK_PATTERN] = {check_store, 1, 1, 0, false, false},  [CLF_SINK_APPEND] = {check_append, 7, 15, 0, true, false},
    [CLF_SINK_SCATTER] = {check_scatter, 1, 1, 3, false, true}, [CLF_SINK_GROUP] = {check_group, 1, 11, 3, false, true},
    [CLF_SINK_DOT] = {check_dot_sink, 3, 1, 0, false, true},
};

static clf_status check_refs(clf_check *k, const clf_sink *s, const struct sink_rule *r) {
    const clf_cplan *c = k->c;
    for (int q = 0; q < 4; q++) {
        bool need = q == 0 || (r->check == check_append && q < 3 && (s->value[q] != -1 || s->out[q] != -1));
        if (s->value[q] != -1 && !(r->values >> q & 1)) BAD(k, "value %d is not used but is not -1", q);
        if (s->out[q] != -1 && !(r->outs >> q & 1)) BAD(k, "output %d is not used but is not -1", q);
        if ((need || s->value[q] != -1) && !is_value(c, s->value[q])) BAD(k, "value %" PRId32 " does not exist", s->value[q]);
        if ((need || s->out[q] != -1) && !is_out(c, s->out[q])) BAD(k, "output %" PRId32 " does not exist", s->out[q]);
    }
    if (s->value[2] >= 0 && s->value[1] < 0) BAD(k, "value 2 without value 1");
    for (int q = 0; q < 2; q++) {
        if (s->key[q] != -1 && !(r->keys >> q & 1)) BAD(k, "key %d is not used but is not -1", q);
        if (s->key[q] != -1 && !is_value(c, s->key[q])) BAD(k, "key %d is value %" PRId32 ", which does not exist", q, s->key[q]);
    }
    return CLF_OK;
}

/* No output has two writers. */
static clf_status check_writers(clf_check *k, int i) {
    const clf_sink *s = &k->c->sink[i];
    for (int q = 0; q < 4; q++)
        for (int j = 0; j <= i && s->out[q] >= 0; j++)
            for (int p = 0; p < (j < i ? 4 : q); p++)
                if (k->c->sink[j].out[p] == s->out[q]) BAD(k, "output %" PRId32 " is written twice", s->out[q]);
    return CLF_OK;
}

clf_status clf_check_sink(clf_check *k, int i) {
    const clf_cplan *c = k->c;
    const clf_sink *s = &c->sink[i];
    if (s->kind > CLF_SINK_DOT) BAD(k, "kind %d does not exist", s->kind);
    const struct sink_rule *r = &sink_rules[s->kind];
    if (s->keep >> c->naxes) BAD(k, "keeps axes %#" PRIx32 ", but there are %d", s->keep, c->naxes);
    if (!r->folds && s->fold) BAD(k, "it has no fold");
    if (s->over && s->kind != CLF_SINK_FOLD) BAD(k, "only a fold names the axes it runs over");
    if (s->over >> c->naxes || s->over & s->keep)
        BAD(k, "runs over axes %#" PRIx32 " of %d, keeping %#" PRIx32, s->over, c->naxes, s->keep);
    for (int a = 0; a < c->naxes; a++)
        if (clf_set_has(s->over, a) && c->axis[a].parent >= 0 && !clf_set_has(s->over | s->keep, c->axis[a].parent))
            BAD(k, "runs over axis %d without axis %d, which it belongs to", a, c->axis[a].parent);
    if (s->guard < -1 || s->guard >= c->nvalue) BAD(k, "guard %" PRId32 " does not exist", s->guard);
    if (s->order < -1 || s->order >= c->nvalue) BAD(k, "order %" PRId32 " does not exist", s->order);
    if (s->order >= 0 && !r->ordered) BAD(k, "only an append has an order");
    for (int a = 0; a < c->naxes; a++)
        if (clf_set_has(s->keep, a) && c->axis[a].kind == CLF_AXIS_DICT && c->axis[a].parent >= 0)
            BAD(k, "keeps axis %d, which follows axis %d; keep that", a, c->axis[a].parent);
    CLF_TRY(check_refs(k, s, r));
    CLF_TRY(r->check(k, s));
    return check_writers(k, i);
}
