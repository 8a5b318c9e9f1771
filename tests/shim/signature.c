/* SPDX-License-Identifier: Apache-2.0
 * What is known of a kernel before it is compiled: its name and the types of its arguments, read off the preprocessed text. From them
 * comes text that calls it, so that the compiler itself passes the arguments and no calling convention is guessed. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/shim/shim.h"

typedef struct reader {
    const char *at;
    char name[SHIM_NAME];
    const char *arg, *arg_end; /* type of the argument just read */
} reader;

static bool word_char(char c) { return isalnum((unsigned char)c) || c == '_'; }

static const char *skip_blanks(const char *s) {
    while (isspace((unsigned char)*s)) s++;
    return s;
}

/* On the parameter list of the next kernel. */
static bool next_kernel(reader *r) {
    static const char head[] = "__kernel";
    const char *s = strstr(r->at, head);
    if (!s) return false;
    s = skip_blanks(s + sizeof head - 1);
    if (strncmp(s, "void", 4)) return false;
    s = skip_blanks(s + 4);
    size_t n = 0;
    while (word_char(s[n])) n++;
    snprintf(r->name, sizeof r->name, "%.*s", (int)n, s);
    s = skip_blanks(s + n);
    r->at = s + 1;
    return *s == '(' && n && n < sizeof r->name;
}

/* One parameter: its type is all but the name at the end. */
static bool next_arg(reader *r) {
    const char *s = skip_blanks(r->at), *end = s + strcspn(s, ",)");
    if (*s == ')' || !*end) return false;
    r->at = *end == ',' ? end + 1 : end;
    while (end > s && isspace((unsigned char)end[-1])) end--;
    while (end > s && word_char(end[-1])) end--;
    r->arg = s;
    r->arg_end = end;
    return true;
}

int shim_signatures(const char *text, shim_signature *out, int most) {
    reader r = {.at = text};
    int n = 0;
    while (next_kernel(&r)) {
        if (n == most) return -1;
        shim_signature *k = &out[n++];
        memset(k, 0, sizeof *k);
        memcpy(k->name, r.name, sizeof k->name);
        while (next_arg(&r)) {
            if (k->nargs == SHIM_ARGS) return -1;
            k->memory[k->nargs++] = memchr(r.arg, '*', (size_t)(r.arg_end - r.arg)) != NULL;
        }
    }
    return strstr(r.at, "__kernel") ? -1 : n;
}

static void put_call(FILE *f, reader *r) {
    const char *args = r->at;
    int n = 0;
    fprintf(f, "void %s_call(__private ulong *a) { %s(", r->name, r->name);
    for (; next_arg(r); n++) fprintf(f, "%s\n    *(%.*s __private *)(a + %d)", n ? "," : "", (int)(r->arg_end - r->arg), r->arg, n);
    fprintf(f, "); }\n__constant uint %s_bytes[] = {", r->name);
    for (r->at = args; next_arg(r);) fprintf(f, "sizeof(%.*s), ", (int)(r->arg_end - r->arg), r->arg);
    fprintf(f, "0};\n");
}

char *shim_trampolines(const char *text) {
    char *out = NULL;
    size_t bytes = 0;
    FILE *f = open_memstream(&out, &bytes);
    if (!f) return NULL;
    for (reader r = {.at = text}; next_kernel(&r);) put_call(f, &r);
    if (fclose(f) == 0) return out;
    free(out);
    return NULL;
}
