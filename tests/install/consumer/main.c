/* SPDX-License-Identifier: Apache-2.0
 * A consumer in C: prints 36. */
#include <clfuse/clfuse.h>
#include <stdio.h>

int main(void) {
    clf_ctx *c = NULL;
    double sum;
    if (clf_open(&c, &(clf_options){.struct_size = sizeof(clf_options), .device = "host"}) != CLF_OK) return puts(clf_open_error()), 1;
    clf_mat *x = clf_seq(c, 1, 8, 1);
    if (clf_read_f64(clf_sum(x), &sum) != CLF_OK) return puts(clf_last_error(c)), 1;
    clf_close(c);
    return printf("%g\n", sum) < 0;
}
