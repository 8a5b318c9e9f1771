/* SPDX-License-Identifier: Apache-2.0
 * One of two devices is lost, at any call to it, or answers with failures: its steps go to the other one or to the host. Kernels are held
 * until somebody waits, so a wait that is missing between devices shows. Every time the right result, and again once all is well. */
#include <math.h>

#include "tests/fault/round.h"
#include "tests/support/net.h"
#include "tests/support/pinned_pair.h"

enum { N = 700, LARGE = 20000, COLS = 10, EACH = 4, WIDE = 64, ROUNDS = 3, DEVICES = 2, MOST_CALLS = 400 };

static const fault_layer *layer;
static pinned_pair pair;
static double x[LARGE], want[LARGE], want_cols[COLS], want_met[WIDE];
static int64_t ptr[LARGE / EACH + 1]; /* a sparse matrix of as many rows of EACH entries, whose cells are x */
static int32_t idx[LARGE];
static int cells = N;
static const char *split = "off";

/* States of columns meet. */
static bool fold_columns(clf_ctx *c) {
    double got[COLS];
    clf_mat *m = clf_matrix(c, CLF_F64, LARGE / COLS, COLS, x);
    clf_status st = clf_read(clf_col_sums(clf_mul(m, clf_num(c, 2))), got, sizeof got);
    if (st != CLF_OK) printf("\n    %s: %s\n", clf_status_name(st), clf_last_error(c));
    return st == CLF_OK && !memcmp(got, want_cols, sizeof got);
}

/* And of those that entries meet at. */
static bool meet_at_columns(clf_ctx *c) {
    double got[WIDE];
    const clf_binding vars[] = {{"X", clf_sparse_csr(c, CLF_F64, LARGE / EACH, WIDE, LARGE, ptr, idx, x, NULL)},
                                {"w", clf_matrix(c, CLF_F64, LARGE / EACH, 1, x)}};
    clf_status st = clf_read(clf_expr(c, "t(X) %*% w", vars, 2), got, sizeof got);
    if (st != CLF_OK) printf("\n    %s: %s\n", clf_status_name(st), clf_last_error(c));
    return st == CLF_OK && !memcmp(got, want_met, sizeof got);
}

/* Sums on one device, roots on the other; each round reads what both left. */
static bool climb(clf_ctx *c) {
    static double got[LARGE];
    size_t bytes = (size_t)cells * sizeof *got;
    clf_mat *m[2];
    m[0] = m[1] = clf_matrix(c, CLF_F64, cells, 1, x);
    for (int i = 0; i < ROUNDS; i++) {
        clf_mat *up = clf_add(m[1], m[0]);
        m[0] = m[1];
        m[1] = clf_sqrt(up);
    }
    clf_status st = clf_read(m[1], got, bytes);
    if (st != CLF_OK) printf("\n    %s: %s\n", clf_status_name(st), clf_last_error(c));
    return st == CLF_OK && !memcmp(got, want, bytes) && (cells == N || (fold_columns(c) && meet_at_columns(c)));
}

static void make_wanted(void) {
    double m[2];
    for (int k = 0; k < LARGE; k++) {
        x[k] = m[0] = m[1] = k % 13 + 0.5;
        for (int i = 0; i < ROUNDS; i++) {
            double root = sqrt(m[1] + m[0]);
            m[0] = m[1];
            m[1] = root;
        }
        want[k] = m[1];
        want_cols[k % COLS] += 2 * x[k];
    }
    for (int k = 0; k < LARGE; k++) {
        int row = k / EACH;
        ptr[row + 1] = k + 1;
        idx[k] = k % EACH * (WIDE / EACH) + row % (WIDE / EACH);
        want_met[idx[k]] += x[k] * x[row];
    }
}

static clf_ctx *open_two(const char *host_pointers) {
    clf_ctx *c = pinned_pair_open(&pair);
    if (c) CU_ASSERT(clf_set(c, "host_pointers", host_pointers) == CLF_OK && clf_set(c, "split", split) == CLF_OK);
    if (c) CU_ASSERT_EQUAL(clf_set(c, "transfer_queue", cells > N ? "on" : "auto"), CLF_OK);
    return c;
}

/* Everything runs where it is planned to, on both; both have a part of every step that is split. */
static bool on_both(clf_ctx *c) {
    clf_stats was = stats_of(c), is;
    bool good = climb(c);
    is = stats_of(c);
    CU_ASSERT_EQUAL(is.launches_tier2 - was.launches_tier2, cells > N ? 4 * ROUNDS + 4 : 2 * ROUNDS);
    CU_ASSERT_EQUAL(is.launches_split - was.launches_split, cells > N ? 2 * ROUNDS + 2 : 0);
    CU_ASSERT(is.devices_lost == was.devices_lost && is.fallbacks == was.fallbacks);
    return good;
}

typedef struct counts {
    long injected, rounds, elsewhere;
} counts;

/* False: it was not hit any more, so all calls have been. */
static bool lose_at(const char *host_pointers, int device, long at, int code, counts *n) {
    clf_ctx *c = open_two(host_pointers);
    if (!c) return false;
    CU_ASSERT_TRUE(climb(c)); /* kernels are built */
    layer->arm(FAULT_DEVICE, device, at, code);
    layer->hold();
    bool right = climb(c);
    right = right && climb(c); /* and without it from then on */
    long injected = layer->injected();
    clf_stats s = stats_of(c);
    layer->disarm();
    right = right && climb(c);
    CU_ASSERT_EQUAL(clf_set(c, "device", "2,1"), CLF_OK); /* all have another chance */
    CU_ASSERT_EQUAL(clf_set(c, "device", "1,2"), CLF_OK);
    right = right && on_both(c);
    clf_close(c);
    if (!right) printf("\n    device %d lost at call %ld with %d, host pointers %s\n", device + 1, at, code, host_pointers);
    CU_ASSERT_TRUE(right);
    CU_ASSERT(!injected || at + 1 < MOST_CALLS); /* calls enough for all of them */
    n->rounds += injected > 0;
    n->injected += injected;
    n->elsewhere += s.devices_lost > 0 || s.fallbacks > 0;
    CU_ASSERT(!injected || s.devices_lost + s.fallbacks + s.retries > 0);
    return injected > 0;
}

static void test_lost(void) {
    static const char *const pointers[] = {"on", "off"};
    static const int codes[] = {-36, -2, -5};
    counts n = {0};
    for (int p = 0; p < 2; p++)
        for (int d = 0; d < DEVICES; d++)
            for (size_t k = 0; k < sizeof codes / sizeof *codes; k++)
                for (long at = 1; at < MOST_CALLS && lose_at(pointers[p], d, at, codes[k], &n); at++) {
                }
    net_figure("one device of two lost", "%ld", n.rounds);
    net_figure("one device of two lost: planned again elsewhere", "%ld", n.elsewhere);
    CU_ASSERT(n.rounds > 0 && n.elsewhere == n.rounds);
}

/* Every step is shared by both and the host: the part of the one that is lost is done elsewhere. */
static void test_lost_split(void) {
    static const char *const pointers[] = {"on", "off"};
    counts n = {0};
    cells = LARGE;
    split = "40+30";
    for (int p = 0; p < 2; p++)
        for (int d = 0; d < DEVICES; d++)
            for (long at = 1; at < MOST_CALLS && lose_at(pointers[p], d, at, -36, &n); at += net_every(3, 6)) {
            }
    cells = N;
    split = "off";
    net_figure("one of two devices that share steps lost", "%ld", n.rounds);
    CU_ASSERT(n.rounds > 0 && n.elsewhere == n.rounds);
}

/* A kernel that fails late, whichever it is: tried again. */
static void test_late(void) {
    for (long at = 1; at <= 2L * ROUNDS; at++) {
        clf_ctx *c = open_two("on");
        if (!c) return;
        CU_ASSERT_TRUE(climb(c));
        layer->arm(FAULT_LATE_LOST, FAULT_ANY, at, -5);
        CU_ASSERT_TRUE(climb(c));
        CU_ASSERT(layer->injected() == 1 && stats_of(c).retries == 1 && stats_of(c).fallbacks == 0);
        layer->disarm();
        clf_close(c);
    }
}

/* Nothing starts before somebody waits, and all is well. */
static void test_held(void) {
    static const char *const pointers[] = {"on", "off"};
    for (int p = 0; p < 2; p++) {
        clf_ctx *c = open_two(pointers[p]);
        if (!c) return;
        layer->hold();
        CU_ASSERT_TRUE(climb(c));
        CU_ASSERT_TRUE(climb(c));
        CU_ASSERT_EQUAL(stats_of(c).launches_tier2, 4 * ROUNDS);
        layer->disarm();
        clf_close(c);
    }
}

enum { SKIPPED = 77 };

int main(void) {
    static const test_case tests[] = {
        {"held kernels", test_held}, {"late failures", test_late}, {"one lost", test_lost}, {"one lost, split", test_lost_split}};
    clf_profile host, first, second;
    pinned_pair_two_devices();
    layer = round_layer();
    if (!layer) return 1;
    make_wanted();
    pinned_pair_contrast_two(&host, &first, &second);
    if (!pinned_pair_make(&pair, &host, &first) || !pinned_pair_add(&pair, &second)) return 1;
    clf_ctx *c = pinned_pair_open(&pair);
    int rc = c ? run_suite("one of two devices", tests, sizeof tests / sizeof *tests) : SKIPPED;
    clf_close(c);
    pinned_pair_remove(&pair);
    return rc;
}
