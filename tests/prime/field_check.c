/* SPDX-License-Identifier: Apache-2.0
 * Running and comparing; see field_check.h. */
#include "tests/prime/field_check.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "device/device_internal.h"
#include "host/run/run.h"
#include "tests/support/shrink.h"

/* ---- contexts ---- */

void field_config_text(const field_config *k, char *out, size_t bytes) {
    snprintf(out, bytes, "%s, fuse %s, isa %s, threads %s, tier %s", k->device ? k->device : "OpenCL", k->fuse, k->isa, k->threads,
             k->tier);
}

static bool set_all(clf_ctx *c, const field_config *k, const char *kernels) {
    const char *const knobs[][2] = {
        {"fuse", k->fuse}, {"isa", k->isa}, {"threads", k->threads}, {"tier", k->tier}, {"kernel_dir", kernels}};
    for (size_t i = 0; i < sizeof knobs / sizeof *knobs; i++)
        if (clf_set(c, knobs[i][0], knobs[i][1]) != CLF_OK) {
            printf("\n    %s\n", clf_last_error(c));
            return false;
        }
    return true;
}

clf_ctx *field_open(const field_config *k, const char *kernels) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = k->device};
    clf_device d = {.struct_size = sizeof d};
    if (clf_open(&c, &o) != CLF_OK) return NULL;
    if (!set_all(c, k, kernels) || (!k->device && !clf_device_at(c, 1, &d))) {
        clf_close(c);
        return NULL;
    }
    clf_blas_restrict(c->run->blas, INT_MAX, true);
    return c;
}

/* ---- programs ---- */

static uint64_t next(uint64_t *state) {
    *state += UINT64_C(0x9E3779B97F4A7C15);
    uint64_t x = *state;
    x = (x ^ x >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    x = (x ^ x >> 27) * UINT64_C(0x94D049BB133111EB);
    return x ^ x >> 31;
}

bool field_program(rp_program *p, uint64_t seed, const rp_options *o, uint64_t prime) {
    uint64_t state = seed ^ prime;
    rp_generate(p, seed, o);
    for (int i = 0; i < p->n; i++) {
        const rp_node *n = &p->node[i];
        if (n->m.t != CLF_F64) return false;
        if (n->kind != RP_LEAF && n->kind != RP_NUMBER) continue;
        for (int64_t k = 0; k < rp_count(&n->m); k++) n->m.v[k] = (double)(next(&state) % (n->kind == RP_LEAF ? prime : 1000));
    }
    return p->n > 0;
}

/* ---- batches ---- */

void field_batch_clear(field_batch *b) {
    for (int i = 0; i < b->n; i++) {
        field_release(&b->run[i]);
        rp_release(b->program[i]);
        free(b->program[i]);
    }
    b->n = 0;
}

/* What a program must do to fail: differ from its reading, when it is alone in context c. */
typedef struct failing {
    clf_ctx *c;
    uint64_t prime;
    field_plant plant;
} failing;

/* The node that differs, -1 if none, -2 if the program cannot be evaluated. */
static int wrong_node(const field_run *r, clf_mat *const *h) {
    const rp_program *p = r->p;
    clf_mat *root[RP_NODES];
    for (int k = 0; k < p->nroot; k++) root[k] = h[p->root[k]];
    if (clf_eval((size_t)p->nroot, root) != CLF_OK) return -2;
    for (int k = 0; k < p->nroot; k++)
        if (field_compare(r, p->root[k], root[k]) != -1) return p->root[k];
    return -1;
}

static bool fails_alone(const rp_program *p, void *user) {
    const failing *f = user;
    clf_mat *h[RP_NODES];
    field_run r;
    if (!field_eval(&r, p, f->prime, f->plant)) return false;
    size_t mark = clf_epoch_begin(f->c);
    rp_record(p, f->c, h);
    bool fails = wrong_node(&r, h) != -1;
    clf_epoch_end(f->c, mark);
    field_release(&r);
    return fails;
}

static bool complain(const field_run *r, clf_ctx *c, const char *where, const char *what) {
    failing f = {c, r->prime, r->plant};
    rp_program *small = calloc(1, sizeof *small);
    printf("\n    %s, modulo %llu: %s\n", where, (unsigned long long)r->prime, what);
    rp_print(r->p);
    if (small) rp_copy(r->p, small);
    if (small && fails_alone(small, &f)) {
        shrink(small, fails_alone, &f, 1000);
        printf("    shrunk:\n");
        rp_print(small);
    } else {
        printf("    alone, or evaluated again, it is right\n");
    }
    if (small) rp_release(small);
    free(small);
    return false;
}

/* The batch could not be evaluated: show the first program that cannot be alone, or the first. */
static bool refused(const field_batch *b, clf_ctx *c, const char *where) {
    char why[512];
    int guilty = 0;
    snprintf(why, sizeof why, "%s", clf_last_error(c));
    for (int i = b->n - 1; i >= 0; i--) {
        failing f = {c, b->run[i].prime, b->run[i].plant};
        if (fails_alone(b->program[i], &f)) guilty = i;
    }
    return complain(&b->run[guilty], c, where, why);
}

bool field_batch_check(const field_batch *b, clf_ctx *c, const char *where) {
    clf_mat *(*h)[RP_NODES] = calloc((size_t)b->n + 1, sizeof *h);
    clf_mat **root = calloc((size_t)b->n * RP_NODES + 1, sizeof *root);
    size_t mark = clf_epoch_begin(c), roots = 0;
    bool good = h && root;
    for (int i = 0; i < b->n && good; i++) {
        rp_record(b->program[i], c, h[i]);
        for (int r = 0; r < b->program[i]->nroot; r++) root[roots++] = h[i][b->program[i]->root[r]];
    }
    if (good && clf_eval(roots, root) != CLF_OK) good = refused(b, c, where);
    for (int i = 0; i < b->n && good; i++)
        good = wrong_node(&b->run[i], h[i]) == -1 || complain(&b->run[i], c, where, "not the interpreter's values");
    clf_epoch_end(c, mark);
    free(root);
    free(h);
    return good;
}

field_launches field_count(clf_ctx *c) {
    clf_stats s = {.struct_size = sizeof s};
    if (clf_get_stats(c, &s) != CLF_OK) return (field_launches){0, 0, 0, 0, 0};
    return (field_launches){s.launches_tier0, s.launches_ref, s.launches_tier1 + s.launches_tier2, s.launches_library, s.kernels_built};
}
