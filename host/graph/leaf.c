/* SPDX-License-Identifier: Apache-2.0
 * Leaves: a buffer and its version as a node; files as leaves. */
#include <inttypes.h>
#include <string.h>

#include "formats/fmt.h"
#include "host/graph/facts.h"
#include "host/graph/sparse_buf.h"
#include "host/run/meter.h"
#include "host/run/run.h"

clf_node *clf_leaf_like(clf_ctx *c, const clf_gnode *g, clf_buf *buf) {
    clf_node w;
    memset(&w, 0, sizeof w);
    w.g.op = CLF_OP_LEAF;
    w.g.dtype = g->dtype;
    w.g.scalar = g->scalar;
    w.g.rank = g->scalar ? 0 : 2;
    w.g.zeros = g->zeros;
    w.g.in[0] = w.g.in[1] = w.g.in[2] = -1;
    clf_gnode_shape(&w.g, clf_rows(g), clf_cols(g));
    clf_facts_leaf(&w.g, g->nnz, buf);
    w.g.attr[0] = (int64_t)buf->id;
    w.g.attr[1] = (int64_t)atomic_load(&buf->version);
    w.value = buf;
    w.pattern = c->nodes.next_id; /* its own, if the node is new */
    return clf_node_get(&c->nodes, &w);
}

clf_node *clf_leaf_node(clf_ctx *c, clf_dtype t, bool scalar, int64_t rows, int64_t cols, clf_buf *buf) {
    clf_gnode g = {.dtype = (uint8_t)t, .scalar = scalar, .nnz = INT64_MAX};
    clf_gnode_shape(&g, rows, cols);
    g.zeros = clf_buf_is_csr(buf) ? CLF_ZEROS_STRUCTURAL : CLF_ZEROS_VALUE;
    return clf_leaf_like(c, &g, buf);
}

clf_status clf_leaves_check(clf_ctx *c, size_t n, clf_node *const *leaf, clf_err *err) {
    for (size_t i = 0; i < n; i++) {
        clf_buf *b = leaf[i]->value;
        const clf_gnode *g = &leaf[i]->g;
        const char *what = NULL;
        if (!b || !b->borrowed) continue;
        if (clf_buf_broken(b))
            what = "is no CSR matrix since clf_changed";
        else if (c->knobs.checksum && !clf_buf_intact(b))
            what = "changed without clf_changed";
        if (what)
            return clf_fail(err, CLF_E_STATE, "borrowed memory of %s (%" PRId64 "x%" PRId64 " %s) %s",
                            leaf[i]->text ? leaf[i]->text : "a leaf", clf_rows(g), clf_cols(g), clf_dtype_name((clf_dtype)g->dtype), what);
    }
    return CLF_OK;
}

/* A reader's memory becomes a buffer's, which gives it back to the ledger. Out of memory: it stays with the reader. */
static clf_buf *take_over(clf_ctx *c, clf_loaded *l) {
    if (l->sparse) return clf_csr_buf_adopt(c, &l->csr);
    clf_buf *b = clf_buf_adopt(&c->mem, ++c->next_buf, l->dense.data, l->dense.bytes);
    if (b) l->dense.data = NULL;
    return b;
}

static clf_mat *adopt(clf_ctx *c, clf_loaded *l) {
    const clf_csr m = l->csr.m;
    const clf_dense d = l->dense;
    clf_buf *b = take_over(c, l);
    clf_node *n = NULL;
    if (b)
        n = l->sparse ? clf_leaf_node(c, (clf_dtype)m.dtype, false, m.rows, m.cols, b)
                      : clf_leaf_node(c, d.dtype, d.scalar, d.rows, d.cols, b);
    clf_buf_unref(b);
    clf_loaded_release(l, &c->mem);
    return n ? clf_handle_new(c, n) : clf_handle_oom(c);
}

static clf_status read_options(clf_ctx *c, const clf_load_options *given, clf_load_options *o, clf_read_opts *r, clf_err *err) {
    memset(o, 0, sizeof *o);
    if (given && given->struct_size < sizeof given->struct_size)
        return clf_fail(err, CLF_E_ARG, "clf_load: clf_load_options.struct_size is not set");
    if (given) memcpy(o, given, given->struct_size < sizeof *o ? given->struct_size : sizeof *o);
    memset(r, 0, sizeof *r);
    r->dtype = strcmp(c->knobs.dtype, "f32") ? CLF_F64 : CLF_F32;
    r->label = o->label;
    r->log = &c->trace;
    r->ask = &c->ask;
    const char *na = o->na ? o->na : "error";
    if (!strcmp(na, "error"))
        r->na = CLF_NA_ERROR;
    else if (!strcmp(na, "drop"))
        r->na = CLF_NA_DROP;
    else if (!strcmp(na, "nan"))
        r->na = CLF_NA_NAN;
    else
        return clf_fail(err, CLF_E_ARG, "clf_load: na '%s' is not error, drop or nan", na);
    return CLF_OK;
}

clf_mat *clf_load_with(clf_ctx *c, const char *path, const clf_load_options *given, clf_mat **labels) {
    if (!c) return NULL;
    clf_err err = {CLF_OK, ""};
    clf_load_options o;
    clf_read_opts r;
    clf_loaded x, y;
    char note[256] = "";
    memset(&x, 0, sizeof x);
    memset(&y, 0, sizeof y);
    clf_ctx_lock(c);
    clf_status st = path ? read_options(c, given, &o, &r, &err) : clf_fail(&err, CLF_E_ARG, "clf_load: path is NULL");
    if (st == CLF_OK) st = clf_ask_on(&c->ask, CLF_STAGE_LOAD, path, 0, 0, &err);
    clf_meter_enter(c->meter, CLF_PART_FILES);
    if (st == CLF_OK) st = clf_load_file(path, o.type, &r, &c->mem, &x, &y.dense, note, sizeof note, &err);
    clf_meter_leave(c->meter);
    if (st == CLF_OK && labels && !y.dense.data) st = clf_fail(&err, CLF_E_ARG, "clf_load: %s has no labels", path);
    clf_mat *m;
    if (st == CLF_OK) {
        if (note[0]) CLF_TRACE(&c->trace, io, "%s", note);
        m = adopt(c, &x);
        if (labels) *labels = adopt(c, &y);
    } else {
        m = clf_handle_error(c, &err);
        if (labels) *labels = clf_handle_error(c, &err);
    }
    clf_loaded_release(&x, &c->mem);
    clf_loaded_release(&y, &c->mem);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_load(clf_ctx *c, const char *path) { return clf_load_with(c, path, NULL, NULL); }
