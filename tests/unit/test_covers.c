/* SPDX-License-Identifier: Apache-2.0
 * Plans kept on disk: the next context takes what the last one searched for, and computes the same; another program, another profile and
 * another limit search anew; what is damaged, or no plan of the program, is removed and searched for again; small work, CLF_CACHE=off and
 * a plain fold leave no file; readonly writes none. */
#include <sys/stat.h>

#include "host/run/exe_kernels.h"
#include "host/run/run.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/entry_testing.h"

enum { ROWS = 4000, COLS = 60, RESULTS = 4, MOST_PLANS = 16 };
#define PROGRAM(op) \
    "D = X - m; E = D " op " w; k = sum(E); q = E / rowSums(E) - k; c = colSums(q * D); F = exp(q) * c\n" \
    "sum(F * E); colSums(F * X) + c; sum(q * D); rowSums(F * D)"
static const char text[] = PROGRAM("*"), other[] = PROGRAM("/");

typedef struct log_counts {
    int found, dropped;
} log_counts;

static void count_lines(void *user, const char *topic, const char *line) {
    log_counts *l = user;
    l->found += !strcmp(topic, "plan") && strstr(line, "the plan was searched before");
    l->dropped += !strcmp(topic, "build") && strstr(line, "is left out");
}

typedef struct outcome {
    double scalar[2], cols[COLS], rows[ROWS];
    log_counts log;
    int64_t costed;
    double predicted_ns;
    bool kept;
} outcome;

static clf_ctx *open_keeping(log_counts *log, const char *cache) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = "host", .log = count_lines, .log_user = log};
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "log", "plan,build"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "cache_dir", folder), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "cache", cache), CLF_OK);
    return c;
}

static void evaluate(clf_ctx *c, const char *program_text, int64_t rows, outcome *out) {
    clf_mat *x = clf_rand(c, CLF_F64, rows, COLS, 1, 2, 1, 3), *m = clf_rand(c, CLF_F64, 1, COLS, 3, 4, 1, 5);
    clf_mat *given[] = {x, m};
    CU_ASSERT_EQUAL_FATAL(clf_eval(2, given), CLF_OK);
    const clf_binding vars[] = {{"X", x}, {"m", m}, {"w", clf_num(c, 0.75)}};
    program p = parse_bare(c, program_text, vars, 3);
    CU_ASSERT_EQUAL_FATAL(p.n, RESULTS);
    CU_ASSERT_EQUAL_FATAL(clf_eval(p.n, p.result), CLF_OK);
    out->scalar[0] = read_f64(p.result[0]);
    out->scalar[1] = read_f64(p.result[2]);
    CU_ASSERT_EQUAL(clf_read(p.result[1], out->cols, sizeof out->cols), CLF_OK);
    CU_ASSERT_EQUAL(clf_read(p.result[3], out->rows, (size_t)rows * sizeof *out->rows), CLF_OK);
}

/* The plan with most partial covers costed. */
static void note_plan(clf_ctx *c, outcome *out) {
    out->costed = 0;
    for (int b = 0; b < CLF_PLAN_BUCKETS; b++)
        for (const clf_exe *x = c->run->plans[b]; x; x = x->next)
            if (x->plan->ncosted > out->costed) {
                out->costed = x->plan->ncosted;
                out->predicted_ns = x->predicted_ns;
                out->kept = x->plan->kept;
            }
}

static outcome *run(const char *program_text, int64_t rows, const char *cache) {
    static outcome o[4];
    static int turn;
    outcome *out = &o[turn = (turn + 1) % 4];
    memset(out, 0, sizeof *out);
    clf_ctx *c = open_keeping(&out->log, cache);
    evaluate(c, program_text, rows, out);
    note_plan(c, out);
    clf_close(c);
    return out;
}

static void same_results(const outcome *a, const outcome *b) {
    CU_ASSERT(!memcmp(a->scalar, b->scalar, sizeof a->scalar) && !memcmp(a->cols, b->cols, sizeof a->cols));
    CU_ASSERT(!memcmp(a->rows, b->rows, sizeof a->rows));
}

static void same_outcome(const outcome *a, const outcome *b) {
    same_results(a, b);
    CU_ASSERT(a->costed == b->costed && a->predicted_ns == b->predicted_ns);
}

/* ---- the folder ---- */

typedef struct listing {
    int n, unsound;
    char name[MOST_PLANS][CLF_SAVED_NAME];
    bool told; /* what is in one: the program, in words */
} listing;

static void list_plan(void *user, const clf_cache_entry *e) {
    listing *l = user;
    l->unsound += !e->sound;
    if (!e->plan || l->n == MOST_PLANS) return;
    l->told = !*e->kernel && strstr(e->text, "device 0: ") && strstr(e->text, "= EXP f64 4000x60");
    snprintf(l->name[l->n++], CLF_SAVED_NAME, "%s", e->name);
}

static void add_bytes(void *user, const clf_cache_entry *e) { *(uint64_t *)user += e->bytes; }

static listing plans(void) {
    listing l = {0};
    clf_ctx *c = open_keeping(&(log_counts){0, 0}, "readonly");
    CU_ASSERT_EQUAL(clf_cache_list(c, false, list_plan, &l), CLF_OK);
    clf_close(c);
    return l;
}

static void forget_all(void) {
    clf_ctx *c = open_keeping(&(log_counts){0, 0}, "on");
    CU_ASSERT_EQUAL(clf_cache_prune(c, 0, NULL, NULL), CLF_OK);
    clf_close(c);
    CU_ASSERT_EQUAL(plans().n, 0);
}

static const char *plan_path(const char *name) {
    char path[PATH_MAX];
    snprintf(path, sizeof path, "kernels/%s", name);
    return in_folder(path);
}

/* ---- tests ---- */

static void test_kept(void) {
    forget_all();
    outcome *none = run(text, ROWS, "off"), *first = run(text, ROWS, "on");
    CU_ASSERT(first->log.found == 0 && first->costed >= 64 && none->log.found == 0);
    listing l = plans();
    CU_ASSERT(l.n == 1 && l.told && !l.unsound);
    same_outcome(none, first);
    outcome *second = run(text, ROWS, "on"), *third = run(text, ROWS, "readonly");
    CU_ASSERT(second->log.found == 1 && third->log.found == 1 && !second->log.dropped);
    same_outcome(none, second);
    same_outcome(none, third);
    CU_ASSERT(!none->kept && !first->kept && second->kept && third->kept);
    CU_ASSERT_EQUAL(plans().n, 1);
}

static void test_other_questions(void) {
    forget_all();
    (void)run(text, ROWS, "on");
    CU_ASSERT_EQUAL(run(other, ROWS, "on")->log.found, 0);
    CU_ASSERT_EQUAL(run(text, ROWS - 1, "on")->log.found, 0);
    CU_ASSERT_EQUAL(plans().n, 3);
    outcome o = {.log = {0, 0}};
    clf_ctx *c = open_keeping(&o.log, "on");
    evaluate(c, text, ROWS, &o);
    CU_ASSERT_EQUAL(o.log.found, 1);
    CU_ASSERT_EQUAL(clf_set(c, "kernel_ops", "3"), CLF_OK); /* other limits */
    evaluate(c, text, ROWS, &o);
    CU_ASSERT_EQUAL(o.log.found, 1);
    CU_ASSERT_EQUAL(clf_set(c, "kernel_ops", "200"), CLF_OK); /* the first ones again */
    evaluate(c, text, ROWS, &o);
    CU_ASSERT_EQUAL(o.log.found, 2);
    clf_run_forget(c);
    c->run->host.write_cost *= 1.5; /* another profile */
    evaluate(c, text, ROWS, &o);
    CU_ASSERT_EQUAL(o.log.found, 2);
    clf_close(c);
}

static void test_nothing_to_keep(void) {
    forget_all();
    (void)run(text, 10, "on");
    (void)run(text, ROWS, "readonly");
    (void)run(text, ROWS, "off");
    CU_ASSERT_EQUAL(plans().n, 0);
    log_counts log = {0, 0};
    clf_ctx *c = open_keeping(&log, "on");
    clf_mat *x = clf_rand(c, CLF_F64, ROWS, COLS, 1, 2, 1, 3);
    CU_ASSERT(clf_eval(1, &x) == CLF_OK && read_f64(clf_sum(clf_mul(x, x))) > 0); /* searched at once */
    clf_close(c);
    CU_ASSERT_EQUAL(plans().n, 0);
}

/* So many small plans that the folder would outgrow its limit: now and then those not used for longest go. */
static void test_limit(void) {
    enum { LIMIT = 20000, MOST = 400 };
    log_counts log = {0, 0};
    outcome o;
    forget_all();
    clf_ctx *c = open_keeping(&log, "on");
    CU_ASSERT_EQUAL(clf_set(c, "cache_bytes", "20000"), CLF_OK);
    uint64_t bytes = 0, was = 0;
    int i = 0;
    for (; i < MOST && bytes >= was; i++) {
        was = bytes;
        bytes = 0;
        evaluate(c, text, 3000 + i, &o);
        CU_ASSERT_EQUAL(clf_cache_list(c, false, add_bytes, &bytes), CLF_OK);
    }
    CU_ASSERT(i < MOST && bytes > 0 && bytes <= LIMIT);
    clf_close(c);
}

/* Wherever a byte of the cover is another, with the digest made right, the results are the same: it is searched for again, and kept again,
 * unless it is another plan of the program. */
static void test_wrong_covers(void) {
    forget_all();
    outcome want = *run(text, ROWS, "on");
    listing l = plans();
    CU_ASSERT_EQUAL_FATAL(l.n, 1);
    const char *path = plan_path(l.name[0]);
    clf_mem mem;
    clf_str file;
    clf_saved_entry e;
    clf_mem_init(&mem, NULL, NULL);
    clf_str_init(&file, &mem);
    read_entry(path, &file, &e);
    CU_ASSERT_EQUAL(e.kind, CLF_SAVED_COVER);
    size_t n = clf_covers_split(e.payload).cover.n;
    int dropped = 0, taken = 0;
    for (size_t at = 8; at < 8 + n; at += n / 20) {
        char *payload = malloc(e.payload.n);
        memcpy(payload, e.payload.at, e.payload.n);
        payload[at] = (char)(payload[at] ^ 0x5b);
        answer_entry(path, &e, (clf_bytes){payload, e.payload.n});
        CU_ASSERT_EQUAL(chmod(path, 0600), 0);
        outcome *got = run(text, ROWS, "on");
        dropped += got->log.dropped;
        taken += got->log.found && !got->log.dropped;
        if (got->log.dropped)
            same_outcome(&want, got);
        else
            same_results(&want, got);
        free(payload);
    }
    CU_ASSERT(dropped > 10 && dropped + taken >= 20);
    put_file(path, file.at, file.len / 2); /* and cut in the middle */
    outcome *got = run(text, ROWS, "on");
    CU_ASSERT(got->log.dropped == 1 && got->log.found == 0);
    same_outcome(&want, got);
    CU_ASSERT_EQUAL(run(text, ROWS, "on")->log.found, 1);
    clf_str_release(&file);
}

/* Kernels of a plan that was kept are asked for after a tenth of the time. */
static void test_kernels_of_kept(void) {
    clf_ctx *c = open_host();
    double at[2];
    for (int kept = 0; kept < 2; kept++) {
        clf_plan p = {.nstep = 1, .kept = kept};
        clf_exe_step step = {.waiting = true, .saving_ns = 2e6};
        clf_exe x = {.plan = &p, .step = &step, .predicted_ns = 1e7};
        clf_exe_count_waiting(c, &x);
        CU_ASSERT_EQUAL(x.nwaiting, 1);
        at[kept] = x.ask_at_ns;
    }
    CU_ASSERT(at[0] > 1e9 && at[0] < 1e10); /* what a second or so of compiling is worth at a fifth saved */
    CU_ASSERT_DOUBLE_EQUAL(at[1], at[0] / 10, 1);
    clf_close(c);
}

int main(void) {
    static const test_case tests[] = {
        {"kept and found", test_kept}, {"other questions", test_other_questions}, {"nothing to keep", test_nothing_to_keep},
        {"limit", test_limit},         {"damaged and wrong", test_wrong_covers},  {"kernels of what was kept", test_kernels_of_kept}};
    if (!make_folder("clfuse-covers")) return 1;
    int rc = run_suite("plans kept on disk", tests, sizeof tests / sizeof *tests);
    return remove_folder() ? rc : 1;
}
