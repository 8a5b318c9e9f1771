/* SPDX-License-Identifier: Apache-2.0
 * Text labels as numbers 1, 2, ... in order of first appearance. */
#ifndef CLF_FORMATS_LABELS_H
#define CLF_FORMATS_LABELS_H
#include "core/err.h"
#include "core/mem.h"

/* The words stay where they are (in the file's memory); slots hold their places. */
typedef struct clf_labels {
    clf_mem *mem;
    struct clf_label_slot *slots;
    size_t cap;
    int64_t count;
} clf_labels;

void clf_labels_init(clf_labels *l, clf_mem *mem);
/** Code of a word, a new one if it was not met before. errors: CLF_E_NOMEM (no message; the table stands as it was). */
clf_status clf_labels_code(clf_labels *l, const char *at, size_t n, int64_t *code);
void clf_labels_release(clf_labels *l);
#endif
