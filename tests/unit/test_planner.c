/* SPDX-License-Identifier: Apache-2.0
 * The planner: plans derived by hand against the plans made. */
#include "tests/support/plan_random.h"
#include "tests/unit/plan_text.h"

enum { VARS = 11 };
static const plan_var vars[VARS] = {{"X", 40, 30, false, 0}, {"Y", 40, 30, false, 0}, {"Z", 40, 30, false, 0}, {"u", 40, 1, false, 0},
                                    {"v", 1, 30, false, 0},  {"y", 40, 1, false, 0},  {"W", 30, 40, false, 0}, {"s", 1, 1, true, 0},
                                    {"E", 0, 30, false, 0},  {"one", 1, 1, false, 0}, {"b", 31, 1, false, 0}};

static const clf_limits plenty = {.kernel_ops = 200, .kernel_inputs = 48};

static planned plan_of(const char *text, const char *selector, const clf_limits *lim) { return plan_with(vars, VARS, text, selector, lim); }

static void expect_plan(const char *text, const char *selector, const clf_limits *lim, const char *want) {
    planned r = plan_of(text, selector, lim);
    expect_text(&r, text, selector, want);
}

/* ---- plans derived by hand ---- */

static const struct {
    const char *text, *want;
} by_hand[] = {
    /* Row: what is one number a row is used in its row; what meets over rows closes the loop */
    {"t(X) %*% (u * (X %*% t(v)))", "Row X u v > MATMUL MUL MATMUL > MATMUL"},
    {"e = exp(X - rowMaxs(X)); e / rowSums(e)", "Row X > rowmax SUB EXP rowsum DIV > DIV"},
    {"y = X %*% t(v); sum(X); t(X) %*% y", "Row X v > sum MATMUL MATMUL > sum MATMUL"},
    /* a product that shares its loop with nothing is the library's; one of two columns is a sum in any loop over their cells */
    {"X %*% t(Y)", "MATMUL-tb X Y"},
    {"t(u) %*% u; sum(u)", "MAgg u > MATMUL sum > MATMUL sum"},
    /* one pass from inputs to one number */
    {"sum(X*Y*Z)", "Cell X Y Z > MUL MUL sum > sum"},
    /* TAP: the kept matrix and its sum leave the same pass */
    {"A = X*Y+Z; A; sum(A)", "Cell X Y Z > MUL ADD sum > ADD sum"},
    /* MAgg: aggregates that read the same matrix share its pass */
    {"sum(X*Y); sum(X*Z); sum(X)", "MAgg X Y Z > MUL sum MUL sum sum > sum sum sum"},
    {"sum(X); min(X); mean(X)", "MAgg X > sum min mean > sum min mean"},
    /* aggregates in all directions over one matrix */
    {"sum(X); rowSums(X); colSums(X)", "Cell X > sum rowsum colsum > sum rowsum colsum"},
    /* JOIN: cell results over the same matrix */
    {"X+Y; X*2; abs(X)", "Cell X Y > ADD MUL ABS > ADD MUL ABS"},
    /* nothing in common, no common pass */
    {"sum(X) + sum(Y)", "Cell X > sum > sum | Cell Y > sum > sum | Cell sum sum > ADD > ADD"},
    /* a barrier: the product is stored once, by the pass that sums it */
    {"r = X*Y; r / sum(r)", "Cell X Y > MUL sum > MUL sum | Cell MUL sum > DIV > DIV"},
    {"a = sum(X*Y); X*a", "Cell X Y > MUL sum > sum | Cell X sum > MUL > MUL"},
    {"colSums((X - colMeans(X)) * s)", "Cell X > colmean > colmean | Cell X colmean > SUB MUL colsum > colsum"},
    /* scalar chains run inside the loops that want them, once per loop, not once per cell */
    {"X * ((s + 1) * 2)", "Cell X > MUL > MUL"},
    {"k = (s + 1) * 2; X * k; sum(W) * k", "Cell X > MUL > MUL | Cell W > sum > sum | Cell sum > MUL > MUL"},
    {"k = sum(X) / 7; X - k; W + k", "Cell X > sum > sum | Cell X sum > SUB > SUB | Cell W sum > ADD > ADD"},
    /* ... unless they start from a cell of a matrix, which is a loop of its own */
    {"(X[1, 1] + 1) * Y", "Cell X > INDEX ADD > ADD | Cell ADD Y > MUL > MUL"},
    {"sum(Y * exp(as.scalar(X[2, 3])))", "Cell X > INDEX CAST EXP > EXP | Cell Y EXP > MUL sum > sum"},
    /* sequences and filled matrices are never stored for a loop */
    {"u * seq(1, 40)", "Cell u > SEQ MUL > MUL"},
    {"matrix(s, rows=40, cols=30) + X", "Cell X > FILL ADD > ADD"},
    {"seq(1, 40)", "Cell > SEQ > SEQ"},
    /* broadcast sides */
    {"X * u + v", "Cell X u v > MUL ADD > ADD"},
    {"outer(u, v, \"*\")", "Cell u v > MUL > MUL"},
    {"rowSums(X * v); u + rowSums(X * v)", "Row X v u > MUL rowsum ADD > rowsum ADD"},
    /* ranges are read in place; a computed matrix is stored before it is indexed */
    {"exp(X[1:2, ] * 2)", "Cell X > INDEX MUL EXP > EXP"},
    {"(X + Y)[3:5, ]", "Cell X Y > ADD > ADD | Cell ADD > INDEX > INDEX"},
    {"X[1:39, ] + X[2:40, ]", "Cell X > INDEX INDEX ADD > ADD"},
    /* products read their operands transposed; no transposition runs */
    {"t(X) %*% y", "MATMUL-ta X y"},
    {"X %*% t(Y)", "MATMUL-tb X Y"},
    {"t(X) %*% (X %*% t(v))", "Row X v > MATMUL MATMUL > MATMUL"},
    {"t(X + Y) %*% u", "Row X Y u > ADD MATMUL > MATMUL"},
    {"sum((X %*% t(v)) * u)", "Row X v u > MATMUL MUL sum > sum"},
    /* what no template covers stands alone */
    {"t(X) + W", "TRANSPOSE X | Cell TRANSPOSE W > ADD > ADD"},
    {"diag(X %*% t(X))", "MATMUL-tb X X | DIAG MATMUL"},
    {"cbind(X, Y)", "CBIND X Y"},
    {"cumsum(X + 1) * 2", "Cell X > ADD > ADD | CUM ADD | Cell CUM > MUL > MUL"},
    /* columns put together, and sums cumulated along a row, are rows of a loop */
    {"cbind(X, X * 2)", "Row X > MUL CBIND > CBIND"},
    {"C = cbind(X, matrix(1, rows=40, cols=1)); t(C) %*% (u * (C %*% b))", "Row X u b > FILL CBIND MATMUL MUL MATMUL > MATMUL"},
    {"C = cbind(X, Y); exp(C) / rowSums(exp(C)); C", "Row X Y > CBIND EXP rowsum DIV > CBIND DIV"},
    {"cbind(v, v) + cbind(v, v)", "CBIND v v | Cell CBIND > ADD > ADD"},
    {"rowSums(t(cumsum(t(X))) * Y)", "Row X Y > CUM MUL rowsum > rowsum"},
    {"t(cummax(t(exp(X)))); t(cumprod(t(u)))", "Row X > EXP CUM > CUM | TRANSPOSE u | CUM TRANSPOSE | TRANSPOSE CUM"},
    /* ranges of columns, a column and a sequence next to rows */
    {"R = X[, 2:30]; R / rowSums(R)", "Row X > INDEX rowsum DIV > DIV"},
    {"t(X[, 2:30]) %*% (X[, 3] * rowSums(X))", "Row X > INDEX INDEX rowsum MUL MATMUL > MATMUL"},
    {"t(X) %*% (seq(1, 40) * (X %*% t(v)))", "Row X v > SEQ MATMUL MUL MATMUL > MATMUL"},
    /* rewrites */
    {"t(t(X)) + Y", "Cell X Y > ADD > ADD"},
    {"X[1:40, 1:30] * Y", "Cell X Y > MUL > MUL"},
    {"t(t(X)); X[, ]", ""},
    /* results that are inputs cost nothing; the same result twice costs once */
    {"X; X; X + Y; X + Y", "Cell X Y > ADD > ADD"},
    /* empty loops */
    {"sum(E * v)", "Cell > SEQ CAST > CAST"},
};

static void test_by_hand(void) {
    for (size_t i = 0; i < sizeof by_hand / sizeof *by_hand; i++) expect_plan(by_hand[i].text, "all", &plenty, by_hand[i].want);
}

static void test_none(void) {
    expect_plan("sum(X*Y+Z)", "none", &plenty, "Cell X Y > MUL > MUL | Cell MUL Z > ADD > ADD | Cell ADD > sum > sum");
    expect_plan("X * ((s + 1) * 2)", "none", &plenty, "Cell > ADD > ADD | Cell ADD > MUL > MUL | Cell X MUL > MUL > MUL");
    expect_plan("sum(X); sum(X*X)", "none", &plenty, "Cell X > sum > sum | Cell X > sumsq > sumsq");
    expect_plan("t(X) %*% y", "none", &plenty, "MATMUL-ta X y");
    expect_plan("u * seq(1, 40)", "none", &plenty, "Cell > SEQ > SEQ | Cell u SEQ > MUL > MUL");
}

/* A chain of scalars too long to copy is computed once, in one loop of its own, and read. */
static void test_long_scalars(void) {
    expect_plan("k = s+1; k = k*2; k = k+3; k = k*4; k = k+5; k = k*6; k = k+7; k = k*8; k = k+9; k = k*2; k = k+3; k = k*4; k = k+5; k = "
                "k*6; k = k+7;"
                "k = k*8; k = k+9; k = k*2; k = k+3; X * k",
                "all", &plenty,
                "Cell > ADD MUL ADD MUL ADD MUL ADD MUL ADD MUL ADD MUL ADD MUL ADD MUL ADD MUL ADD > ADD | Cell X ADD > MUL > MUL");
}

/* ---- limits ---- */

static void test_split_ops(void) {
    const clf_limits two = {.kernel_ops = 2, .kernel_inputs = 48};
    expect_plan("sum(sqrt(abs(exp(X))))", "all", &two, "Cell X > EXP ABS > ABS | Cell ABS > SQRT sum > sum");
    const clf_limits one = {.kernel_ops = 1, .kernel_inputs = 48};
    expect_plan("X * Y + Z", "all", &one, "Cell X Y > MUL > MUL | Cell MUL Z > ADD > ADD");
}

static void test_split_operands(void) {
    const clf_limits four = {.kernel_ops = 200, .kernel_inputs = 4};
    planned r = plan_of("X*Y + Z + u + v + y", "all", &four);
    for (int32_t s = 0; s < r.p->nstep; s++) CU_ASSERT(r.p->step[s].nin + r.p->step[s].nout + r.p->step[s].nparam <= 4);
    CU_ASSERT_EQUAL(r.p->nstep, 3);
    bool said = false;
    for (int32_t i = 0; i < r.p->ncut; i++) said = said || r.p->cut[i].reason == CLF_CUT_KERNEL_ARGS;
    CU_ASSERT(said);
    drop(&r);
}

/* Many values alive at once: wherever the loop is cut, each of them becomes an operand, so the cut comes early enough. */
static void test_split_wide(void) {
    char text[8192] = "a0 = abs(X)";
    size_t at = strlen(text);
    enum { WIDE = 120 };
    for (int i = 1; i < WIDE; i++) at += (size_t)snprintf(text + at, sizeof text - at, "; a%d = %s(a%d)", i, i % 2 ? "sqrt" : "exp", i - 1);
    at += (size_t)snprintf(text + at, sizeof text - at, "; sum(a0");
    for (int i = 1; i < WIDE; i++) at += (size_t)snprintf(text + at, sizeof text - at, " + a%d", i);
    snprintf(text + at, sizeof text - at, ")");
    const clf_limits lim = {.kernel_ops = 100, .kernel_inputs = 20};
    planned r = plan_of(text, "all", &lim);
    for (int32_t s = 0; s < r.p->nstep; s++) {
        const clf_step *t = &r.p->step[s];
        if (t->nin + t->nout + t->nparam > 20 || t->ncover > 100)
            printf("\n    step %d: %d in, %d out, %d operators\n", s, t->nin, t->nout, t->ncover);
        CU_ASSERT(t->nin + t->nout + t->nparam <= 20);
        CU_ASSERT(t->ncover <= 100);
    }
    drop(&r);
}

/* Scalars that copied expressions bring along count as operands, too. */
static void test_split_copies(void) {
    char text[8192] = "sum(X";
    size_t at = strlen(text);
    for (int i = 0; i < 30; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, " * (s * %d + %d / (s + %d))", i + 2, i + 100, i + 200);
    snprintf(text + at, sizeof text - at, ")");
    planned r = plan_of(text, "all", &plenty);
    for (int32_t s = 0; s < r.p->nstep; s++) CU_ASSERT(r.p->step[s].nin + r.p->step[s].nout + r.p->step[s].nparam <= 48);
    CU_ASSERT(r.p->nstep > 1);
    drop(&r);
}

/* ---- liveness, reasons, costs ---- */

static const clf_plan_value *value_of(const planned *r, int op) {
    for (int32_t v = 0; v < r->p->nvalue; v++)
        if (r->p->g.node[r->p->value[v].node].op == op) return &r->p->value[v];
    return NULL;
}

static void test_liveness(void) {
    planned r = plan_of("r = X*Y; r / sum(r)", "all", &plenty);
    const clf_plan_value *mul = value_of(&r, CLF_OP_MUL), *sum = value_of(&r, CLF_OP_FOLD), *div = value_of(&r, CLF_OP_DIV),
                         *x = value_of(&r, CLF_OP_PARAM);
    CU_ASSERT_FATAL(mul && sum && div && x);
    CU_ASSERT(mul->made == 0 && mul->last == 1 && mul->slot < 0 && !mul->root);
    CU_ASSERT(sum->made == 0 && sum->last == 1 && sum->bytes == 8);
    CU_ASSERT(div->made == 1 && div->last == 2 && div->root);
    CU_ASSERT(x->made == -1 && x->slot >= 0 && x->bytes == 40 * 30 * 8);
    CU_ASSERT_EQUAL(r.p->step[0].read_bytes, 2 * 9600);
    CU_ASSERT_EQUAL(r.p->step[0].write_bytes, 9600 + 8);
    drop(&r);
}

static bool has_cut(const planned *r, int from, int to, clf_reason why) {
    for (int32_t i = 0; i < r->p->ncut; i++) {
        const clf_cut *k = &r->p->cut[i];
        int a = r->p->g.node[k->from].op, b = k->to < 0 ? -1 : r->p->g.node[k->to].op;
        if (a == from && b == to && k->reason == why) return true;
    }
    return false;
}

static void test_reasons(void) {
    planned r = plan_of("r = X*Y; r / sum(r)", "all", &plenty);
    CU_ASSERT(has_cut(&r, CLF_OP_MUL, CLF_OP_DIV, CLF_CUT_SHARED));
    CU_ASSERT(has_cut(&r, CLF_OP_FOLD, CLF_OP_DIV, CLF_CUT_BARRIER));
    CU_ASSERT(has_cut(&r, CLF_OP_DIV, -1, CLF_CUT_RESULT));
    CU_ASSERT_EQUAL(r.p->ncut, 3);
    drop(&r);
    r = plan_of("sqrt(abs(X))", "none", &plenty);
    CU_ASSERT(has_cut(&r, CLF_OP_ABS, CLF_OP_SQRT, CLF_CUT_SELECTOR));
    drop(&r);
    r = plan_of("t(X * 2) + W", "all", &plenty);
    CU_ASSERT(has_cut(&r, CLF_OP_MUL, CLF_OP_TRANSPOSE, CLF_CUT_TEMPLATE));
    CU_ASSERT(has_cut(&r, CLF_OP_TRANSPOSE, CLF_OP_ADD, CLF_CUT_TEMPLATE));
    drop(&r);
    r = plan_of("X * exp(v)", "all", &plenty);
    CU_ASSERT(has_cut(&r, CLF_OP_EXP, CLF_OP_MUL, CLF_CUT_LOOPS));
    drop(&r);
    const clf_limits one = {.kernel_ops = 1, .kernel_inputs = 48};
    r = plan_of("sqrt(abs(X))", "all", &one);
    CU_ASSERT(has_cut(&r, CLF_OP_ABS, CLF_OP_SQRT, CLF_CUT_KERNEL_OPS));
    drop(&r);
    for (int i = 0; i < CLF_NREASONS; i++) CU_ASSERT(strlen(clf_reason_text((clf_reason)i)) > 0);
    CU_ASSERT_STRING_EQUAL(clf_reason_text(CLF_NREASONS), "");
}

static void test_costs(void) {
    clf_profile p;
    clf_profile_assume(&p, CLF_DEV_HOST, 2);
    planned a = plan_of("sum(X*Y*Z)", "all", &plenty), n = plan_of("sum(X*Y*Z)", "none", &plenty);
    double fused = clf_step_cost_ns(a.p, &a.p->step[0], &p), apart = 0;
    for (int32_t s = 0; s < n.p->nstep; s++) apart += clf_step_cost_ns(n.p, &n.p->step[s], &p);
    CU_ASSERT(fused > 0 && fused < apart);
    drop(&a);
    drop(&n);
}

static void test_printers(void) {
    planned r = plan_of("sum(X*Y)", "all", &plenty);
    clf_str t;
    clf_str_init(&t, &r.c->mem);
    clf_plan_print(r.p, &t);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&t), "(step 0 fused Cell (in %0 %1) (out %3) (covers %2 %3))\n(cut %3 result \"kept as a result\")\n");
    clf_str_release(&t);
    clf_graph_print(&r.p->g, &t);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&t), "%0 = PARAM f64 40x30 slot 0\n%1 = PARAM f64 40x30 slot 1\n%2 = MUL f64 40x30 (%0 %1)\n%3 = FOLD "
                                          "f64 scalar sum all (%2)\nroots %3\n");
    clf_str_release(&t);
    clf_arena scratch;
    clf_memo memo;
    clf_arena_init(&scratch, &r.c->mem);
    CU_ASSERT_EQUAL(clf_explore(&r.p->g, &scratch, &memo, &r.err), CLF_OK);
    clf_memo_print(&memo, &t);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&t), "%2 MUL: Cell(read read) open;\n%3 FOLD: Cell(fuse) closed;\n");
    clf_str_release(&t);
    clf_arena_release(&scratch);
    drop(&r);
}

static void test_refusals(void) {
    planned r = plan_of("sum(X*Y)", "all", &plenty);
    clf_plan *p = NULL;
    CU_ASSERT_PTR_NULL(clf_selector_find("best"));
    r.f.g.node[2].in[0] = 2; /* a node that reads itself */
    CU_ASSERT_EQUAL(clf_plan_new(&p, &r.f.g, clf_selector_find("all"), &plenty, &r.c->mem, &r.err), CLF_E_INTERNAL);
    CU_ASSERT_PTR_NULL(p);
    drop(&r);
}

/* Equal structure gives equal keys whatever the sizes, so code is shared. */
static void test_keys(void) {
    planned a = plan_of("sum(X*Y)", "all", &plenty), b = plan_of("sum(W*W)", "all", &plenty), d = plan_of("sum(Y*X + 1)", "all", &plenty),
            e = plan_of("sum(Z*Y)", "all", &plenty);
    const clf_step *s = &a.p->step[0], *t = &e.p->step[0], *u = &d.p->step[0], *w = &b.p->step[0];
    CU_ASSERT(s->key_len == t->key_len && !memcmp(s->key, t->key, s->key_len));
    CU_ASSERT(s->key_len != u->key_len || memcmp(s->key, u->key, s->key_len));
    CU_ASSERT(s->key_len != w->key_len || memcmp(s->key, w->key, s->key_len));
    drop(&a);
    drop(&b);
    drop(&d);
    drop(&e);
}

/* ---- the memo ---- */

static int wanted_by(const clf_graph *g, int32_t q) {
    int n = 0;
    for (int32_t r = 0; r < g->nroot; r++) n += g->root[r] == q;
    for (int32_t i = 0; i < g->n; i++)
        for (int k = 0; k < g->node[i].nin; k++) n += clf_node_operand(g, i, k) == q;
    return n;
}

/* Does b take in all that a does, and more, which nobody else wants? */
static bool dominates(const clf_graph *g, int32_t n, const clf_entry *b, const clf_entry *a) {
    bool more = false;
    if (a->template_ != b->template_) return false;
    for (int k = 0; k < g->node[n].nin; k++) {
        int32_t q = clf_node_operand(g, n, k);
        if (a->edge[k] == b->edge[k]) continue;
        if (a->edge[k] == CLF_EDGE_FUSE || clf_node_is_slot(&g->node[q]) || wanted_by(g, q) > 1) return false;
        more = true;
    }
    return more;
}

/* No entry is dominated; what a template may take in is taken in by some entry; entries are different. */
static bool memo_right(const clf_memo *m, int32_t n) {
    const clf_graph *g = m->g;
    for (int32_t i = m->first[n]; i < m->first[n + 1]; i++)
        for (int32_t j = m->first[n]; j < m->first[n + 1]; j++)
            if (i != j && (dominates(g, n, &m->entry[i], &m->entry[j]) || !memcmp(&m->entry[i], &m->entry[j], sizeof *m->entry)))
                return false;
    for (int t = 0; clf_templates[t]; t++)
        for (int k = 0; k < g->node[n].nin; k++)
            if (clf_templates[t]->fuse(g, n, k) && clf_templates[t]->close(g, n) != CLF_CLOSED_INVALID && !clf_memo_fusable(m, n, k))
                return false;
    return true;
}

static void test_memo(void) {
    static plan_random r;
    int64_t entries = 0, wrong = 0;
    for (uint64_t seed = 1; seed <= 2000; seed++) {
        clf_mem mem;
        clf_arena arena;
        clf_memo memo;
        clf_err err = {CLF_OK, ""};
        clf_mem_init(&mem, NULL, NULL);
        clf_arena_init(&arena, &mem);
        plan_random_make(&r, seed, 2 + (int)(seed % 12));
        CU_ASSERT_EQUAL_FATAL(clf_explore(&r.g, &arena, &memo, &err), CLF_OK);
        for (int32_t n = 0; n < r.g.n; n++) wrong += !memo_right(&memo, n);
        entries += memo.nentry;
        clf_arena_release(&arena);
    }
    CU_ASSERT_EQUAL(wrong, 0);
    CU_ASSERT(entries > 2000); /* there were some */
}

int main(void) {
    static const test_case tests[] = {
        {"plans derived by hand", test_by_hand},
        {"selector none", test_none},
        {"long scalar chains", test_long_scalars},
        {"operator limit", test_split_ops},
        {"operand limit", test_split_operands},
        {"many values alive", test_split_wide},
        {"copied operands", test_split_copies},
        {"liveness", test_liveness},
        {"reasons", test_reasons},
        {"costs", test_costs},
        {"printers", test_printers},
        {"refusals", test_refusals},
        {"keys", test_keys},
        {"memo", test_memo},
    };
    return run_suite("planner", tests, sizeof tests / sizeof *tests);
}
