/* SPDX-License-Identifier: Apache-2.0
 * Build-time generator of manual pages (scdoc) from tables: `environment` gives clfuse-environment.7 from knobs.def, `operators` gives
 * clfuse-operators.7 from ops.def and folds.def. */
#include <stdio.h>
#include <string.h>

typedef struct setting {
    const char *env, *def, *doc;
} setting;
static const setting settings[] = {
#define CLF_KNOB(field, type, env, def, in_key, doc) {env, def, doc},
#include "core/knobs.def"
};

typedef struct row {
    const char *id, *name, *types, *grad;
    int arity;
} row;
static const row ops[] = {
#define CLF_OP(ID, name, arity, class_, flags, type_rule, shape_rule, flops, grad, text) {#ID, name, #type_rule, grad, arity},
#include "core/ops.def"
};
static const row folds[] = {
#define CLF_FOLD(ID, name, ...) {#ID, name, "", "", 1},
#include "core/folds.def"
};
static const struct {
    const char *rule, *says;
} types[] = {
    {"ARITH", "the wider type of its operands"},    {"FLOAT", "floating point: integers become f64"}, {"CMP", "0 or 1"},
    {"SELECT", "the wider type of what is chosen"}, {"FIRST", "the type of its first operand"},
};

/* Text as scdoc takes it literally. */
static void literal(const char *s) {
    for (; *s; s++) {
        if (strchr("\\*_`<>~[]|#", *s)) putchar('\\');
        putchar(*s);
    }
}

static void environment(void) {
    printf("clfuse-environment(7)\n\n# NAME\n\nclfuse-environment - settings of the clfuse library\n\n# DESCRIPTION\n\n"
           "Every setting is read once, when a context is opened. *clf\\_set*(3) changes one afterwards, and options of the call that "
           "opens a\n"
           "context win over the environment. *clfuse info --env* shows them with their values.\n\n# SETTINGS\n\n");
    for (size_t i = 0; i < sizeof settings / sizeof *settings; i++) {
        printf("*");
        literal(settings[i].env);
        printf("*");
        if (*settings[i].def) {
            printf(" (");
            literal(settings[i].def);
            printf(")");
        }
        printf("\n\t");
        literal(settings[i].doc);
        printf("\n\n");
    }
    printf("# SEE ALSO\n\n*clfuse*(1), *clfuse-context*(3)\n");
}

static const char *type_text(const char *rule) {
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (!strcmp(types[i].rule, rule)) return types[i].says;
    return rule;
}

static void constructor(const row *r) {
    printf("*clf\\_");
    for (const char *s = r->id; *s; s++) putchar(*s >= 'A' && *s <= 'Z' ? *s - 'A' + 'a' : *s);
    printf("*(%s)", r->arity == 1 ? "a" : r->arity == 2 ? "a, b" : "a, b, c");
}

static void operators(void) {
    printf("clfuse-operators(7)\n\n# NAME\n\nclfuse-operators - cell operators and aggregates of clfuse\n\n# DESCRIPTION\n\n"
           "Cell operators take matrices of one shape, or broadcast: a scalar, a 1 x 1 matrix, a column or a row against a matrix. _g_ is "
           "the\n"
           "incoming derivative, _o_ the operator's own value.\n\n# CELL OPERATORS\n\n");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        constructor(&ops[i]);
        printf(", in the language *");
        literal(ops[i].name);
        printf("*\n\tResult: %s. Derivatives by a, b, c: ", type_text(ops[i].types));
        literal(ops[i].grad);
        printf("\n\n");
    }
    printf("# AGGREGATES\n\nFor *clf\\_fold*(3), over all cells, each row or each column:");
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++) {
        printf("%s CLF\\_FOLD\\_CODE\\_", i ? "," : "");
        literal(folds[i].id);
    }
    printf("\n\n# SEE ALSO\n\n*clfuse*(1), *clfuse-recording*(3)\n");
}

int main(int argc, char **argv) {
    if (argc == 2 && !strcmp(argv[1], "environment"))
        environment();
    else if (argc == 2 && !strcmp(argv[1], "operators"))
        operators();
    else
        return fprintf(stderr, "usage: clf_gen_man environment|operators\n"), 2;
    return fflush(stdout) || ferror(stdout);
}
