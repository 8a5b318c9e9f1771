/* SPDX-License-Identifier: Apache-2.0
 * Kernels that come later. With CLF_COMPILE=background nobody waits for a compiler: a step whose kernel is not there runs on the host
 * executor (tier 0) or on a generic kernel (tier 1), and is looked at again before later runs. A kernel is asked for when what it saves
 * pays the compiling, by the rule of who knows nothing of the future: as much is still to come as there has been. A plan that an earlier
 * process made, too, will be made again, by processes that may each be too short: of its kernels a tenth of that is asked. Savings are
 * predicted as a share of a run, and the runs are measured: profiles may be far off. */
#include <math.h>
#include <string.h>

#include "host/run/exe_window.h"
#include "host/run/run.h"

/* Programs that are asked for have a few kernels each, so that several workers have something to do. */
enum { ASK_KERNELS = 8 };
/* What compiling a kernel takes of another core, and the share of it from which on one goes along with others. */
static const double compile_ns = 0.3e9, along = 0.25, known_share = 0.1;

/* What kernels of the plan have to save before they are asked for. */
static double price_ns(const clf_plan *p) { return p->kept ? known_share * compile_ns : compile_ns; }

/* Best effort: what cannot be asked for now is asked for another time. */
static void ask_joined(clf_window *w) {
    clf_join *j = &w->join;
    clf_err failed = {CLF_OK, ""};
    bool one = j->n == 1;
    const char *text = one ? j->src[0]->text : clf_str_c(&j->text);
    if (j->n && (one || !j->text.failed) &&
        clf_programs_ask(w->c->run->devs, w->dev, text, one ? j->src[0]->text_len : j->text.len, j->src, j->n, &failed) != CLF_OK)
        CLF_TRACE(&w->c->trace, build, "%d kernels are not asked for: %s", j->n, failed.text);
    clf_join_release(j);
}

/* Does the kernel of a waiting step pay by now? */
static bool is_due(const clf_window *w, const clf_exe_step *e, double share) {
    const clf_exe *x = w->x;
    return w->all || e->saving_ns / x->predicted_ns * (x->spent_ns + x->predicted_ns) >= share * price_ns(x->plan);
}

static void ask_one(clf_window *w, const clf_draft *d, const clf_source *src) {
    clf_devs *devs = w->c->run->devs;
    if (!src->text || clf_program_known(devs, w->dev, src) || clf_program_asked(devs, w->dev, src)) return;
    CLF_TRACE(&w->c->trace, build, "step %d: kernel %s is asked for, %.0f ms spent on its plan so far", d->step, src->entry,
              w->x->spent_ns * 1e-6);
    clf_join_verdict v = w->join.n < ASK_KERNELS ? clf_join_add(&w->join, src) : CLF_JOIN_FULL;
    if (v == CLF_JOIN_FULL) {
        ask_joined(w);
        v = clf_join_add(&w->join, src);
    }
    if (v == CLF_JOIN_UNFIT) clf_programs_ask(devs, w->dev, src->text, src->text_len, &src, 1, NULL);
}

/* Both of a step's kernels are there, or one that is known not to build. */
static bool all_known(const clf_window *w, const clf_draft *d) {
    clf_devs *devs = w->c->run->devs;
    return clf_program_known(devs, w->dev, &d->src) && (!d->merge.text || clf_program_known(devs, w->dev, &d->merge));
}

static bool any_asked(const clf_window *w, const clf_draft *d) {
    const clf_devs *devs = w->c->run->devs;
    return clf_program_asked(devs, w->dev, &d->src) || (d->merge.text && clf_program_asked(devs, w->dev, &d->merge));
}

/* Why a step that waits has no kernel of its own, by what runs it meanwhile. */
typedef enum reason { TOO_EARLY, UNDER_WAY, NOT_BUILT } reason;
static void say_why(clf_exe_step *e, bool generic, reason r) {
    static const char *const why[][3] = {
        {"tier 0: compiling its kernel does not pay yet", "tier 0: its kernel is being compiled", "tier 0: its kernel was not built"},
        {"tier 1: compiling its kernel does not pay yet", "tier 1: its kernel is being compiled", "tier 1: its kernel was not built"}};
    e->why = why[generic][r];
}

static void ask_new(clf_window *w) {
    int32_t first = -1;
    for (int i = 0; i < w->n; i++) {
        clf_draft *d = &w->d[i];
        clf_exe_step *e = &w->x->step[d->step];
        if (e->asked && !any_asked(w, d)) say_why(e, d->generic, NOT_BUILT);
        if (all_known(w, d) || (!w->all && (e->asked || !is_due(w, e, along)))) continue;
        e->asked = true;
        say_why(e, d->generic, UNDER_WAY);
        ask_one(w, d, &d->src);
        ask_one(w, d, &d->merge);
        if (first < 0) first = d->step;
    }
    ask_joined(w);
    if (first >= 0) clf_window_ask_generic(w, first);
}

/* What runs the step until its kernel is there: a generic one, else the host executor. */
static clf_status meanwhile(clf_window *w, int32_t s, clf_err *err) {
    clf_exe_step *e = &w->x->step[s];
    bool generic = false;
    if (clf_window_generic(w, s, &generic) != CLF_OK)
        return clf_fail(err, CLF_E_NOMEM, "evaluation: out of memory while preparing the plan");
    if (generic) e->executor = CLF_ON_KERNEL;
    return CLF_OK;
}

/* What only the reference executor could run is waited for. */
static clf_status wait_for_kernel(clf_window *w, int32_t s, bool *waits, clf_err *err) {
    clf_exe_step *e = &w->x->step[s];
    CLF_TRY(clf_exe_on_host(w->c, w->x, s, err));
    *waits = e->executor != CLF_ON_REF;
    if (!*waits) {
        e->executor = CLF_ON_KERNEL;
        e->why = "";
        return CLF_OK;
    }
    e->waiting = true;
    CLF_TRY(meanwhile(w, s, err));
    say_why(e, e->executor == CLF_ON_KERNEL, e->asked ? UNDER_WAY : TOO_EARLY);
    CLF_TRACE(&w->c->trace, build, "step %d: %s", s, e->why);
    return CLF_OK;
}

/* It was written anew, and a generic kernel may have come. */
static clf_status wait_on(clf_window *w, const clf_draft *d, clf_err *err) {
    clf_exe_step *e = &w->x->step[d->step];
    const char *was = e->why;
    CLF_TRY(clf_exe_on_host(w->c, w->x, d->step, err));
    CLF_TRY(meanwhile(w, d->step, err));
    bool generic = e->executor == CLF_ON_KERNEL;
    e->why = was;
    if (generic == d->generic) return CLF_OK;
    say_why(e, generic, e->asked ? UNDER_WAY : TOO_EARLY);
    CLF_TRACE(&w->c->trace, build, "step %d: %s", d->step, e->why);
    return CLF_OK;
}

/* The kernel is there, or known not to build. */
static clf_status take_over(clf_window *w, const clf_draft *d, clf_err *err) {
    clf_exe_step *e = &w->x->step[d->step];
    clf_err failed = {CLF_OK, ""};
    e->nparts = 0;
    if (clf_window_keep(w, d, &failed) != CLF_OK) return clf_window_give_up(w->c, w->x, d->step, &failed, err);
    if (e->waiting) CLF_TRACE(&w->c->trace, build, "step %d: kernel %s takes over", d->step, d->src.entry);
    e->executor = CLF_ON_KERNEL;
    e->waiting = false;
    e->why = "";
    return CLF_OK;
}

clf_status clf_window_later(clf_window *w, clf_err *err) {
    if (w->again) ask_new(w);
    for (int i = 0; i < w->n; i++) {
        const clf_draft *d = &w->d[i];
        bool waits = false, known = all_known(w, d);
        if (!known && w->again) {
            CLF_TRY(wait_on(w, d, err));
            continue;
        }
        if (!known) CLF_TRY(wait_for_kernel(w, d->step, &waits, err));
        if (!waits) CLF_TRY(take_over(w, d, err));
    }
    return CLF_OK;
}

/* From which run on something is to be asked for. */
void clf_exe_count_waiting(const clf_ctx *c, clf_exe *x) {
    x->nwaiting = 0;
    x->ask_at_ns = HUGE_VAL;
    x->arrivals = c->run->arrivals;
    for (int32_t s = 0; s < x->plan->nstep; s++) {
        const clf_exe_step *e = &x->step[s];
        x->nwaiting += e->waiting || (clf_exe_shares(e) && !clf_exe_splits(e));
        if (!e->waiting || e->asked || !(e->saving_ns > 0)) continue;
        double ns = x->predicted_ns / e->saving_ns * price_ns(x->plan);
        if (ns < x->ask_at_ns) x->ask_at_ns = ns;
    }
}

clf_status clf_exe_promote(clf_ctx *c, clf_exe *x, bool all, clf_err *err) {
    if (!x->nwaiting || x->busy || (!all && x->arrivals == c->run->arrivals && x->spent_ns + x->predicted_ns < x->ask_at_ns)) return CLF_OK;
    CLF_TRY(clf_windows(c, x, true, all, err));
    return clf_exe_refit(c, x, err);
}

/* errors: CLF_E_STATE: it comes later. */
clf_status clf_window_await(clf_ctx *c, int dev, const clf_source *src, clf_err *err) {
    clf_devs *devs = c->run->devs;
    if (!clf_exe_later(c) || clf_program_known(devs, dev, src)) return CLF_OK;
    if (!clf_program_asked(devs, dev, src)) CLF_TRY(clf_programs_ask(devs, dev, src->text, src->text_len, &src, 1, err));
    return clf_fail(err, CLF_E_STATE, "its kernel for other numbers of entries is being compiled");
}
