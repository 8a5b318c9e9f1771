/* SPDX-License-Identifier: Apache-2.0
 * CLF_PROFILE's table: kinds of steps by time, then what is not a step, then the sum, which is the wall time. */
#include <stdio.h>
#include <string.h>

#include "host/run/meter.h"

enum { MOST_ROWS = 30, LINE = 256 };

typedef struct printer {
    const clf_meter *m;
    void (*line)(void *user, const char *text);
    void *user;
    double wall_ns;
} printer;

static const char *pick_unit(double *x, const char *const *unit, int n) {
    int i = 0;
    while (i < n - 1 && *x >= 1000) {
        *x /= 1000;
        i++;
    }
    return unit[i];
}

static void put_time(char out[24], double ns) {
    static const char *const unit[] = {"ns", "us", "ms", "s"};
    const char *u = pick_unit(&ns, unit, 4);
    snprintf(out, 24, "%.4g %s", ns, u);
}

static void put_bytes(char out[24], double bytes) {
    static const char *const unit[] = {"B", "kB", "MB", "GB", "TB"};
    const char *u = pick_unit(&bytes, unit, 5);
    snprintf(out, 24, "%.4g %s", bytes, u);
}

static void put_row(const printer *p, const clf_meter_row *r) {
    char text[LINE], time[24], bytes[24], roof[24] = "", predicted[24];
    double ns = r->ns ? (double)r->ns : 1;
    put_time(time, (double)r->ns);
    put_time(predicted, r->predicted_ns);
    put_bytes(bytes, r->bytes);
    if (r->bytes > 0) snprintf(roof, sizeof roof, "%.0f %%%s", 100 * r->roof_ns / ns, r->assumed ? "?" : "");
    snprintf(text, sizeof text, " %-44.44s %-13.13s %8llu %11s %6.1f %% %11s %9s %7.3g %8s", r->name, r->by, (unsigned long long)r->calls,
             time, 100 * (double)r->ns / p->wall_ns, predicted, bytes, r->bytes / ns, roof);
    p->line(p->user, text);
}

/* Rows by time, longest first; equal ones in the order they came. */
static int sort_rows(const clf_meter *m, int16_t *order) {
    for (int i = 0; i < m->nrow; i++) {
        int k = i;
        for (; k > 0 && m->row[order[k - 1]].ns < m->row[i].ns; k--) order[k] = order[k - 1];
        order[k] = (int16_t)i;
    }
    return m->nrow;
}

static void put_rest(const printer *p, const int16_t *order, int from, int n) {
    clf_meter_row rest = {.name = "", .by = ""};
    for (int i = from; i < n; i++) {
        const clf_meter_row *r = &p->m->row[order[i]];
        rest.calls += r->calls;
        rest.ns += r->ns;
        rest.bytes += r->bytes;
        rest.roof_ns += r->roof_ns;
        rest.predicted_ns += r->predicted_ns;
        rest.assumed = rest.assumed || r->assumed;
    }
    snprintf(rest.name, sizeof rest.name, "%d kinds of steps more", n - from);
    if (n > from) put_row(p, &rest);
}

static void put_part(const printer *p, clf_meter_part part) {
    char text[LINE], time[24], times[24] = "";
    put_time(time, (double)p->m->ns[part]);
    if (part != CLF_PART_OUTSIDE && part != CLF_PART_BUILD) snprintf(times, sizeof times, "%llu", (unsigned long long)p->m->times[part]);
    snprintf(text, sizeof text, " %-44.44s %-13s %8s %11s %6.1f %%", clf_meter_part_name(part), "", times, time,
             100 * (double)p->m->ns[part] / p->wall_ns);
    p->line(p->user, text);
}

static void put_sum(const printer *p) {
    char text[LINE], time[24];
    uint64_t sum = 0;
    for (int i = 0; i < CLF_NPARTS; i++) sum += p->m->ns[i];
    put_time(time, (double)sum);
    snprintf(text, sizeof text, " %-44s %-13s %8s %11s %6.1f %%", "together", "", "", time, 100 * (double)sum / p->wall_ns);
    p->line(p->user, text);
}

void clf_meter_print(const clf_meter *m, void (*line)(void *user, const char *text), void *user) {
    int16_t order[CLF_METER_ROWS];
    char text[LINE], time[24];
    uint64_t wall = m->mark_ns - m->began_ns;
    printer p = {m, line, user, wall ? (double)wall : 1};
    int n = sort_rows(m, order);
    bool assumed = false;
    put_time(time, (double)wall);
    snprintf(text, sizeof text, "clfuse profile: %s since the context opened or was told to measure; every step waited for", time);
    line(user, text);
    snprintf(text, sizeof text, " %-44s %-13s %8s %11s %8s %11s %9s %7s %8s", "step", "by", "calls", "time", "share", "predicted", "bytes",
             "GB/s", "of roof");
    line(user, text);
    for (int i = 0; i < n; i++) assumed = assumed || m->row[i].assumed;
    for (int i = 0; i < n && i < MOST_ROWS; i++) put_row(&p, &m->row[order[i]]);
    put_rest(&p, order, n < MOST_ROWS ? n : MOST_ROWS, n);
    for (int i = CLF_PART_STEP - 1; i >= 0; i--)
        if (m->ns[i]) put_part(&p, (clf_meter_part)i);
    put_sum(&p);
    if (assumed) line(user, " ? the device's figures are assumed, not measured: clfuse doctor --calibrate");
}
