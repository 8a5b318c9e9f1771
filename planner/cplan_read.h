/* SPDX-License-Identifier: Apache-2.0
 * The reader under the cplan's parser: one token of lookahead, and the table of declared names. Private to planner/cplan_*.c.
 * Every clf_read_* that takes something stands behind it afterwards, or fails with CLF_E_SYNTAX, line and column. */
#ifndef CLF_PLANNER_CPLAN_READ_H
#define CLF_PLANNER_CPLAN_READ_H
#include "planner/cplan.h"

typedef struct clf_token {
    const char *at;
    size_t n; /* 0: end of the text */
} clf_token;

typedef struct clf_item {
    clf_citem kind;
    int index;
    clf_token word, name, body; /* keyword; name (sinks: none); first token after them */
} clf_item;

typedef struct clf_reader {
    const char *text, *end;
    clf_token t; /* the token looked at */
    clf_arena *arena;
    clf_err *err;
    clf_item *items;
    int nitem, cap_item;
    int32_t *table; /* names: item + 1, linear probing */
    uint64_t mask;
    int count[CLF_ITEM_SINK + 1];
    clf_cplan c;
} clf_reader;

/* A token for %.*s: at most 40 characters. */
static inline const char *clf_token_text(clf_token t) { return t.n == 0 ? "the text's end" : t.at; }
static inline int clf_token_shown(clf_token t) { return t.n == 0 ? 14 : t.n > 40 ? 40 : (int)t.n; }
#define CLF_SHOW(tok) clf_token_shown(tok), clf_token_text(tok)

clf_status clf_read_fault(const clf_reader *p, clf_token at, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
clf_status clf_read_no_memory(const clf_reader *p);
void clf_read_next(clf_reader *p);
bool clf_read_is(clf_token t, const char *word);
clf_status clf_read_expect(clf_reader *p, const char *word);
/** Position in a NULL-ended list of words; -1 if none. */
int clf_read_find(clf_token t, const char *const *words);
clf_status clf_read_word(clf_reader *p, const char *const *words, const char *what, uint8_t *out);
clf_status clf_read_dtype(clf_reader *p, uint8_t *out);
clf_status clf_read_number(clf_reader *p, int64_t *out);
/** n or n:sym */
clf_status clf_read_dim(clf_reader *p, clf_dim *out);
bool clf_read_is_name(clf_token t);
/** Enter the names of all items. errors: CLF_E_SYNTAX declared twice; CLF_E_NOMEM. */
clf_status clf_read_names(clf_reader *p);
/** The index of the named item of this kind. */
clf_status clf_read_name(clf_reader *p, clf_citem kind, int *out);
/** Does the name of an item of this kind stand here? */
bool clf_read_at(const clf_reader *p, clf_citem kind);
#endif
