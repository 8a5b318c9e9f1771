/* SPDX-License-Identifier: Apache-2.0
 * The shim: the part of the OpenCL API that device/ calls, as ordinary functions, so that the library's kernels run as C in this process
 * under its sanitizers. The program that links it links no OpenCL loader.
 *
 * A program text goes through clang as it stands (OpenCL C is C with vectors), with the built-in functions of opencl_c.cl, into a shared
 * object; a launch is a loop over work-items, every other one backwards, since their order may not matter. There are two devices:
 *   1  "shim buffers"   OpenCL 1.2; every buffer is a block of its own of exactly its size; over the caller's memory it is copied in when it
 *                       is made and out when it is mapped, as the standard allows: an access outside, or a map forgotten, shows
 *   2  "shim pointers"  OpenCL 2.0; takes host pointers
 * CLF_SHIM_BUILDS names a file that gets a line for every text compiled, by whatever process: its hash,
 * what CLF_SHIM_OWNER says, its first kernel.
 * The shim is strict where drivers are lenient: sizes and number of arguments, reference counts, local sizes. */
#ifndef CLF_TESTS_SHIM_H
#define CLF_TESTS_SHIM_H
#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 120
#endif
#include <CL/cl.h>
#include <stdbool.h>
#include <stdint.h>

enum { SHIM_DEVICES = 2, SHIM_ARGS = 256, SHIM_NAME = 64 };

typedef struct shim_counts {
    uint64_t programs, kernels; /* built; in them */
    uint64_t failed;            /* builds that failed */
    uint64_t loaded, refused;   /* programs built from binaries; binaries not taken */
    uint64_t launches, items;   /* enqueued; work-items run */
    uint64_t build_ns;
    uint64_t writes, written_bytes, reads, read_bytes; /* transfers to buffers of our own, and back */
    int64_t live;               /* OpenCL objects not released */
} shim_counts;
extern shim_counts shim_count;

/* The last commands in the order they came: on which queue, and for how many events each has to wait. */
enum { SHIM_COMMANDS = 64 };
typedef struct shim_command {
    char kind; /* k: a kernel, w: a write, r: a read, b: a barrier */
    const void *queue;
    unsigned waits;
} shim_command;
extern shim_command shim_log[SHIM_COMMANDS];
extern unsigned shim_logged; /* number i is at i % SHIM_COMMANDS */
void shim_note(char kind, const void *queue, unsigned waits);
extern const char *shim_driver; /* the driver's version; a test may change it */

/* ---- one kernel of a program text (signature.c) ---- */
typedef struct shim_signature {
    char name[SHIM_NAME];
    int nargs;
    bool memory[SHIM_ARGS];
} shim_signature;
/** The kernels of a preprocessed text, at most `most`; -1 when one of them cannot be read. */
int shim_signatures(const char *text, shim_signature *out, int most);
/** Behind the text: for each of its kernels one function that takes its arguments as an array of 8-byte slots, and a table of sizes.
 *  owns: caller, free. NULL when the text cannot be read. */
char *shim_trampolines(const char *text);

/* ---- the compiler (compile.c) ---- */
/** Compile text into a shared object and load it. NULL: `log` says why. owns: *kernels and *binary the caller, free. */
void *shim_compile(const char *text, size_t len, char *log, size_t log_bytes, shim_signature **kernels, int *nkernels, char **binary,
                   size_t *binary_bytes);
/** Load what *binary was. */
void *shim_load(const char *binary, size_t n, char *log, size_t log_bytes, shim_signature **kernels, int *nkernels);

/* ---- objects ---- */
typedef void shim_call(uint64_t *slot);
struct _cl_program {
    int refs, nkernels;
    bool loaded; /* made from a binary, which then is its text */
    size_t len, binary_bytes;
    char *text, *binary;
    void *object; /* of dlopen; NULL: not built */
    shim_signature *kernel;
    cl_build_status status;
    char log[4096];
};
struct _cl_mem {
    int refs;
    size_t bytes;
    char *host, *data; /* caller's memory; what kernels see */
};
struct _cl_kernel {
    int refs;
    cl_program program;
    const shim_signature *sig;
    shim_call *call;
    const unsigned *bytes; /* of each argument */
    uint64_t slot[SHIM_ARGS];
    cl_mem mem[SHIM_ARGS]; /* looked into when launched */
    bool set[SHIM_ARGS];
};

/** A counted object, zeroed. */
void *shim_object(size_t bytes);
void shim_drop(void *object);
/** A new event, already complete, where one is wanted. */
void shim_event(cl_event *out);
/** Put `value` where an info query wants it. */
cl_int shim_answer(const void *value, size_t bytes, size_t room, void *out, size_t *out_bytes);
#endif
