/* SPDX-License-Identifier: Apache-2.0
 * Opening, closing and asking a context: settings, errors, counters. Settings are read once, here: defaults, environment, options. */
#include "host/graph/ctx.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "host/run/meter.h"
#include "host/run/run.h"

static _Thread_local char open_error[CLF_ERR_TEXT];
static _Thread_local char thread_error[CLF_ERR_TEXT];

const char *clf_version(void) { return "0.1.0"; }
const char *clf_open_error(void) { return open_error; }

/* The error handle for when there is no memory for one. */
static void prepare_oom(clf_ctx *c) {
    static char text[] = "out of memory while recording";
    c->oom_node.g.op = CLF_OP_ERROR;
    clf_gnode_shape(&c->oom_node.g, 1, 1);
    c->oom_node.status = CLF_E_NOMEM;
    c->oom_node.text = text;
    c->oom_node.refs = 1;
    c->oom.ctx = c;
    c->oom.node = &c->oom_node;
}

static clf_status take_trace(clf_ctx *c, clf_err *err) {
    const char *bad = "";
    if (clf_trace_mask(c->knobs.log, &c->trace.mask, &bad)) return CLF_OK;
    return clf_fail(err, CLF_E_NAME, "CLF_LOG: no topic '%s'", bad);
}

/* Options come from a caller that may be older or newer than us: fields beyond its struct_size do not exist. */
static clf_status take_options(clf_ctx *c, const clf_options *given, clf_err *err) {
    clf_options o;
    memset(&o, 0, sizeof o);
    if (given) {
        if (given->struct_size < sizeof given->struct_size) return clf_fail(err, CLF_E_ARG, "clf_open: clf_options.struct_size is not set");
        memcpy(&o, given, given->struct_size < sizeof o ? given->struct_size : sizeof o);
    }
    clf_knobs_init(&c->knobs);
    CLF_TRY(clf_knobs_env(&c->knobs, err));
    if (o.device) CLF_TRY(clf_knobs_set(&c->knobs, "device", o.device, err));
    if (o.fuse) CLF_TRY(clf_knobs_set(&c->knobs, "fuse", o.fuse, err));
    if (o.mem_limit) c->knobs.mem_limit = o.mem_limit;
    clf_gate gate;
    CLF_TRY(clf_gate_set(&gate, c->knobs.math, c->knobs.rules_off, err));
    c->trace.fn = o.log;
    c->trace.user = o.log_user;
    atomic_store(&c->mem.limit_bytes, c->knobs.mem_limit);
    return take_trace(c, err);
}

static clf_status open_into(clf_ctx *c, const clf_options *opt, clf_err *err) {
    CLF_TRY(take_options(c, opt, err));
    clf_nodes_init(&c->nodes, &c->mem);
    prepare_oom(c);
    c->pid = (int)getpid();
    CLF_TRY(clf_meter_adapt(c, err));
    clf_meter_enter(c->meter, CLF_PART_OPEN);
    c->run = clf_run_new(c, err);
    clf_meter_leave(c->meter);
    if (c->run) CLF_TRY(clf_meter_adapt(c, err)); /* threads are there to be watched */
    clf_meter_leave(c->meter);
    return c->run ? CLF_OK : err->code;
}

clf_status clf_open_fail(const clf_err *err) {
    snprintf(open_error, sizeof open_error, "%s", err->text);
    return err->code;
}

/* The context itself comes from the user's allocator, through a ledger that then moves into it. */
clf_status clf_open(clf_ctx **out, const clf_options *opt) {
    clf_err err = {CLF_OK, ""};
    open_error[0] = 0;
    if (!out) {
        snprintf(open_error, sizeof open_error, "clf_open: out is NULL");
        return CLF_E_ARG;
    }
    bool hook = opt && opt->struct_size >= offsetof(clf_options, alloc_user) + sizeof opt->alloc_user;
    clf_mem first;
    clf_mem_init(&first, hook ? opt->alloc : NULL, hook ? opt->alloc_user : NULL);
    clf_ctx *c = clf_mem_new(&first, 1, sizeof *c);
    clf_status st = c ? CLF_OK : clf_fail(&err, CLF_E_NOMEM, "clf_open: out of memory");
    if (c) {
        clf_mem_init(&c->mem, first.fn, first.user);
        atomic_store(&c->mem.now_bytes, sizeof *c);
        atomic_store(&c->mem.peak_bytes, sizeof *c);
        pthread_mutex_init(&c->lock, NULL);
        st = open_into(c, opt, &err);
    }
    if (st == CLF_OK) {
        *out = c;
        return CLF_OK;
    }
    snprintf(open_error, sizeof open_error, "%s", err.text);
    if (c) {
        clf_meter_close(c);
        pthread_mutex_destroy(&c->lock);
        clf_mem_free(&first, c, 1, sizeof *c);
    }
    return st;
}

void clf_ctx_measure(clf_ctx *c, bool inside) {
    if (inside)
        clf_meter_enter(c->meter, CLF_PART_CALLS);
    else
        clf_meter_leave(c->meter);
}

clf_status clf_ctx_usable(const clf_ctx *c, clf_err *err) {
    if (c->pid == (int)getpid()) return CLF_OK;
    return clf_fail(err, CLF_E_STATE, "this context belongs to another process; open a new one after fork");
}

/* In a child of fork there are no threads to join and no devices to close: the process takes everything with it. */
void clf_close(clf_ctx *c) {
    if (!c || clf_ctx_usable(c, NULL) != CLF_OK) return;
    clf_meter_close(c);
    while (c->fns) clf_fn_free(c->fns);
    clf_handles_release(c);
    clf_nodes_release(&c->nodes);
    for (size_t i = 0; i < c->nnames; i++) clf_mem_free(&c->mem, c->names[i], strlen(c->names[i]) + 1, 1);
    clf_mem_free(&c->mem, c->names, c->nnames, sizeof *c->names);
    clf_run_free(c);
    pthread_mutex_destroy(&c->lock);
    clf_mem last;
    clf_mem_init(&last, c->mem.fn, c->mem.user);
    atomic_store(&last.now_bytes, sizeof *c);
    clf_mem_free(&last, c, 1, sizeof *c);
}

clf_status clf_ctx_fail(clf_ctx *c, const clf_err *err) {
    memcpy(c->last_error, err->text, sizeof c->last_error);
    return err->code;
}

/* A copy in the thread, so that another thread's failure cannot change the text while it is read. */
const char *clf_last_error(clf_ctx *c) {
    if (!c) return "";
    clf_ctx_lock(c);
    memcpy(thread_error, c->last_error, sizeof thread_error);
    clf_ctx_unlock(c);
    return thread_error;
}

static clf_status set_locked(clf_ctx *c, const char *knob, const char *value, clf_err *err) {
    if (!knob || !value) return clf_fail(err, CLF_E_ARG, "clf_set: name or value is NULL");
    clf_knobs was = c->knobs;
    CLF_TRY(clf_ctx_usable(c, err));
    CLF_TRY(clf_knobs_set(&c->knobs, knob, value, err));
    clf_status st = take_trace(c, err);
    if (st == CLF_OK) st = clf_run_adapt(c, &was, err);
    if (st == CLF_OK) st = clf_meter_adapt(c, err);
    if (st != CLF_OK) c->knobs = was;
    atomic_store(&c->mem.limit_bytes, c->knobs.mem_limit);
    return st;
}

clf_status clf_set(clf_ctx *c, const char *knob, const char *value) {
    if (!c) return CLF_E_ARG;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    clf_status st = set_locked(c, knob, value, &err);
    if (st != CLF_OK) clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}

clf_status clf_set_progress(clf_ctx *c, clf_progress_fn fn, void *user) {
    if (!c) return CLF_E_ARG;
    clf_ctx_lock(c);
    c->ask = (clf_ask){fn, user};
    clf_ctx_unlock(c);
    return CLF_OK;
}

bool clf_knob_info(int i, const char **name, const char **env, const char **def, const char **doc) {
    if (i < 0) return false;
    for (int k = 0; k <= i; k++)
        if (!clf_knob_rows[k].field) return false;
    if (name) *name = clf_knob_rows[i].field;
    if (env) *env = clf_knob_rows[i].env;
    if (def) *def = clf_knob_rows[i].def;
    if (doc) *doc = clf_knob_rows[i].doc;
    return true;
}

/* Copy a versioned struct out: at most what the caller has room for, its struct_size kept. */
static clf_status give(void *out, const void *mine, size_t mine_bytes) {
    size_t theirs;
    memcpy(&theirs, out, sizeof theirs);
    if (theirs < sizeof theirs) return CLF_E_ARG;
    size_t n = theirs < mine_bytes ? theirs : mine_bytes;
    memcpy((char *)out + sizeof theirs, (const char *)mine + sizeof theirs, n - sizeof theirs);
    return CLF_OK;
}

clf_status clf_get_stats(clf_ctx *c, clf_stats *out) {
    if (!c || !out) return CLF_E_ARG;
    clf_ctx_lock(c);
    clf_stats s = c->stats;
    clf_run_add_devs(c->run, &s);
    clf_ctx_unlock(c);
    return give(out, &s, sizeof s);
}

clf_status clf_get_mem_stats(clf_ctx *c, clf_mem_stats *out) {
    if (!c || !out) return CLF_E_ARG;
    clf_mem_stats s;
    clf_ctx_lock(c);
    memset(&s, 0, sizeof s);
    s.now = atomic_load(&c->mem.now_bytes);
    s.peak = atomic_load(&c->mem.peak_bytes);
    s.data = atomic_load(&c->mem.data_bytes);
    s.limit = atomic_load(&c->mem.limit_bytes);
    s.pooled = c->run->blocks.pooled_bytes;
    s.borrowed = atomic_load(&c->mem.borrowed_bytes);
    s.device = atomic_load(&c->mem.device_bytes);
    clf_ctx_unlock(c);
    return give(out, &s, sizeof s);
}

void clf_trim(clf_ctx *c) {
    if (!c) return;
    clf_ctx_lock(c);
    clf_blocks_trim(&c->run->blocks);
    clf_mirrors_trim(c->run->devs);
    clf_ctx_unlock(c);
}
