/* SPDX-License-Identifier: Apache-2.0
 * replay [-v] PATH...: runs a fuzz target over files and over the files of folders, in any build. A file whose name begins with good
 * must be accepted, one that begins with bad refused; of others only the target's own promises are expected. */
#include <dirent.h>

#include "tests/fuzz/fuzz.h"

typedef struct tally {
    int files, wrong;
    bool verbose;
} tally;

/* NULL when it cannot be read as a file. A block of the exact size. */
static uint8_t *read_all(const char *path, size_t *n) {
    FILE *f = fopen(path, "rb");
    uint8_t *p = NULL;
    long size;
    if (!f) return NULL;
    if (fseek(f, 0, SEEK_END) == 0 && (size = ftell(f)) >= 0 && fseek(f, 0, SEEK_SET) == 0 && (p = malloc(size ? (size_t)size : 1))) {
        *n = fread(p, 1, (size_t)size, f);
        if (*n != (size_t)size) free(p), p = NULL;
    }
    fclose(f);
    return p;
}

static bool begins(const char *path, const char *word) {
    const char *slash = strrchr(path, '/');
    return strncmp(slash ? slash + 1 : path, word, strlen(word)) == 0;
}

static void play_file(tally *t, const char *path) {
    size_t n = 0;
    uint8_t *p = read_all(path, &n);
    if (!p) {
        fprintf(stderr, "%s: cannot be read\n", path);
        t->wrong++;
        return;
    }
    if (t->verbose) fprintf(stderr, "%s\n", path);
    clf_status st = fuzz_one(p, n);
    free(p);
    t->files++;
    if ((begins(path, "good") && st != CLF_OK) || (begins(path, "bad") && st == CLF_OK)) {
        fprintf(stderr, "%s: %s\n", path, clf_status_name(st));
        t->wrong++;
    }
}

static void play(tally *t, const char *path) {
    DIR *d = opendir(path);
    char inner[4096];
    if (!d) {
        play_file(t, path);
        return;
    }
    for (struct dirent *e; (e = readdir(d));)
        if (e->d_name[0] != '.' && (size_t)snprintf(inner, sizeof inner, "%s/%s", path, e->d_name) < sizeof inner) play_file(t, inner);
    closedir(d);
}

int main(int argc, char **argv) {
    tally t = {0, 0, argc > 1 && strcmp(argv[1], "-v") == 0};
    for (int i = 1 + t.verbose; i < argc; i++) play(&t, argv[i]);
    printf("%d files, %d not as expected\n", t.files, t.wrong);
    return t.files == 0 || t.wrong > 0;
}
