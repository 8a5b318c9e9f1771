/* SPDX-License-Identifier: Apache-2.0
 * The texts of folds.def bound to the names of group_states.h. */
#include "kernels-cl/skel/group_states.h"

#include <string.h>

#include "core/print.h"

static void put_names(const clf_ctext *x, int s, char (*out)[CLF_FOLD_NAME], char which) {
    for (int m = 0; m < clf_fold_states(x, s); m++) clf_print(out[m], CLF_FOLD_NAME, "f%d%c%d", s, which, m);
}

static clf_fold_vars sides(const clf_ctext *x, int s, char which, char other) {
    clf_fold_vars f;
    memset(&f, 0, sizeof f);
    put_names(x, s, f.s, which);
    if (other) put_names(x, s, f.t, other);
    return f;
}

/* ---- lanes ---- */

void clf_state_begin(clf_ctext *x, int s, char which) {
    clf_fold_vars f = sides(x, s, which, 0);
    clf_fold_declare(x, s, false, 1, &f, false);
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->init, false, 1, &f);
}

void clf_state_step(clf_ctext *x, int s, char which, const char *pos) {
    clf_fold_vars f = sides(x, s, which, 0);
    char k[32], buf[CLF_EMIT_NAME];
    bool dot = x->c->sink[s].kind == CLF_SINK_DOT;
    clf_print(k, sizeof k, "((long)%s)", pos);
    f.v = "y";
    f.k = dot ? "z" : k;
    clf_fold_bind(x, s, 0);
    if (dot) {
        CLF_PUT(x, "const %s z = ", clf_emit_type(buf, clf_ctext_type(x, s), 1));
        clf_ctext_operand(x, x->c->sink[s].value[1], 1, 0);
        CLF_PUT(x, ";\n");
    }
    clf_fold_masked_step(x, s, 1, &f, NULL);
    CLF_PUT(x, "}\n");
}

/* ---- wide states ---- */

void clf_state_declare(clf_ctext *x, int s) {
    clf_fold_vars f = sides(x, s, 'a', 'b');
    clf_fold_declare(x, s, true, 1, &f, false);
    clf_fold_declare(x, s, true, 1, &f, true);
}

void clf_state_empty(clf_ctext *x, int s) {
    clf_fold_vars f = sides(x, s, 'a', 0);
    clf_state_declare(x, s);
    clf_fold_empty(x, s, 1, &f);
}

void clf_state_widen(clf_ctext *x, int s, char from, char to) {
    char name[CLF_EMIT_NAME];
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        clf_print(name, sizeof name, "f%d%c%d", s, from, m);
        CLF_PUT(x, "f%d%c%d = ", s, to, m);
        clf_fold_widen(x, s, m, 1, name);
        CLF_PUT(x, "; ");
    }
    CLF_PUT(x, "\n");
}

void clf_state_narrow(clf_ctext *x, int s, char from, char to) {
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_PUT(x, "f%d%c%d = ", s, to, m);
        clf_emit_cast(&x->e, clf_fold_wide_type(x, s, m), clf_fold_lane_type(x, s, m), 1);
        CLF_PUT(x, "f%d%c%d); ", s, from, m);
    }
    CLF_PUT(x, "\n");
}

void clf_state_merge(clf_ctext *x, int s) {
    clf_fold_vars f = sides(x, s, 'a', 'b');
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->merge, true, 1, &f);
}

void clf_state_repeat(clf_ctext *x, int s) {
    clf_fold_vars f = sides(x, s, 'a', 'b');
    f.v = "x_";
    f.k = "k_";
    clf_fold_apply(x, s, clf_fold_row_of(x, s)->repeat, true, 1, &f);
}

/* ---- memory ---- */

static bool is_float(const clf_ctext *x, int s, int m) { return clf_dtype_float(clf_fold_wide_type(x, s, m)); }

void clf_state_save(clf_ctext *x, int s, char which, clf_place to) {
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_PUT(x, "%s%d%s", to.head, to.at + m, to.tail);
        CLF_PUT(x, is_float(x, s, m) ? " = as_long(f%d%c%d); " : " = f%d%c%d; ", s, which, m);
    }
    CLF_PUT(x, "\n");
}

void clf_state_fetch(clf_ctext *x, int s, char which, clf_place from) {
    for (int m = 0; m < clf_fold_states(x, s); m++) {
        CLF_PUT(x, is_float(x, s, m) ? "f%d%c%d = as_double(" : "f%d%c%d = (", s, which, m);
        CLF_PUT(x, "%s%d%s); ", from.head, from.at + m, from.tail);
    }
    CLF_PUT(x, "\n");
}

void clf_state_result(clf_ctext *x, int s, const char *memory) {
    clf_fold_vars f = sides(x, s, 'a', 0);
    CLF_PUT(x, "{ ");
    clf_fold_result(x, s, 1, &f, "z_");
    CLF_PUT(x, "%s = z_; }\n", memory);
}
