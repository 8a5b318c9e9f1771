/* SPDX-License-Identifier: Apache-2.0
 * Kernels kept on disk, with the shim as driver: the second process builds nothing and computes the same; whatever is damaged, refused or
 * missing is built again and kept again. Processes that start together are test_shim_processes.c's. */
#include <CUnit/Basic.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/disk.h"
#include "tests/shim/shim.h"
#include "tests/support/net.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/entry_testing.h"

static const char *const devices[] = {"1", "2"};
/* Kernels of one program, one for each operator; and one that stands alone. */
static const char joined[] = "x = seq(1, 500); y = rev(x); sum(x * y + 3); sum(x - y / 7); max(exp(x / 500) * y)";
static const char single[] = "x = seq(1, 500); sum(x)";
enum { RESULTS = 3 };

static clf_ctx *open_cached(const char *device, const char *cache, const char *dir, const char *fuse) {
    clf_ctx *c = open_on(device);
    CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "fuse", fuse), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "cache", cache), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "cache_dir", dir), CLF_OK);
    return c;
}

/* The results of a text in a context of its own; how many texts were compiled, and how many kernels came from the disk. */
static int run(const char *device, const char *cache, const char *dir, const char *text, double *out, int *loaded) {
    uint64_t built = shim_count.programs, from = shim_count.loaded;
    clf_ctx *c = open_cached(device, cache, dir, text == single ? "all" : "none");
    program p = parse_bare(c, text, NULL, 0);
    CU_ASSERT_FATAL(p.n <= RESULTS);
    CU_ASSERT_EQUAL(clf_eval(p.n, p.result), CLF_OK);
    for (size_t i = 0; i < p.n; i++) out[i] = read_f64(p.result[i]);
    clf_stats s = stats_of(c);
    CU_ASSERT(s.launches_tier2 > 0 && s.fallbacks == 0);
    clf_close(c);
    if (loaded) *loaded = (int)(shim_count.loaded - from);
    return (int)(shim_count.programs - built);
}

static size_t kept_files(const char *dir, char name[][CLF_SAVED_NAME], size_t most) {
    clf_mem mem;
    clf_disk d;
    clf_disk_file *f = NULL;
    size_t n = 0;
    clf_mem_init(&mem, NULL, NULL);
    clf_disk_open(&d, &mem, NULL, dir, CLF_DISK_READONLY, 0);
    CU_ASSERT_EQUAL(clf_disk_files(&d, &f, &n, NULL), CLF_OK);
    for (size_t i = 0; i < n && i < most; i++) memcpy(name[i], f[i].name, sizeof f[i].name);
    clf_mem_free(&mem, f, n, sizeof *f);
    clf_disk_close(&d);
    return n;
}

/* ---- the second process ------------------------------------------------------------------------------------------------------ */

static void second(const char *device, const char *text, const char *dir) {
    double cold[RESULTS] = {0}, warm[RESULTS] = {0}, off[RESULTS] = {0};
    int loaded = 0;
    run(device, "off", dir, text, off, NULL);
    CU_ASSERT(access(dir, F_OK) || kept_files(dir, NULL, 0) == 0);
    int built = run(device, "on", dir, text, cold, &loaded);
    CU_ASSERT(built > 0 && loaded == 0);
    size_t files = kept_files(dir, NULL, 0);
    CU_ASSERT(files > 0);
    CU_ASSERT_EQUAL(run(device, "on", dir, text, warm, &loaded), 0);
    CU_ASSERT(loaded > 0 && kept_files(dir, NULL, 0) == files);
    CU_ASSERT(!memcmp(cold, warm, sizeof cold) && !memcmp(cold, off, sizeof cold));
    CU_ASSERT_EQUAL(run(device, "readonly", dir, text, warm, NULL), 0);
    shim_driver = "2"; /* another driver: nothing of the first one's is shown to it */
    uint64_t refused = shim_count.refused;
    CU_ASSERT_EQUAL(run(device, "readonly", dir, text, warm, &loaded), built);
    CU_ASSERT(loaded == 0 && shim_count.refused == refused && kept_files(dir, NULL, 0) == files);
    CU_ASSERT_EQUAL(run(device, "on", dir, text, warm, &loaded), built);
    CU_ASSERT_EQUAL(kept_files(dir, NULL, 0), 2 * files);
    shim_driver = "1";
    CU_ASSERT(run(device, "on", dir, text, warm, &loaded) == 0 && !memcmp(cold, warm, sizeof cold));
    CU_ASSERT_EQUAL(shim_count.live, 0);
}

static void test_second(void) {
    for (int k = 0; k < SHIM_DEVICES; k++) {
        second(devices[k], single, in_folder(k ? "second-1" : "second-0"));
        second(devices[k], joined, in_folder(k ? "second-3" : "second-2"));
    }
}

/* A kernel that an earlier process built together with others is found alone, too. */
static void test_member(void) {
    static const char alone[] = "x = seq(1, 500); y = rev(x); max(exp(x / 500) * y)";
    const char *dir = in_folder("member");
    double all[RESULTS], one[RESULTS] = {0};
    int loaded = 0;
    CU_ASSERT_EQUAL(run("1", "on", dir, joined, all, NULL), 2); /* and the probe of the other device */
    CU_ASSERT_EQUAL(run("1", "on", dir, alone, one, &loaded), 0);
    CU_ASSERT(loaded == 2 && one[0] == all[2]);
}

/* ---- what is there is not right --------------------------------------------------------------------------------------------- */

static void each_file(const char *dir, void (*spoil)(const char *path)) {
    char name[64][CLF_SAVED_NAME], path[PATH_MAX];
    size_t n = kept_files(dir, name, 64);
    for (size_t i = 0; i < n && i < 64; i++) {
        snprintf(path, sizeof path, "%s/kernels/%s", dir, name[i]);
        spoil(path);
    }
}

/* Whole entries for the same questions, with other answers. */
static void answer(const char *path, const char *payload) {
    clf_mem mem;
    clf_str file;
    clf_saved_entry e;
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&file, &mem);
    read_entry(path, &file, &e);
    if (e.kind == CLF_SAVED_BINARY) answer_entry(path, &e, (clf_bytes){payload, strlen(payload)});
    clf_str_release(&file);
}

static void refused(const char *path) { answer(path, "no binary of the shim's"); }
static void other_program(const char *path) { answer(path, "shim binary 1\n__kernel void other(__global int *a) { a[0] = 1; }\n"); }
static void no_program(const char *path) { answer(path, "shim binary 1\nthis is no program\n"); }
static void empty(const char *path) { put_text(path, ""); }
static void gone(const char *path) { CU_ASSERT_EQUAL(unlink(path), 0); }
/* The program of many; the entries that name it stay. */
static void holder_gone(const char *path) {
    char head[48];
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    CU_ASSERT_EQUAL(fread(head, 1, sizeof head, f), sizeof head);
    fclose(f);
    if (head[12] == CLF_SAVED_BINARY && !head[40]) gone(path); /* its kernel has no name */
}

static void test_wrong(void) {
    static void (*const spoil[])(const char *) = {refused, other_program, no_program, empty, gone, holder_gone};
    static const char *const texts[] = {single, joined};
    for (int t = 0; t < 2; t++) {
        const char *dir = in_folder(t ? "wrong-1" : "wrong-0");
        double right[RESULTS] = {0}, got[RESULTS] = {0};
        int built = run("1", "on", dir, texts[t], right, NULL), loaded = 0;
        for (size_t k = 0; k < sizeof spoil / sizeof *spoil; k++) {
            uint64_t failed = shim_count.failed;
            each_file(dir, spoil[k]);
            int again = run("1", "on", dir, texts[t], got, &loaded);
            int want = spoil[k] == holder_gone ? t : built; /* the probe's, and one of them alone, have no holder */
            if (again != want) printf("\n    text %d, fault %zu: %d built, not %d\n", t, k, again, want);
            CU_ASSERT_EQUAL(again, want);
            CU_ASSERT(!memcmp(right, got, sizeof right));
            CU_ASSERT_EQUAL(run("1", "on", dir, texts[t], got, &loaded), 0);
            CU_ASSERT(loaded > 0 && !memcmp(right, got, sizeof right));
            shim_count.failed = failed; /* of texts that were planted */
        }
    }
    CU_ASSERT_EQUAL(shim_count.live, 0);
}

/* Random damage; what the disk cache finds is shown in unit.test_disk, here that the run goes on. */
static void damage(const char *path, unsigned seed) {
    struct stat st;
    FILE *f = fopen(path, "r+b");
    if (!f || stat(path, &st)) return;
    long at = (long)(seed * 2654435761u % (unsigned)st.st_size);
    fseek(f, at, SEEK_SET);
    int c = fgetc(f);
    fseek(f, at, SEEK_SET);
    fputc(c ^ 1 << seed % 8, f);
    fclose(f);
    if (seed % 5 == 0) CU_ASSERT_EQUAL(truncate(path, at), 0);
}

static void test_damage(void) {
    const char *dir = in_folder("damage");
    char name[64][CLF_SAVED_NAME], path[PATH_MAX];
    double right[RESULTS] = {0}, got[RESULTS] = {0};
    long n = (long)net_count(40, 10000);
    uint64_t shown = shim_count.refused;
    run("1", "on", dir, joined, right, NULL);
    for (long i = 0; i < n; i++) {
        size_t files = kept_files(dir, name, 64);
        snprintf(path, sizeof path, "%s/kernels/%s", dir, name[(size_t)i % files]);
        damage(path, (unsigned)i + 1);
        run("1", "on", dir, joined, got, NULL);
        CU_ASSERT(!memcmp(right, got, sizeof right));
    }
    CU_ASSERT_EQUAL(run("1", "on", dir, joined, got, NULL), 0);
    CU_ASSERT_EQUAL(shim_count.refused, shown); /* no driver saw a damaged binary */
    net_figure("runs on a damaged kernel cache, all right", "%ld", n);
}

/* Every allocation of a warm run fails once: the run fails for it or is right, and nothing is left. */
static void test_memory(void) {
    const char *dir = in_folder("memory");
    double right[RESULTS] = {0};
    run("2", "on", dir, single, right, NULL);
    long long n = 0, failed = 0;
    for (bool through = false; !through; n += 1 + n / 40) {
        counting_heap h = heap_but(n);
        clf_ctx *c = NULL;
        clf_options o = {.struct_size = sizeof o, .device = "2", .alloc = counting_alloc, .alloc_user = &h};
        clf_status st = clf_open(&c, &o);
        double x = 0;
        if (st == CLF_OK) {
            clf_set(c, "tier", "2");
            clf_set(c, "fuse", "all");
            clf_set(c, "cache", "on");
            clf_set(c, "cache_dir", dir);
            st = clf_read_f64(clf_expr(c, "sum(seq(1, 500))", NULL, 0), &x);
            clf_close(c);
        }
        CU_ASSERT(st == CLF_E_NOMEM || (st == CLF_OK && x == right[0]));
        CU_ASSERT(h.live == 0 && h.blocks == 0);
        failed += st != CLF_OK;
        through = h.count <= n;
    }
    CU_ASSERT_EQUAL(shim_count.live, 0);
    CU_ASSERT(n > 50 && failed > 20);
}

int main(void) {
    static const test_case tests[] = {{"second process", test_second},
                                      {"one of many", test_member},
                                      {"wrong entries", test_wrong},
                                      {"damage", test_damage},
                                      {"memory", test_memory}};
    if (CLF_SHIM_SANITIZED) setenv("CLF_TEST_SANITIZED", "1", 1);
    if (!make_folder("clfuse-shim-cache")) return 1;
    int bad = run_suite("kernels kept on disk", tests, sizeof tests / sizeof *tests);
    return !remove_folder() || bad;
}
