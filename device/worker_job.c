/* SPDX-License-Identifier: Apache-2.0
 * Jobs of the compile workers: what they hold, copied, because plans and their texts may go while a job waits. */
#include <string.h>

#include "device/worker.h"

clf_job *clf_job_new(clf_devs *d, int dev, const char *text, size_t text_len, const clf_source *const *src, int n) {
    size_t options = strlen(src[0]->options) + 1;
    clf_job *j = clf_mem_new(d->mem, 1, sizeof *j);
    if (!j) return NULL;
    *j = (clf_job){.dev = dev, .n = n, .text_len = text_len};
    j->text = clf_mem_new(d->mem, text_len, 1);
    j->options = clf_mem_new(d->mem, options, 1);
    j->block = clf_mem_new(d->mem, (size_t)n, sizeof *j->block);
    if (j->options) memcpy(j->options, src[0]->options, options);
    bool ok = j->text && j->options && j->block;
    for (int i = 0; ok && i < n; i++) ok = (j->block[i] = clf_program_block(d, dev, src[i])) != NULL;
    if (!ok) {
        clf_job_free(d, j, false);
        return NULL;
    }
    memcpy(j->text, text, text_len);
    return j;
}

void clf_job_free(clf_devs *d, clf_job *j, bool driver_alive) {
    if (driver_alive && j->built) clReleaseProgram(j->built);
    for (int i = 0; j->block && i < j->n; i++) clf_program_free(d, j->block[i], driver_alive);
    clf_mem_free(d->mem, j->block, (size_t)j->n, sizeof *j->block);
    if (j->options) clf_mem_free(d->mem, j->options, strlen(j->options) + 1, 1);
    clf_mem_free(d->mem, j->text, j->text_len, 1);
    clf_mem_free(d->mem, j, 1, sizeof *j);
}
