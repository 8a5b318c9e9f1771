/* SPDX-License-Identifier: Apache-2.0
 * The command line: one row an option, saying which subcommands know it and where its value goes. Both `--name value` and
 * `--name=value` are read; what is no option is the program's file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/tool.h"

typedef enum option_kind { OPTION_TEXT, OPTION_FLAG, OPTION_PAIR, OPTION_TYPE, OPTION_PROFILE } option_kind;

typedef struct option_row {
    const char *name;
    option_kind kind;
    unsigned commands;
    size_t at; /* offset in tool_options */
} option_row;

#define AT(field) offsetof(tool_options, field)
enum { BOTH = TOOL_RUN | TOOL_EXPLAIN, ANY = BOTH | TOOL_INFO, ALL = ANY | TOOL_DOCTOR | TOOL_CONVERT | TOOL_CACHE };
/* clang-format off */
static const option_row rows[] = {
    {"--device",   OPTION_TEXT, ALL,  AT(device)},   {"--fuse",    OPTION_TEXT, ANY,          AT(fuse)},
    {"--tier",     OPTION_TEXT, ANY,  AT(tier)},     {"--strategy",OPTION_TEXT, ANY,          AT(strategy)},
    {"--dtype",    OPTION_TEXT, ANY,  AT(dtype)},    {"--help",    OPTION_FLAG, ALL,          AT(help)},
    {"-e",         OPTION_TEXT, BOTH, AT(program)},  {"--in",      OPTION_PAIR, BOTH,         AT(in)},
    {"--type",     OPTION_TYPE, BOTH | TOOL_CONVERT, 0},            {"--na",      OPTION_TEXT, BOTH | TOOL_CONVERT,         AT(na)},
    {"--out",      OPTION_PAIR, TOOL_RUN, AT(out)},  {"--explain", OPTION_FLAG, TOOL_RUN,     AT(explain)},
    {"--head",     OPTION_TEXT, TOOL_RUN, AT(head)}, {"--json",    OPTION_FLAG, TOOL_RUN | TOOL_INFO | TOOL_DOCTOR | TOOL_CACHE, AT(json)},
    {"--dims",     OPTION_PAIR, TOOL_EXPLAIN, AT(dims)},     {"--analyze", OPTION_FLAG, TOOL_EXPLAIN, AT(analyze)},
    {"--memo",     OPTION_FLAG, TOOL_EXPLAIN, AT(memo)},     {"--kernel",  OPTION_FLAG, TOOL_EXPLAIN, AT(kernel)},
    {"--format",   OPTION_TEXT, TOOL_EXPLAIN, AT(format)},   {"-o",        OPTION_TEXT, TOOL_EXPLAIN | TOOL_CONVERT, AT(output)},
    {"--profile",  OPTION_PROFILE, TOOL_EXPLAIN, 0},  {"--env",     OPTION_FLAG, TOOL_INFO,    AT(env)},
    {"--bundle",   OPTION_TEXT, TOOL_RUN, AT(bundle)}, {"--synthetic", OPTION_FLAG, BOTH, AT(synthetic)},
    {"--label",    OPTION_TEXT, TOOL_CONVERT, AT(label)},
    {"--max",      OPTION_TEXT, TOOL_CACHE,   AT(max)},
    {"--calibrate", OPTION_FLAG, TOOL_DOCTOR, AT(calibrate)},
};
/* clang-format on */

static const option_row *find(const char *arg, size_t len) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (strlen(rows[i].name) == len && memcmp(rows[i].name, arg, len) == 0) return &rows[i];
    return NULL;
}

static bool is_name(const char *s, size_t n) {
    for (size_t i = 0; i < n; i++) {
        bool letter = (s[i] >= 'a' && s[i] <= 'z') || (s[i] >= 'A' && s[i] <= 'Z') || s[i] == '_' || s[i] == '.';
        if (!letter && (i == 0 || s[i] < '0' || s[i] > '9')) return false;
    }
    return n > 0;
}

static tool_exit taken(const tool_pairs *list, const char *option, const char *name) {
    for (size_t i = 0; i < list->n; i++)
        if (strcmp(list->at[i].name, name) == 0 || (list->at[i].second && strcmp(list->at[i].second, name) == 0))
            return tool_fail(TOOL_USAGE, "%s: '%s' is given twice", option, name);
    return TOOL_OK;
}

/* p at the end of the list, whose its names are now, whatever becomes of them. */
static tool_exit add(tool_pairs *list, tool_pair p) {
    tool_pair *grown = realloc(list->at, (list->n + 1) * sizeof *grown);
    if (!grown) {
        free(p.name);
        free(p.second);
        return tool_fail(TOOL_FAILED, "out of memory");
    }
    list->at = grown;
    list->at[list->n++] = p;
    return TOOL_OK;
}

tool_exit tool_pairs_add(tool_pairs *list, const char *name) {
    tool_pair p = {.name = strdup(name)};
    return p.name ? add(list, p) : tool_fail(TOOL_FAILED, "out of memory");
}

/* NAME=TEXT or NAME,NAME=TEXT. */
static tool_exit read_pair(const char *option, const char *arg, tool_pairs *list) {
    const char *eq = strchr(arg, '=');
    size_t n = eq ? (size_t)(eq - arg) : 0, first = eq ? strcspn(arg, ",=") : 0;
    bool two = eq && first < n;
    if (!eq || !is_name(arg, first) || (two && !is_name(arg + first + 1, n - first - 1)))
        return tool_fail(TOOL_USAGE, "%s '%s': expected NAME=%s", option, arg, strcmp(option, "--in") == 0 ? "SOURCE" : "VALUE");
    if (two && strcmp(option, "--in") != 0) return tool_fail(TOOL_USAGE, "%s '%s': one name", option, arg);
    tool_pair p = {.name = strndup(arg, first), .second = two ? strndup(arg + first + 1, n - first - 1) : NULL, .text = eq + 1};
    tool_exit st = p.name && (p.second || !two) ? TOOL_OK : tool_fail(TOOL_FAILED, "out of memory");
    if (st == TOOL_OK) st = taken(list, option, p.name);
    if (st == TOOL_OK && two)
        st = strcmp(p.name, p.second) ? taken(list, option, p.second) : tool_fail(TOOL_USAGE, "--in: '%s' is given twice", p.name);
    tool_exit added = add(list, p);
    return st == TOOL_OK ? added : st;
}

/* What --type speaks of: the file named last. */
static tool_exit set_type(const char **type, const char *value) {
    static const char *const types[] = {"npy", "mtx", "csv", "svm"};
    if (!type) return tool_fail(TOOL_USAGE, "--type %s: no file was named before it", value);
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strcmp(types[i], value) == 0) {
            *type = value;
            return TOOL_OK;
        }
    return tool_fail(TOOL_USAGE, "--type '%s': expected npy, mtx, csv or svm", value);
}

static tool_exit add_profile(tool_options *o, const char *value) {
    if (o->nprofile == TOOL_PROFILES) return tool_fail(TOOL_USAGE, "--profile %s: more than %d profiles", value, TOOL_PROFILES);
    o->profile[o->nprofile++] = value;
    return TOOL_OK;
}

static tool_exit apply(tool_options *o, const option_row *row, const char *value, char *last) {
    char *field = (char *)o + row->at;
    if (row->kind == OPTION_PAIR) {
        *last = row->at == AT(in) ? 'i' : row->at == AT(out) ? 'o' : *last;
        return read_pair(row->name, value, (tool_pairs *)field);
    }
    if (row->kind == OPTION_TYPE) {
        tool_pairs *list = *last == 'o' ? &o->out : &o->in;
        return set_type(*last == 'f' ? &o->type : *last ? &list->at[list->n - 1].type : NULL, value);
    }
    if (row->kind == OPTION_PROFILE) return add_profile(o, value);
    if (row->kind == OPTION_FLAG) {
        *(bool *)field = true;
        return TOOL_OK;
    }
    if (*(const char **)field) return tool_fail(TOOL_USAGE, "%s is given twice", row->name);
    *(const char **)field = value;
    return TOOL_OK;
}

static tool_exit one_of(const char *option, const char *value, const char *const *allowed) {
    char list[64] = "";
    if (!value) return TOOL_OK;
    for (int i = 0; allowed[i]; i++) {
        if (strcmp(value, allowed[i]) == 0) return TOOL_OK;
        snprintf(list + strlen(list), sizeof list - strlen(list), "%s%s", i ? ", " : "", allowed[i]);
    }
    return tool_fail(TOOL_USAGE, "%s '%s': expected one of %s", option, value, list);
}

static tool_exit check_values(tool_options *o) {
    TOOL_TRY(one_of("--fuse", o->fuse, (const char *const[]){"none", "all", "nored", "cost", NULL}));
    TOOL_TRY(one_of("--tier", o->tier, (const char *const[]){"auto", "0", "1", "2", NULL}));
    TOOL_TRY(one_of("--strategy", o->strategy, (const char *const[]){"auto", "chunk", "group", "stride", "generic", NULL}));
    TOOL_TRY(one_of("--dtype", o->dtype, (const char *const[]){"f64", "f32", NULL}));
    TOOL_TRY(one_of("--na", o->na, (const char *const[]){"error", "drop", "nan", NULL}));
    TOOL_TRY(one_of("--format", o->format, (const char *const[]){"text", "dot", "svg", "json", NULL}));
    if (o->nprofile && o->analyze) return tool_fail(TOOL_USAGE, "--profile: a plan for other devices cannot be measured (--analyze)");
    o->head_rows = -1;
    if (!o->head) return TOOL_OK;
    char *end;
    errno = 0;
    o->head_rows = strtol(o->head, &end, 10);
    if (end == o->head || *end || errno || o->head_rows < 0)
        return tool_fail(TOOL_USAGE, "--head '%s': expected a number of rows", o->head);
    return TOOL_OK;
}

/* The program comes from exactly one place. */
static tool_exit check_program(const tool_options *o, unsigned command) {
    if (command == TOOL_CACHE) return o->file ? TOOL_OK : tool_fail(TOOL_USAGE, "cache: list, show NAME, stats, prune, clear or verify");
    if (command == TOOL_CONVERT) return o->file || o->help ? TOOL_OK : tool_fail(TOOL_USAGE, "no file to convert");
    if (!(command & BOTH)) return o->file ? tool_fail(TOOL_USAGE, "unexpected '%s'", o->file) : TOOL_OK;
    if (o->synthetic && !o->file) return tool_fail(TOOL_USAGE, "--synthetic: no bundle is named");
    if (o->synthetic && (o->program || o->in.n || o->dims.n || o->out.n || o->bundle))
        return tool_fail(TOOL_USAGE,
                         "--synthetic: program and data are the bundle's; -e, --in, --dims, --out and --bundle do not go with it");
    if (o->program && o->file) return tool_fail(TOOL_USAGE, "-e and the file '%s' are both given", o->file);
    if (!o->program && !o->file) return tool_fail(TOOL_USAGE, "no program: -e 'PROGRAM' or a file is needed");
    return TOOL_OK;
}

/* From and to; --type speaks of the first. */
static tool_exit add_file(tool_options *o, const char *arg, char *last) {
    if (o->to) return tool_fail(TOOL_USAGE, "unexpected '%s' behind '%s' and '%s'", arg, o->file, o->to);
    *(o->file ? &o->to : &o->file) = arg;
    *last = 'f';
    return TOOL_OK;
}

static tool_exit read_one(tool_options *o, unsigned command, int argc, char **argv, int *i, char *last) {
    const char *arg = argv[*i], *eq = arg[0] == '-' && arg[1] == '-' ? strchr(arg, '=') : NULL;
    const option_row *row = find(arg, eq ? (size_t)(eq - arg) : strlen(arg));
    if (arg[0] != '-' || !arg[1]) {
        if (command == TOOL_CONVERT || command == TOOL_CACHE) return add_file(o, arg, last);
        if (o->file) return tool_fail(TOOL_USAGE, "unexpected '%s': the program is '%s'", arg, o->file);
        o->file = arg;
        return TOOL_OK;
    }
    if (!row || !(row->commands & command)) return tool_fail(TOOL_USAGE, "unknown option '%s' (clfuse --help lists all)", arg);
    if (row->kind == OPTION_FLAG) return eq ? tool_fail(TOOL_USAGE, "%s takes no value", row->name) : apply(o, row, "", last);
    if (!eq && ++*i >= argc) return tool_fail(TOOL_USAGE, "%s needs a value", row->name);
    return apply(o, row, eq ? eq + 1 : argv[*i], last);
}

tool_exit tool_options_read(tool_options *o, unsigned command, int argc, char **argv, int first) {
    char last = 0; /* 'i' or 'o': which list the file named last is in; 'f': it is convert's */
    *o = (tool_options){.head_rows = -1};
    for (int i = first; i < argc; i++) TOOL_TRY(read_one(o, command, argc, argv, &i, &last));
    if (o->help) return TOOL_OK;
    TOOL_TRY(check_values(o));
    return check_program(o, command);
}

static void release(tool_pairs *list) {
    for (size_t i = 0; i < list->n; i++) {
        free(list->at[i].name);
        free(list->at[i].second);
    }
    free(list->at);
}

void tool_options_release(tool_options *o) {
    release(&o->in);
    release(&o->out);
    release(&o->dims);
    tool_replay_release(o);
}

static tool_exit set(clf_ctx *c, const char *knob, const char *value) {
    clf_status st = value ? clf_set(c, knob, value) : CLF_OK;
    return st == CLF_OK ? TOOL_OK : tool_fail_status(c, st == CLF_E_ARG ? CLF_E_NAME : st, "");
}

tool_exit tool_open(const tool_options *o, clf_ctx **out) {
    clf_options opt = {.struct_size = sizeof opt, .device = o->device, .fuse = o->fuse};
    clf_status st = clf_open(out, &opt);
    if (st != CLF_OK) return tool_fail_status(NULL, st == CLF_E_ARG ? CLF_E_NAME : st, "");
    tool_progress(*out);
    TOOL_TRY(set(*out, "tier", o->tier));
    TOOL_TRY(set(*out, "strategy", o->strategy));
    return tool_replay_open(*out, o);
}
