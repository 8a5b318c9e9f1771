/* SPDX-License-Identifier: Apache-2.0
 * A CAT in row.chunk: the parts of a row copied one behind the other into the row's buffer (CLF_ROW_CAT), whole vectors and then cells.
 * Every cell is written once, and nothing behind the last. */

#include "kernels-cl/skel/row_text.h"

#include "core/print.h"

/* Cells of part q: "100", "n1" or "1". */
static const char *part_cells(const clf_rtext *w, const clf_value *cat, int q, char *buf) {
    int along = clf_cat_axis(cat, q);
    if (along >= 0) return clf_rtext_extent(w, along, buf);
    clf_print(buf, sizeof w->x.strip, "1");
    return buf;
}

/* Part q of row r, from cell `to` of the buffer on. */
static void put_part(clf_rtext *w, int v, int q, int r, const char *to) {
    clf_ctext *x = &w->x;
    const clf_value *cat = &w->c.value[v];
    int along = clf_cat_axis(cat, q), width = clf_lanes((clf_dtype)cat->dtype);
    char n[sizeof x->strip], name[CLF_EMIT_NAME];
    part_cells(w, cat, q, n);
    clf_rtext_buffer(w, v, r, name);
    CLF_PUT(x, "{ long u = 0;\n");
    if (along >= 0 && (!clf_row_narrow(w->p, along) || clf_row_extent(w->p, along) >= width)) {
        CLF_PUT(x, "for (; u + %d <= %s; u += %d) CLF_VSTORE(%s, %s, %d, ", width, n, width, clf_rtext_buffer_space(w, v),
                clf_emit_type(NULL, (clf_dtype)cat->dtype, 1), width);
        clf_rtext_vector(w, cat->in[q], r, width, "u");
        CLF_PUT(x, ", %s + %s + u);\n", name, to);
    }
    CLF_PUT(x, "for (; u < %s; u++) %s[%s + u] = ", n, name, to);
    clf_rtext_element(w, cat->in[q], r, "u");
    CLF_PUT(x, "; }\n");
}

void clf_rtext_cat(clf_rtext *w, int v, int r) {
    char first[sizeof w->x.strip];
    put_part(w, v, 0, r, "0");
    put_part(w, v, 1, r, part_cells(w, &w->c.value[v], 0, first));
}
