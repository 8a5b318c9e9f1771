/* SPDX-License-Identifier: Apache-2.0
 * What a program's domain may contain. The prime field takes what the tables' own texts make of + - * and negation alone, so a new
 * row joins by its text. */
#include <string.h>

#include "core/fold.h"
#include "core/op.h"
#include "tests/support/random_make.h"

/* Every macro of the text (E_ADD, W_MUL, ...) is arithmetic of a field. */
static bool field_text(const char *text, bool constants) {
    static const char *const good[] = {"ADD", "SUB", "MUL", "NEG"};
    for (const char *s = text; (s = strchr(s, '_')) != NULL; s++) {
        size_t len = strcspn(s + 1, "(");
        bool known = constants && len == 1 && s[1] == 'C';
        for (size_t i = 0; i < sizeof good / sizeof *good; i++) known = known || (len == 3 && memcmp(s + 1, good[i], 3) == 0);
        if (!known) return false;
    }
    return true;
}

bool rp_op_allowed(const rp_options *o, int op) {
    if (o->domain == RP_INTEGER) return rp_stays_whole(op);
    if (o->domain == RP_REAL) return rp_arity(op) > 0 && !(o->no_elementary && (clf_ops[op].flags & F_ELEM));
    return field_text(clf_ops[op].text, false);
}

bool rp_fold_allowed(const rp_options *o, int fold) {
    const clf_fold_row *f = &clf_folds[fold];
    if (o->domain != RP_PRIME) return o->domain == RP_REAL || fold != CLF_FOLD_CODE_VAR;
    return strcmp(f->state, "V") == 0 && field_text(f->init, true) && field_text(f->step, false) && field_text(f->merge, false) &&
           field_text(f->finish, false);
}

enum {
    CELLS = 1u << RP_LEAF | 1u << RP_NUMBER | 1u << RP_CELL | 1u << RP_CAST | 1u << RP_FORM | 1u << RP_FOLD,
    RANGES = 1u << RP_INDEX | 1u << RP_FILL | 1u << RP_SEQ,
    NO_FIELD = 1u << RP_RAND | 1u << RP_CAST | 1u << RP_CUM | 1u << RP_ORDER
};

bool rp_kind_allowed(const rp_options *o, int kind) {
    unsigned bit = 1u << kind;
    unsigned only = o->ranges ? CELLS | RANGES : CELLS;
    if (o->without & bit || (o->cells_only && !(bit & only))) return false;
    if (o->domain == RP_PRIME) return !(bit & NO_FIELD);
    return o->domain == RP_INTEGER || kind != RP_ORDER;
}
