/* SPDX-License-Identifier: Apache-2.0
 * What Oclgrind must be told about our buffers; see tell_inputs.c. */
#ifndef CLF_TESTS_TELL_INPUTS_H
#define CLF_TESTS_TELL_INPUTS_H
#include <stdbool.h>
/** Set before the first launch of a program that is linked with the wrapped functions. */
extern bool tell_inputs;
#endif
