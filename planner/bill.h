/* SPDX-License-Identifier: Apache-2.0
 * The bill of a step: what it moves and computes, as terms that know no device. Written once for a part of a cover, paid on any device by
 * the rates of its profile (cost.h). Selection prices covers by it, and a step keeps its own, so what is predicted for a plan is what the
 * search compared. */
#ifndef CLF_PLANNER_BILL_H
#define CLF_PLANNER_BILL_H
#include "planner/cost.h"
#include "planner/cover.h"

/* CLF_TERM(ID, a, b, c): what its numbers are; the first group is moved, what follows COMPUTE is computed. */
typedef enum clf_term_kind {
    CLF_TERM_READ,     /* a bytes once */
    CLF_TERM_AGAIN,    /* a bytes once, b times more from wherever they stay: what every row reads whole; c times where loops are tiled */
    CLF_TERM_GATHER,   /* a accesses of b bytes each in c bytes */
    CLF_TERM_SPARSELY, /* the same, or all c bytes once if that is cheaper */
    CLF_TERM_PLACE,    /* the same of a result: a sums of b bytes made anywhere in c bytes */
    CLF_TERM_WRITE,    /* a bytes once */
    CLF_TERM_MEET,     /* a bytes written and read again b times: copies that meet in one result */
    CLF_TERM_COMPUTE,
    CLF_TERM_NODE,     /* over a share a of its cells, in a loop; b: a product of a loop in tiles, where the device has them; c: clf_term_pace */
    CLF_TERM_ROWS,     /* something begun and ended in each of a rows; c: clf_term_pace */
    CLF_TERM_DOTS,     /* a inner products begun; b: clf_term_dots; c: clf_term_pace */
    CLF_TERM_ENTRIES,  /* a stored entries visited; c: clf_term_pace */
    CLF_TERM_SCATTER,  /* a sums made at places that stored entries name */
    CLF_TERM_BEGUN,    /* a folds or products begun in rows of stored entries; c: clf_term_pace */
    CLF_TERM_LOCATE,   /* a entries passed while others are looked for */
    CLF_TERM_GAPS,     /* a entries that end a range of cells without entry */
    CLF_TERM_HOST,     /* an operator that no kernel for CPUs has in a loop over entries */
    CLF_TERM_ALONE,    /* graph node a in a step of its own */
    CLF_TERM_CONVERT   /* clf_convert a of graph node b with c entries */
} clf_term_kind;
/* How computing goes: as usual; one cell at a time on a device for CPUs, once a row of stored entries; in rows of cells, or of stored
 * entries, where a part of it hides behind nothing that is moved (clf_profile.row_alone, entry_alone). */
enum clf_term_pace { CLF_PACE_USUAL, CLF_PACE_ONE_BY_ONE, CLF_PACE_ROWS, CLF_PACE_ENTRIES };
/* Of a row; of a row and a row of a side, which an entry picks; such rows of a side, each times an entry and added to the same sums. */
enum clf_term_dots { CLF_DOTS_ROWS, CLF_DOTS_PAIRS, CLF_DOTS_SIDES };
typedef struct clf_term { int32_t kind, node; double a, b, c; } clf_term; /* node: the operand, result or operator it is for */

/* Zeroed at first; written again, it keeps its room. */
struct clf_bill {
    int32_t n, cap;
    int32_t kind;      /* clf_step_kind */
    int32_t kept;      /* values that its loop keeps at a time */
    int32_t sums;      /* folds and products that it makes */
    double cells;      /* that it goes over at most, stored entries where these drive it; 0: no loop */
    bool serial;       /* what meets over its rows does so in blocks that do not nest: the host has one core do it */
    clf_term *term;
};
typedef struct clf_bill clf_bill;

/** The bill of part i, which is entered and whose driver and operands' formats are known. mark: a zero byte per node, zero again
 *  afterwards. Operands that must be converted first are billed in dense cells; their conversion has a bill of its own. */
clf_status clf_bill_part(const clf_graph *g, const clf_cover *c, int32_t i, uint8_t *mark, clf_arena *arena, clf_bill *out, clf_err *err);
/** The bill of a conversion of node n, which has so many entries. */
clf_status clf_bill_convert(const clf_graph *g, int32_t n, clf_convert how, double entries, clf_arena *arena, clf_bill *out, clf_err *err);
/** launch + looking up + moved and computed, as far as they overlap (clf_cost_both), on a device. */
clf_ps clf_bill_pay(const clf_bill *b, const clf_graph *g, const clf_profile *dev);
/** The part of the device that a step fills (clf_cost_occupancy); 1 for what is no loop. */
double clf_bill_occupancy(const clf_bill *b, const clf_profile *dev);
/** Values that the loop of part i, which is entered, keeps at a time, its operators computed one after the other. mark: as above. */
int32_t clf_part_kept(const clf_graph *g, const clf_cover *c, int32_t i, uint8_t *mark);
/** kept.c: the cells and sums of a part's loop, into *out. */
void clf_part_grid(const clf_graph *g, const clf_cover *c, int32_t i, clf_bill *out);
/** One term. */
clf_ps clf_term_pay(const clf_term *t, const clf_graph *g, const clf_profile *dev);
/** What of a term nothing hides that its loop does meanwhile: of moving, looking up (clf_cost_look); of computing, the pace of rows. */
clf_ps clf_term_look(const clf_term *t, const clf_graph *g, const clf_profile *dev);

/** Does part `number` read q, stored in CSR, as it is? Else its cells, converted first. */
bool clf_cover_reads_csr(const clf_graph *g, const clf_cover *c, int32_t number, int32_t q);
/** Bytes of node q as the cover stores it. */
double clf_cover_bytes(const clf_graph *g, const clf_cover *c, int32_t q);

/* Terms of a loop over all cells: operand k of n read from memory, n written. Of products that may be tiled, those of tiles: a loop that
 * is not tiled costs no less. */
clf_term clf_term_operand(const clf_graph *g, int32_t n, int k);
clf_term clf_term_result(const clf_graph *g, int32_t n);
/** Do the values of result n meet over rows? */
bool clf_term_meets(const clf_graph *g, int32_t n);
/** What it costs then, beside being written; scatter: stored entries say where. */
clf_term clf_term_meeting(const clf_graph *g, int32_t n, bool scatter);
/** Rows of the blocks in which they meet. */
int64_t clf_term_block(const clf_graph *g, int32_t n, bool scatter);
/** Folds and products that node n begins in rows of stored entries. */
double clf_term_begun(const clf_graph *g, int32_t n);
/** What node n computes in a loop, over a share of its cells: how many terms. */
int clf_terms_node(const clf_graph *g, int32_t n, double share, clf_term t[3]);
/* Where a loop in tiles has a place for node n, which it computes with a wide product, and for nothing else than such nodes: cell operators
 * on the cells of its left side before it, and on those of its result behind it, which alone are stored. */
typedef enum clf_tile_place { CLF_TILE_NOWHERE, CLF_TILE_BESIDE, CLF_TILE_STORED } clf_tile_place;
clf_tile_place clf_bill_tile_place(const clf_graph *g, int32_t product, int32_t n);
/** Is node n a cell operator, or a fold or product that is one? */
bool clf_bill_cellwise(const clf_graph *g, int32_t n);
/** Is q, computed in the loop of a product on the left of it, put together first: does its right side wait? */
bool clf_bill_long_row(const clf_graph *g, int32_t q);
/** How often that is read again, then. */
double clf_bill_waiting(const clf_graph *g, int32_t n);
/** Can only the host compute node n in a loop over the entries of `driver`? (host_only.c) */
bool clf_bill_host_only(const clf_graph *g, int32_t driver, int32_t n);
#endif
