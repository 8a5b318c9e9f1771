/* SPDX-License-Identifier: Apache-2.0
 * How OpenCL is installed. The loader finds drivers by files *.icd in one folder, each naming a library; a driver without such a file, as
 * is common in containers, is invisible, and a file whose library is missing is passed over in silence. Both are said here. */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "host/tool/doctor.h"

/* Of the drivers that are around, the library that a file *.icd names. */
static const char *const drivers[] = {"libnvidia-opencl.so.1", "libamdocl64.so",     "libigdrcl.so",
                                      "libpocl.so.2",          "libMesaOpenCL.so.1", "libRusticlOpenCL.so.1"};
enum { DRIVERS = sizeof drivers / sizeof *drivers };

static const char *folder(void) {
    const char *chosen = getenv("OCL_ICD_VENDORS");
    return chosen && *chosen ? chosen : "/etc/OpenCL/vendors";
}

void doctor_loader(doctor *d) {
    void *lib = dlopen("libOpenCL.so.1", RTLD_LAZY);
    if (lib) {
        doctor_say(d, DOCTOR_OK, NULL, "OpenCL loader found (libOpenCL.so.1)");
        dlclose(lib);
    } else {
        doctor_say(d, DOCTOR_FAIL, "apt-get install ocl-icd-libopencl1", "there is no OpenCL loader: %s", dlerror());
    }
}

/* The library that an ICD file names: its first line. */
static bool named_by(const char *path, char *out, size_t n) {
    FILE *f = fopen(path, "r");
    bool good = f && fgets(out, (int)n, f);
    if (good) out[strcspn(out, "\r\n")] = 0;
    if (f) fclose(f);
    return good && *out;
}

static void look_at(doctor *d, const char *path) {
    char library[256];
    if (!named_by(path, library, sizeof library)) {
        doctor_say(d, DOCTOR_FAIL, "write the driver's library into it, or remove it", "%s names no driver", path);
        return;
    }
    void *lib = dlopen(library, RTLD_LAZY | RTLD_LOCAL);
    if (lib) {
        doctor_say(d, DOCTOR_OK, NULL, "driver %s (%s)", library, path);
        dlclose(lib);
    } else {
        doctor_say(d, DOCTOR_FAIL, "install that driver again, or remove the file", "%s names a driver that cannot be loaded: %s", path,
                   dlerror());
    }
}

static bool is_icd(const char *name) {
    size_t n = strlen(name);
    return n > 4 && strcmp(name + n - 4, ".icd") == 0;
}

/* Every ICD file's path; false when the folder cannot be read. */
static bool each_icd(void (*see)(void *user, const char *path), void *user) {
    char path[1024];
    if (is_icd(folder())) { /* the variable may name one file */
        see(user, folder());
        return true;
    }
    DIR *dir = opendir(folder());
    if (!dir) return false;
    for (struct dirent *e; (e = readdir(dir));)
        if (is_icd(e->d_name) && snprintf(path, sizeof path, "%s/%s", folder(), e->d_name) < (int)sizeof path) see(user, path);
    closedir(dir);
    return true;
}

static void see_one(void *user, const char *path) { look_at(user, path); }

void doctor_icd(doctor *d) {
    int before = d->n;
    errno = 0;
    if (!each_icd(see_one, d) && errno != ENOENT)
        doctor_say(d, DOCTOR_FAIL, "make it readable", "the folder of OpenCL drivers %s cannot be read: %s", folder(), strerror(errno));
    if (d->n == before)
        doctor_say(d, DOCTOR_FAIL, "apt-get install pocl-opencl-icd (any CPU), or your GPU vendor's OpenCL driver",
                   "no OpenCL driver is registered in %s", folder());
}

/* Which of the known drivers an ICD file names. */
static void tick(void *user, const char *path) {
    bool *named = user;
    char library[256];
    if (!named_by(path, library, sizeof library)) return;
    const char *base = strrchr(library, '/');
    base = base ? base + 1 : library;
    for (int i = 0; i < DRIVERS; i++) named[i] = named[i] || strncmp(base, drivers[i], strcspn(drivers[i], ".")) == 0;
}

void doctor_unregistered(doctor *d) {
    bool named[DRIVERS] = {false};
    char remedy[240];
    each_icd(tick, named);
    for (int i = 0; i < DRIVERS; i++) {
        void *lib = named[i] ? NULL : dlopen(drivers[i], RTLD_LAZY | RTLD_LOCAL);
        if (!lib) continue;
        snprintf(remedy, sizeof remedy, "common in containers: echo %s >%s/%.*s.icd", drivers[i], folder(),
                 (int)strcspn(drivers[i] + 3, "."), drivers[i] + 3);
        doctor_say(d, DOCTOR_FAIL, remedy, "%s is installed, but no file in %s names it: its devices cannot be seen", drivers[i], folder());
        dlclose(lib);
    }
}
