/* SPDX-License-Identifier: Apache-2.0
 * Reading .csv: dialects, headers, quotes, labels, missing cells, and what is refused where. */
#include <time.h>

#include "tests/unit/formats_testing.h"

static const clf_read_opts NA_DROP = {.dtype = CLF_F64, .na = CLF_NA_DROP}, NA_NAN = {.dtype = CLF_F64, .na = CLF_NA_NAN};

static void same6(const char *text) { expect_cells("csv", text, NULL, 2, 3, CELLS(1, 2.5, -3, 4, 5, 6e3)); }

static void test_dialects(void) {
    same6("1,2.5,-3\n4,5,6e3\n");
    same6("1,2.5,-3\n4,5,6e3");
    same6("1,2.5,-3\r\n4,5,6e3\r\n");
    same6("\xef\xbb\xbf"
          "1;2.5;-3\n4;5;6e3\n");
    same6("1\t2.5\t-3\n4\t5\t6e3\n");
    same6("1\t 2.5 \t-3\n4\t5\t6e3 \r\n\r\n\n");
    same6(" 1   2.5 -3  \n4\t5 \t 6e3\n");
    same6("1 , 2.5,  -3\n 4,5  ,6e3\n");
    same6("\n\n1,2.5,-3\n\n   \n4,5,6e3\n\n");
    same6("\"1\",2.5,\"-3\"\n4,\" 5\",6e3\n");
    expect_cells("csv", "1\n2\n3", NULL, 3, 1, CELLS(1, 2, 3));
    expect_cells("csv", "7", NULL, 1, 1, CELLS(7));
    expect_cells("csv", "NaN,Inf\n-inf,nan\n", NULL, 2, 2, CELLS(NAN, INFINITY, -INFINITY, NAN));
}

static void test_header(void) {
    same6("a,b,c\n1,2.5,-3\n4,5,6e3\n");
    same6("\"a\",\"b, with comma\",\"c \"\"quoted\"\"\"\n1,2.5,-3\n4,5,6e3\n");
    same6("\"2019\",\"2020\",\"2021\"\n1,2.5,-3\n4,5,6e3\n");
    same6("sepal length;b;c\r\n1;2.5;-3\r\n4;5;6e3");
    same6("a b c\n1 2.5 -3\n4 5 6e3\n");
    same6("\"a\nb\",c,d\n1,2.5,-3\n4,5,6e3\n");
    expect_cells("csv", "a,,c\n1,2,3\n", NULL, 1, 3, CELLS(1, 2, 3));
    expect_cells("csv", "a,b\n,1\n2,3\n", &NA_NAN, 2, 2, CELLS(NAN, 1, 2, 3));
    expect_error("csv", "1,abc,3\n4,5,6\n", "t: line 1, column 2: 'abc' is not a number");
    expect_error("csv", "a,b,c\n", "line 1, column 1: 'a' is not a number");
    expect_error("csv", "x,y\nz,w\n", "line 1, column 1: 'x' is not a number");
}

static void test_labels(void) {
    static const struct {
        const char *text, *label;
        double y[3];
        double x;
    } cases[] = {{"a,y\n1,cat\n2,dog\n3,cat\n", "y", {1, 2, 1}, 3},
                 {"a,y\n1,cat\n2,dog\n3,cat\n", "2", {1, 2, 1}, 3},
                 {"y,a\n\"dog, big\",1\n\"cat\",2\ncat,3\n", "y", {1, 2, 2}, 3},
                 {"1,5\n2,7\n3,5", "2", {5, 7, 5}, 3},
                 {"5,1\n\"7\",2\nx7,3", "1", {1, 2, 3}, 3},
                 {"a,\"the \"\"y\"\"\"\n1,0\n2,1\n3,0.5", "the \"y\"", {0, 1, 0.5}, 3},
                 {"x;y\n1;\xc3\xa4\n2;\xc3\xb6\n3;\xc3\xa4\n", "y", {1, 2, 1}, 3},
                 {"2,1\n1,11\n2,12\n3,13\n", "2", {1, 11, 12}, 3}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        clf_read_opts o = {.dtype = i % 2 ? CLF_F32 : CLF_F64, .label = cases[i].label};
        reading r;
        reading_init(&r);
        reading_run(&r, "csv", cases[i].text, strlen(cases[i].text), &o);
        if (r.st) fprintf(stderr, "\n    %s\n", r.err.text);
        CU_ASSERT_EQUAL_FATAL(r.st, CLF_OK);
        CU_ASSERT(r.x.cols == 1 && r.y.cols == 1 && r.y.rows == r.x.rows && r.y.dtype == o.dtype && r.x.dtype == o.dtype);
        for (int k = 0; k < 3; k++) CU_ASSERT_EQUAL(cell(&r.y, k, 0), cases[i].y[k]);
        CU_ASSERT_EQUAL(cell(&r.x, r.x.rows - 1, 0), cases[i].x);
        reading_end(&r);
    }
}

static void test_label_refused(void) {
    const char text[] = "a,y\n1,2\n", bare[] = "1,2\n3,4\n";
    clf_read_opts o = {.dtype = CLF_F64, .label = "z"};
    expect_failure("csv", text, strlen(text), &o, CLF_E_NAME, "no label column 'z'");
    expect_failure("csv", "z,y\n", 4, &o, CLF_E_FORMAT, "a header and no data");
    o.label = "3";
    expect_failure("csv", text, strlen(text), &o, CLF_E_NAME, "no number from 1 to 2");
    o.label = "0";
    expect_failure("csv", bare, strlen(bare), &o, CLF_E_NAME, "no header");
    o.label = "";
    expect_failure("csv", bare, strlen(bare), &o, CLF_E_NAME, "''");
    o = (clf_read_opts){.dtype = CLF_I64};
    expect_failure("csv", bare, strlen(bare), &o, CLF_E_ARG, "i64");
}

static void test_only_labels(void) {
    clf_read_opts o = {.dtype = CLF_F64, .label = "y"};
    const char text[] = "y\ncat\ndog\n";
    reading r;
    reading_init(&r);
    CU_ASSERT_EQUAL(reading_run(&r, "csv", text, strlen(text), &o), CLF_OK);
    CU_ASSERT(r.x.rows == 2 && r.x.cols == 0 && r.y.rows == 2 && cell(&r.y, 1, 0) == 2);
    reading_end(&r);
}

/* More words than the first tables hold, each met again later. */
static void test_many_labels(void) {
    enum { WORDS = 3000 };
    char *text = malloc(WORDS * 2 * 16);
    size_t n = 0;
    for (int i = 0; i < 2 * WORDS; i++) n += (size_t)sprintf(text + n, "%d,w%d\n", i, i % WORDS);
    clf_read_opts o = {.dtype = CLF_F64, .label = "2"};
    reading r;
    reading_init(&r);
    CU_ASSERT_EQUAL_FATAL(reading_run(&r, "csv", text, n, &o), CLF_OK);
    for (int i = 0; i < 2 * WORDS; i++) CU_ASSERT(cell(&r.y, i, 0) == i % WORDS + 1 && cell(&r.x, i, 0) == i);
    reading_end(&r);
    free(text);
}

static void test_missing(void) {
    const char text[] = "a,b\n1,2\n,3\n4,NA\n5,\"\"\n6,nan\n";
    clf_read_opts o = {.dtype = CLF_F32, .na = CLF_NA_NAN};
    expect_error("csv", text, "t: line 3, column 1: the cell is missing");
    expect_error("csv", "1,2\n3,\n", "t: line 2, column 2: the cell is missing");
    expect_error("csv", "1,2\r\n3, NA \r\n", "t: line 2, column 2: the cell is missing");
    expect_cells("csv", text, &NA_DROP, 2, 2, CELLS(1, 2, 6, NAN));
    expect_cells("csv", text, &NA_NAN, 5, 2, CELLS(1, 2, NAN, 3, 4, NAN, 5, NAN, 6, NAN));
    expect_cells("csv", text, &o, 5, 2, CELLS(1, 2, NAN, 3, 4, NAN, 5, NAN, 6, NAN));
    expect_cells("csv", "1\n\n3\n\n", &NA_NAN, 3, 1, CELLS(1, NAN, 3));
    expect_cells("csv", "1,NA\nNA,2\n", &NA_DROP, 0, 2, NULL);
    expect_cells("csv", "NA,1\n2,3\nNA,4", &NA_DROP, 1, 2, CELLS(2, 3));
    clf_read_opts label = {.dtype = CLF_F64, .na = CLF_NA_DROP, .label = "y"};
    expect_cells("csv", "a,y\n1,\n2,cat\n,dog\n3,dog", &label, 2, 1, CELLS(2, 3));
}

static void test_refused(void) {
    expect_error("csv", "", "the file is empty");
    expect_error("csv", "\n\n \r\n", "the file is empty");
    expect_error("csv", "1,2\n3\n", "t: line 2, column 1: fewer cells than the 2");
    expect_error("csv", "1,2\n3,4,5\n", "t: line 2, column 3: more cells than the 2");
    expect_error("csv", "1,2\n3,4,\n", "t: line 2, column 3: more cells");
    expect_error("csv", "1 2\n3\n", "t: line 2, column 1: fewer cells");
    expect_error("csv", "1,2\n3,text\n", "t: line 2, column 2: 'text' is not a number");
    expect_error("csv", "1,2\n3,4x\n", "t: line 2, column 2: '4x' is not a number");
    expect_error("csv", "1,2\n3,0x10\n", "'0x10' is not a number");
    expect_error("csv", "1,5;2\n1,5;3\n", "column 1: '1,5' is not a number");
    expect_error("csv", "1,2\n\"3\n,4\n", "t: line 2, column 1: a quotation that does not end");
    expect_error("csv", "1,2\n3,\"4\"5\n", "t: line 2, column 2: a quotation that does not end, or text behind");
    expect_error("csv", "\"", "line 1, column 1: a quotation");
    expect_error("csv", "1,2\n\x01\x02\x7f,3\n", "'\?\?\?'");
    expect_error("csv", "1,2\n\"a\n\n\nb\",3\nx,y\n", "t: line 2, column 1");
    expect_error("csv", "1,aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa", "'aaaaaaaaaaaaaaaaaaaaaaaa...'");
    expect_failure("csv", "1,2\n3,4\n5,\0006\n", 13, NULL, CLF_E_FORMAT, "t: line 3, column 2: a NUL byte");
    expect_failure("csv", "\0", 1, NULL, CLF_E_FORMAT, "t: line 1, column 1: a NUL byte");
    expect_failure("csv",
                   "\xff\xfe"
                   "1\0,\0",
                   6, NULL, CLF_E_FORMAT, "a NUL byte");
}

/* A short wide row among many empty ones: rows * cols is far beyond the file and must not be allocated. */
static void test_implausible(void) {
    enum { COLS = 4000, ROWS = 100000 };
    char *text = malloc(2 * COLS + 2 * ROWS + 1);
    size_t n = 0;
    for (int i = 0; i < COLS; i++) n += (size_t)sprintf(text + n, i + 1 < COLS ? "1," : "1\n");
    for (int i = 0; i < ROWS; i++) n += (size_t)sprintf(text + n, "1\n");
    expect_failure("csv", text, n, NULL, CLF_E_FORMAT, "t: line 2, column 1: fewer cells than the 4000");
    free(text);
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* 64 MB in one line of one word, 8 MB of separators, of an open quotation. Time linear in the length, no memory. */
static void test_long_line(void) {
    enum { MOST_S = 60 }; /* slow tools take seconds; what looks back over a line again and again takes hours */
    static const struct {
        char fill, first;
        const char *part;
    } cases[] = {{'a', 'a', "line 1, column 1: 'aaaaaaaaaaaaaaaaaaaaaaaa...' is not a number"},
                 {',', ',', "line 1, column 1: the cell is missing"},
                 {'x', '"', "line 1, column 1: a quotation that does not end"},
                 {'"', '"', "a quotation that does not end"},
                 {' ', ' ', "the file is empty"},
                 {'\n', '\n', "the file is empty"}};
    char *text = malloc((64 << 20) + 1);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        size_t n = ((i == 0 ? 64 : 8) << 20) + 1;
        memset(text, cases[i].fill, n);
        text[0] = cases[i].first;
        clf_mem mem;
        clf_dense x = {.data = NULL};
        clf_err err = {.code = CLF_OK};
        clf_mem_init(&mem, NULL, NULL);
        double t = seconds();
        CU_ASSERT_EQUAL(clf_read_csv("t", text, n, NULL, &mem, &x, NULL, &err), CLF_E_FORMAT);
        t = seconds() - t;
        if (!strstr(err.text, cases[i].part) || t > MOST_S) fprintf(stderr, "\n    case %d: %.2f s, %s\n", (int)i, t, err.text);
        CU_ASSERT(strstr(err.text, cases[i].part) != NULL);
        CU_ASSERT(t < MOST_S);
        CU_ASSERT_EQUAL(mem.peak_bytes, 0);
    }
    free(text);
}

/* One line of many numbers is a row like any other. */
static void test_long_row(void) {
    enum { COLS = 1000000 };
    char *text = malloc(2 * COLS);
    for (int i = 0; i < COLS; i++) {
        text[2 * i] = (char)('0' + i % 10);
        text[2 * i + 1] = i + 1 < COLS ? ';' : '\n';
    }
    reading r;
    reading_init(&r);
    CU_ASSERT_EQUAL_FATAL(reading_run(&r, "csv", text, 2 * COLS, NULL), CLF_OK);
    CU_ASSERT(r.x.rows == 1 && r.x.cols == COLS && cell(&r.x, 0, 123457) == 7 && cell(&r.x, 0, COLS - 1) == 9);
    reading_end(&r);
    free(text);
}

/* Every file that a cut or a changed byte makes of this one ends in a status, without fault or leak. */
static void test_damaged(void) {
    const char text[] = "\"a\",b;c,\"y\"\"\"\r\n1,2,\"dog\"\n3,NA,cat\n\n4,5e1,\"do\ng\"\n";
    static const char with[] = {0, '"', ',', ';', '\n', '\r', ' ', 'x', '1', '-', 'e', '\t', '\xef'};
    char copy[sizeof text];
    clf_read_opts o = {.dtype = CLF_F64, .na = CLF_NA_DROP, .label = "3"};
    reading r;
    for (size_t i = 0; i < sizeof text; i++) {
        for (size_t k = 0; k <= sizeof with && i < sizeof text - 1; k++) {
            size_t n = k == sizeof with ? i : sizeof text - 1;
            memcpy(copy, text, sizeof text);
            if (k < sizeof with) copy[i] = with[k];
            for (o.na = CLF_NA_ERROR; o.na <= CLF_NA_NAN; o.na++) {
                reading_init(&r);
                reading_run(&r, "csv", copy, n, &o);
                CU_ASSERT(r.st == CLF_OK || r.st == CLF_E_FORMAT || r.st == CLF_E_NAME);
                reading_end(&r);
            }
        }
    }
}

static void test_memory(void) {
    const char text[] = "a,y\n1,c1\n2,c2\n3,c3\n4,c4\n5,c5\n6,c6\n7,c7\n8,c8\n9,c9\n1,c10\n";
    clf_read_opts o = {.dtype = CLF_F64, .label = "y"};
    reading r;
    bool done = false;
    int tries = 0;
    for (; !done && tries < 20; tries++) {
        reading_init(&r);
        r.heap.fail_at = tries;
        reading_run(&r, "csv", text, strlen(text), &o);
        done = r.st == CLF_OK;
        if (!done) CU_ASSERT_EQUAL(r.st, CLF_E_NOMEM);
        reading_end(&r);
    }
    CU_ASSERT(done && tries == 5); /* features, labels, words, more words */
}

int main(void) {
    static const CU_TestInfo tests[] = {{"dialects", test_dialects},
                                        {"headers", test_header},
                                        {"labels", test_labels},
                                        {"labels that are not there", test_label_refused},
                                        {"nothing but labels", test_only_labels},
                                        {"many labels", test_many_labels},
                                        {"missing cells", test_missing},
                                        {"what is refused, and where", test_refused},
                                        {"more cells promised than bytes", test_implausible},
                                        {"a line of 64 MB", test_long_line},
                                        {"a row of a million cells", test_long_row},
                                        {"damaged at every byte", test_damaged},
                                        {"memory out", test_memory},
                                        CU_TEST_INFO_NULL};
    return run_suite("formats: csv", tests);
}
