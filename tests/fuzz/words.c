/* SPDX-License-Identifier: Apache-2.0
 * words TARGET: the words a fuzz target's input is made of, as a libFuzzer dictionary. They come from the library's own tables, so what
 * is registered there is known to the fuzzers from its first day. Nothing for a target whose input has no words. */
#include "core/fold.h"
#include "core/knobs.h"
#include "core/mem.h"
#include "device/profile.h"
#include "host/lang/lang.h"
#include "planner/cplan.h"
#include "planner/cplan_words.h"
#include "tests/fuzz/fuzz.h"

static void word(const char *text) {
    putchar('"');
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            printf("\\%c", *text);
        else if (*text >= ' ' && *text <= '~')
            putchar(*text);
        else
            printf("\\x%02x", (unsigned char)*text);
    }
    puts("\"");
}

static void list(const char *const *words) {
    for (; *words; words++) word(*words);
}

static void lang_words(void) {
    static const char *const more[] = {"TRUE",     "FALSE",          "Inf", "NaN",  "1e308", " = ", "<-",       "%*%",    "[,1]", "1:2",
                                       "function", "for (i in 1:3)", "if",  "else", "while", "# ",  "op=\"*\"", "seed=7", "by=",  NULL};
    for (int i = 0; i < CLF_OP_CODES; i++) word(clf_ops[i].name);
    for (int i = 0; clf_lang_fns[i].name; i++) word(clf_lang_fns[i].name);
    list(more);
}

static void cplan_words(void) {
    static const char *const more[] = {"(cplan",
                                       "(axis ",
                                       "(in ",
                                       "(out ",
                                       "(param ",
                                       "(access ",
                                       "(let ",
                                       "keep",
                                       "skip",
                                       "over",
                                       "rest",
                                       "f32",
                                       "f64",
                                       "i32",
                                       "i64",
                                       "u8",
                                       "imm",
                                       "0x1p-1074",
                                       "-9223372036854775808",
                                       NULL};
    for (int i = 0; i < CLF_NOPS; i++) word(clf_ops[i].id);
    for (int i = 0; i < CLF_NFOLDS; i++) word(clf_folds[i].id);
    list(clf_axis_words), list(clf_order_words), list(clf_protocol_words);
    list(clf_format_words), list(clf_sink_words), list(clf_form_words);
    list(more);
}

static void knob_words(void) {
    static const char *const more[] = {"auto", "none", "all", "host", "ref", "avx2", "on", "off", "512M", "1T", "18446744073709551615K",
                                       "\n",   NULL};
    for (int i = 0; clf_knob_rows[i].field; i++) word(clf_knob_rows[i].field), word(clf_knob_rows[i].env);
    list(more);
}

/* The keys are what the printer writes. */
static void profile_words(void) {
    clf_mem mem;
    clf_str s;
    clf_profile p;
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&s, &mem);
    memset(&p, 0, sizeof p);
    clf_profile_assume(&p, CLF_DEV_CPU, 1);
    clf_profile_print(&p, &s);
    for (char *at = s.at ? strtok(s.at, " \n") : NULL; at; at = strtok(NULL, " \n")) word(at);
    clf_str_release(&s);
}

static void mtx_words(void) {
    static const char *const words[] = {"%%MatrixMarket matrix ",
                                        "coordinate ",
                                        "array ",
                                        "real ",
                                        "integer ",
                                        "pattern ",
                                        "complex ",
                                        "general\n",
                                        "symmetric\n",
                                        "skew-symmetric\n",
                                        "hermitian\n",
                                        "%",
                                        "18446744073709551615",
                                        "9223372036854775807",
                                        "^",
                                        NULL};
    list(words);
}

static void npy_words(void) {
    static const char *const words[] = {
        "\x93NUMPY", "{'descr': ",          "'<f8'", "'<f4'", "'|u1'", "'|b1'", "'<i8'", "'fortran_order': ", "True", "False", "'shape': ",
        "(2, 2), }", "4611686018427387904", "\n",    NULL};
    list(words);
}

static void text_words(void) {
    static const char *const words[] = {
        "nan", "-Inf", "NA", "1e-400", "\"\"", ",", ";", "\t", "\r\n", "\xef\xbb\xbf", "#", ":", "qid:", "9223372036854775808", NULL};
    list(words);
}

int main(int argc, char **argv) {
    static const struct {
        const char *target;
        void (*print)(void);
    } targets[] = {{"lang", lang_words}, {"cplan", cplan_words}, {"knobs", knob_words}, {"profile", profile_words},
                   {"mtx", mtx_words},   {"npy", npy_words},     {"csv", text_words},   {"svm", text_words}};
    for (size_t i = 0; argc > 1 && i < sizeof targets / sizeof *targets; i++)
        if (strcmp(targets[i].target, argv[1]) == 0) targets[i].print();
    return argc != 2;
}
