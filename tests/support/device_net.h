/* SPDX-License-Identifier: Apache-2.0
 * Random programs on an OpenCL device, many at once. A batch of programs is evaluated in one call, so that their kernels are built in
 * one program, and then every program alone; each result has the interpreter's cells and the host executor's bytes (reals beside sparse
 * leaves: it lies within its bound, as plans may sum over cells or entries). This is done for every strategy of the skeleton table, by the
 * caller's pointers and, where both are asked for, every second batch (with --long every one) through buffers, with all operators fused and,
 * for every fourth batch of these, none (each operator is a kernel then). A program counts for a strategy only if its launch counter rose in
 * the program's own evaluation. Every second batch is planned for host and device, too: a program counts there if both ran loops of it; and
 * every fourth for two devices, where there are two: it counts if kernels ran. Another fourth has its larger kernels split between device
 * and host: it counts if one was, and apart if one over stored entries was. Every sixteenth has groups of 128 and 256 work-items, as a
 * GPU's profile may ask for. */
#ifndef CLF_TESTS_DEVICE_NET_H
#define CLF_TESTS_DEVICE_NET_H
#include "tests/support/pinned_pair.h"
#include "tests/support/plan_classes.h"
#include "tests/support/random_program.h"

enum { DN_BATCH = 50, DN_SETTINGS = 32 };

/* A way to run on the device. */
typedef struct dn_setting {
    char name[96];
    const char *strategy, *fuse; /* strategy NULL: where steps run is planned, for profiles that want both devices */
    int way, every; /* by pointers or buffers; takes every such batch */
    bool two;       /* planned for two OpenCL devices and a host that is bad at all */
    bool split;     /* host and device, or two, have parts of what is large enough to be cut; shares by the seed */
    bool clblast;   /* products by CLBlast, where it is installed */
    bool large;     /* planned for a GPU whose groups are larger than the least */
    clf_ctx *c;
    uint64_t programs; /* whose kernels ran; planned: and whose other loops ran on the host */
    uint64_t entries;  /* split: of which a loop over stored entries was */
} dn_setting;

typedef struct dn_options {
    const char *device; /* as the device setting */
    bool buffers_only;  /* never by pointers */
    int64_t most_cells;
    int nodes;
} dn_options;

typedef struct dn_net {
    dn_options o;
    clf_ctx *host;
    pinned_pair pair, two, large;
    dn_setting setting[DN_SETTINGS];
    int nsetting;
    uint64_t programs, batches;           /* generated; evaluated together */
    uint64_t bounded;                     /* compared with bounds, not bytes */
    plan_classes classes;                 /* of programs evaluated alone, all fused */
    uint64_t kernels, launches, build_ns, evictions; /* of contexts closed by now */
} dn_net;

/** Contexts for the host and every setting. False when one cannot be opened. */
bool dn_open(dn_net *net, const dn_options *o);
void dn_close(dn_net *net);
/** A batch of n programs from this seed on. False after the first failure, which is shrunk and reported. */
bool dn_batch(dn_net *net, uint64_t seed, int n);
/** The fewest programs that any setting has counted, of those that take every batch. */
uint64_t dn_counted(const dn_net *net);
/** Did every kernel of a `group` strategy have at least 64 work-items in a group, some of them two groups, and some more work-items where the
 *  profile wants them? True without any. */
bool dn_groups_are_real(const dn_net *net);
/** Figures of the run: programs, kernels, launches, batches, seconds of building. True if there were loops of every class, plans for
 *  both devices that both ran, and for every strategy that ran by pointers programs through buffers. */
bool dn_figures(dn_net *net, const char *what);
#endif
