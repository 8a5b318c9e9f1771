/* SPDX-License-Identifier: Apache-2.0
 * clfuse info: the version, the devices as the library sees them, and (--env) the table of settings. */
#include <inttypes.h>
#include <stdlib.h>

#include "host/tool/tool.h"

static void print_device(const clf_device *d) {
    char mem[32], most[32], rate[32] = "-", launch[32] = "-";
    tool_size_text(mem, sizeof mem, d->mem_bytes);
    tool_size_text(most, sizeof most, d->max_alloc_bytes);
    if (d->measured) snprintf(rate, sizeof rate, "%.1f", d->read_gb_per_s);
    if (d->measured) snprintf(launch, sizeof launch, "%.1f", d->launch_us);
    printf("%2d %-40.40s %-5s %5u %10s %10s %-4s %9s %9s  %s%s\n", d->index, d->name, d->kind, d->compute_units, mem, most,
           d->fp64 ? "yes" : "no", rate, launch, d->driver, d->chosen ? "  <- default" : "");
}

static void print_devices(clf_ctx *c) {
    clf_device d = {.struct_size = sizeof d};
    printf("%2s %-40s %-5s %5s %10s %10s %-4s %9s %9s  %s\n", "#", "device", "kind", "units", "memory", "alloc max", "fp64", "read GB/s",
           "launch us", "driver");
    for (int i = 0; clf_device_at(c, i, &d); i++) print_device(&d);
    const char *why = clf_device_why(c);
    if (*why) printf("no OpenCL device: %s\n", why);
}

static void json_device(const clf_device *d) {
    printf("%s{\"index\": %d, \"name\": ", d->index ? ", " : "", d->index);
    tool_json_string(stdout, d->name);
    printf(", \"kind\": ");
    tool_json_string(stdout, d->kind);
    printf(", \"driver\": ");
    tool_json_string(stdout, d->driver);
    printf(", \"compute_units\": %u, \"mem_bytes\": %" PRIu64 ", \"max_alloc_bytes\": %" PRIu64
           ", \"fp64\": %s, \"zero_copy\": %s, \"measured\": %s",
           d->compute_units, d->mem_bytes, d->max_alloc_bytes, d->fp64 ? "true" : "false", d->zero_copy ? "true" : "false",
           d->measured ? "true" : "false");
    printf(", \"read_gb_per_s\": %.17g, \"launch_us\": %.17g, \"default\": %s}", d->read_gb_per_s, d->launch_us,
           d->chosen ? "true" : "false");
}

static void print_json(clf_ctx *c) {
    clf_device d = {.struct_size = sizeof d};
    printf("{\"schema\": 1, \"version\": ");
    tool_json_string(stdout, clf_version());
    printf(", \"devices\": [");
    for (int i = 0; clf_device_at(c, i, &d); i++) json_device(&d);
    printf("], \"why_no_opencl\": ");
    tool_json_string(stdout, clf_device_why(c));
    printf("}\n");
}

static void print_env(void) {
    const char *name, *env, *def, *doc;
    printf("%-18s %-10s %-24s %s\n", "variable", "default", "set to", "meaning");
    for (int i = 0; clf_knob_info(i, &name, &env, &def, &doc); i++) {
        const char *now = getenv(env);
        printf("%-18s %-10s %-24s %s\n", env, *def ? def : "-", now ? now : "-", doc);
    }
}

tool_exit tool_info(int argc, char **argv) {
    tool_options o;
    clf_ctx *c = NULL;
    tool_exit st = tool_options_read(&o, TOOL_INFO, argc, argv, 2);
    if (st == TOOL_OK && o.help)
        fputs(tool_usage, stdout);
    else if (st == TOOL_OK && o.env)
        print_env();
    else if (st == TOOL_OK && (st = tool_open(&o, &c)) == TOOL_OK) {
        if (!o.json) printf("clfuse %s\n", clf_version());
        (o.json ? print_json : print_devices)(c);
    }
    clf_close(c);
    tool_options_release(&o);
    return st;
}
