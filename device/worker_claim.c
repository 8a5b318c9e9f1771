/* SPDX-License-Identifier: Apache-2.0
 * Processes that need the same kernel at the same time: one has it built, the others look for it on disk now and then. A claim is the lock
 * of its entry, held from before a worker gets the job until the binary is kept; whoever dies lets go of it. Who waits for too long builds
 * for himself. Best effort: a thread that builds itself lets go before its owner keeps the binary, closing any descriptor of the lock's
 * file lets go of all, and programs of many kernels are claimed as one. What another process has built is loaded by the thread; of programs
 * of many the owner finds each kernel on the disk. */
#include "device/saved.h"
#include "device/worker.h"

enum { LOOK_MS = 20, PATIENCE_MS = 30000 };

static bool on_disk(clf_workers *w, const clf_job *j, const clf_source *const *src) {
    clf_str key, file;
    clf_saved_entry e;
    char name[CLF_SAVED_NAME];
    bool there = true;
    for (int i = 0; there && i < j->n; i++) {
        clf_str_init(&file, w->d->mem);
        there = clf_saved_kernel_key(w->d, j->dev, src[i], &key, name) && clf_disk_get(&w->disk, name, clf_saved_bytes(&key), &file, &e);
        clf_str_release(&file);
        clf_str_release(&key);
    }
    return there;
}

static bool name_of(clf_workers *w, const clf_job *j, const clf_source *const *src, char name[CLF_SAVED_NAME]) {
    clf_str key;
    bool ok = j->n > 1 ? clf_saved_joined_key(w->d, j->dev, src, j->n, &key, name) : clf_saved_kernel_key(w->d, j->dev, src[0], &key, name);
    clf_str_release(&key);
    return ok;
}

static clf_claimed look(clf_workers *w, clf_job *j, const clf_source *const *src) {
    uint64_t now = clf_now_ns();
    if (!*j->claim.name && !name_of(w, j, src, j->claim.name)) return CLF_CLAIM_MINE;
    if (!j->first_ns) j->first_ns = now;
    j->claimed = clf_disk_try(&w->disk, j->claim.name);
    if (on_disk(w, j, src)) {
        clf_claim_drop(w, j);
        j->elsewhere = true;
        return CLF_CLAIM_DONE;
    }
    if (j->claimed || now - j->first_ns > PATIENCE_MS * (uint64_t)1000000) return CLF_CLAIM_MINE;
    if (j->first_ns == now) CLF_TRACE(&w->log, build, "kernel cache: another process has %s built", j->block[0]->entry);
    j->again_ns = now + LOOK_MS * (uint64_t)1000000;
    return CLF_CLAIM_LATER;
}

clf_claimed clf_claim_try(clf_workers *w, clf_job *j) {
    if (w->disk.mode != CLF_DISK_ON || j->claimed || j->tries) return CLF_CLAIM_MINE;
    clf_source *src = clf_mem_new(w->d->mem, (size_t)j->n, sizeof *src);
    const clf_source **at = clf_mem_new(w->d->mem, (size_t)j->n, sizeof *at);
    clf_claimed how = CLF_CLAIM_MINE;
    for (int i = 0; src && at && i < j->n; i++) {
        src[i] = clf_program_source(j->block[i]);
        at[i] = &src[i];
    }
    if (src && at) how = look(w, j, at);
    clf_mem_free(w->d->mem, at, (size_t)j->n, sizeof *at);
    clf_mem_free(w->d->mem, src, (size_t)j->n, sizeof *src);
    return how;
}

void clf_claim_drop(clf_workers *w, clf_job *j) {
    if (j->claimed) clf_disk_unlock(&w->disk, j->claim.name);
    j->claimed = false;
}

void clf_claim_load(clf_workers *w, clf_job *j) {
    clf_source src = clf_program_source(j->block[0]);
    clf_str key, file;
    clf_saved_entry e;
    clf_err why = {CLF_OK, ""};
    char name[CLF_SAVED_NAME];
    uint64_t start = clf_now_ns();
    j->elsewhere = true;
    if (j->n > 1 || w->disk.mode == CLF_DISK_OFF) return;
    clf_str_init(&file, w->d->mem);
    bool there = clf_saved_kernel_key(w->d, j->dev, &src, &key, name) && clf_disk_get(&w->disk, name, clf_saved_bytes(&key), &file, &e);
    if (there && e.kind == CLF_SAVED_BINARY && clf_driver_enter()) {
        clf_program_from_binary(w->d, j->dev, e.payload.at, e.payload.n, &j->built, &why);
        clf_driver_leave();
    }
    j->kept = j->built != NULL;
    j->ns = clf_now_ns() - start;
    clf_str_release(&file);
    clf_str_release(&key);
}
