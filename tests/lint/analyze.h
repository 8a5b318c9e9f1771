/* SPDX-License-Identifier: Apache-2.0
 * Included in front of every source that is analysed one file at a time: what such an analysis cannot see, and what most of its false
 * findings come from. clf_fail and tool_fail return the code they are given, which is never that of success. */
#ifndef CLF_TESTS_LINT_ANALYZE_H
#define CLF_TESTS_LINT_ANALYZE_H
#include "core/err.h"
#include "host/tool/tool.h"
#define clf_fail(err, code, ...) (clf_fail(err, code, __VA_ARGS__), (code))
#define tool_fail(code, ...) (tool_fail(code, __VA_ARGS__), (code))
#endif
