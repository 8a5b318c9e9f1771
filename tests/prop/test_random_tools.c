/* SPDX-License-Identifier: Apache-2.0
 * The net's own tools: the generator knows every row of the tables of operators, structural operators, folds and formats; programs
 * follow from their seed; a program printed in the language means the same. */
#include <unistd.h>

#include "core/fold.h"
#include "core/op.h"
#include "formats/fmt.h"
#include "tests/oracle/dd_cell.h"
#include "tests/support/net.h"
#include "tests/support/random_make.h"
#include "tests/unit/api_testing.h"

/* ---- tables ---- */

static void test_operators_known(void) {
    for (int op = 0; op < CLF_NOPS; op++) {
        bool exact = (clf_ops[op].flags & F_EXACT) != 0;
        bool good = rp_arity(op) == clf_ops[op].arity && rp_stays_whole(op) == exact;
        if (!good) printf("\n    operator %s: the generator (tests/support/random_cells.c) does not know it\n", clf_ops[op].name);
        CU_ASSERT(good);
    }
}

/* Operands that are not exact, far from where any operator jumps: what comes out is known. */
static void test_bounds_known(void) {
    static const dd_cell x[3] = {{.v = {2.3, 0}, .e = 1e-9}, {.v = {3.1, 0}, .e = 1e-9}, {.v = {5.2, 0}, .e = 1e-9}};
    for (int op = 0; op < CLF_NOPS; op++) {
        bool good = dd_op(op, CLF_F64, x).kind != DD_UNKNOWN;
        if (!good) printf("\n    operator %s: no bound is known (tests/oracle/dd_ops.c, dd_elem.c)\n", clf_ops[op].name);
        CU_ASSERT(good);
    }
}

/* Structural operators, and the kinds of node that make them; -1: no part of programs, by its nature. */
static const struct {
    int op, kind;
} forms[] = {
    {CLF_OP_LEAF, RP_LEAF},   {CLF_OP_PARAM, -1},          {CLF_OP_CONST, RP_NUMBER}, {CLF_OP_FILL, RP_FILL},
    {CLF_OP_SEQ, RP_SEQ},     {CLF_OP_RAND, RP_RAND},      {CLF_OP_CAST, RP_CAST},    {CLF_OP_FOLD, RP_FOLD},
    {CLF_OP_CUM, RP_CUM},     {CLF_OP_MATMUL, RP_PRODUCT}, {CLF_OP_CBIND, RP_CBIND},  {CLF_OP_TRANSPOSE, RP_TRANSPOSE},
    {CLF_OP_INDEX, RP_INDEX}, {CLF_OP_RBIND, RP_RBIND},    {CLF_OP_DIAG, RP_DIAG},    {CLF_OP_RESHAPE, RP_RESHAPE},
    {CLF_OP_REV, RP_REV},     {CLF_OP_ORDER, RP_ORDER},    {CLF_OP_ERROR, -1},
};

static void test_forms_known(void) {
    for (int op = CLF_NOPS; op < CLF_NALLOPS; op++) {
        bool known = false;
        for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) known = known || forms[i].op == op;
        if (!known) printf("\n    structural operator %s: no kind of node makes it\n", clf_ops[op].name);
        CU_ASSERT(known);
    }
}

static bool is_generated_fold(int fold) {
    rp_options o = {.domain = RP_REAL};
    const double v[2] = {2, 3};
    double r = 0;
    return rp_fold_allowed(&o, fold) && (fold == CLF_FOLD_CODE_VAR || rp_fold(fold, CLF_F64, v, 2, 1, &r));
}

static void test_folds_known(void) {
    for (int f = 0; f < CLF_NFOLDS; f++) {
        if (!is_generated_fold(f))
            printf("\n    fold %s: the generator (tests/support/random_folds.c) does not know it\n", clf_folds[f].name);
        CU_ASSERT(is_generated_fold(f));
    }
}

static void test_formats_have_doors(void) {
    for (int f = 0; f < CLF_NFORMATS; f++) {
        bool door = false;
        for (int i = 0; i < rp_ndoors; i++) door = door || rp_doors[i].format == f;
        if (clf_formats[f].offers && !door) printf("\n    format %s: no leaf arrives in it (rp_doors)\n", clf_formats[f].name);
        CU_ASSERT(!clf_formats[f].offers || door);
    }
}

/* Every row of the tables does appear: in the integer domain what is exact, in the real one all. */
static void test_all_appear(void) {
    static bool op[2][CLF_OP_CODES], fold[2][CLF_FOLD_CODES], kind[2][RP_KINDS];
    static rp_program p;
    for (uint64_t seed = 0; seed < 3000; seed++) {
        rp_options o = {.nodes = 20, .most_cells = 600, .domain = seed % 2 ? RP_REAL : RP_INTEGER};
        rp_generate(&p, seed, &o);
        for (int i = 0; i < p.n; i++) {
            const rp_node *n = &p.node[i];
            kind[o.domain][n->kind] = true;
            if (n->kind == RP_CELL) op[o.domain][n->op] = true;
            if (n->kind == RP_FOLD) fold[o.domain][n->op] = true;
        }
        rp_release(&p);
    }
    for (int d = 0; d < 2; d++) {
        for (int i = 0; i < CLF_OP_CODES; i++) CU_ASSERT(op[d][i] == (d == RP_REAL || rp_stays_whole(i)));
        for (int i = 0; i < CLF_FOLD_CODES; i++) CU_ASSERT(fold[d][i] == (d == RP_REAL || i != CLF_FOLD_CODE_VAR));
        for (int i = 0; i < RP_KINDS; i++) CU_ASSERT(kind[d][i] == (d == RP_INTEGER || i != RP_ORDER));
    }
}

/* ---- plans ---- */

typedef struct seen {
    char *text;
    size_t bytes;
    int programs, sparse, row, outer, driven, convert, pairs, sides; /* programs whose plans have one */
} seen;

static void keep_text(void *user, const char *text, size_t n) { fwrite(text, 1, n, user); }

static bool says(const char *text, const char *what) { return strstr(text, what) != NULL; }

/* Is an input of the first product of entries among what some step computes? */
static bool of_computed(const char *text) {
    static const char name[] = "\"name\": \"%";
    const char *step = strstr(text, "MATMUL over entries"), *in = step ? strstr(step, "\"inputs\"") : NULL;
    const char *end = in ? strstr(in, "\"reads_bytes\"") : NULL;
    for (in = in ? strstr(in, name) : NULL; in && end && in < end; in = strstr(in + 1, name)) {
        char covered[24];
        const char *id = in + sizeof name - 2;
        snprintf(covered, sizeof covered, "\"%.*s ", (int)strcspn(id, "\""), id);
        if (says(text, covered)) return true;
    }
    return false;
}

static void explain_plan(const rp_program *p, clf_ctx *c, seen *s) {
    static clf_mat *h[RP_NODES], *root[RP_NODES + 8];
    FILE *f = open_memstream(&s->text, &s->bytes);
    size_t mark = clf_epoch_begin(c);
    rp_record(p, c, h);
    for (int i = 0; i < p->nroot; i++) root[i] = h[p->root[i]];
    CU_ASSERT_EQUAL(clf_explain((size_t)p->nroot, root, CLF_JSON, 0, keep_text, f), CLF_OK);
    clf_epoch_end(c, mark);
    fclose(f);
}

static void look_at_plan(const rp_program *p, clf_ctx *c, seen *s) {
    explain_plan(p, c, s);
    s->programs++;
    s->sparse += rp_sparse(p);
    s->row += says(s->text, "\"template\": \"Row\"");
    s->outer += says(s->text, "\"template\": \"Outer\"");
    s->driven += says(s->text, "\"driver\": \"");
    s->convert += says(s->text, "\"kind\": \"CONVERT\"");
    free(s->text);
}

/* Where nothing is fused; for matrices as small as these, loops cost less. */
static void look_at_products(const rp_program *p, clf_ctx *c, seen *s) {
    explain_plan(p, c, s);
    s->pairs += says(s->text, "MATMUL over entries");
    s->sides += of_computed(s->text);
    free(s->text);
}

/* Loops over rows, wide products that are never stored, loops over entries and conversions are in programs of every kind. */
static void test_plans_appear(void) {
    static rp_program p;
    seen s = {.programs = 0};
    clf_ctx *c = open_host(), *none = open_host();
    CU_ASSERT_EQUAL(clf_set(none, "fuse", "none"), CLF_OK);
    for (uint64_t seed = 0; seed < 900; seed++) {
        rp_options o = {.nodes = 10 + (int)(seed % 14), .most_cells = seed % 3 ? 600 : 4300, .domain = seed % 2 ? RP_REAL : RP_INTEGER};
        rp_generate(&p, 8000000 + seed, &o);
        look_at_plan(&p, c, &s);
        look_at_products(&p, none, &s);
        rp_release(&p);
    }
    clf_close(c);
    clf_close(none);
    CU_ASSERT(s.sparse * 6 > s.programs);
    CU_ASSERT(s.row >= 100);
    CU_ASSERT(s.outer >= 1);
    CU_ASSERT(s.driven >= 60);
    CU_ASSERT(s.convert >= 60);
    CU_ASSERT(s.pairs >= 18);
    CU_ASSERT(s.sides >= 8);
    net_figure("random programs: with sparse leaves, with a Row loop, an Outer loop, a loop over entries, a conversion",
               "%d, %d, %d, %d, %d of %d", s.sparse, s.row, s.outer, s.driven, s.convert, s.programs);
    net_figure("random programs: with a product over entries of both sides, of a computed one", "%d, %d of %d", s.pairs, s.sides,
               s.programs);
    printf("\n    sparse %d, Row %d, Outer %d, over entries %d, CONVERT %d, product of entries %d, computed %d of %d ", s.sparse, s.row,
           s.outer, s.driven, s.convert, s.pairs, s.sides, s.programs);
}

/* The prime field has what is made of + - * alone; of operators that came later their texts tell. */
static void test_prime_domain(void) {
    static rp_program p;
    rp_options o = {.nodes = 30, .most_cells = 600, .domain = RP_PRIME};
    static const int ops[] = {CLF_ADD, CLF_SUB, CLF_MUL, CLF_NEG, CLF_SQR};
    for (int i = 0; i <= CLF_REPLACE; i++) {
        bool known = false;
        for (size_t k = 0; k < sizeof ops / sizeof *ops; k++) known = known || ops[k] == i;
        CU_ASSERT_EQUAL(rp_op_allowed(&o, i), known);
    }
    for (int i = 0; i < CLF_FOLD_CODES; i++)
        CU_ASSERT_EQUAL(rp_fold_allowed(&o, i), i == CLF_FOLD_CODE_SUM || i == CLF_FOLD_CODE_SUMSQ || i == CLF_FOLD_CODE_PROD);
    for (uint64_t seed = 0; seed < 300; seed++) {
        rp_generate(&p, seed, &o);
        int64_t outside = 0;
        for (int i = 0; i < p.n; i++) {
            const rp_matrix *m = &p.node[i].m;
            CU_ASSERT(m->t == CLF_F64);
            for (int64_t k = 0; m->v && k < rp_count(m); k++) outside += !(m->v[k] >= 0 && m->v[k] < 2147483647);
        }
        CU_ASSERT_EQUAL(outside, 0);
        rp_release(&p);
    }
}

static void test_same_seed_same_program(void) {
    static rp_program p[2];
    rp_options o = {.nodes = 20, .most_cells = 4000};
    for (uint64_t seed = 0; seed < 50; seed++) {
        char *text[2];
        size_t bytes[2];
        bool variable[RP_NODES];
        for (int k = 0; k < 2; k++) {
            rp_generate(&p[k], seed, &o);
            FILE *f = open_memstream(&text[k], &bytes[k]);
            rp_expression(&p[k], f, variable);
            fclose(f);
        }
        CU_ASSERT_STRING_EQUAL(text[0], text[1]);
        for (int i = 0; i < p[0].n; i++)
            CU_ASSERT(!memcmp(p[0].node[i].m.v, p[1].node[i].m.v, (size_t)rp_count(&p[0].node[i].m) * sizeof(double)));
        for (int k = 0; k < 2; k++) {
            rp_release(&p[k]);
            free(text[k]);
        }
    }
}

/* ---- printed programs ---- */

enum { NAME = 32 };

/* A program as text with the inputs it needs. */
typedef struct printed {
    char *text;
    size_t bytes, n;
    bool variable[RP_NODES];
    clf_binding var[RP_NODES];
    char name[RP_NODES][NAME];
} printed;

static void print_program(const rp_program *p, printed *t) {
    FILE *f = open_memstream(&t->text, &t->bytes);
    CU_ASSERT(rp_expression(p, f, t->variable));
    fclose(f);
}

/* Inputs from memory, or from the files of a folder. */
static void bind_inputs(const rp_program *p, clf_ctx *c, const char *folder, printed *t) {
    t->n = 0;
    for (int i = 0; i < p->n; i++) {
        const rp_matrix *m = &p->node[i].m;
        char path[512];
        if (!t->variable[i]) continue;
        snprintf(t->name[t->n], NAME, "n%d", i);
        const rp_node *n = &p->node[i];
        snprintf(path, sizeof path, "%s/seed%llu_n%d.%s", folder ? folder : "", (unsigned long long)p->seed, i,
                 rp_sparse_leaf(n) ? "mtx" : "npy");
        clf_mat *h = folder ? clf_load(c, path) : rp_doors[n->kind == RP_LEAF ? n->attr[0] : 0].open(c, m);
        if (folder) remove(path);
        t->var[t->n] = (clf_binding){t->name[t->n], m->scalar && !folder ? clf_as_scalar(h) : h};
        t->n++;
    }
}

static bool same_bits(clf_mat *a, clf_mat *b, bool signs) {
    int64_t rows[2], cols[2];
    clf_dtype t[2];
    bool scalar[2];
    const void *data[2];
    clf_mat *m[2] = {a, b};
    for (int k = 0; k < 2; k++)
        if (clf_info(m[k], &rows[k], &cols[k], &t[k], &scalar[k]) != CLF_OK || clf_data(m[k], &data[k]) != CLF_OK) return false;
    if (rows[0] != rows[1] || cols[0] != cols[1] || t[0] != t[1] || scalar[0] != scalar[1]) return false;
    return rp_same_cells(&(rp_matrix){.t = t[0], .rows = rows[0], .cols = cols[0]}, data[0], data[1], signs);
}

static bool means_the_same(const rp_program *p, clf_ctx *c, const printed *t) {
    static clf_result r[2 * RP_NODES];
    static clf_mat *h[RP_NODES];
    size_t n = sizeof r / sizeof *r, bare = 0;
    if (clf_parse(c, t->text, t->var, t->n, r, &n) != CLF_OK) {
        printf("\n    %s\n", clf_last_error(c));
        return false;
    }
    rp_record(p, c, h);
    for (size_t i = 0; i < n; i++) {
        if (!r[i].bare) continue;
        if (bare >= (size_t)p->nroot || !same_bits(r[i].value, h[p->root[bare]], !rp_sparse(p))) {
            printf("\n    result %zu differs\n", bare + 1);
            return false;
        }
        bare++;
    }
    return bare == (size_t)p->nroot;
}

static void random_program(rp_program *p, int64_t k) {
    rp_options o = {.nodes = 6 + (int)(k % 15), .most_cells = 1000};
    rp_generate(p, 7000000 + (uint64_t)k, &o);
}

static void test_printed_programs(void) {
    static rp_program p;
    static printed t;
    clf_ctx *c = open_host();
    int64_t want = net_count(200, 20000), spelled = 0, nodes = 0;
    for (int64_t k = 0; k < want; k++) {
        size_t mark = clf_epoch_begin(c);
        random_program(&p, k);
        print_program(&p, &t);
        bind_inputs(&p, c, NULL, &t);
        bool good = means_the_same(&p, c, &t);
        if (!good) printf("\n%s\n", t.text);
        CU_ASSERT(good);
        for (int i = 0; i < p.n; i++) {
            nodes += !rp_source(p.node[i].kind);
            spelled += !rp_source(p.node[i].kind) && !t.variable[i];
        }
        clf_epoch_end(c, mark);
        rp_release(&p);
        free(t.text);
    }
    CU_ASSERT(spelled * 10 > nodes * 7); /* most nodes do have a spelling */
    net_figure("random programs printed in the language and run: programs, nodes spelled", "%lld, %lld of %lld", (long long)want,
               (long long)spelled, (long long)nodes);
    clf_close(c);
}

/* The files of a report: program and inputs, as the command names them. */
static void test_saved_programs(void) {
    static rp_program p;
    static printed t;
    char folder[] = P_tmpdir "/clfuse-net-XXXXXX", path[512], *command;
    size_t bytes;
    int sparse = 0;
    clf_ctx *c = open_host();
    CU_ASSERT_PTR_NOT_NULL_FATAL(mkdtemp(folder));
    for (int64_t k = 0; k < 60; k++) {
        size_t mark = clf_epoch_begin(c);
        random_program(&p, 1000 + k);
        FILE *f = open_memstream(&command, &bytes);
        bool alike = true;
        for (int i = 0; i < p.n; i++) alike = alike && !(rp_sparse_leaf(&p.node[i]) && p.node[i].m.t != CLF_F64);
        CU_ASSERT_EQUAL(rp_save(&p, folder, f), alike); /* coordinate files are read as f64 */
        fclose(f);
        print_program(&p, &t);
        bind_inputs(&p, c, folder, &t);
        snprintf(path, sizeof path, "clfuse run %s/seed%llu.clf", folder, (unsigned long long)p.seed);
        CU_ASSERT(strncmp(command, path, strlen(path)) == 0);
        for (size_t i = 0; i < t.n; i++) CU_ASSERT_PTR_NOT_NULL(strstr(command, t.name[i]));
        CU_ASSERT(!alike || means_the_same(&p, c, &t));
        sparse += alike && rp_sparse(&p);
        CU_ASSERT_EQUAL(remove(path + strlen("clfuse run ")), 0);
        clf_epoch_end(c, mark);
        rp_release(&p);
        free(t.text);
        free(command);
    }
    CU_ASSERT(sparse > 0);
    CU_ASSERT_EQUAL(rmdir(folder), 0); /* nothing else was written */
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"every operator is known", test_operators_known},
        {"every operator has a bound", test_bounds_known},
        {"every structural operator has a kind", test_forms_known},
        {"every fold is known", test_folds_known},
        {"every wired format has a door", test_formats_have_doors},
        {"everything appears in programs", test_all_appear},
        {"loops over rows and entries appear in plans", test_plans_appear},
        {"the prime field's programs", test_prime_domain},
        {"a seed means one program", test_same_seed_same_program},
        {"printed programs mean the same", test_printed_programs},
        {"saved programs mean the same", test_saved_programs},
    };
    return run_suite("tools of the net", tests, sizeof tests / sizeof *tests);
}
