/* SPDX-License-Identifier: Apache-2.0
 * What a row-form cplan's values look like, and which registers they get; private to host/run/rows*.c. */
#ifndef CLF_RUN_ROWS_FITS_H
#define CLF_RUN_ROWS_FITS_H
#include "host/run/rows_prog.h"
/** Shape of a set of axes, and its inner axis (-1 none); PAIR when it has two. */
clf_row_shape clf_rows_shape(const clf_cplan *c, uint32_t axes, int *axis);
/** The other inner axis of a DOT's second operand when that is a PAIR over `over` and it; else -1. */
int clf_rows_pair(const clf_cplan *c, int32_t value, int over);
/** Is the value a load by the entry's column alone, from a dense operand? */
bool clf_rows_by_column(const clf_cplan *c, int32_t value);

/* Working arrays of the allocation, as long as there are slots. */
typedef struct clf_rows_regs {
    int32_t *last, *free; /* per slot: its last reader; free registers, all axes, as axis and number */
    int8_t *free_axis;
    int nfree;
} clf_rows_regs;
/** Registers of MAT values, shared by liveness. */
void clf_rows_assign(struct clf_rows *r, clf_rows_regs *g);
/** May batches end inside a row? Yes where no instruction and no sink looks at a whole row of stored entries. */
bool clf_rows_may_split(const struct clf_rows *r);
#endif
