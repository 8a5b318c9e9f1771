/* SPDX-License-Identifier: Apache-2.0
 * Where kernel texts come from: byte arrays that the build made of skel/ and prelude/, or a folder that overrides them
 * (CLF_KERNEL_DIR). Devices get whole programs, so includes are resolved here. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "core/print.h"
#include "kernels-cl/emit.h"
#include "kernels-cl/embedded.h"

enum { PATH_BYTES = 4096, INCLUDE_NAME = 64 };

static clf_status read_file(FILE *f, const char *path, clf_str *out, clf_err *err) {
    char block[4096];
    size_t n;
    while ((n = fread(block, 1, sizeof block, f)) > 0) clf_str_putn(out, block, n);
    return ferror(f) ? clf_fail(err, CLF_E_IO, "%s: cannot read: %s", path, strerror(errno)) : CLF_OK;
}

/* CLF_OK and *found false when the folder does not have the file. */
static clf_status from_dir(const char *name, const char *dir, clf_str *out, bool *found, clf_err *err) {
    char path[PATH_BYTES];
    *found = false;
    if (!dir || !*dir) return CLF_OK;
    if (clf_print(path, sizeof path, "%s/%s", dir, name) >= (int)sizeof path) return clf_fail(err, CLF_E_IO, "%s: path is too long", dir);
    FILE *f = fopen(path, "rb");
    if (!f) return CLF_OK;
    *found = true;
    clf_status st = read_file(f, path, out, err);
    fclose(f);
    return st;
}

clf_status clf_kernel_text(const char *name, const char *kernel_dir, clf_str *out, clf_err *err) {
    bool found;
    CLF_TRY(from_dir(name, kernel_dir, out, &found, err));
    for (const clf_embedded *e = clf_embedded_files; !found && e->name; e++)
        if (strcmp(e->name, name) == 0) clf_str_putn(out, (const char *)e->bytes, e->len), found = true;
    if (!found) return clf_fail(err, CLF_E_INTERNAL, "kernel text %s is missing", name);
    return out->failed ? clf_fail(err, CLF_E_NOMEM, "%s: out of memory", name) : CLF_OK;
}

/* The file named by an include line, as "prelude/x.clh"; false for any other line. */
static bool include_of(const char *line, size_t n, char *name) {
    static const char head[] = "#include \"";
    size_t h = sizeof head - 1;
    if (n <= h || strncmp(line, head, h) != 0) return false;
    size_t len = strcspn(line + h, "\"");
    return h + len < n && clf_print(name, INCLUDE_NAME, "prelude/%.*s", (int)len, line + h) < INCLUDE_NAME;
}

void clf_pieces_note(clf_pieces *p, clf_text_kind kind, const clf_str *text) {
    size_t at = p->n > 0 && p->n <= CLF_TEXT_PIECES ? p->at[p->n - 1].at + p->at[p->n - 1].len : 0;
    if (p->n > CLF_TEXT_PIECES || text->len == at) return;
    if (p->n < CLF_TEXT_PIECES) p->at[p->n] = (clf_text_piece){(uint8_t)kind, at, text->len - at};
    p->n++;
}

static clf_status put_include(const char *name, const char *kernel_dir, const char *families, clf_pieces *pieces, clf_str *out,
                              clf_err *err) {
    clf_pieces_note(pieces, CLF_TEXT_OWN, out);
    CLF_TRY(clf_kernel_text(name, kernel_dir, out, err));
    clf_pieces_note(pieces, CLF_TEXT_FILE, out);
    if (strcmp(name, "prelude/elem.clh") == 0) clf_str_put(out, families);
    clf_pieces_note(pieces, CLF_TEXT_FAMILIES, out);
    return CLF_OK;
}

clf_status clf_kernel_expand(const char *name, const char *kernel_dir, const char *families, clf_pieces *pieces, clf_str *out,
                             clf_err *err) {
    clf_pieces unread = {.n = 0};
    if (!pieces) pieces = &unread;
    char include[INCLUDE_NAME];
    clf_str file;
    clf_status st;
    clf_str_init(&file, out->mem);
    CLF_GO(clf_kernel_text(name, kernel_dir, &file, err));
    for (const char *s = clf_str_c(&file); *s;) {
        size_t n = strcspn(s, "\n");
        n += s[n] == '\n';
        if (include_of(s, n, include))
            CLF_GO(put_include(include, kernel_dir, families, pieces, out, err));
        else
            clf_str_putn(out, s, n);
        s += n;
    }
    clf_pieces_note(pieces, CLF_TEXT_OWN, out);
out:
    clf_str_release(&file);
    return st;
}
