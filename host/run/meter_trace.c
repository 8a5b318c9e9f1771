/* SPDX-License-Identifier: Apache-2.0
 * CLF_TRACE's file, in the Trace Event Format that chrome://tracing and ui.perfetto.dev read: complete events ("ph": "X", microseconds)
 * on one track for the caller, one a device's queue, one a worker of the pool. Slices are kept in memory, at most CLF_METER_EVENTS, and
 * written when the context closes; what found no room is counted in the file. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/run/meter.h"
#include "host/run/run.h"

static bool more_room(clf_meter *m) {
    enum { FIRST = 1024 };
    size_t cap = m->cap ? 2 * m->cap : FIRST;
    if (m->cap >= CLF_METER_EVENTS) return false;
    clf_meter_event *at = clf_mem_grow(m->mem, m->event, m->cap, cap, sizeof *at);
    if (!at) return false;
    m->event = at;
    m->cap = cap;
    return true;
}

void clf_meter_note(clf_meter *m, const clf_meter_event *e) {
    pthread_mutex_lock(&m->lock);
    if (m->nevent < m->cap || more_room(m))
        m->event[m->nevent++] = *e;
    else
        m->lost++;
    pthread_mutex_unlock(&m->lock);
}

static void put_string(FILE *f, const char *s) {
    putc('"', f);
    for (; *s; s++) {
        if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else if ((unsigned char)*s < ' ' || (unsigned char)*s > '~')
            fprintf(f, "\\u%04x", (unsigned char)*s);
        else
            putc(*s, f);
    }
    putc('"', f);
}

static void put_name(FILE *f, int track, const char *name) {
    fprintf(f, ",\n{\"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"name\": \"thread_name\", \"args\": {\"name\": ", (int)getpid(), track);
    put_string(f, name);
    fprintf(f, "}},\n{\"ph\": \"M\", \"pid\": %d, \"tid\": %d, \"name\": \"thread_sort_index\", \"args\": {\"sort_index\": %d}}",
            (int)getpid(), track, track);
}

static void put_queue(clf_ctx *c, FILE *f, int device) {
    char name[CLF_PROFILE_NAME + 16];
    const clf_dev_info *info = c->run->devs ? clf_devs_info(c->run->devs, device) : NULL;
    snprintf(name, sizeof name, "queue of %s", info ? info->name : "a device");
    put_name(f, CLF_TRACK_QUEUE + device, name);
}

/* Names of the tracks that have slices. */
static void put_tracks(clf_ctx *c, const clf_meter *m, FILE *f) {
    bool seen[CLF_TRACK_WORKER] = {false};
    int workers = -1;
    for (size_t i = 0; i < m->nevent; i++) {
        int t = m->event[i].track;
        if (t >= CLF_TRACK_WORKER)
            workers = t - CLF_TRACK_WORKER > workers ? t - CLF_TRACK_WORKER : workers;
        else
            seen[t] = true;
    }
    put_name(f, CLF_TRACK_HOST, "host");
    for (int t = CLF_TRACK_QUEUE; t < CLF_TRACK_WORKER; t++)
        if (seen[t]) put_queue(c, f, t - CLF_TRACK_QUEUE);
    for (int w = 0; w <= workers; w++) {
        char name[32];
        snprintf(name, sizeof name, "worker %d", w);
        put_name(f, CLF_TRACK_WORKER + w, name);
    }
}

static void put_event(const clf_meter *m, const clf_meter_event *e, FILE *f) {
    fprintf(f, ",\n{\"ph\": \"X\", \"pid\": %d, \"tid\": %d, \"ts\": %.3f, \"dur\": %.3f, \"cat\": ", (int)getpid(), (int)e->track,
            (double)(e->start_ns - m->began_ns) * 1e-3, (double)e->ns * 1e-3);
    put_string(f, clf_meter_part_name((clf_meter_part)e->part));
    fputs(", \"name\": ", f);
    put_string(f, e->row >= 0 ? m->row[e->row].name : clf_meter_part_name((clf_meter_part)e->part));
    if (e->row >= 0) {
        fputs(", \"args\": {\"by\": ", f);
        put_string(f, m->row[e->row].by);
        fprintf(f, ", \"bytes\": %.0f}", e->bytes);
    }
    putc('}', f);
}

void clf_meter_write(clf_ctx *c, clf_meter *m) {
    FILE *f = fopen(m->path, "wb");
    if (!f) {
        CLF_TRACE(&c->trace, io, "cannot write %s: error %d", m->path, errno);
        return;
    }
    fprintf(f, "{\"displayTimeUnit\": \"ms\", \"otherData\": {\"version\": \"%s\", \"lost\": \"%llu\"}, \"traceEvents\": [\n",
            clf_version(), (unsigned long long)m->lost);
    fprintf(f, "{\"ph\": \"M\", \"pid\": %d, \"tid\": 0, \"name\": \"process_name\", \"args\": {\"name\": \"clfuse\"}}", (int)getpid());
    put_tracks(c, m, f);
    for (size_t i = 0; i < m->nevent; i++) put_event(m, &m->event[i], f);
    fputs("\n]}\n", f);
    bool bad = ferror(f);
    bad = fclose(f) != 0 || bad;
    if (bad) CLF_TRACE(&c->trace, io, "cannot write %s", m->path);
}
