/* SPDX-License-Identifier: Apache-2.0
 * Leaves: a buffer and its version as a node; files as leaves. */
#include <inttypes.h>
#include <string.h>

#include "formats/fmt.h"
#include "host/run/run.h"

clf_node *clf_leaf_node(clf_ctx *c, clf_dtype t, bool scalar, int64_t rows, int64_t cols, clf_buf *buf) {
    clf_node w;
    memset(&w, 0, sizeof w);
    w.g.op = CLF_OP_LEAF;
    w.g.dtype = (uint8_t)t;
    w.g.scalar = scalar;
    w.g.rank = scalar ? 0 : 2;
    w.g.in[0] = w.g.in[1] = w.g.in[2] = -1;
    clf_gnode_shape(&w.g, rows, cols);
    w.g.attr[0] = (int64_t)buf->id;
    w.g.attr[1] = (int64_t)atomic_load(&buf->version);
    w.value = buf;
    w.nnz_est = (double)rows * (double)cols;
    w.nnz_max = INT64_MAX;
    return clf_node_get(&c->nodes, &w);
}

clf_status clf_leaves_check(clf_ctx *c, size_t n, clf_node *const *leaf, clf_err *err) {
    if (!c->knobs.checksum) return CLF_OK;
    for (size_t i = 0; i < n; i++) {
        clf_buf *b = leaf[i]->value;
        const clf_gnode *g = &leaf[i]->g;
        if (!b || !b->borrowed || clf_buf_intact(b)) continue;
        return clf_fail(err, CLF_E_STATE, "borrowed memory of %s (%" PRId64 "x%" PRId64 " %s) changed without clf_changed",
                        leaf[i]->text ? leaf[i]->text : "a leaf", clf_rows(g), clf_cols(g), clf_dtype_name((clf_dtype)g->dtype));
    }
    return CLF_OK;
}

/* A reader's block becomes a buffer that gives it back to the ledger. Out of memory: the block is released. */
static clf_mat *adopt(clf_ctx *c, clf_dense *d) {
    clf_buf *b = clf_buf_adopt(&c->mem, ++c->next_buf, d->data, d->bytes);
    if (!b) {
        clf_dense_release(d, &c->mem);
        return clf_handle_oom(c);
    }
    d->data = NULL;
    clf_node *n = clf_leaf_node(c, d->dtype, d->scalar, d->rows, d->cols, b);
    clf_buf_unref(b);
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
    clf_dense x, y;
    char note[256] = "";
    memset(&x, 0, sizeof x);
    memset(&y, 0, sizeof y);
    clf_ctx_lock(c);
    clf_status st = path ? read_options(c, given, &o, &r, &err) : clf_fail(&err, CLF_E_ARG, "clf_load: path is NULL");
    if (st == CLF_OK) st = clf_read_file(path, o.type, &r, &c->mem, &x, &y, note, sizeof note, &err);
    if (st == CLF_OK && labels && !y.data) st = clf_fail(&err, CLF_E_ARG, "clf_load: %s has no labels", path);
    clf_mat *m;
    if (st == CLF_OK) {
        if (note[0]) CLF_TRACE(&c->trace, io, "%s", note);
        m = adopt(c, &x);
        if (labels) *labels = adopt(c, &y);
    } else {
        m = clf_handle_error(c, &err);
        if (labels) *labels = clf_handle_error(c, &err);
    }
    clf_dense_release(&x, &c->mem);
    clf_dense_release(&y, &c->mem);
    clf_ctx_unlock(c);
    return m;
}

clf_mat *clf_load(clf_ctx *c, const char *path) { return clf_load_with(c, path, NULL, NULL); }
