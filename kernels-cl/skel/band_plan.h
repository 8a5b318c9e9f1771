/* SPDX-License-Identifier: Apache-2.0
 * What row.group knows of a cplan in row form (every axis a range) before any text is written; and entry.group, where one axis runs over
 * the stored entries of a CSR operand.
 *
 * A work-group owns a band of rows and takes it in passes of few, so that what one job of a pass has read the next finds in a near cache.
 * A pass is a list of jobs with barriers between them. Values that are folds (FOLD, DOT, SCAN) and CATs stand in the band's buffers from
 * their job on; everything else is computed again where it is read. Jobs in the order of their level, all real sinks behind:
 *   LEAVES  folds and dots along `axis`, one line for each position of `keep`: leaves dealt to as many neighbours as they have lanes
 *   SCAN    running folds along `axis`, a work-item a line
 *   CAT     a row put together, a work-item a cell
 *   MAP     kept cells
 *   COLS    folds over rows: a work-item a lane of a column, whose state waits in scratch from pass to pass; then from block to block
 *   FULL    folds over all cells (axis -1: over rows): leaves as above
 * COLS and FULL leave a state for each block, each leaf, for row.group.merge.cl; leaves of a pass are merged as far as whole subtrees go.
 * Over stored entries there are two more ways. Folds along a row's entries are LEAVES jobs whose lines are as long as their rows: short
 * ones are dealt to neighbours, a leaf each, and the whole group takes a long one, its leaves by turns. What asks for no fold of a row is
 *   ENTRIES folds over all entries, and cells of a result with their pattern: leaves of entries, over row ends, by groups in front of the
 *           bands; a group takes an aligned run and leaves one state.
 *   MEET    folds by the column of entries: a band is a block of rows, with a state for every cell of the result. Beside COLS and FULL,
 *           whose blocks and leaves are other numbers of rows, such jobs have bands of their own, where what they need is made once more.
 * No size here follows from the number of entries but how many groups there are: it may be a guess, and kernels ask the operand.
 * DOTs of each entry over a short axis (pairs) have no buffer, they are computed where they are read; where several cells of a job take
 * one entry, they are made once for a tile of entries, in local memory.
 * A work-item of LEAVES, MAP, COLS and FULL jobs over rows of dense operands takes `width` positions of axis `beside` at a step, which are
 * neighbours: lanes of a leaf, columns, or kept cells. Only where the axis is whole runs of them (band_width.c).
 * Invariant: nothing here changes a result: whole blocks and leaves belong to one group and pass. */
#ifndef CLF_KERNELS_SKEL_BAND_PLAN_H
#define CLF_KERNELS_SKEL_BAND_PLAN_H
#include "kernels-cl/skel/made.h"
#include "kernels-cl/skel/strides.h"

enum { CLF_BAND_VALUES = 512, CLF_BAND_ITEMS = 96, CLF_BAND_JOBS = 128, CLF_BAND_LEVELS = 40 /* of a stack of states */,
       CLF_BAND_PAIRS = 1024 /* cells of 8 bytes in local memory: those of a job's tile, of a leaf or more */ };
typedef enum clf_job_kind {
    CLF_JOB_LEAVES, CLF_JOB_SCAN, CLF_JOB_CAT, CLF_JOB_MAP, CLF_JOB_COLS, CLF_JOB_FULL, CLF_JOB_ENTRIES, CLF_JOB_MEET
} clf_job_kind;

typedef struct clf_job {
    uint8_t kind;
    int8_t axis;    /* along which a task goes; -1 */
    int8_t beside;  /* along which positions of a step lie side by side; -1: it has one */
    uint8_t width;  /* how many: 1, 2 or 4 */
    uint32_t keep;  /* axes whose positions number the tasks */
    int level, lanes;
    int value;      /* CAT */
    int states;     /* components of all its items' states */
    int pairs;      /* that it has made for a tile of entries, since several cells take one: how many */
    int64_t cells;  /* positions of keep but rows */
    int64_t leaves; /* LEAVES: of a line; FULL: of all; COLS, MEET: blocks */
    int64_t run;    /* FULL: leaves of a pass; COLS, MEET: rows of a block */
    uint8_t sets;   /* bit 0: runs in the bands; bit 1: in those of MEET, where these have bands of their own */
    int64_t at;     /* COLS: words of a band before its states; ENTRIES: of scratch before the number of states that are there */
} clf_job;

/* A sink, or behind the sinks a FOLD, DOT or SCAN value. */
typedef struct clf_item {
    int16_t job, first;  /* job -1: a pair; its states' number among those of the job */
    int64_t parts, results, at; /* what it leaves for the merge, in words of scratch; parts 1: nothing */
    int64_t rest;               /* words before what cells without entry come to, over all entries */
    struct {
        int64_t inner, units, run, end;
    } merge; /* see row.group.merge.cl */
} clf_item;

typedef struct clf_band {
    const clf_cplan *c;
    int e, csr;                      /* the ENTRY axis and its operand; -1 */
    int64_t rows, pass, band, bands; /* rows of all, a pass, a band; bands */
    int64_t flat;                    /* groups of ENTRIES jobs, in front of the bands */
    bool apart;                      /* what meets has bands of its own */
    struct {
        int64_t pass, band, bands;   /* of MEET jobs and what they need, behind the bands of the others; bands 0: they are one */
    } meet;
    int local, index_bits, levels;
    int width;                       /* of the widest job */
    int njob, nitem, most_states;    /* most components of a state */
    clf_job job[CLF_BAND_JOBS];
    clf_item item[CLF_BAND_ITEMS];
    int16_t made[CLF_BAND_ITEMS];    /* per item behind the sinks: its value */
    int16_t level[CLF_BAND_VALUES];  /* jobs below it are done before the value can be computed */
    int64_t buffer[CLF_BAND_VALUES]; /* words of a band before the value's buffer; -1: it has none */
    int64_t leaf_at, base, stride, words; /* states of leaves in a band (by entry: of stacks); groups begin at, and have, words; scratch */
    int64_t merges, grain, extent;
} clf_band;

/** Entries of a job's tile. */
static inline int clf_band_tile(const clf_band *p, int job) { return CLF_BAND_PAIRS / p->job[job].pairs; }
/** May what meets in the job be stored by columns, each cell's place beside that of the same cell of the next column? */
static inline bool clf_band_turned(const clf_band *p, int job) {
    if (p->e < 0) return false;
    uint32_t behind = p->job[job].keep & ~(1u << p->e);
    return p->job[job].kind == CLF_JOB_MEET && behind && behind < 1u << p->e;
}
/** False when the skeleton cannot serve it. profile: for the size of a group and the cells of a step; NULL: these are `local` and `width`. */
bool clf_band_plan(clf_band *p, const clf_cplan *c, const clf_profile *profile, int local, int width);
/** How many positions the steps of jobs have, `width` at most; groups and passes are cut already (band_width.c). */
void clf_band_widen(clf_band *p, int width);
/** May vectors of the access along its job's axis be loaded whole, where its memory begins at a whole one? */
bool clf_band_aligned(const clf_band *p, int access, int job);
static inline int64_t clf_band_extent(const clf_band *p, int axis) { return p->c->axis[axis].n.n; }
/** Adds what a whole run reads, writes and computes (band_facts.c). */
void clf_band_count(const clf_band *p, clf_facts *out);
/** The part of a group that has something to do where its work-items wait for each other row by row. */
double clf_band_filled(const clf_band *p);
/** The value that cells without entry have for a fold of an item; -1: they take no part (band_rest.c). */
int clf_band_rest(const clf_band *p, int item);
/** The sink of an item as made.h has it, its job apart. */
clf_sink clf_band_sink(const clf_band *p, int item);
/** Along the entries of a row? */
static inline bool clf_band_by_entry(const clf_band *p, uint32_t axes) { return p->e >= 0 && (axes >> p->e & 1u); }
/** A DOT over a short axis, one number an entry. */
static inline bool clf_band_is_pair(const clf_band *p, const clf_value *v) {
    return v->op == CLF_V_DOT && v->axis != p->e && clf_band_by_entry(p, v->axes);
}
/** Has the value a buffer? */
static inline bool clf_band_buffered(const clf_band *p, const clf_value *v) {
    return (clf_is_made(v) && !clf_band_is_pair(p, v)) || v->op == CLF_V_CAT;
}
#endif
