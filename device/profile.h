/* SPDX-License-Identifier: Apache-2.0
 * A device profile: what the cost model knows of a device, as plain numbers with units. Measured once per machine and stored as
 * text ("key value" lines), or assumed. The planner reads this and never sees OpenCL. */
#ifndef CLF_DEVICE_PROFILE_H
#define CLF_DEVICE_PROFILE_H
#include <math.h>

#include "core/err.h"
#include "core/op.h"
#include "core/str.h"
enum { CLF_PROFILE_TIERS = 4, CLF_PROFILE_NAME = 128 };
enum { CLF_GROUP_CELLS, CLF_GROUP_ROWS, CLF_GROUP_ENTRIES, CLF_GROUP_KINDS }; /* what the loops of a GPU go over, in groups of work-items */
typedef enum clf_device_kind { CLF_DEV_HOST, CLF_DEV_CPU, CLF_DEV_GPU } clf_device_kind;
typedef struct clf_profile {
    char name[CLF_PROFILE_NAME];
    char driver[CLF_PROFILE_NAME];
    int kind;                     /* clf_device_kind */
    int cores;
    int zero_copy;                /* caller memory is used in place */
    int fp64;
    int assumed;                  /* 1: conservative figures, not measured */
    double tier_bytes[CLF_PROFILE_TIERS];      /* working sets up to this size ... */
    double read_bytes_per_s[CLF_PROFILE_TIERS];/* ... stream at this rate (all cores); the last tier is DRAM */
    double write_cost;            /* written bytes cost this many times read bytes (with non-temporal stores where used) */
    double cells_per_s[2][CLF_NCLASSES];       /* [0] f32 [1] f64, all cores, per cost class */
    double fma_per_s[2];          /* multiply-adds of products in loops, operands in cache: [0] f32 [1] f64, all cores */
    double tile_fma_per_s[2];     /* those of products whose sums stay in registers, a tile at a time; 0: the device has no such loops */
    double overlap;               /* of computing and moving bytes, the part of the shorter that goes on during the longer: 0 to 1 */
    double row_alone;             /* of what sums and products in rows of cells compute, the part that goes on while nothing is moved: 0 to 1;
                                     measured of the host alone */
    double entry_alone;           /* the same of rows of stored entries: of visiting them, and of what is begun in a row or at an entry */
    double registers;             /* values that a work-item keeps while the device is full; more, and fewer run at a time. 0: no matter */
    double unit_groups;           /* work-groups that a compute unit runs at a time while it is full; 0: grids of any size fill the device */
    double group_cells;           /* cells, or stored entries, that one of them computes */
    double group_sum_bytes, unit_local_bytes;  /* local memory: of a group for each sum of its loop; of a compute unit, 0: no matter */
    double group_items[CLF_GROUP_KINDS];       /* work-items of a group: 64, 128 or 256; 0: as assumed, 256 */
    double item_cells[2];         /* neighbouring cells that a work-item loads at once, 1, 2 or 4: [0] f32 and narrower [1] f64, i64;
                                     0: as assumed, 16 bytes of them on a GPU, else one */
    double rows_at_once;          /* rows of less than a page that a loop on a CPU takes side by side, 1, 2 or 4: several are streams within
                                     the same few pages, which not every processor foresees; 0: as assumed, one */
    double row_ns;                /* one more fold of a row, or of the columns by a row, beside its cells; all cores */
    double dot_ns;                /* one more product of a row, beside its multiply-adds; all cores */
    double pair_ns;               /* the same at an entry, several being made at a time */
    double side_ns;               /* a row of a side, times a stored entry and added to sums that stay, beside its multiply-adds; all cores */
    double entry_ns;              /* one stored entry that a loop visits, beside its operators and its bytes; all cores */
    double pick_ns;               /* one value that an entry names, picked into its lane of a vector, beside looking it up; all cores */
    double scatter_ns;            /* one more sum at the place that a stored entry names, the loop visiting it anyway; all cores */
    double entry_row_ns;          /* a fold or product begun in a row of stored entries, beside row_ns or dot_ns; assumed but on the host */
    double locate_ns;             /* one stored entry passed while looking for those of another operand; all cores */
    double gap_ns;                /* one stored entry that ends a range of cells folded in unvisited: by the host; all cores */
    double gather_ns[CLF_PROFILE_TIERS];       /* one access at a random place of as many bytes as clf_profile_reach tells, beside one of the
                                                  first tier; all cores */
    double library_flops_per_s[2];             /* of a large product of the library's: [0] f32 [1] f64, all cores */
    double library_half[2];       /* shortest side at which it reaches half of that; the longest: [0] the sums [1] a side of the result */
    double library_row_ns[2];     /* one row of a matrix times a vector, beside its flops: [0] along the rows [1] summed over them */
    double library_wait_ns[2];    /* one row of 800 bytes or more on its way there, beside streaming it; 0: never longer than that */
    double library_ns;            /* one more product of the library's, before its first flop */
    double gemm_flops_per_s[2];   /* of a large product by a library on the device itself: [0] f32 [1] f64; 0: it has none */
    double gemm_half_cells;       /* cells of a result at which it reaches half of that */
    double gemm_ns;               /* one more of these, before its first flop */
    double convert_cells_per_s, convert_entries_per_s; /* between CSR and cells: cells cleared or searched, entries moved */
    double callout_bytes_per_s, callout_ns;    /* structural operators: bytes read and written; one more of them, or one conversion */
    double launch_async_ns, launch_sync_ns;    /* one more step in flight; one step and a wait */
    double second_core_ns;        /* until the second core helps */
    double transfer_bytes_per_s, transfer_ns;  /* to the device and back; 0 when zero_copy */
    double pinned_bytes_per_s;    /* the same of memory that the driver has locked; 0: not measured */
    double max_alloc_bytes, mem_bytes, max_arg_bytes;
    double llc_bytes;             /* last-level cache: outputs larger than half of it are written past the caches */
} clf_profile;
/** Bytes in which accesses at random places are those of a tier: half of the first, of others the geometric mean of theirs and the one
 *  before. In all of a last-level cache that others use, too, and whose pages are many more than a core keeps addresses of, an access takes
 *  nearly as long as in memory: on a virtual machine with 32 MiB of it (AMD EPYC, Zen 3; both cores) 0.7 ns in 4 MiB, 3.5 in 16, 4.5 in 64. */
static inline double clf_profile_reach(const clf_profile *p, int tier) {
    return tier ? sqrt(p->tier_bytes[tier - 1] * p->tier_bytes[tier]) : p->tier_bytes[0] / 2;
}
/** Conservative figures for a device of this kind. */
void clf_profile_assume(clf_profile *p, clf_device_kind kind, int cores);
/** What the host does for every device: the library's products, conversions, structural operators. Copied from the host's profile; so is
 *  the rate of memory, where a device that is a CPU was seen to read its own more slowly. */
void clf_profile_take_host(clf_profile *p, const clf_profile *host);
void clf_profile_print(const clf_profile *p, clf_str *out);
/** All of it as bytes, which only this process and others of the same machine compare. */
void clf_profile_key(const clf_profile *p, clf_str *out);
/** errors: CLF_E_FORMAT with the line; unknown keys are errors, missing ones keep what *p held. */
clf_status clf_profile_parse(clf_profile *p, const char *text, size_t n, clf_err *err);
/** Seconds to stream `bytes` once when the working set is `set` bytes. */
double clf_profile_stream_s(const clf_profile *p, double bytes, double set);
#endif
