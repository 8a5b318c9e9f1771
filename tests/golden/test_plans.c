/* SPDX-License-Identifier: Apache-2.0
 * Plans that the search chooses for known programs on the checked-in profiles, as text: graph, steps with their devices, cuts with their
 * reasons, price, gap and peak of memory. tests/golden/plans/NAME.sexp holds each program's. A plan that changes is no error by itself:
 * run with CLF_GOLDEN_UPDATE=1 to write the files anew, and look at the difference. */
#include <stdlib.h>

#include "tests/support/plan_devices.h"
#include "tests/unit/plan_text.h"

static plan_devices devices;

/* Machines: indices of plan_devices' profiles, device 0 first. */
static const struct machine {
    const char *name;
    int n, device[2];
} machines[] = {{"host", 1, {0}}, {"host and fast gpu", 2, {0, 2}}, {"host and slow gpu", 2, {0, 3}}, {"two equal", 2, {4, 5}}};

typedef struct golden {
    const char *name, *program;
    plan_var vars[MOST_PLAN_VARS];
} golden;

/* clang-format off */
#define MATRIX(name, rows, cols) {name, rows, cols, false, 0}
#define NUMBER(name) {name, 1, 1, true, 0}
#define RATINGS {"S", 100000, 50000, false, 5000000}
#define FACTORS MATRIX("U", 100000, 10), MATRIX("V", 50000, 10)
static const golden goldens[] = {
    {"als_update", "((S != 0) * (U %*% t(V) - S)) %*% V + 0.1 * U", {RATINGS, FACTORS}},
    {"als_loss", "sum((S != 0) * (S - U %*% t(V))^2) + 0.1 * (sum(U^2) + sum(V^2))", {RATINGS, FACTORS}},
    {"outer_kept", "Y + X * (U %*% t(V))",
     {{"X", 2000, 1500, false, 30000}, MATRIX("Y", 2000, 1500), MATRIX("U", 2000, 10), MATRIX("V", 1500, 10)}},
    {"kept_and_summed", "A = X*Y+Z; A; sum(A)", {MATRIX("X", 100000, 100), MATRIX("Y", 100000, 100), MATRIX("Z", 100000, 100)}},
    {"residual", "r = p - a*q; r; sum(r^2)", {MATRIX("p", 1000000, 1), MATRIX("q", 1000000, 1), NUMBER("a")}},
    {"softmax", "E = exp(X - rowMaxs(X)); E / rowSums(E)", {MATRIX("X", 100000, 200)}},
    {"mlogreg", "Q = P * (X %*% W); t(X) %*% (Q - P * rowSums(Q))",
     {MATRIX("X", 100000, 100), MATRIX("P", 100000, 5), MATRIX("W", 100, 5)}},
    {"mmchain", "t(X) %*% (w * (X %*% v))", {MATRIX("X", 100000, 100), MATRIX("w", 100000, 1), MATRIX("v", 100, 1)}},
    {"autoencoder",
     "H = 1 / (1 + exp(-(X %*% W1 + b1))); O = 1 / (1 + exp(-(H %*% W2 + b2))); E = O - X; sum(E^2);"
     "D2 = E * O * (1 - O); D1 = (D2 %*% t(W2)) * H * (1 - H);"
     "W1 - 0.1 * (t(X) %*% D1); W2 - 0.1 * (t(H) %*% D2); b1 - 0.1 * colSums(D1); b2 - 0.1 * colSums(D2)",
     {MATRIX("X", 1024, 500), MATRIX("W1", 500, 100), MATRIX("W2", 100, 500), MATRIX("b1", 1, 100), MATRIX("b2", 1, 500)}},
    {"aggregates", "sum(X*Y); sum(X*Z); max(X); colSums(X^2)",
     {MATRIX("X", 100000, 100), MATRIX("Y", 100000, 100), MATRIX("Z", 100000, 100)}},
    {"again_or_stored", "B = exp(sin(X)); k = sum(B); sum(B * k); C = X + Y; l = sum(C); sum(C * l)",
     {MATRIX("X", 100000, 100), MATRIX("Y", 100000, 100)}},
    {"sparse_products", "t(S) %*% (S %*% u)", {RATINGS, MATRIX("u", 50000, 1)}},
    {"sparse_cells", "T = abs(S) * w; sum(T^2); colSums(T); rowSums(S != 0)", {RATINGS, MATRIX("w", 100000, 1)}},
};
/* clang-format on */

static clf_limits limits_of(const struct machine *m) {
    clf_limits lim = {.dev.n = m->n, .kernel_ops = 200, .kernel_inputs = 48};
    for (int d = 0; d < m->n; d++) lim.dev.profile[d] = &devices.profile[m->device[d]];
    return lim;
}

/* Prices to three digits: what a rounding may change is no news. */
static void put_machine(const golden *g, const struct machine *m, clf_str *out) {
    clf_limits lim = limits_of(m);
    int n = 0;
    while (n < MOST_PLAN_VARS && g->vars[n].name) n++;
    planned r = plan_with(g->vars, n, g->program, "cost", &lim);
    CU_ASSERT_EQUAL(clf_plan_check(r.p, &r.err), CLF_OK);
    if (m == machines) clf_graph_print(&r.p->g, out);
    clf_str_fmt(out, "\n(machine \"%s\") (price %.3g us) (gap %.3g us) (peak %zu)\n", m->name, 1e-6 * (double)r.p->cost_ps,
                1e-6 * (double)r.p->gap_ps, r.p->peak_bytes);
    clf_plan_print(r.p, out);
    drop(&r);
}

static void put_golden(const golden *g, clf_str *out) {
    clf_str_fmt(out, "; SPDX-License-Identifier: Apache-2.0\n; %s\n", g->program);
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) put_machine(g, &machines[i], out);
}

static char *read_all(const char *path) {
    FILE *f = fopen(path, "rb");
    char *text = calloc(1, 1 << 16);
    if (f && text) text[fread(text, 1, (1 << 16) - 1, f)] = 0;
    if (f) fclose(f);
    return text;
}

/* The first line that differs, on stdout. */
static void show(const char *name, const char *got, const char *want) {
    size_t i = 0, line = 0;
    for (; got[i] && got[i] == want[i]; i++)
        if (got[i] == '\n') line = i + 1;
    printf("\n    %s differs\n      got  %.*s\n      want %.*s\n", name, (int)strcspn(got + line, "\n"), got + line,
           (int)strcspn(want + line, "\n"), want + line);
}

static void check(const golden *g) {
    char path[1024];
    clf_mem mem;
    clf_str got;
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&got, &mem);
    put_golden(g, &got);
    snprintf(path, sizeof path, "%s/golden/plans/%s.sexp", CLF_TESTS_DIR, g->name);
    if (getenv("CLF_GOLDEN_UPDATE")) write_file(path, clf_str_c(&got));
    char *want = read_all(path);
    CU_ASSERT_PTR_NOT_NULL_FATAL(want);
    if (strcmp(clf_str_c(&got), want)) show(g->name, clf_str_c(&got), want);
    CU_ASSERT_STRING_EQUAL(clf_str_c(&got), want);
    free(want);
    clf_str_release(&got);
}

static void test_plans(void) {
    for (size_t i = 0; i < sizeof goldens / sizeof *goldens; i++) check(&goldens[i]);
}

int main(void) {
    static const test_case tests[] = {{"plans", test_plans}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    return run_suite("golden plans", tests, sizeof tests / sizeof *tests);
}
