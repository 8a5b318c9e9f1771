/* SPDX-License-Identifier: Apache-2.0
 * clfuse/types.h: status codes, element types and the callbacks a host program can install.
 *
 * Every fallible function of the library returns a clf_status. Outputs stay untouched when it is not CLF_OK.
 */
#ifndef CLFUSE_TYPES_H
#define CLFUSE_TYPES_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define CLF_API __attribute__((visibility("default")))
#else
#define CLF_API
#endif

/** What became of a call. Values are fixed; new ones are only added. */
typedef enum clf_status {
    CLF_OK = 0,
    CLF_E_ARG = 1,          /**< an argument is NULL, out of range or inconsistent */
    CLF_E_SHAPE = 2,        /**< operand shapes do not fit together */
    CLF_E_TYPE = 3,         /**< an element type is not allowed here */
    CLF_E_NAME = 4,         /**< unknown variable, function, knob or selector */
    CLF_E_SYNTAX = 5,       /**< program text that does not parse */
    CLF_E_NOMEM = 6,        /**< the host or a device is out of memory, or a budget is exceeded */
    CLF_E_LIMIT = 7,        /**< a size or count is beyond what the library handles */
    CLF_E_IO = 8,           /**< a file cannot be opened, read or written */
    CLF_E_FORMAT = 9,       /**< a file is damaged, hostile or of an unsupported kind */
    CLF_E_NODEV = 10,       /**< no device matches, or a component is missing */
    CLF_E_DEVICE = 11,      /**< an OpenCL call failed */
    CLF_E_BUILD = 12,       /**< a kernel did not compile */
    CLF_E_UNSUPPORTED = 13, /**< a valid request that this version cannot serve */
    CLF_E_STATE = 14,       /**< not allowed now, e.g. in a forked child */
    CLF_E_INTERNAL = 15,    /**< a defect of the library; please report it */
    CLF_E_CANCELLED = 16    /**< the progress callback asked to stop */
} clf_status;

/** Element types. u8 also holds truth values. */
typedef enum clf_dtype { CLF_F32 = 0, CLF_F64 = 1, CLF_I32 = 2, CLF_I64 = 3, CLF_U8 = 4 } clf_dtype;

/** The code's short name, such as "CLF_E_SHAPE". owns: static. */
CLF_API const char *clf_status_name(clf_status s);
/** One line on what the code means. owns: static. */
CLF_API const char *clf_status_text(clf_status s);
/** "f32", "f64", "i32", "i64", "u8". owns: static. */
CLF_API const char *clf_dtype_name(clf_dtype t);
/** Bytes of one element; 0 for a value that is no clf_dtype. */
CLF_API size_t clf_dtype_bytes(clf_dtype t);

/** Allocator hook. new_bytes == 0 frees (and returns NULL); ptr == NULL allocates; else it resizes.
 *  Must return memory aligned to 64 bytes, or NULL. thread: called from any thread of the library. */
typedef void *(*clf_alloc_fn)(void *user, void *ptr, size_t old_bytes, size_t new_bytes);
/** Called once when the library will never touch `data` again. thread: any. */
typedef void (*clf_release_fn)(void *user, void *data);
/** Receives one log line (no newline). topic is one of the names in CLF_LOG, or "profile" for the
 *  lines of CLF_PROFILE's table. thread: any. */
typedef void (*clf_log_fn)(void *user, const char *topic, const char *line);

/** What a context is busy with. */
typedef enum clf_stage { CLF_STAGE_LOAD = 0, CLF_STAGE_PLAN = 1, CLF_STAGE_BUILD = 2, CLF_STAGE_RUN = 3, CLF_STAGE_SAVE = 4 } clf_stage;
/** How far it is. Fields are only added, at the end. */
typedef struct clf_progress {
    size_t struct_size;
    clf_stage stage;
    const char *what;        /**< LOAD, SAVE: the file; BUILD: the kernel; else "". owns: until the callback returns */
    uint64_t done, all;      /**< LOAD, SAVE: bytes; PLAN: operators looked at; BUILD: kernels of the plan; RUN: its steps. all 0: not known */
} clf_progress;
/** Is told how far a long call is, and answers whether to stop: non-zero ends the call with CLF_E_CANCELLED, as soon as what is running
 *  has ended. Must not call into the context. thread: the one that made the call. */
typedef int (*clf_progress_fn)(void *user, const clf_progress *p);

#ifdef __cplusplus
}
#endif
#endif
