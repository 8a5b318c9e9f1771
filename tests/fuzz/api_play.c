/* SPDX-License-Identifier: Apache-2.0
 * The player: slots, the log, and what is asked of every value at the end. */
#include "tests/fuzz/api.h"

unsigned api_byte(api_player *s) { return s->at < s->end ? *s->at++ : 0; }

api_value *api_take(api_player *s) { return &s->slot[api_byte(s) % API_SLOTS]; }

void api_log(api_player *s, double x) {
    if (s->log->n < API_LOG) s->log->cell[s->log->n++] = x;
}

void api_shape(const clf_mat *m, int64_t *rows, int64_t *cols) {
    *rows = *cols = 0;
    (void)clf_info(m, rows, cols, NULL, NULL);
}

/* A good handle has a shape, an error a message; what a call returned is one of both. */
static clf_status look(const clf_mat *m, int64_t *rows, int64_t *cols, clf_dtype *t) {
    const char *why = NULL;
    clf_status st = clf_info(m, rows, cols, t, NULL);
    FUZZ_MUST(clf_status_of(m, &why) == st && why && (st == CLF_OK) == (why[0] == '\0'));
    FUZZ_MUST(st != CLF_OK || (*rows >= 0 && *cols >= 0));
    return st;
}

api_value *api_put(api_player *s, clf_mat *m, api_kind kind, double bound) {
    api_value *v = &s->slot[s->next++ % API_OTHER];
    int64_t rows = 0, cols = 0;
    clf_dtype t = CLF_F64;
    *v = (api_value){m, kind, bound, ++s->serial};
    if (!m) return v;
    clf_status st = look(m, &rows, &cols, &t);
    api_log(s, st);
    if (st != CLF_OK) return v;
    api_log(s, (double)rows), api_log(s, (double)cols), api_log(s, t);
    if (rows > API_MOST_CELLS || cols > API_MOST_CELLS || rows * cols > API_MOST_CELLS) {
        clf_free(m);
        v->m = NULL;
        return v;
    }
    if (t == CLF_U8 && v->bound < 255) v->bound = 255;
    if (v->kind == API_EXACT && !(v->bound < API_EXACT_MOST)) v->kind = API_FREE;
    return v;
}

static double number(const void *p, size_t i, clf_dtype t) {
    switch (t) {
    case CLF_F32: return (double)((const float *)p)[i];
    case CLF_F64: return ((const double *)p)[i];
    case CLF_I32: return ((const int32_t *)p)[i];
    case CLF_I64: return (double)((const int64_t *)p)[i];
    case CLF_U8: return ((const uint8_t *)p)[i];
    }
    return -1;
}

void api_read(api_player *s, const api_value *v) {
    double out[API_MOST_CELLS];
    int64_t rows = 0, cols = 0;
    clf_dtype t = CLF_F64;
    if (!v->m || clf_info(v->m, &rows, &cols, &t, NULL) != CLF_OK || rows > API_MOST_CELLS || rows * cols > API_MOST_CELLS) return;
    size_t n = (size_t)(rows * cols);
    clf_status st = clf_read(v->m, out, n * clf_dtype_bytes(t));
    FUZZ_MUST(st == CLF_OK || clf_ctx_of(v->m) != s->c || clf_last_error(s->c)[0]);
    api_log(s, st);
    if (st == CLF_OK) s->worst = CLF_OK;
    for (size_t i = 0; st == CLF_OK && v->kind != API_FREE && i < n; i++) api_log(s, number(out, i, t));
}

void api_forget(api_player *s, uint64_t since) {
    for (int i = 0; i < API_OTHER; i++)
        if (s->slot[i].serial > since) s->slot[i] = (api_value){0};
}

/* Everything at once, as one program, then one by one. */
static void read_all(api_player *s) {
    clf_mat *m[API_OTHER];
    size_t n = 0;
    for (int i = 0; i < API_OTHER; i++)
        if (s->slot[i].m && clf_status_of(s->slot[i].m, NULL) == CLF_OK) m[n++] = s->slot[i].m;
    if (n) api_log(s, clf_eval(n, m));
    for (int i = 0; i < API_OTHER; i++) api_read(s, &s->slot[i]);
}

/* The settings of the next play are the defaults again. */
static void reset_knobs(api_player *s) {
    const char *name, *env, *def, *doc;
    for (int i = 0; clf_knob_info(i, &name, &env, &def, &doc); i++)
        if (strcmp(name, "device") && strcmp(name, "fuse") && strcmp(name, "threads")) FUZZ_MUST(clf_set(s->c, name, def) == CLF_OK);
}

/* Four bytes in five are dense calls or questions of any kind. */
static void one_call(api_player *s) {
    unsigned k = api_byte(s);
    if (k < 200)
        api_calls[k % api_ncalls](s);
    else
        api_sparse_calls[k % api_nsparse_calls](s);
}

clf_status api_play(clf_ctx *c, clf_ctx *other, const uint8_t *p, size_t n, api_cells *log) {
    api_player s = {.c = c, .at = p, .end = p + n, .log = log, .worst = CLF_E_ARG};
    size_t mark = clf_epoch_begin(c), mark_other = clf_epoch_begin(other);
    s.slot[API_OTHER] = (api_value){clf_num(other, 2), API_FREE, 2, 0};
    for (int i = 0; i < API_BORROWED; i++) s.borrowed[i] = i % 7 - 3;
    api_lend_right(&s);
    for (int calls = 0; s.at < s.end && calls < API_CALLS; calls++) one_call(&s);
    read_all(&s);
    for (int i = 0; i < API_FUNCTIONS; i++) clf_fn_free(s.fn[i].f);
    clf_epoch_end(c, mark);
    clf_epoch_end(other, mark_other);
    if (s.knobs_changed) reset_knobs(&s);
    return s.worst;
}
