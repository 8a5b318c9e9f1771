/* SPDX-License-Identifier: Apache-2.0
 * The table of templates, in the order of the enum in template.h. */
#include "planner/template.h"

const clf_template *const clf_templates[] = {&clf_template_cell, &clf_template_magg, &clf_template_row, &clf_template_outer, NULL};
