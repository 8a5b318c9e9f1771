/* SPDX-License-Identifier: Apache-2.0
 * Coding of text labels: open addressing with linear probing, at most half full, doubled when it would be more.
 * Invariant: codes depend on the order of appearance only, never on the hash. */
#include "formats/labels.h"

#include <string.h>

#include "core/hash.h"

enum { LABELS_FIRST_CAP = 16 };

typedef struct clf_label_slot {
    const char *at;
    size_t n;
    int64_t code; /* 0: free */
} clf_label_slot;

void clf_labels_init(clf_labels *l, clf_mem *mem) { *l = (clf_labels){.mem = mem}; }

void clf_labels_release(clf_labels *l) {
    clf_mem_free(l->mem, l->slots, l->cap, sizeof *l->slots);
    clf_labels_init(l, l->mem);
}

/* The word's slot, or the free one where it belongs. */
static clf_label_slot *find(const clf_labels *l, const char *at, size_t n) {
    size_t i = (size_t)clf_hash64(at, n, 0) & (l->cap - 1);
    while (l->slots[i].code && !(l->slots[i].n == n && memcmp(l->slots[i].at, at, n) == 0)) i = (i + 1) & (l->cap - 1);
    return &l->slots[i];
}

static clf_status grow(clf_labels *l) {
    clf_labels wide = {.mem = l->mem, .cap = l->cap ? 2 * l->cap : LABELS_FIRST_CAP, .count = l->count};
    wide.slots = clf_mem_new(l->mem, wide.cap, sizeof *wide.slots);
    if (!wide.slots) return CLF_E_NOMEM;
    for (size_t i = 0; i < l->cap; i++)
        if (l->slots[i].code) *find(&wide, l->slots[i].at, l->slots[i].n) = l->slots[i];
    clf_labels_release(l);
    *l = wide;
    return CLF_OK;
}

clf_status clf_labels_code(clf_labels *l, const char *at, size_t n, int64_t *code) {
    if (2 * ((size_t)l->count + 1) > l->cap) CLF_TRY(grow(l));
    clf_label_slot *s = find(l, at, n);
    if (!s->code) *s = (clf_label_slot){.at = at, .n = n, .code = ++l->count};
    *code = s->code;
    return CLF_OK;
}
