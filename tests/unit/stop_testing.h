/* SPDX-License-Identifier: Apache-2.0
 * Suites of which the first failure is enough (CLF_TEST_STOP, set by tests/mutants): the program ends with the case that fails. */
#ifndef CLF_TESTS_STOP_TESTING_H
#define CLF_TESTS_STOP_TESTING_H
#include <CUnit/Basic.h>
#include <stdlib.h>
#include <unistd.h>

static inline void stop_after_failure(void) {
    if (getenv("CLF_TEST_STOP") && CU_get_number_of_failures() > 0) _exit(1);
}

static inline CU_pSuite add_suite(const char *name) {
    return CU_add_suite_with_setup_and_teardown(name, NULL, NULL, NULL, stop_after_failure);
}
#endif
