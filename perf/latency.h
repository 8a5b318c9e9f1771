/* SPDX-License-Identifier: Apache-2.0
 * The suite latency: the parent, which starts fresh processes (latency.c), and what runs in them (latency_child.c). */
#ifndef CLF_PERF_LATENCY_H
#define CLF_PERF_LATENCY_H
#include "perf/bench.h"

enum { LATENCY_FD = 3 }; /* where a child says its two figures */
enum { LATENCY_DRAM_ROWS = 480000 }; /* of 100 cells: 384 MB, as the inputs of other suites */

/** In a fresh process: run `what` and say its figures. The exit code. */
int bench_latency_child(const char *what);
#endif
