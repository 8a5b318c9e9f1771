/* SPDX-License-Identifier: Apache-2.0
 * Skeletons: HOW a cplan is run. A skeleton owns its facts: the C twin beside the .cl text implements this interface, host/
 * hands the table to the planner. Order of calls: fits -> sched -> facts -> emit. */
#ifndef CLF_PLANNER_SKEL_H
#define CLF_PLANNER_SKEL_H
#include "device/profile.h"
#include "device/source.h"
#include "planner/cplan.h"
enum {
    CLF_SCHED_ARGS = 128,
    CLF_ENTRY_SIDE = 128,    /* columns of a matrix that loops over stored entries multiply by, at most */
    CLF_NARROW_PRODUCT = 64, /* columns of a product up to which loops go row by row; wider ones are the library's, or tiled */
    CLF_TILE_BAND = 252,     /* rows for which a tiled product reads its right side once: a leaf of their left side stays in a near cache */
    CLF_TILE_ROWS = 12       /* a whole number of tiles has, also of tiles for few registers (tile.chunk.cl) */
};
/* Which part of the outermost axis this launch covers; whole operators have lo = 0, hi = n. Laid out in TIME (one after the
 * other on one device) today. lo and hi are in units of clf_sched.grain positions of the outer extent. */
typedef struct clf_grid { int64_t lo, hi; } clf_grid;
/* A launch may leave partial results for a second kernel, launched once behind all of its parts. */
typedef enum clf_merge { CLF_MERGE_NONE, CLF_MERGE_FOLLOWS, CLF_MERGE_ITSELF } clf_merge;
typedef struct clf_sched {
    const struct clf_skel *skel;
    int variant;              /* private to the skeleton, part of its key */
    int width;                /* vector width in elements */
    int index_bits;           /* 32 or 64 */
    int nontemporal;          /* outputs written past the caches */
    int64_t grain;            /* grid granularity: rows (or flat cells) a part must start at a multiple of */
    int64_t extent;           /* outer extent in the same unit */
    int flat;                 /* grain and extent count cells; 0: positions of axis 0 */
    size_t global;            /* work-items; local size is `local`. A grain is what `local` of them cover */
    size_t local;
    size_t scratch_bytes;
    int merge;                /* clf_merge */
    int64_t arg[CLF_SCHED_ARGS]; /* values of CLF_ARG_I64 arguments */
    int narg;
} clf_sched;
/* Facts of one launch set, counted by the twin: bytes really touched, cells per cost class. */
typedef struct clf_facts {
    double read_bytes, write_bytes;     /* streamed by the kernel, first touch of every input counted once per sweep */
    double cells[2][CLF_NCLASSES];      /* operator evaluations by [is f64][class] */
    int launches;
    double occupancy;                   /* of the device's compute units, the part that has enough to do; 0: not said */
} clf_facts;
/* Takes the state of a full fold over the leaves index .. index + 2^level - 1 (core/fold.h), by sink: the tree's wide words, one a
 * component, and what is behind them is anybody's guess. */
typedef void (*clf_take_state)(void *user, int sink, int64_t index, int level, const uint64_t word[3]);
/* How the states of a result's cells lie: word v * apart + u is that of cell v * to + u * step, for v < vectors and u < len. */
typedef struct clf_cell_order { int64_t vectors, len, apart, to, step; } clf_cell_order;
/* The same of what keeps columns and meets over rows, a fold or a product, over the blocks index .. index + 2^level - 1: word[m] has
 * component m of all cells in that order, which is one after the other in cell programs. */
typedef void (*clf_take_columns)(void *user, int sink, int64_t index, int level, const clf_cell_order *order, const uint64_t *const word[3]);
/* Where the first part of a loop over stored entries ends: the chunks from `chunk` on are behind that many rows and entries. */
typedef struct clf_entry_end {
    int64_t chunk, row, entry;
    bool inside; /* of all parts of this loop: entry may be one of `row`, which goes on behind it; else that row's first */
} clf_entry_end;
typedef struct clf_skel {
    const char *name;        /* "cell.chunk" */
    const char *strategy;    /* "chunk" */
    int tier;                /* 2 for specialised kernels */
    bool (*fits)(const clf_cplan *c, const clf_profile *p);
    clf_status (*sched)(const clf_cplan *c, const clf_profile *p, clf_grid grid, clf_sched *out, clf_err *err);
    /* The schedule of the second kernel, where sched says that one follows; NULL: never. `emit` writes its text, too. */
    clf_status (*merge)(const clf_cplan *c, const clf_profile *p, clf_sched *out, clf_err *err);
    /* What a launch of the grid that s is for has left of full folds in scratch, while another runs the chunks before it: every state, in the
     * order of their leaves, for each sink; of loops over stored entries, without the rest. NULL: parts of such folds cannot run apart. */
    void (*states)(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_grid grid, const void *scratch, clf_take_state take,
                   void *user);
    /* The same of what keeps columns, in the order of its blocks. NULL: parts of that cannot run apart. */
    void (*columns)(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_grid grid, const void *scratch, clf_take_columns take,
                    void *user);
    /* Over the stored entries of an operand with these offsets: the end of a first part that has about so much of all rows and entries,
     * counted alike. ptr NULL: may it have one, and inside rows? False: no; and so where the function is NULL. */
    bool (*ends)(const clf_cplan *c, const clf_profile *p, double share, const int64_t *ptr, clf_entry_end *out);
    void (*facts)(const clf_cplan *c, const clf_profile *p, const clf_sched *s, clf_facts *out);
    /* Writes program text into `arena`. kernel_dir overrides built-in texts when not "". */
    clf_status (*emit)(const clf_cplan *c, const clf_sched *s, const char *kernel_dir, clf_arena *arena, clf_source *out, clf_err *err);
} clf_skel;
extern const clf_skel *const clf_skels[]; /* NULL-ended, in order of preference; defined in kernels-cl/ */
#endif
