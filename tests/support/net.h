/* SPDX-License-Identifier: Apache-2.0
 * What the suites of the net share: how much to run, and the figures that docs/reliability.md is made of. */
#ifndef CLF_TESTS_NET_H
#define CLF_TESTS_NET_H
#include <stdbool.h>
#include <stdint.h>

/** How many to run: `ci` in ./run test, a tenth of it under sanitizers, `full` in ./run test --long. */
int64_t net_count(int64_t ci, int64_t full);
/** Of a list too long for it, take every how-manyth: `ci` in ./run test, `sanitized` under sanitizers, each in ./run test --long. */
int64_t net_every(int64_t ci, int64_t sanitized);
/** Of a list of which runs of a suite take parts by turns, every how-manyth: as net_every, but each in a case that CLF_TEST_CASE asks for. */
int net_turns(int ci, int sanitized);
/** The first of n > 0 that the run with this number takes: neighbours begin elsewhere, and so do runs that are next but one. */
int net_first(int turn, int every, int n);
/** CLF_TEST_SEED: replay one program only. False when it is not set. */
bool net_replay(uint64_t *seed);
/** Note a figure of this run: a line "what<TAB>value" in the folder CLF_FIGURES, if that is set, in a file named after the program. */
void net_figure(const char *what, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
#endif
