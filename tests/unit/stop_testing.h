/* SPDX-License-Identifier: Apache-2.0
 * Suites of which the first failure is enough (CLF_TEST_STOP, set by tests/mutants): the program ends with the case that fails.
 * CLF_TEST_CASE: only the case of this name. */
#ifndef CLF_TESTS_STOP_TESTING_H
#define CLF_TESTS_STOP_TESTING_H
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static inline void stop_after_failure(void) {
    if (getenv("CLF_TEST_STOP") && CU_get_number_of_failures() > 0) _exit(1);
}

static inline CU_pSuite add_suite(const char *name) {
    return CU_add_suite_with_setup_and_teardown(name, NULL, NULL, NULL, stop_after_failure);
}

static inline CU_pTest add_case(CU_pSuite suite, const char *name, CU_TestFunc run) {
    const char *only = getenv("CLF_TEST_CASE");
    return only && *only && strcmp(only, name) ? NULL : CU_add_test(suite, name, run);
}
#define CU_add_test add_case
#endif
