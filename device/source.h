/* SPDX-License-Identifier: Apache-2.0
 * What the device layer gets: full program text, an entry name, build options, and the kinds of its arguments in order.
 * It knows nothing of operators. */
#ifndef CLF_DEVICE_SOURCE_H
#define CLF_DEVICE_SOURCE_H
#include "core/hash.h"
typedef enum clf_arg_kind {
    CLF_ARG_MEM_IN,   /* pointer to input `index`; a CSR input's values */
    CLF_ARG_CSR_PTR,  /* pointer to the row offsets (long) of CSR input `index` */
    CLF_ARG_CSR_IDX,  /* pointer to the columns (int) of CSR input `index` */
    CLF_ARG_MEM_OUT,  /* pointer to output `index`; of a PATTERN sink: to its entries */
    CLF_ARG_SCRATCH,  /* pointer to scratch of clf_sched.scratch_bytes, 64-byte aligned, not initialised */
    CLF_ARG_COUNTER,  /* pointer to one int, 0 before the first launch and again after each */
    CLF_ARG_PARAM,    /* scalar parameter `index`, in its dtype */
    CLF_ARG_I64       /* a 64-bit integer computed by the skeleton's twin: clf_sched.arg[index] */
} clf_arg_kind;
/* An I64 right behind a memory argument is the element offset of the access from that pointer: who binds memory that starts r
 * elements into the operand subtracts r. */
typedef struct clf_arg_desc { uint8_t kind, dtype; int16_t index; } clf_arg_desc;
/* What a run of the text is, for who joins several kernels into one program (kernels-cl/join.h). The pieces follow each other and
 * cover the text. The device layer does not look at them. */
typedef enum clf_text_kind {
    CLF_TEXT_HOLES,    /* #define lines of this kernel alone: to be undefined behind it */
    CLF_TEXT_FILE,     /* a prelude file: needed once in a program, in front of what follows it here */
    CLF_TEXT_FAMILIES, /* instantiations, one a line: each needed once */
    CLF_TEXT_OWN       /* the skeleton's text, the kernel function in it */
} clf_text_kind;
typedef struct clf_text_piece { uint8_t kind; size_t at, len; } clf_text_piece;
typedef struct clf_source {
    const char *text;      /* whole program, no includes left */
    size_t text_len;
    const char *entry;     /* kernel name */
    const char *options;   /* whitelisted -D and -cl options; usually "" */
    const clf_arg_desc *args;
    int nargs;
    const clf_text_piece *piece; /* of text; none: this kernel is not joined with others */
    int npieces;
    clf_hash hash;         /* of text, entry and options; a shortcut only, the cache compares the text */
} clf_source;
#endif
