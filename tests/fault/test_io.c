/* SPDX-License-Identifier: Apache-2.0
 * Files fail: read in short pieces and cut at every byte, written to a full disk and up to every size, without rights. Each time a
 * status whose message names the file, no half file, and a good run afterwards. */
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/fault/round.h"
#include "tests/support/net.h"

static long injected;

typedef struct sample {
    const char *type, *text;
    int64_t rows, cols;
} sample;

static const sample samples[] = {
    {"mtx", "%%MatrixMarket matrix coordinate real general\n3 2 4\n1 1 2\n2 2 -3\n3 1 0.5\n3 2 4\n", 3, 2},
    {"csv", "a,b\n1,2\n3,4\n5,6\n", 3, 2},
    {"svm", "1 1:2 3:4\n-1 2:5\n", 2, 3},
};
enum { NSAMPLES = sizeof samples / sizeof *samples };

static void file_name(char *path, size_t n, const char *name, const char *type) {
    snprintf(path, n, "%s/%s.%s", scenario_folder(), name, type);
}

static void write_bytes(const char *path, const void *bytes, size_t n) {
    FILE *f = fopen(path, "wb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fwrite(bytes, 1, n, f), n);
    CU_ASSERT_EQUAL(fclose(f), 0);
}

/* Either a matrix of at most this shape, or a status that names the file. */
static bool read_judged(clf_ctx *c, const char *path, int64_t most_rows) {
    int64_t rows = 0, cols = 0;
    const char *text = "";
    clf_mat *m = clf_load(c, path);
    clf_status st = clf_status_of(m, &text);
    if (st == CLF_OK) return clf_info(m, &rows, &cols, NULL, NULL) == CLF_OK && rows <= most_rows && clf_eval(1, &m) == CLF_OK;
    return (st == CLF_E_FORMAT || st == CLF_E_IO) && strstr(text, path);
}

static void cut(const char *type, const void *bytes, size_t n, int64_t rows) {
    clf_ctx *c = open_host();
    char path[256];
    long bad = 0;
    file_name(path, sizeof path, "cut", type);
    for (size_t k = 0; k < n; k++, injected++) {
        write_bytes(path, bytes, k);
        bool good = read_judged(c, path, rows);
        if (!good) printf("\n    %s cut to %zu bytes: %s\n", type, k, clf_last_error(c));
        bad += !good;
    }
    CU_ASSERT_EQUAL(bad, 0);
    clf_close(c);
}

static void test_cut(void) {
    char path[256], bytes[4096];
    for (int i = 0; i < NSAMPLES; i++) cut(samples[i].type, samples[i].text, strlen(samples[i].text), samples[i].rows);
    double x[6] = {1, 2, 3, 4, 5, 6};
    clf_ctx *c = open_host();
    file_name(path, sizeof path, "whole", "npy");
    CU_ASSERT_EQUAL(clf_save(clf_matrix(c, CLF_F64, 3, 2, x), path, NULL), CLF_OK);
    clf_close(c);
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    size_t n = fread(bytes, 1, sizeof bytes, f);
    fclose(f);
    CU_ASSERT(n > 6 * sizeof *x);
    cut("npy", bytes, n, 3);
}

/* ---- short reads: a pipe that gives a byte at a time ---- */

typedef struct feeder {
    const char *path, *text;
} feeder;

static void *feed(void *arg) {
    const feeder *w = arg;
    int fd = open(w->path, O_WRONLY);
    for (const char *p = w->text; fd >= 0 && *p; p++)
        if (write(fd, p, 1) != 1) break;
    if (fd >= 0) close(fd);
    return NULL;
}

static void test_short_reads(void) {
    for (int i = 0; i < NSAMPLES; i++) {
        char path[256];
        pthread_t t;
        int64_t rows = 0, cols = 0;
        file_name(path, sizeof path, "pipe", samples[i].type);
        CU_ASSERT_EQUAL_FATAL(mkfifo(path, 0600), 0);
        feeder w = {path, samples[i].text};
        clf_ctx *c = open_host();
        CU_ASSERT_EQUAL_FATAL(pthread_create(&t, NULL, feed, &w), 0);
        clf_mat *m = clf_load(c, path);
        pthread_join(t, NULL);
        CU_ASSERT_EQUAL(clf_info(m, &rows, &cols, NULL, NULL), CLF_OK);
        CU_ASSERT(rows == samples[i].rows && cols == samples[i].cols);
        clf_close(c);
        injected++;
    }
}

/* ---- writing ---- */

static void test_full_disk(void) {
    if (access("/dev/full", W_OK)) return;
    static const char *const types[] = {"npy", "csv", "mtx"};
    double x[6] = {1, 2, 3, 4, 5, 6};
    clf_ctx *c = open_host();
    for (int i = 0; i < 3; i++, injected++) {
        expect_error(c, clf_save(clf_matrix(c, CLF_F64, 3, 2, x), "/dev/full", types[i]), CLF_E_IO, "/dev/full");
        CU_ASSERT_PTR_NOT_NULL(strstr(clf_last_error(c), "No space left"));
    }
    clf_close(c);
}

static bool absent(const char *path) { return access(path, F_OK) != 0; }

/* Nothing in the folder but these. */
static bool no_leftovers(const char *path) {
    char command[512];
    snprintf(command, sizeof command, "test \"$(ls '%s' | wc -l)\" -le %d", path, 1);
    return system(command) == 0;
}

/* The disk is full after k bytes, for every k: the old file stands, or no file, and nothing is left beside it. */
static void every_size(const char *type, bool old) {
    char folder[256], path[300];
    snprintf(folder, sizeof folder, "%s/sizes_%s_%d", scenario_folder(), type, old);
    snprintf(path, sizeof path, "%s/out.%s", folder, type);
    CU_ASSERT_EQUAL_FATAL(mkdir(folder, 0700), 0);
    if (old) write_bytes(path, "old", 3);
    clf_ctx *c = open_host();
    double x[6] = {1, 2, 3, 4, 5, 6};
    clf_mat *m = clf_matrix(c, CLF_F64, 3, 2, x);
    struct rlimit was, small;
    getrlimit(RLIMIT_FSIZE, &was);
    clf_status st = CLF_E_IO;
    long k = 0, bad = 0;
    for (; st != CLF_OK && k < 4096; k++) {
        small = was;
        small.rlim_cur = (rlim_t)k;
        setrlimit(RLIMIT_FSIZE, &small);
        st = clf_save(m, path, NULL);
        setrlimit(RLIMIT_FSIZE, &was);
        if (st == CLF_OK) break;
        struct stat info;
        bool stands = old ? stat(path, &info) == 0 && info.st_size == 3 : absent(path);
        bad += st != CLF_E_IO || !strstr(clf_last_error(c), path) || !stands;
        injected++;
    }
    CU_ASSERT_EQUAL(bad, 0);
    CU_ASSERT(no_leftovers(folder));
    CU_ASSERT(st == CLF_OK && k > 10);
    CU_ASSERT_EQUAL(clf_status_of(clf_load(c, path), NULL), CLF_OK);
    clf_close(c);
}

static void test_sizes(void) {
    static const char *const types[] = {"npy", "csv", "mtx"};
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 6; i++) every_size(types[i / 2], i % 2);
    signal(SIGXFSZ, SIG_DFL);
}

/* ---- rights: a folder that is none, a folder as a file, and, for those the system denies anything, closed ones ---- */

static void save_fails(clf_ctx *c, const char *path) {
    double x[2] = {1, 2};
    expect_error(c, clf_save(clf_matrix(c, CLF_F64, 1, 2, x), path, "npy"), CLF_E_IO, path);
    injected++;
}

static void load_fails(clf_ctx *c, const char *path) {
    clf_load_options o = {.struct_size = sizeof o, .type = "csv"};
    expect_sticky(clf_load_with(c, path, &o, NULL), CLF_E_IO, path);
    injected++;
}

static void closed_places(clf_ctx *c) {
    char folder[256], inside[300], file[256];
    snprintf(folder, sizeof folder, "%s/closed", scenario_folder());
    snprintf(inside, sizeof inside, "%s/a.npy", folder);
    file_name(file, sizeof file, "closed", "csv");
    write_bytes(file, "1,2\n", 4);
    CU_ASSERT_EQUAL(chmod(file, 0), 0);
    CU_ASSERT_EQUAL(mkdir(folder, 0500), 0);
    load_fails(c, file);
    save_fails(c, inside);
}

static void test_rights(void) {
    char path[300];
    clf_ctx *c = open_host();
    snprintf(path, sizeof path, "%s/nowhere/a.npy", scenario_folder());
    save_fails(c, path);
    load_fails(c, path);
    save_fails(c, "/dev/null/a.npy");
    load_fails(c, scenario_folder());
    if (geteuid() != 0) closed_places(c);
    bool right = true;
    CU_ASSERT_EQUAL(scenario_files.run(c, &right), CLF_OK);
    CU_ASSERT_TRUE(right);
    clf_close(c);
}

static void test_figures(void) {
    CU_ASSERT(injected > 300);
    net_figure("file faults", "%ld", injected);
}

int main(void) {
    static const test_case tests[] = {{"cut files", test_cut},    {"short reads", test_short_reads}, {"full disk", test_full_disk},
                                      {"every size", test_sizes}, {"rights", test_rights},           {"figures", test_figures}};
    return run_suite("file faults", tests, sizeof tests / sizeof *tests);
}
