/* SPDX-License-Identifier: Apache-2.0
 * The keeper of covers (planner/cover_kept.h): the folder of built kernels keeps what searches chose, too, under the same settings.
 *
 * A payload is the length of the cover's bytes (8, little-endian), these, and the program as text, for who looks into the folder. */
#include "host/run/covers.h"

#include "core/little.h"
#include "host/run/run.h"
#include "planner/cover_kept.h"

enum { LENGTH = 8 };

/* Text is the question; the library's field tells these entries from kernels. */
static bool key_of(clf_ctx *c, clf_bytes question, clf_str *key, char name[CLF_SAVED_NAME]) {
    static const char library[] = "clfuse covers 1";
    clf_bytes field[CLF_NSAVED_FIELDS];
    for (int f = 0; f < CLF_NSAVED_FIELDS; f++) field[f] = (clf_bytes){"", 0};
    field[CLF_SAVED_TEXT] = question;
    field[CLF_SAVED_LIBRARY] = (clf_bytes){library, sizeof library - 1};
    clf_str_init(key, &c->mem);
    clf_saved_entry_key(field, key);
    if (!key->failed) clf_saved_entry_name((clf_bytes){key->at, key->len}, name);
    return !key->failed;
}

clf_cover_entry clf_covers_split(clf_bytes payload) {
    if (payload.n < LENGTH) return (clf_cover_entry){.cover = {"", 0}, .program = {"", 0}};
    uint64_t n = clf_little_get(payload.at, LENGTH);
    if (n > payload.n - LENGTH) n = payload.n - LENGTH;
    const char *at = payload.at + LENGTH;
    return (clf_cover_entry){.cover = {at, (size_t)n}, .program = {at + n, payload.n - LENGTH - (size_t)n}};
}

static bool find(void *of, clf_bytes question, clf_str *out) {
    clf_ctx *c = of;
    char name[CLF_SAVED_NAME];
    clf_str key, file;
    clf_saved_entry e;
    clf_str_init(&file, &c->mem);
    bool there = key_of(c, question, &key, name) && clf_disk_get(&c->run->covers, name, (clf_bytes){key.at, key.len}, &file, &e) &&
                 e.kind == CLF_SAVED_COVER;
    if (there) {
        clf_bytes cover = clf_covers_split(e.payload).cover;
        clf_str_putn(out, cover.at, cover.n);
        CLF_TRACE(&c->trace, plan, "the plan was searched before: %s", name);
    }
    clf_str_release(&file);
    clf_str_release(&key);
    return there;
}

/* Going through a large folder takes longer than most plans: one in sixteen does. */
static void keep_small(clf_ctx *c, const char *name) {
    if (c->knobs.cache_bytes && name[0] == '0') (void)clf_disk_prune(&c->run->covers, c->knobs.cache_bytes, NULL, NULL, NULL);
}

static void keep(void *of, clf_bytes question, clf_bytes cover, const clf_problem *p) {
    clf_ctx *c = of;
    char name[CLF_SAVED_NAME], length[LENGTH];
    clf_str key, payload;
    clf_little_put(length, cover.n, LENGTH);
    clf_str_init(&payload, &c->mem);
    clf_str_putn(&payload, length, LENGTH);
    clf_str_putn(&payload, cover.at, cover.n);
    for (int d = 0; d < p->dev.n; d++) clf_str_fmt(&payload, "device %d: %s\n", d, p->dev.profile[d]->name);
    clf_graph_print(p->g, &payload);
    bool named = key_of(c, question, &key, name);
    const clf_saved_entry e = {CLF_SAVED_COVER, {key.at, key.len}, {payload.at, payload.len}};
    if (named && !payload.failed && clf_disk_put(&c->run->covers, &e)) keep_small(c, name);
    clf_str_release(&payload);
    clf_str_release(&key);
}

static void drop(void *of, clf_bytes question, const char *why) {
    clf_ctx *c = of;
    char name[CLF_SAVED_NAME];
    clf_str key;
    if (key_of(c, question, &key, name)) clf_disk_drop(&c->run->covers, name, why);
    clf_str_release(&key);
}

const clf_keeper *clf_covers_keeper(clf_ctx *c) {
    clf_run *r = c->run;
    if (!r->covers_tried) clf_disk_open(&r->covers, &c->mem, &c->trace, c->knobs.cache_dir, clf_disk_mode_of(c->knobs.cache), 0);
    r->covers_tried = true;
    if (r->covers.mode == CLF_DISK_OFF) return NULL;
    r->keeper = (clf_keeper){.of = c, .find = find, .keep = keep, .drop = drop};
    return &r->keeper;
}

void clf_covers_close(clf_ctx *c) {
    if (c->run->covers_tried) clf_disk_close(&c->run->covers);
    c->run->covers_tried = false;
}
