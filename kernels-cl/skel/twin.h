/* SPDX-License-Identifier: Apache-2.0
 * What the C twins share: the list of a kernel's arguments, the schedule that follows from the number of chunks or of work-groups,
 * and the way from the writers of holes to a program. A twin is a row of functions over its own plan, whose type only it knows.
 *
 * Arguments are walked once for each thing wanted of them (their number, descriptions, values, the signature), so these cannot differ. */
#ifndef CLF_KERNELS_SKEL_TWIN_H
#define CLF_KERNELS_SKEL_TWIN_H
#include "kernels-cl/skel/cell_text.h"

typedef struct clf_args {
    int64_t *value; /* CLF_SCHED_ARGS sizes; NULL: not wanted, and so below */
    clf_arg_desc *desc;
    clf_str *text; /* the signature, up to the arguments that the skeleton names itself */
    int n, nvalue;
} clf_args;

void clf_args_put(clf_args *w, clf_arg_kind kind, int dtype, int index);
/** A size, in the signature as "nameID"; name NULL: the skeleton's text declares it. */
void clf_args_size(clf_args *w, const char *name, int id, int64_t value);
/** Memory xA of the input that access a reads and the base offset xbA, in elements. */
void clf_args_input(clf_args *w, const clf_cplan *c, int a, int64_t base);
/** Memory oK and base offset obK of every output, then the parameters pK. */
void clf_args_results(clf_args *w, const clf_cplan *c);
/** Scratch, counter and the skeleton's own sizes: the end of the list. */
void clf_args_end(clf_args *w, int n, const int64_t *size);

typedef struct clf_hole {
    const char *name;
    void (*write)(clf_ctext *x);
} clf_hole;

typedef struct clf_twin {
    const clf_skel *skel;
    const char *file;     /* "skel/cell.chunk.cl" */
    const char *constant; /* a macro that the text sees as a number */
    const clf_hole *hole; /* ends with name == NULL; those of full folds are common to all twins and not in it */
    void (*walk)(clf_args *w, const void *plan, int64_t first);
} clf_twin;

/** Has the device the doubles that the cplan's values and folds need? */
bool clf_twin_floats_fit(const clf_cplan *c, const clf_profile *p);

/** Few enough arguments for the device and for a schedule? */
bool clf_twin_args_fit(const clf_twin *t, const void *plan, const clf_profile *profile);

/* Chunks, each a work-item, and their scratch in units of 8 bytes: cbase + chunks * cstride + extra. */
typedef struct clf_twin_grid {
    int64_t chunks, cbase, cstride, extra;
} clf_twin_grid;
/** Fills everything but variant, width, nontemporal, flat, grain and extent. errors: CLF_E_LIMIT when scratch overflows. */
clf_status clf_twin_sched(const clf_twin *t, const void *plan, const clf_twin_grid *g, clf_grid grid, clf_sched *out, clf_err *err);
/** Facts of all chunks become those of the launched ones. */
void clf_twin_share(clf_facts *f, const clf_sched *s, int64_t chunks);

/* Work-groups, of the kernel and of the merge behind it (0: none), and their scratch in units of 8 bytes. */
typedef struct clf_twin_groups {
    int local, index_bits;
    bool flat;
    int64_t groups, merges, words, grain, extent;
    int width; /* cells side by side that a work-item takes; 0: one */
} clf_twin_groups;
/** The whole schedule of these of the groups that the grid takes, or of the merge: everything but variant and nontemporal. */
void clf_twin_group_sched(const clf_twin *t, const void *plan, const clf_twin_groups *g, clf_grid grid, clf_sched *out);
void clf_twin_group_merge(const clf_twin *t, const void *plan, const clf_twin_groups *g, clf_sched *out);
/** As clf_twin_share, and how busy the launched groups keep the device. */
void clf_twin_group_share(clf_facts *f, const clf_sched *s, const clf_twin_groups *g, const clf_profile *profile);

/** x's vectors over values; false: no memory. */
bool clf_twin_text(clf_ctext *x, int nvalue, clf_arena *arena);
clf_status clf_twin_no_memory(const clf_twin *t, clf_err *err);
/** Runs the writers of all holes and puts the program together in arena memory. errors: CLF_E_NOMEM, and those of clf_kernel_expand. */
clf_status clf_twin_write(const clf_twin *t, clf_ctext *x, const void *plan, int constant, const char *kernel_dir, clf_arena *arena,
                          clf_source *out, clf_err *err);
#endif
