/* SPDX-License-Identifier: Apache-2.0
 * The terms of the cost model: integers that are the same on every run, never falling as sizes grow, adding up from above, saturating,
 * 0 where nothing is done. Figures of a profile that are missing stay what they were; those that are there survive their text. */
#include <CUnit/Basic.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "planner/plan.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/cost_testing.h"

static clf_mem mem;

/* Each term with its sizes scaled by one number, so that all can be driven alike. */
typedef clf_ps (*term)(const clf_profile *p, double x);
static clf_ps t_read(const clf_profile *p, double x) { return clf_cost_read(p, x, 0); }
static clf_ps t_write(const clf_profile *p, double x) { return clf_cost_write(p, x, 0); }
static clf_ps t_gather_n(const clf_profile *p, double x) { return clf_cost_gather(p, x, 8, 1e5); }
static clf_ps t_gather_granule(const clf_profile *p, double x) { return clf_cost_gather(p, 10, x, 1e5); }
static clf_ps t_gather_set(const clf_profile *p, double x) { return clf_cost_gather(p, 10, 80, x); }
static clf_ps t_look_n(const clf_profile *p, double x) { return clf_cost_look(p, x, 1e5); }
static clf_ps t_look_set(const clf_profile *p, double x) { return clf_cost_look(p, 10, x); }
static clf_ps t_sides(const clf_profile *p, double x) { return clf_cost_sides(p, x); }
static clf_ps t_picks(const clf_profile *p, double x) { return clf_cost_pick(p, x, 8); }
static clf_ps t_cells(const clf_profile *p, double x) { return clf_cost_cells(p, true, CLF_CLASS_EXP, x); }
static clf_ps t_fma(const clf_profile *p, double x) { return clf_cost_fma(p, false, x); }
static clf_ps t_rows(const clf_profile *p, double x) { return clf_cost_rows(p, x); }
static clf_ps t_pairs(const clf_profile *p, double x) { return clf_cost_pairs(p, x); }
static clf_ps t_dots(const clf_profile *p, double x) { return clf_cost_dots(p, x); }
static clf_ps t_entries(const clf_profile *p, double x) { return clf_cost_entries(p, x); }
static clf_ps t_entry_rows(const clf_profile *p, double x) { return clf_cost_entry_rows(p, x); }
static clf_ps t_locate(const clf_profile *p, double x) { return clf_cost_locate(p, x); }
static clf_ps t_gaps(const clf_profile *p, double x) { return clf_cost_gaps(p, x); }
static clf_ps t_library(const clf_profile *p, double x) { return clf_cost_library(p, true, x, 30, 20); }
static clf_ps t_library_rows(const clf_profile *p, double x) { return clf_cost_library_vector(p, true, x, 30, true, 1e5); }
static clf_ps t_gemm(const clf_profile *p, double x) { return clf_cost_gemm(p, true, x, 30, 20); }
static clf_ps t_convert(const clf_profile *p, double x) { return clf_cost_convert(p, CLF_CONVERT_CSR, x, 10, x, 8); }
static clf_ps t_twin(const clf_profile *p, double x) { return clf_cost_convert(p, CLF_CONVERT_TWIN, 10, 10, x, 8); }
static clf_ps t_transfer(const clf_profile *p, double x) { return clf_cost_transfer(p, x); }
static const term terms[] = {t_read,       t_write,        t_gather_n, t_gather_granule, t_gather_set, t_cells,   t_fma,   t_rows,
                             t_dots,       t_entries,      t_locate,   t_gaps,           t_library,    t_convert, t_twin,  t_transfer,
                             t_entry_rows, t_library_rows, t_gemm,     t_look_n,         t_look_set,   t_sides,   t_picks, t_pairs};
enum { TERMS = sizeof terms / sizeof *terms };

static void all_profiles(void (*with)(const clf_profile *p)) {
    clf_profile p = simple();
    with(&p);
    for (int kind = CLF_DEV_HOST; kind <= CLF_DEV_GPU; kind++)
        for (int cores = 1; cores <= 64; cores *= 8) {
            clf_profile_assume(&p, (clf_device_kind)kind, cores);
            with(&p);
        }
    p = simple(); /* measured by accident: a larger set read faster, and was looked up faster */
    p.read_bytes_per_s[2] = 9e12;
    p.gather_ns[3] = 0.5;
    with(&p);
}

static void monotone(const clf_profile *p) {
    for (int i = 0; i < TERMS; i++) {
        clf_ps last = 0;
        for (double x = 0.25; x < 1e30; x *= 1.37) {
            clf_ps ps = terms[i](p, x);
            if (ps < last) printf("\n  term %d falls at %g", i, x);
            CU_ASSERT(ps >= last && ps <= CLF_PS_MOST);
            last = ps;
        }
        bool free = (terms[i] == t_sides && !(p->side_ns > 0)) || (terms[i] == t_picks && !(p->pick_ns > 0));
        bool stays = free || terms[i] == t_gather_set || terms[i] == t_look_set || (terms[i] == t_look_n && p->kind == CLF_DEV_GPU);
        CU_ASSERT(last == CLF_PS_MOST || stays || (terms[i] == t_transfer && p->zero_copy));
    }
}
static void test_monotone(void) { all_profiles(monotone); }

/* Whole, and up: parts never cost less than the whole at the same tier. */
static void adds(const clf_profile *p) {
    for (int i = 0; i < TERMS; i++) {
        if (terms[i] == t_gather_set || terms[i] == t_gather_granule || terms[i] == t_look_set) continue;
        for (double x = 1; x < 1e12; x *= 3.1)
            for (double part = x / 7; part < x; part += x / 7) {
                bool same_tier = p->tier_bytes[2] < part && p->tier_bytes[2] < x - part;
                bool tiers = terms[i] == t_read || terms[i] == t_write || terms[i] == t_library;
                tiers = tiers || (terms[i] == t_library_rows && p->library_wait_ns[1] > 0); /* it reads the matrix then */
                if (tiers && !same_tier) continue;
                clf_ps whole = terms[i](p, x); /* beyond 2^53 a double's last digit is more than a picosecond */
                CU_ASSERT(terms[i](p, part) + terms[i](p, x - part) + (whole >> 50) + 1 >= whole);
            }
    }
}
static void test_additive(void) {
    all_profiles(adds);
    clf_profile p = simple();
    CU_ASSERT_EQUAL(clf_cost_fma(&p, false, 0.1), 1); /* anything at all is a picosecond */
    CU_ASSERT_EQUAL(clf_cost_fma(&p, false, 10.5), 11);
    CU_ASSERT_EQUAL(clf_cost_read(&p, 1000.25, 0), 1001);
}

static void nothing(const clf_profile *p) {
    for (int i = 0; i < TERMS; i++)
        if (terms[i] != t_gather_granule && terms[i] != t_gather_set && terms[i] != t_look_set && terms[i] != t_twin)
            CU_ASSERT_EQUAL(terms[i](p, 0), 0);
    CU_ASSERT_EQUAL(clf_cost_library(p, true, 5, 0, 5), 0);
    CU_ASSERT_EQUAL(clf_cost_library(p, true, 5, 5, 0), 0);
    CU_ASSERT_EQUAL(clf_cost_library_vector(p, true, 5, 0, false, 0), 0);
    CU_ASSERT_EQUAL(clf_cost_convert(p, CLF_CONVERT_DENSE, 0, 1e9, 0, 8), 0);
    CU_ASSERT_EQUAL(clf_cost_gather(p, 0, 1e9, 1e9), 0);
}
static void test_zero(void) { all_profiles(nothing); }

static void huge(const clf_profile *p) {
    const double sizes[] = {1e18, 1e30, 1e300, INFINITY, (double)NAN};
    for (int i = 0; i < TERMS; i++)
        for (int k = 0; k < 5; k++) {
            clf_ps ps = terms[i](p, sizes[k]);
            CU_ASSERT(ps >= 0 && ps <= CLF_PS_MOST);
        }
    CU_ASSERT_EQUAL(clf_cost_library(p, true, 1e18, 1e18, 1e18), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_ps_add(CLF_PS_MOST, CLF_PS_MOST), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_ps_add(CLF_PS_MOST, 0), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_ps_add(CLF_PS_MOST - 1, 1), CLF_PS_MOST);
}
static void test_saturates(void) {
    all_profiles(huge);
    clf_profile none;
    memset(&none, 0, sizeof none); /* no rates at all: whatever is done is never chosen */
    CU_ASSERT_EQUAL(clf_cost_read(&none, 1, 0), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_cost_fma(&none, true, 1), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_cost_transfer(&none, 1), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_cost_library(&none, false, 1, 1, 1), CLF_PS_MOST);
    CU_ASSERT_EQUAL(clf_cost_read(&none, 0, 0), 0);
}

/* The numbers themselves, of an assumed profile: they may change with the model, never with the run or the build. */
static void test_exact(void) {
    clf_profile p;
    clf_profile_assume(&p, CLF_DEV_CPU, 3);
    p.read_bytes_per_s[3] = 1e10 / 3;
    p.cells_per_s[1][CLF_CLASS_POW] = 1e8 / 7;
    CU_ASSERT_EQUAL(clf_cost_read(&p, 12345679, 0), INT64_C(3703703700));
    CU_ASSERT_EQUAL(clf_cost_cells(&p, true, CLF_CLASS_POW, 1001), INT64_C(70070000));
    for (int i = 0; i < TERMS; i++)
        for (double x = 1; x < 1e15; x *= 9.7) CU_ASSERT_EQUAL(terms[i](&p, x), terms[i](&p, x));
}

/* A profile of an earlier version names none of the later figures. */
static void test_old_profile(void) {
    clf_profile p, before;
    clf_profile_assume(&p, CLF_DEV_CPU, 4);
    before = p;
    CU_ASSERT_EQUAL(clf_profile_parse(&p, "cores 4\nwrite_cost 2\n", 21, NULL), CLF_OK);
    CU_ASSERT_EQUAL(p.write_cost, 2);
    CU_ASSERT_EQUAL(p.fma_per_s[1], before.fma_per_s[1]);
    CU_ASSERT_EQUAL(p.gather_ns[3], before.gather_ns[3]);
    CU_ASSERT_EQUAL(clf_cost_library(&p, true, 9, 9, 9), clf_cost_library(&before, true, 9, 9, 9));
}

static void test_bad_figures(void) {
    static const char *const bad[] = {"fma_per_s 0 1\n",
                                      "fma_per_s 1 0\n",
                                      "fma_per_s 1\n",
                                      "fma_per_s 1 2 3\n",
                                      "library_flops_per_s 0 1\n",
                                      "convert_cells_per_s 0\n",
                                      "callout_bytes_per_s 0\n",
                                      "convert_entries_per_s 0\n",
                                      "gather_ns 1 2 3\n",
                                      "gather_ns 1 2 3 -4\n",
                                      "row_ns nan\n",
                                      "entry_ns inf\n",
                                      "library_half x 1\n",
                                      "library_half 1\n",
                                      "overlap 1.5\n"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        clf_profile p = simple();
        clf_err err = {CLF_OK, ""};
        CU_ASSERT_EQUAL(clf_profile_parse(&p, bad[i], strlen(bad[i]), &err), CLF_E_FORMAT);
        CU_ASSERT(err.text[0] != 0);
        CU_ASSERT_EQUAL(p.fma_per_s[1], simple().fma_per_s[1]);
    }
}

static void same_figures(const clf_profile *a, const clf_profile *b) {
    for (int i = 0; i < TERMS; i++)
        for (double x = 1; x < 1e12; x *= 13) CU_ASSERT_EQUAL(terms[i](a, x), terms[i](b, x));
    for (int k = 0; k < 6; k++) CU_ASSERT_EQUAL(clf_cost_launch(a, k), clf_cost_launch(b, k));
}

static void round_trip(const clf_profile *p) {
    clf_profile back;
    clf_str s;
    clf_str_init(&s, &mem);
    clf_profile_print(p, &s);
    memset(&back, 0, sizeof back);
    CU_ASSERT_EQUAL(clf_profile_parse(&back, clf_str_c(&s), s.len, NULL), CLF_OK);
    same_figures(p, &back);
    CU_ASSERT_EQUAL(memcmp(p->gather_ns, back.gather_ns, sizeof back.gather_ns), 0);
    clf_str_release(&s);
}
static void test_text(void) { all_profiles(round_trip); }

/* Those that planner tests are pinned to: whole, so that no assumed figure can change them. */
static void test_checked_in(void) {
    static const char *const names[] = {"host", "pocl", "fast-gpu-slow-link", "slow-gpu", "equal-a", "equal-b"};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        char path[512], text[8192];
        snprintf(path, sizeof path, "%s/golden/profiles/%s.txt", CLF_TESTS_DIR, names[i]);
        FILE *f = fopen(path, "rb");
        CU_ASSERT_PTR_NOT_NULL_FATAL(f);
        size_t n = fread(text, 1, sizeof text, f);
        fclose(f);
        clf_profile none, p;
        clf_err err = {CLF_OK, ""};
        memset(&none, 0, sizeof none);
        p = none;
        CU_ASSERT_EQUAL(clf_profile_parse(&p, text, n, &err), CLF_OK);
        if (err.text[0]) printf("\n  %s: %s", names[i], err.text);
        CU_ASSERT_EQUAL(p.assumed, 0);
        clf_str s;
        clf_str_init(&s, &mem);
        clf_profile_print(&p, &s);
        int lines = 0, keys = 0; /* every key the text form has is in the file */
        for (size_t k = 0; k < s.len; k++) lines += clf_str_c(&s)[k] == '\n';
        for (size_t k = 0; k < n; k++) keys += (text[k] == '\n') - (text[k] == '#');
        CU_ASSERT_EQUAL(keys, lines);
        clf_str_release(&s);
        monotone(&p);
        adds(&p);
        CU_ASSERT(p.library_flops_per_s[1] > p.fma_per_s[1]);
    }
}

int main(void) {
    clf_mem_init(&mem, NULL, NULL);
    const test_case tests[] = {{"terms never fall", test_monotone},
                               {"terms add up from above", test_additive},
                               {"nothing costs nothing", test_zero},
                               {"huge sizes saturate", test_saturates},
                               {"the same integers everywhere", test_exact},
                               {"a profile without later figures", test_old_profile},
                               {"figures that make no sense", test_bad_figures},
                               {"figures survive their text", test_text},
                               {"checked-in profiles", test_checked_in}};
    return run_suite("cost", tests, sizeof tests / sizeof *tests);
}
