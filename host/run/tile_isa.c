/* SPDX-License-Identifier: Apache-2.0
 * Which build of the tile loops runs: the best one the CPU has, or the best below what was asked for. */
#include "host/run/tile_isa.h"

extern const clf_cell_table clf_cell_table_baseline;
extern const clf_fold_table clf_fold_table_baseline;
extern const clf_row_table clf_row_table_baseline;
extern const clf_pair_table clf_pair_table_baseline;
#if defined(__x86_64__)
extern const clf_cell_table clf_cell_table_avx2, clf_cell_table_avx512;
extern const clf_fold_table clf_fold_table_avx2, clf_fold_table_avx512;
extern const clf_row_table clf_row_table_avx2, clf_row_table_avx512;
extern const clf_pair_table clf_pair_table_avx2, clf_pair_table_avx512;

static bool has_avx2(void) { return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"); }
static bool has_avx512(void) {
    return has_avx2() && __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("avx512vl");
}
#endif

clf_isa clf_isa_pick(clf_isa want) {
#if defined(__x86_64__)
    if ((want == CLF_ISA_AUTO || want == CLF_ISA_AVX512) && has_avx512()) return CLF_ISA_AVX512;
    if (want != CLF_ISA_BASELINE && has_avx2()) return CLF_ISA_AVX2;
#endif
    (void)want;
    return CLF_ISA_BASELINE;
}

const char *clf_isa_name(clf_isa isa) {
    static const char *const names[] = {"auto", "baseline", "avx2", "avx512"};
    return (unsigned)isa < sizeof names / sizeof *names ? names[isa] : "?";
}

clf_isa_table clf_isa_loops(clf_isa isa) {
#if defined(__x86_64__)
    if (isa == CLF_ISA_AVX512)
        return (clf_isa_table){&clf_cell_table_avx512, &clf_fold_table_avx512, &clf_row_table_avx512, &clf_pair_table_avx512};
    if (isa == CLF_ISA_AVX2) return (clf_isa_table){&clf_cell_table_avx2, &clf_fold_table_avx2, &clf_row_table_avx2, &clf_pair_table_avx2};
#endif
    (void)isa;
    return (clf_isa_table){&clf_cell_table_baseline, &clf_fold_table_baseline, &clf_row_table_baseline, &clf_pair_table_baseline};
}
