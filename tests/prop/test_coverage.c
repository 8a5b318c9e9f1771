/* SPDX-License-Identifier: Apache-2.0
 * The coverage set: expressions that every plan, device and format must get right (after the published system's tests), at their own
 * shapes and at edge shapes, in f64 and f32, with X dense and sparse. Three ways must agree: unfused by the reference executor on dense
 * leaves (which knows nothing of drivers), fused on the host, fused on an OpenCL device. Data are small integers, so expressions of
 * exact operators agree in every bit; others lie, each way of running, within the bounds of tests/support/coverage_bounds.h. Where an
 * expression has a sparse driver or a number of steps of its own, the plan is asserted too. */
#include <math.h>

#include "tests/support/coverage_bounds.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"

const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; } /* PoCL and LLVM keep memory until the process ends */

/* Extents by letter; upper-case names are matrices. 's' in front of a shape: sparse in the sparse runs. */
typedef struct expression {
    const char *id, *inputs, *text;
    int steps;          /* at most, when fused; 0: not asserted */
    const char *driver; /* of some step in the sparse runs */
    bool rounds;        /* not exact: has a meaning in tests/support/coverage_bounds.c */
} expression;

static const expression set[] = {
    {"C1", "sX:nm y:m1", "round(abs(X + sum(y))) + 5", 2, NULL, false},
    {"C2", "sX:nm", "1/(1+exp(-X))", 1, NULL, true},
    {"C3", "sX:nm W:nm Z:nm", "10+floor(round(abs((X+W)*Z)))", 1, NULL, false},
    {"C4", "sX:nm w:n1 z:n1", "abs(exp(X)) + 10+floor(round(abs(X/(abs(w)+1) + z)))", 1, NULL, true},
    {"C5", "x:n1 y:n1 z:n1", "sum(x*y*z)", 1, NULL, false},
    {"C8", "sX:nm Y:nm", "sum((X+7*Y)^2)", 1, NULL, false},
    {"C9", "sX:nm Y:nm", "Z=X-7*Y; min(Z)+max(Z)", 2, NULL, false},
    {"C13", "sX:nm y:1m", "-2*X + y", 1, NULL, false},
    {"C15", "sX:nm", "colSums(2*log(abs(X)+1))", 0, NULL, true},
    {"C16", "sX:nm", "xor((X/3) %% 0.6, (X/3) %/% 0.6)", 1, NULL, false},
    {"C17", "sX:nm Y:nm Z:nm", "sum(ifelse(X,Y,Z))", 1, NULL, false},
    {"C18", "A:nm B:nm", "bitwAnd(abs(A),abs(B))", 1, NULL, false},
    {"C19", "sX:nm B:nm", "(X>0)*B", 1, "X", false},
    {"C21", "sX:nm Y:nm Z:nm", "sum(min(X,min(Y,Z))); min(min(min(X,Y),Z),min(3,7))", 2, NULL, false},
    {"C25", "sX:nm", "sum(X*(X+2)*(X+3))", 1, "X", false},
    {"C26", "sX:nm", "sum(X+(X+2)+(X+3))", 1, NULL, false},
    {"C27", "sX:nm", "A=(7*X+6)*5+4; (A+1)+(A+2); sum((A+1)*(A+2)); rowSums((A+1)*(A+2))", 2, NULL, false},
    {"M1", "sX:nm Y:nm", "sum(X*Y); sum(X^2); sum(Y^2)", 2, NULL, false},
    {"M4", "x:n1 y:n1", "t(x)%*%x; t(x)%*%y; t(y)%*%y", 1, NULL, false},
    {"M5", "sX:nm", "min(X>1)+max(X>1); sum(X==2); sum(X==3)", 0, NULL, false},
    {"R1", "sX:nm v:m1", "t(X)%*%(X%*%v)", 1, "X", false},
    {"R2", "sX:nm v:m1 w:n1 z:n1", "t(X)%*%(w*(X%*%v)); t(X)%*%(z+2-w*(X%*%v))", 1, "X", false},
    {"R3", "sX:nm P:nk v:m1", "p=P[,1]; t(X)%*%((p*(1-p))*(X%*%v))", 1, "X", false},
    {"R5", "sX:nm", "colSums((X/(rowSums(abs(X))+1)) > 0.5); X<=rowMins(X)", 0, NULL, false},
    {"R6", "sX:nm v:m1 y:n1", "y - X%*%v", 1, "X", false},
    {"R8", "sX:nm", "(X - rowIndexMax(X)) * rowSums(X)", 0, NULL, false},
    {"R10", "sX:nm v:m1 w:n1 V:mk", "t(X)%*%(w*(X%*%V))", 1, "X", false},
    {"R11", "sX:nm C:km", "-2*(X%*%t(C)) + t(rowSums(C^2))", 0, "X", false},
    {"R12", "P:nk sX:nm", "t(P)%*%X", 1, "X", false},
    {"R13", "sX:nm V:mk", "t(X)%*%(X%*%V)", 1, "X", false},
    {"R17", "sX:nm", "X[,1] - rowSums(X)", 0, NULL, false},
    {"R19", "sX:nm", "X/(rowSums(X!=0)+1)", 1, "X", false},
    {"R21", "sX:nm", "X*rowSums(X*seq(1,nrow(X))+seq(nrow(X),1))", 0, NULL, false},
    {"R23", "sX:nm K:nm v:1m", "X*rowSums(K*v)*X; abs(X)*K+rowSums(X*v)", 0, NULL, false},
    {"softmax", "sX:nm", "e=exp(X-rowMaxs(X)); e/rowSums(e)", 0, NULL, true},
    {"softmax2", "sX:nm P:nk", "C=cbind(X,P); e=exp(C-rowMaxs(C)); e/rowSums(e)", 1, NULL, true},
    {"B1", "sX:nm w:n1 v:o1", "C=cbind(X,w+1); t(C)%*%(w*(C%*%v))", 1, NULL, false},
    {"B6", "sX:nm w:n1 v:o1", "C=cbind(matrix(1,rows=nrow(X),cols=1),X); t(C)%*%(w*(C%*%v)); rowSums(C)", 3, NULL, false},
    {"B2", "X:nm P:nk V:pk", "C=cbind(P,X*2); C%*%V; colSums(C); C", 1, NULL, false},
    {"B3", "sX:nm Y:nm", "rowSums(t(cumsum(t(X)))*Y)", 1, NULL, false},
    {"B4", "sX:nm w:n1", "C=t(cummax(t(X+w))); C-t(cummin(t(X*w))); t(cumprod(t(sign(X))))", 1, NULL, false},
    {"B5", "sX:nm w:n1", "C=t(cumsum(t(cbind(X,w)))); rowMaxs(C); colSums(abs(C))", 1, NULL, false},
    {"R4", "X:no w:n1", "R=X[,2:ncol(X)]; R/(rowSums(R!=0)+1); t(R)%*%(w*X[,1])", 1, NULL, false},
    {"R22", "X:nm v:m1", "t(X)%*%(seq(1,nrow(X))*(X%*%v))", 3, NULL, false},
    {"mlogreg", "sX:nm V:mk P:nk", "T=P*(X%*%V); t(X)%*%(T-P*rowSums(T))", 1, "X", false},
    {"O1", "sX:nm U:nr V:mr", "X*(1/(1+exp(-(U%*%t(V)))))", 0, "X", true},
    {"O2", "sX:nm U:nr V:mr", "X/(abs(U%*%t(V))+1)", 0, "X", true},
    {"O3", "sX:nm U:nr V:mr", "sum(X*log(abs(U%*%t(V))+1))", 0, "X", true},
    {"O4", "sX:nm U:nr V:mr", "((X!=0)*(U%*%t(V)+1))%*%V", 0, "X", false},
    {"O6", "sX:nm U:nr W:rm", "(X*((U%*%W)+1))%*%t(W)", 0, "X", false},
    {"O7", "sX:nm U:nr V:mr", "t(X*(U%*%t(V)))%*%U", 0, "X", false},
    {"O8", "sX:nm U:nr V:mr a:n1 b:1m Y:nk", "t(X*(U%*%t(V)+1)*a*b)%*%Y; t(U)%*%(abs(X)*(U%*%t(V)))", 0, "X", false},
    {"O9", "sX:nm U:nr V:mr Y:nr", "((X!=0)*(U%*%t(V)-X))%*%V + Y", 0, "X", false},
    {"O10", "sX:nn U:nr", "sum(X*(U%*%t(U)))", 0, "X", false},
    {"Z1", "sX:nm Y:nm U:nr V:mr", "sum(X/(abs(rowSums(X))+1)+Y); sum(abs(X^2)+Y); sum((X!=0)*((U%*%t(V))+Y))", 0, NULL, true},
    {"T1", "sX:nm y:n1", "t(X)%*%y; X*2; colSums(X); rowSums(X); sum(X)", 1, "X", false},
    {"S1", "sX:nm sY:nm", "sum(X+Y); X+Y; rowSums(X-Y); max(X,Y)", 0, NULL, false},
    {"S2", "sX:nm sY:nm sZ:nm", "sum(X*Y*Z); X*Y; sum(X*(Y+1)); X*Y+X*Z", 0, NULL, false},
    {"S3", "sX:nm w:n1", "min(X); max(X); rowMaxs(X); rowMins(X+w); sum(X+1); sum((X+7)^2)", 0, "X", false},
    {"S5", "sX:nm u:1m w:n1",
     "colMaxs(X); colMins(X-3); sum((X+u)^2); max(X*2-w); colSums(X<=u); colSums((X+u*2)^2); colSums(X+1); colSums(X+u)", 0, "X", false},
    {"S6", "sX:nm u:1m", "colMins(X+u)", 1, "X", false},
    {"S7", "sX:nm u:1m w:n1",
     "rowSums(X+u); rowMaxs(X*2-u); rowIndexMin(X+u); sum(rowMins(X-u)); colSums(X+w); colMaxs((X-w)^2); rowSums(X<=u)", 0, "X", false},
    {"S8", "sX:nm u:1m w:n1", "rowMaxs(exp(X-u)); rowSums(exp(X-u)); colSums(exp(X*u-w)); colVars(log(abs(X+w)+1))", 0, "X", true},
    {"S4", "sX:nm sY:nm V:mk", "(X*Y)%*%V; t(X*Y)%*%(X%*%V); (X+Y)%*%V", 0, NULL, false},
    {"T2", "sX:nm", "t(X); t(X)*2", 0, NULL, false},
};
enum { NSET = sizeof set / sizeof *set, MOST_INPUTS = 6 };

typedef struct shape {
    int64_t n, m, k, r;
} shape;
static const shape shapes[] = {{37, 11, 3, 2},  {0, 4, 2, 1},  {1, 9, 2, 2},     {13, 1, 2, 1},    {1, 1, 1, 1},
                               {65, 12, 4, 10}, {64, 9, 8, 3}, {130, 70, 9, 17}, {300, 129, 3, 10}};
enum { NSHAPE = sizeof shapes / sizeof *shapes };

/* ---- inputs ---- */

typedef struct input {
    char name[4];
    bool sparse;
    int64_t rows, cols;
    double *cells;
} input;

static int64_t extent(const shape *s, char c) {
    switch (c) {
    case 'n': return s->n;
    case 'm': return s->m;
    case 'k': return s->k;
    case 'r': return s->r;
    case 'o': return s->m + 1;
    case 'p': return s->m + s->k;
    default: return 1;
    }
}

static uint32_t next(uint32_t *x) { return *x = *x * 1664525u + 1013904223u; }

/* Integers from -2 to 3; a sparse one keeps a share of them. Empty first and last rows where there are several. */
static void fill(input *in, double density, uint32_t seed) {
    for (int64_t i = 0; i < in->rows; i++)
        for (int64_t j = 0; j < in->cols; j++) {
            double v = (double)(next(&seed) >> 16) / 65536, keep = (double)(next(&seed) >> 8) / (1 << 24);
            bool edge = in->sparse && density < 1 && in->rows > 4 && (i == 0 || i == in->rows - 1);
            in->cells[i * in->cols + j] = in->sparse && (edge || keep >= density) ? 0 : floor(v * 6) - 2;
        }
}

static int make_inputs(const expression *e, const shape *s, double density, input *in) {
    int n = 0;
    for (const char *p = e->inputs; *p && n < MOST_INPUTS; n++) {
        in[n] = (input){.sparse = *p == 's' && p[1] != ':'};
        p += in[n].sparse;
        in[n].name[0] = *p;
        in[n].rows = extent(s, p[2]);
        in[n].cols = extent(s, p[3]);
        in[n].cells = calloc((size_t)(in[n].rows * in[n].cols) + 1, sizeof(double));
        CU_ASSERT_PTR_NOT_NULL_FATAL(in[n].cells);
        fill(&in[n], density, 77u + (uint32_t)n * 1009u + (uint32_t)s->n);
        p += 4;
        while (*p == ' ') p++;
    }
    return n;
}

/* The cells that are not zero as triples, last row first. */
static clf_mat *sparse_leaf(clf_ctx *c, const input *in, clf_dtype t, const float *f) {
    size_t cells = (size_t)(in->rows * in->cols), each = t == CLF_F32 ? sizeof(float) : sizeof(double), n = 0;
    int32_t *row = malloc((cells + 1) * sizeof *row), *col = malloc((cells + 1) * sizeof *col);
    char *val = malloc((cells + 1) * each);
    CU_ASSERT_FATAL(row && col && val);
    for (size_t i = cells; i-- > 0;) {
        if (in->cells[i] == 0) continue;
        row[n] = (int32_t)(i / (size_t)in->cols);
        col[n] = (int32_t)(i % (size_t)in->cols);
        memcpy(val + n++ * each, t == CLF_F32 ? (const void *)&f[i] : &in->cells[i], each);
    }
    clf_mat *x = clf_sparse_coo(c, t, in->rows, in->cols, (int64_t)n, row, col, val, NULL);
    free(row);
    free(col);
    free(val);
    return x;
}

static clf_mat *leaf(clf_ctx *c, const input *in, clf_dtype t, bool sparse) {
    size_t cells = (size_t)(in->rows * in->cols);
    float *f = malloc((cells + 1) * sizeof *f);
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    for (size_t i = 0; i < cells; i++) f[i] = (float)in->cells[i];
    const void *data = t == CLF_F32 ? (const void *)f : in->cells;
    clf_mat *x = sparse && in->sparse ? sparse_leaf(c, in, t, f) : clf_matrix(c, t, in->rows, in->cols, data);
    free(f);
    CU_ASSERT_EQUAL(clf_label(x, in->name), CLF_OK);
    return x;
}

/* ---- running ---- */

enum { MOST = 8 };
typedef struct results {
    size_t n;
    clf_mat *m[MOST];
} results;

static results record(clf_ctx *c, const expression *e, const input *in, int n, clf_dtype t, bool sparse) {
    clf_binding b[MOST_INPUTS];
    clf_result r[2 * MOST];
    results out = {0, {NULL}};
    size_t found = 2 * MOST;
    for (int i = 0; i < n; i++) b[i] = (clf_binding){in[i].name, leaf(c, &in[i], t, sparse)};
    clf_status st = clf_parse(c, e->text, b, (size_t)n, r, &found);
    if (st != CLF_OK) printf("\n    %s: %s\n", e->id, clf_last_error(c));
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    for (size_t i = 0; i < found; i++)
        if (r[i].bare && out.n < MOST) out.m[out.n++] = r[i].value;
    return out;
}

static bool good(clf_ctx *c, const results *r, const char *id, const char *way) {
    clf_status st = clf_eval(r->n, r->m);
    if (st != CLF_OK) printf("\n    %s %s: %s\n", id, way, clf_last_error(c));
    CU_ASSERT_EQUAL(st, CLF_OK);
    return st == CLF_OK;
}

static double cell(const void *p, clf_dtype t, size_t i) {
    switch (t) {
    case CLF_F64: return ((const double *)p)[i];
    case CLF_F32: return (double)((const float *)p)[i];
    case CLF_I64: return (double)((const int64_t *)p)[i];
    case CLF_I32: return ((const int32_t *)p)[i];
    default: return ((const uint8_t *)p)[i];
    }
}

/* ---- comparing ---- */

static bool complain(const expression *e, const char *way, size_t r, int64_t i) {
    printf("\n    %s %s: result %zu, cell %lld\n", e->id, way, r, (long long)i);
    return false;
}

/* Every bit, but for NaNs and the sign of zeros. */
static bool same(const results *a, const results *b, const expression *e, const char *way) {
    for (size_t r = 0; r < a->n; r++) {
        int64_t rows, cols;
        clf_dtype t;
        const void *x, *y;
        CU_ASSERT_EQUAL_FATAL(clf_info(a->m[r], &rows, &cols, &t, NULL), CLF_OK);
        CU_ASSERT_EQUAL_FATAL(clf_data(a->m[r], &x), CLF_OK);
        CU_ASSERT_EQUAL_FATAL(clf_data(b->m[r], &y), CLF_OK);
        for (int64_t i = 0; i < rows * cols; i++) {
            double u = cell(x, t, (size_t)i), v = cell(y, t, (size_t)i);
            if (u == v || (isnan(u) && isnan(v))) continue;
            printf("\n    is %.17g, unfused %.17g", v, u);
            return complain(e, way, r, i);
        }
    }
    return true;
}

static dd_tally bounded;
static double widest;

static bool within(const coverage_bounds *b, const results *got, const expression *e, const char *way) {
    CU_ASSERT_EQUAL_FATAL((size_t)b->p.nroot, got->n);
    for (size_t r = 0; r < got->n; r++) {
        int64_t outside = coverage_outside(b, (int)r, got->m[r], &bounded);
        if (outside != -1) return complain(e, way, r, outside);
    }
    return true;
}

static void make_bounds(coverage_bounds *b, const expression *e, const input *in, int n, clf_dtype t, bool sparse) {
    coverage_leaf leaf[MOST_INPUTS];
    for (int i = 0; i < n; i++) leaf[i] = (coverage_leaf){in[i].name[0], sparse && in[i].sparse, in[i].rows, in[i].cols, in[i].cells};
    bool good = coverage_bounds_make(b, e->id, leaf, n, t);
    if (!good) printf("\n    %s rounds, and has no meaning in coverage_bounds.c\n", e->id);
    CU_ASSERT_FATAL(good);
    widest = fmax(widest, coverage_widest(b, t));
}

/* ---- plans ---- */

static int times(const char *in, const char *word) {
    int n = 0;
    for (const char *p = in; (p = strstr(p, word)); p += strlen(word)) n++;
    return n;
}

static void check_plan(const expression *e, const results *r, bool sparse) {
    static text_sink t;
    char want[32];
    t.n = 0;
    CU_ASSERT_EQUAL(clf_explain(r->n, r->m, CLF_JSON, 0, collect, &t), CLF_OK);
    t.at[t.n] = 0;
    const char *from = strstr(t.at, "\"steps\": [");
    int steps = from ? times(from, "\"kind\": ") : 0;
    if (strstr(t.at, "\"id\": \"empty-") || strstr(t.at, "\"id\": \"chain")) return; /* rules put another expression in its place */
    bool few = sparse || !e->steps || steps <= e->steps;
    bool driven = !sparse || !e->driver;
    for (int twin = 0; twin < 2 && !driven; twin++) { /* the matrix, or its twin */
        snprintf(want, sizeof want, twin ? "\"driver\": \"t(%s)\"" : "\"driver\": \"%s\"", e->driver);
        driven = strstr(t.at, want);
    }
    if (!few || !driven) printf("\n    %s: %d steps\n%s\n", e->id, steps, t.at);
    CU_ASSERT(few);
    CU_ASSERT(driven);
}

/* ---- the suites ---- */

typedef struct ways {
    clf_ctx *plain, *host, *device;
} ways;

static clf_ctx *open_as(const char *device, const char *fuse, const char *tier) {
    clf_ctx *c = open_on(device);
    CU_ASSERT_EQUAL_FATAL(clf_set(c, "fuse", fuse), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_set(c, "tier", tier), CLF_OK);
    return c;
}

static int compared, differ;

static void one(const ways *w, const expression *e, const shape *s, double density, clf_dtype t, bool sparse, bool kernels) {
    if (!s->n && strstr(e->text, "seq(")) return; /* seq(0, 1) has two rows */
    input in[MOST_INPUTS];
    int n = make_inputs(e, s, density, in);
    clf_ctx *way[3] = {w->plain, w->host, kernels ? w->device : NULL};
    static const char *const name[] = {"unfused", "host", "device"};
    results r[3];
    size_t mark[3] = {0, 0, 0};
    static coverage_bounds bounds;
    char what[64];
    snprintf(what, sizeof what, "%lldx%lld k %lld r %lld %s %s %g", (long long)s->n, (long long)s->m, (long long)s->k, (long long)s->r,
             t == CLF_F32 ? "f32" : "f64", sparse ? "sparse" : "dense", density);
    if (e->rounds) make_bounds(&bounds, e, in, n, t, sparse);
    for (int i = 0; i < 3; i++) {
        if (!way[i]) continue;
        mark[i] = clf_epoch_begin(way[i]);
        r[i] = record(way[i], e, in, n, t, sparse && i > 0);
        if (i == 1 && s->n > 20 && s->m > 8) check_plan(e, &r[i], sparse);
        if (!good(way[i], &r[i], e->id, what)) continue;
        compared += i > 0;
        if (e->rounds ? !within(&bounds, &r[i], e, name[i]) : i && !same(&r[0], &r[i], e, name[i])) {
            printf("      (%s)\n", what);
            differ++;
        }
    }
    for (int i = 0; i < 3; i++)
        if (way[i]) clf_epoch_end(way[i], mark[i]);
    if (e->rounds) coverage_bounds_release(&bounds);
    for (int i = 0; i < n; i++) free(in[i].cells);
}

static ways w;

/* What the comparison of rounding expressions is worth. */
static void check_bounds(void) {
    double known = (double)bounded.known / (double)(bounded.cells + !bounded.cells);
    CU_ASSERT(bounded.cells > 1000);
    CU_ASSERT(known > 0.99);
    CU_ASSERT(widest > 0 && widest < 100);
    CU_ASSERT(bounded.worst > 0.01 && bounded.worst <= 1);
    net_figure("coverage set, rounding cells within bounds",
               "%lld, %.2f %% known, largest bound of a cell %.3g eps, largest error over bound %.3f", (long long)bounded.cells,
               100 * known, widest, bounded.worst);
}

static void test_host(void) {
    static const double density[] = {0.5, 0.1, 0.01, 0.0001};
    const int all = (int)net_count(10 * NSHAPE, 10 * NSHAPE) / 10, nshape = all > 2 ? all : 2;
    compared = differ = 0;
    for (int e = 0; e < NSET; e++)
        for (int s = 0; s < nshape; s++)
            for (int t = 0; t < 2; t++) {
                clf_dtype type = t ? CLF_F32 : CLF_F64;
                one(&w, &set[e], &shapes[s], 1, type, false, false);
                for (int d = 0; d < 4; d++)
                    if (type == CLF_F64 || d == 1) one(&w, &set[e], &shapes[s], density[d], type, true, false);
            }
    CU_ASSERT_EQUAL(differ, 0);
    net_figure("coverage set on the host", "%d expressions, %d comparisons, %d differ", (int)NSET, compared, differ);
    check_bounds();
}

/* Sizes are arguments of kernels, but not those of narrow sides: each shape has kernels of its own. */
static void test_device(void) {
    if (!w.device) {
        printf("\n    no OpenCL device: nothing to run\n");
        return;
    }
    static const int some[] = {0, 7, 6};
    const bool whole = net_count(0, 1);
    const int nsome = whole ? 3 : 2;
    compared = differ = 0;
    for (int e = 0; e < NSET; e++)
        for (int s = 0; s < nsome; s++)
            for (int d = 0; d < 2; d++)
                if (whole || (e + s + d) % 2 == 0) /* one shape dense and the other sparse, by turns */
                    one(&w, &set[e], &shapes[some[s]], d ? 0.1 : 1, CLF_F64, d == 1, true);
    CU_ASSERT_EQUAL(differ, 0);
    net_figure("coverage set on a device", "%d expressions, %d comparisons, %d differ", (int)NSET, compared, differ);
}

/* A driver's work and memory: nothing of the size of the matrix is made. */
static void test_memory(void) {
    static const char *const driven[] = {"O1",  "O2",  "O3",      "O4",  "O6",  "O7", "O9", "R1", "R2", "R6", "R10",
                                         "R12", "R13", "mlogreg", "C19", "C25", "S3", "S5", "S6", "S7", "S8"};
    const shape s = {3000, 2000, 3, 10};
    for (size_t i = 0; i < sizeof driven / sizeof *driven; i++)
        for (int e = 0; e < NSET; e++) {
            if (strcmp(set[e].id, driven[i])) continue;
            input in[MOST_INPUTS];
            int n = make_inputs(&set[e], &s, 0.001, in);
            clf_ctx *c = open_as("host", "all", "auto");
            clf_mat *x[MOST_INPUTS];
            bool big = false; /* a dense matrix of the whole size among the inputs */
            for (int k = 0; k < n; k++) {
                x[k] = clf_keep(leaf(c, &in[k], CLF_F64, true));
                CU_ASSERT_EQUAL(clf_status_of(x[k], NULL), CLF_OK);
                big = big || (!in[k].sparse && in[k].rows * in[k].cols > s.n * 100);
            }
            clf_mem_stats before = {.struct_size = sizeof before}, after = before;
            clf_binding b[MOST_INPUTS];
            for (int k = 0; k < n; k++) b[k] = (clf_binding){in[k].name, x[k]};
            clf_result r[2 * MOST];
            size_t found = 2 * MOST;
            CU_ASSERT_EQUAL_FATAL(clf_parse(c, set[e].text, b, (size_t)n, r, &found), CLF_OK);
            clf_trim(c);
            CU_ASSERT_EQUAL(clf_get_mem_stats(c, &before), CLF_OK);
            CU_ASSERT_EQUAL(clf_eval(1, &r[found - 1].value), CLF_OK);
            CU_ASSERT_EQUAL(clf_get_mem_stats(c, &after), CLF_OK);
            uint64_t grown = after.peak > before.peak ? after.peak - before.peak : 0; /* the dense leaf before it was made sparse counts */
            bool small = big || grown < (uint64_t)(s.n * s.m) * 8 / 10;
            if (!small) printf("\n    %s: %llu bytes\n", set[e].id, (unsigned long long)grown);
            CU_ASSERT(small);
            clf_close(c);
            for (int k = 0; k < n; k++) free(in[k].cells);
        }
}

static void test_open(void) {
    clf_options o = {.struct_size = sizeof o, .device = "cpu"};
    clf_device d = {.struct_size = sizeof d};
    w.plain = open_as("host", "none", "ref");
    w.host = open_as("host", "all", "auto");
    bool there = clf_open(&w.device, &o) == CLF_OK && clf_device_at(w.device, 1, &d) && clf_set(w.device, "tier", "2") == CLF_OK;
    if (there) return;
    clf_close(w.device);
    w.device = NULL;
}

static void test_close(void) {
    clf_mem_stats m = {.struct_size = sizeof m};
    CU_ASSERT_EQUAL(clf_get_mem_stats(w.host, &m), CLF_OK);
    clf_close(w.plain);
    clf_close(w.host);
    clf_close(w.device);
}

int main(void) {
    static const test_case tests[] = {
        {"open", test_open}, {"host", test_host}, {"device", test_device}, {"memory", test_memory}, {"close", test_close}};
    return run_suite("coverage set", tests, sizeof tests / sizeof *tests);
}
