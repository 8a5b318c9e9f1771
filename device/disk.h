/* SPDX-License-Identifier: Apache-2.0
 * The disk cache of built kernels, and of plans that were searched: entries (entry_file.h) as files <cache>/kernels/<name>, which several
 * processes share. It never fails its caller: what cannot be read is not there, what cannot be written is not kept, and `why` says so once.
 *
 * Trust: a directory that is ours and that nobody else may even look into; files that are plain, ours, and have no second name. Entries
 * are written to a temporary file and renamed, so a reader sees a whole entry or none; a digest finds what the disk did to it later.
 * The oldest ones go when the directory outgrows its limit. Locks are a courtesy between processes that would build the same kernel:
 * nothing becomes wrong without them, and a dead process holds none. thread: as clf_devs, one user at a time. */
#ifndef CLF_DEVICE_DISK_H
#define CLF_DEVICE_DISK_H
#include "core/trace.h"
#include "device/entry_file.h"

typedef enum clf_disk_mode { CLF_DISK_OFF, CLF_DISK_ON, CLF_DISK_READONLY } clf_disk_mode;

enum { CLF_DISK_WHY = 512, CLF_DISK_LOCKS = 64 };

typedef struct clf_disk {
    clf_mem *mem;
    const clf_trace *log;
    clf_disk_mode mode;
    bool open, absent;        /* absent: there is no directory, and none was made */
    int dir, lock;            /* open directory; open lock file, -1 if there is none */
    size_t limit_bytes;       /* 0: none */
    size_t grown_bytes;       /* written since the directory was last measured */
    bool measured;
    int nheld;
    uint64_t held[CLF_DISK_LOCKS];
    char why[CLF_DISK_WHY];   /* why there is no cache, or one that is not written; "" */
} clf_disk;

/** "on", "readonly"; anything else is off. */
clf_disk_mode clf_disk_mode_of(const char *text);
/** Open the directory, made when it is missing. Not usable: mode READONLY or OFF, and d->why says why. cache_dir as in clf_cache_dir. */
void clf_disk_open(clf_disk *d, clf_mem *mem, const clf_trace *log, const char *cache_dir, clf_disk_mode mode, size_t limit_bytes);
void clf_disk_close(clf_disk *d);
/** The entry of this key, or, when key is empty, of this name; its bytes are in `file`, which *out points into. A damaged file is removed.
 *  false: there is none. */
bool clf_disk_get(clf_disk *d, const char *name, clf_bytes key, clf_str *file, clf_saved_entry *out);
/** Keep an entry under the name of its key, instead of an earlier one. false: it was not kept. */
bool clf_disk_put(clf_disk *d, const clf_saved_entry *e);
/** Remove an entry that a driver would not take. */
void clf_disk_drop(clf_disk *d, const char *name, const char *reason);
/** Before building: wait, some 30 s at most, while another process holds the lock of this name, then hold it. Whoever holds a lock already
 *  does not wait. True when there was somebody to wait for. Look again in any case: he may just have finished. */
bool clf_disk_lock(clf_disk *d, const char *name);
/** The same without waiting: false when another process holds it. */
bool clf_disk_try(clf_disk *d, const char *name);
void clf_disk_unlock(clf_disk *d, const char *name);

/** Is this file whole and to be trusted? Its bytes are in `file`, which *out points into. Nothing is removed. errors: CLF_E_FORMAT, CLF_E_IO,
 *  CLF_E_NOMEM. */
clf_status clf_disk_check(const clf_disk *d, const char *name, clf_str *file, clf_saved_entry *out, clf_err *err);

/* ---- all files (disk_files.c) ---- */
typedef struct clf_disk_file {
    char name[CLF_SAVED_NAME];
    uint64_t bytes;
    int64_t used_s;           /* when it was last used, in seconds since 1970 */
} clf_disk_file;
/** Every entry's file, the one used last first; *n of them. owns: caller, clf_mem_free(mem, *out, *n, sizeof **out).
 *  errors: CLF_E_NOMEM, CLF_E_IO. */
clf_status clf_disk_files(clf_disk *d, clf_disk_file **out, size_t *n, clf_err *err);
/** Remove the entries used longest ago until at most keep_bytes are left, and what dead processes left half written. *files and *bytes
 *  (may be NULL) receive what was removed. */
clf_status clf_disk_prune(clf_disk *d, uint64_t keep_bytes, uint64_t *files, uint64_t *bytes, clf_err *err);
/** driver_files.c: remove all that is in folder/name, unless a process has its driver open there; *files and *bytes grow by what is removed.
 *  False: one has. */
bool clf_driver_files_remove(const char *folder, const char *name, uint64_t *files, uint64_t *bytes);
#endif
