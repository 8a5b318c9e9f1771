/* SPDX-License-Identifier: Apache-2.0
 * Plans that the search chooses, derived by hand. On this device reading and writing 80 MB take about 3.2 and 4.8 ms, 10^7 cells of a cheap
 * operator 5 ms at most, a launch 8 us: so what is read or stored decides, unless functions are dear. The last tests choose devices, too. */
#include "planner/bill.h"
#include "planner/search.h"
#include "tests/support/plan_devices.h"
#include "tests/unit/plan_text.h"

static plan_devices devices;

static clf_limits on_pocl(void) {
    return (clf_limits){.dev = {.n = 1, .profile = {&devices.profile[1]}}, .kernel_ops = 200, .kernel_inputs = 48};
}

enum { VARS = 17 };
static const plan_var vars[VARS] = {
    {"X", 100000, 100, false, 0}, {"Y", 100000, 100, false, 0},         {"Z", 100000, 100, false, 0}, {"T", 100000, 100, false, 0},
    {"p", 1000000, 1, false, 0},  {"q", 1000000, 1, false, 0},          {"w", 100000, 1, false, 0},   {"v", 100, 1, false, 0},
    {"s", 1, 1, true, 0},         {"S", 100000, 50000, false, 5000000}, {"U", 100000, 10, false, 0},  {"V", 50000, 10, false, 0},
    {"D", 2000, 1500, false, 0},  {"R", 2000, 1500, false, 30000},      {"A", 2000, 10, false, 0},    {"C", 1500, 10, false, 0},
    {"E", 1500, 2000, false, 0}};

static void chosen_of(const plan_var *v, int n, const char *text, const char *want) {
    clf_limits lim = on_pocl();
    planned r = plan_with(v, n, text, "cost", &lim);
    CU_ASSERT_EQUAL(r.p->gap_ps, 0);
    expect_text(&r, text, "cost", want);
}

static void chosen(const char *text, const char *want) { chosen_of(vars, VARS, text, want); }

static void test_one_pass(void) {
    chosen("A = X*Y+Z; A; sum(A)", "Cell X Y Z > MUL ADD sum > ADD sum");
    chosen("r = p - s*q; r; sum(r^2)", "Cell q p > MUL SUB sumsq > SUB sumsq");
    chosen("t(X) %*% (w * (X %*% v))", "Row X w v > MATMUL MUL MATMUL > MATMUL");
    chosen("a = exp(X); sum(a*Y); colSums(a+Z); rowSums(a)", "Cell X Y Z > EXP MUL sum ADD colsum rowsum > sum colsum rowsum");
}

/* What two passes want is computed in both if that reads no more than storing it moves: two operands against one written and read. */
static void test_again_or_stored(void) {
    chosen("B = X + Y; k = sum(B); sum(B * k)", "Cell X Y > ADD sum > sum | Cell X Y sum > ADD MUL sum > sum");
    chosen("B = X + Y + Z + T; k = sum(B); sum(B * k)", "Cell X Y Z T > ADD ADD ADD sum > ADD sum | Cell ADD sum > MUL sum > sum");
    chosen("B = exp(sin(X)); k = sum(B); sum(B * k)", "Cell X > SIN EXP sum > EXP sum | Cell EXP sum > MUL sum > sum");
}

/* Square roots are kept by the pass that takes their exponentials: those are copied, no part that would have to run between. */
static void test_copies_between(void) {
    chosen("E = exp(sin(p)); k = sum(E); a = sqrt(seq(1, 1000000)); a; sum(E * k * a + exp(a))",
           "Cell p > SIN EXP sum > EXP sum | Cell EXP sum > SQRT MUL MUL ADD sum > SQRT sum");
}

/* A sum over a column next to cells over a matrix: rows are followed, or the sum would be taken once a column. */
static void test_inner_beside_cells(void) { chosen("X != w; t(w) %*% w", "Row X w > NE MATMUL > NE MATMUL"); }

/* The loss and the update of a factorisation visit the entries of S by themselves; D + ... makes the pattern's cells first. */
static void test_drivers(void) {
    chosen("sum(S * log(U %*% t(V) + 1e-15))", "Outer S U V > MATMUL ADD LOG MUL sum > sum");
    chosen("((S != 0) * (U %*% t(V) - S)) %*% V", "Outer S U V > NE MATMUL SUB MUL MATMUL > MATMUL");
    chosen("D + R * (A %*% t(C))", "Outer R A C > MATMUL MUL > MUL | MUL MUL | Cell D MUL > ADD > ADD");
}

/* An autoencoder where loops do products in tiles half as fast again as the library: each wide one in a pass of its own, with cells before or
 * behind it. Two of them in one loop would go row by row, and so would one that sums its cells up. */
static void test_tiles(void) {
    static const plan_var v[] = {{"X", 512, 784, false, 0}, {"W1", 784, 500, false, 0}, {"b1", 1, 500, false, 0},
                                 {"W2", 500, 2, false, 0},  {"W3", 2, 500, false, 0},   {"W4", 500, 784, false, 0}};
    static const char text[] = "H = sigmoid(sigmoid(X %*% W1 + b1) %*% W2); sum((sigmoid(sigmoid(H %*% W3) %*% W4) - X)^2)";
    clf_profile tiles = devices.profile[1];
    clf_limits lim = on_pocl();
    tiles.overlap = 0;
    tiles.tile_fma_per_s[1] = 2 * tiles.fma_per_s[1];
    tiles.library_flops_per_s[1] = tiles.tile_fma_per_s[1] * 2 / 3;
    lim.dev.profile[0] = &tiles;
    planned r = plan_with(v, 6, text, "cost", &lim);
    CU_ASSERT_EQUAL(r.p->gap_ps, 0);
    expect_text(&r, text, "cost",
                "Outer X W1 b1 > MATMUL ADD SIGMOID > SIGMOID | Row SIGMOID W2 > MATMUL > MATMUL | "
                "Outer MATMUL W3 > SIGMOID MATMUL > MATMUL | Outer MATMUL W4 > SIGMOID MATMUL > MATMUL | "
                "Cell MATMUL X > SIGMOID SUB sumsq > sumsq");
}

/* ---- devices ---- */

enum { HOST, POCL, FAST_GPU };

static clf_limits on_both(int second) {
    clf_limits lim = on_pocl();
    lim.dev = (clf_devices){.n = 2, .profile = {&devices.profile[HOST], &devices.profile[second]}, .loops_only = {false, true}};
    return lim;
}

/* The devices of the steps, in order: "1 0". */
static void placed_as(const planned *r, const char *want) {
    char got[64] = "";
    for (int32_t s = 0; s < r->p->nstep && strlen(got) + 3 < sizeof got; s++)
        snprintf(got + strlen(got), 3, s ? " %d" : "%d", r->p->step[s].device);
    if (strcmp(got, want)) printf("\n      got  %s\n      want %s\n", got, want);
    CU_ASSERT_STRING_EQUAL(got, want);
}

static void placed(const char *text, const clf_limits *lim, const char *want) {
    planned r = plan_with(vars, VARS, text, "cost", lim);
    CU_ASSERT_EQUAL(r.p->gap_ps, 0);
    CU_ASSERT_EQUAL(r.p->ndevice, lim->dev.n);
    placed_as(&r, want);
    drop(&r);
}

/* Device 1 starts a loop in 8 us and gives a result back after 17 more, device 0 starts one in 0.25 us. 100 values are nothing to either,
 * 10^7 take milliseconds, fewer on device 1. */
static void test_both(void) {
    clf_limits lim = on_both(POCL);
    placed("sum(X * Y + Z); sum(v * v)", &lim, "0 1");
    placed("k = sum(v * v); sum(X * k + Y)", &lim, "0 1"); /* what the host has made is there at once */
    placed("k = sum(X * Y); sqrt(v * k)", &lim, "1 0");    /* the caller waits for k, or for what is made of it */
    placed("k = sum(X * Y); order(v * k)", &lim, "1 0 0");
    placed("a = abs(sum(X * Y)); sum(X * a + Z * sum(v * a))", &lim, "1 1 1"); /* a launch is less than a wait */
}

enum { MOST = 100000 };

typedef clf_status (*searching)(const clf_problem *, const clf_search_options *, clf_arena *, clf_cover *, clf_search_stats *, clf_err *);

/* The price of what it ends with is what it says. */
static clf_search_stats searched_by(searching search, const planned *r, const clf_limits *lim, clf_search_options options) {
    clf_search_stats stats = {0};
    clf_err err = {CLF_OK, ""};
    clf_arena arena;
    clf_problem problem;
    clf_memo memo;
    clf_cover cover;
    clf_pricer pricer;
    clf_ps price;
    clf_arena_init(&arena, &r->c->mem);
    CU_ASSERT_EQUAL_FATAL(clf_explore(&r->p->g, &arena, &memo, &err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_problem_new(&memo, lim, &arena, &problem, &err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(search(&problem, &options, &arena, &cover, &stats, &err), CLF_OK);
    CU_ASSERT_EQUAL(clf_cover_check(&problem, &cover, &arena, &err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_pricer_new(&problem, &arena, &pricer, &err), CLF_OK);
    CU_ASSERT_EQUAL_FATAL(clf_cover_price(&pricer, &cover, &price, &err), CLF_OK);
    CU_ASSERT_EQUAL(price, stats.cost);
    clf_arena_release(&arena);
    return stats;
}

static clf_search_stats searched(const planned *r, const clf_limits *lim, clf_search_options options) {
    return searched_by(clf_search, r, lim, options);
}

/* The GPU is no use behind its slow link, but no bound says so. Of a budget that proves the host's own plan, or nearly, the search for both
 * spends the most on the GPU's: the host's answer is taken, unless its own is proved, or not looked for. */
static void test_host_where_unsure(void) {
    static const char *const texts[] = {"B = X + Y; k = sum(B); sum(B * k)",
                                        "D = X - Y; m = colSums(D); E = D - m; sum(E^2); colSums(E * Z); rowSums(E * D)",
                                        "a = exp(X); k = sum(a*Y); b = a*k; sum(b); colSums(b + Z); rowSums(a)"};
    clf_limits lim = on_both(FAST_GPU), host = on_pocl();
    host.dev.profile[0] = &devices.profile[HOST];
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        planned r = plan_with(vars, VARS, texts[i], "cost", &lim);
        for (int64_t budget = 32; budget <= 256; budget *= 8) {
            const clf_search_options few = {.budget = budget};
            clf_search_stats both = searched(&r, &lim, few), alone = searched(&r, &host, few),
                             sure = searched_by(clf_search_sure, &r, &lim, few);
            bool doubt = both.gap > both.cost / 4;
            CU_ASSERT_EQUAL(doubt, i > 0 || budget == 32);
            CU_ASSERT_EQUAL(sure.cost, doubt ? alone.cost : both.cost);
            CU_ASSERT(!doubt || alone.cost < both.cost);
            CU_ASSERT_EQUAL(sure.cost - sure.gap, both.cost - both.gap); /* less than that no plan costs */
            CU_ASSERT_EQUAL(sure.plans, both.plans + (doubt ? alone.plans : 0));
        }
        drop(&r);
    }
}

/* A step of conjugate gradients for a factor. Its search ends after a few covers and takes one that began on one device as a whole; what
 * does not belong there leaves it: the last quotient, of two single values, is the host's. */
static void test_moves(void) {
    static const plan_var v[] = {
        {"X", 10000, 5000, false, 250000}, {"F", 10000, 20, false, 0}, {"G", 5000, 20, false, 0}, {"R", 10000, 20, false, 0},
        {"S", 10000, 20, false, 0},        {"n", 10000, 1, false, 0},  {"rr", 1, 1, true, 0},     {"b", 1, 1, true, 0}};
    static const char text[] = "D = R + b*S; H = ((X != 0) * (D %*% t(G))) %*% G + n*D; s = sum(D*H); a = ifelse(s > 0, rr/s, 0)\n"
                               "R2 = R - a*H; rr2 = sum(R2^2); F + a*D; R2; D; rr2; rr2/rr";
    clf_limits lim = on_both(POCL);
    lim.search_share = 1;
    planned r = plan_with(v, sizeof v / sizeof *v, text, "cost", &lim);
    placed_as(&r, "1 1 1 0");
    clf_search_stats all = searched(&r, &lim, (clf_search_options){.budget = MOST});
    clf_search_stats few = searched(&r, &lim, (clf_search_options){.share = 1});
    CU_ASSERT(few.stopped && r.p->gap_ps == few.gap && few.cost >= all.cost && few.cost - few.gap <= all.cost);
    drop(&r);
}

/* An autoencoder's step, too large for its budget: all its openings leave products to the library. Device 1 goes through them in tiles
 * twice as fast: both gradients, which go over columns of their left sides, move into the loops that update weights. A product that
 * somebody else reads, too, is stored by the loop that takes it in. */
static void test_products_taken_in(void) {
    static const plan_var v[] = {{"X", 512, 784, false, 0}, {"W1", 784, 500, false, 0}, {"U1", 784, 500, false, 0},
                                 {"W2", 500, 2, false, 0},  {"W3", 2, 500, false, 0},   {"W4", 500, 784, false, 0},
                                 {"U4", 500, 784, false, 0}};
    static const char net[] = "H1 = sigmoid(X %*% W1); H3 = sigmoid(sigmoid(H1 %*% W2) %*% W3); loss = sum((sigmoid(H3 %*% W4) - X)^2)\n"
                              "V1 = 0.9*U1 - 0.1*grad(loss, W1); V4 = 0.9*U4 - 0.1*grad(loss, W4); W1 + V1; V1; W4 + V4; V4; loss";
    clf_profile tiles = devices.profile[POCL], host = devices.profile[HOST];
    clf_limits lim = on_both(POCL);
    char text[512];
    tiles.overlap = 0;
    tiles.tile_fma_per_s[1] = 2 * tiles.fma_per_s[1];
    host.library_flops_per_s[1] = tiles.tile_fma_per_s[1];
    lim.dev.profile[0] = &host;
    lim.dev.profile[1] = &tiles;
    for (int read = 0; read < 2; read++) {
        snprintf(text, sizeof text, "%s%s", net, read ? "; order(grad(loss, W4)[1:9, 1])" : "");
        planned r = plan_with(v, sizeof v / sizeof *v, text, "cost", &lim);
        int taken = 0, stored = 0;
        CU_ASSERT_TRUE(r.p->gap_ps > 0);
        for (int32_t s = 0; s < r.p->nstep; s++) {
            const clf_step *t = &r.p->step[s];
            for (int32_t i = 0; i < t->ncover; i++) {
                if (t->kind != CLF_STEP_FUSED || !clf_product_turned(&r.p->g, t->cover[i])) continue;
                CU_ASSERT_TRUE(t->device == 1 && t->ncover > 4);
                taken++;
                stored += t->nout;
            }
        }
        CU_ASSERT_EQUAL(taken, 2);
        CU_ASSERT_EQUAL(stored, 4 + read);
        (void)searched(&r, &lim, (clf_search_options){.share = 1});
        drop(&r);
    }
}

/* A product of 9 * 10^9 operations that no loop computes: 150 ms on the host, 1.5 ms on the GPU and 14 to get there and back. */
static void test_loops_only(void) {
    clf_limits lim = on_both(FAST_GPU);
    placed("t(D) %*% t(E)", &lim, "0");
    lim.dev.loops_only[1] = false;
    placed("t(D) %*% t(E)", &lim, "1");
}

/* The same by a library on the GPU, but no other step of its own, and no product with a vector. */
static void test_gemm(void) {
    clf_limits lim = on_both(FAST_GPU);
    clf_profile with = *lim.dev.profile[1];
    with.gemm_flops_per_s[0] = with.gemm_flops_per_s[1] = 5e12;
    with.gemm_half_cells = 1e5;
    with.gemm_ns = 5e4;
    lim.dev.profile[1] = &with;
    placed("t(D) %*% t(E)", &lim, "1");
    placed("order(colSums(t(D) %*% t(E))[1, 1:9])", &lim, "1 1 0 0");
    with.gemm_flops_per_s[0] = with.gemm_flops_per_s[1] = 1e9; /* slower than the host */
    placed("t(D) %*% t(E)", &lim, "0");
    with.gemm_flops_per_s[1] = 0; /* f32 alone */
    placed("t(D) %*% t(E)", &lim, "0");
}

/* 80 MB once for both sums, by one group of four at a time: local memory holds three sums. Apart, each sum has three. */
static void test_local_memory(void) {
    static const char text[] = "sum(X); sum(X * X)";
    clf_profile gpu = devices.profile[FAST_GPU];
    clf_limits lim = on_pocl();
    lim.dev.profile[0] = &gpu;
    for (int scarce = 0; scarce < 2; scarce++) {
        gpu.unit_groups = 4;
        gpu.group_cells = 1000;
        gpu.group_sum_bytes = 1000;
        gpu.unit_local_bytes = scarce ? 3000 : 8000;
        planned r = plan_with(vars, VARS, text, "cost", &lim);
        CU_ASSERT_EQUAL(r.p->gap_ps, 0);
        CU_ASSERT_EQUAL(r.p->nstep, 1 + scarce);
        for (int32_t s = 0; s < r.p->nstep; s++)
            CU_ASSERT_DOUBLE_EQUAL(clf_step_occupancy(&r.p->step[s], &gpu), scarce ? 10000.0 / (42 * 320) : 10000.0 / (32 * 320), 1e-12);
        drop(&r);
    }
}

/* A vector of 100 values has one group of 320 at work: 320 times what its bytes and operators take. */
static void test_small_grid(void) {
    clf_profile gpu = devices.profile[FAST_GPU];
    clf_limits lim = on_pocl();
    lim.dev.profile[0] = &gpu;
    planned full = plan_with(vars, VARS, "exp(v) * 2", "cost", &lim);
    gpu.unit_groups = 4;
    gpu.group_cells = 1000;
    planned few = plan_with(vars, VARS, "exp(v) * 2", "cost", &lim);
    clf_ps launch = clf_cost_launch(&gpu, CLF_STEP_FUSED);
    CU_ASSERT_EQUAL(full.p->nstep, 1);
    CU_ASSERT_EQUAL(few.p->nstep, 1);
    CU_ASSERT_EQUAL(few.p->cost_ps - launch, 320 * (full.p->cost_ps - launch));
    drop(&full);
    drop(&few);
}

/* exp over 80 MB: 17 ms on the host. The GPU needs 1 ms, and 27 for a slow link, unless that has been paid. */
static void test_resident(void) {
    clf_limits lim = on_both(FAST_GPU);
    const clf_profile *gpu = lim.dev.profile[1];
    int64_t credit[VARS] = {0};
    placed("sum(exp(X))", &lim, "0");
    lim.dev.resident[1] = credit;
    placed("sum(exp(X))", &lim, "0");
    credit[0] = clf_cost_transfer(gpu, 8e7) / 8; /* of 27 ms: 23 are left */
    placed("sum(exp(X))", &lim, "0");
    credit[0] = clf_cost_transfer(gpu, 8e7) / 2; /* 13 are left */
    placed("sum(exp(X))", &lim, "1");
    credit[0] = CLF_PS_MOST; /* what was paid too much is nobody's */
    placed("sum(exp(X))", &lim, "1");
    planned r = plan_with(vars, VARS, "sum(exp(X))", "cost", &lim);
    CU_ASSERT_EQUAL(r.p->cost_ps, clf_bill_pay(r.p->step[0].bill, &r.p->g, gpu) + clf_cost_transfer(gpu, 8) + clf_cost_wait(gpu));
    drop(&r);
    credit[0] = 0;
    credit[1] = CLF_PS_MOST; /* another leaf's */
    placed("sum(exp(X))", &lim, "0");
}

/* Beyond what is searched, all of it may still go to a device. */
static void test_many_nodes(void) {
    static char text[8192];
    clf_limits lim = on_both(POCL);
    int n = snprintf(text, sizeof text, "a0 = X");
    for (int i = 0; i < 160; i++) n += snprintf(text + n, sizeof text - (size_t)n, "; a%d = abs(a%d * Y)", i + 1, i);
    snprintf(text + n, sizeof text - (size_t)n, "; sum(a160)");
    planned r = plan_with(vars, VARS, text, "cost", &lim);
    for (int32_t s = 0; s < r.p->nstep; s++) CU_ASSERT_EQUAL(r.p->step[s].device, 1);
    CU_ASSERT(r.p->nstep > 1 && r.p->gap_ps > 0);
    drop(&r);
}

/* Following every branch to its end finds nothing cheaper, and sees the many covers that the bound knows to be dearer. */
static void test_bound(void) {
    static const struct {
        const char *text;
        int64_t least; /* partial covers that cutting saves, for each that is costed */
    } programs[] = {{"B = X + Y; k = sum(B); sum(B * k)", 2},
                    {"r = p - s*q; r; sum(r^2); sum(r * q)", 2},
                    {"D = X - Y; m = colSums(D); E = D - m; sum(E^2); colSums(E * Z); rowSums(E * D)", 10}};
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        clf_limits lim = on_pocl();
        planned r = plan_with(vars, VARS, programs[i].text, "cost", &lim);
        clf_search_stats cut = searched(&r, &lim, (clf_search_options){.budget = MOST});
        clf_search_stats all = searched(&r, &lim, (clf_search_options){.budget = MOST, .unbounded = true});
        CU_ASSERT(!cut.stopped && !all.stopped && cut.cost == all.cost && !cut.gap && !all.gap);
        CU_ASSERT(all.plans >= programs[i].least * cut.plans && all.covers > 1);
        drop(&r);
    }
}

/* A step of conjugate gradients for a factor and the loss: 30 nodes in one component. On a host that is assumed, two loops read X at least,
 * and each of them visits its entries, 20 ms: without that the bound stays 22 ms below the best cover. On the other device all moving hides
 * behind computing, so covers are found by what can still be connected: the opening costs 3.7 s, the best cover less than 0.1, and what is
 * looked up besides: rows of V in two loops, columns' counts in one of them. */
static void test_factorisation(void) {
    static const plan_var v[] = {
        {"X", 100000, 10000, false, 10000000}, {"U", 100000, 20, false, 0}, {"V", 10000, 20, false, 0}, {"S", 100000, 20, false, 0},
        {"R", 100000, 20, false, 0},           {"r2", 1, 1, true, 0},       {"lambda", 1, 1, true, 0}};
    static const char text[] =
        "W = X != 0; HS = (W * (S %*% t(V))) %*% V + lambda * S; a = r2 / sum(S * HS); U = U + a * S; R = R - a * HS\n"
        "n2 = sum(R^2); S = R + n2 / r2 * S; U; R; S; n2\n"
        "sum(W * (U %*% t(V) - X)^2) + lambda * (sum(U^2 * rowSums(W)) + sum(V^2 * t(colSums(W))))";
    clf_profile host;
    clf_profile_assume(&host, CLF_DEV_HOST, 1);
    clf_limits lim = {.dev = {.n = 1, .profile = {&host}}, .kernel_ops = 200, .kernel_inputs = 48}, pocl = on_pocl();
    planned r = plan_with(v, sizeof v / sizeof *v, text, "none", &lim);
    clf_search_stats proved = searched(&r, &lim, (clf_search_options){.budget = MOST});
    CU_ASSERT(!proved.stopped && !proved.gap && proved.largest == 30);
    CU_ASSERT(proved.plans <= 30000);
    clf_search_stats soon = searched(&r, &lim, (clf_search_options){0});
    CU_ASSERT(soon.cost == proved.cost && soon.gap < proved.cost / 400);
    clf_ps all = searched(&r, &pocl, (clf_search_options){0}).cost, rows = clf_cost_look(pocl.dev.profile[0], 1e7, 1.6e6);
    clf_profile near = *pocl.dev.profile[0];
    for (int t = 0; t < CLF_PROFILE_TIERS; t++) near.gather_ns[t] = 0;
    clf_ps counts = clf_cost_look(pocl.dev.profile[0], 1e7, 8e4);
    pocl.dev.profile[0] = &near;
    clf_ps hidden = searched(&r, &pocl, (clf_search_options){0}).cost;
    CU_ASSERT(hidden < 100000000000);
    CU_ASSERT_EQUAL(all - hidden, 2 * rows + counts);
    drop(&r);
}

/* A search may take its share of what one run costs: a few covers of what is cheap, fewer than all of what is dear. What it ends with is a
 * cover no dearer than the openings, and its gap says how far it is from proved. */
static void test_share(void) {
    static const char text[] = "D = X - Y; m = colSums(D); E = D - m; F = exp(E * Z); sum(F^2); colSums(F * Z); rowSums(F * D); "
                               "sum(abs(E)); rowSums(E^2); colSums(E)";
    clf_limits lim = on_both(POCL);
    planned r = plan_with(vars, VARS, text, "none", &lim);
    clf_search_stats all = searched(&r, &lim, (clf_search_options){.budget = MOST});
    clf_search_stats free = searched(&r, &lim, (clf_search_options){0}), wide = searched(&r, &lim, (clf_search_options){.share = 1000000});
    CU_ASSERT(wide.plans == free.plans && wide.cost == free.cost && wide.stopped == free.stopped);
    clf_search_stats few = searched(&r, &lim, (clf_search_options){.share = 1});
    CU_ASSERT(few.plans < all.plans && few.stopped && few.gap > 0);
    CU_ASSERT(few.cost >= all.cost && few.cost - few.gap <= all.cost);
    clf_search_stats own = searched(&r, &lim, (clf_search_options){.budget = MOST, .share = 1}); /* whoever says how many gets them */
    CU_ASSERT(own.plans == all.plans && own.cost == all.cost);
    drop(&r);
}

/* Cells without entry are w, and differ along a column. By entries: 25 ns for each that ends a range of them, 1 ns to visit it; 1,000,000
 * of 10^7 cells take 26 ms, 3,000,000 78 ms. By cells: finding places for 10^7 at 600,000,000 a second and moving entries at 100,000,000,
 * 26.7 and 46.7 ms, and a loop of 3.6 ms. So entries drive where one cell in ten is stored, not where three are. Without ranges an entry
 * costs what it reads and computes, and no conversion pays. */
static void test_layout(void) {
    static const plan_var v[] = {
        {"T", 100000, 100, false, 1000000}, {"X", 100000, 100, false, 3000000}, {"w", 100000, 1, false, 0}, {"Y", 100000, 100, false, 0}};
    chosen_of(v, 4, "colSums(T + w)", "Cell T w > ADD colsum > colsum");
    chosen_of(v, 4, "colSums(X + w)", "PARAM X | Cell X w > ADD colsum > colsum");
    chosen_of(v, 4, "sum(X * Y)", "Cell X Y > MUL sum > sum");
}

/* A result keeps its format: 2 * X is stored by entries though the sums beside it would rather have cells. */
static void test_layout_of_result(void) {
    static const plan_var v[] = {{"X", 100000, 100, false, 3000000}, {"w", 100000, 1, false, 0}};
    clf_limits lim = on_pocl();
    planned r = plan_with(v, 2, "2 * X; colSums(X + w)", "cost", &lim);
    CU_ASSERT_EQUAL(r.p->value[r.p->root[0]].format, CLF_CSR);
    drop(&r);
}

int main(void) {
    static const test_case tests[] = {{"one pass", test_one_pass},
                                      {"computed again or stored", test_again_or_stored},
                                      {"copied in between", test_copies_between},
                                      {"drivers", test_drivers},
                                      {"inner product beside cells", test_inner_beside_cells},
                                      {"loops in tiles", test_tiles},
                                      {"two devices", test_both},
                                      {"single parts elsewhere", test_moves},
                                      {"products taken in", test_products_taken_in},
                                      {"the host where unsure", test_host_where_unsure},
                                      {"a device for loops only", test_loops_only},
                                      {"a device with a library", test_gemm},
                                      {"local memory", test_local_memory},
                                      {"a small grid", test_small_grid},
                                      {"resident leaves", test_resident},
                                      {"more nodes than are searched", test_many_nodes},
                                      {"what the bound saves", test_bound},
                                      {"a factorisation's step", test_factorisation},
                                      {"its share", test_share},
                                      {"layouts", test_layout},
                                      {"layout of a result", test_layout_of_result}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    return run_suite("search", tests, sizeof tests / sizeof *tests);
}
