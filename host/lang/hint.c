/* SPDX-License-Identifier: Apache-2.0
 * "Did you mean": the nearest name by Damerau's and Levenshtein's distance, letter case counting half. A name is near when at most a
 * third of it differs. */
#include "host/lang/lang.h"

#include <stdio.h>
#include <string.h>

enum { LONGEST = 24, FAR = 1000, EDIT = 2, CASE = 1 };

static int lower(char c) { return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c; }

static int step(char a, char b) { return a == b ? 0 : lower(a) == lower(b) ? CASE : EDIT; }

static int min3(int a, int b, int c) { return a < b ? (a < c ? a : c) : b < c ? b : c; }

/* Edits that turn a into b: one letter more, less or other, or two neighbours exchanged. */
static int distance(const char *a, size_t n, const char *b, size_t m) {
    int d[LONGEST + 1][LONGEST + 1];
    if (n > LONGEST || m > LONGEST) return FAR;
    for (size_t j = 0; j <= m; j++) d[0][j] = (int)j * EDIT;
    for (size_t i = 1; i <= n; i++) {
        d[i][0] = (int)i * EDIT;
        for (size_t j = 1; j <= m; j++) {
            int swap = i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] ? d[i - 2][j - 2] + EDIT : FAR;
            int best = min3(d[i - 1][j] + EDIT, d[i][j - 1] + EDIT, d[i - 1][j - 1] + step(a[i - 1], b[j - 1]));
            d[i][j] = swap < best ? swap : best;
        }
    }
    return d[n][m];
}

typedef struct nearest {
    const clf_token *name;
    const char *best;
    size_t len;
    int far;
} nearest;

static void consider(nearest *s, const char *name, size_t len) {
    int d = distance(s->name->text, s->name->len, name, len);
    if (d > (int)len * EDIT / 3 || d >= s->far) return;
    s->best = name;
    s->len = len;
    s->far = d;
}

static const char *say(const nearest *s, char *buf, size_t n) {
    if (s->best)
        snprintf(buf, n, " (did you mean '%.*s'?)", (int)s->len, s->best);
    else
        buf[0] = '\0';
    return buf;
}

const char *clf_hint_function(const clf_token *name, char *buf, size_t n) {
    nearest s = {name, NULL, 0, FAR};
    for (const clf_lang_fn *f = clf_lang_fns; f->name; f++) consider(&s, f->name, strlen(f->name));
    for (int i = 0; i < CLF_NOPS; i++) consider(&s, clf_ops[i].name, strlen(clf_ops[i].name));
    return say(&s, buf, n);
}

const char *clf_hint_variable(const clf_vars *v, const clf_token *name, char *buf, size_t n) {
    nearest s = {name, NULL, 0, FAR};
    for (size_t i = 0; i < v->n; i++) consider(&s, v->var[i].name, v->var[i].len);
    return say(&s, buf, n);
}
