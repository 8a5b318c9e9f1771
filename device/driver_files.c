/* SPDX-License-Identifier: Apache-2.0
 * The driver's own cache, which stands in our folder: it goes with ours when everything is to go. Drivers do not expect their files to
 * vanish: whoever has one open holds a shared lock on the folder (environ.c), and then all of it stays. A tree of files, walked without
 * recursion: down into the first folder of each, and up again when it is empty. Links are removed, never followed. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "device/disk.h"

/* Remove what is in the folder `at` but other folders, the first of which is added to the path. False: there is none. */
static bool empty_one(int dir, char *path, size_t room, uint64_t *files, uint64_t *bytes) {
    int fd = openat(dir, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    DIR *list = fd >= 0 ? fdopendir(fd) : NULL;
    size_t len = strlen(path);
    bool down = false;
    for (struct dirent *e; list && (e = readdir(list));) {
        struct stat st;
        if (!strcmp(e->d_name, ".") || !strcmp(e->d_name, "..") || fstatat(fd, e->d_name, &st, AT_SYMLINK_NOFOLLOW)) continue;
        if (S_ISDIR(st.st_mode)) {
            down = down || snprintf(path + len, room - len, "/%s", e->d_name) < (int)(room - len);
        } else if (unlinkat(fd, e->d_name, 0) == 0) {
            ++*files;
            *bytes += (uint64_t)st.st_size;
        }
    }
    if (list)
        closedir(list);
    else if (fd >= 0)
        close(fd);
    return down;
}

static void empty_all(int dir, const char *name, uint64_t *files, uint64_t *bytes) {
    char path[4096];
    size_t base = strlen(name);
    if (base >= sizeof path) return;
    memcpy(path, name, base + 1);
    for (bool more = true; more;) {
        if (empty_one(dir, path, sizeof path, files, bytes)) continue;
        char *up = strrchr(path, '/');
        more = up && unlinkat(dir, path, AT_REMOVEDIR) == 0; /* the folder itself stays: a driver makes it once */
        if (up) *up = 0;
    }
}

bool clf_driver_files_remove(const char *folder, const char *name, uint64_t *files, uint64_t *bytes) {
    int dir = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int own = dir >= 0 ? openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) : -1;
    bool used = own >= 0 && flock(own, LOCK_EX | LOCK_NB) && errno == EWOULDBLOCK;
    if (own >= 0 && !used) empty_all(dir, name, files, bytes);
    if (own >= 0) close(own);
    if (dir >= 0) close(dir);
    return !used;
}
