/* SPDX-License-Identifier: Apache-2.0
 * Settings: one table (knobs.def), one parser a type, and the closed value sets. A value that is refused changes nothing.
 * A name out of a closed set is CLF_E_NAME (the tool's exit 2), a malformed or out-of-range value CLF_E_ARG. */
#include "core/knobs.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "core/trace.h"

const clf_knob_row clf_knob_rows[] = {
#define CLF_KNOB(field, type, env, def, in_key, doc) {#field, #type, env, def, in_key, doc},
#include "core/knobs.def"
#undef CLF_KNOB
    {NULL, NULL, NULL, NULL, 0, NULL},
};

static const size_t offsets[] = {
#define CLF_KNOB(field, type, env, def, in_key, doc) offsetof(clf_knobs, field),
#include "core/knobs.def"
#undef CLF_KNOB
};

/* Values of a TEXT knob, separated by '|'. */
static const struct {
    const char *field, *allowed;
} closed_sets[] = {
    {"fuse", "none|all|nored|cost"},      {"tier", "auto|0|1|2|ref"},  {"strategy", "auto|chunk|group|stride|generic"},
    {"isa", "auto|baseline|avx2|avx512"}, {"dtype", "f64|f32"},        {"sparse", "structural|ieee"},
    {"math", "strict|reassociate|fast"},  {"progress", "auto|on|off"}, {"cache", "on|off|readonly"},
    {"compile", "background|wait|off"},   {"clblast", "auto|on|off"},  {"transfer_queue", "auto|on|off"},
    {"results", "device|all|host"},       {"trial", "auto|on|off"},
};

/* Ranges of INT knobs; `only` restricts to 0, 32, 64. */
static const struct {
    const char *field;
    int64_t min, max;
    bool only;
} ranges[] = {
    {"threads", 0, 4096, false}, {"kernel_ops", 1, 1 << 20, false}, {"search", 0, 1000000, false},
    {"index_bits", 0, 64, true}, {"worker_ms", 1, 3600000, false},
};

#define COUNT(a) (sizeof(a) / sizeof *(a))

static bool in_set(const char *set, const char *value) {
    size_t n = strlen(value);
    for (const char *at = set; *at;) {
        size_t len = strcspn(at, "|");
        if (len == n && memcmp(at, value, n) == 0) return true;
        at += len + (at[len] == '|');
    }
    return false;
}

static clf_status check_set(const clf_knob_row *row, const char *value, clf_err *err) {
    for (size_t i = 0; i < COUNT(closed_sets); i++) {
        if (strcmp(closed_sets[i].field, row->field) != 0 || in_set(closed_sets[i].allowed, value)) continue;
        return clf_fail(err, CLF_E_NAME, "%s (%s): unknown value '%.64s', expected one of %s", row->field, row->env, value,
                        closed_sets[i].allowed);
    }
    return CLF_OK;
}

/* A percentage from 1 to 99; 0: something else. */
static long share_in(const char *text, char **end) {
    long n = isdigit((unsigned char)*text) ? strtol(text, end, 10) : 0;
    return n < 100 ? n : 0;
}

/* off, auto, or how much of a whole: one share or two, and something is left. */
static clf_status check_share(const clf_knob_row *row, const char *value, clf_err *err) {
    char *end = NULL;
    if (strcmp(row->field, "split") != 0 || in_set("auto|off", value)) return CLF_OK;
    long n = share_in(value, &end), also = 0;
    bool two = n && *end == '+';
    if (two) also = share_in(end + 1, &end);
    if (n < 1 || two != (also > 0) || n + also > 99 || *end)
        return clf_fail(err, CLF_E_NAME,
                        "%s (%s): unknown value '%.64s', expected auto, off, or a percentage from 1 to 99, or two as 40+30", row->field,
                        row->env, value);
    return CLF_OK;
}

static clf_status check_topics(const clf_knob_row *row, const char *value, clf_err *err) {
    uint32_t mask;
    const char *bad = NULL;
    if (strcmp(row->field, "log") != 0 || clf_trace_mask(value, &mask, &bad)) return CLF_OK;
    return clf_fail(err, CLF_E_NAME, "%s (%s): unknown topic '%.*s'; %s", row->field, row->env, (int)strcspn(bad, ", "), bad, row->doc);
}

static clf_status set_text(void *at, const clf_knob_row *row, const char *value, clf_err *err) {
    size_t n = strlen(value);
    if (n >= CLF_KNOB_TEXT_MAX)
        return clf_fail(err, CLF_E_ARG, "%s (%s): value of %zu characters, at most %d", row->field, row->env, n, CLF_KNOB_TEXT_MAX - 1);
    CLF_TRY(check_set(row, value, err));
    CLF_TRY(check_topics(row, value, err));
    CLF_TRY(check_share(row, value, err));
    memcpy(at, value, n + 1);
    return CLF_OK;
}

static bool parse_size(const char *value, size_t *out) {
    static const char units[] = "KMGT";
    char *end;
    if (!isdigit((unsigned char)*value)) return false;
    errno = 0;
    unsigned long long n = strtoull(value, &end, 10);
    if (errno) return false;
    size_t scale = 1;
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (unit) {
        scale = (size_t)1 << (10 * (unit - units + 1));
        end++;
    }
    return *end == '\0' && n <= SIZE_MAX && !__builtin_mul_overflow((size_t)n, scale, out);
}

static clf_status set_size(void *at, const clf_knob_row *row, const char *value, clf_err *err) {
    size_t bytes;
    if (!parse_size(value, &bytes))
        return clf_fail(err, CLF_E_ARG, "%s (%s): '%.64s' is not a size such as 512M or 2G", row->field, row->env, value);
    *(clf_knob_SIZE *)at = bytes;
    return CLF_OK;
}

static clf_status check_range(const clf_knob_row *row, int64_t x, clf_err *err) {
    for (size_t i = 0; i < COUNT(ranges); i++) {
        if (strcmp(ranges[i].field, row->field) != 0) continue;
        if (x < ranges[i].min || x > ranges[i].max)
            return clf_fail(err, CLF_E_ARG, "%s (%s): %lld is not within %lld to %lld", row->field, row->env, (long long)x,
                            (long long)ranges[i].min, (long long)ranges[i].max);
        if (ranges[i].only && x % 32 != 0)
            return clf_fail(err, CLF_E_ARG, "%s (%s): %lld is not 0, 32 or 64", row->field, row->env, (long long)x);
    }
    return CLF_OK;
}

static clf_status set_int(void *at, const clf_knob_row *row, const char *value, clf_err *err) {
    char *end;
    errno = 0;
    long long x = strtoll(value, &end, 10);
    if (errno || end == value || *end)
        return clf_fail(err, CLF_E_ARG, "%s (%s): '%.64s' is not a whole number", row->field, row->env, value);
    CLF_TRY(check_range(row, x, err));
    *(clf_knob_INT *)at = x;
    return CLF_OK;
}

static clf_status set_bool(void *at, const clf_knob_row *row, const char *value, clf_err *err) {
    bool on = in_set("on|1|true|yes", value);
    if (!on && !in_set("off|0|false|no", value))
        return clf_fail(err, CLF_E_ARG, "%s (%s): '%.64s' is not on or off", row->field, row->env, value);
    *(clf_knob_BOOL *)at = on;
    return CLF_OK;
}

static clf_status set_row(clf_knobs *k, size_t i, const char *value, clf_err *err) {
    static const struct {
        const char *type;
        clf_status (*set)(void *at, const clf_knob_row *row, const char *value, clf_err *err);
    } setters[] = {{"TEXT", set_text}, {"SIZE", set_size}, {"INT", set_int}, {"BOOL", set_bool}};
    const clf_knob_row *row = &clf_knob_rows[i];
    for (size_t s = 0; s < COUNT(setters); s++)
        if (strcmp(setters[s].type, row->type) == 0) return setters[s].set((char *)k + offsets[i], row, value, err);
    return clf_fail(err, CLF_E_INTERNAL, "knob %s has no setter for type %s", row->field, row->type);
}

void clf_knobs_init(clf_knobs *k) {
    memset(k, 0, sizeof *k);
    for (size_t i = 0; clf_knob_rows[i].field; i++) (void)set_row(k, i, clf_knob_rows[i].def, NULL);
}

clf_status clf_knobs_set(clf_knobs *k, const char *name, const char *value, clf_err *err) {
    if (!name || !value) return clf_fail(err, CLF_E_ARG, "a knob needs a name and a value");
    for (size_t i = 0; clf_knob_rows[i].field; i++)
        if (strcmp(clf_knob_rows[i].field, name) == 0 || strcmp(clf_knob_rows[i].env, name) == 0) return set_row(k, i, value, err);
    return clf_fail(err, CLF_E_NAME, "unknown knob '%.64s'", name);
}

clf_status clf_knobs_env(clf_knobs *k, clf_err *err) {
    for (size_t i = 0; clf_knob_rows[i].field; i++) {
        const char *value = getenv(clf_knob_rows[i].env);
        if (value) CLF_TRY(set_row(k, i, value, err));
    }
    return CLF_OK;
}
