/* SPDX-License-Identifier: Apache-2.0
 * CLF_PROFILE and CLF_TRACE: accounts that add up to the wall time, a row a kind of step, tables where they belong, files that are
 * written or refused at once, and what happens where there is no room. That the file is what viewers read is tests/cli/profile.sh's. */
#include <time.h>
#include <unistd.h>

#include "core/clock.h"
#include "host/run/meter.h"
#include "host/run/run.h"
#include "tests/unit/api_testing.h"
#include "tests/unit/folder_testing.h"

typedef struct heard {
    int lines, others;
    char text[1 << 16];
} heard;

static void hear(void *user, const char *topic, const char *line) {
    heard *h = user;
    size_t n = strlen(h->text);
    h->lines += !strcmp(topic, "profile");
    h->others += strcmp(topic, "profile") != 0;
    snprintf(h->text + n, sizeof h->text - n, "%s\n", line);
}

static clf_ctx *open_heard(heard *h, const char *device) {
    clf_ctx *c = NULL;
    clf_options o = {.struct_size = sizeof o, .device = device, .log = hear, .log_user = h};
    memset(h, 0, sizeof *h);
    CU_ASSERT_EQUAL_FATAL(clf_open(&c, &o), CLF_OK);
    return c;
}

static void sleep_ms(long ms) { nanosleep(&(struct timespec){ms / 1000, ms % 1000 * 1000000}, NULL); }

static uint64_t together(const clf_meter *m) {
    uint64_t ns = 0;
    for (int i = 0; i < CLF_NPARTS; i++) ns += m->ns[i];
    return ns;
}

static const clf_meter_row *row_by(const clf_meter *m, const char *by) {
    for (int i = 0; i < m->nrow; i++)
        if (!strcmp(m->row[i].by, by)) return &m->row[i];
    return NULL;
}

/* Ten times the same loop, with pauses between them: wall time, measured from outside, is what the accounts say together. */
static void run_loop(clf_ctx *c, const char *by) {
    enum { TIMES = 10, PAUSE_MS = 12 };
    uint64_t before = clf_now_ns();
    CU_ASSERT_EQUAL(clf_set(c, "profile", "on"), CLF_OK);
    uint64_t start = clf_now_ns();
    clf_mat *x = clf_rand(c, CLF_F64, 2000, 300, 0, 1, 1, 1);
    CU_ASSERT_EQUAL(clf_eval(1, &x), CLF_OK);
    for (int i = 0; i < TIMES; i++) {
        double r;
        CU_ASSERT_EQUAL(clf_read_f64(clf_sum(clf_exp(clf_mul(x, clf_num(c, i + 1.25)))), &r), CLF_OK);
        sleep_ms(PAUSE_MS);
    }
    uint64_t end = clf_now_ns();
    clf_ctx_lock(c);
    clf_ctx_unlock(c); /* charges what has passed */
    double least = (double)(end - start), most = (double)(clf_now_ns() - before);
    const clf_meter *m = c->meter;
    const clf_meter_row *loop = row_by(m, by), *made = row_by(m, "callout");
    CU_ASSERT_EQUAL(together(m), m->mark_ns - m->began_ns);
    CU_ASSERT((double)together(m) >= 0.98 * least && (double)together(m) <= 1.02 * most);
    CU_ASSERT(m->ns[CLF_PART_OUTSIDE] >= (uint64_t)TIMES * PAUSE_MS * 1000000);
    CU_ASSERT_FATAL(loop && made);
    CU_ASSERT(loop->calls == TIMES && made->calls == 1 && loop->bytes == 10 * (4800000.0 + 8));
    CU_ASSERT(loop->ns > 0 && loop->roof_ns > 0 && loop->predicted_ns > 0);
    CU_ASSERT(loop->ns + made->ns == m->ns[CLF_PART_STEP]);
    CU_ASSERT_EQUAL(m->times[CLF_PART_EVALUATE], TIMES + 1);
    CU_ASSERT(m->ns[CLF_PART_PLAN] > 0 && m->deep == 0);
}

static void test_together(void) {
    static heard h;
    clf_ctx *c = open_heard(&h, "host");
    run_loop(c, "tile");
    clf_close(c);
    CU_ASSERT(h.lines > 8 && h.others == 0);
    CU_ASSERT_PTR_NOT_NULL(strstr(h.text, "exp sum"));
    CU_ASSERT_PTR_NOT_NULL(strstr(h.text, "100.0 %"));
}

/* Kernels: each is waited for, so its time is its own; building them is no step. */
static void test_kernels(void) {
    static heard h;
    clf_device d = {.struct_size = sizeof d};
    clf_ctx *c = open_heard(&h, NULL);
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_set(c, "tier", "2"), CLF_OK);
        run_loop(c, "cell.chunk");
        CU_ASSERT(c->meter->ns[CLF_PART_BUILD] > 0);
        CU_ASSERT_EQUAL(row_by(c->meter, "cell.chunk")->track, CLF_TRACK_QUEUE + c->run->used.at[0]);
    }
    clf_close(c);
}

/* On and off again: told when it goes off, and nothing more at the end. Other settings in between change nothing. */
static void test_switch(void) {
    static heard h;
    clf_ctx *c = open_heard(&h, "host");
    CU_ASSERT_PTR_NULL(c->meter);
    CU_ASSERT_EQUAL(clf_set(c, "profile", "on"), CLF_OK);
    const clf_meter *m = c->meter;
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 100, 1))), 5050);
    CU_ASSERT_EQUAL(clf_set(c, "threads", "2"), CLF_OK);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 100, 1))), 5050);
    CU_ASSERT(c->meter == m && m->nrow == 1 && m->row[0].calls == 2 && !h.lines);
    CU_ASSERT_EQUAL(clf_set(c, "profile", "off"), CLF_OK);
    int lines = h.lines;
    CU_ASSERT(!c->meter && lines > 4);
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 100, 1))), 5050);
    clf_close(c);
    CU_ASSERT_EQUAL(h.lines, lines);
}

static void test_file(void) {
    char path[256], bad[256];
    clf_ctx *c = open_host();
    snprintf(path, sizeof path, "%s", in_folder("t.json"));
    snprintf(bad, sizeof bad, "%s", in_folder("none/t.json"));
    expect_error(c, clf_set(c, "trace", bad), CLF_E_IO, "CLF_TRACE: cannot write");
    CU_ASSERT(!c->meter && !c->knobs.trace[0]);
    CU_ASSERT_EQUAL(clf_set(c, "trace", path), CLF_OK);
    expect_error(c, clf_set(c, "trace", bad), CLF_E_IO, "CLF_TRACE: cannot write");
    CU_ASSERT(c->meter && !strcmp(c->meter->path, path)); /* what was, stays */
    CU_ASSERT_EQUAL(read_f64(clf_sum(clf_seq(c, 1, 100, 1))), 5050);
    CU_ASSERT(c->meter->nevent >= 3 && !c->meter->lost);
    clf_close(c);
    FILE *f = fopen(path, "rb");
    CU_ASSERT_PTR_NOT_NULL_FATAL(f);
    static char text[1 << 16];
    text[fread(text, 1, sizeof text - 1, f)] = 0;
    fclose(f);
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"traceEvents\": ["));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "\"lost\": \"0\""));
    CU_ASSERT_PTR_NOT_NULL(strstr(text, "Cell: sum"));
}

/* Workers tell of their shares of a job, beside the caller. */
static void test_workers(void) {
    clf_ctx *c = open_host();
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("w.json"));
    CU_ASSERT_EQUAL(clf_set(c, "trace", path), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "threads", "3"), CLF_OK); /* another pool, watched as well */
    bool seen[3] = {false};
    clf_mat *x = clf_rand(c, CLF_F64, 3000, 300, 0, 1, 1, 1);
    for (int i = 0; i < 20 && !(seen[0] && seen[1] && seen[2]); i++) {
        read_f64(clf_sum(clf_exp(clf_mul(x, clf_num(c, i)))));
        for (size_t k = 0; k < c->meter->nevent; k++) {
            const clf_meter_event *e = &c->meter->event[k];
            CU_ASSERT(e->track < CLF_TRACK_WORKER + 3 && e->start_ns >= c->meter->began_ns);
            if (e->track >= CLF_TRACK_WORKER) seen[e->track - CLF_TRACK_WORKER] = true;
        }
    }
    CU_ASSERT(seen[0] && (seen[1] || seen[2]));
    clf_close(c);
}

/* More kinds of steps than rows, more frames than places, more events than room: counted, and nothing is written where nothing is. */
static void test_too_much(void) {
    static heard h;
    clf_ctx *c = open_heard(&h, "host");
    CU_ASSERT_EQUAL(clf_set(c, "profile", "on"), CLF_OK);
    CU_ASSERT_EQUAL(clf_set(c, "trace", in_folder("m.json")), CLF_OK);
    clf_meter *m = c->meter;
    m->nrow = CLF_METER_ROWS - 2; /* as if so many had been seen */
    m->nevent = m->cap = 0;
    clf_mat *x = clf_rand(c, CLF_F64, 30, 30, 0, 1, 1, 1);
    read_f64(clf_sum(x));
    read_f64(clf_sum(clf_exp(x)));
    read_f64(clf_sum(clf_sqrt(x)));
    CU_ASSERT_EQUAL(m->nrow, CLF_METER_ROWS);
    CU_ASSERT_STRING_EQUAL(m->row[CLF_METER_ROWS - 1].name, "other steps");
    CU_ASSERT(m->row[CLF_METER_ROWS - 1].calls >= 2);
    for (int i = 0; i < 2 * CLF_METER_DEEP; i++) clf_meter_enter(m, CLF_PART_PLAN);
    for (int i = 0; i < 2 * CLF_METER_DEEP; i++) clf_meter_leave(m);
    clf_meter_leave(m); /* once too often */
    CU_ASSERT_EQUAL(m->deep, 0);
    CU_ASSERT_EQUAL(together(m), m->mark_ns - m->began_ns);
    const clf_meter_event e = {.start_ns = m->began_ns, .part = CLF_PART_PLAN, .row = -1};
    while (!m->lost) clf_meter_note(m, &e);
    CU_ASSERT_EQUAL(m->nevent, CLF_METER_EVENTS);
    clf_close(c);
    CU_ASSERT_PTR_NOT_NULL(strstr(h.text, "other steps"));
    CU_ASSERT_PTR_NOT_NULL(strstr(h.text, "kinds of steps more"));
}

/* A device's figures as text say what plans are made with. */
static void test_profiles(void) {
    static text_sink t;
    clf_ctx *c = open_host();
    clf_profile p;
    CU_ASSERT_EQUAL(clf_device_profile(c, 0, collect, empty_sink(&t)), CLF_OK);
    clf_profile_assume(&p, CLF_DEV_GPU, 7);
    CU_ASSERT_EQUAL(clf_profile_parse(&p, t.at, t.n, NULL), CLF_OK);
    CU_ASSERT(p.kind == CLF_DEV_HOST && p.read_bytes_per_s[0] == clf_run_host_profile(c)->read_bytes_per_s[0]);
    expect_error(c, clf_device_profile(c, 99, collect, empty_sink(&t)), CLF_E_NODEV, "no device 99");
    expect_error(c, clf_device_profile(c, -1, collect, &t), CLF_E_NODEV, "no device -1");
    CU_ASSERT(clf_device_profile(c, 0, NULL, NULL) == CLF_E_ARG && clf_device_profile(NULL, 0, collect, &t) == CLF_E_ARG && !t.n);
    clf_device d = {.struct_size = sizeof d};
    if (clf_device_at(c, 1, &d)) {
        CU_ASSERT_EQUAL(clf_device_profile(c, 1, collect, &t), CLF_OK);
        CU_ASSERT_PTR_NOT_NULL(strstr(t.at, d.name));
    }
    clf_close(c);
}

static clf_status under(counting_heap *heap, const char *path) {
    clf_options o = {.struct_size = sizeof o, .device = "host", .alloc = counting_alloc, .alloc_user = heap};
    clf_ctx *c = NULL;
    double v = 0;
    clf_status st = clf_open(&c, &o);
    if (st != CLF_OK) return st;
    st = clf_set(c, "trace", path);
    if (st == CLF_OK) st = clf_read_f64(clf_sum(clf_exp(clf_fill(c, CLF_F64, 30, 30, 0))), &v);
    if (st == CLF_OK) CU_ASSERT_EQUAL(v, 900);
    clf_close(c);
    return st;
}

/* Measuring never fails an evaluation that memory suffices for, and leaves nothing behind. */
static void test_allocations(void) {
    char path[256];
    snprintf(path, sizeof path, "%s", in_folder("a.json"));
    counting_heap h = {.fail_at = 0};
    CU_ASSERT_EQUAL(under(&h, path), CLF_OK);
    long long all = atomic_load(&h.count), bad = 0;
    for (long long n = 1; n <= all; n++) {
        counting_heap g = {.fail_at = n};
        clf_status st = under(&g, path);
        bad += (st != CLF_E_NOMEM && st != CLF_OK) || atomic_load(&g.live) != 0;
    }
    CU_ASSERT_EQUAL(bad, 0);
}

int main(void) {
    static const test_case tests[] = {
        {"accounts add up", test_together},
        {"kernels", test_kernels},
        {"on and off", test_switch},
        {"files", test_file},
        {"workers", test_workers},
        {"too much", test_too_much},
        {"allocations fail", test_allocations},
        {"profiles as text", test_profiles},
    };
    if (!make_folder("clfuse-meter")) return 1;
    int failed = run_suite("meter", tests, sizeof tests / sizeof *tests);
    return !remove_folder() || failed;
}
