/* SPDX-License-Identifier: Apache-2.0
 * Whole reads; writes that appear whole or not at all. A write follows links to the file itself,
 * keeps what stands at the path until the new content is complete, and never replaces what is no
 * regular file (a device, a pipe): that is written in place.
 */
#include "base/fs.h"

#include "base/clock.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static int read_all(twi_arena *a, int fd, char **text, size_t *n) {
    struct stat st;
    size_t cap = 4096, used = 0;
    if (fstat(fd, &st) == 0 && S_ISREG(st.st_mode) && st.st_size > 0)
        cap = (size_t)st.st_size + 1; /* one more, so that the end is seen without growing */
    char *at = twi_alloc(a, cap + 1);
    for (;;) {
        ssize_t got = read(fd, at + used, cap - used);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return errno;
        if (got == 0)
            break;
        used += (size_t)got;
        if (used == cap) {
            char *grown = twi_alloc(a, cap * 2 + 1);
            memcpy(grown, at, used);
            at = grown;
            cap *= 2;
        }
    }
    at[used] = 0;
    *text = at;
    *n = used;
    return 0;
}

int twi_read_file(twi_arena *a, const char *path, char **text, size_t *n) {
    if (strcmp(path, "-") == 0)
        return read_all(a, STDIN_FILENO, text, n);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return errno;
    jmp_buf spot, *saved;
    if (TWI_GUARD(a->mem, spot, saved)) { /* the descriptor must not leak when memory runs out */
        TWI_UNGUARD(a->mem, saved);
        (void)close(fd);
        twi_mem_fail(a->mem);
    }
    int error = read_all(a, fd, text, n);
    TWI_UNGUARD(a->mem, saved);
    (void)close(fd);
    return error;
}

static int write_all(int fd, const void *data, size_t n) {
    const char *at = data;
    while (n) {
        ssize_t put = write(fd, at, n < INT_MAX ? n : INT_MAX);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return errno;
        at += put;
        n -= (size_t)put;
    }
    return 0;
}

/* Writes and closes. */
static int fill(int fd, const void *data, size_t n) {
    int error = write_all(fd, data, n);
    if (close(fd) != 0 && !error && errno != EINTR)
        error = errno;
    return error;
}

/* A file that did not exist, beside path; its name goes to temp. */
static int open_temp(const char *path, char temp[PATH_MAX], int *fd) {
    for (unsigned attempt = 0; attempt < 100; attempt++) {
        int n = snprintf(temp, PATH_MAX, "%s.%lx-%llx.tmp", path, (unsigned long)getpid(),
                         (unsigned long long)twi_now_ns() + attempt);
        if (n < 0 || n >= PATH_MAX)
            return ENAMETOOLONG;
        *fd = open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
        if (*fd >= 0)
            return 0;
        if (errno != EEXIST)
            return errno;
    }
    return EEXIST;
}

int twi_write_file(const char *path, const void *data, size_t n) {
    char real[PATH_MAX], temp[PATH_MAX];
    struct stat st;
    int fd = -1;
    bool exists = stat(path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return EISDIR;
    if (exists && access(path, W_OK) != 0)
        return errno;
    if (exists && !S_ISREG(st.st_mode)) {
        fd = open(path, O_WRONLY | O_CLOEXEC);
        return fd < 0 ? errno : fill(fd, data, n);
    }
    if (exists && realpath(path, real))
        path = real;
    int error = open_temp(path, temp, &fd);
    if (error)
        return error;
    if (exists)
        (void)fchmod(fd, st.st_mode & 07777);
    error = fill(fd, data, n);
    if (!error && rename(temp, path) != 0)
        error = errno;
    if (error)
        (void)unlink(temp);
    return error;
}

int twi_make_dir(const char *path) {
    char part[PATH_MAX];
    size_t n = strlen(path);
    if (n >= sizeof part)
        return ENAMETOOLONG;
    memcpy(part, path, n + 1);
    for (size_t i = 1; i <= n; i++) {
        if (part[i] != '/' && part[i] != 0)
            continue;
        part[i] = 0;
        if (mkdir(part, 0700) != 0 && errno != EEXIST)
            return errno;
        part[i] = path[i];
    }
    struct stat st;
    if (stat(path, &st) != 0)
        return errno;
    return S_ISDIR(st.st_mode) ? 0 : ENOTDIR;
}

enum { DEEPEST = 16 };

/* What is in the folder; links are removed, not followed. */
static void empty_folder(int fd, unsigned depth) {
    DIR *dir = fdopendir(fd);
    if (!dir) {
        (void)close(fd);
        return;
    }
    for (const struct dirent *e = readdir(dir); e; e = readdir(dir)) {
        if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0 ||
            unlinkat(dirfd(dir), e->d_name, 0) == 0)
            continue;
        const int in =
            openat(dirfd(dir), e->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (in >= 0 && depth < DEEPEST)
            empty_folder(in, depth + 1);
        else if (in >= 0)
            (void)close(in);
        (void)unlinkat(dirfd(dir), e->d_name, AT_REMOVEDIR);
    }
    (void)closedir(dir);
}

void twi_remove_tree(const char *path) {
    const int64_t end = twi_now_ns() + INT64_C(2000000000);
    while (rmdir(path) != 0 && (errno == ENOTEMPTY || errno == EEXIST) && twi_now_ns() < end) {
        const int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (fd >= 0)
            empty_folder(fd, 0);
    }
}

static bool same_inode(const struct stat *a, const struct stat *b) {
    return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

/* Splits at the last slash; returns the name. */
static const char *parent_of(const char *path, char dir[PATH_MAX]) {
    const char *slash = strrchr(path, '/');
    if (!slash) {
        memcpy(dir, ".", 2);
        return path;
    }
    size_t n = slash == path ? 1 : (size_t)(slash - path);
    if (n >= PATH_MAX)
        n = PATH_MAX - 1;
    memcpy(dir, path, n);
    dir[n] = 0;
    return slash + 1;
}

bool twi_same_file(const char *a, const char *b) {
    struct stat sa, sb;
    int missing = (stat(a, &sa) != 0) + (stat(b, &sb) != 0);
    if (missing == 0)
        return same_inode(&sa, &sb);
    if (missing == 1)
        return false;
    if (strcmp(a, b) == 0)
        return true;
    char da[PATH_MAX], db[PATH_MAX];
    const char *na = parent_of(a, da), *nb = parent_of(b, db);
    return strcmp(na, nb) == 0 && stat(da, &sa) == 0 && stat(db, &sb) == 0 && same_inode(&sa, &sb);
}
