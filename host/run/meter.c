/* SPDX-License-Identifier: Apache-2.0
 * The accounts of a meter; see meter.h. Rows are found once a prepared step (clf_exe_step.row): whatever makes or drops a meter is a
 * change of settings, which forgets all plans. */
#include "host/run/meter.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/clock.h"
#include "host/graph/explain.h"

const char *clf_meter_part_name(clf_meter_part p) {
    static const char *const name[] = {
#define P(id, text) text,
        CLF_PARTS(P)
#undef P
    };
    return (unsigned)p < CLF_NPARTS ? name[p] : "";
}

/* ---- charging ---- */

static int innermost(const clf_meter *m) { return m->deep < CLF_METER_DEEP ? m->deep : CLF_METER_DEEP; }

static void charge(clf_meter *m, uint64_t now) {
    int i = innermost(m) - 1;
    uint64_t ns = now - m->mark_ns;
    m->mark_ns = now;
    m->ns[i < 0 ? CLF_PART_OUTSIDE : m->frame[i].part] += ns;
    if (i >= 0 && m->frame[i].row >= 0) m->row[m->frame[i].row].ns += ns;
}

static void push(clf_meter *m, clf_meter_part part, int row) {
    uint64_t now = clf_now_ns();
    charge(m, now);
    m->times[part]++;
    if (m->deep < CLF_METER_DEEP) {
        m->frame[m->deep].part = part;
        m->frame[m->deep].row = row;
        m->frame[m->deep].start_ns = now;
    }
    m->deep++;
}

/* Calls shorter than this are not worth a slice: a program records thousands of nodes. */
enum { SHORTEST_CALL_NS = 5000 };

static void pop(clf_meter *m, double bytes) {
    uint64_t now = clf_now_ns();
    if (!m->deep) return; /* entered before the meter was there */
    charge(m, now);
    if (--m->deep >= CLF_METER_DEEP) return;
    clf_meter_part part = m->frame[m->deep].part;
    int row = m->frame[m->deep].row;
    clf_meter_event e = {.start_ns = m->frame[m->deep].start_ns, .bytes = bytes, .part = (int16_t)part, .row = (int16_t)row};
    e.ns = now - e.start_ns;
    e.track = row >= 0 ? m->row[row].track : CLF_TRACK_HOST;
    if (m->path[0] && (part != CLF_PART_CALLS || e.ns >= SHORTEST_CALL_NS)) clf_meter_note(m, &e);
}

void clf_meter_enter(clf_meter *m, clf_meter_part part) {
    if (m) push(m, part, -1);
}

void clf_meter_leave(clf_meter *m) {
    if (m) pop(m, 0);
}

/* ---- steps ---- */

static void fill_row(clf_ctx *c, const clf_exe *x, int32_t s, clf_meter_row *row) {
    enum { MOST_OPERATORS = 12 };
    const clf_report r = {.c = c, .x = x};
    const clf_step *t = &x->plan->step[s];
    const clf_exe_step *e = &x->step[s];
    clf_str name;
    clf_str_init(&name, &c->mem);
    clf_str_put(&name, clf_report_template(&r, t));
    if (t->kind == CLF_STEP_FUSED) {
        clf_str_put(&name, ": ");
        clf_report_covers(&r, t, MOST_OPERATORS, &name);
    }
    memset(row, 0, sizeof *row);
    snprintf(row->name, sizeof row->name, "%s", clf_str_c(&name));
    snprintf(row->by, sizeof row->by, "%s", clf_report_skeleton(e));
    row->assumed = clf_report_profile(&r, s)->assumed;
    row->track = clf_exe_on_device(e) ? CLF_TRACK_QUEUE + clf_exe_device(x, e) : CLF_TRACK_HOST;
    clf_str_release(&name);
}

static int new_row(clf_meter *m, const clf_meter_row *like) {
    if (m->nrow == CLF_METER_ROWS) return m->nrow - 1;
    m->row[m->nrow] = *like;
    if (m->nrow == CLF_METER_ROWS - 1) {
        snprintf(m->row[m->nrow].name, sizeof m->row[m->nrow].name, "other steps");
        snprintf(m->row[m->nrow].by, sizeof m->row[m->nrow].by, "several");
    }
    return m->nrow++;
}

/* Steps of one name and executor are one row, whatever plan they are of. */
static int row_of(clf_ctx *c, const clf_exe *x, int32_t s) {
    clf_meter *m = c->meter;
    clf_exe_step *e = &x->step[s];
    clf_meter_row row;
    if (e->row) return e->row - 1;
    fill_row(c, x, s, &row);
    int i = 0;
    while (i < m->nrow && (strcmp(m->row[i].name, row.name) || strcmp(m->row[i].by, row.by) || m->row[i].track != row.track)) i++;
    if (i == m->nrow) i = new_row(m, &row);
    e->row = i + 1;
    return i;
}

void clf_meter_step(clf_ctx *c, const clf_exe *x, int32_t s) {
    if (c->meter) push(c->meter, CLF_PART_STEP, row_of(c, x, s));
}

void clf_meter_step_done(clf_ctx *c, const clf_exe *x, int32_t s) {
    clf_meter *m = c->meter;
    if (!m) return;
    const clf_exe_step *e = &x->step[s];
    clf_meter_row *row = &m->row[e->row - 1];
    double bytes = e->read_bytes + e->write_bytes;
    const clf_profile *dev = clf_exe_on_device(e) ? clf_run_profile_of(c, clf_exe_device(x, e)) : clf_run_host_profile(c);
    row->calls++;
    row->bytes += bytes;
    row->predicted_ns += e->predicted_ns;
    row->roof_ns += 1e9 * clf_profile_stream_s(dev, bytes, bytes);
    pop(m, bytes);
}

/* ---- there or not ---- */

static void watch_worker(void *user, int worker, uint64_t start_ns, uint64_t end_ns) {
    clf_meter *m = user;
    int i = innermost(m) - 1;
    clf_meter_event e = {.start_ns = start_ns, .ns = end_ns - start_ns, .track = CLF_TRACK_WORKER + worker};
    e.part = (int16_t)(i < 0 ? CLF_PART_CALLS : m->frame[i].part);
    e.row = (int16_t)(i < 0 ? -1 : m->frame[i].row);
    clf_meter_note(m, &e);
}

/* Said now, and not when all is over. */
static clf_status try_file(const char *path, clf_err *err) {
    char why[128];
    FILE *f = fopen(path, "ab");
    if (!f) return clf_fail(err, CLF_E_IO, "CLF_TRACE: cannot write %s: %s", path, strerror_r(errno, why, sizeof why));
    fclose(f);
    return CLF_OK;
}

static clf_status open_meter(clf_ctx *c, clf_err *err) {
    clf_meter *m = clf_mem_new(&c->mem, 1, sizeof *m);
    if (!m) return clf_fail(err, CLF_E_NOMEM, "out of memory for a profile");
    m->mem = &c->mem;
    m->table = c->knobs.profile;
    memcpy(m->path, c->knobs.trace, sizeof m->path);
    pthread_mutex_init(&m->lock, NULL);
    m->began_ns = m->mark_ns = clf_now_ns();
    c->meter = m;
    return CLF_OK;
}

static bool as_set(const clf_ctx *c) {
    const clf_meter *m = c->meter;
    if (!m) return !c->knobs.profile && !c->knobs.trace[0];
    return m->table == c->knobs.profile && !strcmp(m->path, c->knobs.trace);
}

clf_status clf_meter_adapt(clf_ctx *c, clf_err *err) {
    clf_status st = CLF_OK;
    if (!as_set(c)) {
        if (c->knobs.trace[0]) CLF_TRY(try_file(c->knobs.trace, err)); /* before anything has changed */
        clf_meter_close(c);
        if (c->knobs.profile || c->knobs.trace[0]) st = open_meter(c, err);
        if (c->meter) push(c->meter, CLF_PART_CALLS, -1); /* of the call that asks for it */
    }
    if (c->run) clf_pool_watch(c->run->pool, c->meter && c->meter->path[0] ? watch_worker : NULL, c->meter);
    return st;
}

static void put_line(void *user, const char *text) {
    const clf_ctx *c = user;
    if (c->trace.fn)
        c->trace.fn(c->trace.user, "profile", text);
    else
        fprintf(stderr, "%s\n", text);
}

void clf_meter_close(clf_ctx *c) {
    clf_meter *m = c->meter;
    if (!m) return;
    charge(m, clf_now_ns());
    if (c->run) clf_pool_watch(c->run->pool, NULL, NULL);
    if (m->table && c->run) clf_meter_print(m, put_line, c); /* a context that could not be opened tells nothing */
    if (m->path[0] && c->run) clf_meter_write(c, m);
    c->meter = NULL;
    pthread_mutex_destroy(&m->lock);
    clf_mem_free(&c->mem, m->event, m->cap, sizeof *m->event);
    clf_mem_free(&c->mem, m, 1, sizeof *m);
}
