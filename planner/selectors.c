/* SPDX-License-Identifier: Apache-2.0
 * The selector table: `none` stores every result, `all` fuses whatever exploration allows. The exact planner adds rows. */
#include "planner/select.h"

static bool fuse_none(const clf_memo *m, int32_t n, int k) {
    (void)m, (void)n, (void)k;
    return false;
}

static const clf_selector none = {"none", fuse_none, false};
static const clf_selector all = {"all", clf_memo_fusable, true};
const clf_selector *const clf_selectors[] = {&all, &none, NULL};
