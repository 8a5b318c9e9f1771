/* SPDX-License-Identifier: Apache-2.0
 * Functions: a program recorded once and frozen, run many times on other arguments. A call is: check arguments, fill slots, run.
 * The prepared plan is looked up once and remembered until a setting changes. */
#include <inttypes.h>
#include <string.h>

#include "host/graph/part.h"
#include "host/graph/sparse_buf.h"
#include "host/run/exe_kernels.h"
#include "host/run/residency.h"
#include "host/run/run.h"

struct clf_fn {
    clf_ctx *ctx;
    clf_fn *prev, *next;
    clf_frozen f;
    clf_node **held; /* every slot's node, kept alive; parameters first */
    size_t nparam, nresult, nheld;
    clf_exe *exe;
    uint64_t epoch; /* of the plan tables when exe was looked up */
    clf_buf **bufs;
    clf_mat **fresh; /* scratch of a call: handles of the new results */
    clf_node **arg;  /* scratch of a call: the arguments' nodes */
};

static clf_status check_params(clf_ctx *c, size_t n, clf_mat *const *p, clf_err *err) {
    uint64_t mark = ++c->nodes.mark;
    for (size_t i = 0; i < n; i++) {
        if (!p[i] || p[i]->ctx != c || p[i]->node->g.op != CLF_OP_PARAM)
            return clf_fail(err, CLF_E_ARG, "clf_fn_new: parameter %zu was not made by clf_param in this context", i + 1);
        if (p[i]->node->mark == mark)
            return clf_fail(err, CLF_E_ARG, "clf_fn_new: parameters %d and %zu are the same", p[i]->node->number + 1, i + 1);
        p[i]->node->mark = mark;
        p[i]->node->number = (int32_t)i;
    }
    return CLF_OK;
}

static clf_status freeze_fn(clf_ctx *c, clf_fn *f, clf_mat *const *params, clf_mat *const *results, clf_err *err) {
    size_t n = f->nparam + f->nresult;
    clf_node **node = clf_mem_new(&c->mem, n, sizeof *node);
    if (!node) return clf_fail(err, CLF_E_NOMEM, "clf_fn_new: out of memory");
    for (size_t i = 0; i < f->nparam; i++) node[i] = params[i]->node;
    for (size_t i = 0; i < f->nresult; i++) node[f->nparam + i] = results[i]->node;
    clf_status st = clf_freeze(c, f->nresult, node + f->nparam, f->nparam, node, &f->f, err);
    clf_mem_free(&c->mem, node, n, sizeof *node);
    return st;
}

/* Slots beyond the parameters are leaves and constants captured by the function. */
static clf_status capture(clf_ctx *c, clf_fn *f, clf_err *err) {
    f->held = clf_mem_new(&c->mem, f->f.nslot, sizeof *f->held);
    f->bufs = clf_mem_new(&c->mem, f->nresult, sizeof *f->bufs);
    f->fresh = clf_mem_new(&c->mem, f->nresult, sizeof *f->fresh);
    f->arg = clf_mem_new(&c->mem, f->nparam, sizeof *f->arg);
    if (!f->held || !f->bufs || !f->fresh || !f->arg) return clf_fail(err, CLF_E_NOMEM, "clf_fn_new: out of memory");
    for (size_t s = f->nparam; s < f->f.nslot; s++)
        if (f->f.slot_node[s]->g.op == CLF_OP_PARAM)
            return clf_fail(err, CLF_E_ARG, "clf_fn_new: a result depends on a parameter that is not in the list");
    for (size_t s = 0; s < f->f.nslot; s++) f->held[f->nheld++] = clf_node_ref(f->f.slot_node[s]);
    for (size_t s = f->nparam; s < f->f.nslot; s++)
        if (!clf_slot_is_bound(f->f.slot_node[s])) clf_slot_fill(&f->f.slot[s], f->f.slot_node[s]);
    return CLF_OK;
}

static void free_locked(clf_fn *f) {
    clf_ctx *c = f->ctx;
    for (size_t i = 0; i < f->nheld; i++) clf_node_unref(&c->nodes, f->held[i]);
    clf_mem_free(&c->mem, f->held, f->f.nslot, sizeof *f->held);
    clf_mem_free(&c->mem, f->bufs, f->nresult, sizeof *f->bufs);
    clf_mem_free(&c->mem, f->fresh, f->nresult, sizeof *f->fresh);
    clf_mem_free(&c->mem, f->arg, f->nparam, sizeof *f->arg);
    clf_frozen_release(&f->f);
    if (f->prev)
        f->prev->next = f->next;
    else if (c->fns == f)
        c->fns = f->next;
    if (f->next) f->next->prev = f->prev;
    clf_mem_free(&c->mem, f, 1, sizeof *f);
}

static clf_status new_locked(clf_ctx *c, size_t np, clf_mat *const *params, size_t nr, clf_mat *const *results, clf_fn **out,
                             clf_err *err) {
    if (!nr || !results || (np && !params)) return clf_fail(err, CLF_E_ARG, "clf_fn_new: needs results");
    for (size_t i = 0; i < nr; i++) {
        if (!results[i] || results[i]->ctx != c)
            return clf_fail(err, CLF_E_ARG, "clf_fn_new: result %zu is missing or of another context", i + 1);
        if (results[i]->node->g.op == CLF_OP_ERROR) return clf_fail(err, results[i]->node->status, "%s", results[i]->node->text);
    }
    CLF_TRY(check_params(c, np, params, err));
    clf_fn *f = clf_mem_new(&c->mem, 1, sizeof *f);
    if (!f) return clf_fail(err, CLF_E_NOMEM, "clf_fn_new: out of memory");
    f->ctx = c;
    f->nparam = np;
    f->nresult = nr;
    clf_status st = freeze_fn(c, f, params, results, err);
    if (st == CLF_OK) st = capture(c, f, err);
    if (st != CLF_OK) {
        free_locked(f);
        return st;
    }
    f->next = c->fns;
    if (f->next) f->next->prev = f;
    c->fns = f;
    *out = f;
    return CLF_OK;
}

clf_status clf_fn_new(clf_ctx *c, size_t np, clf_mat *const *params, size_t nr, clf_mat *const *results, clf_fn **out) {
    if (!c || !out) return CLF_E_ARG;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(c);
    clf_status st = new_locked(c, np, params, nr, results, out, &err);
    if (st != CLF_OK) clf_ctx_fail(c, &err);
    clf_ctx_unlock(c);
    return st;
}

void clf_fn_free(clf_fn *f) {
    if (!f) return;
    clf_ctx *c = f->ctx;
    clf_ctx_lock(c);
    free_locked(f);
    clf_ctx_unlock(c);
}

static clf_status bind_arg(const clf_fn *f, size_t i, clf_mat *a, clf_err *err) {
    if (!a || a->ctx != f->ctx) return clf_fail(err, CLF_E_ARG, "clf_call: argument %zu is missing or of another context", i + 1);
    const clf_gnode *p = &f->f.slot_node[i]->g, *g = &a->node->g;
    if (a->node->g.op == CLF_OP_ERROR) return clf_fail(err, a->node->status, "%s", a->node->text);
    if (p->dtype != g->dtype && !(p->scalar && g->scalar))
        return clf_fail(err, CLF_E_TYPE, "clf_call: argument %zu is %s, the parameter %s", i + 1, clf_dtype_name((clf_dtype)g->dtype),
                        clf_dtype_name((clf_dtype)p->dtype));
    if (p->scalar != g->scalar || clf_rows(p) != clf_rows(g) || clf_cols(p) != clf_cols(g))
        return clf_fail(err, CLF_E_SHAPE, "clf_call: argument %zu is %" PRId64 "x%" PRId64 ", the parameter %" PRId64 "x%" PRId64, i + 1,
                        clf_rows(g), clf_cols(g), clf_rows(p), clf_cols(p));
    return CLF_OK;
}

/* Plans follow the entries a sparse parameter really has, by their class. */
static void note_entries(clf_fn *f, clf_gnode *p, int64_t nnz) {
    double cells = (double)clf_rows(p) * (double)clf_cols(p);
    if (clf_nnz_class(p->nnz, cells) != clf_nnz_class(nnz, cells)) f->exe = NULL;
    p->nnz = nnz;
}

/* Numbers take the parameter's type; memory is used where it is, in the parameter's format. */
static clf_status fill_arg(clf_fn *f, size_t i, const clf_node *n, clf_err *err) {
    clf_slot *s = &f->f.slot[i];
    const clf_gnode *p = &f->f.slot_node[i]->g;
    clf_slot_fill(s, n);
    if (p->scalar) {
        s->num = clf_scalar_to(s->num, (clf_dtype)p->dtype);
        clf_scalar_store(&s->store, 0, s->num);
        s->ptr = &s->store;
        s->buf = NULL;
        return CLF_OK;
    }
    if (p->format == CLF_CSR) {
        CLF_TRY(clf_buf_entries(f->ctx, s->buf, clf_rows(p), clf_cols(p), (clf_dtype)p->dtype, &s->buf, err));
        note_entries(f, &f->f.g.node[i], clf_buf_csr(s->buf)->nnz); /* parameters are numbered first */
    } else
        CLF_TRY(clf_buf_cells(f->ctx, s->buf, &s->buf, err));
    s->ptr = s->buf->host;
    return CLF_OK;
}

/* A block of what the argument is now; that of the call before where the argument was the same. */
static clf_status fill_block(clf_fn *f, clf_block_slot *k, clf_err *err) {
    clf_gnode *g = &f->f.g.node[k->node];
    clf_slot *s = &f->f.slot[g->attr[0]];
    const clf_buf *of = f->f.slot[k->of].buf;
    const uint64_t version = atomic_load(&of->version);
    if (!k->made || k->id != of->id || k->version != version) {
        clf_buf_unref(k->made);
        k->made = clf_part_block(f->ctx, of, k->row, k->col, g);
        k->id = of->id;
        k->version = version;
    }
    s->buf = k->made;
    s->ptr = k->made ? k->made->host : NULL;
    if (!k->made) return clf_fail(err, CLF_E_NOMEM, "clf_call: out of memory for a block of argument %d", k->of + 1);
    note_entries(f, g, clf_buf_csr(k->made)->nnz);
    return CLF_OK;
}

/* A handle of result i. NULL when out of memory. */
static clf_mat *result_handle(clf_fn *f, size_t i) {
    clf_ctx *c = f->ctx;
    const clf_gnode *g = &f->f.g.node[f->f.g.root[i]];
    clf_node *n = clf_leaf_like(c, g, f->bufs[i]);
    clf_mat *m = n ? clf_handle_new(c, n) : NULL;
    return m == &c->oom ? NULL : m;
}

/* The caller's old handle takes over the new value, and the old value goes with the new handle. */
static void give_result(clf_ctx *c, clf_mat *fresh, clf_mat **out) {
    if (!*out || (*out)->ctx != c || *out == &c->oom) {
        *out = fresh;
        return;
    }
    clf_node *old = (*out)->node;
    (*out)->node = fresh->node;
    fresh->node = old;
    clf_handle_free(c, fresh);
}

/* All results or none: what can fail comes first. */
static clf_status give_results(clf_fn *f, clf_mat **outs, clf_err *err) {
    size_t n = 0;
    while (n < f->nresult && (f->fresh[n] = result_handle(f, n)) != NULL) n++;
    bool all = n == f->nresult;
    for (size_t i = 0; i < n; i++) {
        if (all)
            give_result(f->ctx, f->fresh[i], &outs[i]);
        else
            clf_handle_free(f->ctx, f->fresh[i]);
    }
    return all ? CLF_OK : clf_fail(err, CLF_E_NOMEM, "clf_call: out of memory");
}

static clf_status evaluate_args(clf_ctx *c, size_t n, clf_mat *const *args, clf_err *err) {
    for (size_t i = 0; i < n; i++)
        if (!args[i]->node->value && args[i]->node->g.op != CLF_OP_CONST) return clf_eval_in_lock(c, n, args, err);
    return CLF_OK;
}

static clf_status call_locked(clf_fn *f, size_t na, clf_mat *const *args, size_t no, clf_mat **outs, clf_err *err) {
    clf_ctx *c = f->ctx;
    if (na != f->nparam || no != f->nresult || (na && !args) || !outs)
        return clf_fail(err, CLF_E_ARG, "clf_call: %zu arguments and %zu results given, the function has %zu and %zu", na, no, f->nparam,
                        f->nresult);
    CLF_TRY(clf_ctx_usable(c, err));
    for (size_t i = 0; i < na; i++) CLF_TRY(bind_arg(f, i, args[i], err));
    CLF_TRY(evaluate_args(c, na, args, err));
    for (size_t i = 0; i < na; i++) f->arg[i] = args[i]->node;
    CLF_TRY(clf_leaves_check(c, na, f->arg, err));
    for (size_t i = 0; i < na; i++) CLF_TRY(fill_arg(f, i, f->arg[i], err));
    for (size_t i = 0; i < f->f.nblock; i++) CLF_TRY(fill_block(f, &f->f.block[i], err));
    CLF_TRY(clf_leaves_check(c, f->nheld - f->nparam, f->held + f->nparam, err));
    clf_run_news(c);
    bool known = f->exe && f->epoch == c->run->epoch;
    if (!known || !clf_residency_same(c, f->exe, f->f.g.nslot, f->f.slot)) {
        CLF_TRY(clf_run_plan(c, &f->f.g, f->f.slot, &f->exe, err));
        f->epoch = c->run->epoch;
    } else
        c->stats.plan_hits++;
    CLF_TRY(clf_run_exe(c, &f->f.g, f->exe, f->f.slot, f->bufs, err));
    clf_status st = give_results(f, outs, err);
    for (size_t i = 0; i < no; i++) clf_buf_unref(f->bufs[i]);
    c->stats.evaluations += st == CLF_OK;
    return st;
}

static clf_status warm_locked(clf_fn *f, clf_err *err) {
    clf_ctx *c = f->ctx;
    CLF_TRY(clf_ctx_usable(c, err));
    if (clf_exe_later(c)) clf_run_open_devices(c);
    clf_run_news(c);
    CLF_TRY(clf_run_plan(c, &f->f.g, f->f.slot, &f->exe, err));
    f->epoch = c->run->epoch;
    return clf_exe_promote(c, clf_exe_latest(f->exe), true, err);
}

clf_status clf_warm(clf_fn *f) {
    if (!f) return CLF_E_ARG;
    clf_err err = {CLF_OK, ""};
    clf_ctx_lock(f->ctx);
    clf_status st = warm_locked(f, &err);
    if (st != CLF_OK) clf_ctx_fail(f->ctx, &err);
    clf_ctx_unlock(f->ctx);
    return st;
}

clf_status clf_call(clf_fn *f, size_t na, clf_mat *const *args, size_t no, clf_mat **outs) {
    if (!f) return CLF_E_ARG;
    clf_err err;
    err.code = CLF_OK;
    err.text[0] = 0;
    clf_ctx_lock(f->ctx);
    clf_status st = call_locked(f, na, args, no, outs, &err);
    if (st != CLF_OK) clf_ctx_fail(f->ctx, &err);
    clf_ctx_unlock(f->ctx);
    return st;
}
