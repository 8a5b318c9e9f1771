/* SPDX-License-Identifier: Apache-2.0
 * Every row of the operator and fold tables on every executor - the reference executor, the host executor for each instruction set of
 * this CPU, OpenCL kernels - against oracles written apart from the library. Without an OpenCL device kernels are skipped. */
#include <CUnit/Basic.h>

#include "tests/oracle/exec_check.h"

int main(void) {
    exec_open();
    for (int e = 0; e < EXEC_N; e++)
        if (!exec_has((exec_id)e)) printf("not here: %s\n", exec_name((exec_id)e));
    CU_initialize_registry();
    CU_pSuite s = CU_add_suite("executors", NULL, NULL);
    CU_add_test(s, "operators", exec_check_ops);
    CU_add_test(s, "truth values of every type", exec_check_bool);
    CU_add_test(s, "casts", exec_check_casts);
    CU_add_test(s, "operands of every kind", exec_check_operands);
    CU_add_test(s, "full folds", exec_check_full_folds);
    CU_add_test(s, "row folds", exec_check_row_folds);
    CU_add_test(s, "column folds", exec_check_col_folds);
    CU_basic_set_mode(CU_BRM_VERBOSE);
    CU_basic_run_tests();
    unsigned failures = CU_get_number_of_failures();
    CU_cleanup_registry();
    exec_close();
    return failures > 0;
}
