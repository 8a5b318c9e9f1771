/* SPDX-License-Identifier: Apache-2.0
 * clfuse: linear-algebra and array expressions as few, fused kernels.
 *
 * A tour:
 *     clf_ctx *c;                                        // 1. open a context: everything hangs off it
 *     clf_open(&c, NULL);
 *     clf_mat *X = clf_load(c, "X.npy");                 // 2. leaves: files, your memory, numbers
 *     clf_mat *w = clf_num(c, 0.5);
 *     clf_mat *s = clf_sum(clf_mul(X, clf_add(X, w)));   // 3. record: nothing is computed yet
 *     double r;
 *     if (clf_read_f64(s, &r) != CLF_OK)                 // 4. ask: plans, fuses, runs
 *         fprintf(stderr, "%s\n", clf_last_error(c));
 *     clf_close(c);                                      // 5. frees every handle of c
 *
 * Handles. Every function that returns a clf_mat* returns a new handle that belongs to the context. clf_free drops one early;
 * clf_epoch_begin / clf_epoch_end drop all that were made in between (what a loop wants). Values are immutable.
 * Errors. A recording function given bad operands returns a *sticky error handle* that carries the first message; expressions nest
 * without checks, and clf_eval / clf_read return the status. Recording functions never return NULL.
 * Threads. Contexts are independent. One context may be used from several threads; evaluation is serialised.
 * Callbacks (allocator, log, release, write, progress) must not call into the context that calls them.
 * Caller memory stays the caller's. fork: a context is unusable in a forked child (CLF_E_STATE), and clf_close does nothing there.
 */
#ifndef CLFUSE_CLFUSE_H
#define CLFUSE_CLFUSE_H
#include <stdbool.h>
#include "clfuse/ops.h"   /* generated from the operator and fold tables: enums and cell constructors */
#include "clfuse/types.h"
#ifdef __cplusplus
extern "C" {
#endif

#define CLF_VERSION_MAJOR 0
#define CLF_VERSION_MINOR 1
#define CLF_VERSION_PATCH 0

typedef struct clf_ctx clf_ctx;
typedef struct clf_fn clf_fn;
/* clf_mat (declared in ops.h): a handle of a recorded or computed matrix or scalar. */

/* ---------------------------------------------------------------- context */

/** Options of clf_open. Set struct_size = sizeof(clf_options); zero means default. API options win over the environment. */
typedef struct clf_options {
    size_t struct_size;
    const char *device;      /**< "host" (device 0), "cpu", "gpu", a number, part of a name; several with commas: by cost on all of these; NULL: by cost */
    const char *fuse;        /**< selector: "none", "all", "nored"; "cost", the cheapest plan, is the default */
    clf_alloc_fn alloc;      /**< allocator hook; NULL: the C library */
    void *alloc_user;
    clf_log_fn log;          /**< receives log lines; NULL: stderr, and only when CLF_LOG is set */
    void *log_user;
    size_t mem_limit;        /**< budget in bytes for matrix data; 0: none */
} clf_options;

/** Library version as "0.1.0". owns: static. */
CLF_API const char *clf_version(void);
/** Open a context. opt may be NULL. OpenCL is not touched before a plan needs it.
 *  errors: CLF_E_ARG or CLF_E_NAME for a bad option or environment value (text: clf_open_error), CLF_E_NOMEM. */
CLF_API clf_status clf_open(clf_ctx **out, const clf_options *opt);
/** Why the last clf_open of this thread failed. owns: thread-local, until the next clf_open of the thread. */
CLF_API const char *clf_open_error(void);
/** Free the context and every handle and function of it. NULL is fine. Borrowed memory is released (callbacks run). */
CLF_API void clf_close(clf_ctx *c);
/** Message of the last failed call on this context, "" if none. owns: context, until the thread's next call on it. */
CLF_API const char *clf_last_error(clf_ctx *c);
/** Change a setting by its environment name or field name (see `clfuse info --env`). errors: CLF_E_NAME, CLF_E_ARG. */
CLF_API clf_status clf_set(clf_ctx *c, const char *knob, const char *value);
/** Have fn told what goes on, and asked whether to go on: before a plan is made and before each part of its search, before every kernel
 *  that is compiled, before every step of a plan, and every MiB of a text file that is read and of any file that is written. NULL: nobody.
 *  What is cancelled can be asked for again: no handle has changed.
 *  errors: CLF_E_ARG c is NULL.  cost: a call of fn each time.  thread: not from within fn. */
CLF_API clf_status clf_set_progress(clf_ctx *c, clf_progress_fn fn, void *user);
/** Walk the settings table: name, environment variable, default and meaning of row i; false past the end. owns: static. */
CLF_API bool clf_knob_info(int i, const char **name, const char **env, const char **def, const char **doc);

/* ---------------------------------------------------------------- leaves */

/** Copy rows x cols elements, row-major. */
CLF_API clf_mat *clf_matrix(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, const void *data);
/** Use caller memory in place: row-major, unchanged until `release` is called or clf_changed declares a change. release may be NULL. */
CLF_API clf_mat *clf_borrow(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, const void *data, clf_release_fn release, void *user);
/** The contents of borrowed memory behind x changed: x becomes a new version. Expressions recorded from now on see the new contents.
 *  Other handles of the leaf (clf_cast to the type that it has) stay with the version before.
 *  A sparse leaf in CSR is checked again, in the same arrays with the same number of entries; until arrays that failed are mended and
 *  declared again, evaluations that need them fail with CLF_E_STATE.
 *  errors: CLF_E_ARG when x is not a borrowed leaf (CSC and COO leaves are not: they are converted); CLF_E_FORMAT as clf_sparse_csr. */
CLF_API clf_status clf_changed(clf_mat *x);
/** An f64 scalar. Scalars never widen a matrix's type. */
CLF_API clf_mat *clf_num(clf_ctx *c, double value);
/** An integer scalar (i64). */
CLF_API clf_mat *clf_int(clf_ctx *c, int64_t value);
/** rows x cols cells of one value. */
CLF_API clf_mat *clf_fill(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, double value);
/** Column from, from+by, ... up to `to` (inclusive within rounding). by == 0 means 1 or -1, whichever leads to `to`. f64. */
CLF_API clf_mat *clf_seq(clf_ctx *c, double from, double to, double by);
/** Uniform numbers in [min, max), a cell being non-zero with probability `sparsity`. Philox4x32-10 keyed by seed, counter = row-major
 *  position: the same numbers on every device. */
CLF_API clf_mat *clf_rand(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, double min, double max, double sparsity, uint64_t seed);

/* Sparse matrices. The zeros of a sparse leaf are *structural*: under `*`, as dividend and in products they give 0 whatever meets them,
 * NaN and Inf included, and cell operators keep that meaning where their result at 0 is 0. So work can be proportional to the entries.
 * With the setting `sparse` = "ieee" they are numbers like any other, and 0 * NaN is NaN. Rows and columns count from 0. */

/** How a sparse matrix is taken. Zero-initialise, then set struct_size. */
typedef struct clf_sparse_options {
    size_t struct_size;
    int offset_bytes;        /**< CSR, CSC: width of the offsets, 8 (default) or 4 */
    int index_bytes;         /**< COO: width of rows and columns, 4 (default) or 8 */
    bool trusted;            /**< CSR, CSC: do not check the arrays. They must be right: kernels index with them */
    bool add;                /**< COO: entries given twice add up, in the order given, instead of being an error */
    bool borrow;             /**< CSR, CSC: use the arrays in place, unchanged until `release` (4-byte offsets are widened into our memory) */
    clf_release_fn release;  /**< borrow: called once, with `values`, when the arrays are done with; not when the call fails. May be NULL */
    void *user;
} clf_sparse_options;
/** rows x cols in compressed rows: columns and values of row i are entries offsets[i] to offsets[i + 1] - 1, columns strictly ascending.
 *  shape: rows + 1 offsets, the first 0, the last nnz; nnz indices and values. Stored zeros are allowed. opt may be NULL.
 *  owns: copied, unless opt->borrow.  cost: O(rows + nnz), also for the check.
 *  errors: CLF_E_FORMAT arrays that are no CSR matrix, naming row and entry (counted from 1); CLF_E_ARG NULL or unaligned arrays, options;
 *  CLF_E_LIMIT more than 2^31 - 1 columns or too many cells; CLF_E_SHAPE, CLF_E_TYPE, CLF_E_NOMEM. */
CLF_API clf_mat *clf_sparse_csr(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz, const void *offsets, const int32_t *indices,
                                const void *values, const clf_sparse_options *opt);
/** rows x cols in compressed columns: cols + 1 offsets, indices are rows, strictly ascending in each column. Converted to rows once;
 *  the arrays given (or their copy) stay with it as what products with the transpose use.
 *  errors: as clf_sparse_csr, with columns and rows exchanged, and the same limit for both extents. */
CLF_API clf_mat *clf_sparse_csc(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz, const void *offsets, const int32_t *indices,
                                const void *values, const clf_sparse_options *opt);
/** rows x cols from nnz triples in any order. owns: copied.  cost: O(rows + cols + nnz).
 *  errors: CLF_E_FORMAT an index out of range, or a cell given twice without opt->add; else as clf_sparse_csr. */
CLF_API clf_mat *clf_sparse_coo(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz, const void *row, const void *col,
                                const void *values, const clf_sparse_options *opt);
/** x, evaluated now, stored as dense cells or as CSR (the cells that are not 0): a new leaf of the same meaning, whatever its zeros are.
 *  x itself when it is stored so already. Of a clf_rand not yet evaluated, clf_to_sparse never makes the dense cells. */
CLF_API clf_mat *clf_to_dense(clf_mat *x);
CLF_API clf_mat *clf_to_sparse(clf_mat *x);

/** How clf_load reads. Zero-initialise, then set struct_size. */
typedef struct clf_load_options {
    size_t struct_size;
    const char *type;    /**< "npy" "csv" "mtx" "svm"; NULL: by the file's ending */
    const char *label;   /**< csv: label column by header name or 1-based number; svm: any non-NULL text */
    const char *na;      /**< missing csv cells: "error" (default), "drop" the row, "nan" */
} clf_load_options;
/** Read a file (.npy .csv .mtx .svm). Coordinate .mtx and .svm files become sparse leaves. */
CLF_API clf_mat *clf_load(clf_ctx *c, const char *path);
/** Read a file with options; labels (may be NULL) receives the label column's handle. */
CLF_API clf_mat *clf_load_with(clf_ctx *c, const char *path, const clf_load_options *opt, clf_mat **labels);
/** Evaluate and write x to .npy, .csv, .mtx (sparse: coordinate, else array) or, sparse, .svm. type NULL: by the ending. */
CLF_API clf_status clf_save(clf_mat *x, const char *path, const char *type);

/* ---------------------------------------------------------------- recording
 * Cell operators (clf_add, clf_exp, clf_ifelse, ...) are in clfuse/ops.h. Operands broadcast: a scalar, a 1x1 matrix, an n x 1 or a
 * 1 x m vector against n x m; n x 1 with 1 x m is an error (use clf_outer). */

/** A cell operator by its code; unused operands NULL. */
CLF_API clf_mat *clf_apply(clf_op_code op, clf_mat *a, clf_mat *b, clf_mat *x);
/** n x 1 column u and 1 x m row (or m x 1 column) v: the n x m matrix of op(u_i, v_j). */
CLF_API clf_mat *clf_outer(clf_op_code op, clf_mat *u, clf_mat *v);
/** x in another element type; of a leaf that has that type already the same leaf, not a copy. */
CLF_API clf_mat *clf_cast(clf_mat *x, clf_dtype t);
/** 1x1 matrix to scalar, and back; of a leaf that is so already the same leaf. */
CLF_API clf_mat *clf_as_scalar(clf_mat *x);
CLF_API clf_mat *clf_as_matrix(clf_mat *x);
CLF_API clf_mat *clf_t(clf_mat *x);
CLF_API clf_mat *clf_matmul(clf_mat *a, clf_mat *b);
/** Over all cells (a scalar), over each row (n x 1) or over each column (1 x m). */
typedef enum clf_dir { CLF_ALL = 0, CLF_ROWS = 1, CLF_COLS = 2 } clf_dir;
CLF_API clf_mat *clf_fold(clf_fold_code f, clf_dir dir, clf_mat *x);
CLF_API clf_mat *clf_sum(clf_mat *x);
CLF_API clf_mat *clf_mean(clf_mat *x);
CLF_API clf_mat *clf_row_sums(clf_mat *x);
CLF_API clf_mat *clf_col_sums(clf_mat *x);
/** Cumulative CLF_FOLD_CODE_SUM, PROD, MIN or MAX down the columns. */
CLF_API clf_mat *clf_cum(clf_fold_code f, clf_mat *x);
/** Rows r0..r1 and columns c0..c1, 1-based and inclusive. r1 == 0: to the last row; c1 == 0: to the last column. */
CLF_API clf_mat *clf_index(clf_mat *x, int64_t r0, int64_t r1, int64_t c0, int64_t c1);
CLF_API clf_mat *clf_cbind(clf_mat *a, clf_mat *b);
CLF_API clf_mat *clf_rbind(clf_mat *a, clf_mat *b);
/** Column vector: diagonal matrix; square matrix: its diagonal as a column. */
CLF_API clf_mat *clf_diag(clf_mat *x);
/** Same cells in row-major order, other shape. A matrix in memory is not copied for it. */
CLF_API clf_mat *clf_reshape(clf_mat *x, int64_t rows, int64_t cols);
CLF_API clf_mat *clf_rev(clf_mat *x);
/** Stable sort by 1-based column `by`: the rows, or (index true) their 1-based positions. */
CLF_API clf_mat *clf_order(clf_mat *x, int64_t by, bool decreasing, bool index);
/** Derivatives of a scalar loss by wrt[0..n), recorded like anything else: out[i] becomes a new handle of what the derivative by every
 *  cell of wrt[i] is. One sweep for all of them (reverse accumulation: Griewank and Walther, Evaluating Derivatives, section 3.2);
 *  evaluated together with the loss they share its passes over the data.
 *  shape: loss a scalar or 1x1, f32 or f64; out[i] has the shape and type of wrt[i], which may be any recorded f32 or f64 handle, also
 *  one in the middle of the program: the derivative is then by its value. Equal expressions are one. What the loss does not depend on
 *  gives zeros, and so does what lies before a value: an evaluated handle is a constant for what was recorded with it.
 *  Derivatives by a sparse matrix are by all its cells. Structural zeros stay zeros that annihilate: in sum((X != 0) * (X - U %*% t(V))^2)
 *  the derivatives by U and V are products with a matrix that has the entries of X.
 *  Where there is no derivative: comparisons, rounding, sign, %/% and positions have derivative 0; abs 0 at 0; min and max of two
 *  operands belong to the first where they are equal; an aggregate min or max is shared evenly among the cells that attain it; a test of
 *  ifelse is a constant, and what was not chosen is multiplied by 0. Powers by the exponent are taken as 0 where the base is not positive.
 *  Sorted rows carry their derivatives back. The derivative is that of the formula: 0 times an infinite one is NaN.
 *  errors: each out[i] is a sticky error handle, and its status is returned: CLF_E_SHAPE, CLF_E_TYPE loss or variables of another kind;
 *  CLF_E_STATE a loss that is a value already; CLF_E_ARG a variable that is missing or a number; CLF_E_UNSUPPORTED cummin and cummax;
 *  CLF_E_NOMEM. Without a loss or wrt there is no context for a handle: CLF_E_ARG, and out[i] is NULL. */
CLF_API clf_status clf_grad(clf_mat *loss, size_t n, clf_mat *const *wrt, clf_mat **out);
/** Rows that are not 0: see the language; x with every cell equal to pattern replaced (NaN matches NaN): clf_replace in ops.h. */

/* ---------------------------------------------------------------- results */

/** Evaluate several results as one program; each handle keeps its value from then on. Large ones may stay on a device with memory of its own
 *  until something on the host reads them (clf_read, clf_data and the like; CLF_RESULTS=host: not): if that device fails before, reading
 *  them is CLF_E_DEVICE. */
CLF_API clf_status clf_eval(size_t n, clf_mat *const *results);
/** Evaluate and copy all cells, row-major, in x's own element type; a sparse value is written out into `out`.
 *  errors: CLF_E_ARG when bytes is not exactly the size. */
CLF_API clf_status clf_read(clf_mat *x, void *out, size_t bytes);
/** Evaluate a scalar or 1x1 matrix. */
CLF_API clf_status clf_read_f64(clf_mat *x, double *out);
/** Evaluate and give the address of the cells, row-major, valid as long as the handle. The cells of a sparse value are made at the first
 *  call and kept with it (clf_read needs no such memory). errors: also CLF_E_NOMEM, naming shape and entries. */
CLF_API clf_status clf_data(clf_mat *x, const void **out);
/** Evaluate and give the value in compressed rows: rows + 1 offsets, *nnz indices (columns) and values of x's type, valid as long as the
 *  handle. The entries of a dense value (its cells that are not 0) are found at the first call and kept with it. Any output may be NULL. */
CLF_API clf_status clf_data_csr(clf_mat *x, int64_t *nnz, const int64_t **offsets, const int32_t **indices, const void **values);
/** Evaluate and count the cells that are not 0, exactly: NaN counts, -0 and stored zeros do not. */
CLF_API clf_status clf_nnz(clf_mat *x, int64_t *out);
/** Shape and type. For an error handle: its status. Any output may be NULL. */
CLF_API clf_status clf_info(const clf_mat *x, int64_t *rows, int64_t *cols, clf_dtype *t, bool *scalar);
/** What is known of how a handle's value is stored, without evaluating it. Set struct_size. */
typedef struct clf_storage {
    size_t struct_size;
    const char *format;      /**< "dense", "csr"; "none" before evaluation. owns: static */
    int64_t nnz;             /**< csr: entries stored; else an estimate of the cells that are not 0, at most rows * cols */
    bool structural;         /**< its zeros annihilate (see clf_sparse_csr) */
    bool borrowed;           /**< memory of the caller's */
    uint64_t bytes;          /**< of the cells or the three arrays; 0 for "none" */
} clf_storage;
/** errors: of an error handle its status; CLF_E_ARG when struct_size is not set. */
CLF_API clf_status clf_storage_of(const clf_mat *x, clf_storage *out);
/** Status and message of a handle: CLF_OK and "" for a good one. */
CLF_API clf_status clf_status_of(const clf_mat *x, const char **message);
/** Give a leaf or parameter a name that explain shows. owns: copied. errors: CLF_E_ARG for anything else. */
CLF_API clf_status clf_label(clf_mat *x, const char *name);
CLF_API clf_ctx *clf_ctx_of(const clf_mat *x);
CLF_API void clf_free(clf_mat *x);
/** A mark; clf_epoch_end frees every handle made since, except those clf_keep was called on. Epochs nest. */
CLF_API size_t clf_epoch_begin(clf_ctx *c);
CLF_API void clf_epoch_end(clf_ctx *c, size_t mark);
CLF_API clf_mat *clf_keep(clf_mat *x);

/* ---------------------------------------------------------------- functions */

/** A parameter of a function: rows x cols of type t; rows == 0 && cols == 0 with scalar true for a scalar. */
CLF_API clf_mat *clf_param(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, bool scalar);
/** A parameter whose arguments are sparse, with about nnz entries. The parameter decides what zeros mean and which format its function
 *  works on: an argument stored otherwise is converted once and its conversion kept with it. errors: as clf_sparse_csr. */
CLF_API clf_mat *clf_param_sparse(clf_ctx *c, clf_dtype t, int64_t rows, int64_t cols, int64_t nnz);
/** Record once, run many times. Results may share work. The handles may be freed afterwards. */
CLF_API clf_status clf_fn_new(clf_ctx *c, size_t nparams, clf_mat *const *params, size_t nresults, clf_mat *const *results, clf_fn **out);
/** Run. args must have the parameters' shapes and types. outs[i] receives a new handle with the value, or, when *outs[i] is a
 *  handle of an earlier result of the same shape and type that nobody else uses, its memory is used again. errors: CLF_E_SHAPE, CLF_E_TYPE... */
CLF_API clf_status clf_call(clf_fn *f, size_t nargs, clf_mat *const *args, size_t nouts, clf_mat **outs);
CLF_API void clf_fn_free(clf_fn *f);

/* Compiling. A kernel takes a tenth of a second and more to compile. With the setting `compile` = "background", the default, evaluations
 * never wait for that: the host executor runs what has no kernel yet, and worker processes compile what pays by its number of runs.
 * With "wait" every evaluation waits for its kernels; with "off" there are none. Settings that ask for kernels (`tier`, `strategy`,
 * `check`) wait, and so do contexts on a caller's queue. */

/** Open the devices and ask for every kernel of f, whether it pays or not; with "wait" they are there afterwards.
 *  errors: as clf_call, of planning. cost: that of opening OpenCL, once a context; the compiling goes on in the background. */
CLF_API clf_status clf_warm(clf_fn *f);
/** Kernels asked for in the background since the devices were opened; CLBlast on a device counts as one. Set struct_size. */
typedef struct clf_compiling {
    size_t struct_size;
    uint64_t asked, built, failed, cancelled; /**< failed: did not compile, or crashed the compiler; never tried again */
    uint64_t waiting;                         /**< not come yet */
} clf_compiling;
/** How far the compiling is. errors: CLF_E_ARG when struct_size is not set. thread: any; waits for an evaluation under way. */
CLF_API clf_status clf_compile_progress(clf_ctx *c, clf_compiling *out);
/** Wait until nothing is being compiled, or loaded from the disk, for ms milliseconds at most. True when that is so. thread: evaluations go on meanwhile. */
CLF_API bool clf_compile_wait(clf_ctx *c, int64_t ms);
/** Give up kernels that are being compiled in the background; the workers end at once. They may be asked for again by clf_warm. */
CLF_API void clf_compile_cancel(clf_ctx *c);

/* ---------------------------------------------------------------- language */

/** Variables of a program. */
typedef struct clf_binding { const char *name; clf_mat *value; } clf_binding;
/** One result of clf_parse: bare expressions have name "". owns: name belongs to the context. */
typedef struct clf_result { const char *name; clf_mat *value; bool bare; bool used; } clf_result;
/** Record a program in our language (docs/language.md). results receives up to *nresults entries in order of statements: bare
 *  expressions and bound names (a rebound name once, with its last value; used: read by a later statement); *nresults becomes
 *  their number. errors: CLF_E_SYNTAX, CLF_E_NAME with line and column; CLF_E_LIMIT when results does not hold them all. */
CLF_API clf_status clf_parse(clf_ctx *c, const char *text, const clf_binding *vars, size_t nvars, clf_result *results, size_t *nresults);
/** A function from a program: its bare expressions are the results, in their order; the first nparams of vars are the parameters (handles
 *  of clf_param or clf_param_sparse), the others are captured.  errors: as clf_parse and clf_fn_new. */
CLF_API clf_status clf_fn_parse(clf_ctx *c, const char *text, size_t nparams, const clf_binding *vars, size_t nvars, clf_fn **out);
/** One expression to one handle (sticky errors). */
CLF_API clf_mat *clf_expr(clf_ctx *c, const char *text, const clf_binding *vars, size_t nvars);

/* ---------------------------------------------------------------- seeing what happens */

typedef enum clf_explain_format { CLF_TEXT = 0, CLF_DOT = 1, CLF_SVG = 2, CLF_JSON = 3 } clf_explain_format;
enum { CLF_EXPLAIN_ANALYZE = 1, CLF_EXPLAIN_MEMO = 2, CLF_EXPLAIN_KERNEL = 4 };
/** Receives text in pieces. */
typedef void (*clf_write_fn)(void *user, const char *text, size_t n);
/** Show the plan of several results: steps, bytes, predicted times, alternatives, reasons. ANALYZE also runs it and shows measured times. */
CLF_API clf_status clf_explain(size_t n, clf_mat *const *results, clf_explain_format format, unsigned flags, clf_write_fn write, void *user);
/** The same for a machine that need not be there: profile files as devices, the first being device 0, at most 8. Nothing is opened, built or
 *  run. errors: CLF_E_IO, CLF_E_FORMAT of a file; CLF_E_ARG with ANALYZE. */
CLF_API clf_status clf_explain_for(size_t nprofile, const char *const *profile, size_t n, clf_mat *const *results, clf_explain_format format,
                                   unsigned flags, clf_write_fn write, void *user);

/** Counters of a context, ever increasing. Set struct_size. */
typedef struct clf_stats {
    size_t struct_size;
    uint64_t evaluations, plans, plan_hits;       /**< clf_eval and clf_call; plans made; plan cache hits */
    uint64_t kernels_built, kernel_hits;          /**< distinct programs compiled; found in the cache */
    uint64_t launches_tier0, launches_tier1, launches_tier2; /**< host executor; generic kernels; specialised kernels */
    uint64_t launches_chunk, launches_group, launches_ref, launches_library, launches_callout;
    uint64_t waits;                               /**< times the caller waited for a device */
    uint64_t plan_ns, build_ns, run_ns;           /**< planning; writing, compiling or loading kernels; running: each without the others */
    uint64_t bytes_read, bytes_written;           /**< streamed by fused steps, as counted by the executors */
    uint64_t retries, fallbacks, devices_lost;    /**< evaluations run again after a failure; planned another way; devices given up */
    uint64_t launches_rows, launches_convert;     /**< of tier 0: in row form; conversions between formats */
    uint64_t predicted_ns;                        /**< what the plans that ran said run_ns would grow by */
    uint64_t kernels_loaded;                      /**< of kernel_hits: taken from the disk, where an earlier process had kept them */
    uint64_t bytes_to_device, bytes_from_device, evictions; /**< copied to devices that do not share our memory, and back; copies dropped there for others */
    uint64_t launches_meanwhile;                  /**< of tier 0: of steps whose kernel was not compiled yet */
    uint64_t launches_split;                      /**< steps that the host and one or two devices ran together; each counts there, too */
    uint64_t launches_clblast;                    /**< of launches_library: products by CLBlast on a device */
} clf_stats;
CLF_API clf_status clf_get_stats(clf_ctx *c, clf_stats *out);
/** Memory of a context in bytes. Set struct_size. */
typedef struct clf_mem_stats { size_t struct_size; uint64_t now, peak, data, pooled, borrowed, limit, device; /**< device: copies there */ } clf_mem_stats;
CLF_API clf_status clf_get_mem_stats(clf_ctx *c, clf_mem_stats *out);
/** Give pooled memory back. */
CLF_API void clf_trim(clf_ctx *c);

/** A device as seen by the context; index 0 is the host executor. Set struct_size. */
typedef struct clf_device {
    size_t struct_size;
    int index;
    const char *name, *kind, *driver;    /**< owns: context, until the next clf_set */
    unsigned compute_units;
    uint64_t mem_bytes, max_alloc_bytes;
    bool fp64, zero_copy, measured;
    double read_gb_per_s, launch_us;
    bool chosen;                         /**< what "first device" or the device setting selects; several where that names several */
    const char *library;                 /**< for products that stand alone: "openblas", "own", "clblast"; "" where there is none */
} clf_device;
/** Device i; false past the last. Loads OpenCL. */
CLF_API bool clf_device_at(clf_ctx *c, int i, clf_device *out);
/** The figures that plans for device i are made with, as a profile file has them. errors: CLF_E_NODEV no such device, CLF_E_NOMEM. */
CLF_API clf_status clf_device_profile(clf_ctx *c, int i, clf_write_fn write, void *user);
/** Why there is no OpenCL device, "" if there is one. */
CLF_API const char *clf_device_why(clf_ctx *c);
/** Measure every device (under 10 s) and store the profiles. */
CLF_API clf_status clf_calibrate(clf_ctx *c);

/* ---------------------------------------------------------------- kernels on disk
 * Built kernels, and plans that were searched, are kept in a folder for later processes (settings cache, cache_dir, cache_bytes). These
 * calls look after the folder; evaluations need none of them, and other processes may use it meanwhile. Kernels built together share one
 * file. */

/** One file of the folder. */
typedef struct clf_cache_entry {
    size_t struct_size;
    const char *name;             /**< what it is called there */
    const char *kernel;           /**< the kernel's name; "" for the program of several, for a plan, and for a damaged file */
    const char *device, *driver;  /**< one line each */
    const char *text;             /**< the kernel's program; of several kernels, the names of their files, one a line */
    uint64_t bytes, binary_bytes; /**< of the file; of the driver's binary in it, 0 where the file names another one that holds it */
    int64_t used_s;               /**< last use, in seconds since 1970, to the minute */
    bool sound;                   /**< false: it is damaged, or not to be trusted, and no driver will see it */
    bool plan;                    /**< it holds no kernel but a plan that was searched; text: the program */
} clf_cache_entry;
typedef void (*clf_cache_fn)(void *user, const clf_cache_entry *e);
/** Tell every file, the one used last first; with `repair` files that are not sound are removed behind that. No folder yet: none.
 *  owns: what an entry points to is gone when fn returns. errors: CLF_E_IO when the folder is not ours alone, naming it; CLF_E_NOMEM. */
CLF_API clf_status clf_cache_list(clf_ctx *c, bool repair, clf_cache_fn fn, void *user);
/** Remove the files not used for longest until at most keep_bytes are left: 0 removes all, what the driver keeps for itself, too, unless a
 *  process has the driver open (this one counts): that stays then. Safe while other processes write. *files and *bytes (may be NULL)
 *  receive what was removed. errors: CLF_E_IO when the folder cannot be written, saying why; CLF_E_NOMEM. */
CLF_API clf_status clf_cache_prune(clf_ctx *c, uint64_t keep_bytes, uint64_t *files, uint64_t *bytes);
/** The folder, "" if there is none to be had. *why (may be NULL) receives why kernels are not kept there, "" if they are: as the device
 *  layer found it, or as it would find it now. owns: context, until the next call of this function. */
CLF_API const char *clf_cache_folder(clf_ctx *c, const char **why);

#ifdef __cplusplus
}
#endif
#endif
