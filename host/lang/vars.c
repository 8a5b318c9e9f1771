/* SPDX-License-Identifier: Apache-2.0
 * Variables of a program: an array in order of first appearance and a hash index over it, so that programs with very many
 * assignments stay linear. Invariant: nslot is 0 or a power of two above 2*n. */
#include "core/hash.h"
#include "host/lang/lang.h"

#include <string.h>

enum { FIRST_SLOTS = 64 };

void clf_vars_init(clf_vars *v, clf_mem *mem) { *v = (clf_vars){.mem = mem}; }

void clf_vars_release(clf_vars *v) {
    clf_mem_free(v->mem, v->var, v->cap, sizeof *v->var);
    clf_mem_free(v->mem, v->slot, v->nslot, sizeof *v->slot);
    clf_vars_init(v, v->mem);
}

/* The slot that holds the name, or the empty one where it belongs. */
static size_t slot_of(const clf_vars *v, const char *name, size_t len) {
    size_t i = (size_t)clf_hash64(name, len, 0) & (v->nslot - 1);
    for (; v->slot[i]; i = (i + 1) & (v->nslot - 1)) {
        const clf_var *x = &v->var[v->slot[i] - 1];
        if (x->len == len && memcmp(x->name, name, len) == 0) break;
    }
    return i;
}

static bool more_slots(clf_vars *v) {
    size_t n = v->nslot ? v->nslot * 2 : FIRST_SLOTS, old = v->nslot;
    uint32_t *slot = clf_mem_new(v->mem, n, sizeof *slot), *was = v->slot;
    if (!slot) return false;
    v->slot = slot;
    v->nslot = n;
    for (size_t i = 0; i < v->n; i++) slot[slot_of(v, v->var[i].name, v->var[i].len)] = (uint32_t)i + 1;
    clf_mem_free(v->mem, was, old, sizeof *was);
    return true;
}

static bool more_vars(clf_vars *v) {
    size_t cap = v->cap ? v->cap * 2 : FIRST_SLOTS / 2;
    clf_var *var = cap < UINT32_MAX / 2 ? clf_mem_grow(v->mem, v->var, v->cap, cap, sizeof *var) : NULL;
    if (!var) return false;
    v->var = var;
    v->cap = cap;
    return true;
}

clf_var *clf_vars_find(const clf_vars *v, const char *name, size_t len) {
    if (!v->nslot) return NULL;
    uint32_t s = v->slot[slot_of(v, name, len)];
    return s ? &v->var[s - 1] : NULL;
}

clf_var *clf_vars_put(clf_vars *v, const char *name, size_t len) {
    clf_var *x = clf_vars_find(v, name, len);
    if (x) return x;
    if (v->n == v->cap && !more_vars(v)) return NULL;
    if (2 * (v->n + 1) >= v->nslot && !more_slots(v)) return NULL;
    x = &v->var[v->n];
    *x = (clf_var){.name = name, .len = len, .entry = CLF_NO_ENTRY};
    v->slot[slot_of(v, name, len)] = (uint32_t)++v->n;
    return x;
}
