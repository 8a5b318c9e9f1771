/* SPDX-License-Identifier: Apache-2.0
 * Rounds; see round.h. A round that hangs ends the program with its description. */
#include <dlfcn.h>
#include <signal.h>
#include <unistd.h>

#include "tests/fault/round.h"

enum { PATIENCE_S = 60 };

static const round_ *under_way;
static const fault_layer *layer;

static void hung(int sig) {
    (void)sig;
    if (under_way) round_print(under_way, "HANGS");
    fflush(stdout);
    _exit(3);
}

const fault_layer *round_layer(void) {
    if (layer) return layer;
    setenv("OPENCL_LAYERS", CLF_FAULT_LAYER, 1);
    union {
        void *sym;
        fault_layer_get *fn;
    } get = {NULL};
    void *so = dlopen(CLF_FAULT_LAYER, RTLD_NOW);
    if (so) get.sym = dlsym(so, "clf_fault_layer");
    if (!so) printf("\n    %s\n", dlerror());
    if (get.fn) layer = get.fn();
    dlopen("libopenblas.so.0", RTLD_NOW); /* stays, so that a context does not load it every time */
    signal(SIGALRM, hung);
    return layer;
}

/* ---- memory given back while kernels of a lost device may still come ---- */

enum { GRAVES = 1 << 16, EARTH = 0xa5 };
static struct {
    unsigned char *at;
    size_t bytes;
} grave[GRAVES];
static int ngraves;

static void *burying_alloc(void *user, void *ptr, size_t old_bytes, size_t new_bytes) {
    counting_heap *h = user;
    if (!ptr || ngraves == GRAVES) return counting_alloc(h, ptr, old_bytes, new_bytes);
    void *fresh = new_bytes ? counting_alloc(h, NULL, 0, new_bytes) : NULL;
    if (new_bytes && !fresh) return NULL;
    if (fresh) memcpy(fresh, ptr, old_bytes < new_bytes ? old_bytes : new_bytes);
    memset(ptr, EARTH, old_bytes);
    grave[ngraves].at = ptr;
    grave[ngraves++].bytes = old_bytes;
    atomic_fetch_sub(&h->live, (long long)old_bytes);
    return fresh;
}

static bool disturbed(void) {
    for (int i = 0; i < ngraves; i++)
        for (size_t k = 0; k < grave[i].bytes; k++)
            if (grave[i].at[k] != EARTH) return true;
    return false;
}

static void clear_graves(void) {
    while (ngraves) free(grave[--ngraves].at);
}

/* Everything the library does not hold on to is in the ground when the kernels come. */
static void haunt(round_ *r, clf_ctx *c) {
    clf_trim(c);
    layer->wake();
    r->haunted = disturbed();
}

/* ---- */

static clf_status apply(clf_ctx *c, const char *const *settings) {
    clf_status st = CLF_OK;
    for (; settings && *settings && st == CLF_OK; settings += 2) st = clf_set(c, settings[0], settings[1]);
    return st;
}

static void keep_message(round_ *r, const char *text) { snprintf(r->message, sizeof r->message, "%s", text); }

static clf_ctx *open_round(round_ *r) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o,
                     .device = r->device ? r->device : r->what->device,
                     .alloc = r->mode == FAULT_ZOMBIE ? burying_alloc : counting_alloc,
                     .alloc_user = &r->heap};
    r->status = clf_open(&c, &o);
    if (!c) {
        keep_message(r, clf_open_error());
        return NULL;
    }
    r->status = apply(c, r->what->settings);
    if (r->status == CLF_OK) r->status = apply(c, r->extra);
    return c;
}

/* Everything works again: the scenario must, too. */
static void good_run(round_ *r, clf_ctx *c) {
    r->asked = r->heap.count;
    r->heap.fail_at = 0;
    if (layer) {
        r->injected = layer->injected();
        r->calls = layer->calls(FAULT_ANY);
        r->kernels = layer->kernels();
        if (r->mode != FAULT_NONE || r->held) layer->disarm();
    }
    r->stats.struct_size = sizeof r->stats;
    if (!c) return;
    clf_get_stats(c, &r->stats);
    r->again = apply(c, r->what->settings);
    if (r->again == CLF_OK) r->again = apply(c, r->extra);
    if (r->again == CLF_OK) r->again = r->what->run(c, &r->right);
    if (r->again != CLF_OK) keep_message(r, clf_last_error(c));
}

void round_run(round_ *r) {
    under_way = r;
    alarm(PATIENCE_S);
    r->heap.fail_at = r->alloc_at;
    r->heap.for_ever = r->for_ever;
    long before = layer ? layer->objects() : 0;
    r->right = true;
    r->again = CLF_OK;
    r->message[0] = 0;
    if (layer && (r->mode != FAULT_NONE || r->held)) layer->arm(r->mode, r->function, r->at, r->code);
    if (layer && r->held) layer->hold();
    clf_ctx *c = open_round(r);
    if (c && r->status == CLF_OK) r->status = r->what->run(c, &r->right);
    if (c && r->status != CLF_OK) keep_message(r, clf_last_error(c));
    good_run(r, c);
    if (c && r->mode == FAULT_ZOMBIE) haunt(r, c);
    clf_close(c);
    clear_graves();
    r->objects = layer ? layer->objects() - before : 0;
    r->leaked = r->heap.live != 0 || r->objects != 0;
    alarm(0);
    under_way = NULL;
}

void round_print(const round_ *r, const char *what) {
    static const char *const mode[] = {"nothing",     "once",           "for ever", "late", "late, not run",
                                       "late always", "clFinish",       "slow",     "lost", "lost, still running",
                                       "big",         "one device lost"};
    printf("\n    %s: scenario %s on %s", what, r->what->name, r->device ? r->device : r->what->device);
    if (r->alloc_at) printf(", allocation %lld%s", r->alloc_at, r->for_ever ? " and all after" : "");
    if (r->mode != FAULT_NONE && layer) printf(", call %ld (%s) %s with %d", r->at, layer->name(r->function), mode[r->mode], r->code);
    printf(": %s, right %d, again %s, left %lld bytes, %ld objects: %s\n", clf_status_name(r->status), r->right, clf_status_name(r->again),
           (long long)r->heap.live, r->objects, r->message);
}

bool round_judge(const round_ *r, tally *t) {
    bool silent = r->status != CLF_OK && !r->message[0];
    if (t) {
        t->injected++;
        t->survived += r->status == CLF_OK;
        t->statuses += r->status != CLF_OK;
        if (r->status > 0 && r->status < 16) t->seen[r->status]++;
    }
    if (r->right && r->again == CLF_OK && !r->leaked && !silent && !r->haunted) return true;
    round_print(r, r->haunted           ? "WRITTEN AFTER IT WAS GIVEN BACK"
                   : !r->right          ? "WRONG"
                   : r->again != CLF_OK ? "NOT GOOD AGAIN"
                   : r->leaked          ? "LEAK"
                                        : "SILENT");
    return false;
}

const char *tally_text(const tally *t, char *buf, size_t n) {
    size_t at = 0;
    buf[0] = 0;
    for (int i = 1; i < 16; i++)
        if (t->seen[i] && at < n)
            at += (size_t)snprintf(buf + at, n - at, "%s%s %ld", at ? ", " : "", clf_status_name((clf_status)i), t->seen[i]);
    return buf;
}
