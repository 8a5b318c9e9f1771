/* SPDX-License-Identifier: Apache-2.0
 * Results that are rows of other matrices in another place: reshape, rbind, cbind, rev. A row of the result is made of one run of bytes or
 * two; those of the next row are a step further on. rbind is cbind of two matrices that count as one row each.
 *
 * Threads take pieces of the result, which begin and end anywhere in rows that are longer than a piece. Short runs that go past the caches
 * are put together in a buffer first: lines are to be written as a whole. */
#include "host/run/callout.h"

#include <string.h>

enum { BUFFER_BYTES = 1 << 14, LONG_RUN = 1 << 10 };

typedef struct mover {
    char *out;
    size_t row, bytes, piece; /* of a row, of the result, handed out at once */
    clf_stretch part[2];
    const clf_cell_table *past;
} mover;

static const char *row_of(const clf_stretch *s, size_t i) { return s->from + (s->order ? s->order[i].row : (ptrdiff_t)i) * s->step; }

typedef void copy_fn(size_t bytes, void *to, const void *from);
static void copy(size_t bytes, void *to, const void *from) { memcpy(to, from, bytes); }

/* What lies in result bytes [lo, hi) of row i's run. to: where byte lo goes. */
static void put_clipped(const mover *m, const clf_stretch *s, size_t i, size_t lo, size_t hi, char *to, copy_fn *put) {
    const size_t at = i * m->row + s->at, a = at > lo ? at : lo, b = at + s->bytes < hi ? at + s->bytes : hi;
    if (a < b) put(b - a, to + (a - lo), row_of(s, i) + (a - at));
}

static inline void put_rows(const mover *m, const clf_stretch *s, size_t i, size_t n, char *to, size_t bytes) {
    for (size_t k = 0; k < n; k++) memcpy(to + k * m->row, row_of(s, i + k), bytes);
}

/* Whole rows. A call of memcpy for one cell would take longer than the cell. */
static void put_whole(const mover *m, const clf_stretch *s, size_t i, size_t n, char *to) {
    to += s->at;
    switch (s->bytes) {
    case 1: put_rows(m, s, i, n, to, 1); break;
    case 4: put_rows(m, s, i, n, to, 4); break;
    case 8: put_rows(m, s, i, n, to, 8); break;
    default: put_rows(m, s, i, n, to, s->bytes);
    }
}

static void fill(const mover *m, size_t lo, size_t hi, char *to, copy_fn *put) {
    const size_t first = lo / m->row, end = (hi - 1) / m->row + 1;
    for (int k = 0; k < 2; k++) {
        const clf_stretch *s = &m->part[k];
        if (!s->bytes) continue;
        if (lo % m->row || hi % m->row || put != copy)
            for (size_t i = first; i < end; i++) put_clipped(m, s, i, lo, hi, to, put);
        else
            put_whole(m, s, first, end - first, to);
    }
}

/* By way of the buffer. */
static void fill_past(const mover *m, size_t lo, size_t hi) {
    _Alignas(64) char buffer[BUFFER_BYTES];
    const size_t most = m->row < BUFFER_BYTES ? BUFFER_BYTES / m->row * m->row : BUFFER_BYTES;
    for (; lo < hi; lo += most) {
        size_t n = hi - lo < most ? hi - lo : most;
        fill(m, lo, lo + n, buffer, copy);
        m->past->stream(n, m->out + lo, buffer);
    }
}

static void move_piece(void *user, int64_t part, int worker) {
    (void)worker;
    const mover *m = user;
    const size_t lo = (size_t)part * m->piece, hi = m->bytes - lo < m->piece ? m->bytes : lo + m->piece;
    if (!m->past)
        fill(m, lo, hi, m->out + lo, copy);
    else if (m->row < LONG_RUN)
        fill_past(m, lo, hi);
    else
        fill(m, lo, hi, m->out + lo, m->past->stream);
    if (m->past) m->past->fence();
}

void clf_move(const clf_host_call *h, size_t rows, const clf_stretch s[2]) {
    mover m = {.out = h->out, .row = s[0].bytes + s[1].bytes, .part = {s[0], s[1]}};
    m.bytes = rows * m.row;
    m.piece = clf_piece_bytes(h->pool, m.bytes);
    if (m.bytes == 0) return;
    if (m.row < m.piece) m.piece -= m.piece % m.row;
    m.past = clf_past_caches(m.bytes);
    clf_parts_run(h->pool, (int64_t)((m.bytes - 1) / m.piece + 1), move_piece, &m);
}

static size_t row_bytes(const clf_gnode *n) { return (size_t)clf_cols(n) * clf_node_each(n); }

clf_status clf_callout_reshape(const clf_host_call *h, clf_err *err) {
    (void)err;
    clf_move(h, 1, (clf_stretch[2]){{.from = h->in[0], .bytes = clf_node_bytes(h->node)}});
    return CLF_OK;
}

clf_status clf_callout_rbind(const clf_host_call *h, clf_err *err) {
    (void)err;
    size_t a = clf_node_bytes(clf_call_operand(h, 0)), b = clf_node_bytes(clf_call_operand(h, 1));
    clf_move(h, 1, (clf_stretch[2]){{.from = h->in[0], .bytes = a}, {.from = h->in[1], .at = a, .bytes = b}});
    return CLF_OK;
}

clf_status clf_callout_cbind(const clf_host_call *h, clf_err *err) {
    (void)err;
    size_t a = row_bytes(clf_call_operand(h, 0)), b = row_bytes(clf_call_operand(h, 1));
    clf_move(h, (size_t)clf_rows(h->node), (clf_stretch[2]){{h->in[0], (ptrdiff_t)a, 0, a, NULL}, {h->in[1], (ptrdiff_t)b, a, b, NULL}});
    return CLF_OK;
}

clf_status clf_callout_rev(const clf_host_call *h, clf_err *err) {
    (void)err;
    const size_t row = row_bytes(h->node), n = (size_t)clf_rows(h->node);
    if (n == 0 || row == 0) return CLF_OK;
    clf_move(h, n, (clf_stretch[2]){{(const char *)h->in[0] + (n - 1) * row, -(ptrdiff_t)row, 0, row, NULL}});
    return CLF_OK;
}
