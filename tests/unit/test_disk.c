/* SPDX-License-Identifier: Apache-2.0
 * The disk cache without a driver: entries as bytes, damaged in every way, whose directory and whose files are trusted, which entries go
 * when there are too many, full disks, locks between processes. */
#include <CUnit/Basic.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "device/disk.h"
#include "tests/support/net.h"
#include "tests/unit/folder_testing.h"

static clf_mem mem;
static const char *last; /* name of the entry put last */

static clf_saved_entry make(const char *kernel, const char *payload, clf_str *key) {
    const clf_bytes field[CLF_NSAVED_FIELDS] = {
        {kernel, strlen(kernel)}, {"a text\n", 7}, {"", 0}, {"device", 6}, {"driver", 6}, {"library", 7}};
    clf_str_init(key, &mem);
    clf_saved_entry_key(field, key);
    return (clf_saved_entry){.kind = CLF_SAVED_BINARY, .key = {key->at, key->len}, .payload = {payload, strlen(payload)}};
}

static bool put(clf_disk *d, const char *kernel, const char *payload) {
    static char name[CLF_SAVED_NAME];
    clf_str key;
    clf_saved_entry e = make(kernel, payload, &key);
    bool kept = clf_disk_put(d, &e);
    clf_saved_entry_name(e.key, name);
    last = name;
    clf_str_release(&key);
    return kept;
}

static bool has(clf_disk *d, const char *kernel, const char *payload) {
    char name[CLF_SAVED_NAME];
    clf_str key, file;
    clf_saved_entry e = make(kernel, payload, &key), got;
    clf_saved_entry_name(e.key, name);
    clf_str_init(&file, &mem);
    bool there = clf_disk_get(d, name, e.key, &file, &got);
    if (there) CU_ASSERT(got.payload.n == e.payload.n && !memcmp(got.payload.at, e.payload.at, e.payload.n));
    clf_str_release(&file);
    clf_str_release(&key);
    return there;
}

static clf_disk *open_disk(const char *dir, clf_disk_mode mode, size_t limit) {
    static clf_disk d;
    clf_disk_open(&d, &mem, NULL, dir, mode, limit);
    return &d;
}

static const char *file_of(const char *dir, const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/kernels/%s", dir, name);
    return in_folder(path);
}

/* ---- bytes ------------------------------------------------------------------------------------------------------------------- */

static void test_bytes(void) {
    clf_str key, bytes;
    clf_saved_entry e = make("k", "payload", &key), got;
    clf_bytes field;
    clf_err err = {CLF_OK, ""};
    clf_str_init(&bytes, &mem);
    clf_saved_entry_write(&e, &bytes);
    CU_ASSERT_EQUAL_FATAL(clf_saved_entry_read(bytes.at, bytes.len, &got, &err), CLF_OK);
    CU_ASSERT(got.kind == CLF_SAVED_BINARY && got.key.n == e.key.n && !memcmp(got.key.at, e.key.at, e.key.n));
    CU_ASSERT(clf_saved_entry_field_of(got.key, CLF_SAVED_LIBRARY, &field) && field.n == 7 && !memcmp(field.at, "library", 7));
    CU_ASSERT(!clf_saved_entry_field_of((clf_bytes){got.key.at, got.key.n - 1}, CLF_SAVED_KERNEL, &field));
    CU_ASSERT(!clf_saved_entry_field_of((clf_bytes){bytes.at, bytes.len}, CLF_SAVED_KERNEL, &field));
    for (size_t n = 0; n < bytes.len; n++) CU_ASSERT_EQUAL(clf_saved_entry_read(bytes.at, n, &got, NULL), CLF_E_FORMAT);
    for (size_t bit = 0; bit < 8 * bytes.len; bit++) {
        bytes.at[bit / 8] ^= (char)(1 << bit % 8);
        CU_ASSERT_EQUAL(clf_saved_entry_read(bytes.at, bytes.len, &got, NULL), CLF_E_FORMAT);
        bytes.at[bit / 8] ^= (char)(1 << bit % 8);
    }
    clf_str_release(&bytes);
    e.kind = CLF_SAVED_SHARED; /* whose payload is a name */
    clf_saved_entry_write(&e, &bytes);
    CU_ASSERT_EQUAL(clf_saved_entry_read(bytes.at, bytes.len, &got, &err), CLF_E_FORMAT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "without a program"));
    clf_str_release(&bytes);
    e.key.n--;
    clf_saved_entry_write(&e, &bytes);
    clf_err_clear(&err);
    CU_ASSERT_EQUAL(clf_saved_entry_read(bytes.at, bytes.len, &got, &err), CLF_E_FORMAT);
    CU_ASSERT_PTR_NOT_NULL(strstr(err.text, "whose key is none"));
    clf_str_release(&bytes);
    e.payload.n = SIZE_MAX;
    clf_saved_entry_write(&e, &bytes);
    CU_ASSERT(bytes.failed);
    clf_str_release(&bytes);
    clf_str_release(&key);
    CU_ASSERT(clf_saved_entry_is_name("0123456789abcdef0123456789abcdef", 32) &&
              !clf_saved_entry_is_name("0123456789abcdeg0123456789abcdef", 32));
}

/* ---- damage ------------------------------------------------------------------------------------------------------------------ */

static uint64_t seed = 1;

static uint64_t next(uint64_t n) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    return (seed >> 33) % n;
}

/* One way of damaging n bytes in a place of 2 * n; the new length. */
static size_t damage(char *p, size_t n) {
    static const char patterns[] = {0, (char)0xff, 0x7f, (char)0x80, 1};
    size_t at = next(4) ? next(n) : next(56), len = 1 + next(next(4) ? 8 : n - at);
    if (len > n - at) len = n - at;
    switch (next(6)) {
    case 0: p[at] ^= (char)(1 << next(8)); return n;
    case 1: memset(p + at, patterns[next(5)], len); return n;
    case 2: return next(n);                                                           /* cut */
    case 3: memmove(p + at, p + at + len, n - at - len); return n - len;              /* bytes taken out */
    case 4: memmove(p + at + len, p + at, n - at); return n + len;                    /* bytes doubled */
    default: memmove(p + at, p + next(n - len + 1), len > 1 ? len / 2 : 1); return n; /* bytes of elsewhere */
    }
}

static void test_damage(void) {
    static char good[4096], bad[2 * sizeof good];
    clf_disk *d = open_disk(in_folder("damage"), CLF_DISK_ON, 0);
    char payload[1500];
    long refused = 0, same = 0, mutants = (long)net_count(10000, 100000);
    for (size_t i = 0; i < sizeof payload - 1; i++) payload[i] = (char)('a' + next(26));
    payload[sizeof payload - 1] = 0;
    CU_ASSERT_FATAL(put(d, "k", payload));
    const char *path = file_of("damage", last);
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    size_t n = fread(good, 1, sizeof good, f);
    fclose(f);
    for (long m = 0; m < mutants; m++) {
        memcpy(bad, good, n);
        size_t len = damage(bad, n);
        bool is_good = len == n && !memcmp(bad, good, n);
        put_file(path, bad, len);
        CU_ASSERT_EQUAL(chmod(path, 0600), 0);
        CU_ASSERT_EQUAL(has(d, "k", payload), is_good);
        CU_ASSERT_EQUAL(access(path, F_OK) == 0, is_good); /* and the damaged one is gone */
        refused += !is_good;
        same += is_good;
    }
    CU_ASSERT(put(d, "k", payload) && has(d, "k", payload));
    CU_ASSERT(refused > 9 * same);
    clf_disk_close(d);
    net_figure("damaged cache entries, refused", "%ld of %ld", refused, refused);
}

/* ---- trust ------------------------------------------------------------------------------------------------------------------- */

static void test_files(void) {
    clf_disk *d = open_disk(in_folder("files"), CLF_DISK_ON, 0);
    CU_ASSERT(*d->why == 0 && put(d, "a", "one") && has(d, "a", "one") && !has(d, "b", "one"));
    CU_ASSERT(put(d, "a", "two") && has(d, "a", "two"));
    const char *path = file_of("files", last), *other = in_folder("files/elsewhere");
    struct stat st;
    CU_ASSERT(stat(path, &st) == 0 && (st.st_mode & 0777) == 0600);
    CU_ASSERT(stat(in_folder("files/kernels"), &st) == 0 && (st.st_mode & 0777) == 0700);
    CU_ASSERT_EQUAL(link(path, other), 0); /* a second name */
    CU_ASSERT(!has(d, "a", "two") && access(path, F_OK));
    CU_ASSERT(rename(other, path) == 0 && has(d, "a", "two"));
    CU_ASSERT(rename(path, other) == 0 && symlink(other, path) == 0);
    CU_ASSERT(!has(d, "a", "two") && access(other, F_OK) == 0);
    CU_ASSERT(rename(other, path) == 0 && chmod(path, 0640) == 0);
    CU_ASSERT(!has(d, "a", "two"));
    CU_ASSERT(mkfifo(path, 0600) == 0 && !has(d, "a", "two"));
    CU_ASSERT(mkdir(path, 0700) == 0 && !has(d, "a", "two") && !put(d, "a", "two")); /* a folder in its place */
    CU_ASSERT(d->mode == CLF_DISK_READONLY && strstr(d->why, "cannot be written"));
    clf_disk_close(d);
    CU_ASSERT_FALSE(has(d, "a", "two"));
}

static void expect_off(clf_disk *d, const char *say) {
    if (d->mode != CLF_DISK_OFF || !strstr(d->why, say)) printf("\n    mode %d: %s\n", (int)d->mode, d->why);
    CU_ASSERT(d->mode == CLF_DISK_OFF && strstr(d->why, say));
    CU_ASSERT(!put(d, "a", "one") && !has(d, "a", "one"));
    clf_disk_close(d);
}

static void test_directories(void) {
    CU_ASSERT(mkdir(in_folder("open"), 0700) == 0 && mkdir(in_folder("open/kernels"), 0700) == 0);
    CU_ASSERT_EQUAL(chmod(in_folder("open/kernels"), 0750), 0);
    expect_off(open_disk(in_folder("open"), CLF_DISK_ON, 0), "is not ours alone");
    CU_ASSERT_EQUAL(rmdir(in_folder("open/kernels")), 0);
    CU_ASSERT_EQUAL(symlink(folder, in_folder("open/kernels")), 0);
    expect_off(open_disk(in_folder("open"), CLF_DISK_ON, 0), "Not a directory");
    put_text(in_folder("plain"), "x");
    expect_off(open_disk(in_folder("plain/cache"), CLF_DISK_ON, 0), "cannot be created");
    setenv("HOME", "", 1);
    unsetenv("XDG_CACHE_HOME");
    expect_off(open_disk("", CLF_DISK_ON, 0), "neither XDG_CACHE_HOME nor HOME");
    expect_off(open_disk("", CLF_DISK_READONLY, 0), "neither XDG_CACHE_HOME nor HOME");
    CU_ASSERT_EQUAL(open_disk(in_folder("never"), CLF_DISK_OFF, 0)->mode, CLF_DISK_OFF);
    CU_ASSERT(access(in_folder("never"), F_OK) && open_disk("", CLF_DISK_OFF, 0)->why[0] == 0);
    expect_off(open_disk(in_folder("never"), CLF_DISK_READONLY, 0), "never");
    CU_ASSERT(access(in_folder("never"), F_OK));
    CU_ASSERT(clf_disk_mode_of("on") == CLF_DISK_ON && clf_disk_mode_of("readonly") == CLF_DISK_READONLY &&
              clf_disk_mode_of("off") == CLF_DISK_OFF);
}

static void test_readonly(void) {
    clf_disk *d = open_disk(in_folder("ro"), CLF_DISK_ON, 0);
    CU_ASSERT(put(d, "a", "one"));
    clf_disk_close(d);
    d = open_disk(in_folder("ro"), CLF_DISK_READONLY, 0);
    CU_ASSERT(d->mode == CLF_DISK_READONLY && !*d->why && has(d, "a", "one") && !put(d, "b", "two") && !has(d, "b", "two"));
    CU_ASSERT(!clf_disk_lock(d, last) && d->nheld == 0);
    clf_disk_close(d);
    d = open_disk(in_folder("ro"), CLF_DISK_ON, 0);
    CU_ASSERT(put(d, "a", "two"));
    clf_disk_close(d);
    d = open_disk(in_folder("ro"), CLF_DISK_READONLY, 0);
    put_text(file_of("ro", last), "damaged");
    CU_ASSERT(!has(d, "a", "two") && access(file_of("ro", last), F_OK) == 0);
    CU_ASSERT_EQUAL(clf_disk_prune(d, 0, NULL, NULL, NULL), CLF_E_STATE);
    clf_disk_close(d);
}

/* As another user: nothing of root's is used, except to read. */
static void test_other_user(void) {
    if (geteuid()) return;
    clf_disk *d = open_disk(in_folder("mine"), CLF_DISK_ON, 0);
    CU_ASSERT(put(d, "a", "one"));
    clf_disk_close(d);
    CU_ASSERT(chmod(folder, 0755) == 0 && chmod(in_folder("mine"), 0755) == 0);
    CU_ASSERT_EQUAL_FATAL(seteuid(65534), 0);
    expect_off(open_disk(in_folder("mine"), CLF_DISK_ON, 0), "belongs to another user");
    expect_off(open_disk(in_folder("mine"), CLF_DISK_READONLY, 0), "Permission denied");
    CU_ASSERT_EQUAL(seteuid(0), 0);
    CU_ASSERT(chmod(in_folder("mine/kernels"), 0755) == 0 && chmod(file_of("mine", last), 0644) == 0);
    CU_ASSERT_EQUAL(seteuid(65534), 0);
    d = open_disk(in_folder("mine"), CLF_DISK_READONLY, 0); /* installed by the administrator */
    CU_ASSERT(d->mode == CLF_DISK_READONLY && has(d, "a", "one"));
    clf_disk_close(d);
    CU_ASSERT_EQUAL(seteuid(0), 0);
    CU_ASSERT(chown(in_folder("mine"), 65534, 65534) == 0 && chmod(in_folder("mine"), 0500) == 0);
    CU_ASSERT(chown(in_folder("mine/kernels"), 65534, 65534) == 0 && chown(file_of("mine", last), 65534, 65534) == 0);
    CU_ASSERT_EQUAL(seteuid(65534), 0);
    d = open_disk(in_folder("mine"), CLF_DISK_ON, 0); /* a read-only home: read, and said so */
    CU_ASSERT(d->mode == CLF_DISK_READONLY && strstr(d->why, "is not writable") && has(d, "a", "one"));
    clf_disk_close(d);
    CU_ASSERT_EQUAL(seteuid(0), 0);
}

static void test_full(void) {
    struct rlimit was, small;
    clf_disk *d = open_disk(in_folder("full"), CLF_DISK_ON, 0);
    signal(SIGXFSZ, SIG_IGN);
    getrlimit(RLIMIT_FSIZE, &was);
    small = was;
    small.rlim_cur = 100;
    setrlimit(RLIMIT_FSIZE, &small);
    CU_ASSERT(!put(d, "a", "one"));
    setrlimit(RLIMIT_FSIZE, &was);
    CU_ASSERT(d->mode == CLF_DISK_READONLY && strstr(d->why, "File too large"));
    clf_disk_close(d);
    DIR *dir = opendir(in_folder("full/kernels"));
    CU_ASSERT_PTR_NOT_NULL_FATAL(dir);
    for (struct dirent *e; (e = readdir(dir));) CU_ASSERT(e->d_name[0] == '.' || !strcmp(e->d_name, "lock"));
    closedir(dir);
}

/* ---- size -------------------------------------------------------------------------------------------------------------------- */

static void age(const char *path, long seconds) {
    struct timeval now;
    gettimeofday(&now, NULL);
    now.tv_sec -= seconds;
    CU_ASSERT_EQUAL(utimes(path, (const struct timeval[2]){now, now}), 0);
}

static void test_prune(void) {
    static const char *const kernel[] = {"a", "b", "c", "d"};
    clf_disk *d = open_disk(in_folder("lru"), CLF_DISK_ON, 0);
    clf_disk_file *f = NULL;
    size_t n = 0;
    uint64_t files = 0, bytes = 0;
    for (int i = 0; i < 4; i++) {
        CU_ASSERT(put(d, kernel[i], "payload"));
        age(file_of("lru", last), 1000 * (4 - i));
    }
    CU_ASSERT(has(d, "a", "payload")); /* used again: now the youngest */
    put_text(in_folder("lru/kernels/temp-12345678-1-1"), "half");
    put_text(in_folder("lru/kernels/temp-87654321-1-1"), "half");
    age(in_folder("lru/kernels/temp-12345678-1-1"), 3600);
    CU_ASSERT_EQUAL(clf_disk_files(d, &f, &n, NULL), CLF_OK);
    CU_ASSERT(n == 4 && f[0].used_s > f[1].used_s && f[1].used_s > f[2].used_s);
    uint64_t each = f[0].bytes;
    clf_mem_free(&mem, f, n, sizeof *f);
    CU_ASSERT_EQUAL(clf_disk_prune(d, 2 * each, &files, &bytes, NULL), CLF_OK);
    CU_ASSERT(files == 2 && bytes == 2 * each);
    CU_ASSERT(has(d, "a", "payload") && !has(d, "b", "payload") && !has(d, "c", "payload") && has(d, "d", "payload"));
    CU_ASSERT(access(in_folder("lru/kernels/temp-12345678-1-1"), F_OK) && !access(in_folder("lru/kernels/temp-87654321-1-1"), F_OK));
    CU_ASSERT_EQUAL(clf_disk_prune(d, 0, &files, NULL, NULL), CLF_OK);
    CU_ASSERT_EQUAL(files, 2);
    clf_disk_close(d);
    d = open_disk(in_folder("lru"), CLF_DISK_ON, 3 * each);
    for (int i = 0; i < 4; i++) CU_ASSERT(put(d, kernel[i], "payload"));
    CU_ASSERT_EQUAL(clf_disk_files(d, &f, &n, NULL), CLF_OK);
    CU_ASSERT(n == 3 && has(d, "d", "payload"));
    clf_mem_free(&mem, f, n, sizeof *f);
    char large[4096];
    memset(large, 'x', sizeof large - 1);
    large[sizeof large - 1] = 0;
    CU_ASSERT(!put(d, "e", large) && d->mode == CLF_DISK_ON);
    clf_disk_close(d);
    CU_ASSERT_EQUAL(clf_disk_files(d, &f, &n, NULL), CLF_OK); /* closed: none */
    CU_ASSERT_EQUAL(n, 0);
    clf_mem_free(&mem, f, n, sizeof *f);
}

/* ---- locks ------------------------------------------------------------------------------------------------------------------- */

static const char one[] = "00000000000000000000000000000001", two[] = "a0000000000000000000000000000001";

/* A child that holds a lock for a moment, or dies with it. */
static pid_t holder(const char *name, long ms, bool die) {
    int ready[2];
    char c;
    CU_ASSERT_EQUAL_FATAL(pipe(ready), 0);
    pid_t pid = fork();
    if (pid == 0) {
        clf_disk *d = open_disk(in_folder("locks"), CLF_DISK_ON, 0);
        bool waited = clf_disk_lock(d, name);
        if (write(ready[1], "x", 1) != 1 || waited || d->nheld != 1) _exit(1);
        usleep((useconds_t)ms * 1000);
        if (!die) clf_disk_unlock(d, name);
        _exit(0);
    }
    CU_ASSERT_EQUAL(read(ready[0], &c, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return pid;
}

static void reap(pid_t pid) {
    int status = -1;
    CU_ASSERT(waitpid(pid, &status, 0) == pid && status == 0);
}

static void test_locks(void) {
    clf_disk *d = open_disk(in_folder("locks"), CLF_DISK_ON, 0);
    clf_disk twin;
    CU_ASSERT(!clf_disk_lock(d, one) && d->nheld == 1);
    clf_disk_open(&twin, &mem, NULL, in_folder("locks"), CLF_DISK_ON, 0);
    CU_ASSERT(!clf_disk_lock(&twin, one)); /* never against this process */
    clf_disk_close(&twin);
    clf_disk_unlock(d, two);
    CU_ASSERT_EQUAL(d->nheld, 1);
    clf_disk_unlock(d, one);
    CU_ASSERT_EQUAL(d->nheld, 0);
    for (int die = 0; die < 2; die++) {
        pid_t pid = holder(one, 300, die);
        CU_ASSERT(!clf_disk_lock(d, two) && d->nheld == 1);
        CU_ASSERT(!clf_disk_lock(d, one) && d->nheld == 1); /* who holds one does not wait */
        clf_disk_unlock(d, two);
        CU_ASSERT(clf_disk_lock(d, one) && d->nheld == 1);
        clf_disk_unlock(d, one);
        reap(pid);
    }
    clf_disk_close(d);
}

int main(void) {
    if (!make_folder("clfuse-test-disk")) return 1;
    clf_mem_init(&mem, NULL, NULL);
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("device: disk cache", NULL, NULL);
    CU_add_test(s, "entries as bytes", test_bytes);
    CU_add_test(s, "damage", test_damage);
    CU_add_test(s, "files", test_files);
    CU_add_test(s, "directories", test_directories);
    CU_add_test(s, "read only", test_readonly);
    CU_add_test(s, "another user", test_other_user);
    CU_add_test(s, "full disk", test_full);
    CU_add_test(s, "size", test_prune);
    CU_add_test(s, "locks", test_locks);
    CU_basic_run_tests();
    int bad = CU_get_number_of_failures() > 0;
    bad = bad || atomic_load(&mem.now_bytes) != 0;
    CU_cleanup_registry();
    return !remove_folder() || bad;
}
