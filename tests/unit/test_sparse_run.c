/* SPDX-License-Identifier: Apache-2.0
 * Plans made by hand whose values are sparse: conversions, a step that writes the entries of another's pattern, and row-form steps, on the
 * host, on the reference executor and in kernels. Other data of the same shape, with another number of entries, runs through the same
 * prepared plan; results outlive what they share; every allocation fails. Small integers: one right answer, to the bit.
 *
 *   X (sparse, slot 0), v (dense, slot 1), u (dense, slot 2)
 *   W = X * X + u v' at the entries of X      values[3]: pattern of X
 *   T = t(W)                                  values[4]: twin
 *   D = T as cells                            values[5]
 *   y = W %*% v                               values[6]
 *   S = D as CSR                              values[7] */
#include "host/graph/sparse_buf.h"
#include "host/run/run.h"
#include "tests/unit/api_testing.h"

enum { ROWS = 37, COLS = 23, CELLS = ROWS * COLS };

static const char pattern_text[] = "(cplan (axis i range free 37) (axis j entry free %lld owner a0 parent i) (in X0 f64 csr 37 23)"
                                   " (in X1 f64 dense 23 1) (in X2 f64 dense 37 1) (out Y0 f64 %lld)"
                                   " (access a0 X0 entries (i 1 0) (j 1 0)) (access a1 X1 stream (j 1 0) (- 0))"
                                   " (access a2 X2 stream (i 1 0) (- 0))"
                                   " (let v0 f64 load a0) (let v1 f64 load a1) (let v2 f64 load a2) (let v3 f64 MUL v0 v0)"
                                   " (let v4 f64 MUL v2 v1) (let v5 f64 ADD v3 v4) (pattern Y0 v5 keep i j))";
static const char spmv_text[] = "(cplan (axis i range free 37) (axis j entry free %lld owner a0 parent i) (in X0 f64 csr 37 23)"
                                " (in X1 f64 dense 23 1) (out Y0 f64 37 1) (access a0 X0 entries (i 1 0) (j 1 0))"
                                " (access a1 X1 stream (j 1 0) (- 0)) (let v0 f64 load a0) (let v1 f64 load a1) (let v2 f64 dot j v0 v1)"
                                " (store Y0 v2 keep i))";

/* ---- the plan ---- */

typedef struct maker {
    clf_plan *p;
    clf_err err;
} maker;

static int32_t *numbers(maker *m, int n, int32_t a, int32_t b, int32_t c) {
    int32_t *v = clf_arena_new(&m->p->arena, 3, sizeof *v);
    CU_ASSERT_PTR_NOT_NULL_FATAL(v);
    v[0] = a, v[1] = b, v[2] = c;
    return n ? v : v;
}

static void add_value(maker *m, int32_t slot, clf_format f, int32_t pattern, int64_t rows, int64_t cols, int64_t nnz) {
    clf_plan_value *v = &m->p->value[m->p->nvalue++];
    size_t bytes = f == CLF_DENSE ? (size_t)(rows * cols) * 8 : pattern >= 0 ? (size_t)nnz * 8 : (size_t)clf_csr_bytes(rows, nnz, CLF_F64);
    *v = (clf_plan_value){.slot = slot,
                          .dtype = CLF_F64,
                          .format = (uint8_t)f,
                          .pattern = pattern,
                          .rows = rows,
                          .cols = cols,
                          .nnz = f == CLF_DENSE ? rows * cols : nnz,
                          .bytes = bytes,
                          .made = -1};
}

static clf_step *add_step(maker *m, clf_step_kind kind, int nin, int32_t *in, int32_t out) {
    int32_t s = m->p->nstep++;
    clf_step *t = &m->p->step[s];
    *t = (clf_step){.kind = (uint8_t)kind,
                    .node = -1,
                    .nin = nin,
                    .nout = 1,
                    .in = in,
                    .out = numbers(m, 1, out, 0, 0),
                    .driver = -1,
                    .sparse = "",
                    .read_bytes = 1000,
                    .write_bytes = 1000};
    m->p->value[out].made = s;
    return t;
}

static void add_fused(maker *m, const char *format, long long nnz, int nin, int32_t *in, int32_t out) {
    char text[1024];
    clf_str key;
    clf_str_init(&key, m->p->arena.mem);
    int n = snprintf(text, sizeof text, format, nnz, nnz);
    clf_step *t = add_step(m, CLF_STEP_FUSED, nin, in, out);
    clf_status st = clf_cplan_parse(&t->c, &m->p->arena, text, (size_t)n, &m->err);
    if (st != CLF_OK) printf("\n    %s\n", m->err.text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    t->key = clf_arena_strn(&m->p->arena, format, strlen(format));
    t->key_len = (uint32_t)strlen(format);
    clf_str_release(&key);
}

static void find_last(clf_plan *p) {
    for (int32_t s = 0; s < p->nstep; s++) {
        for (int i = 0; i < p->step[s].nin; i++) p->value[p->step[s].in[i]].last = s;
        p->value[p->step[s].out[0]].last = s;
    }
    for (int32_t r = 0; r < p->nroot; r++) p->value[p->root[r]].last = p->nstep;
}

static clf_plan *make_plan(clf_ctx *c, int64_t nnz, const int32_t *root, int nroot) {
    maker m = {.p = clf_mem_new(&c->mem, 1, sizeof(clf_plan))};
    CU_ASSERT_PTR_NOT_NULL_FATAL(m.p);
    clf_arena_init(&m.p->arena, &c->mem);
    m.p->value = clf_arena_new(&m.p->arena, 8, sizeof *m.p->value);
    m.p->step = clf_arena_new(&m.p->arena, 8, sizeof *m.p->step);
    m.p->root = clf_arena_new(&m.p->arena, 8, sizeof *m.p->root);
    CU_ASSERT_FATAL(m.p->value && m.p->step && m.p->root);
    add_value(&m, 0, CLF_CSR, -1, ROWS, COLS, nnz);
    add_value(&m, 1, CLF_DENSE, -1, COLS, 1, 0);
    add_value(&m, 2, CLF_DENSE, -1, ROWS, 1, 0);
    add_value(&m, -1, CLF_CSR, 0, ROWS, COLS, nnz);
    add_value(&m, -1, CLF_CSR, -1, COLS, ROWS, nnz);
    add_value(&m, -1, CLF_DENSE, -1, COLS, ROWS, 0);
    add_value(&m, -1, CLF_DENSE, -1, ROWS, 1, 0);
    add_value(&m, -1, CLF_CSR, -1, COLS, ROWS, nnz);
    add_fused(&m, pattern_text, nnz, 3, numbers(&m, 3, 0, 1, 2), 3);
    add_step(&m, CLF_STEP_CONVERT, 1, numbers(&m, 1, 3, 0, 0), 4)->convert = CLF_CONVERT_TWIN;
    add_step(&m, CLF_STEP_CONVERT, 1, numbers(&m, 1, 4, 0, 0), 5)->convert = CLF_CONVERT_DENSE;
    add_fused(&m, spmv_text, nnz, 2, numbers(&m, 2, 3, 1, 0), 6);
    add_step(&m, CLF_STEP_CONVERT, 1, numbers(&m, 1, 5, 0, 0), 7)->convert = CLF_CONVERT_CSR;
    m.p->nroot = nroot;
    for (int r = 0; r < nroot; r++) m.p->root[r] = m.p->value[root[r]].root = root[r];
    find_last(m.p);
    return m.p;
}

/* ---- data and what is right ---- */

typedef struct data {
    double x[CELLS], v[COLS], u[ROWS], w[CELLS], y[ROWS];
    bool stored[CELLS];
    int64_t nnz, ptr[ROWS + 1];
    int32_t idx[CELLS];
    double val[CELLS];
} data;

/* Every `often`-th cell or so is stored; rows at both ends are empty. */
static void fill(data *d, unsigned often) {
    memset(d, 0, sizeof *d);
    for (int j = 0; j < COLS; j++) d->v[j] = j % 5 - 2;
    for (int i = 0; i < ROWS; i++) d->u[i] = i % 7 - 3;
    for (int i = 0; i < ROWS; i++, d->ptr[i] = d->nnz)
        for (int j = 0; j < COLS; j++) {
            int at = i * COLS + j;
            if (i < 2 || i >= ROWS - 3 || (unsigned)(at * 2654435761u >> 7) % often) continue;
            d->stored[at] = true;
            d->idx[d->nnz] = j;
            d->val[d->nnz++] = d->x[at] = at % 9 - 4;
            d->w[at] = d->x[at] * d->x[at] + d->u[i] * d->v[j];
            d->y[i] += d->w[at] * d->v[j];
        }
}

static clf_csr csr_of(const data *d) { return (clf_csr){d->ptr, d->idx, d->val, ROWS, COLS, d->nnz, CLF_F64}; }

static bool right_pattern(const data *d, const clf_csr *m, bool twin) {
    clf_err err = {CLF_OK, ""};
    if (clf_csr_check(m, &err) != CLF_OK || m->nnz != d->nnz || m->rows != (twin ? COLS : ROWS)) return false;
    for (int64_t i = 0; i < m->rows; i++)
        for (int64_t e = m->ptr[i]; e < m->ptr[i + 1]; e++) {
            int64_t at = twin ? m->idx[e] * COLS + i : i * COLS + m->idx[e];
            if (!d->stored[at] || ((const double *)m->val)[e] != d->w[at]) return false;
        }
    return true;
}

static bool right_cells(const data *d, const double *t) {
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++)
            if (t[j * ROWS + i] != d->w[i * COLS + j]) return false;
    return true;
}

static bool right_sparse(const data *d, const clf_csr *m) {
    int64_t n = 0;
    for (int i = 0; i < CELLS; i++) n += d->w[i] != 0;
    if (m->nnz != n) return false;
    for (int64_t j = 0; j < m->rows; j++)
        for (int64_t e = m->ptr[j]; e < m->ptr[j + 1]; e++)
            if (((const double *)m->val)[e] != d->w[m->idx[e] * COLS + j]) return false;
    return true;
}

static const int32_t roots[] = {3, 4, 5, 6, 7};
enum { NROOTS = 5 };

static bool right(const data *d, clf_buf *const *r) {
    return right_pattern(d, clf_buf_csr(r[0]), false) && right_pattern(d, clf_buf_csr(r[1]), true) && right_cells(d, r[2]->host) &&
           !memcmp(d->y, r[3]->host, sizeof d->y) && right_sparse(d, clf_buf_csr(r[4]));
}

/* ---- running ---- */

typedef struct job {
    clf_ctx *c;
    clf_exe *x;
    clf_buf *leaf[3];
    clf_buf *result[NROOTS];
} job;

static void bind(job *j, const data *d, bool borrowed) {
    clf_csr view = csr_of(d);
    clf_sparse s = {.m = view};
    const clf_csr_given given = {.offsets = d->ptr, .offset_bytes = 8};
    for (int i = 0; i < 3; i++) clf_buf_unref(j->leaf[i]);
    j->leaf[0] = borrowed ? clf_csr_buf_borrow(j->c, &s, &given) : clf_csr_buf_copy(j->c, &view);
    j->leaf[1] = clf_buf_new(&j->c->mem, ++j->c->next_buf, sizeof d->v);
    j->leaf[2] = clf_buf_new(&j->c->mem, ++j->c->next_buf, sizeof d->u);
    CU_ASSERT_FATAL(j->leaf[0] && j->leaf[1] && j->leaf[2]);
    memcpy(j->leaf[1]->host, d->v, sizeof d->v);
    memcpy(j->leaf[2]->host, d->u, sizeof d->u);
}

static clf_status run_job(job *j, clf_err *err) {
    clf_slot slot[3];
    memset(slot, 0, sizeof slot);
    for (int i = 0; i < 3; i++) slot[i] = (clf_slot){.ptr = j->leaf[i]->host, .buf = j->leaf[i]};
    clf_status st = clf_exe_run(j->c, j->x, slot, false, j->result, err);
    for (int r = 0; r < NROOTS && st == CLF_OK; r++)
        if (j->result[r]) st = clf_run_fetch(j->c, j->result[r], err);
    return st;
}

static void drop_results(job *j) {
    for (int r = 0; r < NROOTS; r++) {
        clf_buf_unref(j->result[r]);
        j->result[r] = NULL;
    }
}

static void begin(job *j, clf_ctx *c, int64_t nnz, int nroot) {
    clf_err err = {CLF_OK, ""};
    memset(j, 0, sizeof *j);
    j->c = c;
    clf_status st = clf_exe_of_plan(&j->x, c, make_plan(c, nnz, roots, nroot), NULL, &err);
    if (st != CLF_OK) printf("\n    %s\n", err.text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
}

static void end(job *j) {
    for (int i = 0; i < 3; i++) clf_buf_unref(j->leaf[i]);
    drop_results(j);
    clf_exe_free(j->c, j->x);
}

static void must_run(job *j, const data *d) {
    clf_err err = {CLF_OK, ""};
    clf_status st = run_job(j, &err);
    if (st != CLF_OK) printf("\n    %s: %s\n", clf_status_name(st), err.text);
    CU_ASSERT_EQUAL_FATAL(st, CLF_OK);
    CU_ASSERT(right(d, j->result));
}

static void all_densities(clf_ctx *c) {
    static const unsigned often[] = {3, 1, 40, 100000, 3};
    static data d;
    job j;
    fill(&d, 3);
    begin(&j, c, d.nnz, NROOTS);
    for (size_t k = 0; k < sizeof often / sizeof *often; k++) {
        fill(&d, often[k]); /* more and fewer entries than planned; none */
        bind(&j, &d, k % 2);
        must_run(&j, &d);
        drop_results(&j);
        must_run(&j, &d); /* and again, twins being there */
        drop_results(&j);
    }
    end(&j);
}

static void test_host(void) {
    clf_ctx *c = open_host();
    all_densities(c);
    clf_stats s = stats_of(c);
    CU_ASSERT_EQUAL(s.launches_convert, 30);
    CU_ASSERT_EQUAL(s.launches_rows, 20);
    CU_ASSERT_EQUAL(s.launches_tier0, 20);
    clf_close(c);
}

static void test_reference(void) {
    clf_ctx *c = open_host();
    CU_ASSERT_EQUAL(clf_set(c, "tier", "ref"), CLF_OK);
    all_densities(c);
    CU_ASSERT_EQUAL(stats_of(c).launches_ref, 20);
    clf_close(c);
}

static void on_kernels(const char *host_pointers) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "host_pointers", host_pointers), CLF_OK);
        all_densities(c);
        clf_stats s = stats_of(c);
        CU_ASSERT_EQUAL(s.launches_tier2, 20);
        CU_ASSERT_EQUAL(s.launches_tier0 + s.launches_ref, 0);
    }
    clf_close(c);
}

static void test_kernels(void) {
    on_kernels("on");
    on_kernels("off");
}

/* A sparse operand is never cut: too large for the device, it keeps its steps on the host. */
static void test_too_large(void) {
    clf_ctx *c = open_on(NULL);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "host_pointers", "off"), CLF_OK);
        CU_ASSERT_EQUAL(clf_set(c, "max_alloc", "1K"), CLF_OK);
        all_densities(c);
        CU_ASSERT_EQUAL(stats_of(c).launches_tier2, 0);
    }
    clf_close(c);
}

/* ---- what results share ---- */

/* Results stay what they are when the leaf changes or goes: a pattern in memory of the caller's is copied, one of ours kept alive. */
static void test_results_stay(void) {
    static data d, other;
    clf_ctx *c = open_host();
    for (int borrowed = 0; borrowed < 2; borrowed++) {
        job j;
        fill(&d, 3);
        fill(&other, 3);
        begin(&j, c, d.nnz, NROOTS);
        bind(&j, &other, borrowed);
        must_run(&j, &d);
        const clf_csr *x = clf_buf_csr(j.leaf[0]), *w = clf_buf_csr(j.result[0]);
        CU_ASSERT_EQUAL(w->ptr == x->ptr && w->idx == x->idx, !borrowed);
        memset(other.ptr, 0x5a, sizeof other.ptr);
        memset(other.idx, 0x5a, sizeof other.idx);
        clf_buf_unref(j.leaf[0]);
        j.leaf[0] = NULL;
        CU_ASSERT(right(&d, j.result));
        end(&j);
    }
    clf_close(c);
}

/* A leaf's twin is made once; a changed leaf's anew. A chain of values, each of the pattern of the one before, keeps one of them alive. */
static void test_chain(void) {
    static data d;
    clf_ctx *c = open_host();
    fill(&d, 3);
    clf_csr view = csr_of(&d);
    clf_buf *b = clf_csr_buf_copy(c, &view);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    size_t now = 0;
    for (int i = 0; i < 1000; i++) {
        clf_buf *next = clf_csr_buf_like(c, b, CLF_F64);
        CU_ASSERT_PTR_NOT_NULL_FATAL(next);
        clf_buf_unref(b);
        b = next;
        if (i == 4) now = atomic_load(&c->mem.now_bytes);
    }
    CU_ASSERT_EQUAL(atomic_load(&c->mem.now_bytes), now);
    clf_buf_unref(b);
    clf_close(c);
}

/* ---- memory ---- */

/* Every allocation of a run fails once, and all after it: a status, nothing left behind, and a good run afterwards. */
static void test_failures(void) {
    static data d;
    counting_heap heap = {.fail_at = 0};
    clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = &heap};
    clf_ctx *c = NULL;
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    job j;
    fill(&d, 3);
    begin(&j, c, d.nnz, NROOTS);
    bind(&j, &d, true);
    long failed = 0, survived = 0;
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (long n = 1, injected = 1; injected; n++) {
            clf_err err = {CLF_OK, ""};
            clf_buf_change(j.leaf[0]);
            clf_trim(c);
            long long before = atomic_load(&heap.count);
            heap.for_ever = for_ever;
            heap.fail_at = before + n;
            clf_status st = run_job(&j, &err);
            heap.fail_at = 0;
            injected = atomic_load(&heap.count) - before >= n;
            failed += st != CLF_OK;
            survived += st == CLF_OK;
            CU_ASSERT(st == CLF_OK ? right(&d, j.result) : st == CLF_E_NOMEM && err.text[0] && !j.result[0]);
            drop_results(&j);
            CU_ASSERT_FATAL(n < 1000);
        }
    CU_ASSERT(failed > 10 && survived > 0);
    must_run(&j, &d);
    end(&j);
    clf_close(c);
    CU_ASSERT_EQUAL(atomic_load(&heap.live), 0);
}

/* The budget holds; what the pool has is given back before a step fails for memory. */
static void test_budget(void) {
    static data d;
    clf_ctx *c = open_host();
    job j;
    fill(&d, 1);
    begin(&j, c, d.nnz, NROOTS);
    bind(&j, &d, false);
    must_run(&j, &d);
    drop_results(&j);
    clf_buf *all[3] = {j.leaf[0], NULL, NULL};
    clf_buf_change(all[0]);
    clf_trim(c);
    clf_mem_stats m = {.struct_size = sizeof m};
    CU_ASSERT_EQUAL(clf_get_mem_stats(c, &m), CLF_OK);
    clf_err err = {CLF_OK, ""};
    clf_status st = CLF_OK;
    size_t need = (size_t)(3 * 12 + 8) * CELLS; /* three sets of entries, cells */
    for (size_t room = 1024; room < 2 * need; room += 1024) {
        atomic_store(&c->mem.limit_bytes, m.data + room);
        clf_err_clear(&err);
        st = run_job(&j, &err);
        CU_ASSERT(st == CLF_OK || (st == CLF_E_NOMEM && room < 2 * need));
        CU_ASSERT(st != CLF_OK || right(&d, j.result));
        drop_results(&j);
        clf_buf_change(all[0]);
    }
    CU_ASSERT_EQUAL(st, CLF_OK);
    atomic_store(&c->mem.limit_bytes, 0);
    end(&j);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {{"host", test_host},
                                      {"reference", test_reference},
                                      {"kernels", test_kernels},
                                      {"too large", test_too_large},
                                      {"results stay", test_results_stay},
                                      {"chains", test_chain},
                                      {"failures", test_failures},
                                      {"budget", test_budget}};
    return run_suite("sparse plans", tests, sizeof tests / sizeof *tests);
}
