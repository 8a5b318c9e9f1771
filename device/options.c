/* SPDX-License-Identifier: Apache-2.0
 * Build options come from a short list: what reaches the compiler is never a name or text of the user. */
#include <string.h>

#include "device/device_internal.h"

static const char *const plain_options[] = {"-cl-std=CL1.2", "-cl-opt-disable", "-cl-fp32-correctly-rounded-divide-sqrt"};

static bool option_ok(const char *s, size_t n) {
    static const char word[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
    for (size_t i = 0; i < sizeof plain_options / sizeof *plain_options; i++)
        if (strlen(plain_options[i]) == n && !memcmp(plain_options[i], s, n)) return true;
    if (n < 3 || s[0] != '-' || s[1] != 'D') return false;
    size_t name = strspn(s + 2, word);
    if (!name || (s[2] >= '0' && s[2] <= '9')) return false;
    const char *value = s + 2 + name;
    if (value == s + n) return true;
    return *value == '=' && strspn(value + 1, word) + (size_t)(value + 1 - s) == n;
}

clf_status clf_options_check(const char *options, clf_err *err) {
    for (const char *s = options + strspn(options, " "); *s; s += strspn(s, " ")) {
        size_t n = strcspn(s, " ");
        if (!option_ok(s, n)) return clf_fail(err, CLF_E_ARG, "build option '%.*s' is not allowed", (int)(n > 80 ? 80 : n), s);
        s += n;
    }
    return CLF_OK;
}
