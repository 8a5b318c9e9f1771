/* SPDX-License-Identifier: Apache-2.0
 * Sparse matrices in files: what is written comes back, bit by bit and as it was stored; what a reader takes goes with its file. */
#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/folder_testing.h"
#include "tests/unit/sparse_testing.h"

#define BANNER "%%MatrixMarket matrix "
static uint64_t seed = 4;

/* Text knows two types; whole numbers beyond 2^53 are rounded as they are read. */
static naive as_text_reads(const naive *m, clf_dtype t) {
    naive to = naive_new(m->rows, m->cols, t);
    for (size_t i = 0; i < cells_of(m); i++) {
        to.stored[i] = m->stored[i];
        to.v[i] = clf_scalar_to(m->v[i], t);
    }
    return to;
}

static void test_mtx(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    EVERY_NAIVE(m, &seed) {
        arrays a = arrays_new(&m);
        clf_csr c = arrays_csr(&a, &m);
        clf_read_opts o = {.dtype = m.t == CLF_F32 ? CLF_F32 : CLF_F64};
        naive want = as_text_reads(&m, o.dtype);
        clf_loaded l = {.sparse = false};
        clf_dense labels = {.data = NULL};
        char note[50] = "old";
        clf_err err = {.code = CLF_OK};
        ASSERT_NAIVE(clf_write_csr(in_folder("m.mtx"), NULL, &c, NULL, &err) == CLF_OK);
        ASSERT_NAIVE(clf_load_file(in_folder("m.mtx"), NULL, &o, &mem, &l, &labels, note, sizeof note, &err) == CLF_OK);
        if (err.code) fprintf(stderr, "\n    %s\n", err.text);
        ASSERT_NAIVE(l.sparse && !l.dense.data && !labels.data && !note[0] && naive_is(&want, &l.csr.m));
        clf_loaded_release(&l, &mem);
        ASSERT_NAIVE(mem.now_bytes == 0);
        naive_free(&want);
        arrays_free(&a);
    }
    unlink(in_folder("m.mtx"));
}

/* An svm file ends with its last stored column. */
static naive as_svm_reads(const naive *m, clf_dtype t) {
    int64_t cols = 0;
    for (size_t i = 0; i < cells_of(m); i++)
        if (m->stored[i] && (int64_t)i % m->cols >= cols) cols = (int64_t)i % m->cols + 1;
    naive to = naive_new(m->rows, cols, t);
    for (size_t i = 0; i < cells_of(&to); i++) {
        size_t from = i / (size_t)cols * (size_t)m->cols + i % (size_t)cols;
        to.stored[i] = m->stored[from];
        to.v[i] = clf_scalar_to(m->v[from], t);
    }
    return to;
}

static void test_svm(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    EVERY_NAIVE(m, &seed) {
        if (m.rows == 0) continue; /* such a file is empty, and refused */
        arrays a = arrays_new(&m);
        clf_csr c = arrays_csr(&a, &m);
        clf_read_opts o = {.dtype = m.t == CLF_F32 ? CLF_F32 : CLF_F64};
        naive want = as_svm_reads(&m, o.dtype);
        float *y = malloc((size_t)m.rows * sizeof *y);
        CU_ASSERT_FATAL(y != NULL);
        for (int64_t r = 0; r < m.rows; r++) y[r] = (float)(r % 5) - 1.5f;
        bool with = random_below(&seed, 2), lying = random_below(&seed, 2);
        clf_dense labels = {.dtype = CLF_F32, .rows = lying ? 1 : m.rows, .cols = lying ? m.rows : 1, .data = y}, read = {.data = NULL};
        clf_loaded l = {.sparse = false};
        clf_err err = {.code = CLF_OK};
        ASSERT_NAIVE(clf_write_csr(in_folder("m"), "svm", &c, with ? &labels : NULL, &err) == CLF_OK);
        ASSERT_NAIVE(clf_load_file(in_folder("m"), "svm", &o, &mem, &l, &read, NULL, 0, &err) == CLF_OK);
        if (err.code) fprintf(stderr, "\n    %s\n", err.text);
        ASSERT_NAIVE(l.sparse && !l.dense.data && naive_is(&want, &l.csr.m));
        ASSERT_NAIVE(read.rows == m.rows && read.cols == 1 && read.dtype == o.dtype);
        for (int64_t r = 0; r < m.rows && r < read.rows; r++) ASSERT_NAIVE(cell(&read, r, 0) == (with ? (double)y[r] : 0));
        clf_loaded_release(&l, &mem);
        clf_dense_release(&read, &mem);
        ASSERT_NAIVE(mem.now_bytes == 0);
        free(y);
        naive_free(&want);
        arrays_free(&a);
    }
    unlink(in_folder("m"));
}

/* .npy and .csv hold all cells, and give dense matrices. */
static void test_cells(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    EVERY_NAIVE(m, &seed)
    for (int csv = 0; csv < 2; csv++) {
        if (csv && cells_of(&m) == 0) continue; /* a csv without cells is empty, and refused */
        arrays a = arrays_new(&m);
        clf_csr c = arrays_csr(&a, &m);
        clf_read_opts o = {.dtype = m.t == CLF_F32 ? CLF_F32 : CLF_F64};
        naive want = as_text_reads(&m, csv ? o.dtype : m.t);
        clf_loaded l = {.sparse = true};
        clf_err err = {.code = CLF_OK};
        ASSERT_NAIVE(clf_write_csr(in_folder("m"), csv ? "csv" : "npy", &c, NULL, &err) == CLF_OK);
        ASSERT_NAIVE(clf_load_file(in_folder("m"), csv ? "csv" : "npy", &o, &mem, &l, NULL, NULL, 0, &err) == CLF_OK);
        if (err.code) fprintf(stderr, "\n    %s\n", err.text);
        ASSERT_NAIVE(!l.sparse && !l.csr.ptr && l.dense.rows == m.rows && l.dense.cols == m.cols && l.dense.dtype == want.t);
        bool right = true;
        for (size_t i = 0; i < cells_of(&m); i++) right &= clf_scalar_same(clf_scalar_load(l.dense.data, i, want.t), want.v[i]);
        ASSERT_NAIVE(right);
        clf_loaded_release(&l, &mem);
        ASSERT_NAIVE(mem.now_bytes == 0);
        naive_free(&want);
        arrays_free(&a);
    }
    unlink(in_folder("m"));
}

static void writes(const char *name, const clf_csr *m, const clf_dense *labels, const char *want) {
    char text[512] = "";
    clf_err err = {.code = CLF_OK};
    CU_ASSERT_EQUAL(clf_write_csr(in_folder(name), NULL, m, labels, &err), CLF_OK);
    FILE *f = fopen(in_folder(name), "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    text[fread(text, 1, sizeof text - 1, f)] = '\0';
    fclose(f);
    CU_ASSERT_STRING_EQUAL(text, want);
    unlink(in_folder(name));
}

static void test_text_form(void) {
    static const int64_t ptr[4] = {0, 2, 2, 3};
    static const int32_t idx[3] = {0, 3, 1};
    static const double val[3] = {0.5, -0.0, NAN};
    static const int32_t whole[3] = {-1, 0, 7};
    static const double y[3] = {1, -1, 0.25};
    const clf_dense labels = {.dtype = CLF_F64, .rows = 3, .cols = 1, .data = (void *)(uintptr_t)y};
    clf_csr m = {.ptr = ptr, .idx = idx, .val = val, .rows = 3, .cols = 5, .nnz = 3, .dtype = CLF_F64};
    writes("a.mtx", &m, NULL, BANNER "coordinate real general\n3 5 3\n1 1 0.5\n1 4 -0\n3 2 NaN\n");
    writes("a.svm", &m, &labels, "1 1:0.5 4:-0\n-1\n0.25 2:NaN\n");
    writes("a.svm", &m, NULL, "0 1:0.5 4:-0\n0\n0 2:NaN\n");
    writes("a.csv", &m, NULL, "0.5,0,0,-0,0\n0,0,0,0,0\n0,NaN,0,0,0\n");
    m.val = whole;
    m.dtype = CLF_I32;
    writes("a.mtx", &m, NULL, BANNER "coordinate integer general\n3 5 3\n1 1 -1\n1 4 0\n3 2 7\n");
    writes("a.MTX", &m, &labels, BANNER "coordinate integer general\n3 5 3\n1 1 -1\n1 4 0\n3 2 7\n");
}

static void test_write_refused(void) {
    static const int64_t ptr[2] = {0, 1};
    static const int32_t idx[1] = {0};
    const clf_csr m = {.ptr = ptr, .idx = idx, .val = "x", .rows = 1, .cols = 1, .nnz = 1, .dtype = CLF_U8};
    double y[2] = {1, 2};
    const clf_dense two = {.dtype = CLF_F64, .rows = 2, .cols = 1, .data = y}, none = {.dtype = CLF_F64, .rows = 1, .cols = 0, .data = y};
    static const struct {
        const char *name, *type;
        clf_status st;
        const char *part;
    } cases[] = {{"a.txt", NULL, CLF_E_FORMAT, "names no known file type"},
                 {"a.svm", "exe", CLF_E_ARG, "unknown file type 'exe'"},
                 {"no/such/a.mtx", NULL, CLF_E_IO, "cannot write"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clf_err err = {.code = CLF_OK};
        CU_ASSERT_EQUAL(clf_write_csr(in_folder(cases[i].name), cases[i].type, &m, NULL, &err), cases[i].st);
        CU_ASSERT(strstr(err.text, cases[i].part) != NULL);
    }
    clf_err err = {.code = CLF_OK}, full = {.code = CLF_OK};
    CU_ASSERT_EQUAL(clf_write_csr(in_folder("a.svm"), NULL, &m, &two, &err), CLF_E_SHAPE);
    CU_ASSERT(strstr(err.text, "a.svm: labels of 2 x 1 for 1 rows") != NULL);
    CU_ASSERT_EQUAL(clf_write_csr(in_folder("a.svm"), NULL, &m, &none, &err), CLF_E_SHAPE);
    CU_ASSERT_EQUAL(clf_write_csr("/dev/null", "npy", &m, NULL, &full), CLF_OK);
    if (access("/dev/full", W_OK) == 0)
        for (int i = 0; i < 4; i++)
            CU_ASSERT_EQUAL(clf_write_csr("/dev/full", (const char *[]){"mtx", "svm", "csv", "npy"}[i], &m, NULL, &full), CLF_E_IO);
    CU_ASSERT_EQUAL(entries_in_folder(), 0);
}

/* A failure in the middle of much ends the writing, however many cells were to come. */
static void test_write_full(void) {
    if (access("/dev/full", W_OK) != 0) return;
    enum { ROWS = 3000 };
    int64_t *ptr = malloc((ROWS + 1) * sizeof *ptr);
    int32_t *idx = malloc(ROWS * sizeof *idx);
    double *val = malloc(ROWS * sizeof *val);
    CU_ASSERT_FATAL(ptr && idx && val);
    for (int r = 0; r <= ROWS; r++) ptr[r] = r;
    for (int r = 0; r < ROWS; r++) idx[r] = INT32_MAX - 1 - r, val[r] = r + 0.25;
    const clf_csr m = {.ptr = ptr, .idx = idx, .val = val, .rows = ROWS, .cols = INT32_MAX, .nnz = ROWS, .dtype = CLF_F64};
    for (int i = 0; i < 4; i++) {
        clf_err err = {.code = CLF_OK};
        CU_ASSERT_EQUAL(clf_write_csr("/dev/full", (const char *[]){"mtx", "svm", "csv", "npy"}[i], &m, NULL, &err), CLF_E_IO);
        CU_ASSERT(strstr(err.text, "No space left") != NULL);
    }
    free(ptr), free(idx), free(val);
}

/* What a short file claims is not what is taken. */
static void test_claims(void) {
    static const struct {
        const char *type, *text;
        int64_t rows, cols, nnz;
        size_t most;
    } cases[] = {{"svm", "1 2147483647:5\n", 1, INT32_MAX, 1, 100},
                 {"svm", "1\n2\n3 7:1 1000000000:2\n", 3, 1000000000, 2, 200},
                 {"mtx", BANNER "coordinate real general\n2 2147483647 1\n2 2147483647 3\n", 2, INT32_MAX, 1, 200},
                 {"mtx", BANNER "coordinate pattern symmetric\n1000 1000 2\n1000 1\n7 7\n", 1000, 1000, 3, 9000},
                 {"mtx", BANNER "coordinate real general\n0 0 0\n", 0, 0, 0, 100},
                 {"mtx", BANNER "coordinate integer skew-symmetric\n100 100 1\n100 1 5\n", 100, 100, 2, 1000}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clf_mem mem;
        clf_loaded l;
        clf_err err = {.code = CLF_OK};
        clf_mem_init(&mem, NULL, NULL);
        put_text(in_folder("a"), cases[i].text);
        CU_ASSERT_EQUAL_FATAL(clf_load_file(in_folder("a"), cases[i].type, NULL, &mem, &l, NULL, NULL, 0, &err), CLF_OK);
        CU_ASSERT(l.sparse && l.csr.m.rows == cases[i].rows && l.csr.m.cols == cases[i].cols && l.csr.m.nnz == cases[i].nnz);
        CU_ASSERT_EQUAL(clf_csr_check(&l.csr.m, NULL), CLF_OK);
        CU_ASSERT(mem.peak_bytes <= cases[i].most);
        clf_loaded_release(&l, &mem);
        CU_ASSERT_EQUAL(mem.now_bytes, 0);
    }
    unlink(in_folder("a"));
}

/* Two different doors, the same cells: read as they are stored and written out, or read dense. */
static void test_dense_door(void) {
    clf_mem mem;
    clf_loaded l;
    clf_dense a, b;
    char note[200];
    clf_mem_init(&mem, NULL, NULL);
    put_text(in_folder("a.mtx"), BANNER "coordinate real symmetric\n3 3 5\n1 1 .5\n2 1 -0\n3 2 NaN\n3 2 1\n3 3 1e-320\n");
    CU_ASSERT_EQUAL(clf_load_file(in_folder("a.mtx"), NULL, NULL, &mem, &l, NULL, note, sizeof note, NULL), CLF_OK);
    CU_ASSERT(l.csr.m.nnz == 6 && note[0] == '\0');
    CU_ASSERT_EQUAL(clf_loaded_dense(&l, "a.mtx", &mem, &a, NULL), CLF_OK);
    CU_ASSERT(!l.sparse && !l.csr.ptr && !l.dense.data); /* handed over */
    CU_ASSERT_EQUAL(clf_read_file(in_folder("a.mtx"), NULL, NULL, &mem, &b, NULL, note, sizeof note, NULL), CLF_OK);
    CU_ASSERT(strstr(note, "a sparse file, held dense: 3 x 3") != NULL);
    CU_ASSERT(a.bytes == 72 && b.bytes == 72 && memcmp(a.data, b.data, 72) == 0);
    CU_ASSERT(signbit(cell(&a, 0, 1)) && signbit(cell(&a, 1, 0)) && isnan(cell(&a, 1, 2)) && cell(&a, 2, 2) == 1e-320);
    clf_dense_release(&a, &mem);
    clf_dense_release(&b, &mem);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    unlink(in_folder("a.mtx"));
}

/* ---- memory ---- */

static clf_status load(void *path, clf_mem *mem, clf_err *err) {
    clf_loaded l = {.sparse = false};
    clf_dense y = {.data = NULL};
    clf_status st = clf_load_file(path, NULL, NULL, mem, &l, &y, NULL, 0, err);
    if (st != CLF_OK) CU_ASSERT(!l.csr.ptr && !l.dense.data && !y.data);
    if (st == CLF_E_NOMEM) CU_ASSERT(strncmp(err->text, path, strlen(path)) == 0); /* the message names the file */
    clf_loaded_release(&l, mem);
    clf_dense_release(&y, mem);
    return st;
}

static clf_status read_cells(void *path, clf_mem *mem, clf_err *err) {
    clf_dense x = {.data = NULL}, y = {.data = NULL};
    clf_status st = clf_read_file(path, NULL, NULL, mem, &x, &y, NULL, 0, err);
    if (st != CLF_OK) CU_ASSERT(!x.data && !y.data);
    clf_dense_release(&x, mem);
    clf_dense_release(&y, mem);
    return st;
}

static void test_memory(void) {
    static const struct {
        const char *name, *text;
        int loading; /* allocations */
    } cases[] = {{"a.svm", "1 2:3\n-1 1:1 7:2\n", 3 + 1},
                 {"a.mtx", BANNER "coordinate real symmetric\n3 3 3\n3 2 1\n3 1 1\n2 2 1\n", 3 + 3 + 2},
                 {"b.mtx", BANNER "coordinate pattern general\n2 2 2\n1 1\n1 1\n", 3 + 3},
                 {"c.mtx", BANNER "array real general\n1 1\n1\n", 1}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char path[256];
        put_text(in_folder(cases[i].name), cases[i].text);
        snprintf(path, sizeof path, "%s", in_folder(cases[i].name));
        CU_ASSERT_EQUAL(every_allocation(load, path), cases[i].loading);
        CU_ASSERT_EQUAL(every_allocation(read_cells, path), cases[i].loading + (i < 3));
        unlink(path);
    }
}

/* ---- data that is there ---- */

/* A table as features and labels: to svm, to coordinates, and back, in the order it had. */
static void test_real(void) {
    static const struct { const char *name, *label; } sets[] = {{"eeg.csv", "Eye"}, {"winequality.csv", "13"}, {"iris.csv", "Species"}};
    const char *env = getenv("CLF_TEST_DATA");
    for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
        char path[1024];
        clf_mem mem;
        clf_dense x, y, ys, xs;
        clf_sparse s;
        clf_loaded l;
        clf_read_opts o = {.dtype = CLF_F64, .na = CLF_NA_DROP, .label = sets[i].label};
        clf_mem_init(&mem, NULL, NULL);
        snprintf(path, sizeof path, "%s/%s", env ? env : CLF_TESTS_DIR "/../../shared/data", sets[i].name);
        if (access(path, R_OK) != 0) continue;
        CU_ASSERT_EQUAL_FATAL(clf_read_file(path, NULL, &o, &mem, &x, &y, NULL, 0, NULL), CLF_OK);
        for (size_t k = 0; k < x.bytes / sizeof(double); k += 3) ((double *)x.data)[k] = 0; /* a third is not stored */
        CU_ASSERT_EQUAL_FATAL(clf_csr_from_dense(x.data, x.rows, x.cols, x.dtype, &mem, &s, NULL), CLF_OK);
        CU_ASSERT(s.m.nnz > x.rows && s.m.nnz <= x.rows * x.cols * 2 / 3 + 1);
        for (int svm = 0; svm < 2; svm++) {
            const char *to = svm ? "real.svm" : "real.mtx";
            CU_ASSERT_EQUAL(clf_write_csr(in_folder(to), NULL, &s.m, &y, NULL), CLF_OK);
            CU_ASSERT_EQUAL_FATAL(clf_load_file(in_folder(to), NULL, NULL, &mem, &l, &ys, NULL, 0, NULL), CLF_OK);
            CU_ASSERT(l.sparse && l.csr.m.nnz == s.m.nnz && clf_csr_check(&l.csr.m, NULL) == CLF_OK);
            CU_ASSERT_EQUAL_FATAL(clf_loaded_dense(&l, to, &mem, &xs, NULL), CLF_OK);
            CU_ASSERT(xs.bytes == x.bytes && memcmp(xs.data, x.data, x.bytes) == 0);
            CU_ASSERT(svm ? ys.bytes == y.bytes && memcmp(ys.data, y.data, y.bytes) == 0 : !ys.data);
            clf_dense_release(&xs, &mem);
            clf_dense_release(&ys, &mem);
            unlink(in_folder(to));
        }
        clf_sparse_release(&s, &mem);
        clf_dense_release(&x, &mem);
        clf_dense_release(&y, &mem);
        CU_ASSERT_EQUAL(mem.now_bytes, 0);
    }
}

int main(void) {
    static const CU_TestInfo tests[] = {{"coordinates come back", test_mtx},
                                        {"svm comes back", test_svm},
                                        {"all cells", test_cells},
                                        {"text form", test_text_form},
                                        {"writing refused", test_write_refused},
                                        {"no room to write", test_write_full},
                                        {"claims", test_claims},
                                        {"the dense door", test_dense_door},
                                        {"memory out", test_memory},
                                        {"real data", test_real},
                                        CU_TEST_INFO_NULL};
    if (!make_folder("clfuse-sparse")) return 1;
    int bad = run_suite("sparse: files", tests);
    return rmdir(folder) != 0 || bad;
}
