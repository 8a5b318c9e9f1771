/* SPDX-License-Identifier: Apache-2.0
 * The tool `clfuse`: a user of the library like any other, on the public headers alone.
 *   main.c     which subcommand            options.c  the command line, from one table
 *   run.c explain.c info.c bench.c convert.c cache.c doctor.c (and doctor_*.c)   the subcommands
 *   source.c powerlaw.c   --in: where values come from   text.c  programs and files
 *   bundle.c replay.c     a program with shapes instead of data, and running it again   progress.c  a line for those who wait
 *   print.c    results as text and as JSON    fail.c  error lines and exit codes */
#ifndef CLFUSE_TOOL_H
#define CLFUSE_TOOL_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "clfuse/clfuse.h"

/* Exit codes that scripts rely on. */
typedef enum tool_exit {
    TOOL_OK = 0,
    TOOL_CHECK = 1,     /* a result failed its check */
    TOOL_USAGE = 2,     /* command line, syntax, unknown name */
    TOOL_MISSING = 3,   /* no usable device, missing component */
    TOOL_FAILED = 4     /* everything else */
} tool_exit;

/** Print "clfuse: ..." as one line on stderr and return code. */
tool_exit tool_fail(tool_exit code, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/** The exit code that a status means. */
tool_exit tool_exit_of(clf_status st);
/** The same for what a library call returned; `where` ("" for none) is put before the library's message. */
tool_exit tool_fail_status(clf_ctx *c, clf_status st, const char *where);
/** A line worth knowing that is no error, on stderr. */
void tool_note(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#define TOOL_TRY(x)                                  \
    do {                                             \
        tool_exit tool_try_ = (x);                   \
        if (tool_try_ != TOOL_OK) return tool_try_;  \
    } while (0)

/* NAME[,NAME]=TEXT of --in, --out and --dims. */
typedef struct tool_pair {
    char *name, *second;    /* second: the labels' name, or NULL */
    const char *text;
    const char *type;       /* --type given for it */
} tool_pair;
typedef struct tool_pairs {
    tool_pair *at;
    size_t n;
} tool_pairs;

enum { TOOL_PROFILES = 8 };
typedef struct tool_options {
    const char *device, *fuse, *tier, *strategy, *dtype;    /* everywhere */
    const char *program;                                    /* -e */
    const char *file, *to;                                  /* the program's file; convert: from and to; cache: what to do, and with what */
    const char *max;                                        /* cache */
    const char *type, *label;                               /* convert */
    tool_pairs in, out, dims;
    const char *na, *head, *format, *output;
    const char *profile[TOOL_PROFILES];                     /* explain plans for these as devices */
    size_t nprofile;
    const char *bundle;                                     /* run: write one */
    struct tool_bundle *replay;                             /* what --synthetic has read; owned */
    bool explain, json, analyze, memo, kernel, env, calibrate, help, synthetic;
    bool explains;                                          /* the subcommand is explain */
    long head_rows;                                         /* -1: all */
} tool_options;

enum { TOOL_RUN = 1, TOOL_EXPLAIN = 2, TOOL_INFO = 4, TOOL_DOCTOR = 8, TOOL_CONVERT = 16, TOOL_CACHE = 32 };
/** A copy of a name at the end of the list. */
tool_exit tool_pairs_add(tool_pairs *list, const char *name);
/** Read argv[first..]. command: one of the above. owns: tool_options_release, also after a failure. */
tool_exit tool_options_read(tool_options *o, unsigned command, int argc, char **argv, int first);
void tool_options_release(tool_options *o);
/** Open a context as the options say. */
tool_exit tool_open(const tool_options *o, clf_ctx **out);

/** Have stderr, when it is a terminal, say what takes long. */
void tool_progress(clf_ctx *c);
/** Take that line away, before something else is said or the tool ends. */
void tool_progress_wipe(void);

/** The program's text, from -e or the file. owns: caller, free(). */
tool_exit tool_program(const tool_options *o, char **text);
/** How messages call the place the program came from: "" for -e, "FILE: " for a file. */
const char *tool_program_name(const tool_options *o, char *buf, size_t n);

/* The variables of a program. */
typedef struct tool_vars {
    clf_binding *at;
    size_t n;
} tool_vars;
/** Bind every --in and --dims. owns: free(vars->at), also after a failure. */
tool_exit tool_bind(clf_ctx *c, const tool_options *o, tool_vars *vars);

/** x as a sparse leaf, as if it came from a file: its zeros are not numbers. x is given up; a failure is in the handle. */
clf_mat *tool_sparse_leaf(clf_ctx *c, clf_mat *x);
/** A sparse leaf with about share * rows * cols entries in (0, 1], by a power law. */
tool_exit tool_powerlaw(clf_ctx *c, int64_t rows, int64_t cols, double share, uint64_t seed, clf_mat **out);

/* A parsed program. */
typedef struct tool_results {
    clf_result *at;
    size_t n;
} tool_results;
/** Bind, read and parse. owns: free(r->at), free(vars->at), also after a failure. */
tool_exit tool_parse(clf_ctx *c, const tool_options *o, tool_vars *vars, tool_results *r);

/* What stands for a number whose value is in no bundle. */
#define TOOL_SOME_NUMBER 1.5
/** Write o->bundle: the program, what its variables look like, the settings, profiles and the plan. */
tool_exit tool_bundle_write(clf_ctx *c, const tool_options *o, const tool_vars *vars);
/** What run evaluates of a program's results: those to print and those of --out. root: room for n. Gives their number. */
size_t tool_bundle_roots(const tool_options *o, const clf_result *r, size_t n, clf_mat **root);
/** With --synthetic: read the bundle o->file, whose program and settings become the options'. */
tool_exit tool_replay_read(tool_options *o);
void tool_replay_release(tool_options *o);
/** Settings of the bundle that options do not have. */
tool_exit tool_replay_open(clf_ctx *c, const tool_options *o);
/** Bind made-up data. owns: free(vars->at), also after a failure. */
tool_exit tool_replay_bind(clf_ctx *c, const tool_options *o, tool_vars *vars);
/** All of a file, terminated. owns: caller, free(). */
tool_exit tool_read_file(const char *path, const char *what, char **text, size_t *n);

/** Print an evaluated value as text; head < 0: all rows. */
tool_exit tool_print(FILE *f, clf_mat *x, long head);
/** Print evaluated results as the document of `run --json`. */
tool_exit tool_print_json(FILE *f, const clf_result *const *r, size_t n, double time_ms);
/** A number of bytes for people, "1.5 MiB"; "-" beyond every machine, which means that no limit is known. */
void tool_size_text(char *buf, size_t n, uint64_t bytes);
/** A JSON string, quotes included. */
void tool_json_string(FILE *f, const char *s);

tool_exit tool_run(int argc, char **argv);
tool_exit tool_explain(int argc, char **argv);
tool_exit tool_info(int argc, char **argv);
tool_exit tool_doctor(int argc, char **argv);
tool_exit tool_convert(int argc, char **argv);
tool_exit tool_cache(int argc, char **argv);
tool_exit tool_bench(int argc, char **argv);
extern const char tool_usage[];
#endif
