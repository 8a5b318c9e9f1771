/* SPDX-License-Identifier: Apache-2.0
 * Plans that the search chooses, derived by hand. On this device reading and writing 80 MB take about 3.2 and 4.8 ms, 10^7 cells of a cheap
 * operator 5 ms at most, a launch 8 us: so what is read or stored decides, unless functions are dear. */
#include "planner/cost.h"
#include "planner/search.h"
#include "tests/support/plan_devices.h"
#include "tests/unit/plan_text.h"

static plan_devices devices;

static clf_limits on_pocl(void) { return (clf_limits){.dev = {1, {&devices.profile[1]}}, .kernel_ops = 200, .kernel_inputs = 48}; }

enum { VARS = 16 };
static const plan_var vars[VARS] = {
    {"X", 100000, 100, false, 0}, {"Y", 100000, 100, false, 0},         {"Z", 100000, 100, false, 0}, {"T", 100000, 100, false, 0},
    {"p", 1000000, 1, false, 0},  {"q", 1000000, 1, false, 0},          {"w", 100000, 1, false, 0},   {"v", 100, 1, false, 0},
    {"s", 1, 1, true, 0},         {"S", 100000, 50000, false, 5000000}, {"U", 100000, 10, false, 0},  {"V", 50000, 10, false, 0},
    {"D", 2000, 1500, false, 0},  {"R", 2000, 1500, false, 30000},      {"A", 2000, 10, false, 0},    {"C", 1500, 10, false, 0}};

static void chosen(const char *text, const char *want) {
    clf_limits lim = on_pocl();
    planned r = plan_with(vars, VARS, text, "cost", &lim);
    CU_ASSERT_EQUAL(r.p->gap_ps, 0);
    expect_text(&r, text, "cost", want);
}

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

/* A sum over a column next to cells over a matrix: rows are followed, or the sum would be taken once a column. */
static void test_inner_beside_cells(void) { chosen("X != w; t(w) %*% w", "Row X w > NE MATMUL > NE MATMUL"); }

/* The loss and the update of a factorisation visit the entries of S by themselves; D + ... makes the pattern's cells first. */
static void test_drivers(void) {
    chosen("sum(S * log(U %*% t(V) + 1e-15))", "Outer S U V > MATMUL ADD LOG MUL sum > sum");
    chosen("((S != 0) * (U %*% t(V) - S)) %*% V", "Outer S U V > NE MATMUL SUB MUL MATMUL > MATMUL");
    chosen("D + R * (A %*% t(C))", "Outer R A C > MATMUL MUL > MUL | MUL MUL | Cell D MUL > ADD > ADD");
}

int main(void) {
    static const test_case tests[] = {{"one pass", test_one_pass},
                                      {"computed again or stored", test_again_or_stored},
                                      {"drivers", test_drivers},
                                      {"inner product beside cells", test_inner_beside_cells}};
    if (!plan_devices_read(&devices, CLF_TESTS_DIR "/golden/profiles")) return 1;
    return run_suite("search", tests, sizeof tests / sizeof *tests);
}
