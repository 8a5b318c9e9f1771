/* SPDX-License-Identifier: Apache-2.0
 * The device layer: the only folder that includes CL/cl.h. Text, an entry name, arguments and a range go in; it never sees a graph.
 * Loaded lazily: clf_devs_open touches OpenCL only when asked to. Nothing here prints or exits.
 * thread: one clf_devs is used under its owner's evaluation lock. */
#ifndef CLF_DEVICE_DEVICE_H
#define CLF_DEVICE_DEVICE_H
#include "core/buf.h"
#include "core/err.h"
#include "core/trace.h"
#include "device/profile.h"
#include "device/source.h"

typedef struct clf_devs clf_devs;       /* loader, contexts, queues, program cache */
typedef struct clf_program clf_program; /* one built kernel, owned by the cache */

typedef struct clf_dev_info {
    char name[CLF_PROFILE_NAME], vendor[CLF_PROFILE_NAME], driver[CLF_PROFILE_NAME], version[CLF_PROFILE_NAME], platform[CLF_PROFILE_NAME];
    int kind;                 /* clf_device_kind */
    int fp64;
    int round_f32;            /* f32 division and square root are correctly rounded where a build asks for it */
    int host_pointers;        /* any host pointer may be a kernel argument (probed, not believed) */
    unsigned compute_units;
    uint64_t mem_bytes, max_alloc_bytes, max_arg_bytes;
    uint64_t local_bytes;     /* local memory; 0: it does not say */
} clf_dev_info;

/* OpenCL objects of the caller's, instead of devices that are looked for; NULL: none. */
typedef struct clf_own_queue {
    struct _cl_context *context;
    struct _cl_command_queue *queue;
} clf_own_queue;
/** Keep the pair alive. errors: CLF_E_ARG when the queue is not of the context, or runs out of order; CLF_E_DEVICE. */
clf_status clf_own_retain(const clf_own_queue *own, clf_err *err);
void clf_own_release(const clf_own_queue *own); /* none is fine */

typedef struct clf_dev_opts {
    clf_mem *mem;
    const clf_trace *log;
    const char *cache_dir;    /* "" : the private default; see device/cache_dir */
    size_t max_alloc_bytes;   /* test hook: pretend a smaller largest allocation; 0 = the device's */
    const char *worker;       /* the compile worker's program; NULL or "": looked for */
    int worker_ms;            /* how long it may take for one program before it counts as hung; 0: two minutes */
    int no_host_pointers;     /* test hook: go through cl_mem buffers of exact size (Oclgrind) */
    int cache;                /* clf_disk_mode of built kernels: 0 off, 1 on, 2 read only */
    size_t cache_bytes;       /* the most that they may take on disk; 0: no limit */
    clf_own_queue own;
    size_t copies_bytes;      /* most bytes of copies kept on a device; 0 = three quarters of its memory */
    const char *clblast;      /* path of CLBlast; NULL or "": the loader finds it */
    int transfer_queue;       /* a second queue for transfers, both ways: 1 always, -1 never, 0 on GPUs */
} clf_dev_opts;

/** Discover OpenCL devices. No device at all is CLF_OK with count 0; clf_devs_why then tells why. Sets a private POCL_CACHE_DIR
 *  (0700, under cache_dir) before the loader starts unless the user set one; resets an inherited one-CPU affinity around start-up, and
 *  sets POCL_AFFINITY=1 unless the user set it or the process may not use every core.
 *  thread: changes the environment; open devices before other threads read it. After fork() every call in the child gives CLF_E_STATE. */
clf_status clf_devs_open(clf_devs **out, const clf_dev_opts *opts, clf_err *err);
/** The same on a thread of its own: begin, ask whether it is done, and end, which waits for it.
 *  errors: of the begin CLF_E_NOMEM, CLF_E_ARG; of the end those of clf_devs_open. thread: the environment changes in the begin alone. */
typedef struct clf_devs_opening clf_devs_opening;
clf_status clf_devs_open_begin(clf_devs_opening **out, const clf_dev_opts *opts, clf_err *err);
bool clf_devs_open_done(const clf_devs_opening *o);
clf_status clf_devs_open_end(clf_devs_opening *o, clf_devs **out, clf_err *err);
void clf_devs_close(clf_devs *d);
/** Close devices that do not answer any more: nothing is waited for. */
void clf_devs_abandon(clf_devs *d);
int clf_devs_count(const clf_devs *d);
const clf_dev_info *clf_devs_info(const clf_devs *d, int i);
const char *clf_devs_why(const clf_devs *d);
/** The device that text names: a number (1-based: 0 is the host executor), "cpu", "gpu", part of a name, "" = first. -1 if none. */
int clf_devs_find(const clf_devs *d, const char *text);

/** Build or find the program: in this process, or kept on disk by an earlier one. Both compare the whole key text. *compiled tells a build.
 *  errors: CLF_E_BUILD with the first lines of the build log. */
clf_status clf_program_get(clf_devs *d, int dev, const clf_source *src, clf_program **out, bool *compiled, clf_err *err);
/** Is this source built already, in this process or, kept on disk, by an earlier one, or known not to build? */
bool clf_program_known(clf_devs *d, int dev, const clf_source *src);
/** Build many kernels at once: `text` is one program with the kernels of all n sources, whose options are equal. Each becomes an entry
 *  of the cache under its own source, as if clf_program_get had built it alone. What cannot be made from `text` is not kept, not even
 *  as a failure: clf_program_get builds it alone.
 *  errors: CLF_E_BUILD when text does not build, CLF_E_NOMEM; the sources made so far stay. */
clf_status clf_programs_build(clf_devs *d, int dev, const char *text, size_t text_len, const clf_source *const *src, int n, clf_err *err);

/* What of a buffer an argument is: a device's copies of them are apart. */
typedef enum clf_part_of_buf { CLF_PART_CELLS, CLF_PART_PTR, CLF_PART_IDX } clf_part_of_buf; /* cells, or a sparse matrix's entries */

/* ---- kernels built elsewhere: by worker processes, several at once; by a thread where there is no worker program ---- */
/** Ask for n kernels in one program, as clf_programs_build takes them, and return at once. Everything is copied. The first call starts a
 *  thread. A kernel that two workers crash or hang with is kept as one that does not build.
 *  errors: CLF_E_ARG; CLF_E_NOMEM, also when there is no thread. thread: workers get the environment as it is at the first call. */
clf_status clf_programs_ask(clf_devs *d, int dev, const char *text, size_t text_len, const clf_source *const *src, int n, clf_err *err);
/** Has this been asked for and not come yet? */
bool clf_program_asked(const clf_devs *d, int dev, const clf_source *src);
/** Is it in this process already? Unlike clf_program_known this reads no disk: a large kernel takes a driver tens of milliseconds to load. */
bool clf_program_held(const clf_devs *d, int dev, const clf_source *src);
/** Have the thread load it, if an earlier process kept it on disk; else nothing happens, and nothing arrives.
 *  errors: CLF_E_ARG; CLF_E_NOMEM, also when there is no thread. */
clf_status clf_program_fetch(clf_devs *d, int dev, const clf_source *src, clf_err *err);
/** Take into the cache what has come since. How many programs. cost: nothing when none has. */
int clf_programs_arrive(clf_devs *d);
/** Wait until something has come, or `ms` are over. True when nothing is under way any more. */
bool clf_programs_await(clf_devs *d, int ms);
/** Drop what has not come: it arrives as cancelled, and may be asked for again. Workers that are busy are ended at once. */
void clf_programs_cancel(clf_devs *d);
/* Kernels asked for, and what became of them; those missing are under way. fetching: being loaded. */
typedef struct clf_asked { uint64_t asked, built, failed, cancelled, fetching; } clf_asked;
clf_asked clf_programs_asked(const clf_devs *d);

/* One argument value, in the order of clf_source.args. */
typedef struct clf_arg {
    const void *ptr;    /* memory arguments: host address; bytes long */
    size_t bytes;       /* scalars: size of the value */
    clf_buf *buf;       /* memory: whose contents it is, so that the device may keep a copy; NULL: nobody's, sent for this launch */
    int part;           /* clf_part_of_buf */
    union { double f64; float f32; int64_t i64; int32_t i32; uint8_t u8; } u;
} clf_arg;
/** Enqueue. Zero-copy on CPU devices: `ptr` memory is used in place and must stay valid until the device is idle. On devices without
 *  host pointers: the copy of `buf`, which a result does not leave until clf_mirror_home; without buf, USE_HOST_PTR buffers, mapped back
 *  on wait. NULL program arguments of 0 bytes are legal (the kernel gets an address that it may not read). global 0 is a no-op. */
clf_status clf_launch(clf_devs *d, int dev, clf_program *p, const clf_arg *args, int nargs, size_t global, size_t local, clf_err *err);
/** Will its next launch compile on, being the first? Drivers for CPUs compile what was built here for the kind of launch. */
bool clf_program_compiles_on(const clf_devs *d, const clf_program *p);
/** The number of the last command enqueued, ever increasing; the last one known to have ended. Commands end in order. */
uint64_t clf_dev_ticket(const clf_devs *d, int dev);
uint64_t clf_dev_ended(const clf_devs *d, int dev);
/** Wait for the command of that number, and no later one. errors: as clf_dev_wait, which is still to be called at the end. */
clf_status clf_dev_await(clf_devs *d, int dev, uint64_t ticket, clf_err *err);
/** Start what is enqueued (clFlush) without waiting. */
clf_status clf_dev_flush(clf_devs *d, int dev, clf_err *err);
/** Wait until everything enqueued has finished and is visible on the host. */
clf_status clf_dev_wait(clf_devs *d, int dev, clf_err *err);

/* ---- copies of buffers, on devices that take no host pointers (mirror.c) ---- */
/** Enqueue what brings home those contents of b that a device has and the host not yet: there after the device's next wait. beside: it need
 *  not wait for commands behind the one that wrote them; nothing but that wait may follow. */
clf_status clf_mirror_home(clf_devs *d, const clf_buf *b, bool beside, clf_err *err);
/** The same, waited for; when it fails it may be tried again. errors: CLF_E_DEVICE, also when what a device had of b is lost. */
clf_status clf_mirror_fetch(clf_devs *d, const clf_buf *b, clf_err *err);
/** What a device has of b, and the host not yet, stays there until somebody asks: it is not dropped before it was brought home. */
void clf_mirror_keep(const clf_buf *b);
/** Is there anything to bring home? */
bool clf_mirror_ahead(const clf_buf *b);
/** Has the device a copy of b in its present version? */
bool clf_mirror_holds(const clf_devs *d, int dev, const clf_buf *b);
/** Drop all copies on a device, without bringing anything home but what is kept there: where that fails, the buffer is lost. */
void clf_mirrors_drop(clf_devs *d, int dev);
/** Drop what is kept for copies to come. */
void clf_mirrors_trim(clf_devs *d);

/** May something that is enqueued still read or write memory of the host? Not kernels over copies: others may go on beside them. */
bool clf_dev_on_host(const clf_devs *d, int dev);

/* What kind of thing went wrong on a device. */
typedef enum clf_fault {
    CLF_FAULT_NONE,
    CLF_FAULT_LAUNCH,        /* a call failed at once */
    CLF_FAULT_LATE,          /* a kernel failed after its launch had returned */
    CLF_FAULT_DEVICE_MEMORY, /* the device has no room for this */
    CLF_FAULT_HOST_MEMORY,   /* the driver has no memory on the host */
    CLF_FAULT_LOST,          /* device, context or queue cannot be used any more */
    CLF_NFAULTS
} clf_fault;
/** The first fault of launching and waiting since the last call, which forgets it. */
clf_fault clf_dev_fault(clf_devs *d, int dev);
/** True only after a clf_dev_wait that failed: the device may still be writing. Nothing it was given may be freed or used again. */
bool clf_dev_busy(const clf_devs *d, int dev);

/** Measure the device by kernels of its own (bandwidth by size, rates by class, launch costs; transfers, where it has memory of its own); under
 *  10 s. math: text that defines exp and log as kernels have them, CLF_MATH_f64(P, T, I, AT, AI) and CLF_MATH_f32; NULL: they are the
 *  driver's. */
clf_status clf_dev_calibrate(clf_devs *d, int dev, const char *math, clf_profile *out, clf_err *err);
/** The assumed profile of a discovered device. */
void clf_dev_assume(const clf_devs *d, int dev, clf_profile *out);

/* counters, ever increasing; indexed by nothing: whole clf_devs */
typedef struct clf_dev_stats {
    uint64_t builds, build_ns, launches, waits;
    uint64_t loads, load_ns, saves; /* kernels taken from the disk cache; looking for them there; programs put there */
    uint64_t bytes_sent, bytes_home, evictions; /* to devices without host pointers, and back; copies that others took the place of */
} clf_dev_stats;
clf_dev_stats clf_devs_stats(const clf_devs *d);
/** Why built kernels are not kept on disk, or not written there; "" when they are, or were not asked to be. */
const char *clf_devs_cache_why(const clf_devs *d);

/* ---- BLAS (LIBRARY steps). OpenBLAS is loaded at run time when present (dlopen), so it stays optional. ---- */
typedef struct clf_blas clf_blas;
/** NULL only when memory is out. Without a library clf_blas_name gives "own" and products run on our plain blocked kernel.
 *  threads: of the library, 0 leaves its own choice. */
clf_blas *clf_blas_open(clf_mem *mem, int threads);
void clf_blas_close(clf_blas *b);
const char *clf_blas_name(const clf_blas *b);
/** C (m x n) = op(A) op(B), row-major, leading dimensions in elements; f32 or f64. C is overwritten (also for k == 0: zeros). */
clf_status clf_blas_gemm(clf_blas *b, clf_dtype t, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const void *A, int64_t lda,
                         const void *B, int64_t ldb, void *C, int64_t ldc, clf_err *err);

/* ---- products on a device itself: CLBlast is loaded at run time when present, so it stays optional (clblast.c) ---- */
typedef enum clf_clblast_state {
    CLF_CLBLAST_ABSENT,  /* not asked for, or not found */
    CLF_CLBLAST_WARMING, /* it compiles for the device, and is tried out */
    CLF_CLBLAST_READY,
    CLF_CLBLAST_REFUSED  /* it failed, or gave a wrong result: it is not called again */
} clf_clblast_state;
/* What was measured while it was tried out; see the profile's gemm_*. */
typedef struct clf_clblast_rates { double flops_per_s[2], half_cells, ns; } clf_clblast_rates;
/* C (m x n) = op(A) op(B), row-major; the arguments are whole buffers. */
typedef struct clf_clblast_product {
    clf_dtype t;
    bool ta, tb;
    int64_t m, n, k, lda, ldb, ldc;
    clf_arg a, b, c;
} clf_clblast_product;
/** Is the library there? Loads it. */
bool clf_clblast_found(clf_devs *d);
/** On a thread of its own with a queue of its own: have it compile what products on the device need, and compare a small product of each
 *  kind with ours. Returns at once; later calls do nothing. On a caller's own queue, or without the library, nothing happens. */
void clf_clblast_begin(clf_devs *d, int dev);
/** How far that is; wait: until it has ended. */
clf_clblast_state clf_clblast_look(clf_devs *d, int dev, bool wait);
/** Devices it was begun for, by what became of that: built where it is ready, failed where it is refused. */
clf_asked clf_clblast_asked(const clf_devs *d);
/** NULL unless it is ready. */
const clf_clblast_rates *clf_clblast_rates_of(const clf_devs *d, int dev);
/** Enqueue a product, all sizes above 0, as clf_launch does a kernel. What fails leaves no copy of C on a device, and no fault behind; but C
 *  may still be written to until the next wait. Unless memory was short, the library is refused then.
 *  errors: CLF_E_STATE: it is not ready; CLF_E_DEVICE, CLF_E_NOMEM, CLF_E_LIMIT. */
clf_status clf_clblast_launch(clf_devs *d, int dev, const clf_clblast_product *p, clf_err *err);

/* ---- profiles on disk ---- */
/** Directory for our files: cache_dir, else $XDG_CACHE_HOME/clfuse, else $HOME/.cache/clfuse, else "" (none). Created 0700.
 *  false: unwritable or none; *why says which, once. */
bool clf_cache_dir(const char *cache_dir, char *out, size_t n, char *why, size_t why_n);
/** The first half of that: which directory it would be. Nothing is made or looked at. */
bool clf_cache_dir_name(const char *cache_dir, char *out, size_t n, char *why, size_t why_n);
clf_status clf_profile_load(const char *dir, const char *device_name, const char *driver, clf_profile *out, clf_err *err);
clf_status clf_profile_store(const char *dir, const clf_profile *p, clf_err *err);
#endif
