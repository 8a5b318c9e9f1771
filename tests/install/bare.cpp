/* SPDX-License-Identifier: Apache-2.0
 * A consumer of clfuse.hpp without runtime type information, and without exceptions, too. Prints 0; with an argument it goes wrong on
 * purpose. */
#include <clfuse/clfuse.hpp>

#include <cstdio>

int main(int argc, char **) {
    clfuse::context c("host");
    int calls = 0;
    c.progress([&](const clf_progress &p) {
        calls += p.stage == CLF_STAGE_RUN;
        return false;
    });
    clfuse::mat x = c.fill(3, 2, 2), p = c.param(CLF_F64, 3, 2), copy = x;
    double told = sum(x * x).value();
    bool right = told == 24 && calls > 0;
    c.progress(nullptr);
    calls = 0;
    x = c.fill(3, 2, 1);
    right = right && c.function({p}, {sum(p + 1)})({copy})[0].value() == 18 && x.rows() == 3 && calls == 0;
    std::printf("%d\n", !right);
    if (argc > 1) x.read<float>();
    return !right;
}
