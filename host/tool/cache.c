/* SPDX-License-Identifier: Apache-2.0
 * clfuse cache: the kernels and plans that are kept on disk. list and stats tell of them, show prints one of them, prune and clear remove what was
 * not used for longest, verify finds and removes what is damaged (exit code 1 when there was any). What the driver keeps beside them goes
 * with clear, unless somebody has it open. */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "host/tool/tool.h"

typedef struct survey {
    const tool_options *o;
    uint64_t files, kernels, plans, bytes, binary_bytes, damaged;
    const char *wanted; /* show: the begin of a name */
    uint64_t shown;
} survey;

static void count(survey *s, const clf_cache_entry *e) {
    s->files++;
    s->kernels += *e->kernel != 0;
    s->plans += e->plan;
    s->bytes += e->bytes;
    s->binary_bytes += e->binary_bytes;
    s->damaged += !e->sound;
}

static const char *word(const clf_cache_entry *e) {
    return !e->sound ? "(damaged)" : e->plan ? "(a plan)" : *e->kernel ? e->kernel : "(a program of several)";
}

static void used_text(char *buf, size_t n, int64_t used_s) {
    time_t t = (time_t)used_s;
    struct tm local;
    *buf = 0;
    if (localtime_r(&t, &local)) strftime(buf, n, "%Y-%m-%d %H:%M", &local);
}

/* ---- what is told of each ---- */

static void list_one(void *user, const clf_cache_entry *e) {
    survey *s = user;
    char used[32], bytes[32];
    used_text(used, sizeof used, e->used_s);
    tool_size_text(bytes, sizeof bytes, e->bytes);
    if (!s->files++) printf("%-32s  %-16s  %9s  %-24s  %s\n", "name", "last used", "size", "kernel", "device");
    printf("%-32s  %-16s  %9s  %-24s  %s\n", e->name, used, bytes, word(e), e->device);
}

static void json_one(void *user, const clf_cache_entry *e) {
    survey *s = user;
    printf("%s{\"name\": \"%s\", \"kernel\": ", s->files++ ? ", " : "", e->name);
    tool_json_string(stdout, e->kernel);
    printf(", \"device\": ");
    tool_json_string(stdout, e->device);
    printf(", \"driver\": ");
    tool_json_string(stdout, e->driver);
    printf(", \"bytes\": %" PRIu64 ", \"binary_bytes\": %" PRIu64 ", \"used_s\": %" PRId64 ", \"plan\": %s, \"sound\": %s}", e->bytes,
           e->binary_bytes, e->used_s, e->plan ? "true" : "false", e->sound ? "true" : "false");
}

static void show_one(void *user, const clf_cache_entry *e) {
    survey *s = user;
    if (strncmp(e->name, s->wanted, strlen(s->wanted)) != 0) return;
    printf("%s/* %s: %s\n * device %s\n * driver %s\n * %" PRIu64 " bytes, the binary %" PRIu64 " */\n%s", s->shown++ ? "\n" : "", e->name,
           word(e), e->device, e->driver, e->bytes, e->binary_bytes, e->text);
}

static void count_one(void *user, const clf_cache_entry *e) { count(user, e); }

static void verify_one(void *user, const clf_cache_entry *e) {
    count(user, e);
    if (!e->sound) printf("damaged, removed: %s\n", e->name);
}

/* ---- what can be done ---- */

static tool_exit each(clf_ctx *c, bool repair, clf_cache_fn fn, survey *s) {
    clf_status st = clf_cache_list(c, repair, fn, s);
    return st == CLF_OK ? TOOL_OK : tool_fail_status(c, st, "");
}

static tool_exit cache_list(clf_ctx *c, survey *s) {
    if (!s->o->json) return each(c, false, list_one, s);
    printf("{\"schema\": 1, \"entries\": [");
    tool_exit st = each(c, false, json_one, s);
    printf("]}\n");
    return st;
}

static tool_exit cache_show(clf_ctx *c, survey *s) {
    if (!s->o->to) return tool_fail(TOOL_USAGE, "cache show: the name of an entry, or how it begins");
    s->wanted = s->o->to;
    TOOL_TRY(each(c, false, show_one, s));
    return s->shown ? TOOL_OK : tool_fail(TOOL_CHECK, "no entry's name begins with '%s'", s->wanted);
}

static tool_exit cache_stats(clf_ctx *c, survey *s) {
    const char *why, *folder = clf_cache_folder(c, &why);
    char bytes[32], binaries[32];
    TOOL_TRY(each(c, false, count_one, s));
    if (s->o->json) {
        printf("{\"schema\": 1, \"folder\": ");
        tool_json_string(stdout, folder);
        printf(", \"why\": ");
        tool_json_string(stdout, why);
        printf(", \"files\": %" PRIu64 ", \"kernels\": %" PRIu64 ", \"plans\": %" PRIu64 ", \"bytes\": %" PRIu64
               ", \"binary_bytes\": %" PRIu64 ", \"damaged\": %" PRIu64 "}\n",
               s->files, s->kernels, s->plans, s->bytes, s->binary_bytes, s->damaged);
        return TOOL_OK;
    }
    tool_size_text(bytes, sizeof bytes, s->bytes);
    tool_size_text(binaries, sizeof binaries, s->binary_bytes);
    printf("%s\n%" PRIu64 " kernels and %" PRIu64 " plans in %" PRIu64 " files, %s, binaries %s, %" PRIu64 " damaged\n", folder, s->kernels,
           s->plans, s->files, bytes, binaries, s->damaged);
    if (*why) printf("not in use: %s\n", why);
    return TOOL_OK;
}

static bool read_size(const char *text, uint64_t *out) {
    static const char units[] = "KMGT";
    char *end;
    errno = 0;
    unsigned long long n = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    if (errno || !isdigit((unsigned char)*text)) return false;
    const char *unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
    if (*end && (!unit || end[1])) return false;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    *out = (uint64_t)n << shift;
    return *out >> shift == n;
}

static tool_exit remove_beyond(clf_ctx *c, uint64_t keep) {
    uint64_t files = 0, bytes = 0;
    char text[32];
    clf_status st = clf_cache_prune(c, keep, &files, &bytes);
    if (st != CLF_OK) return tool_fail_status(c, st, "");
    tool_size_text(text, sizeof text, bytes);
    printf("%" PRIu64 " files removed, %s\n", files, files ? text : "nothing");
    return TOOL_OK;
}

static tool_exit cache_prune(clf_ctx *c, survey *s) {
    uint64_t keep;
    const char *most = s->o->max ? s->o->max : getenv("CLF_CACHE_BYTES");
    if (!read_size(most && *most ? most : "256M", &keep)) return tool_fail(TOOL_USAGE, "--max '%s': not a size such as 512M or 2G", most);
    return remove_beyond(c, keep);
}

static void tell_of_driver(clf_ctx *c) {
    const char *kernels = clf_cache_folder(c, NULL), *end = strrchr(kernels, '/');
    char path[4096];
    bool left = false;
    snprintf(path, sizeof path, "%.*s/pocl", end ? (int)(end - kernels) : 0, kernels);
    DIR *dir = end ? opendir(path) : NULL;
    for (struct dirent *e; dir && !left && (e = readdir(dir));) left = strcmp(e->d_name, ".") && strcmp(e->d_name, "..");
    if (dir) closedir(dir);
    if (left) tool_note("what the OpenCL driver keeps in %s stays: a process has the driver open", path);
}

static tool_exit cache_clear(clf_ctx *c, survey *s) {
    (void)s;
    TOOL_TRY(remove_beyond(c, 0));
    tell_of_driver(c);
    return TOOL_OK;
}

static tool_exit cache_verify(clf_ctx *c, survey *s) {
    TOOL_TRY(each(c, true, verify_one, s));
    printf("%" PRIu64 " files looked at, %" PRIu64 " damaged\n", s->files, s->damaged);
    return s->damaged ? TOOL_CHECK : TOOL_OK;
}

tool_exit tool_cache(int argc, char **argv) {
    static const struct {
        const char *name;
        tool_exit (*run)(clf_ctx *c, survey *s);
    } verbs[] = {{"list", cache_list},   {"show", cache_show},   {"stats", cache_stats},
                 {"prune", cache_prune}, {"clear", cache_clear}, {"verify", cache_verify}};
    tool_options o;
    clf_ctx *c = NULL;
    size_t v = 0, n = sizeof verbs / sizeof *verbs;
    tool_exit st = tool_options_read(&o, TOOL_CACHE, argc, argv, 2);
    if (st == TOOL_OK && o.help) {
        fputs(tool_usage, stdout);
    } else if (st == TOOL_OK) {
        while (v < n && strcmp(verbs[v].name, o.file) != 0) v++;
        if (v == n) st = tool_fail(TOOL_USAGE, "cache: '%s' is none of list, show, stats, prune, clear, verify", o.file);
        if (st == TOOL_OK && o.to && verbs[v].run != cache_show) st = tool_fail(TOOL_USAGE, "cache %s: unexpected '%s'", o.file, o.to);
        if (st == TOOL_OK) st = tool_open(&o, &c);
        if (st == TOOL_OK) st = verbs[v].run(c, &(survey){.o = &o});
    }
    clf_close(c);
    tool_options_release(&o);
    return st;
}
