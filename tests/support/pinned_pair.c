/* SPDX-License-Identifier: Apache-2.0
 * Profiles for both devices of a context. See pinned_pair.h. */
#include "tests/support/pinned_pair.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device.h"
#include "host/run/run.h"

static bool write_device(const char *path, const clf_profile *device) {
    clf_mem mem;
    clf_str t;
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&t, &mem);
    clf_profile_print(device, &t);
    FILE *f = fopen(path, "wb");
    bool good = f && !t.failed && fwrite(clf_str_c(&t), 1, t.len, f) == t.len;
    if (f) good = fclose(f) == 0 && good;
    clf_str_release(&t);
    return good;
}

static const char *device_file(const pinned_pair *p, char path[80]) {
    snprintf(path, 80, "%s/device.txt", p->folder);
    return path;
}

bool pinned_pair_make(pinned_pair *p, const clf_profile *host, const clf_profile *device) {
    clf_profile own = *host;
    p->third = false;
    clf_err err = {CLF_OK, "no folder"};
    char path[80];
    snprintf(own.name, sizeof own.name, "host");
    snprintf(own.driver, sizeof own.driver, "%s", clf_isa_name(clf_isa_pick(CLF_ISA_AUTO)));
    snprintf(p->folder, sizeof p->folder, "%s/clf-pair-XXXXXX", P_tmpdir);
    bool good = mkdtemp(p->folder) && clf_profile_store(p->folder, &own, &err) == CLF_OK && write_device(device_file(p, path), device);
    if (!good) printf("\n    profiles for both devices: %s\n", err.text);
    return good;
}

bool pinned_pair_add(pinned_pair *p, const clf_profile *second) {
    char path[80];
    snprintf(path, sizeof path, "%s/second.txt", p->folder);
    p->third = write_device(path, second);
    if (!p->third) printf("\n    no profile for a second device\n");
    return p->third;
}

bool pinned_pair_set(const pinned_pair *p, clf_ctx *c) {
    char path[80], both[200];
    snprintf(both, sizeof both, "%s,%s/second.txt", device_file(p, path), p->folder);
    return clf_set(c, "cache_dir", p->folder) == CLF_OK && clf_set(c, "profile_file", p->third ? both : path) == CLF_OK &&
           (!p->third || clf_set(c, "device", "1,2") == CLF_OK) && clf_set(c, "fuse", "cost") == CLF_OK;
}

clf_ctx *pinned_pair_open(const pinned_pair *p) {
    clf_ctx *c = NULL;
    clf_device d = {.struct_size = sizeof d};
    if (clf_open(&c, NULL) != CLF_OK) return NULL;
    bool there = clf_device_at(c, 2, &d);
    if (there && pinned_pair_set(p, c)) return c;
    if (there) { /* a test without its devices is no test */
        printf("\n    two devices: %s\n", clf_last_error(c));
        exit(1);
    }
    clf_close(c);
    return NULL;
}

void pinned_pair_two_devices(void) { setenv("POCL_DEVICES", "pthread pthread", 1); }

void pinned_pair_remove(pinned_pair *p) {
    char command[sizeof p->folder + 16];
    snprintf(command, sizeof command, "rm -rf %s", p->folder);
    if (!p->folder[0] || system(command)) printf("\n    %s is left behind\n", p->folder);
    p->folder[0] = 0;
}

/* Good at nothing (sides 0), or at one of two halves of all operators: additions of doubles and all else of floats (1), or the rest (2). */
static void one_sided(clf_profile *p, clf_device_kind kind, int side) {
    const double slow = 1e3, fast = 1e10;
    clf_profile_assume(p, kind, 2);
    for (int w = 0; w < 2; w++)
        for (int k = 0; k < CLF_NCLASSES; k++) p->cells_per_s[w][k] = side && ((k == CLF_CLASS_ADD) == w) == (side == 1) ? fast : slow;
    p->launch_async_ns = 1e3;
    p->launch_sync_ns = 2e3;
    p->second_core_ns = 0;
}

void pinned_pair_contrast(clf_profile *host, clf_profile *device) {
    one_sided(host, CLF_DEV_HOST, 2);
    one_sided(device, CLF_DEV_CPU, 1);
    device->rows_at_once = 4;
}

void pinned_pair_contrast_two(clf_profile *host, clf_profile *first, clf_profile *second) {
    one_sided(host, CLF_DEV_HOST, 0);
    one_sided(first, CLF_DEV_CPU, 1);
    one_sided(second, CLF_DEV_CPU, 2);
    first->rows_at_once = 1;
    second->rows_at_once = 2;
}

void pinned_pair_alike(clf_profile *p, clf_device_kind kind, double faster) {
    clf_profile_assume(p, kind, 2);
    for (int i = 0; i < CLF_PROFILE_TIERS; i++) p->read_bytes_per_s[i] = 1e9 * faster;
    for (int w = 0; w < 2; w++)
        for (int k = 0; k < CLF_NCLASSES; k++) p->cells_per_s[w][k] = 1e12;
    p->launch_async_ns = p->launch_sync_ns = 1e3;
    p->second_core_ns = 0;
    p->zero_copy = 1;
}
