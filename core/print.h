/* SPDX-License-Identifier: Apache-2.0
 * Text from a format. Kernels are written from thousands of short pieces, and a C library's printf is made for more than that: where a
 * program has registered conversions of its own (quad-precision libraries do), it is several times slower still. */
#ifndef CLF_CORE_PRINT_H
#define CLF_CORE_PRINT_H
#include <stdarg.h>
#include <stddef.h>
/** As vsnprintf has it: n bytes at `to` at most, ended by a NUL where n > 0; gives the length of all of it, below 0 where that is no int.
 *  cost: %s %.*s %c %d %x %ld %lld %zu are written here; a format with any other conversion is vsnprintf's. */
int clf_vprint(char *to, size_t n, const char *fmt, va_list ap) __attribute__((format(printf, 3, 0)));
int clf_print(char *to, size_t n, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
#endif
