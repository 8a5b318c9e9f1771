/* SPDX-License-Identifier: Apache-2.0
 * A compile worker that goes wrong where a test wants it to: CLF_TEST_WORKER="die 3" ends after its third message, "hang", "babble" and "half"
 * stop answering, say something else, and stop in the middle of what they say. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "device/worker/serve.h"

int main(void) {
    static const char *const names[] = {"right", "die", "hang", "babble", "half"};
    clf_serve_opts o = {CLF_SERVE_RIGHT, 0};
    char name[16] = "";
    const char *how = getenv("CLF_TEST_WORKER");
    if (how && sscanf(how, "%15s %d", name, &o.after) < 1) return 2;
    for (int i = 0; i < (int)(sizeof names / sizeof *names); i++)
        if (!strcmp(name, names[i])) o.fault = (clf_serve_fault)i;
    int out = dup(1);
    if (out < 0 || dup2(2, 1) < 0) return 1;
    return clf_worker_serve(0, out, &o);
}
