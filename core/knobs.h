/* SPDX-License-Identifier: Apache-2.0
 * The settings of a context, filled from defaults, then the environment, then API options. See knobs.def. */
#ifndef CLF_CORE_KNOBS_H
#define CLF_CORE_KNOBS_H
#include <stdbool.h>
#include "core/err.h"
enum { CLF_KNOB_TEXT_MAX = 256 };
typedef char clf_knob_TEXT[CLF_KNOB_TEXT_MAX];
typedef size_t clf_knob_SIZE;
typedef int64_t clf_knob_INT;
typedef bool clf_knob_BOOL;
typedef struct clf_knobs {
#define CLF_KNOB(field, type, env, def, in_key, doc) clf_knob_##type field;
#include "core/knobs.def"
#undef CLF_KNOB
} clf_knobs;
typedef struct clf_knob_row { const char *field, *type, *env, *def; int in_key; const char *doc; } clf_knob_row;
extern const clf_knob_row clf_knob_rows[]; /* ends with field == NULL */
/** Defaults. */
void clf_knobs_init(clf_knobs *k);
/** Set one by field name or environment name. errors: CLF_E_NAME unknown knob, or a name outside the knob's closed set of
 *  values; CLF_E_ARG a malformed or out-of-range value. The message names knob and value; the knob keeps its old value. */
clf_status clf_knobs_set(clf_knobs *k, const char *name, const char *value, clf_err *err);
/** Take every CLF_* variable of the environment that is a knob. */
clf_status clf_knobs_env(clf_knobs *k, clf_err *err);
#endif
