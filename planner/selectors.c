/* SPDX-License-Identifier: Apache-2.0
 * The selector table: `none` stores every result, `all` fuses whatever exploration allows,
 * `nored` what is read once, so that nothing but single values is computed twice or kept in a loop for two; `cost` is search.c's. */
#include <string.h>

#include "planner/select.h"

static bool fuse_none(const clf_selector *self, const clf_memo *m, int32_t n, int k) {
    (void)self, (void)m, (void)n, (void)k;
    return false;
}

/* Asked only about edges that the memo allows. */
static bool fuse_all(const clf_selector *self, const clf_memo *m, int32_t n, int k) {
    (void)self, (void)m, (void)n, (void)k;
    return true;
}

static bool fuse_read_once(const clf_selector *self, const clf_memo *m, int32_t n, int k) {
    (void)self;
    return m->readers[clf_node_operand(m->g, n, k)] == 1;
}

static const clf_selector none = {.name = "none", .fuse = fuse_none};
static const clf_selector all = {.name = "all", .fuse = fuse_all, .join = true};
static const clf_selector nored = {.name = "nored", .fuse = fuse_read_once, .join = true};
static const clf_selector cost = {.name = "cost", .fuse = fuse_all, .join = true, .searches = true};
const clf_selector *const clf_selectors[] = {&all, &none, &nored, &cost, NULL};

const clf_selector *clf_selector_find(const char *name) {
    for (int i = 0; clf_selectors[i]; i++)
        if (!strcmp(clf_selectors[i]->name, name)) return clf_selectors[i];
    return NULL;
}
