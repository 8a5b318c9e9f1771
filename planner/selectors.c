/* SPDX-License-Identifier: Apache-2.0
 * The selector table: `none` stores every result, `all` fuses whatever exploration allows. The exact planner adds rows. */
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

static const clf_selector none = {"none", fuse_none, false};
static const clf_selector all = {"all", fuse_all, true};
const clf_selector *const clf_selectors[] = {&all, &none, NULL};

const clf_selector *clf_selector_find(const char *name) {
    for (int i = 0; clf_selectors[i]; i++)
        if (!strcmp(clf_selectors[i]->name, name)) return clf_selectors[i];
    return NULL;
}
