/* SPDX-License-Identifier: Apache-2.0
 * Laws that hold exactly in floating point: a program and a changed one, whose results are related bit by bit. A law marks every node
 * of the program with a tag, from its operands' tags and by a table: its degree under scaling, its parity under negation, how it
 * follows its leaves' rows; LAW_BAD where nothing is promised. */
#ifndef CLF_TESTS_LAWS_H
#define CLF_TESTS_LAWS_H
#include "tests/support/random_program.h"

enum { LAW_BAD = -1000000 };
typedef int law_tags[RP_NODES];

/* ---- homogeneous programs ---- */

typedef enum law_tag { LAW_DEGREE, LAW_PARITY } law_tag; /* parity: 0 even, 1 odd */
/** Tags of all nodes when real sources have tag 1 and integer ones 0 (LAW_PARITY: random ones too). data[i]: the cells of node i
 *  as evaluated; a node with cells outside the range in which the law is exact is bad. */
void law_tag_nodes(const rp_program *p, law_tag which, const void *const *data, law_tags tag);
/** q: p with the sources of tag 1 multiplied by a power of two or -1. */
void law_scale(const rp_program *p, law_tag which, double by, rp_program *q);

/* ---- rows ---- */

enum { LAW_FIXED = 0, LAW_ROWS = 1 }; /* does not depend on the leaves' rows; has a row for each of them */
/** Tags for programs of cells (rp_options.cells_only) whose leaves have `rows` rows, or 1. */
void law_follow_rows(const rp_program *p, int64_t rows, law_tags tag);
/** q: p over leaves of n rows, row k being row index[k] of the leaf in p, or zeros (-1). False when that fits nobody. */
bool law_take_rows(const rp_program *p, int64_t rows, const int64_t *index, int64_t n, rp_program *q);
/** With zero rows appended, aggregates over rows keep their bits where the added rows of the operand are zeros: such nodes become
 *  LAW_FIXED. data[i]: cells of node i of the longer program q. */
void law_follow_zeros(const rp_program *p, const rp_program *q, const void *const *data, int64_t rows, law_tags tag);

/* ---- structure ---- */

/** q: every leaf transposed and every fold turned. Tags 0: the result is the transpose; bad: folds whose tree changes. */
bool law_transpose(const rp_program *p, rp_program *q, law_tags tag);
/** q: the same nodes in another order; at[i]: where node i went. */
void law_reorder(const rp_program *p, uint64_t seed, rp_program *q, int *at);
/** q: every leaf twice, its readers shared out between the two; at[i]: where node i went. False when q would be too long. */
bool law_split_leaves(const rp_program *p, rp_program *q, int *at);
/** q: two transposes behind some operators; at[i]: where node i went. False when q would be too long. */
bool law_turn_twice(const rp_program *p, uint64_t seed, rp_program *q, int *at);
#endif
