/* SPDX-License-Identifier: Apache-2.0
 * Reading .npy: types, orders, shapes, versions; and every way we know a header can lie. */
#include "tests/unit/formats_testing.h"

/* A .npy file put together from its parts; version 1 or above has a two- or four-byte length. */
static size_t make(unsigned char *to, int version, const char *dict, const void *cells, size_t n) {
    size_t len = strlen(dict), at = version == 1 ? 10 : 12;
    memcpy(to, "\x93NUMPY", 6);
    to[6] = (unsigned char)version;
    to[7] = 0;
    for (size_t i = 8; i < at; i++) to[i] = (unsigned char)(len >> 8 * (i - 8));
    memcpy(to + at, dict, len);
    if (n) memcpy(to + at + len, cells, n);
    return at + len + n;
}

static void reads(int version, const char *dict, const void *cells, size_t n, clf_dtype t, int64_t rows, int64_t cols, const double *want) {
    unsigned char file[1024];
    reading r;
    reading_init(&r);
    reading_run(&r, "npy", file, make(file, version, dict, cells, n), NULL);
    if (r.st) fprintf(stderr, "\n    %s\n", r.err.text);
    CU_ASSERT_EQUAL(r.st, CLF_OK);
    if (r.st == CLF_OK) {
        CU_ASSERT(r.x.dtype == t && r.x.rows == rows && r.x.cols == cols);
        CU_ASSERT_EQUAL(r.x.scalar, strstr(dict, "()") != NULL);
        for (int64_t i = 0; i < rows * cols; i++) CU_ASSERT_EQUAL(cell(&r.x, i / cols, i % cols), want[i]);
    }
    reading_end(&r);
}

static void refuses(int version, const char *dict, size_t cells, const char *part) {
    unsigned char file[1024] = {0};
    char zero[512] = {0};
    expect_failure("npy", file, make(file, version, dict, zero, cells), NULL, CLF_E_FORMAT, part);
}

static void test_types(void) {
    static const double f8[] = {1.5, -2};
    static const float f4[] = {1.5f, -2};
    static const int32_t i4[] = {7, INT32_MIN};
    static const int64_t i8[] = {7, -9};
    static const unsigned char u1[] = {200, 0}, b1[] = {1, 0}, odd[] = {0, 77};
    reads(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }  \n", f8, 16, CLF_F64, 2, 1, f8);
    reads(1, "{'descr': '<f4', 'fortran_order': False, 'shape': (1, 2), }\n", f4, 8, CLF_F32, 1, 2, f8);
    reads(2, "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 1)}\n", i4, 8, CLF_I32, 2, 1, CELLS(7, INT32_MIN));
    reads(3, "{'descr': '<i8', 'fortran_order': True, 'shape': (2,)}", i8, 16, CLF_I64, 2, 1, CELLS(7, -9));
    reads(1, "{\"shape\":(2,),\"descr\":\"|u1\",\"fortran_order\":False}", u1, 2, CLF_U8, 2, 1, CELLS(200, 0));
    reads(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", b1, 2, CLF_U8, 2, 1, CELLS(1, 0));
    reads(1, "{'descr': '|b1', 'fortran_order': False, 'shape': (2,), }", odd, 2, CLF_U8, 2, 1, CELLS(0, 1));
}

static void test_shapes(void) {
    static const double v[] = {1, 2, 3, 4, 5, 6};
    reads(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (), }", v, 8, CLF_F64, 1, 1, v);
    reads(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }", v, 48, CLF_F64, 2, 3, CELLS(1, 3, 5, 2, 4, 6));
    reads(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }", v, 48, CLF_F64, 2, 3, v);
    reads(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (0, 3), }", v, 0, CLF_F64, 0, 3, NULL);
    reads(1, "{'descr': '<f8', 'fortran_order': True, 'shape': (0,), }", v, 0, CLF_F64, 0, 1, NULL);
    reads(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807, 0)}", v, 0, CLF_F64, INT64_MAX, 0, NULL);
}

/* Larger than a tile of the transposition, in both directions. */
static void test_fortran_tiles(void) {
    enum { ROWS = 71, COLS = 45 };
    unsigned char *file = malloc(256 + ROWS * COLS * 4);
    float *cells = malloc(ROWS * COLS * 4);
    for (int i = 0; i < ROWS * COLS; i++) cells[i] = (float)i;
    size_t n = make(file, 1, "{'descr': '<f4', 'fortran_order': True, 'shape': (71, 45), }", cells, ROWS * COLS * 4);
    reading r;
    reading_init(&r);
    CU_ASSERT_EQUAL_FATAL(reading_run(&r, "npy", file, n, NULL), CLF_OK);
    for (int i = 0; i < ROWS; i++)
        for (int j = 0; j < COLS; j++) CU_ASSERT_EQUAL(cell(&r.x, i, j), j * ROWS + i);
    reading_end(&r);
    free(cells);
    free(file);
}

static void test_lies(void) {
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775808,), }", 8, "no list of sizes below 2^63");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (9223372036854775807,), }", 8, "more than any memory");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296), }", 8, "more than any memory");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2305843009213693953, 1), }", 8, "more than any memory");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000, 1000000), }", 8, "cut off");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 15, "cut off");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", 17, "something follows");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1, 2, 3), }", 48, "3 dimensions");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2), }", 16, "no tuple");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (-2,), }", 16, "shape");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2 3), }", 48, "shape");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (,), }", 8, "shape");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,,), }", 16, "shape");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,", 16, "shape");
}

static void test_types_refused(void) {
    refuses(1, "{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, "'|O' (objects)");
    refuses(1, "{'descr': '>f8', 'fortran_order': False, 'shape': (1,), }", 8, "'>f8' (big-endian)");
    refuses(1, "{'descr': '<f2', 'fortran_order': False, 'shape': (4,), }", 8, "'<f2' is not supported");
    refuses(1, "{'descr': '<c16', 'fortran_order': False, 'shape': (1,), }", 16, "'<c16'");
    refuses(1, "{'descr': '', 'fortran_order': False, 'shape': (1,), }", 8, "''");
    refuses(1, "{'descr': '\x01\n', 'fortran_order': False, 'shape': (1,), }", 8, "'?'");
    refuses(1, "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,), }", 8, "structured");
}

static void test_headers_refused(void) {
    refuses(4, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 8, "version 4.0");
    refuses(0, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), }", 8, "version 0.0");
    refuses(1, "", 8, "'{' is missing");
    refuses(1, "{}", 8, "no key 'descr'");
    refuses(1, "{'descr': '<f8', 'shape': (1,)}", 8, "no key 'fortran_order'");
    refuses(1, "{'descr': '<f8', 'fortran_order': False}", 8, "no key 'shape'");
    refuses(1, "{'descr': '<f8', 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", 8, "unknown or repeated");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), 'x': 1}", 8, "unknown or repeated");
    refuses(1, "{'descr': '<f8', 'fortran_order': Maybe, 'shape': (1,)}", 8, "neither True nor False");
    refuses(1, "{'descr': '<f8' 'fortran_order': False, 'shape': (1,)}", 8, "',' is missing");
    refuses(1, "{'descr' '<f8', 'fortran_order': False, 'shape': (1,)}", 8, "':' is missing");
    refuses(1, "{'descr': '<f8, }", 8, "quoted string");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,)} import os", 8, "after the closing brace");
    refuses(1, "{'descr': '<f8', 'fortran_order': False, 'shape': (1,), ", 8, "quoted string");
    expect_failure("npy", "", 0, NULL, CLF_E_FORMAT, "no .npy file");
    expect_failure("npy", "PK\3\4 some archive", 16, NULL, CLF_E_FORMAT, "no .npy file");
    expect_failure("npy", "\x93NUMPY\2\0\1\0", 10, NULL, CLF_E_FORMAT, "header is cut off");
    expect_failure("npy", "\x93NUMPY\1\0\xff\xff{}", 12, NULL, CLF_E_FORMAT, "claims 65535 bytes");
    expect_failure("npy", "\x93NUMPY\3\0\xff\xff\xff\xff{}", 14, NULL, CLF_E_FORMAT, "claims 4294967295 bytes");
}

/* Cut at every byte, and with every byte of the header turned over: never a wrong success for a cut, never a fault or a leak. */
static void test_every_offset(void) {
    static const double v[] = {1, 2, 3, 4, 5, 6};
    unsigned char file[256];
    reading r;
    size_t n = make(file, 1, "{'descr': '<f8', 'fortran_order': True, 'shape': (2, 3), }   \n", v, sizeof v);
    for (size_t cut = 0; cut < n; cut++) {
        reading_init(&r);
        CU_ASSERT_EQUAL(reading_run(&r, "npy", file, cut, NULL), CLF_E_FORMAT);
        reading_end(&r);
    }
    for (size_t i = 0; i < n - sizeof v; i++) {
        for (int with = 0; with < 256; with += 5) {
            unsigned char was = file[i];
            file[i] = (unsigned char)with;
            reading_init(&r);
            reading_run(&r, "npy", file, n, NULL);
            CU_ASSERT(r.st == CLF_OK || r.st == CLF_E_FORMAT);
            reading_end(&r);
            file[i] = was;
        }
    }
}

static void test_memory(void) {
    static const double v[] = {1, 2};
    unsigned char file[256];
    reading r;
    size_t n = make(file, 1, "{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", v, sizeof v);
    reading_init(&r);
    r.mem.limit_bytes = 15;
    CU_ASSERT_EQUAL(reading_run(&r, "npy", file, n, NULL), CLF_E_NOMEM);
    CU_ASSERT(strstr(r.err.text, "need 16 bytes, 15 are available") != NULL);
    reading_end(&r);
    reading_init(&r);
    r.heap.fail_at = 0;
    CU_ASSERT_EQUAL(reading_run(&r, "npy", file, n, NULL), CLF_E_NOMEM);
    reading_end(&r);
}

int main(void) {
    static const CU_TestInfo tests[] = {{"element types", test_types},
                                        {"shapes and orders", test_shapes},
                                        {"column-major beyond a tile", test_fortran_tiles},
                                        {"sizes that lie", test_lies},
                                        {"types refused", test_types_refused},
                                        {"headers refused", test_headers_refused},
                                        {"cut or damaged at every byte", test_every_offset},
                                        {"memory out", test_memory},
                                        CU_TEST_INFO_NULL};
    return run_suite("formats: npy", tests);
}
