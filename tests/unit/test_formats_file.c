/* SPDX-License-Identifier: Apache-2.0
 * Files: what is written comes back, failures leave nothing behind. */
#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/unit/folder_testing.h"
#include "tests/unit/formats_testing.h"

static size_t get_file(const char *name, char *to, size_t most) {
    FILE *f = fopen(in_folder(name), "rb");
    if (!f) return 0;
    size_t n = fread(to, 1, most, f);
    fclose(f);
    return n;
}

static clf_dense dense(clf_dtype t, int64_t rows, int64_t cols, const void *data) {
    return (clf_dense){.dtype = t, .rows = rows, .cols = cols, .data = (void *)data, .bytes = (size_t)(rows * cols) * clf_dtype_bytes(t)};
}

static const double f8[] = {0.1, -0.0, NAN, INFINITY, -INFINITY, 1e-300};
static const float f4[] = {0.1f, -0.0f, NAN, INFINITY, -INFINITY, 1e-30f};
static const int32_t i4[] = {0, 1, -1, INT32_MAX, INT32_MIN, 42};
static const int64_t i8[] = {0, 1, -1, 1 << 30, -5, 42};
static const unsigned char u1[] = {0, 1, 255, 2, 3, 4};
static const struct {
    clf_dtype t;
    const void *data;
} samples[] = {{CLF_F64, f8}, {CLF_F32, f4}, {CLF_I32, i4}, {CLF_I64, i8}, {CLF_U8, u1}};

/* Write m to out.TYPE and read it again; .npy keeps the type, text gives f64 or f32. */
static void round_trip(const clf_dense *m, const char *type) {
    char name[16], note[100] = "old";
    reading r;
    clf_read_opts o = {.dtype = m->dtype == CLF_F32 ? CLF_F32 : CLF_F64};
    reading_init(&r);
    snprintf(name, sizeof name, "out.%s", type);
    CU_ASSERT_EQUAL(clf_write_file(in_folder(name), NULL, m, &r.err), CLF_OK);
    r.st = clf_read_file(in_folder(name), NULL, &o, &r.mem, &r.x, &r.y, note, sizeof note, &r.err);
    if (r.st) fprintf(stderr, "\n    %s\n", r.err.text);
    CU_ASSERT_EQUAL_FATAL(r.st, CLF_OK);
    CU_ASSERT(note[0] == '\0' && r.y.data == NULL);
    CU_ASSERT(r.x.rows == m->rows && r.x.cols == m->cols);
    CU_ASSERT_EQUAL(r.x.dtype, strcmp(type, "npy") == 0 ? m->dtype : o.dtype);
    CU_ASSERT_EQUAL(r.x.scalar, strcmp(type, "npy") == 0 && m->scalar);
    for (size_t i = 0; i < (size_t)(m->rows * m->cols); i++) {
        clf_scalar want = clf_scalar_to(clf_scalar_load(m->data, i, m->dtype), r.x.dtype), got = clf_scalar_load(r.x.data, i, r.x.dtype);
        CU_ASSERT(clf_scalar_same(want, got) || (isnan(want.u.f) && isnan(got.u.f)));
    }
    reading_end(&r);
    unlink(in_folder(name));
}

static void test_round_trips(void) {
    static const char *const types[] = {"npy", "csv", "mtx"};
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        for (int k = 0; k < 3; k++) {
            clf_dense a = dense(samples[i].t, 2, 3, samples[i].data), b = dense(samples[i].t, 6, 1, samples[i].data);
            clf_dense c = dense(samples[i].t, 1, 1, samples[i].data);
            round_trip(&a, types[k]);
            round_trip(&b, types[k]);
            round_trip(&c, types[k]);
            c.scalar = true;
            round_trip(&c, types[k]);
        }
    }
    clf_dense none = dense(CLF_F64, 0, 3, f8);
    round_trip(&none, "npy");
    round_trip(&none, "mtx");
}

static void test_large(void) {
    enum { ROWS = 3000, COLS = 7 };
    double *cells = malloc(ROWS * COLS * sizeof *cells);
    for (int i = 0; i < ROWS * COLS; i++) cells[i] = sin(i) * pow(10, i % 61 - 30);
    clf_dense m = dense(CLF_F64, ROWS, COLS, cells);
    round_trip(&m, "npy");
    round_trip(&m, "csv");
    round_trip(&m, "mtx");
    free(cells);
}

static void writes(const char *name, const clf_dense *m, const char *want) {
    char text[512] = "";
    clf_err err = {.code = CLF_OK};
    CU_ASSERT_EQUAL(clf_write_file(in_folder(name), NULL, m, &err), CLF_OK);
    text[get_file(name, text, sizeof text - 1)] = '\0';
    CU_ASSERT_STRING_EQUAL(text, want);
    unlink(in_folder(name));
}

static void test_text_form(void) {
    clf_dense m = dense(CLF_F64, 2, 3, f8), f = dense(CLF_F32, 1, 2, f4), u = dense(CLF_U8, 3, 2, u1), none = dense(CLF_F64, 0, 3, f8);
    writes("a.csv", &m, "0.10000000000000001,-0,NaN\nInf,-Inf,1e-300\n");
    writes("a.CSV", &f, "0.100000001,-0\n");
    writes("a.csv", &u, "0,1\n255,2\n3,4\n");
    writes("a.csv", &none, "");
    writes("a.mtx", &u, "%%MatrixMarket matrix array integer general\n3 2\n0\n255\n3\n1\n2\n4\n");
    writes("a.mtx", &f, "%%MatrixMarket matrix array real general\n1 2\n0.100000001\n-0\n");
}

static void test_npy_form(void) {
    char text[512];
    clf_err err = {.code = CLF_OK};
    clf_dense m = dense(CLF_F64, 2, 3, f8);
    for (int scalar = 0; scalar < 2; scalar++) {
        if (scalar) m = (clf_dense){.dtype = CLF_F64, .scalar = true, .rows = 1, .cols = 1, .data = (void *)f8, .bytes = 8};
        CU_ASSERT_EQUAL(clf_write_file(in_folder("a.npy"), NULL, &m, &err), CLF_OK);
        size_t n = get_file("a.npy", text, sizeof text);
        CU_ASSERT_EQUAL_FATAL(n, 128 + m.bytes);
        CU_ASSERT(memcmp(text, "\x93NUMPY\1\0\x76\0", 10) == 0 && text[127] == '\n' && memcmp(text + 128, f8, m.bytes) == 0);
        text[127] = '\0';
        CU_ASSERT(strstr(text + 10, scalar ? "{'descr': '<f8', 'fortran_order': False, 'shape': (), }"
                                           : "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }") == text + 10);
    }
    unlink(in_folder("a.npy"));
}

static void test_write_refused(void) {
    clf_dense m = dense(CLF_F64, 2, 3, f8);
    static const struct {
        const char *name, *type;
        clf_status st;
        const char *part;
    } cases[] = {{"none/a.npy", NULL, CLF_E_IO, "cannot write: No such file"},
                 {"a.svm", NULL, CLF_E_FORMAT, "not written"},
                 {"a.txt", NULL, CLF_E_FORMAT, "names no known file type"},
                 {"a.npy", "xls", CLF_E_ARG, "unknown file type 'xls'"},
                 {"", "csv", CLF_E_IO, "Is a directory"}};
    int before = entries_in_folder();
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clf_err err = {.code = CLF_OK};
        CU_ASSERT_EQUAL(clf_write_file(in_folder(cases[i].name), cases[i].type, &m, &err), cases[i].st);
        if (!strstr(err.text, cases[i].part)) fprintf(stderr, "\n    %s\n", err.text);
        CU_ASSERT(strstr(err.text, cases[i].part) && strstr(err.text, folder));
    }
    CU_ASSERT_EQUAL(entries_in_folder(), before);
}

/* A failed write leaves the old file and no other; a good one replaces it, through a link too; what is no file is written in place. */
static void test_replacing(void) {
    char text[64];
    clf_err err = {.code = CLF_OK};
    clf_dense u = dense(CLF_U8, 1, 2, u1);
    put_file(in_folder("old.csv"), "9\n", 2);
    CU_ASSERT_EQUAL(clf_write_file(in_folder("old.csv"), "svm", &u, &err), CLF_E_FORMAT);
    CU_ASSERT(get_file("old.csv", text, sizeof text) == 2 && text[0] == '9');
    CU_ASSERT_EQUAL(symlink("old.csv", in_folder("link.csv")), 0);
    CU_ASSERT_EQUAL(clf_write_file(in_folder("link.csv"), NULL, &u, &err), CLF_OK);
    CU_ASSERT(get_file("old.csv", text, sizeof text) == 4 && memcmp(text, "0,1\n", 4) == 0);
    struct stat st;
    CU_ASSERT(lstat(in_folder("link.csv"), &st) == 0 && S_ISLNK(st.st_mode));
    CU_ASSERT_EQUAL(clf_write_file("/dev/null", "csv", &u, &err), CLF_OK);
    CU_ASSERT(stat("/dev/null", &st) == 0 && S_ISCHR(st.st_mode));
    clf_err full = {.code = CLF_OK};
    if (access("/dev/full", W_OK) == 0) CU_ASSERT_EQUAL(clf_write_file("/dev/full", "csv", &u, &full), CLF_E_IO);
    CU_ASSERT_EQUAL(entries_in_folder(), 2);
    unlink(in_folder("link.csv"));
    unlink(in_folder("old.csv"));
}

static void test_read_refused(void) {
    static const struct {
        const char *name, *type;
        clf_status st;
        const char *part;
    } cases[] = {{"none.csv", NULL, CLF_E_IO, "cannot open: No such file"}, {"", "csv", CLF_E_IO, "Is a directory"},
                 {"x.txt", NULL, CLF_E_FORMAT, "names no known"},           {"x", NULL, CLF_E_FORMAT, "names no known"},
                 {"x.csv", "exe", CLF_E_ARG, "unknown file type"},          {"empty.npy", NULL, CLF_E_FORMAT, "no .npy file"},
                 {"empty.csv", NULL, CLF_E_FORMAT, "the file is empty"},    {"empty.npy", "svm", CLF_E_FORMAT, "the file is empty"},
                 {"empty.npy", "mtx", CLF_E_FORMAT, "no Matrix Market"}};
    put_file(in_folder("empty.npy"), "", 0);
    put_file(in_folder("empty.csv"), "", 0);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char note[200];
        reading r;
        CU_ASSERT_EQUAL(read_named(&r, in_folder(cases[i].name), cases[i].type, NULL, note), cases[i].st);
        if (!strstr(r.err.text, cases[i].part)) fprintf(stderr, "\n    %s\n", r.err.text);
        CU_ASSERT(strstr(r.err.text, cases[i].part) != NULL && note[0] == '\0');
        reading_end(&r);
    }
    unlink(in_folder("empty.npy"));
    unlink(in_folder("empty.csv"));
}

static void test_notes(void) {
    static const struct {
        const char *name, *text, *part;
    } cases[] = {{"a.svm", "1 1:1 4:4\n", "a.svm: a sparse file, held dense: 1 x 4"},
                 {"a.mtx", "%%MatrixMarket matrix coordinate real general\n2 3 0\n", "held dense: 2 x 3"},
                 {"a.csv", "1,2\n3,\n4,5\n", "a.csv: 1 row with missing cells dropped"}};
    clf_read_opts o = {.dtype = CLF_F64, .na = CLF_NA_DROP};
    for (size_t i = 0; i < 3; i++) {
        char note[200];
        reading r;
        put_file(in_folder(cases[i].name), cases[i].text, strlen(cases[i].text));
        CU_ASSERT_EQUAL(read_named(&r, in_folder(cases[i].name), NULL, &o, note), CLF_OK);
        CU_ASSERT(strstr(note, cases[i].part) != NULL);
        reading_end(&r);
        unlink(in_folder(cases[i].name));
    }
}

/* A pipe has no length to go by. */
static void test_stream(void) {
    char note[200];
    int ends[2];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    CU_ASSERT_EQUAL(write(ends[1], "1,2\n3,4\n", 8), 8);
    close(ends[1]);
    char path[32];
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    reading r;
    CU_ASSERT_EQUAL(read_named(&r, path, "csv", NULL, note), CLF_OK);
    CU_ASSERT(r.x.rows == 2 && cell(&r.x, 1, 1) == 4);
    reading_end(&r);
    close(ends[0]);
}

/* The n-th allocation fails, for every n, through files and a stream. */
static void test_memory(void) {
    static const struct {
        const char *name, *text, *label;
    } files[] = {{"m.csv", "a,y\n1,x\n,x\n2,z\n", "y"},
                 {"m.svm", "1 1:1\n", "y"},
                 {"m.mtx", "%%MatrixMarket matrix array real general\n1 1\n2\n", NULL}};
    for (size_t i = 0; i < 3; i++) {
        clf_read_opts o = {.dtype = CLF_F64, .na = CLF_NA_DROP, .label = files[i].label};
        put_file(in_folder(files[i].name), files[i].text, strlen(files[i].text));
        for (int n = 0;; n++) {
            char note[200];
            reading r;
            reading_init(&r);
            r.heap.fail_at = n;
            r.st = clf_read_file(in_folder(files[i].name), NULL, &o, &r.mem, &r.x, &r.y, note, sizeof note, &r.err);
            bool done = r.st == CLF_OK;
            if (!done) CU_ASSERT_EQUAL(r.st, CLF_E_NOMEM);
            reading_end(&r);
            CU_ASSERT(n < 10);
            if (done || n == 10) break;
        }
        unlink(in_folder(files[i].name));
    }
    reading r;
    char note[200];
    reading_init(&r);
    r.heap.fail_at = 0;
    r.st = clf_read_file("/dev/null", "csv", NULL, &r.mem, &r.x, NULL, note, sizeof note, &r.err);
    CU_ASSERT_EQUAL(r.st, CLF_E_NOMEM);
    reading_end(&r);
}

int main(void) {
    static const CU_TestInfo tests[] = {{"what is written comes back", test_round_trips},
                                        {"more than a buffer", test_large},
                                        {"text as promised", test_text_form},
                                        {"npy as promised", test_npy_form},
                                        {"writing refused", test_write_refused},
                                        {"replacing a file", test_replacing},
                                        {"reading refused", test_read_refused},
                                        {"notes", test_notes},
                                        {"a stream", test_stream},
                                        {"memory out", test_memory},
                                        CU_TEST_INFO_NULL};
    if (!make_folder("clfuse-formats")) return 1;
    int bad = run_suite("formats: files", tests);
    bad |= rmdir(folder) != 0;
    return bad;
}
