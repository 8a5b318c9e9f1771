/* SPDX-License-Identifier: Apache-2.0
 * What the files of the device layer share; nobody outside device/ includes this (it brings in CL/cl.h).
 *
 * Baseline is the OpenCL 1.2 API. The one newer call, clSetKernelArgSVMPointer, is looked up at run time and believed only after
 * a probe. Invariants: every OpenCL result is checked; every object has one owner here; after a fork nothing calls OpenCL. */
#ifndef CLF_DEVICE_INTERNAL_H
#define CLF_DEVICE_INTERNAL_H
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <limits.h>
#include <stdalign.h>
#include <stdatomic.h>
#include <sys/types.h>
#include "core/clock.h"
#include "device/device.h"
#include "device/disk.h"

enum {
    CLF_DEV_INFLIGHT = 256,     /* launches under way before the oldest is waited for */
    CLF_DEV_SENT = 16,          /* operands on their way to one kernel by the second queue */
    CLF_PROGRAM_BUCKETS = 1024, /* chains of the program cache */
    CLF_DEV_WHY = 512,
    CLF_DEV_PATH = PATH_MAX
};

typedef cl_int(CL_API_CALL *clf_pointer_arg_fn)(cl_kernel, cl_uint, const void *);

/* One USE_HOST_PTR buffer, alive from the launch that first needs it to the next wait. */
typedef struct clf_hostbuf {
    char *ptr;
    size_t bytes;
    cl_mem mem;
    bool written;
} clf_hostbuf;

/* One part of a buffer on a device (mirror.c). */
typedef struct clf_mirror {
    struct clf_mirror *next, *prev; /* on the device, last used first, spares at the end */
    struct clf_mirror *next_of_buf;
    clf_buf *buf;                   /* not counted, it drops us; NULL: a spare */
    uint64_t version, used;         /* of buf; clock of the last launch that used it */
    clf_devs *d;
    int dev, part;
    bool ahead;                     /* a kernel wrote it, and the host has not got it */
    bool kept;                      /* a result that the host has not, or not for certain: it goes nowhere unread */
    bool writing;                   /* by the launch that is being prepared */
    uint64_t ticket;                /* ahead: the command that wrote it; a spare: the last command in order that may have used it */
    void *host;
    size_t bytes;
    cl_mem mem;
} clf_mirror;

typedef struct clf_dev {
    alignas(64) unsigned char pad[64]; /* what pointer arguments of 0 bytes point at */
    int probe[64];                     /* what the probe's kernel reads and writes */
    struct { void *at; size_t bytes; } withheld[2]; /* of clf_dev_give_back, freed with the device */
    cl_device_id id;
    cl_context ctx;
    cl_command_queue queue;            /* in order; NULL until first used */
    cl_command_queue copies;           /* copies.c; NULL: transfers go through `queue`, too */
    cl_event sent[CLF_DEV_SENT];       /* by that, either way, since the last kernel: events of `inflight` */
    int nsent;
    clf_pointer_arg_fn set_pointer;    /* NULL: arguments go through buffers */
    clf_hostbuf *bufs;
    size_t nbuf, capbuf;
    clf_mirror *mirrors, *mirrors_last;
    size_t mirror_bytes, mirror_limit;
    uint64_t mirror_clock;             /* launches */
    cl_event inflight[CLF_DEV_INFLIGHT];
    unsigned nlaunch;                  /* next slot is nlaunch % CLF_DEV_INFLIGHT */
    uint64_t started, ended;           /* commands enqueued since it was opened; of those known to have ended */
    uint64_t ordered, brought;         /* the last one in `queue`; the last one that brings a mirror home */
    cl_event home;                     /* of the last command that brings written buffers home; NULL if none */
    cl_int late;                       /* first failure that arrived after its launch returned; CL_SUCCESS if none */
    clf_fault fault;                   /* the first one since it was asked for */
    bool on_host;                      /* something enqueued since the last wait reads or writes memory of the host */
    bool coming;                       /* what is kept is on its way home since then */
    bool busy;                         /* a wait failed, and no event tells that the work has ended */
    uint64_t driver_key;               /* of saved.c: what else decides what the driver compiles; 0 until asked for */
    clf_dev_info info;
} clf_dev;

struct clf_program {
    clf_program *next;   /* chain of its bucket */
    size_t self_bytes;   /* this block: struct, argument kinds, text, entry, options */
    clf_hash hash;
    int dev, nargs;
    size_t text_len;
    const clf_arg_desc *args;
    const char *text, *entry, *options;
    cl_program program;
    cl_kernel kernel;
    clf_err failed;      /* code != CLF_OK: the build failed, and will again */
    bool launched;       /* at least once */
    bool fresh;          /* compiled by this process and not launched yet: its first launch compiles on */
};

struct clf_devs {
    clf_mem *mem;
    const clf_trace *log;
    pid_t pid;           /* who opened; a forked child may not go on */
    clf_dev *dev;
    int n, cap;          /* devices, places in dev */
    size_t max_alloc_bytes;
    bool no_host_pointers;
    int transfer_queue;  /* of the options */
    size_t copies_bytes;
    clf_own_queue own;   /* adopt.c */
    clf_program *bucket[CLF_PROGRAM_BUCKETS];
    clf_dev_stats stats;
    clf_disk disk;       /* built kernels of earlier processes */
    struct clf_unsaved *unsaved; /* built by this one, on their way there */
    struct clf_shared *shared;   /* programs of many kernels that were read */
    char why[CLF_DEV_WHY];
    char temp_dir[CLF_DEV_PATH]; /* the driver's cache where no directory is usable; removed at close */
    int temp_fd;                 /* open on temp_dir, shared lock; -1 if none */
    int cache_fd;                /* the same of the driver's cache where it is kept */
    struct clf_workers *workers; /* worker.c; NULL until the first kernel is asked for */
    struct clf_clblast *clblast; /* clblast.c; NULL until somebody asks */
    char cache_dir[CLF_DEV_PATH], worker[CLF_DEV_PATH], clblast_path[CLF_DEV_PATH]; /* of the options */
    int worker_ms;
};

/* ---- clerr.c ---- */
/** "CL_OUT_OF_RESOURCES"; "unknown code" for others. owns: static. */
const char *clf_cl_name(cl_int code);
/** CLF_OK for CL_SUCCESS; else one message naming call, code and device. Running out of memory is CLF_E_NOMEM, all else CLF_E_DEVICE. */
clf_status clf_cl_check(cl_int code, const char *call, const char *device, clf_err *err);
/** The same for calls that launch and wait: the device remembers its first fault. */
clf_status clf_dev_check(clf_dev *v, cl_int code, const char *call, clf_err *err);
/** Remember a fault unless there is one. */
void clf_dev_note(clf_dev *v, clf_fault fault);
/** What a code says: LAUNCH when it is about the call alone. */
clf_fault clf_cl_fault(cl_int code);

/* ---- devs.c ---- */
/** The two halves of clf_devs_open: what changes the environment, and what may take long; on failure *d is freed. */
clf_status clf_devs_prepare(clf_devs **out, const clf_dev_opts *opts, clf_err *err);
clf_status clf_devs_look(clf_devs **d, clf_err *err);

/* ---- environ.c ---- */
/** Point the driver's own cache at a private directory unless the user chose one; d->why says when only a temporary one was left. */
void clf_environ_cache(clf_devs *d, const char *cache_dir);
void clf_environ_cache_close(clf_devs *d);
typedef struct clf_affinity { bool changed; unsigned char mask[128]; } clf_affinity;
/** Worker threads of the driver inherit our mask: widen a one-CPU mask while they are made. */
void clf_affinity_widen(clf_affinity *a);
void clf_affinity_restore(const clf_affinity *a);
/** Have the driver pin its workers, one to a core, unless the user chose or the process may not use every core. */
void clf_environ_workers(void);
/** OpenBLAS's threads spin for about 20 ms after a product, on cores that the next step's threads need: let them go to sleep at once,
 *  unless the variable is set already. */
void clf_environ_blas(void);
/** A number of what decides what a driver compiles and no device tells: its platform's version, variables, the CPU's features. Never 0. */
uint64_t clf_environ_driver_key(const char *platform_version, bool cpu);

/* ---- blas_load.c ---- */
/** OpenBLAS, by loops that suit this processor; NULL: not there. Given back by dlclose. */
void *clf_blas_load(void);
/** Whose loops it runs, by its own name of them; "" when it does not say. */
const char *clf_blas_core(void *library);

/* ---- discover.c ---- */
/** Fill d->dev with every usable device, contexts made; none is CLF_OK with d->why set. */
clf_status clf_discover(clf_devs *d, clf_err *err);
/** One more device, if it is usable, without context; else a note. errors: CLF_E_NOMEM. */
clf_status clf_discover_one(clf_devs *d, cl_platform_id platform, cl_device_id id, clf_err *err);
/** Append one sentence to d->why. */
void clf_devs_note(clf_devs *d, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- adopt.c ---- */
/** Fill d->dev with the device of the caller's queue, d->own. */
clf_status clf_adopt(clf_devs *d, clf_err *err);

/* ---- probe.c ---- */
/** Find out, by a kernel that writes through an interior pointer of plain memory, whether arguments may be host pointers. */
void clf_probe_pointers(clf_devs *d, int dev);

/* ---- program.c ---- */
/** A kernel outside the cache, from src's text or, when not NULL, from a program `built` before. A build that fails is CLF_OK with
 *  out->failed set. owns: the caller, to be given to clf_program_free. */
clf_status clf_program_new(clf_devs *d, int dev, const clf_source *src, cl_program built, clf_program **out, clf_err *err);
/** Compile text into a program object. errors: CLF_E_BUILD with the first lines of the log. owns: the caller. */
clf_status clf_program_compile(clf_devs *d, int dev, const clf_source *src, cl_program *out, clf_err *err);
void clf_program_free(clf_devs *d, clf_program *p, bool driver_alive);
void clf_programs_release(clf_devs *d, bool driver_alive);

/* ---- options.c ---- */
/** errors: CLF_E_ARG naming the option that is not in the list. */
clf_status clf_options_check(const char *options, clf_err *err);

/* ---- binary.c ---- */
/** What the driver keeps of a program built for one device; it holds what was compiled for ranges that ran before. owns: *out of *n bytes, to
 *  be given to clf_mem_free(mem, *out, *n, 1). cost: PoCL compiles one more form of each kernel, 50 to 120 ms.
 *  errors: CLF_E_UNSUPPORTED when the driver has none; CLF_E_NOMEM, CLF_E_DEVICE. */
clf_status clf_program_binary(clf_devs *d, int dev, cl_program prog, clf_mem *mem, void **out, size_t *n, clf_err *err);
/** A program out of what clf_program_binary gave for the same device and driver. The bytes must be trusted: drivers crash on bad ones.
 *  owns: the caller. errors: CLF_E_BUILD when the driver refuses them; CLF_E_NOMEM. */
clf_status clf_program_from_binary(clf_devs *d, int dev, const void *bytes, size_t n, cl_program *out, clf_err *err);

/* ---- saved.c, saved_put.c ---- */
typedef struct clf_claim { char name[CLF_SAVED_NAME]; } clf_claim; /* a lock of the disk cache; "" is none */
/** The kernel out of the disk cache, not in the cache of this process. NULL: it has to be built. owns: as clf_program_new. */
clf_program *clf_saved_get(clf_devs *d, int dev, const clf_source *src);
/** Before building n kernels as one program: become the one process that does. True: another one may have built them by now, look again. */
bool clf_saved_claim(clf_devs *d, int dev, const clf_source *const *src, int n, clf_claim *out);
/** They could not be built. */
void clf_saved_unclaim(clf_devs *d, const clf_claim *claim);
/** They were built: keep them on disk when they have run. p: one program, alive until clf_saved_close. */
void clf_saved_later(clf_devs *d, int dev, const clf_claim *claim, clf_program *const *p, int n);
/** Keep the binary of a program with these n kernels now, in `disk`. False: it is not kept. thread: any that is the disk's only user, after
 *  clf_saved_ready. */
bool clf_saved_put(clf_devs *d, clf_disk *disk, int dev, clf_program *const *p, int n, const void *binary, size_t bytes);
/** Find out what decides what the device's driver compiles: other threads may name entries then. */
void clf_saved_ready(clf_devs *d, int dev);
/** The device is idle: keep what has run, and let go of the locks of what has not. */
void clf_saved_now(clf_devs *d, int dev);
/** Forget everything; what was not kept yet is kept first if `keep` says so. alive: the driver may be called. */
void clf_saved_close(clf_devs *d, bool alive, bool keep);

/* ---- program.c, for kernels that are built elsewhere ---- */
/** A kernel without program, of a copy of everything in src. NULL: no memory. owns: the caller, to be given to clf_program_free. */
clf_program *clf_program_block(clf_devs *d, int dev, const clf_source *src);
/** Into the block the kernel out of `built`; what is wrong with it, but for memory, stays in p->failed. errors: CLF_E_NOMEM, CLF_E_DEVICE. */
clf_status clf_program_complete(clf_devs *d, clf_program *p, const clf_source *src, cl_program built, clf_err *err);
/** The cache takes p over. */
void clf_program_keep(clf_devs *d, clf_program *p);
/** Is p the program of this source? */
bool clf_program_same(const clf_program *p, int dev, const clf_source *src);
/** Complete, of equal options that are in the list, at least one. errors: CLF_E_ARG. */
clf_status clf_sources_check(const clf_source *const *src, int n, clf_err *err);
/** The source that p was made of; its texts are p's. */
clf_source clf_program_source(const clf_program *p);

/* ---- at_exit.c ---- */
/** A thread of ours goes into a driver. False: the process ends, and it may not. */
bool clf_driver_enter(void);
void clf_driver_leave(void);
/** A driver has been loaded. */
void clf_driver_loaded(void);

/* ---- worker.c ---- */
/** End the thread and its workers; alive: they are this process's. */
void clf_workers_close(clf_devs *d, bool alive);

/* ---- launch.c ---- */
/** Device number and process are right, the queue exists. */
clf_status clf_dev_enter(clf_devs *d, int dev, clf_dev **out, clf_err *err);
/** Drop events, buffers and queue, after waiting for what is enqueued if asked. */
void clf_dev_drop(clf_dev *v, bool wait);

/** Free a data block that kernels were given, or, when the device may still write to it, keep it until the device is closed. At most
 *  two, once: a busy device launches nothing any more. */
void clf_dev_give_back(clf_devs *d, clf_dev *v, void *at, size_t bytes);

/** The place of the next command's event in the ring: older work has ended when it is used again. */
cl_event *clf_dev_slot(clf_dev *v);
/** The command of clf_dev_slot is enqueued. */
void clf_dev_started(clf_dev *v);

/* ---- copies.c ---- */
/** The second queue, where there is to be one. */
clf_status clf_copies_open(clf_devs *d, clf_dev *v, clf_err *err);
/** Is there one, with room for one more, and does anything tell when command `after` of the other queue has ended? */
bool clf_copies_ready(const clf_dev *v, uint64_t after);
/** Send, after that command; slot: clf_dev_slot. The next kernel is to wait for v->sent. */
clf_status clf_copies_send(clf_dev *v, cl_mem mem, const void *from, size_t bytes, uint64_t after, cl_event *slot, clf_err *err);
/** The other way, to what only the next clf_dev_wait makes known to the host. */
clf_status clf_copies_bring(clf_dev *v, cl_mem mem, void *to, size_t bytes, uint64_t after, cl_event *slot, clf_err *err);
/** Whatever is enqueued next waits for v->sent: in front of commands that take no list of events. */
clf_status clf_copies_join(clf_dev *v, clf_err *err);
void clf_copies_close(clf_dev *v, bool wait);

/* ---- mirror.c ---- */
/** The device's copy of an argument with a buffer, made and sent where it is not there yet, or about to be written. */
clf_status clf_mirror_get(clf_devs *d, int dev, const clf_arg *a, clf_arg_kind kind, cl_mem *out, clf_err *err);
/** What that launch writes, it writes by the command that was just enqueued. */
void clf_mirrors_written(clf_dev *v);
/** A wait went well: what was on its way home is there. */
void clf_mirrors_came(clf_dev *v);

/* ---- hostbuf.c ---- */
/** Before a launch: if an argument partly overlaps memory already wrapped and one of the two is written, start afresh. */
clf_status clf_hostbufs_prepare(clf_devs *d, int dev, const clf_program *p, const clf_arg *args, clf_err *err);
clf_status clf_hostbuf_get(clf_devs *d, clf_dev *v, const clf_arg *a, bool written, cl_mem *out, clf_err *err);
/** Enqueue the map and unmap that make written buffers visible on the host; v->home is the last one's event. */
clf_status clf_hostbufs_publish(clf_dev *v, clf_err *err);
void clf_hostbufs_drop(clf_dev *v);

/* ---- clblast.c, clblast_try.c ---- */
/* The C interface of CLBlast, with its enumerations as the ints that they are. */
typedef int (*clf_clblast_sgemm)(int layout, int ta, int tb, size_t m, size_t n, size_t k, float alpha, cl_mem a, size_t a_at, size_t lda, cl_mem b,
                                 size_t b_at, size_t ldb, float beta, cl_mem c, size_t c_at, size_t ldc, cl_command_queue *queue, cl_event *event);
typedef int (*clf_clblast_dgemm)(int layout, int ta, int tb, size_t m, size_t n, size_t k, double alpha, cl_mem a, size_t a_at, size_t lda, cl_mem b,
                                 size_t b_at, size_t ldb, double beta, cl_mem c, size_t c_at, size_t ldc, cl_command_queue *queue, cl_event *event);
typedef struct clf_clblast_calls {
    clf_clblast_sgemm sgemm;
    clf_clblast_dgemm dgemm;
    int (*clear)(void); /* drop what it compiled, of all contexts of the process */
} clf_clblast_calls;
/** One product of whole buffers; *event: of its last command. What the library gives back, 0 is success. */
int clf_clblast_call(const clf_clblast_calls *f, const clf_clblast_product *p, const cl_mem mem[3], cl_command_queue queue, cl_event *event);
/* The library being tried out on one device. */
typedef struct clf_clblast_trial {
    clf_mem *mem;
    const clf_clblast_calls *calls;
    cl_context ctx;
    cl_device_id id;
    bool fp64;
    atomic_bool stop; /* the devices close */
    clf_clblast_rates rates;
} clf_clblast_trial;
/** errors: CLF_E_INTERNAL: a wrong result; CLF_E_CANCELLED: stopped; CLF_E_NOMEM, CLF_E_DEVICE. thread: any; it uses no queue but its own. */
clf_status clf_clblast_try(clf_clblast_trial *t, clf_err *err);
/** End what is under way, and have the library forget what it compiled; alive: the driver may be called. */
void clf_clblast_close(clf_devs *d, bool alive);

/* ---- blas.c, for tests ---- */
/** Hand over at most `most` of a size per library call; own: never call the library. */
void clf_blas_restrict(clf_blas *b, int64_t most, bool own);

static inline bool clf_arg_is_memory(int kind) { return kind <= CLF_ARG_COUNTER; }
static inline bool clf_arg_is_written(int kind) { return kind >= CLF_ARG_MEM_OUT && kind <= CLF_ARG_COUNTER; }
#endif
