/* SPDX-License-Identifier: Apache-2.0
 * clfuse doctor: is everything here that the library needs, does every device compute right, and what is to be done if not. Each check
 * adds findings; the exit code is 1 when one of them is a failure. */
#include <stdarg.h>
#include <string.h>

#include "host/tool/doctor.h"

/* In this order: what is installed, before the library opens it. */
static const struct {
    const char *name;
    doctor_check run;
} checks[] = {
    {"settings", doctor_settings},   {"loader", doctor_loader},   {"drivers", doctor_icd},     {"unregistered", doctor_unregistered},
    {"devices", doctor_devices},     {"memory", doctor_memory},   {"results", doctor_results}, {"blas", doctor_blas},
    {"clblast", doctor_clblast},     {"profile", doctor_profile}, {"cache", doctor_cache},     {"affinity", doctor_affinity},
    {"variables", doctor_variables},
};

void doctor_say(doctor *d, doctor_level level, const char *remedy, const char *fmt, ...) {
    if (d->n == DOCTOR_MOST) return;
    doctor_finding *f = &d->found[d->n++];
    *f = (doctor_finding){.check = d->check, .level = level};
    va_list args;
    va_start(args, fmt);
    vsnprintf(f->text, sizeof f->text, fmt, args);
    va_end(args);
    snprintf(f->remedy, sizeof f->remedy, "%s", remedy ? remedy : "");
}

static int count(const doctor *d, doctor_level level) {
    int n = 0;
    for (int i = 0; i < d->n; i++) n += d->found[i].level == level;
    return n;
}

static void print_text(const doctor *d) {
    static const char *const word[] = {"ok  ", "note", "FAIL"};
    int bad = count(d, DOCTOR_FAIL), notes = count(d, DOCTOR_NOTE);
    printf("clfuse %s\n", clf_version());
    for (int i = 0; i < d->n; i++) {
        printf(" %s  %s\n", word[d->found[i].level], d->found[i].text);
        if (*d->found[i].remedy) printf("       remedy: %s\n", d->found[i].remedy);
    }
    printf(" %d problem%s, %d note%s.%s\n", bad, bad == 1 ? "" : "s", notes, notes == 1 ? "" : "s",
           bad ? " Attach the output of `clfuse doctor --json` to reports." : "");
}

static void print_json(const doctor *d) {
    static const char *const word[] = {"ok", "note", "fail"};
    printf("{\"schema\": 1, \"version\": ");
    tool_json_string(stdout, clf_version());
    printf(", \"problems\": %d, \"notes\": %d, \"findings\": [", count(d, DOCTOR_FAIL), count(d, DOCTOR_NOTE));
    for (int i = 0; i < d->n; i++) {
        const doctor_finding *f = &d->found[i];
        printf("%s{\"check\": \"%s\", \"level\": \"%s\", \"text\": ", i ? ", " : "", f->check, word[f->level]);
        tool_json_string(stdout, f->text);
        printf(", \"remedy\": ");
        tool_json_string(stdout, f->remedy);
        printf("}");
    }
    printf("]}\n");
}

tool_exit tool_doctor(int argc, char **argv) {
    static doctor d;
    tool_options o;
    tool_exit st = tool_options_read(&o, TOOL_DOCTOR, argc, argv, 2);
    if (st == TOOL_OK && o.help) {
        fputs(tool_usage, stdout);
    } else if (st == TOOL_OK) {
        d = (doctor){.o = &o};
        for (size_t i = 0; i < sizeof checks / sizeof *checks; i++) {
            d.check = checks[i].name;
            checks[i].run(&d);
        }
        (o.json ? print_json : print_text)(&d);
        if (count(&d, DOCTOR_FAIL)) st = TOOL_CHECK;
        clf_close(d.c);
    }
    tool_options_release(&o);
    return st;
}
