/* SPDX-License-Identifier: Apache-2.0
 * Expressions in postfix notation, for the interpreter with bounds: words apart by blanks put nodes behind the leaves of a program.
 *
 *     X 1 + log rowSums      numbers (whole ones are integers), one-letter leaves, cell operators, folds, t and %*%
 *     X exp dup rowSums /    dup: the value once more
 *
 * What is left at the end, from the bottom up, are the roots. */
#ifndef CLF_TESTS_DD_POSTFIX_H
#define CLF_TESTS_DD_POSTFIX_H
#include "tests/support/random_program.h"

/** p holds its leaves, leaf[i] being the name of node i. False when a word is unknown, operands are missing or do not fit. */
bool dd_postfix(rp_program *p, const char *leaf, const char *text);
#endif
