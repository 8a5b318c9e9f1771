/* SPDX-License-Identifier: Apache-2.0
 * A consumer in C++17: every kind of thing that clfuse.hpp offers, each compared with what it must be. Prints 0. */
#include <clfuse/clfuse.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <unistd.h>

using clfuse::mat;

static int wrong = 0;
static void check(bool good, const char *what) {
    if (!good) std::printf("wrong: %s\n", what);
    wrong += !good;
}
static double cell(const mat &x, size_t i) { return x.read<double>()[i]; }

static void operators(const clfuse::context &c) {
    mat a = c.matrix<double>(2, 2, {1, 2, 3, 4}), b = c.matrix<double>(2, 2, {4, 3, 2, 1});
    check(cell(a + b, 3) == 5 && cell(a - 1, 0) == 0 && cell(2 * a, 2) == 6 && cell(1 / a, 3) == 0.25, "arithmetic");
    check(cell(a % b, 0) == 8 && cell(t(a), 1) == 3 && cell(-a, 1) == -2, "product, transpose, sign");
    check(sum(cast(a < b, CLF_F64)).value() == 2 && sum(cast((a >= 2) & !(a == b), CLF_F64)).value() == 3, "comparisons");
    check(cell(max(a, 3), 0) == 3 && std::fabs(cell(exp(a), 0) - std::exp(1.0)) < 1e-15 && cell(ifelse(a > 2, a, 0.0), 1) == 0, "functions");
    check(sum(logical_xor(a > 1, b > 1)).value() == 2 && pow(a, 2).read<double>()[3] == 16, "xor and power");
    check(row_sums(a).rows() == 2 && col_sums(a).cols() == 2 && fold(CLF_FOLD_CODE_MAX, CLF_ALL, a).value() == 4, "folds");
    check(cell(index(a, 2, 2, 1, 0), 0) == 3 && cbind(a, b).cols() == 4 && rbind(a, b).rows() == 4, "parts");
    check(cell(c.expr("colSums(X) + k", {{"X", a}, {"k", c.num(1)}}), 1) == 7, "language");
}

static void programs(const clfuse::context &c) {
    mat p = c.param(CLF_F64, 3, 1), u = c.fill(3, 1, 2);
    auto f = c.function({p}, {sum(p * p), p + 1});
    auto r = f({u});
    check(r.size() == 2 && r[0].value() == 12 && r[1].data<double>()[2] == 3, "function");
    check(cell(grad(sum(u * u), {u}).at(0), 1) == 4, "gradient");
    check(clfuse::explain({sum(exp(c.rand(50, 4, 0, 1)))}).find("steps") != std::string::npos, "explain");
    check(c.stats().evaluations > 0, "counters");
}

static void long_work(clfuse::context c) {
    int calls = 0;
    bool stop = false, thrown = false;
    mat x = c.rand(50, 4, 0, 1);
    c.progress([&](const clf_progress &p) {
        calls += p.stage == CLF_STAGE_PLAN || p.stage == CLF_STAGE_RUN;
        if (stop && calls > 1) throw std::runtime_error("enough");
        return stop;
    });
    double want = sum(exp(x)).value();
    check(calls >= 2, "progress");
    stop = true;
    try {
        sum(log(x + 1)).value();
    } catch (const clfuse::error &e) {
        thrown = e.status() == CLF_E_CANCELLED;
    }
    check(thrown, "stopped");
    c.progress(nullptr);
    check(sum(exp(x * 1)).value() == want, "nobody is asked any more");
}

/* The plan for another machine, which happens to be like this one. */
static void machines(const clfuse::context &c) {
    std::string file = std::string(P_tmpdir) + "/clfuse-consumer-" + std::to_string(getpid()), figures = c.profile();
    check(figures.find("read_bytes_per_s") != std::string::npos, "profile");
    std::ofstream(file) << figures;
    check(clfuse::explain({sum(exp(c.rand(50, 4, 0, 1)))}, CLF_TEXT, 0, {file}).find("steps") != std::string::npos, "explain for a profile");
    std::remove(file.c_str());
}

static void errors(const clfuse::context &c) {
    mat x = c.fill(2, 3, 1);
    clf_status st = CLF_OK;
    try {
        (x % x).read<double>();
    } catch (const clfuse::error &e) {
        st = e.status();
        check(std::string(e.what()).find("2x3") != std::string::npos, "the message names the shapes");
    }
    check(st == CLF_E_SHAPE, "a wrong shape throws");
    st = CLF_OK;
    try {
        x.read<float>();
    } catch (const clfuse::error &e) {
        st = e.status();
    }
    check(st == CLF_E_TYPE, "a wrong type throws");
    st = CLF_OK;
    try {
        clfuse::context none("host", "no such selector");
    } catch (const clfuse::error &e) {
        st = e.status();
    }
    check(st == CLF_E_NAME, "a wrong option throws");
}

int main() {
    mat last;
    {
        clfuse::context c("host");
        operators(c);
        programs(c);
        errors(c);
        long_work(c);
        machines(c);
        last = c.num(4);
    }
    check((last + 1).value() == 5, "a value outlives the variable of its context");
    std::printf("%d\n", wrong);
    return wrong != 0;
}
