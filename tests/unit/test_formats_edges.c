/* SPDX-License-Identifier: Apache-2.0
 * Formats at their edges: every sample cut at every byte and with every byte damaged, in both types and with every option; readers
 * without a place for what they could tell; streams of any length; writers that fail at every step. */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "formats/csv.h"
#include "formats/text.h"
#include "tests/unit/folder_testing.h"
#include "tests/unit/formats_testing.h"

/* ---- cut and damaged samples ------------------------------------------------------------------------------------------------ */

#define NPY(dict) "\x93NUMPY\x01\x00\x46\x00" dict
static const struct sample {
    const char *type, *text;
    size_t n;
    const char *label;
} samples[] = {
#define S(type, text, label) \
    { type, text, sizeof(text) - 1, label }
    S("csv", "\"a b\",\"y\"\"z\"\n1.5, x\n\t2 ,\"w\"\n,NA\n-3e2,x\n", "y\"z"),
    S("csv", "1;2.5;3\r\n4;5;6\r\n\r\n7;;9\r\n", "3"),
    S("csv", "1\t 2\t3\n4\t\t6\n", NULL),
    S("csv", "1 2  3\n 4\t5 6 \n", NULL),
    S("csv", "\"a\",\"b\"\n\"3\",\"4\"\n1,2\n", "b"),
    S("mtx", "%%MatrixMarket matrix coordinate real general\n% note\n3 2 3\n1 1 0.5\n3 2 -1\n1 1 +2e1\n", NULL),
    S("mtx", "%%MatrixMarket MATRIX array integer symmetric\n2 2\n1\n-2\n+3\n", NULL),
    S("mtx", "%%MatrixMarket matrix coordinate pattern general\n2 2 2\n1 2\n2 1\n", NULL),
    S("mtx", "%%MatrixMarket matrix coordinate real skew-symmetric\n3 3 2\n2 1 4\n3 1 5\n", NULL),
    S("mtx", "%%MatrixMarket matrix array real skew-symmetric\n0 0\n", NULL),
    S("svm", "# first\n+1 1:0.5 3:2 # tail\n-1 2:1e1\n\n0\n", "y"),
    S("npy", NPY("{'descr': '<f4', 'fortran_order': True, 'shape': (2, 2), }           \n") "\0\0\x80?\0\0\0@\0\0@@\0\0\x80@", NULL),
    S("npy", NPY("{\"shape\" : ( 3 , ) ,\t'descr':'|b1','fortran_order':False}\r           \n") "\0\x01\x07", NULL),
#undef S
};
enum { NSAMPLES = sizeof samples / sizeof *samples };

static clf_status read_text(const struct sample *s, const char *text, size_t n, const clf_read_opts *o) {
    reading r;
    reading_init(&r);
    clf_status st = reading_run(&r, s->type, text, n, o);
    reading_end(&r); /* a failure gave nothing and says why; nothing is left */
    return st;
}

static clf_read_opts options(const struct sample *s, int k) {
    static const clf_na na[] = {CLF_NA_ERROR, CLF_NA_DROP, CLF_NA_NAN};
    return (clf_read_opts){.dtype = k & 1 ? CLF_F32 : CLF_F64, .na = na[k / 2 % 3], .label = k / 6 ? s->label : NULL};
}

static void test_cut(void) {
    for (int i = 0; i < NSAMPLES; i++)
        for (int k = 0; k < 12; k++) {
            const clf_read_opts o = options(&samples[i], k);
            size_t good = 0;
            for (size_t n = 0; n <= samples[i].n; n++) good += read_text(&samples[i], samples[i].text, n, &o) == CLF_OK;
            CU_ASSERT(good < samples[i].n);
            if (o.na == CLF_NA_NAN && (k < 6 || samples[i].label)) {
                if (!good) printf("\n    sample %d, options %d: never read\n", i, k);
                CU_ASSERT(good > 0);
            }
        }
}

static void test_damaged(void) {
    static const char other[] = "0\n,\" ;\tx%#:-.e\\\xff";
    char text[256];
    for (int i = 0; i < NSAMPLES; i++) {
        const clf_read_opts o = options(&samples[i], 4 + 6 * (samples[i].label != NULL));
        size_t good = 0, bad = 0;
        for (size_t at = 0; at < samples[i].n; at++)
            for (size_t c = 0; c < sizeof other; c++) { /* the NUL, too */
                memcpy(text, samples[i].text, samples[i].n);
                text[at] = other[c];
                clf_status st = read_text(&samples[i], text, samples[i].n, &o);
                good += st == CLF_OK;
                bad += st != CLF_OK;
            }
        CU_ASSERT(good > 0 && bad > 0);
    }
}

/* ---- what a caller need not ask for ------------------------------------------------------------------------------------------ */

static void test_places(void) {
    clf_mem mem;
    clf_dense x, y;
    clf_err err = {0};
    clf_mem_init(&mem, NULL, NULL);
    for (int i = 0; i < NSAMPLES; i++) {
        clf_read_opts o = options(&samples[i], 4 + 6 * (samples[i].label != NULL));
        put_file(in_folder("sample"), samples[i].text, samples[i].n);
        CU_ASSERT_EQUAL(clf_read_file(in_folder("sample"), samples[i].type, &o, &mem, &x, NULL, NULL, 0, &err), CLF_OK);
        clf_dense_release(&x, &mem);
        CU_ASSERT_EQUAL(clf_read_file(in_folder("sample"), samples[i].type, &o, &mem, &x, NULL, (char[4]){"old"}, 0, &err), CLF_OK);
        clf_dense_release(&x, &mem);
        o.na = CLF_NA_DROP;
        CU_ASSERT_EQUAL(clf_read_file(in_folder("sample"), samples[i].type, &o, &mem, &x, &y, NULL, 0, &err), CLF_OK);
        CU_ASSERT((y.data != NULL) == (samples[i].label != NULL));
        clf_dense_release(&x, &mem);
        clf_dense_release(&y, &mem);
        CU_ASSERT_EQUAL(clf_read_file(in_folder("sample"), samples[i].type, &o, &mem, &x, NULL, (char[4]){"old"}, 0, &err), CLF_OK);
        clf_dense_release(&x, &mem);
        CU_ASSERT_EQUAL(clf_read_file(in_folder("sample"), "csvx", &o, &mem, &x, NULL, NULL, 0, NULL), CLF_E_ARG);
    }
    clf_loaded l;
    CU_ASSERT_EQUAL(clf_read_mtx("t", samples[6].text, samples[6].n, NULL, &mem, &l, &err), CLF_OK);
    CU_ASSERT(!l.sparse && cell(&l.dense, 0, 1) == -2 && cell(&l.dense, 1, 0) == -2);
    clf_loaded_release(&l, &mem);
    clf_loaded_release(NULL, &mem);
    clf_sparse_release(NULL, &mem);
    clf_dense_release(NULL, &mem);
    unlink(in_folder("sample"));
    CU_ASSERT(mem.now_bytes == 0 && err.code == CLF_OK);
}

/* A label column asked for without a place for it still leaves the features. */
static void test_label_without_place(void) {
    clf_mem mem;
    clf_dense x;
    const clf_read_opts o = {.dtype = CLF_F64, .label = "y"};
    clf_mem_init(&mem, NULL, NULL);
    CU_ASSERT_EQUAL(clf_read_csv("t", "a,y\n1,p\n2,q\n", 12, &o, &mem, &x, NULL, NULL), CLF_OK);
    CU_ASSERT(x.rows == 2 && x.cols == 1 && cell(&x, 1, 0) == 2);
    clf_dense_release(&x, &mem);
    clf_sparse m;
    CU_ASSERT_EQUAL(clf_read_svm("t", "1 2:3\n", 6, NULL, &mem, &m, NULL, NULL), CLF_OK);
    CU_ASSERT(m.m.rows == 1 && m.m.cols == 2 && m.m.nnz == 1 && m.m.idx[0] == 1 && ((const double *)m.m.val)[0] == 3);
    clf_sparse_release(&m, &mem);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
}

/* A type that text is not read as, a length that nothing has. */
static void test_refused(void) {
    static const char *const types[] = {"csv", "mtx", "svm"};
    const clf_read_opts o = {.dtype = CLF_I32};
    for (int i = 0; i < 3; i++) expect_failure(types[i], "1\n", 2, &o, CLF_E_ARG, "f64 or f32, not as i32");
    clf_mem mem;
    clf_dense x, y;
    clf_loaded l;
    clf_mem_init(&mem, NULL, NULL);
    clf_err err = {0};
    CU_ASSERT_EQUAL(clf_read_csv("t", "1", SIZE_MAX, NULL, &mem, &x, NULL, &err), CLF_E_LIMIT);
    CU_ASSERT_EQUAL(clf_read_mtx("t", "1", SIZE_MAX, NULL, &mem, &l, NULL), CLF_E_LIMIT);
    CU_ASSERT_EQUAL(clf_read_svm("t", "1", SIZE_MAX, NULL, &mem, &l.csr, &y, NULL), CLF_E_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "too long"));
    CU_ASSERT_EQUAL(clf_read_csv("t", NULL, 0, NULL, &mem, &x, NULL, NULL), CLF_E_FORMAT);
}

static void hear(void *user, const char *topic, const char *line) {
    (void)topic;
    snprintf(user, 200, "%s", line);
}

static void test_traced(void) {
    char said[200] = "";
    reading r;
    const clf_trace log = {.mask = 1u << CLF_TOPIC_io, .fn = hear, .user = said}, off = {.fn = hear, .user = said};
    for (int on = 1; on >= 0; on--) {
        const clf_read_opts o = {.dtype = CLF_F64, .na = CLF_NA_DROP, .log = on ? &log : &off};
        reading_init(&r);
        CU_ASSERT_EQUAL(reading_run(&r, "csv", "a;b\n1;2\n;4\n", 11, &o), CLF_OK);
        reading_end(&r);
        if (on) CU_ASSERT_STRING_EQUAL(said, "t: csv, separator ';', header, 1 x 2, 1 rows dropped");
        said[0] = '\0';
    }
    CU_ASSERT_STRING_EQUAL(said, "");
    const clf_read_opts o = {.dtype = CLF_F64, .log = &log};
    reading_init(&r);
    CU_ASSERT_EQUAL(reading_run(&r, "csv", "1,2\n", 4, &o), CLF_OK);
    reading_end(&r);
    CU_ASSERT_STRING_EQUAL(said, "t: csv, separator ',', no header, 1 x 2, 0 rows dropped");
}

/* The formats' sizes, as planners ask for them. */
static void test_table(void) {
    static const double want[][2] = {{240, 48e10}, {140, 0}, {112, 0}, {160, 0}, {240, 48e10}};
    for (int f = 0; f < CLF_NFORMATS; f++) {
        CU_ASSERT_EQUAL(clf_formats[f].bytes(CLF_F64, 5, 6, 10), f == CLF_CSR ? 10 * 12 + 48 : f == CLF_CSC ? 10 * 12 + 56 : want[f][0]);
        CU_ASSERT(clf_formats[f].fill == 0 && clf_formats[f].name[0]);
    }
    const int64_t wide = (int64_t)INT32_MAX + 1;
    CU_ASSERT_EQUAL(clf_formats[CLF_CSR].bytes(CLF_F32, 1, wide - 1, 10), 10 * 8 + 16);
    CU_ASSERT_EQUAL(clf_formats[CLF_CSR].bytes(CLF_F32, 1, wide, 10), INFINITY);
    CU_ASSERT_EQUAL(clf_formats[CLF_CSC].bytes(CLF_F32, wide - 1, 1, 10), 10 * 8 + 16);
    CU_ASSERT_EQUAL(clf_formats[CLF_CSC].bytes(CLF_F32, wide, 1, 10), INFINITY);
    CU_ASSERT_EQUAL(clf_formats[CLF_COO].bytes(CLF_U8, wide, 1, 10), 10 * 17);
    CU_ASSERT_EQUAL(clf_formats[CLF_COO].bytes(CLF_U8, 1, wide, 10), 10 * 17);
    CU_ASSERT(clf_formats[CLF_DENSE].offers == (CLF_OFFERS_STREAM | CLF_OFFERS_LOCATE));
    CU_ASSERT(clf_formats[CLF_CSR].offers == (CLF_OFFERS_ENTRIES | CLF_OFFERS_LOCATE));
    CU_ASSERT(clf_formats[CLF_CSC].offers == 0 && clf_formats[CLF_COO].offers == 0 && clf_formats[CLF_COMPRESSED].offers == 0);
}

/* ---- streams ------------------------------------------------------------------------------------------------------------------ */

static void die_on_write(int fd, const char *line, size_t n, int times) {
    for (int k = 0; k < times; k++)
        if (write(fd, line, n) != (ssize_t)n) _exit(1);
    _exit(0);
}

/* Memory for a stream grows by doubling: rows that need it several times all arrive. */
static void test_long_stream(void) {
    static const char line[] = "1,2,3,4,5,6,7,8\n";
    enum { TIMES = 20000 };
    int ends[2];
    char path[32], note[200];
    CU_ASSERT_EQUAL_FATAL(pipe(ends), 0);
    pid_t pid = fork();
    if (pid == 0) die_on_write(ends[1], line, sizeof line - 1, TIMES);
    close(ends[1]);
    snprintf(path, sizeof path, "/dev/fd/%d", ends[0]);
    reading r;
    CU_ASSERT_EQUAL(read_named(&r, path, "csv", NULL, note), CLF_OK);
    CU_ASSERT(r.x.rows == TIMES && r.x.cols == 8 && cell(&r.x, TIMES - 1, 7) == 8);
    reading_end(&r);
    close(ends[0]);
    int status = -1;
    waitpid(pid, &status, 0);
    CU_ASSERT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
}

/* Memory of any size out of one MiB of pages, mapped again and again: what is only zeros needs no more. */
enum { CHUNK = 1 << 20 };
static size_t chunks(size_t bytes) { return (bytes + CHUNK - 1) / CHUNK * CHUNK; }

static void *same_pages(void *user, void *ptr, size_t old_bytes, size_t new_bytes) {
    char *base = new_bytes ? mmap(NULL, chunks(new_bytes), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0) : NULL;
    if (base == MAP_FAILED) return NULL;
    for (size_t at = 0; at < new_bytes; at += CHUNK)
        if (mmap(base + at, CHUNK, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, *(int *)user, 0) == MAP_FAILED) return NULL;
    if (ptr) munmap(ptr, chunks(old_bytes));
    return base;
}

/* An endless stream is refused at its limit. */
static void test_endless_stream(void) {
    clf_mem mem;
    clf_dense x;
    clf_err err = {0};
    struct stat st;
    int fd = memfd_create("pages", 0);
    if (fd < 0 || ftruncate(fd, CHUNK) != 0 || stat("/dev/zero", &st) != 0) return;
    clf_mem_init(&mem, same_pages, &fd);
    CU_ASSERT_EQUAL(clf_read_file("/dev/zero", "csv", NULL, &mem, &x, NULL, NULL, 0, &err), CLF_E_LIMIT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "a stream of more than 1024 MiB"));
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
    close(fd);
}

/* ---- writers that fail -------------------------------------------------------------------------------------------------------- */

static void fails_to_write(const char *path, const clf_dense *m, const char *say) {
    clf_err err = {0};
    int before = entries_in_folder();
    CU_ASSERT_EQUAL(clf_write_file(path, NULL, m, &err), CLF_E_IO);
    if (!strstr(err.text, say)) printf("\n    %s\n", err.text);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, say));
    CU_ASSERT_EQUAL(entries_in_folder(), before);
}

static void test_write_names(void) {
    double one = 1;
    const clf_dense m = {.dtype = CLF_F64, .rows = 1, .cols = 1, .data = &one, .bytes = 8};
    char name[PATH_MAX + 64];
    fails_to_write("/dev/null/a.csv", &m, "Not a directory");
    fails_to_write("no/such/folder/a.npy", &m, "No such file");
    memset(name, 'a', sizeof name);
    memcpy(name + 300, ".csv", 5);
    fails_to_write(in_folder(name), &m, "File name too long");
    for (size_t k = 1; k < PATH_MAX; k += 2) memcpy(name + k - 1, "./", 2);
    memcpy(name + PATH_MAX - 10, "b.csv", 6);
    fails_to_write(name, &m, "./././."); /* and no more of it fits into the message */
    CU_ASSERT_EQUAL(mkdir(in_folder("dir.csv"), 0700), 0);
    put_file(in_folder("dir.csv/inside"), "x", 1);
    fails_to_write(in_folder("dir.csv"), &m, "Is a directory");
    unlink(in_folder("dir.csv/inside"));
    rmdir(in_folder("dir.csv"));
}

/* A file may not grow beyond a limit: what was there stays, the temporary goes, in each format and at each size. */
static void test_write_full(void) {
    static double cells[12000];
    const clf_dense m = {.dtype = CLF_F64, .rows = 100, .cols = 120, .data = cells, .bytes = sizeof cells};
    static const char *const names[] = {"f.npy", "f.csv", "f.mtx"};
    struct rlimit before, small;
    for (int i = 0; i < 12000; i++) cells[i] = i + 0.123456789;
    CU_ASSERT_EQUAL_FATAL(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = (struct rlimit){40000, before.rlim_max};
    void (*was)(int) = signal(SIGXFSZ, SIG_IGN);
    for (int k = 0; k < 3; k++) {
        put_file(in_folder(names[k]), "old", 3);
        clf_err err = {0};
        CU_ASSERT_EQUAL_FATAL(setrlimit(RLIMIT_FSIZE, &small), 0);
        CU_ASSERT_EQUAL(clf_write_file(in_folder(names[k]), NULL, &m, &err), CLF_E_IO);
        setrlimit(RLIMIT_FSIZE, &before);
        CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "File too large"));
        CU_ASSERT_EQUAL(entries_in_folder(), 1);
        struct stat st;
        CU_ASSERT(stat(in_folder(names[k]), &st) == 0 && st.st_size == 3);
        unlink(in_folder(names[k]));
    }
    signal(SIGXFSZ, was);
    struct stat st;
    if (stat("/dev/full", &st) != 0) return;
    CU_ASSERT_EQUAL(symlink("/dev/full", in_folder("full.mtx")), 0);
    CU_ASSERT_EQUAL(symlink("/dev/full", in_folder("full.npy")), 0);
    fails_to_write(in_folder("full.mtx"), &m, "No space left");
    fails_to_write(in_folder("full.npy"), &m, "No space left");
    unlink(in_folder("full.mtx"));
    unlink(in_folder("full.npy"));
}

/* Temporaries that others left are stepped over. */
static void test_write_beside_others(void) {
    double two[2] = {1, 2};
    const clf_dense m = {.dtype = CLF_F64, .rows = 1, .cols = 2, .data = two, .bytes = sizeof two}, none = {.dtype = CLF_F64, .rows = 2};
    char name[64];
    clf_err err = {0};
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "a.csv.tmp%ld.%d", (long)getpid(), k);
        put_file(in_folder(name), "mine", 4);
    }
    CU_ASSERT_EQUAL(clf_write_file(in_folder("a.csv"), NULL, &m, &err), CLF_OK);
    CU_ASSERT_EQUAL(entries_in_folder(), 4);
    CU_ASSERT_EQUAL(clf_write_file(in_folder("a.csv"), "CSV", &none, &err), CLF_OK);
    CU_ASSERT_EQUAL(clf_write_file(in_folder("a.csv"), "mtx", &none, &err), CLF_OK);
    for (int k = 0; k < 3; k++) {
        snprintf(name, sizeof name, "a.csv.tmp%ld.%d", (long)getpid(), k);
        unlink(in_folder(name));
    }
    unlink(in_folder("a.csv"));
}

int main(void) {
    static const CU_TestInfo tests[] = {{"cut at every byte", test_cut},
                                        {"every byte damaged", test_damaged},
                                        {"places not asked for", test_places},
                                        {"label without a place", test_label_without_place},
                                        {"refused", test_refused},
                                        {"traced", test_traced},
                                        {"table of formats", test_table},
                                        {"long stream", test_long_stream},
                                        {"endless stream", test_endless_stream},
                                        {"names that cannot be written", test_write_names},
                                        {"no room to write", test_write_full},
                                        {"temporaries of others", test_write_beside_others},
                                        CU_TEST_INFO_NULL};
    if (!make_folder("clfuse-edges")) return 1;
    int bad = run_suite("formats: edges", tests);
    return rmdir(folder) != 0 || bad;
}
