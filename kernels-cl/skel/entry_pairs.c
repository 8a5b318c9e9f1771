/* SPDX-License-Identifier: Apache-2.0
 * DOTs over a short axis between a row's cells and the row of a side at an entry's column: one number per entry, into a private tile.
 * The row's cells stay in registers while its entries pass, eight at a time: their sums hide each other's latency, and lanes of several
 * are added side by side; four at a time where registers are few, and there the halves of a vector are registers of their own, one of
 * which is left out where the axis ends before it; or two at a time where rows of the side are long and near. Invariants: lanes behind the
 * end of the axis multiply -0 by 0, and adding -0 changes no number; the additions of one DOT are the same, in the same order, whether it
 * is one of several or alone. */

#include "kernels-cl/skel/entry_text.h"

#include "core/print.h"

enum {
    EIGHT = CLF_ENTRY_EIGHT,
    FEW = 3,  /* entries left over: fewer go one by one */
    FOUR = 4, /* entries where registers are few, and as FEW of them */
    FEW_OF_FOUR = 2,
    AHEAD = 8,        /* entries; measured: 5 and 16 gain no more where the side is larger than the caches */
    FAR_AHEAD = 32,   /* entries; 24 and 48 gain half as much */
    SIDES_AHEAD = 16, /* entries; 8 and 24 gain less */
    LINE_BYTES = 64,
    FEW_LINES = 8, /* a row of fewer is asked for once, and read together with those of other entries */
};

static bool now(const clf_etext *t, int v) { return clf_entry_is_pair(t->p, v) && (t->x.uses[v] || t->late[v]); }

bool clf_etext_pairs_now(const clf_etext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) return true;
    return false;
}

static int along_of(const clf_etext *t, int v) {
    const clf_value *w = clf_etext_val(t, v);
    return t->p->space[w->in[0]] == CLF_AT_ALONG ? w->in[0] : w->in[1];
}
static int side_of(const clf_etext *t, int v) {
    const clf_value *w = clf_etext_val(t, v);
    return clf_etext_val(t, w->in[t->p->space[w->in[0]] == CLF_AT_ALONG ? 1 : 0])->arg;
}

static int lines_of(const clf_etext *t, int a, int cells) {
    int bytes = (int)clf_dtype_bytes((clf_dtype)t->p->c->in[t->p->c->access[a].input].dtype);
    return (cells * bytes + LINE_BYTES - 1) / LINE_BYTES;
}

/* Eight long rows at once ask memory for more than a core keeps under way: measured with sides of 16 to 80 MiB in rows of 800 bytes they
 * take a fifth longer than one by one. */
bool clf_etext_pairs_together(const clf_etext *t) {
    bool any = false;
    for (int v = 0; v < t->p->c->nvalue; v++) {
        if (!now(t, v)) continue;
        if (lines_of(t, side_of(t, v), (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis)) >= FEW_LINES) return false;
        any = true;
    }
    return any;
}

static void registers(clf_etext *t, int v) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME], run[CLF_EMIT_NAME];
    clf_dtype type = clf_etext_type(t, v);
    int lanes = clf_lanes(type), n = (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis);
    for (int at = 0; at < n; at += lanes) {
        CLF_PUT(&t->x, "const %s d%d_%d = ", clf_emit_type(wide, type, lanes), v, at / lanes);
        if (n - at < lanes) CLF_PUT(&t->x, "%s_UPTO(%d, ", clf_emit_run(&t->x.e, run, type, lanes), n - at);
        CLF_PUT(&t->x, "CLF_VLOAD(__private, %s, %d, y%d + %d)", clf_emit_type(one, type, 1), lanes, along_of(t, v), at);
        if (n - at < lanes) CLF_PUT(&t->x, ", (%s)(%s))", wide, clf_dtype_float(type) ? "-0.0f" : "0");
        CLF_PUT(&t->x, ";\n");
    }
}

void clf_etext_pair_rows(clf_etext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) registers(t, v);
}

/* Lanes of the vector s<name>_ widened and folded pairwise until `left` are left, in s<left><name>_. */
static void fold_lanes(clf_etext *t, clf_dtype narrow, const char *name, int left) {
    char type[CLF_EMIT_NAME], one[CLF_EMIT_NAME], lo[24], hi[96];
    clf_dtype wide = clf_wide(narrow);
    int lanes = clf_lanes(narrow);
    CLF_PUT(&t->x, "const %s s%d%s_ = ", clf_emit_type(type, wide, lanes), lanes, name);
    clf_emit_cast(&t->x.e, narrow, wide, lanes);
    CLF_PUT(&t->x, "s%s_); ", name);
    for (int half = lanes / 2; half >= left; half /= 2) {
        clf_print(lo, sizeof lo, "s%d%s_.lo", half * 2, name);
        clf_print(hi, sizeof hi, "CLF_UPPER(%s, %d, s%d%s_)", clf_emit_type(one, wide, 1), half, half * 2, name);
        const clf_emit_name names[] = {{"a", lo}, {"b", hi}, {NULL, NULL}};
        CLF_PUT(&t->x, "const %s s%d%s_ = ", clf_emit_type(type, wide, half), half, name);
        clf_emit_text(&t->x.e, "W_ADD(a, b)", narrow, half, names);
        CLF_PUT(&t->x, "; ");
    }
}

/* Whose zeros annihilate, of the row's cells 1, of the side's 2. */
static int skip_of(const clf_etext *t, int v) {
    int given = clf_etext_val(t, v)->arg;
    return along_of(t, v) == clf_etext_val(t, v)->in[0] ? given : given >> 1 | (given & 1) << 1;
}

/* q<name>_: the side's row at column c<name>_; s<name>_: lanes of its sum. */
static void open_sum(clf_etext *t, int v, const char *name) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME], column[24];
    clf_dtype type = clf_etext_type(t, v);
    clf_print(column, sizeof column, "c%s_", name);
    CLF_PUT(&t->x, "const __global %s *const q%s_ = ", clf_emit_type(one, type, 1), name);
    clf_etext_address(t, side_of(t, v), t->row, column);
    clf_emit_type(wide, type, clf_lanes(type));
    CLF_PUT(&t->x, "; %s s%s_ = (%s)(0);\n", wide, name, wide);
}

/* The lanes from `at` on. */
static void step_sum(clf_etext *t, int v, const char *name, int at) {
    char wide[CLF_EMIT_NAME], d[32], q[24], s[24];
    clf_dtype type = clf_etext_type(t, v);
    int lanes = clf_lanes(type), left = (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis) - at;
    bool half = t->x.registers == CLF_FEW_REGISTERS && left <= lanes / 2;
    clf_print(d, sizeof d, half ? "d%d_%d.lo" : "d%d_%d", v, at / lanes);
    clf_print(q, sizeof q, "q%s_", name);
    clf_print(s, sizeof s, half ? "s%s_.lo" : "s%s_", name);
    if (half) lanes /= 2;
    CLF_PUT(&t->x, "{ const %s y = ", clf_emit_type(wide, type, lanes));
    clf_etext_run_load(t, side_of(t, v), q, at, lanes);
    CLF_PUT(&t->x, "; %s = ", s);
    clf_etext_fma(t, skip_of(t, v), type, lanes, d, "y", s);
    CLF_PUT(&t->x, "; }\n");
}

static const char *const OF_EIGHT[EIGHT] = {"a", "b", "c", "d", "e", "f", "g", "h"};

/* DOT v of the entries at columns ca_ .., one or two of them, from z on. */
static void few_pairs(clf_etext *t, int v, int entries) {
    clf_dtype type = clf_etext_type(t, v);
    int lanes = clf_lanes(type), n = (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis);
    CLF_PUT(&t->x, "{ ");
    for (int k = 0; k < entries; k++) open_sum(t, v, OF_EIGHT[k]);
    for (int at = 0; at < n; at += lanes)
        for (int k = 0; k < entries; k++) step_sum(t, v, OF_EIGHT[k], at);
    for (int k = 0; k < entries; k++) {
        fold_lanes(t, type, OF_EIGHT[k], 1);
        CLF_PUT(&t->x, "t%d[z + %d] = ", v, k);
        clf_emit_cast(&t->x.e, clf_wide(type), type, 1);
        CLF_PUT(&t->x, "s1%s_);\n", OF_EIGHT[k]);
    }
    CLF_PUT(&t->x, "}\n");
}

static int together(const clf_etext *t) { return t->x.registers == CLF_FEW_REGISTERS ? FOUR : EIGHT; }

/* DOT v of the entries at columns ca_ to ch_, or to cd_, from z on. */
static void many_pairs(clf_etext *t, int v) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME], prefix[CLF_EMIT_NAME];
    clf_dtype type = clf_etext_type(t, v), sum = clf_wide(type);
    int lanes = clf_lanes(type), n = (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis), many = together(t);
    CLF_PUT(&t->x, "{\n");
    for (int k = 0; k < many; k++) open_sum(t, v, OF_EIGHT[k]);
    for (int at = 0; at < n; at += lanes)
        for (int k = 0; k < many; k++) step_sum(t, v, OF_EIGHT[k], at);
    for (int k = 0; k < many; k++) fold_lanes(t, type, OF_EIGHT[k], many);
    CLF_PUT(&t->x, "\n%s s_; CLF_%s_SUMS(%s, %s_ADD, s_", clf_emit_type(wide, sum, many), many == EIGHT ? "EIGHT" : "FOUR", wide,
            clf_emit_prefix(&t->x.e, prefix, sum, many));
    for (int k = 0; k < many; k++) CLF_PUT(&t->x, ", s%d%s_", many, OF_EIGHT[k]);
    CLF_PUT(&t->x, ")\nCLF_VSTORE(%s, %s, %d, ", t->p->blocked && t->p->by_entry ? "__global" : "__private", clf_emit_type(one, type, 1),
            many);
    clf_emit_cast(&t->x.e, sum, type, many);
    CLF_PUT(&t->x, "s_), t%d + z); }\n", v);
}

/* Ask for the first `lines` lines of the side's row at the entry `ahead` of this one. */
static void ask(clf_etext *t, int a, int ahead, const char *more, int lines) {
    int bytes = (int)clf_dtype_bytes((clf_dtype)t->p->c->in[t->p->c->access[a].input].dtype);
    CLF_PUT(&t->x, "{ const long n_ = xc[min(eb + z + %d%s, nnz - 1)];\n", ahead, more);
    for (int k = 0; k < lines; k++) {
        CLF_PUT(&t->x, "CLF_FETCH(");
        clf_etext_address(t, a, t->row, "n_");
        CLF_PUT(&t->x, " + %d)\n", k * LINE_BYTES / bytes);
    }
    CLF_PUT(&t->x, "}\n");
}

static bool is_far(const clf_etext *t, int a) { return a < CLF_ENTRY_TASKS && t->p->fetch[a]; }

/* The side's rows that entries soon to come will read: the first half of a long row well ahead, which gets its page and sets the device's
 * own reading ahead off, the whole of it when it is due. Measured with sides of 16 to 80 MiB in rows of 512 to 1600 bytes: 8 to 30 % less
 * time than asking once; all of a row well ahead gains nothing, for a core keeps few lines under way. */
void clf_etext_fetch(clf_etext *t, int a, int cells, const char *more) {
    clf_entry_at at;
    clf_entry_access(t->p, &t->p->c->access[a], &at);
    int lines = lines_of(t, a, cells);
    if (!is_far(t, a) || at.sk != 1) return;
    if (lines >= FEW_LINES) ask(t, a, FAR_AHEAD, more, (lines + 1) / 2);
    ask(t, a, AHEAD, more, lines);
}

static void fetch_side(clf_etext *t, int v) {
    int a = side_of(t, v);
    clf_entry_at at;
    clf_entry_access(t->p, &t->p->c->access[a], &at);
    if (at.sk == 1 && (is_far(t, a) || t->x.registers == CLF_FEW_REGISTERS))
        ask(t, a, SIDES_AHEAD, "", lines_of(t, a, (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis)));
}

/* A core with few registers is mostly one with a small second cache: there all sides are asked for. */
void clf_etext_fetch_sides(clf_etext *t) {
    for (int v = 0; v < t->p->c->nvalue; v++) {
        bool asked = false;
        for (int u = 0; u < v; u++) asked = asked || (now(t, u) && now(t, v) && side_of(t, u) == side_of(t, v));
        if (now(t, v) && !asked) fetch_side(t, v);
    }
}

/* The sides' rows that are due when these entries are done. */
static void fetch_rows(clf_etext *t, int entries) {
    bool any = false;
    for (int v = 0; v < t->p->c->nvalue; v++) any = any || (now(t, v) && is_far(t, side_of(t, v)));
    if (!any || t->p->blocked) return;
    if (entries > 1) CLF_PUT(&t->x, "CLF_WHOLE for (int k_ = 0; k_ < %d; k_++) {\n", entries);
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v))
            clf_etext_fetch(t, side_of(t, v), (int)clf_entry_extent(t->p, clf_etext_val(t, v)->axis), entries > 1 ? " + k_" : "");
    if (entries > 1) CLF_PUT(&t->x, "}\n");
}

/* In tiles of several rows. */
static bool tells_rows(const clf_etext *t) { return t->p->rows && !t->p->blocked; }

static void few(clf_etext *t, int entries) {
    for (int k = 0; k < entries; k++) CLF_PUT(&t->x, "const long c%s_ = xc[eb + z + %d];\n", OF_EIGHT[k], k);
    if (tells_rows(t)) CLF_PUT(&t->x, "row_[z] = row;\n");
    fetch_rows(t, entries);
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) few_pairs(t, v, entries);
}

/* last: a text, the last entry that may be read; NULL: all are there. */
static void many(clf_etext *t, const char *last) {
    for (int k = 0; k < together(t); k++)
        CLF_PUT(&t->x, last ? "const long c%s_ = xc[min(eb + z + %d, %s)];\n" : "const long c%s_ = xc[eb + z + %d];\n", OF_EIGHT[k], k,
                last);
    if (tells_rows(t)) CLF_PUT(&t->x, "CLF_WHOLE for (int k_ = 0; k_ < %d; k_++) row_[z + k_] = row;\n", together(t));
    if (!t->by_vector) fetch_rows(t, together(t));
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v)) many_pairs(t, v);
}

/* Lanes from z on behind the last entry read something. */
static void no_pairs(clf_etext *t, int z) {
    char wide[CLF_EMIT_NAME], one[CLF_EMIT_NAME];
    for (int v = 0; v < t->p->c->nvalue; v++)
        if (now(t, v))
            CLF_PUT(&t->x, "CLF_VSTORE(__private, %s, %d, (%s)(0), t%d + %d);\n", clf_emit_type(one, clf_etext_type(t, v), 1), together(t),
                    clf_emit_type(wide, clf_etext_type(t, v), together(t)), v, z);
}

void clf_etext_pair_vector(clf_etext *t, const char *last) {
    t->by_vector = true;
    for (int z = 0; z < t->x.p->width; z += together(t)) {
        bool maybe = last && z > 0 && t->x.registers == CLF_FEW_REGISTERS;
        if (maybe) CLF_PUT(&t->x, "if (cells > %d) ", z);
        CLF_PUT(&t->x, "{ const int z = %d;\n", z);
        many(t, last);
        CLF_PUT(&t->x, maybe ? "} else {\n" : "}\n");
        if (!maybe) continue;
        no_pairs(t, z);
        CLF_PUT(&t->x, "}\n");
    }
    t->by_vector = false;
}

typedef struct run {
    const char *end, *below;
} run;

/* Eight by eight, and what is left over: fewer than eight where entries end where they may be read, else fewer than FEW. */
static void eights(clf_ctext *x, const void *what) {
    clf_etext *t = (clf_etext *)x;
    const run *r = what;
    char all[64] = "", last[64];
    int n = together(t);
    if (r->below) clf_print(all, sizeof all, " && xc[eb + z + %d] < %s", n - 1, r->below);
    CLF_PUT(&t->x, "for (; z + %d <= %s%s; z += %d) {\n", n, r->end, all, n);
    many(t, NULL);
    CLF_PUT(&t->x, "}\n");
    if (r->below) return;
    clf_print(last, sizeof last, "eb + %s - 1", r->end);
    CLF_PUT(&t->x, "if (%s - z >= %d) {\n", r->end, n == FOUR ? FEW_OF_FOUR : FEW);
    many(t, last);
    CLF_PUT(&t->x, "z = %s; }\n", r->end);
}

/* Two by two, rows of a cut: their sums hide each other's latency, and they ask little of memory. Measured at rank 100: a fifth less. */
static void twos(clf_etext *t, const char *end, const char *below) {
    CLF_PUT(&t->x, "for (; z + 2 <= %s && xc[eb + z + 1] < %s; z += 2) {\n", end, below);
    few(t, 2);
    CLF_PUT(&t->x, "}\n");
}

void clf_etext_pair_loop(clf_etext *t, const char *end, const char *below) {
    char more[64] = "";
    if (below) clf_print(more, sizeof more, " && xc[eb + z] < %s", below);
    if (clf_etext_pairs_together(t))
        clf_ctext_by_registers(&t->x, eights, &(run){end, below});
    else if (below)
        twos(t, end, below);
    CLF_PUT(&t->x, "for (; z < %s%s; z++) {\n", end, more);
    few(t, 1);
    CLF_PUT(&t->x, "}\n");
}
