/* SPDX-License-Identifier: Apache-2.0
 * One run of a row program: its geometry, the memory it works in, the states of its sinks.
 *
 * A run is cut into parts: ranges of rows that start at a block of every sink over rows, so that a part's partial states are whole
 * subtrees; or, where nothing meets in a row, ranges of stored entries. Full folds may start anywhere: what a part finds before its
 * first leaf is kept for the merge, which steps it into the leaf that the part before left open. Workers take parts and go through
 * them in batches. A row longer than the registers for stored entries goes through one larger set, which the workers share in turn. */
#ifndef CLF_RUN_ROWS_RUN_H
#define CLF_RUN_ROWS_RUN_H
#include "formats/sparse.h"
#include "host/run/rows_prog.h"
#include "host/run/tile_run.h"

/* An access, placed for the extents of a run: element at + sum of step[a] * position on a; elems behind `at`. */
typedef struct clf_row_place {
    const char *at;
    int64_t step[CLF_MAX_AXES], elems;
} clf_row_place;

/* The states of a sink over rows: `vecs` vectors of `len` cells, `ld` apart. Vector v goes to out + v * out_vec, steps out_step. */
typedef struct clf_row_layout {
    int64_t vecs, ld, len, cells, out_vec, out_step;
    int64_t nj, nk;
    bool narrow;   /* DOT: few k, each a vector over j */
    int64_t block; /* rows */
    int lanes, depth;
    size_t stride;     /* words between levels: cells and some padding */
    size_t lane_bytes; /* of one component */
    size_t at;         /* of its lanes, then its levels, in a worker's memory */
    size_t part_at;    /* of its words in a part's memory */
} clf_row_layout;

/* The same in one worker: the block in progress, closed subtrees by level. */
typedef struct clf_row_meeting {
    void *lane[3];
    clf_word *level[3];
    uint64_t held;
    int64_t start;
} clf_row_meeting;

/* A full fold in one part: values before its first leaf, the leaf in progress, subtrees. */
typedef struct clf_row_full {
    int64_t start, pos, nhead;
    clf_lane_state lanes;
    char head[CLF_LEAF * 8];
    clf_tree tree;
    clf_tree rest; /* over rows: what their cells without entry add */
} clf_row_full;

/* A column of the stored entries: cells without entry, and the first row that has none. */
typedef struct clf_row_column {
    int64_t missing, first;
} clf_row_column;

/* n positions of which some are without entry (gaps.h): what they are, runs of them folded, and all of them. */
typedef struct clf_row_gaps {
    const clf_fold_fns *fold;
    char *x;
    int log2;
    int64_t n;
    clf_fold_state *node, all;
    size_t node_at, x_at; /* in their room */
} clf_row_gaps;

typedef struct clf_rows_job {
    const struct clf_rows *r;
    const clf_bind *bind;
    clf_arena arena;         /* geometry of this run */
    int64_t n[CLF_MAX_AXES]; /* extents; ENTRY: columns */
    int64_t rows, all_rows;      /* all_rows: with those that others run */
    const clf_csr *m, *whole;    /* of the ENTRY axis; where others run the rest, with that */
    int64_t batch_rows, batch_entries; /* at most, but for one row of more entries */
    int64_t longest; /* longest: of a row's entries, where registers must hold whole rows */
    clf_row_place *place;        /* per access */
    int64_t *bound;              /* parts + 1: rows, or entries where r->split */
    int64_t parts;
    int workers;
    clf_row_layout *layout; /* per sink with states per column */
    size_t *pack_at;
    char *scalar, *vec, *pack, *big, *worker;
    size_t vec_bytes, row_at, off_at, word_at, meet_at, worker_bytes, big_bytes;
    size_t zeros_at, zeros_bytes; /* in a worker's memory: a row of zeros (rows_locate.c) */
    size_t reg_at[CLF_MAX_AXES], reg_bytes[CLF_MAX_AXES];
    clf_row_full *full; /* parts * nfull */
    char *part;         /* (parts + tree_places) * part_bytes */
    size_t part_bytes;
    int tree_places;        /* where others run the rest of sinks over rows: of their trees; else 0 */
    clf_col_tree *col_tree; /* then: per such sink; their states are behind those of the parts */
    atomic_int *big_busy;
    clf_row_column *column; /* where a rest wants them */
    clf_row_gaps *gaps;
    int64_t *ends, *entry_row; /* of every column: where its entries' rows end; the rows */
    char *at;
    size_t bytes;
    bool cached, stream; /* stream: results are written past the caches */
} clf_rows_job;

/* What one worker has. */
typedef struct clf_rows_frame {
    const clf_rows_job *job;
    void **slot;
    char *mem;
    int64_t *off;   /* entries of the batch's rows, from e0 on */
    clf_word *word; /* results of folds */
    clf_row_meeting *meet;
    int64_t part, row, rows, e0, e1;
} clf_rows_frame;

enum { CLF_ROWS_SCALAR_BYTES = (CLF_ROWS_CELLS + CLF_TILE_PAD) * 8, CLF_ROWS_ROW_BYTES = (CLF_ROWS_MOST + CLF_TILE_PAD) * 8 };

/* rows_parts.c */
/** Rows of a batch, and the longest row of entries where that must fit the registers. */
void clf_rows_choose_batch(clf_rows_job *j);
/** How the states of sinks over rows lie; false: sizes overflow. */
bool clf_rows_place_states(clf_rows_job *j);
/** Parts and workers; false: out of memory. */
bool clf_rows_choose_parts(clf_rows_job *j, const clf_pool *pool);

/* rows_layout.c */
typedef struct clf_rows_room {
    size_t at;
    bool overflow;
} clf_rows_room;
/** Offsets of what a run needs, in the order scalars, vectors, packed right sides, large registers, workers, full folds, parts, columns,
 *  where entries' rows end, these rows, gaps. false: too much for a size. */
enum { CLF_ROWS_ROOMS = 11 };
bool clf_rows_lay(clf_rows_job *j, clf_rows_room *l, size_t at[CLF_ROWS_ROOMS]);
/** Gaps have their room at base. */
void clf_rows_place_gaps(clf_rows_job *j, char *base);
/** Does the sink's state have component k? */
static inline bool clf_rows_has_comp(const clf_row_sink *s, int k) { return s->fold->comp_bytes[k] != 0; }

/* rows_job.c */
/** Extents, geometry, parts, workers, memory. rest: NULL, there is none. errors: CLF_E_NOMEM, CLF_E_LIMIT, CLF_E_SHAPE. */
clf_status clf_rows_job_begin(clf_rows_job *j, struct clf_rows *r, const clf_bind *bind, clf_pool *pool, const clf_rows_rest *rest,
                              clf_err *err);
void clf_rows_job_end(clf_rows_job *j, struct clf_rows *r);
/** The frame of a worker; init: its slots were never set. */
void clf_rows_frame_at(clf_rows_frame *f, const clf_rows_job *j, int worker, bool init);
/** Point the registers for stored entries at the large set, or back. */
void clf_rows_use_big(clf_rows_frame *f, bool big);

/* rows_locate.c */
/** What m stores where the batch's entries stand, or 0; all of its elements have this type, and 2^log2 bytes. */
void clf_rows_locate(const clf_rows_frame *f, const clf_csr *m, int dtype, int log2, char *out);
/** Bytes of the row of zeros that this run wants. */
size_t clf_rows_zeros(const clf_rows_job *j);

/* rows_rest.c */
/** Can the cells without entry be counted, and are there as many values as columns? */
clf_status clf_rows_rest_check(const clf_rows_job *j, clf_err *err);
/** Does the sink's rest vary with rows? Then batches hold whole rows. */
bool clf_rows_rest_by_row(const struct clf_rows *r, const clf_row_sink *s);
/** How many columns are to be counted: all or none. */
int64_t clf_rows_rest_columns(const clf_rows_job *j);
void clf_rows_rest_count(const clf_rows_job *j);
/** The rows of a batch, for a rest that varies with them. */
void clf_rows_rest_batch(const clf_rows_frame *f, const clf_row_sink *s, clf_row_full *u);
/** Merge the cells without entry into the state of all entries, or into those of the columns. */
void clf_rows_rest_full(const clf_rows_frame *f, const clf_row_sink *s, clf_fold_state *state);
void clf_rows_rest_meet(const clf_rows_frame *f, const clf_row_sink *s, clf_word *const word[3], clf_pool *pool);

/* rows_gaps.c */
/** Fold runs of columns without entry, once their values are there. */
void clf_rows_gaps_begin(const clf_rows_frame *f);
/** The state of a row's gaps, its n entries being at columns idx. */
void clf_rows_gaps_row(const clf_rows_job *j, int gaps, const int32_t *idx, int64_t n, clf_fold_state *out);
/** Does a fold that keeps columns have a rest by row? */
bool clf_rows_gaps_by_row(const struct clf_rows *r);
/** Keep what the rows of a batch have for the end. */
void clf_rows_gaps_batch(const clf_rows_frame *f, int gaps);
/** When all rows are through and columns are counted: fold runs of rows. */
void clf_rows_gaps_finish(const clf_rows_job *j);
/** The state of the gaps of column c. */
void clf_rows_gaps_column(const clf_rows_job *j, int gaps, int64_t c, clf_fold_state *out);

/* rows_cat.c */
/** Two rows, or vectors, one behind the other. */
void clf_rows_exec_cat(clf_rows_frame *f, const clf_row_instr *in);
/** Is the axis of every CAT as long as its parts? errors: CLF_E_SHAPE. */
clf_status clf_rows_cat_check(const clf_rows_job *j, clf_err *err);

/* rows_exec.c */
/** Run one instruction of either list; sinks go to clf_rows_drink. */
void clf_rows_exec(clf_rows_frame *f, const clf_row_instr *in);

/* rows_merge.c */
/** The state of a sink over rows that a part leaves, by component. */
void clf_rows_part_words(const clf_rows_job *j, const clf_row_sink *s, int64_t part, clf_word *out[3]);
/** Those of all parts into that of the first; where others run the rest, onto the trees. */
void clf_rows_merge(clf_rows_job *j, clf_pool *pool);
/** Merge what is left of a tree, into the state of the first part. */
void clf_rows_close(const clf_rows_job *j, const clf_row_sink *s);

/* rows_full.c */
/** A batch of what is folded; the result, when all states have met. */
void clf_rows_full_drink(clf_rows_frame *f, const clf_row_sink *s);
void clf_rows_full_finish(const clf_rows_job *j, const clf_row_sink *s, const clf_rows_frame *f);
/** The states of full folds in all parts become those of the first one. */
void clf_rows_meet(const clf_rows_job *j);

/* rows_sink.c */
/** Row-major position of the first cell of row `row`, or of entry `entry`, of a sink's value. */
int64_t clf_rows_position(const clf_rows_job *j, const clf_row_sink *s, int64_t row, int64_t entry);
/** Write n words of a fold, a leaf at most: results from position i on, `step` apart. */
void clf_rows_put(const clf_rows_job *j, const clf_row_sink *s, int64_t i, int64_t step, int64_t n, const clf_word *r);
void clf_rows_part_begin(clf_rows_frame *f);
void clf_rows_drink(clf_rows_frame *f, const clf_row_sink *s);
void clf_rows_part_end(clf_rows_frame *f);
/** Write what met; the parts are merged. f: any worker's frame; pool: NULL for a serial run. */
void clf_rows_finish(const clf_rows_job *j, clf_rows_frame *f, clf_pool *pool);
#endif
