/* SPDX-License-Identifier: Apache-2.0
 * Which loops OpenBLAS is told to run. The loader finds a library that knows no processor in the place of OpenBLAS (CMakeLists.txt). */
#include <CUnit/Basic.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "device/device_internal.h"
#include "tests/unit/api_testing.h"

static const char variable[] = "OPENBLAS_CORETYPE";

/* By what the compiler says of this processor. Who has AVX2 has FMA, and who has these two of AVX-512 has the others. */
static const char *expected(void) {
#if defined __x86_64__
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) return "SkylakeX";
    if (__builtin_cpu_supports("avx2")) return "Haswell";
#endif
    return "Prescott";
}

static void is(void *library, const char *core) {
    CU_ASSERT_PTR_NOT_NULL_FATAL(library);
    CU_ASSERT_STRING_EQUAL(clf_blas_core(library), core);
}

static void test_unknown(void) {
    unsetenv(variable);
    void *library = clf_blas_load();
    is(library, expected());
    CU_ASSERT_PTR_NULL(getenv(variable)); /* other libraries choose for themselves */
    dlclose(library);
}

static void test_second(void) {
    void *first = clf_blas_load(), *second = clf_blas_load();
    is(second, expected());
    dlclose(first);
    is(second, expected());
    dlclose(second);
}

static void test_chosen(void) {
    setenv(variable, "Nehalem", 1);
    void *library = clf_blas_load();
    is(library, "Nehalem");
    dlclose(library);
    setenv(variable, "Prescott", 1);
    library = clf_blas_load();
    is(library, "Prescott");
    CU_ASSERT_STRING_EQUAL(getenv(variable), "Prescott");
    dlclose(library);
    unsetenv(variable);
}

/* What somebody else loaded stays as it is, below his feet. */
static void test_held(void) {
    void *his = dlopen("libopenblas.so.0", RTLD_NOW), *library = clf_blas_load();
    is(his, "Prescott");
    is(library, "Prescott");
    CU_ASSERT_PTR_EQUAL(his, library);
    dlclose(library);
    is(his, "Prescott");
    dlclose(his);
}

static void *load_one(void *out) {
    *(void **)out = clf_blas_load();
    return NULL;
}

static void test_threads(void) {
    enum { THREADS = 8, ROUNDS = 20 };
    for (int round = 0; round < ROUNDS; round++) {
        pthread_t thread[THREADS];
        void *library[THREADS] = {NULL};
        for (int i = 0; i < THREADS; i++) CU_ASSERT_EQUAL_FATAL(pthread_create(&thread[i], NULL, load_one, &library[i]), 0);
        for (int i = 0; i < THREADS; i++) pthread_join(thread[i], NULL);
        for (int i = 0; i < THREADS; i++) is(library[i], expected());
        for (int i = 0; i < THREADS; i++) dlclose(library[i]);
    }
}

/* It has no products, so ours run; and nothing of it stays. */
static void test_useless(void) {
    clf_mem mem;
    clf_mem_init(&mem, NULL, NULL);
    clf_blas *b = clf_blas_open(&mem, 1);
    CU_ASSERT_PTR_NOT_NULL_FATAL(b);
    CU_ASSERT_STRING_EQUAL(clf_blas_name(b), "own");
    CU_ASSERT_PTR_NULL(dlopen("libopenblas.so.0", RTLD_NOW | RTLD_NOLOAD));
    clf_blas_close(b);
    CU_ASSERT_EQUAL(mem.now_bytes, 0);
}

static void test_no_name(void) { CU_ASSERT_STRING_EQUAL(clf_blas_core(NULL), ""); }

int main(void) {
    static const test_case tests[] = {{"unknown processor", test_unknown}, {"second load", test_second}, {"the user's choice", test_chosen},
                                      {"held by others", test_held},       {"threads", test_threads},    {"without products", test_useless},
                                      {"no library", test_no_name}};
    return run_suite("blas_load", tests, sizeof tests / sizeof *tests);
}
