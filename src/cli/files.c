/* SPDX-License-Identifier: Apache-2.0
 * Files of the tool: whole reads; several results written all or none, each as a temporary beside
 * its place that is then renamed.
 */
#include "cli/tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool tool_read(tool *t, const char *path, char **bytes, size_t *n) {
    bool standard = strcmp(path, "-") == 0;
    int fd = standard ? STDIN_FILENO : open(path, O_RDONLY | O_CLOEXEC);
    struct stat st;
    if (fd < 0 || fstat(fd, &st) != 0) {
        tool_error(t, 811, NULL, "%s: %s", path, strerror(errno));
        return false;
    }
    text all = {.t = t};
    if (S_ISREG(st.st_mode) && st.st_size > 0) {
        all.cap = (size_t)st.st_size + 65537;
        all.at = tool_alloc(t, all.cap, 1);
    }
    char part[65536];
    ssize_t got;
    while ((got = read(fd, part, sizeof part)) > 0 || (got < 0 && errno == EINTR))
        if (got > 0)
            text_add(&all, part, (size_t)got);
    int error = got < 0 ? errno : 0;
    if (!standard)
        (void)close(fd);
    if (error) {
        tool_error(t, 811, NULL, "%s: %s", path, strerror(error));
        return false;
    }
    text_add(&all, "", 0);
    *bytes = all.at;
    *n = all.n;
    return true;
}

static int put(int fd, const char *at, size_t n) {
    while (n) {
        ssize_t done = write(fd, at, n < INT_MAX ? n : INT_MAX);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return errno;
        at += done;
        n -= (size_t)done;
    }
    return 0;
}

/* Unwritable is wrong use (2); a full disk and its like are the environment (3). */
static bool failed(tool *t, const char *path, int error) {
    bool use = error == EACCES || error == ENOENT || error == ENOTDIR || error == EISDIR ||
               error == EROFS || error == EPERM || error == ENAMETOOLONG || error == ELOOP;
    tool_error(t, use ? 812 : 891, NULL, "%s: cannot be written: %s", path, strerror(error));
    return false;
}

static bool write_temp(tool *t, tool_write_job *job) {
    struct stat st;
    bool exists = stat(job->path, &st) == 0;
    if (exists && S_ISDIR(st.st_mode))
        return failed(t, job->path, EISDIR);
    if (exists && access(job->path, W_OK) != 0)
        return failed(t, job->path, errno);
    if (exists && !S_ISREG(st.st_mode)) /* a device or a pipe: written at the end */
        return true;
    for (unsigned k = 0; k < 100; k++) {
        char *temp = tool_format(t, "%s.%ld-%u.tmp", job->path, (long)getpid(), k);
        int fd =
            open(temp, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, exists ? st.st_mode & 0777 : 0666);
        if (fd < 0 && errno == EEXIST)
            continue;
        if (fd < 0)
            return failed(t, job->path, errno);
        job->temp = temp;
        int error = put(fd, job->bytes, job->n);
        if (close(fd) != 0 && !error)
            error = errno;
        return error ? failed(t, job->path, error) : true;
    }
    return failed(t, job->path, EEXIST);
}

static bool publish(tool *t, tool_write_job *job) {
    if (job->temp) {
        if (rename(job->temp, job->path) != 0)
            return failed(t, job->path, errno);
        job->temp = NULL;
        return true;
    }
    int fd = open(job->path, O_WRONLY | O_CLOEXEC);
    int error = fd < 0 ? errno : put(fd, job->bytes, job->n);
    if (fd >= 0)
        (void)close(fd);
    return error ? failed(t, job->path, error) : true;
}

bool tool_write_all(tool *t, tool_write_job *jobs, size_t n) {
    tool_interrupt()->holding++; /* all or none, also when interrupted */
    bool ok = !tool_interrupt()->asked;
    for (size_t k = 0; ok && k < n; k++)
        ok = write_temp(t, &jobs[k]);
    for (size_t k = 0; ok && k < n; k++)
        ok = publish(t, &jobs[k]);
    for (size_t k = 0; k < n; k++)
        if (jobs[k].temp)
            (void)unlink(jobs[k].temp);
    tool_interrupt()->holding--;
    return ok;
}

bool tool_exists(const char *path) {
    struct stat st;
    return stat(path, &st) == 0;
}

bool tool_same_file(const char *a, const char *b) {
    struct stat sa, sb;
    if (stat(a, &sa) == 0 && stat(b, &sb) == 0)
        return sa.st_dev == sb.st_dev && sa.st_ino == sb.st_ino;
    return strcmp(a, b) == 0;
}
