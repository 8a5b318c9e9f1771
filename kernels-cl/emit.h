/* SPDX-License-Identifier: Apache-2.0
 * The emitter: turns the texts of ops.def and folds.def into OpenCL C statements for one element type and vector width.
 *
 * A text such as E_ADD(a, b) becomes f64x8_ADD(v3, v7): macro families get the prefix of their type and width (E_ the element
 * type, W_ the wide type, N_ i64), names get what the caller binds them to. clf_emit remembers which families a program used, so
 * that clf_emit_prelude instantiates only those from elem.clh. */
#ifndef CLF_KERNELS_EMIT_H
#define CLF_KERNELS_EMIT_H
#include "core/err.h"
#include "core/fold.h"
#include "core/op.h"
#include "core/str.h"
#include "device/source.h"

enum { CLF_EMIT_WIDTHS = 5, CLF_EMIT_NAME = 48 }; /* 1 2 4 8 16 */
typedef struct clf_emit {
    clf_str *out;
    uint8_t elem[CLF_NDTYPES], bits[CLF_NDTYPES]; /* bit log2(width): families used */
    uint8_t run[CLF_NDTYPES];                      /* 1: UPTO, LOADT or STORET used */
    uint8_t cast[CLF_NDTYPES][CLF_NDTYPES];                        /* float to integer casts used */
} clf_emit;
typedef struct clf_emit_name { const char *from, *to; } clf_emit_name;

void clf_emit_init(clf_emit *e, clf_str *out);
/** "double8", "float", ... into a buffer of CLF_EMIT_NAME; returns it. */
const char *clf_emit_type(char *buf, clf_dtype t, int width);
/** "f64x8"; marks the family as used. */
const char *clf_emit_prefix(clf_emit *e, char *buf, clf_dtype t, int width);
/** The same for UPTO, LOADT and STORET. */
const char *clf_emit_run(clf_emit *e, char *buf, clf_dtype t, int width);
/** Append `text` translated; names is ended by {NULL, NULL}. */
void clf_emit_text(clf_emit *e, const char *text, clf_dtype t, int width, const clf_emit_name *names);
/** Append the opening of a cast, such as "convert_float8(" or "(" when nothing changes; the caller closes it. */
void clf_emit_cast(clf_emit *e, clf_dtype from, clf_dtype to, int width);
/** Append the instantiations the program needs. */
void clf_emit_prelude(const clf_emit *e, clf_str *out);
/** Append `#define name body` with the body's lines joined by continuations. */
void clf_emit_define(clf_str *out, const char *name, const char *body);

/** The text of a skeleton or prelude file, by its name in the tree such as "skel/cell.chunk.cl": from kernel_dir when that is not ""
 *  and has the file, else the built-in one. errors: CLF_E_INTERNAL when there is none, CLF_E_NOMEM, CLF_E_IO. */
clf_status clf_kernel_text(const char *name, const char *kernel_dir, clf_str *out, clf_err *err);
/* The pieces of a text as it grows: each ends where the text ended when it was noted. */
enum { CLF_TEXT_PIECES = 24 };
typedef struct clf_pieces {
    clf_text_piece at[CLF_TEXT_PIECES];
    int n; /* more than CLF_TEXT_PIECES: there was no room, the text is whole all the same */
} clf_pieces;
/** All that was appended to `text` since the last piece is of this kind. */
void clf_pieces_note(clf_pieces *p, clf_text_kind kind, const clf_str *text);

/** Append the file with its #include "x.clh" lines replaced by prelude/x.clh. The line after elem.clh's text is `families`, what
 *  clf_emit_prelude gave. Pieces are noted in `pieces`, which may be NULL. errors: as clf_kernel_text. */
clf_status clf_kernel_expand(const char *name, const char *kernel_dir, const char *families, clf_pieces *pieces, clf_str *out, clf_err *err);
#endif
