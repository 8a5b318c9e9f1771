/* SPDX-License-Identifier: Apache-2.0
 * Build-time generator. Without arguments: the public header clfuse/ops.h, one enumerator and one constructor per row of ops.def and
 * folds.def. With `definitions`: a line DEFINE(clf_add, ADD, 2) per cell operator, which host/graph/api.c turns into the definitions. With
 * `cxx`: clfuse/ops.hpp, a function per cell operator that has a name; those that are C++ operators are written out in clfuse.hpp. */
#include <ctype.h>
#include <stdio.h>
#include <string.h>

typedef struct row {
    const char *id, *name;
    int arity;
} row;
static const row ops[] = {
#define CLF_OP(ID, name, arity, ...) {#ID, name, arity},
#include "core/ops.def"
};
static const row folds[] = {
#define CLF_FOLD(ID, name, ...) {#ID, name, 0},
#include "core/folds.def"
};

static void lower(const char *s) {
    for (; *s; s++) putchar(tolower((unsigned char)*s));
}

static void definitions(void) {
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        printf("DEFINE(clf_");
        lower(ops[i].id);
        printf(", %s, %d)\n", ops[i].id, ops[i].arity);
    }
}

/* not, xor, bitand and bitor are spellings of C++'s own operators. */
static const char *cxx_name(const row *op) {
    if (!strcmp(op->id, "XOR")) return "logical_xor";
    if (!strncmp(op->id, "BIT", 3)) return op->name;
    return !strcmp(op->id, "NEG") ? NULL : strchr("+-*/<>=!&|", op->name[0]) ? NULL : "";
}

static void cxx(void) {
    static const char *const params[] = {"const mat &a", "const operand &a, const operand &b",
                                         "const operand &a, const operand &b, const operand &c"};
    static const char *const args[] = {"a", "a, b", "a, b, c"};
    printf("/* SPDX-License-Identifier: Apache-2.0\n * Generated from core/ops.def; do not edit. */\n#ifndef CLFUSE_OPS_HPP\n"
           "#define CLFUSE_OPS_HPP\n#include \"clfuse/clfuse.hpp\"\n\nnamespace clfuse {\n");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        const char *name = cxx_name(&ops[i]);
        if (!name) continue;
        printf("/** %s, cell by cell. */\ninline mat ", ops[i].name);
        *name ? (void)printf("%s", name) : lower(ops[i].id);
        printf("(%s) { return detail::call(clf_", params[ops[i].arity - 1]);
        lower(ops[i].id);
        printf(", %s); }\n", args[ops[i].arity - 1]);
    }
    printf("} // namespace clfuse\n#endif\n");
}

static void header(void) {
    printf("/* SPDX-License-Identifier: Apache-2.0\n * Generated from core/ops.def and core/folds.def; do not edit. */\n"
           "#ifndef CLFUSE_OPS_H\n#define CLFUSE_OPS_H\n#include \"clfuse/types.h\"\n"
           "#ifdef __cplusplus\nextern \"C\" {\n#endif\n\n/** A handle of a recorded or computed matrix or scalar. */\n"
           "typedef struct clf_mat clf_mat;\n\n/** Cell operators. */\ntypedef enum clf_op_code {\n");
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) printf("    CLF_%s = %zu, /**< %s */\n", ops[i].id, i, ops[i].name);
    printf("    CLF_OP_CODES = %zu\n} clf_op_code;\n\n/** Folds (aggregates). */\ntypedef enum clf_fold_code {\n",
           sizeof ops / sizeof *ops);
    for (size_t i = 0; i < sizeof folds / sizeof *folds; i++)
        printf("    CLF_FOLD_CODE_%s = %zu, /**< %s */\n", folds[i].id, i, folds[i].name);
    printf("    CLF_FOLD_CODES = %zu\n} clf_fold_code;\n\n", sizeof folds / sizeof *folds);
    for (size_t i = 0; i < sizeof ops / sizeof *ops; i++) {
        printf("/** %s, cell by cell. owns: the handle belongs to the context. errors: sticky. */\nCLF_API clf_mat *clf_", ops[i].name);
        lower(ops[i].id);
        printf(ops[i].arity == 1   ? "(clf_mat *a);\n"
               : ops[i].arity == 2 ? "(clf_mat *a, clf_mat *b);\n"
                                   : "(clf_mat *a, clf_mat *b, clf_mat *c);\n");
    }
    printf("\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}

int main(int argc, char **argv) {
    if (argc < 2)
        header();
    else if (!strcmp(argv[1], "cxx"))
        cxx();
    else
        definitions();
    return 0;
}
