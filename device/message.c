/* SPDX-License-Identifier: Apache-2.0
 * The bytes of messages between a process and its compile workers, see message.h. Both ends run on one machine, so numbers are in its order;
 * the head would not be recognised in the other. */
#include "device/message.h"

#include <string.h>

static const char magic[8] = "clfuse\n\x1a";

typedef struct head {
    char magic[8];
    uint16_t version, kind;
    uint32_t body;
} head;
_Static_assert(sizeof(head) == CLF_MSG_HEAD, "no padding");

/* ---- writing ---- */

static void put_raw(clf_str *s, const void *p, size_t n) { clf_str_putn(s, p, n); }

static void put_text(clf_str *s, const char *at, size_t len) {
    uint32_t n = (uint32_t)len;
    put_raw(s, &n, sizeof n);
    put_raw(s, at ? at : "", len);
    put_raw(s, "", 1);
}

static void put_kernel(clf_str *s, const clf_source *src) {
    uint32_t nargs = (uint32_t)src->nargs;
    put_raw(s, &nargs, sizeof nargs);
    put_text(s, src->entry, strlen(src->entry));
    put_raw(s, src->args, (size_t)src->nargs * sizeof *src->args);
}

static clf_status sizes_ok(const clf_msg *m, const clf_source *const *src, int n, clf_err *err) {
    size_t bytes = 0;
    bool ok = n >= 0 && n <= CLF_MSG_KERNELS_MOST;
    for (int i = 0; ok && i < CLF_MSG_TEXTS; i++) ok = clf_add_ok(bytes, m->text[i].len, &bytes);
    for (int i = 0; ok && i < n; i++) {
        ok = src[i]->nargs >= 0 && src[i]->nargs <= CLF_MSG_ARGS_MOST;
        ok = ok && clf_add_ok(bytes, strlen(src[i]->entry) + CLF_MSG_ARGS_MOST * sizeof(clf_arg_desc) + 16, &bytes);
    }
    return ok && bytes < CLF_MSG_BODY_MOST - 256 ? CLF_OK : clf_fail(err, CLF_E_LIMIT, "a message to a compile worker is too large");
}

clf_status clf_msg_put(clf_str *out, const clf_msg *m, const clf_source *const *src, int n, clf_err *err) {
    head h = {.version = CLF_MSG_VERSION, .kind = (uint16_t)m->kind};
    uint32_t kernels = (uint32_t)n;
    size_t start = out->len;
    CLF_TRY(sizes_ok(m, src, n, err));
    memcpy(h.magic, magic, sizeof magic);
    put_raw(out, &h, sizeof h);
    put_raw(out, &m->id, sizeof m->id);
    put_raw(out, &m->ns, sizeof m->ns);
    put_raw(out, &m->status, sizeof m->status);
    put_raw(out, &kernels, sizeof kernels);
    for (int i = 0; i < CLF_MSG_TEXTS; i++) put_text(out, m->text[i].at, m->text[i].len);
    for (int i = 0; i < n; i++) put_kernel(out, src[i]);
    if (out->failed) return clf_fail(err, CLF_E_NOMEM, "no memory for a message to a compile worker");
    h.body = (uint32_t)(out->len - start - sizeof h);
    memcpy(out->at + start, &h, sizeof h);
    return CLF_OK;
}

/* ---- reading ---- */

typedef struct cursor {
    const char *at;
    size_t left;
    bool bad;
} cursor;

static const char *take(cursor *c, size_t n) {
    const char *at = c->at;
    c->bad = c->bad || n > c->left;
    if (c->bad) return NULL;
    c->at += n;
    c->left -= n;
    return at;
}

static void get_raw(cursor *c, void *to, size_t n) {
    const char *at = take(c, n);
    if (at) memcpy(to, at, n);
}

/* No text but the binary, which nobody reads as one, may hold a NUL. */
static void get_text(cursor *c, clf_msg_text *t, bool binary) {
    uint32_t n = 0;
    get_raw(c, &n, sizeof n);
    const char *at = take(c, (size_t)n + 1);
    c->bad = c->bad || at[n] || (!binary && memchr(at, 0, n));
    if (!c->bad) *t = (clf_msg_text){at, n};
}

static void get_kernel(cursor *c) {
    uint32_t nargs = 0;
    clf_msg_text entry = {"", 0};
    get_raw(c, &nargs, sizeof nargs);
    get_text(c, &entry, false);
    c->bad = c->bad || nargs > CLF_MSG_ARGS_MOST || !entry.len;
    const char *args = c->bad ? NULL : take(c, nargs * sizeof(clf_arg_desc));
    for (uint32_t i = 0; args && i < nargs; i++) {
        clf_arg_desc a;
        memcpy(&a, args + i * sizeof a, sizeof a);
        c->bad = c->bad || (a.kind == CLF_ARG_PARAM && !clf_dtype_bytes((clf_dtype)a.dtype));
    }
}

clf_status clf_msg_head(const void *bytes, size_t *body_bytes, clf_err *err) {
    head h;
    memcpy(&h, bytes, sizeof h);
    if (memcmp(h.magic, magic, sizeof magic) != 0) return clf_fail(err, CLF_E_FORMAT, "what came is no message of a compile worker");
    if (h.version != CLF_MSG_VERSION) return clf_fail(err, CLF_E_FORMAT, "messages of version %d, expected %d", h.version, CLF_MSG_VERSION);
    if (!h.kind || h.kind >= CLF_MSG_KINDS || h.body > CLF_MSG_BODY_MOST)
        return clf_fail(err, CLF_E_FORMAT, "a message of kind %d with %u bytes", h.kind, h.body);
    *body_bytes = h.body;
    return CLF_OK;
}

clf_status clf_msg_get(clf_msg *out, const void *bytes, size_t n, clf_err *err) {
    clf_msg m = {0};
    size_t body;
    head h;
    if (n < sizeof h) return clf_fail(err, CLF_E_FORMAT, "a message of %zu bytes", n);
    CLF_TRY(clf_msg_head(bytes, &body, err));
    memcpy(&h, bytes, sizeof h);
    cursor c = {(const char *)bytes + sizeof h, n - sizeof h, body != n - sizeof h};
    m.kind = h.kind;
    get_raw(&c, &m.id, sizeof m.id);
    get_raw(&c, &m.ns, sizeof m.ns);
    get_raw(&c, &m.status, sizeof m.status);
    get_raw(&c, &m.nkernels, sizeof m.nkernels);
    for (int i = 0; i < CLF_MSG_TEXTS; i++) get_text(&c, &m.text[i], m.kind == CLF_MSG_BUILT && i == 1);
    m.kernels = c.at;
    c.bad = c.bad || m.nkernels > CLF_MSG_KERNELS_MOST || (m.nkernels && m.kind != CLF_MSG_BUILD);
    for (uint32_t k = 0; !c.bad && k < m.nkernels; k++) get_kernel(&c);
    if (c.bad || c.left) return clf_fail(err, CLF_E_FORMAT, "a message of kind %u is damaged", m.kind);
    *out = m;
    return CLF_OK;
}

void clf_msg_next(const char **at, clf_msg_kernel *out) {
    uint32_t nargs, len;
    memcpy(&nargs, *at, sizeof nargs);
    memcpy(&len, *at + 4, sizeof len);
    *out = (clf_msg_kernel){.entry = *at + 8, .nargs = (int)nargs, .args = *at + 8 + len + 1};
    *at = out->args + nargs * sizeof(clf_arg_desc);
}

void clf_msg_args(const clf_msg_kernel *k, clf_arg_desc *out) {
    if (k->nargs) memcpy(out, k->args, (size_t)k->nargs * sizeof *out);
}
