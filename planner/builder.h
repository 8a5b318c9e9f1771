/* SPDX-License-Identifier: Apache-2.0
 * Building a cplan: arrays that grow inside an arena, values hash-consed on the way. Used by lowering, tests and the parser. */
#ifndef CLF_PLANNER_BUILDER_H
#define CLF_PLANNER_BUILDER_H
#include "planner/cplan.h"
typedef struct clf_builder {
    clf_arena *arena;
    clf_cplan c;
    int cap[7];
    int32_t *table;   /* values by content: linear probing, value + 1, 0 empty */
    int ntable;       /* a power of two, or 0 */
    bool failed;      /* out of memory: every later call returns 0 or is a no-op; clf_build_end reports */
} clf_builder;
/** Start an empty cplan; everything comes from the arena, nothing needs releasing but the arena. */
void clf_build_begin(clf_builder *b, clf_arena *arena);
int clf_build_axis(clf_builder *b, clf_axis_kind kind, int64_t n);
/** The access whose operand defines an ENTRY, SEG or DICT axis, and the axis that selects its row. The parent is needed before any value
 *  that varies with the axis is built (access -1: known later; call again). */
void clf_build_owner(clf_builder *b, int axis, int access, int parent);
int clf_build_in(clf_builder *b, clf_dtype t, int rank, const int64_t *dim);
int clf_build_param(clf_builder *b, clf_dtype t);
int clf_build_out(clf_builder *b, clf_dtype t, int rank, const int64_t *dim);
/** Access with one axis (or -1) per dimension, mul 1 add 0. Equal accesses are shared. */
int clf_build_access(clf_builder *b, int in, const int *axes);
int clf_build_access_at(clf_builder *b, const clf_access *a);
/** One value; equal values are shared; axes are computed. */
int clf_build_value(clf_builder *b, clf_value v);
int clf_build_load(clf_builder *b, int access);
int clf_build_op(clf_builder *b, clf_op op, clf_dtype t, int a, int b2, int c);
/** Cast unless it already has dtype t. CAST of an F_BOOL operator re-declares that operator with dtype t instead. */
int clf_build_cast(clf_builder *b, int v, clf_dtype t);
/** v folded (cumulated) over an axis, cast to the fold's value type first. */
int clf_build_foldv(clf_builder *b, clf_fold_id f, int axis, int v);
/** The same over stored entries, cells without one being `rest`. */
int clf_build_fold_rest(clf_builder *b, clf_fold_id f, int axis, int v, int rest);
int clf_build_scan(clf_builder *b, clf_fold_id f, int axis, int v);
/** x * y summed over an axis; both of one type. skip: which zeros annihilate (CLF_V_DOT). */
int clf_build_dot(clf_builder *b, int axis, int x, int y, int skip);
/** x along axis xa and behind it y along ya, together along `axis`; an axis -1: one position. Both of one type. */
int clf_build_cat(clf_builder *b, int axis, int x, int xa, int y, int ya);
/** Any sink, as given. */
void clf_build_sink(clf_builder *b, const clf_sink *s);
void clf_build_store(clf_builder *b, int out, int v, uint32_t keep);
void clf_build_pattern(clf_builder *b, int out, int v, uint32_t keep);
void clf_build_fold(clf_builder *b, int out, clf_fold_id f, int v, uint32_t keep);
void clf_build_dot_sink(clf_builder *b, int out, int x, int y, int skip, uint32_t keep);
/** Finish and check. *out shares the builder's arrays. errors: CLF_E_NOMEM; CLF_E_INTERNAL from the check. */
clf_status clf_build_end(clf_builder *b, clf_cplan *out, clf_err *err);
#endif
