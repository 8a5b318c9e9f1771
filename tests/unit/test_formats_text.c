/* SPDX-License-Identifier: Apache-2.0
 * Reading .mtx and .svm: every kind that is accepted, and every lie about sizes and indices that we know. */
#include "tests/unit/formats_testing.h"

#define BANNER "%%MatrixMarket matrix "

static void test_array(void) {
    expect_cells("mtx", BANNER "array real general\n% a comment\n\n2 3\n1\n4\n2\n5\n3\n6\n", NULL, 2, 3, CELLS(1, 2, 3, 4, 5, 6));
    expect_cells("mtx", "%%MatrixMarket MATRIX Array Real GENERAL\r\n1 2\r\n-1.5e0\r\nNaN", NULL, 1, 2, CELLS(-1.5, NAN));
    expect_cells("mtx", BANNER "array integer general\n2 1\n-7\n+8\n", NULL, 2, 1, CELLS(-7, 8));
    expect_cells("mtx", BANNER "array integer general\n1 2\n-9223372036854775808 9223372036854775807\n", NULL, 1, 2,
                 CELLS(-0x1p63, 0x1p63));
    expect_cells("mtx", BANNER "array real symmetric\n2 2\n1\n2\n3\n", NULL, 2, 2, CELLS(1, 2, 2, 3));
    expect_cells("mtx", BANNER "array real skew-symmetric\n3 3\n1 2 3\n", NULL, 3, 3, CELLS(0, -1, -2, 1, 0, -3, 2, 3, 0));
    expect_cells("mtx", BANNER "array real general\n0 5\n", NULL, 0, 5, NULL);
    expect_cells("mtx", BANNER "array real symmetric\n0 0", NULL, 0, 0, NULL);
    expect_cells("mtx", BANNER "array real general\n0 9223372036854775807\n", NULL, 0, INT64_MAX, NULL);
}

static void test_coordinate(void) {
    expect_cells("mtx", BANNER "coordinate real general\n2 3 3\n1 1 5\n2 3 -1e1\n\n% between\n1 2 .5\n", NULL, 2, 3,
                 CELLS(5, .5, 0, 0, 0, -10));
    expect_cells("mtx", BANNER "coordinate real general\n2 2 3\n1 1 5\n1 1 2.5\n1 1 1\n", NULL, 2, 2, CELLS(8.5, 0, 0, 0));
    expect_cells("mtx", BANNER "coordinate pattern general\n2 2 3\n1 1\n2 2\n2 2", NULL, 2, 2, CELLS(1, 0, 0, 2));
    expect_cells("mtx", BANNER "coordinate pattern symmetric\n2 2 1\n2 1", NULL, 2, 2, CELLS(0, 1, 1, 0));
    expect_cells("mtx", BANNER "coordinate real symmetric\n2 2 2\n1 1 3\n2 1 4\n", NULL, 2, 2, CELLS(3, 4, 4, 0));
    expect_cells("mtx", BANNER "coordinate real skew-symmetric\n2 2 1\n2 1 4\n", NULL, 2, 2, CELLS(0, -4, 4, 0));
    expect_cells("mtx", BANNER "coordinate integer general\n1 1 1\n1 1 -3\n", NULL, 1, 1, CELLS(-3));
    expect_cells("mtx", BANNER "coordinate real general\n2 1 0\n", NULL, 2, 1, CELLS(0, 0));
}

static void test_layouts(void) {
    static const char *const texts[] = {BANNER "array real general\n1 1\n1.5\n", BANNER "coordinate real general\n1 1 1\n1 1 1.5\n"};
    clf_read_opts o = {.dtype = CLF_F32};
    for (int i = 0; i < 2; i++) {
        reading r;
        reading_init(&r);
        CU_ASSERT_EQUAL(reading_run(&r, "mtx", texts[i], strlen(texts[i]), &o), CLF_OK);
        CU_ASSERT(r.sparse == (i == 1) && r.x.dtype == CLF_F32 && cell(&r.x, 0, 0) == 1.5);
        reading_end(&r);
    }
}

static void test_mtx_refused(void) {
    expect_error("mtx", "", "t: line 1: no Matrix Market file");
    expect_error("mtx", "1 2 3\n", "no Matrix Market file");
    expect_error("mtx", "%%MatrixMarket", "line 1, column 2: the banner has no object");
    expect_error("mtx", "%%MatrixMarket vector array real general\n", "object 'vector' is not supported");
    expect_error("mtx", BANNER "heap real general\n1 1\n1", "line 1, column 3: unknown layout 'heap'");
    expect_error("mtx", BANNER "array complex general\n1 1\n1 1", "column 4: field 'complex' is not supported");
    expect_error("mtx", BANNER "coordinate complex hermitian\n1 1 1\n1 1 1 0", "'complex' is not supported");
    expect_error("mtx", BANNER "coordinate real hermitian\n1 1 1\n1 1 1", "'hermitian' is not supported");
    expect_error("mtx", BANNER "array real\n1 1\n1", "the banner has no symmetry");
    expect_error("mtx", BANNER "array real general extra\n1 1\n1", "'extra' is one field too many");
    expect_error("mtx", BANNER "array pattern general\n1 1\n", "a pattern is coordinate");
    expect_error("mtx", BANNER "coordinate pattern skew-symmetric\n2 2 1\n2 1\n", "a pattern is coordinate");
    expect_error("mtx", BANNER "array real symmetric\n2 3\n1\n2\n3\n", "not square");
    expect_error("mtx", BANNER "array real general\n2\n", "line 2, column 2: the number of columns is missing");
    expect_error("mtx", BANNER "array real general\n% nothing\n", "the number of rows is missing");
    expect_error("mtx", BANNER "array real general\n1 -2\n", "'-2' stands where the number of columns belongs");
    expect_error("mtx", BANNER "array real general\n1 1 1\n1\n", "'1' is one field too many");
    expect_error("mtx", BANNER "array real general\n3 3\n1 2 3\n", "more entries promised");
    expect_error("mtx", BANNER "array real general\n2 2\n1.25 2 3\n", "the file ends before cell (2, 2)");
    expect_error("mtx", BANNER "array real general\n1 1\n1\n2\n", "line 4, column 1: '2' follows the last entry");
    expect_error("mtx", BANNER "array integer general\n1 1\n1.5\n", "'1.5' stands where a whole number belongs");
    expect_error("mtx", BANNER "array integer general\n1 1\n-inf\n", "line 3, column 1: '-inf' stands where a whole number belongs");
    expect_error("mtx", BANNER "array integer general\n1 1\n99999999999999999999\n", "a whole number belongs");
    expect_error("mtx", BANNER "array real general\n1 1\n^\n", "line 3, column 1: '^' stands where a number belongs");
}

static void test_mtx_entries_refused(void) {
    expect_error("mtx", BANNER "coordinate real general\n2 2 1\n3 1 1\n", "line 3, column 1: a row is 3, outside 1 to 2");
    expect_error("mtx", BANNER "coordinate real general\n2 2 1\n1 0 1\n", "line 3, column 2: a column is 0, outside 1 to 2");
    expect_error("mtx", BANNER "coordinate real general\n2 2 1\n-1 1 1\n", "'-1' stands where a row belongs");
    expect_error("mtx", BANNER "coordinate real general\n2 2 1\nnan 1 1\n", "line 3, column 1: 'nan' stands where a row belongs");
    expect_error("mtx", BANNER "coordinate real general\n2 2 1\n1 NaN 1\n", "line 3, column 2: 'NaN' stands where a column belongs");
    expect_error("mtx", BANNER "coordinate real general\n2 2 1\n1.5 1 1\n", "line 3, column 1: '1.5' stands where a row belongs");
    expect_error("mtx", BANNER "coordinate real general\n2 2 1\n1 1 a\n", "line 3, column 3: 'a' stands where a number belongs");
    expect_error("mtx", BANNER "coordinate real general\n2 2 1\n1 1   \n", "line 3, column 3: a number is missing");
    expect_error("mtx", BANNER "coordinate pattern general\n2 2 1\n1 1 1\n", "line 3, column 3: '1' is one field too many");
    expect_error("mtx", BANNER "coordinate real general\n2 2 2\n1 1 1.12345678\n", "the file ends after 1 of 2");
    expect_error("mtx", BANNER "coordinate real general\n2 2 1\n1 1 1\n2 2 2\n", "'2' follows the last entry");
    expect_error("mtx", BANNER "coordinate real symmetric\n2 2 1\n1 2 1\n", "entry (1, 2) is not in the lower triangle");
    expect_error("mtx", BANNER "coordinate real skew-symmetric\n2 2 1\n1 1 1\n", "entry (1, 1) is not in the lower triangle");
    expect_error("mtx", BANNER "coordinate real general\n0 0 1\n1 1 1\n", "a row is 1, outside 1 to 0");
    expect_failure("mtx", BANNER "array real general\n1 1\n1\0\n", strlen(BANNER) + 27, NULL, CLF_E_FORMAT, "line 3, column 1: a NUL byte");
}

static void test_mtx_lies(void) {
    static const char *const sizes[] = {"array real general\n9223372036854775807 1\n1\n",
                                        "array real general\n4294967296 4294967296\n1\n",
                                        "array real symmetric\n9223372036854775807 9223372036854775807\n1\n",
                                        "array real general\n1000000 1000000\n1\n",
                                        "coordinate real general\n2 2 9223372036854775807\n1 1 1\n",
                                        "coordinate real general\n2 2 100\n1 1 1\n",
                                        "coordinate pattern general\n2 2 3\n1 1\n1 2\n"};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        char text[256];
        snprintf(text, sizeof text, "%s%s", BANNER, sizes[i]);
        expect_error("mtx", text, "line 2, column");
    }
    expect_error("mtx", BANNER "coordinate real general\n2 2 18446744073709551615\n1 1 1\n", "'18446744073709551615' stands where");
    expect_error("mtx", BANNER "array real general\n9223372036854775808 1\n1\n", "'9223372036854775808' stands where");
    const char cells[] = BANNER "coordinate real general\n1000000 2147483647 1\n1 1 1\n";
    expect_error("mtx", BANNER "coordinate real general\n4 2147483648 1\n1 1 1\n", "line 2, column 2: the number of columns is 2147483648");
    expect_error("mtx", BANNER "coordinate real general\n9223372036854775807 5 1\n1 1 1\n",
                 "9223372036854775807 rows are too many for so short a file");
    expect_error("mtx", BANNER "coordinate pattern general\n16777217 5 1\n1 1\n", "line 2, column 3: 16777217 rows are too many");
    expect_failure("mtx", cells, strlen(cells), NULL, CLF_E_NOMEM,
                   "17179869176000000 bytes"); /* sparse it was read, dense it is too large */
}

static void test_svm(void) {
    static const char *const texts[] = {"1 1:0.5 3:-2\n-1 2:4e1\n", "# a file\n+1 1:0.5 3:-2 # note\r\n\n-1  2:40\t",
                                        "\xef\xbb\xbf# c\n1 1:.5 3:-2\n-1 2:40 3:0"};
    static const double want[] = {0.5, 0, -2, 0, 40, 0};
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        reading r;
        reading_init(&r);
        reading_run(&r, "svm", texts[i], strlen(texts[i]), NULL);
        if (r.st) fprintf(stderr, "\n    %s\n", r.err.text);
        CU_ASSERT_EQUAL_FATAL(r.st, CLF_OK);
        CU_ASSERT(r.x.rows == 2 && r.x.cols == 3 && r.y.rows == 2 && r.y.cols == 1);
        for (int k = 0; k < 6; k++) CU_ASSERT_EQUAL(cell(&r.x, k / 3, k % 3), want[k]);
        CU_ASSERT(cell(&r.y, 0, 0) == 1 && cell(&r.y, 1, 0) == -1);
        reading_end(&r);
    }
    expect_cells("svm", "3\n4\n", NULL, 2, 0, NULL);
}

static void test_svm_refused(void) {
    expect_error("svm", "", "the file is empty");
    expect_error("svm", "# only a comment\n", "the file is empty");
    expect_error("svm", "cat 1:1\n", "t: line 1, column 1: 'cat' stands where a numeric label belongs");
    expect_error("svm", "1:2\n", "'1:2' stands where a numeric label belongs");
    expect_error("svm", "1 1:1\n1 0:1\n", "line 2, column 2: index:value with ascending indices: an index is 0");
    expect_error("svm", "1 2:1 2:1\n", "line 1, column 3: index:value with ascending indices: an index is 2, outside 3");
    expect_error("svm", "1 3:1 2:1\n", "an index is 2, outside 4");
    expect_error("svm", "1 qid:3 1:1\n", "'qid:3' stands where");
    expect_error("svm", "1 5\n", "line 1, column 2: index 5 has no ':value'");
    expect_error("svm", "1 5:\n", "line 1, column 2: index 5 has no value");
    expect_error("svm", "1 5: 3\n", "line 1, column 2: index 5 has no value");
    expect_error("svm", "1 5:x\n", "line 1, column 2: 'x' stands where a number belongs");
    expect_error("svm", "1 5:1:2\n", "'1:2' stands where a number belongs");
    expect_error("svm", "1 9223372036854775808:1\n", "stands where");
    expect_error("svm", "1 2147483648:1 1:1\n", "an index is 2147483648, outside 1 to 2147483647");
    expect_error("svm", "1 2147483647:1 5:1\n", "an index is 5, outside 2147483648 to 2147483647");
    expect_error("svm", "1 nan:1\n", "'nan:1' stands where");
    expect_error("svm", "1 inf:1\n", "'inf:1' stands where");
    expect_error("svm", "1 1.5:1\n", "'1.5:1' stands where");
    expect_failure("svm", "1 1:1\0\n", 7, NULL, CLF_E_FORMAT, "line 1, column 2: a NUL byte");
    expect_error("svm", "1 1:1\n1 100000000000000:1\n", "line 2, column 2");
    char tall[6000] = "1 2147483647:1\n";
    for (int i = 0; i < 2000; i++) strcat(tall, "0\n");
    expect_failure("svm", tall, strlen(tall), NULL, CLF_E_NOMEM, "34376918221176 bytes"); /* sparse it was read, dense it is too large */
}

/* Cut at every byte; every byte replaced. */
static void test_damaged(void) {
    static const struct {
        const char *type, *text;
    } files[] = {{"mtx", BANNER "array real symmetric\n2 2\n1\n2\n3\n"},
                 {"mtx", BANNER "coordinate real skew-symmetric\n% c\n3 3 2\n2 1 7\n3 2 -1\n"},
                 {"mtx", BANNER "coordinate pattern general\n12 12 2\n1 1\n12 12\n"},
                 {"svm", "1 1:1 2:2\n-1 3:3 # c\n"}};
    static const char with[] = {0, ' ', '\n', '9', '-', ':', '%', '#', 'e', '.', '\xff'};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        size_t n = strlen(files[f].text), bad = 0;
        char copy[256];
        reading r;
        for (size_t i = 0; i < n; i++) {
            for (size_t k = 0; k <= sizeof with; k++) {
                memcpy(copy, files[f].text, n);
                if (k < sizeof with) copy[i] = with[k];
                reading_init(&r);
                r.mem.limit_bytes = 1 << 20;
                reading_run(&r, files[f].type, copy, k == sizeof with ? i : n, NULL);
                CU_ASSERT(r.st == CLF_OK || r.st == CLF_E_FORMAT || r.st == CLF_E_NOMEM);
                bad += r.st != CLF_OK;
                reading_end(&r);
            }
        }
        CU_ASSERT(bad > n); /* most damage is noticed */
    }
}

/* What is cut before the last number's first digit never reads as the whole. */
static void test_cut(void) {
    const char text[] = BANNER "coordinate real general\n3 3 3\n2 1 7\n3 2 -1\n1 3 4\n";
    for (size_t n = 0; n < strlen(text) - 2; n++) {
        reading r;
        reading_init(&r);
        CU_ASSERT_EQUAL(reading_run(&r, "mtx", text, n, NULL), CLF_E_FORMAT);
        reading_end(&r);
    }
}

static void test_memory(void) {
    static const struct {
        const char *type, *text;
        int allocations;
    } files[] = {{"mtx", BANNER "array real general\n1 1\n1\n", 1},
                 {"mtx", BANNER "coordinate real general\n1 1 1\n1 1 1\n", 3 + 3 + 1},
                 {"mtx", BANNER "coordinate real general\n1 2 2\n1 2 1\n1 1 1\n", 3 + 3 + 2 + 1}, /* a row to be sorted */
                 {"svm", "1 1:1\n", 3 + 1 + 1}};
    for (size_t f = 0; f < sizeof files / sizeof *files; f++) {
        for (int n = 0; n <= files[f].allocations; n++) {
            reading r;
            reading_init(&r);
            r.heap.fail_at = n;
            reading_run(&r, files[f].type, files[f].text, strlen(files[f].text), NULL);
            CU_ASSERT_EQUAL(r.st, n < files[f].allocations ? CLF_E_NOMEM : CLF_OK);
            reading_end(&r);
        }
    }
}

int main(void) {
    static const CU_TestInfo tests[] = {{"mtx array", test_array},
                                        {"mtx coordinate", test_coordinate},
                                        {"mtx layouts", test_layouts},
                                        {"mtx headers refused", test_mtx_refused},
                                        {"mtx entries refused", test_mtx_entries_refused},
                                        {"mtx sizes that lie", test_mtx_lies},
                                        {"svm", test_svm},
                                        {"svm refused", test_svm_refused},
                                        {"damaged at every byte", test_damaged},
                                        {"cut at every byte", test_cut},
                                        {"memory out", test_memory},
                                        CU_TEST_INFO_NULL};
    return run_suite("formats: mtx and svm", tests);
}
