/* SPDX-License-Identifier: Apache-2.0
 * Profiles as text: "key value..." lines, one row of a table per key, '#' starts a comment line. Numbers are written with 17
 * digits, so print and parse are inverse to the bit; both run in the C locale whatever the program uses. A parse is all or nothing. */
#include <errno.h>
#include <locale.h>
#include <math.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "device/device_internal.h"

typedef enum row_kind { ROW_TEXT, ROW_INT, ROW_REAL } row_kind;
typedef struct row {
    const char *key;
    row_kind kind;
    size_t at;
    int count;
} row;

#define AT(f) offsetof(clf_profile, f)
#define CLASS32(c) {"cells_per_s.f32." #c, ROW_REAL, offsetof(clf_profile, cells_per_s[0][CLF_CLASS_##c]), 1},
#define CLASS64(c) {"cells_per_s.f64." #c, ROW_REAL, offsetof(clf_profile, cells_per_s[1][CLF_CLASS_##c]), 1},
static const row rows[] = {
    {"name", ROW_TEXT, AT(name), 1},
    {"driver", ROW_TEXT, AT(driver), 1},
    {"kind", ROW_INT, AT(kind), 1},
    {"cores", ROW_INT, AT(cores), 1},
    {"zero_copy", ROW_INT, AT(zero_copy), 1},
    {"fp64", ROW_INT, AT(fp64), 1},
    {"assumed", ROW_INT, AT(assumed), 1},
    {"tier_bytes", ROW_REAL, AT(tier_bytes), CLF_PROFILE_TIERS},
    {"read_bytes_per_s", ROW_REAL, AT(read_bytes_per_s), CLF_PROFILE_TIERS},
    {"write_cost", ROW_REAL, AT(write_cost), 1},
    CLF_OP_CLASSES(CLASS32) CLF_OP_CLASSES(CLASS64){"fma_per_s", ROW_REAL, AT(fma_per_s), 2},
    {"tile_fma_per_s", ROW_REAL, AT(tile_fma_per_s), 2},
    {"overlap", ROW_REAL, AT(overlap), 1},
    {"row_alone", ROW_REAL, AT(row_alone), 1},
    {"entry_alone", ROW_REAL, AT(entry_alone), 1},
    {"registers", ROW_REAL, AT(registers), 1},
    {"unit_groups", ROW_REAL, AT(unit_groups), 1},
    {"group_cells", ROW_REAL, AT(group_cells), 1},
    {"group_sum_bytes", ROW_REAL, AT(group_sum_bytes), 1},
    {"unit_local_bytes", ROW_REAL, AT(unit_local_bytes), 1},
    {"group_items", ROW_REAL, AT(group_items), CLF_GROUP_KINDS},
    {"item_cells", ROW_REAL, AT(item_cells), 2},
    {"rows_at_once", ROW_REAL, AT(rows_at_once), 1},
    {"row_ns", ROW_REAL, AT(row_ns), 1},
    {"dot_ns", ROW_REAL, AT(dot_ns), 1},
    {"pair_ns", ROW_REAL, AT(pair_ns), 1},
    {"side_ns", ROW_REAL, AT(side_ns), 1},
    {"entry_ns", ROW_REAL, AT(entry_ns), 1},
    {"pick_ns", ROW_REAL, AT(pick_ns), 1},
    {"scatter_ns", ROW_REAL, AT(scatter_ns), 1},
    {"entry_row_ns", ROW_REAL, AT(entry_row_ns), 1},
    {"locate_ns", ROW_REAL, AT(locate_ns), 1},
    {"gap_ns", ROW_REAL, AT(gap_ns), 1},
    {"gather_ns", ROW_REAL, AT(gather_ns), CLF_PROFILE_TIERS},
    {"library_flops_per_s", ROW_REAL, AT(library_flops_per_s), 2},
    {"library_half", ROW_REAL, AT(library_half), 2},
    {"library_row_ns", ROW_REAL, AT(library_row_ns), 2},
    {"library_wait_ns", ROW_REAL, AT(library_wait_ns), 2},
    {"library_ns", ROW_REAL, AT(library_ns), 1},
    {"gemm_flops_per_s", ROW_REAL, AT(gemm_flops_per_s), 2},
    {"gemm_half_cells", ROW_REAL, AT(gemm_half_cells), 1},
    {"gemm_ns", ROW_REAL, AT(gemm_ns), 1},
    {"convert_cells_per_s", ROW_REAL, AT(convert_cells_per_s), 1},
    {"convert_entries_per_s", ROW_REAL, AT(convert_entries_per_s), 1},
    {"callout_bytes_per_s", ROW_REAL, AT(callout_bytes_per_s), 1},
    {"callout_ns", ROW_REAL, AT(callout_ns), 1},
    {"launch_async_ns", ROW_REAL, AT(launch_async_ns), 1},
    {"launch_sync_ns", ROW_REAL, AT(launch_sync_ns), 1},
    {"second_core_ns", ROW_REAL, AT(second_core_ns), 1},
    {"transfer_bytes_per_s", ROW_REAL, AT(transfer_bytes_per_s), 1},
    {"transfer_ns", ROW_REAL, AT(transfer_ns), 1},
    {"pinned_bytes_per_s", ROW_REAL, AT(pinned_bytes_per_s), 1},
    {"max_alloc_bytes", ROW_REAL, AT(max_alloc_bytes), 1},
    {"mem_bytes", ROW_REAL, AT(mem_bytes), 1},
    {"max_arg_bytes", ROW_REAL, AT(max_arg_bytes), 1},
    {"llc_bytes", ROW_REAL, AT(llc_bytes), 1},
};
enum { NROWS = sizeof rows / sizeof *rows, LINE = 256 };

static locale_t c_locale(void) {
    locale_t c = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    return c ? uselocale(c) : (locale_t)0;
}

static void c_locale_end(locale_t old) {
    if (!old) return;
    locale_t c = uselocale(old);
    if (c != LC_GLOBAL_LOCALE && c) freelocale(c);
}

static void row_print(const clf_profile *p, const row *r, clf_str *out) {
    const char *at = (const char *)p + r->at;
    clf_str_fmt(out, "%s", r->key);
    if (r->kind == ROW_TEXT) clf_str_fmt(out, " %s", at);
    if (r->kind == ROW_INT) clf_str_fmt(out, " %d", *(const int *)(const void *)at);
    for (int i = 0; r->kind == ROW_REAL && i < r->count; i++) clf_str_fmt(out, " %.17g", ((const double *)(const void *)at)[i]);
    clf_str_put(out, "\n");
}

void clf_profile_print(const clf_profile *p, clf_str *out) {
    locale_t old = c_locale();
    for (int i = 0; i < NROWS; i++) row_print(p, &rows[i], out);
    c_locale_end(old);
}

void clf_profile_key(const clf_profile *p, clf_str *out) {
    for (int i = 0; i < NROWS; i++) {
        const char *at = (const char *)p + rows[i].at;
        size_t n = rows[i].kind == ROW_TEXT  ? strlen(at) + 1
                   : rows[i].kind == ROW_INT ? sizeof(int)
                                             : (size_t)rows[i].count * sizeof(double);
        clf_str_putn(out, at, n);
    }
}

/* One non-negative finite decimal number up to a blank or the end; the rest, or NULL. */
static const char *real_parse(const char *s, double *out) {
    char *end;
    s += strspn(s, " \t");
    if (!(*s >= '0' && *s <= '9') || s[1] == 'x' || s[1] == 'X') return NULL;
    *out = strtod(s, &end);
    if (!isfinite(*out) || (*end && *end != ' ' && *end != '\t')) return NULL;
    return end;
}

static const char *int_parse(const char *s, int *out) {
    double x;
    s = real_parse(s, &x);
    if (!s || x > INT_MAX || x != (double)(int)x) return NULL;
    *out = (int)x;
    return s;
}

static const char *value_parse(const row *r, clf_profile *p, const char *s) {
    char *at = (char *)p + r->at;
    if (r->kind == ROW_TEXT) {
        if (strlen(s) >= CLF_PROFILE_NAME) return NULL;
        snprintf(at, CLF_PROFILE_NAME, "%s", s);
        return s + strlen(s);
    }
    if (r->kind == ROW_INT) return int_parse(s, (int *)(void *)at);
    for (int i = 0; s && i < r->count; i++) s = real_parse(s, (double *)(void *)at + i);
    return s;
}

static clf_status line_parse(clf_profile *p, char *line, int number, bool *seen, clf_err *err) {
    size_t key = strcspn(line, " \t");
    if (!*line || *line == '#') return CLF_OK;
    for (int i = 0; i < NROWS; i++) {
        if (strlen(rows[i].key) != key || memcmp(rows[i].key, line, key)) continue;
        if (seen[i]) return clf_fail(err, CLF_E_FORMAT, "profile line %d: '%s' is there twice", number, rows[i].key);
        seen[i] = true;
        const char *rest = value_parse(&rows[i], p, line + key + (line[key] != 0));
        if (!rest || rest[strspn(rest, " \t")])
            return clf_fail(err, CLF_E_FORMAT, "profile line %d: bad value for '%s'", number, rows[i].key);
        return CLF_OK;
    }
    return clf_fail(err, CLF_E_FORMAT, "profile line %d: unknown key '%.*s'", number, (int)(key > 60 ? 60 : key), line);
}

static clf_status lines_parse(clf_profile *p, const char *text, size_t n, clf_err *err) {
    bool seen[NROWS] = {false};
    int number = 0;
    while (n) {
        char line[LINE];
        const char *nl = memchr(text, '\n', n);
        size_t len = nl ? (size_t)(nl - text) : n, used = nl ? len + 1 : len;
        number++;
        if (len >= sizeof line) return clf_fail(err, CLF_E_FORMAT, "profile line %d is too long", number);
        if (memchr(text, 0, len)) return clf_fail(err, CLF_E_FORMAT, "profile line %d holds a NUL byte", number);
        memcpy(line, text, len);
        line[len] = 0;
        while (len && line[len - 1] == '\r') line[--len] = 0; /* else a name could end in one, and lose it when it is read again */
        CLF_TRY(line_parse(p, line, number, seen, err));
        text += used;
        n -= used;
    }
    return CLF_OK;
}

static bool is_group(double n) { return n == 64 || n == 128 || n == 256; }
static bool is_run(double n) { return n == 1 || n == 2 || n == 4; }

static clf_status sane(const clf_profile *p, clf_err *err) {
    if (p->kind > CLF_DEV_GPU || p->cores < 1)
        return clf_fail(err, CLF_E_FORMAT, "profile: kind %d with %d cores makes no sense", p->kind, p->cores);
    for (int i = 0; i < CLF_PROFILE_TIERS; i++)
        if (!(p->read_bytes_per_s[i] > 0) || (i && p->tier_bytes[i] < p->tier_bytes[i - 1]))
            return clf_fail(err, CLF_E_FORMAT, "profile: tier %d is not larger than the one before or has no speed", i + 1);
    for (int c = 0; c < CLF_NCLASSES; c++)
        if (!(p->cells_per_s[0][c] > 0) || (p->fp64 && !(p->cells_per_s[1][c] > 0)))
            return clf_fail(err, CLF_E_FORMAT, "profile: a cost class has no speed");
    bool products = p->fma_per_s[0] > 0 && p->library_flops_per_s[0] > 0;
    bool wide = p->fma_per_s[1] > 0 && p->library_flops_per_s[1] > 0;
    if (!products || (p->fp64 && !wide)) return clf_fail(err, CLF_E_FORMAT, "profile: products have no speed");
    for (int k = 0; k < CLF_GROUP_KINDS; k++)
        if (p->group_items[k] != 0 && !is_group(p->group_items[k]))
            return clf_fail(err, CLF_E_FORMAT, "profile: groups of %g work-items are none", p->group_items[k]);
    for (int w = 0; w < 2; w++)
        if (p->item_cells[w] != 0 && !is_run(p->item_cells[w]))
            return clf_fail(err, CLF_E_FORMAT, "profile: a work-item takes no %g cells at once", p->item_cells[w]);
    if (p->rows_at_once != 0 && !is_run(p->rows_at_once))
        return clf_fail(err, CLF_E_FORMAT, "profile: a loop takes no %g rows at once", p->rows_at_once);
    const double alone = p->row_alone > p->entry_alone ? p->row_alone : p->entry_alone;
    if (alone > 1) return clf_fail(err, CLF_E_FORMAT, "profile: a part of %g that nothing hides is more than all", alone);
    if (p->overlap > 1) return clf_fail(err, CLF_E_FORMAT, "profile: an overlap of %g is more than all", p->overlap);
    if (!(p->convert_cells_per_s > 0) || !(p->convert_entries_per_s > 0) || !(p->callout_bytes_per_s > 0))
        return clf_fail(err, CLF_E_FORMAT, "profile: conversions or structural operators have no speed");
    return CLF_OK;
}

clf_status clf_profile_parse(clf_profile *p, const char *text, size_t n, clf_err *err) {
    clf_profile work = *p;
    locale_t old = c_locale();
    clf_status st = lines_parse(&work, text, n, err);
    c_locale_end(old);
    if (st == CLF_OK) st = sane(&work, err);
    if (st == CLF_OK) *p = work;
    return st;
}

/* A CPU that OpenCL calls a device reads the memory that the host reads. On a machine with neighbours either figure may be low. */
static void share_memory(clf_profile *p, const clf_profile *host) {
    enum { MEMORY = CLF_PROFILE_TIERS - 1 };
    const bool same = p->kind == CLF_DEV_CPU && p->zero_copy && !p->assumed && !host->assumed;
    if (same && p->read_bytes_per_s[MEMORY] < host->read_bytes_per_s[MEMORY]) p->read_bytes_per_s[MEMORY] = host->read_bytes_per_s[MEMORY];
}

void clf_profile_take_host(clf_profile *p, const clf_profile *host) {
    share_memory(p, host);
    memcpy(p->library_flops_per_s, host->library_flops_per_s, sizeof p->library_flops_per_s);
    memcpy(p->library_half, host->library_half, sizeof p->library_half);
    memcpy(p->library_row_ns, host->library_row_ns, sizeof p->library_row_ns);
    memcpy(p->library_wait_ns, host->library_wait_ns, sizeof p->library_wait_ns);
    p->library_ns = host->library_ns;
    p->gap_ns = host->gap_ns;
    p->convert_cells_per_s = host->convert_cells_per_s;
    p->convert_entries_per_s = host->convert_entries_per_s;
    p->callout_bytes_per_s = host->callout_bytes_per_s;
    p->callout_ns = host->callout_ns;
}

double clf_profile_stream_s(const clf_profile *p, double bytes, double set) {
    int t = 0;
    while (t < CLF_PROFILE_TIERS - 1 && set > p->tier_bytes[t]) t++;
    return bytes / p->read_bytes_per_s[t];
}
