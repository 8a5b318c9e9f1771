/* SPDX-License-Identifier: Apache-2.0
 * Files that are there: the corpus of hostile ones, and real data in CLF_TEST_DATA or ../shared/data where there is some. */
#include <dirent.h>
#include <unistd.h>

#include "tests/unit/formats_testing.h"

/* Every file of the corpus ends in a status: those named bad* in a failure, those named good* in none. */
static void test_corpus(void) {
    static const char *const types[] = {"npy", "csv", "mtx", "svm"};
    for (int i = 0; i < 4; i++) {
        char path[1024];
        int seen = 0;
        snprintf(path, sizeof path, "%s/corpus/%s", CLF_TESTS_DIR, types[i]);
        DIR *d = opendir(path);
        CU_ASSERT_PTR_NOT_NULL_FATAL(d);
        for (struct dirent *e; (e = readdir(d));) {
            if (e->d_name[0] == '.') continue;
            char note[200];
            reading r;
            snprintf(path, sizeof path, "%s/corpus/%s/%s", CLF_TESTS_DIR, types[i], e->d_name);
            read_named(&r, path, types[i], NULL, note);
            bool good = strncmp(e->d_name, "good", 4) == 0;
            if (good != (r.st == CLF_OK)) fprintf(stderr, "\n    %s: %d %s\n", path, r.st, r.err.text);
            CU_ASSERT(good == (r.st == CLF_OK));
            reading_end(&r);
            seen++;
        }
        closedir(d);
        CU_ASSERT(seen >= 10);
    }
}

static bool data_path(char path[1024], const char *name) {
    const char *env = getenv("CLF_TEST_DATA");
    snprintf(path, 1024, "%s/%s", env ? env : CLF_TESTS_DIR "/../../shared/data", name);
    return access(path, R_OK) == 0;
}

static void test_eeg(void) {
    char path[1024], note[200];
    clf_read_opts o = {.dtype = CLF_F64, .label = "Eye", .na = CLF_NA_DROP};
    reading r;
    if (!data_path(path, "eeg.csv")) return;
    CU_ASSERT_EQUAL(read_named(&r, path, NULL, &o, note), CLF_OK);
    CU_ASSERT(r.x.rows == 14934 && r.x.cols == 14 && r.y.rows == 14934 && strstr(note, "21 rows with missing cells dropped"));
    CU_ASSERT(cell(&r.x, 0, 0) == 4329.23 && cell(&r.x, 14933, 13) == 4384.1 && cell(&r.y, 0, 0) == 0);
    double ones = 0;
    for (int64_t i = 0; i < r.y.rows; i++) ones += cell(&r.y, i, 0);
    CU_ASSERT(ones > 6000 && ones < 7500);
    reading_end(&r);
    o.na = CLF_NA_NAN;
    CU_ASSERT_EQUAL(read_named(&r, path, NULL, &o, note), CLF_OK);
    CU_ASSERT(r.x.rows == 14955 && note[0] == '\0');
    reading_end(&r);
    o.na = CLF_NA_ERROR;
    CU_ASSERT_EQUAL(read_named(&r, path, NULL, &o, note), CLF_E_FORMAT);
    CU_ASSERT(strstr(r.err.text, "line 11, column 2: the cell is missing") != NULL);
    reading_end(&r);
}

static void test_other_data(void) {
    char path[1024], note[200];
    clf_read_opts species = {.dtype = CLF_F64, .label = "Species"}, colour = {.dtype = CLF_F32, .label = "13"};
    reading r;
    if (data_path(path, "iris.csv")) {
        CU_ASSERT_EQUAL(read_named(&r, path, NULL, &species, note), CLF_OK);
        CU_ASSERT(r.x.rows == 150 && r.x.cols == 5 && cell(&r.y, 0, 0) == 1 && cell(&r.y, 149, 0) == 3 && cell(&r.x, 149, 4) == 1.8);
        reading_end(&r);
    }
    if (data_path(path, "winequality.csv")) {
        CU_ASSERT_EQUAL(read_named(&r, path, NULL, &colour, note), CLF_OK);
        CU_ASSERT(r.x.rows == 6497 && r.x.cols == 12 && cell(&r.x, 0, 0) == (double)7.4f && cell(&r.y, 6496, 0) == 2);
        reading_end(&r);
    }
    if (data_path(path, "titanic.csv")) {
        CU_ASSERT_EQUAL(read_named(&r, path, NULL, NULL, note), CLF_E_FORMAT);
        CU_ASSERT(strstr(r.err.text, "line 2, column 3: 'baclini, mrs.") != NULL);
        reading_end(&r);
    }
}

int main(void) {
    static const CU_TestInfo tests[] = {
        {"corpus", test_corpus}, {"real data: eeg", test_eeg}, {"real data: others", test_other_data}, CU_TEST_INFO_NULL};
    return run_suite("formats: files that are there", tests);
}
