/* SPDX-License-Identifier: Apache-2.0
 * What the process looks like when the OpenCL loader starts: the driver's own cache in a private directory, a CPU mask that its
 * worker threads may inherit, and those workers each on a core of its own.
 *
 * PoCL trusts what it finds in its cache (a damaged entry kills the process) and finds no device when the directory cannot be made,
 * hence POCL_CACHE_DIR = <our cache>/pocl, or a temporary directory of this process. It reads the variable once per process, so a
 * temporary directory stays named in the environment, is made again by a later open, and is removed by the last close: a shared
 * flock on the directory counts its users without any global. The one in our cache is held the same way, as nobody may clear what a driver
 * is writing to (driver_files.c).
 *
 * Workers of PoCL sleep between kernels; woken together, the kernel of Linux often puts two of them on one core and leaves them there
 * for milliseconds: half the speed for seconds on end (measured with two cores). POCL_AFFINITY=1 pins them; set where the user did
 * not and the process may use every core. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>
#include "device/device_internal.h"

enum { PATIENCE_MS = 2000, STEP_MS = 5 };

static const char var[] = "POCL_CACHE_DIR";
static const char temp_mark[] = "/clfuse-driver-";

/* Each process of the driver leaves an empty tempfile_* behind; drop those older than an hour. */
static void sweep(const char *path) {
    DIR *dir = opendir(path);
    if (!dir) return;
    time_t now = time(NULL);
    for (struct dirent *e; (e = readdir(dir));) {
        struct stat st;
        if (strncmp(e->d_name, "tempfile", 8)) continue;
        if (fstatat(dirfd(dir), e->d_name, &st, AT_SYMLINK_NOFOLLOW) || !S_ISREG(st.st_mode) || st.st_size) continue;
        if (now - st.st_mtime > 3600) unlinkat(dirfd(dir), e->d_name, 0);
    }
    closedir(dir);
}

/* A shared lock on the directory, which goes with the descriptor. Somebody who removes files waits for nobody, so that he is done soon. -1:
 * there is no such directory, or he is not. */
static int hold(const char *path) {
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC), ms = 0;
    while (fd >= 0 && flock(fd, LOCK_SH | LOCK_NB)) {
        const struct timespec step = {.tv_nsec = STEP_MS * 1000000L};
        if ((errno == EWOULDBLOCK || errno == EINTR) && (ms += STEP_MS) <= PATIENCE_MS) {
            nanosleep(&step, NULL);
            continue;
        }
        close(fd);
        fd = -1;
    }
    return fd;
}

static bool temp_hold(clf_devs *d) { return (d->temp_fd = hold(d->temp_dir)) >= 0; }

static bool temp_new(clf_devs *d) {
    const char *tmp = secure_getenv("TMPDIR");
    int len = snprintf(d->temp_dir, sizeof d->temp_dir, "%s%sXXXXXX", tmp && *tmp == '/' ? tmp : "/tmp", temp_mark);
    return len > 0 && (size_t)len < sizeof d->temp_dir && mkdtemp(d->temp_dir) && temp_hold(d);
}

/* The variable names a temporary directory of an earlier open of this process: use it again. */
static void temp_again(clf_devs *d, const char *path) {
    char why[CLF_DEV_WHY];
    if (!strstr(path, temp_mark) || strlen(path) >= sizeof d->temp_dir) return;
    if (!clf_cache_dir(path, d->temp_dir, sizeof d->temp_dir, why, sizeof why) || !temp_hold(d))
        clf_devs_note(d, "the driver's temporary cache directory %s cannot be used again", path);
}

static bool private_dir(const char *cache_dir, char *out, size_t n, char *why, size_t why_n) {
    char base[CLF_DEV_PATH];
    if (!clf_cache_dir(cache_dir, base, sizeof base, why, why_n)) return false;
    if (strlen(base) + sizeof "/pocl" > sizeof base) return false;
    strcat(base, "/pocl");
    return clf_cache_dir(base, out, n, why, why_n);
}

void clf_environ_cache(clf_devs *d, const char *cache_dir) {
    const char *chosen = getenv(var);
    char path[CLF_DEV_PATH], why[CLF_DEV_WHY] = "no cache directory";
    d->temp_fd = d->cache_fd = -1;
    if (chosen && *chosen) {
        temp_again(d, chosen);
        if (d->temp_fd < 0) d->cache_fd = hold(chosen);
        return;
    }
    if (private_dir(cache_dir, path, sizeof path, why, sizeof why)) {
        d->cache_fd = hold(path);
        sweep(path);
        setenv(var, path, 1);
    } else if (temp_new(d)) {
        clf_devs_note(d, "%s; the driver's cache is temporary", why);
        setenv(var, d->temp_dir, 1);
    } else {
        clf_devs_note(d, "%s; no temporary directory for the driver's cache either", why);
    }
}

static int drop_one(const char *path, const struct stat *st, int flag, struct FTW *ftw) {
    (void)st, (void)flag, (void)ftw;
    remove(path);
    return 0;
}

void clf_environ_cache_close(clf_devs *d) {
    if (d->cache_fd >= 0) close(d->cache_fd);
    d->cache_fd = -1;
    if (d->temp_fd < 0) return;
    if (getpid() == d->pid && !flock(d->temp_fd, LOCK_EX | LOCK_NB)) nftw(d->temp_dir, drop_one, 8, FTW_DEPTH | FTW_PHYS);
    close(d->temp_fd);
    d->temp_fd = -1;
}

void clf_environ_workers(void) {
    cpu_set_t now;
    if (getenv("POCL_AFFINITY") || sched_getaffinity(0, sizeof now, &now)) return;
    if (CPU_COUNT(&now) == sysconf(_SC_NPROCESSORS_ONLN)) setenv("POCL_AFFINITY", "1", 0);
}

/* A home directory may be shared by machines whose CPUs have one name and other features. */
static uint64_t cpu_features(uint64_t seed) {
    char text[8192];
    FILE *f = fopen("/proc/cpuinfo", "re");
    size_t n = f ? fread(text, 1, sizeof text - 1, f) : 0;
    if (f) fclose(f);
    text[n] = 0;
    const char *line = strstr(text, "\nflags");
    if (!line) line = strstr(text, "\nFeatures");
    return line ? clf_hash64(line, 1 + strcspn(line + 1, "\n"), seed) : seed;
}

uint64_t clf_environ_driver_key(const char *platform_version, bool cpu) {
    static const char *const decide[] = {"POCL_WORK_GROUP_METHOD", "POCL_WORK_GROUP_SPECIALIZATION"};
    uint64_t key = clf_hash64(platform_version, strlen(platform_version), 1);
    for (size_t i = 0; i < sizeof decide / sizeof *decide; i++) {
        const char *set = getenv(decide[i]);
        if (set) key = clf_hash64(set, strlen(set), key + i);
    }
    if (cpu) key = cpu_features(key);
    return key ? key : 1;
}

void clf_environ_blas(void) { setenv("OPENBLAS_THREAD_TIMEOUT", "4", 0); }

_Static_assert(sizeof(cpu_set_t) <= sizeof(((clf_affinity *)0)->mask), "mask fits");

void clf_affinity_widen(clf_affinity *a) {
    cpu_set_t now, all;
    a->changed = false;
    if (sched_getaffinity(0, sizeof now, &now) || CPU_COUNT(&now) != 1) return;
    memset(&all, 0xff, sizeof all);
    if (sched_setaffinity(0, sizeof all, &all)) return;
    memcpy(a->mask, &now, sizeof now);
    a->changed = true;
}

void clf_affinity_restore(const clf_affinity *a) {
    cpu_set_t old;
    if (!a->changed) return;
    memcpy(&old, a->mask, sizeof old);
    sched_setaffinity(0, sizeof old, &old);
}
