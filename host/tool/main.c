/* SPDX-License-Identifier: Apache-2.0
 * The tool's entry: which subcommand, and whether what was printed arrived. */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "host/tool/tool.h"

const char tool_usage[] =
    "usage: clfuse run     -e 'PROGRAM' | FILE  [--in NAME=SOURCE]... [--out NAME=FILE]... [--explain] [--json] [--head N]\n"
    "                      [--bundle FILE]      also write what reproduces the plan, without data: shapes, settings, profiles\n"
    "       clfuse run     BUNDLE --synthetic [--head N]      run that on made-up data; explain BUNDLE --synthetic: its plan alone\n"
    "       clfuse explain -e 'PROGRAM' | FILE  [--in NAME=SOURCE]... [--dims NAME=ROWSxCOLS[:S[:FORMAT]] | NAME=scalar]...\n"
    "                      [--analyze] [--memo] [--kernel] [--profile FILE]... [--format text|dot|svg|json] [-o FILE]\n"
    "       clfuse bench   [--suite A,B] [--case PREFIX] [--rounds N] [--quick] [--json FILE]\n"
    "       clfuse info    [--env] [--json]\n"
    "       clfuse doctor  [--calibrate] [--json]      what is installed, does it compute right, what to do if not\n"
    "       clfuse convert FILE [FILE] [--type T] [--na ...] [--label COLUMN [-o LABELS]]      alone: what every format would take\n"
    "       clfuse cache   list | show NAME | stats | prune [--max SIZE] | clear | verify  [--json]      kernels kept on disk\n"
    "everywhere: --device D (host, cpu, gpu, a number, part of a name)  --fuse cost|all|nored|none  --tier auto|0|1|2\n"
    "            --strategy auto|chunk|group|stride|generic  --dtype f64|f32\n"
    "SOURCE: FILE (.npy .mtx .csv .svm; --type T names the type of the file before it), a number, seq:RxC, rand:RxC[:S[:SEED]],\n"
    "        powerlaw:RxC:S[:SEED] (sparse; a few rows and columns have most of the entries);\n"
    "        X,y=FILE.csv:label=COLUMN or X,y=FILE.svm binds features and labels; --na error|drop|nan\n"
    "exit: 0 ok, 1 a check failed, 2 command line or program text, 3 no device or missing component, 4 everything else\n";

#define SUBCOMMANDS "run, explain, bench, info, doctor, convert or cache"
static const struct {
    const char *name;
    tool_exit (*run)(int argc, char **argv); /* NULL: known, but not part of this version */
} commands[] = {
    {"run", tool_run},       {"explain", tool_explain}, {"info", tool_info},       {"bench", tool_bench},
    {"doctor", tool_doctor}, {"cache", tool_cache},     {"convert", tool_convert},
};

static tool_exit dispatch(int argc, char **argv) {
    if (argc < 2) return tool_fail(TOOL_USAGE, "no subcommand: " SUBCOMMANDS " (clfuse --help)");
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
        fputs(tool_usage, stdout);
        return TOOL_OK;
    }
    if (strcmp(argv[1], "--version") == 0) {
        printf("clfuse %s\n", clf_version());
        return TOOL_OK;
    }
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++) {
        if (strcmp(argv[1], commands[i].name) != 0) continue;
        if (commands[i].run) return commands[i].run(argc, argv);
        return tool_fail(TOOL_USAGE, "%s: this subcommand is not part of this version", argv[1]);
    }
    return tool_fail(TOOL_USAGE, "unknown subcommand '%s': " SUBCOMMANDS " (clfuse --help)", argv[1]);
}

int main(int argc, char **argv) {
    static char buffer[1 << 16];
    signal(SIGPIPE, SIG_IGN);
    setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
    tool_exit st = dispatch(argc, argv);
    tool_progress_wipe();
    errno = 0;
    bool lost = ferror(stdout);
    lost = fflush(stdout) != 0 || lost;
    if (lost && st == TOOL_OK) st = tool_fail(TOOL_FAILED, "cannot write the output: %s", errno ? strerror(errno) : "the reader is gone");
    return (int)st;
}
