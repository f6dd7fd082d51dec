/* SPDX-License-Identifier: Apache-2.0
 * Running a tool. The host may have closed its standard descriptors, ignore or reap SIGCHLD, block
 * signals: the tool gets none of that, and we rely on none of it.
 */
#include "target/cpu/tool.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

/* Both ends above the standard descriptors, closed on exec. */
static int make_pipe(int end[2]) {
    int low[2];
    if (pipe(low) != 0)
        return errno;
    int error = 0;
    for (int i = 0; i < 2; i++) {
        end[i] = fcntl(low[i], F_DUPFD_CLOEXEC, 3);
        if (end[i] < 0)
            error = errno;
    }
    (void)close(low[0]);
    (void)close(low[1]);
    for (int i = 0; error && i < 2; i++)
        if (end[i] >= 0)
            (void)close(end[i]);
    return error;
}

/* The environment with another TMPDIR; NULL: no memory. */
static char **environment(const char *tmpdir, char **line) {
    size_t n = 0, out = 0;
    while (environ[n])
        n++;
    char **env = malloc((n + 2) * sizeof *env);
    *line = malloc(strlen(tmpdir) + sizeof "TMPDIR=");
    if (!env || !*line) {
        free(env);
        return NULL;
    }
    (void)sprintf(*line, "TMPDIR=%s", tmpdir);
    for (size_t i = 0; i < n; i++)
        if (strncmp(environ[i], "TMPDIR=", 7) != 0)
            env[out++] = environ[i];
    env[out++] = *line;
    env[out] = NULL;
    return env;
}

static int start(const char *const *argv, char **env, bool grouped, int output, pid_t *child) {
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attr;
    sigset_t none, defaults;
    union {
        const char *const *in;
        char *const *out;
    } words = {argv}; /* posix_spawn leaves them alone */
    int error = posix_spawn_file_actions_init(&actions);
    if (error)
        return error;
    error = posix_spawnattr_init(&attr);
    if (error) {
        (void)posix_spawn_file_actions_destroy(&actions);
        return error;
    }
    (void)sigemptyset(&none);
    (void)sigfillset(&defaults);
    (void)sigdelset(&defaults, SIGKILL);
    (void)sigdelset(&defaults, SIGSTOP);
    error |= posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    error |= posix_spawn_file_actions_adddup2(&actions, output, 1);
    error |= posix_spawn_file_actions_adddup2(&actions, output, 2);
    error |= posix_spawnattr_setsigmask(&attr, &none);
    error |= posix_spawnattr_setsigdefault(&attr, &defaults);
    error |= posix_spawnattr_setpgroup(&attr, 0);
    error |=
        posix_spawnattr_setflags(&attr, (short)((grouped ? 0 : POSIX_SPAWN_SETPGROUP) |
                                                POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF));
    error = error ? ENOMEM : posix_spawnp(child, argv[0], &actions, &attr, words.out, env);
    (void)posix_spawnattr_destroy(&attr);
    (void)posix_spawn_file_actions_destroy(&actions);
    return error;
}

/* Reads what is there; false at the end of the output. What does not fit is read and dropped. */
static bool take_output(int fd, twi_tool_result *r) {
    char bytes[2048];
    const ssize_t got = read(fd, bytes, sizeof bytes);
    if (got < 0)
        return errno == EINTR || errno == EAGAIN;
    size_t keep = sizeof r->log - 1 - r->n;
    keep = keep < (size_t)got ? keep : (size_t)got;
    memcpy(r->log + r->n, bytes, keep);
    r->n += keep;
    return got > 0;
}

/* Has it ended? Says so too where somebody else has reaped it. */
static bool ended(pid_t child, twi_tool_result *r) {
    int status;
    const pid_t got = waitpid(child, &status, WNOHANG);
    if (got == 0 || (got < 0 && errno == EINTR))
        return false;
    r->known = got == child;
    if (r->known)
        r->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

static void watch(pid_t child, int fd, const twi_tool_way *way, twi_tool_result *r) {
    const int64_t end = twi_now_ns() + way->limit_ms * 1000000;
    bool open = true, gone = false;
    while (!gone || open) {
        r->timed_out = twi_now_ns() > end;
        r->stopped = way->stop && *way->stop;
        if (r->timed_out || r->stopped)
            break;
        if (open) {
            struct pollfd p = {.fd = fd, .events = POLLIN};
            if (poll(&p, 1, gone ? 0 : 20) > 0)
                open = take_output(fd, r);
            else if (gone)
                break; /* something it left behind holds the pipe */
        } else {
            (void)nanosleep(&(struct timespec){.tv_nsec = 200000}, NULL);
        }
        gone = gone || ended(child, r);
    }
    if (r->timed_out || r->stopped) {
        (void)kill(way->grouped ? child : -child, SIGKILL);
        int status;
        while (!gone && waitpid(child, &status, 0) < 0 && errno == EINTR)
            continue;
    }
}

static bool is_program(const char *file, char *out) {
    return access(file, X_OK) == 0 && realpath(file, out) != NULL;
}

bool twi_tool_find(const char *program, const char *path, char *out) {
    char file[PATH_MAX];
    if (strchr(program, '/'))
        return is_program(program, out);
    while (path && *path) {
        const size_t n = strcspn(path, ":");
        const int put = snprintf(file, sizeof file, "%.*s%s%s", n < PATH_MAX ? (int)n : 0, path,
                                 n ? "/" : "", program);
        if (put > 0 && (size_t)put < sizeof file && is_program(file, out))
            return true;
        path += n + (path[n] == ':');
    }
    return false;
}

void twi_tool_run(const char *const *argv, const twi_tool_way *way, twi_tool_result *r) {
    int end[2] = {-1, -1};
    pid_t child;
    char *line = NULL, **env = way->tmpdir ? environment(way->tmpdir, &line) : environ;
    memset(r, 0, sizeof *r);
    r->error = env ? make_pipe(end) : ENOMEM;
    if (!r->error) {
        r->error = start(argv, env, way->grouped, end[1], &child);
        (void)close(end[1]);
        if (!r->error)
            watch(child, end[0], way, r);
        (void)close(end[0]);
    }
    free(line);
    if (env != environ)
        free(env);
    while (r->n && (r->log[r->n - 1] == '\n' || r->log[r->n - 1] == ' '))
        r->n--;
    r->log[r->n] = 0;
}
