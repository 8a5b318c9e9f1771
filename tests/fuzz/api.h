/* SPDX-License-Identifier: Apache-2.0
 * A player of scripts over the public interface. A script is bytes; every byte string is one. A byte picks a call from the table in
 * api_calls.c, further bytes its arguments; past the end all bytes are 0.
 *
 * Handles live in API_SLOTS slots, filled round robin; the last two are fixed: a handle of another context, and NULL. A slot knows how
 * far its value is determined, so that two plans can be compared:
 *   API_EXACT   integers of at most `bound`; sums in any order give the same bits while the bound stays below API_EXACT_MOST
 *   API_CELLS   every cell has the same bits under every plan, but its sums do not
 *   API_FREE    only status, shape and type are the same
 * Matrices of more than API_MOST_CELLS are recorded and dropped: no script computes for long. */
#ifndef CLF_TESTS_FUZZ_API_H
#define CLF_TESTS_FUZZ_API_H
#include "clfuse/clfuse.h"
#include "tests/fuzz/fuzz.h"

enum { API_SLOTS = 16, API_OTHER = API_SLOTS - 2, API_NULL = API_SLOTS - 1, API_FUNCTIONS = 4, API_EPOCHS = 8, API_CALLS = 96 };
enum { API_MOST_CELLS = 1024, API_LOG = 1 << 16, API_BORROWED = 24, API_MOST_ARGS = 3 };
/* The sparse arrays a script may lend: API_LENT entries. */
enum { API_LENT_ROWS = 4, API_LENT_COLS = 5, API_LENT = 6 };
#define API_EXACT_MOST 16777216.0

typedef enum api_kind { API_EXACT, API_CELLS, API_FREE } api_kind;
typedef struct api_value {
    clf_mat *m;
    api_kind kind;
    double bound;
    uint64_t serial; /* when it was made; what an epoch made goes with it */
} api_value;

/* What a play shows: statuses, shapes, types and cells, as numbers. */
typedef struct api_cells {
    size_t n;
    double cell[API_LOG];
} api_cells;

typedef struct api_function {
    clf_fn *f;
    size_t nparam, nresult;
    api_value result[API_MOST_ARGS];
} api_function;

typedef struct api_player {
    clf_ctx *c;
    const uint8_t *at, *end;
    api_value slot[API_SLOTS];
    unsigned next;
    uint64_t serial;
    size_t mark[API_EPOCHS];
    uint64_t mark_serial[API_EPOCHS];
    int epochs;
    api_function fn[API_FUNCTIONS];
    double borrowed[API_BORROWED];
    int64_t lent_ptr[API_LENT_ROWS + 1];
    int32_t lent_idx[API_LENT];
    double lent_val[API_LENT];
    clf_mat *lent; /* the leaf over them, and when it was made */
    uint64_t lent_serial;
    bool sparse;  /* there was a sparse leaf: the sign of a zero says nothing */
    bool changed; /* of what is borrowed: leaves over it that were not declared anew contradict themselves */
    bool knobs_changed;
    clf_status worst; /* of the results at the end */
    api_cells *log;
} api_player;

/** Play a script and evaluate what is left. CLF_OK when some value was computed. */
clf_status api_play(clf_ctx *c, clf_ctx *other, const uint8_t *p, size_t n, api_cells *log);

unsigned api_byte(api_player *s);
/** A slot to read from. */
api_value *api_take(api_player *s);
/** Put a new handle into the next slot. owns: the slot. A handle that is too large to compute is dropped. */
api_value *api_put(api_player *s, clf_mat *m, api_kind kind, double bound);
void api_log(api_player *s, double x);
/** Evaluate a slot and log what it gives. */
void api_read(api_player *s, const api_value *v);
/** Rows and columns; 0, 0 for an error. */
void api_shape(const clf_mat *m, int64_t *rows, int64_t *cols);
/** Forget handles made since. */
void api_forget(api_player *s, uint64_t since);

/** The lent arrays as they were at the beginning. */
void api_lend_right(api_player *s);

typedef void (*api_call)(api_player *s);
extern const api_call api_calls[], api_sparse_calls[];
extern const unsigned api_ncalls, api_nsparse_calls;
#endif
