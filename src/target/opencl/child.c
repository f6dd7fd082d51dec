/* SPDX-License-Identifier: Apache-2.0
 * A child that opens OpenCL in our place. It prints nothing, runs no exit handlers of the host, and
 * is waited for by the pipe that it holds.
 */
#include "target/opencl/opencl.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

void twi_cl_send(int fd, const void *at, size_t n) {
    const char *p = at;
    while (n > 0) {
        const ssize_t put = write(fd, p, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put <= 0)
            return;
        p += put;
        n -= (size_t)put;
    }
}

/* Never returns. */
static void be_child(void (*fn)(void *user, int fd), void *user, int fd) {
    const int quiet = open("/dev/null", O_RDWR);
    const int kept = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    for (int k = 0; quiet >= 0 && k < 3; k++)
        (void)dup2(quiet, k);
    (void)signal(SIGCHLD, SIG_DFL); /* drivers may run tools and wait for them */
    (void)signal(SIGPIPE, SIG_IGN);
    if (kept >= 0)
        fn(user, kept);
    _exit(0);
}

/* Milliseconds left, at least 0. */
static int left(int64_t end) {
    const int64_t ms = (end - twi_now_ns()) / 1000000;
    return ms > 0 ? (int)ms : 0;
}

static bool receive(int fd, int limit_ms, char *answer, size_t size, size_t *n) {
    const int64_t end = twi_now_ns() + (int64_t)limit_ms * 1000000;
    char rest[256];
    *n = 0;
    for (;;) {
        struct pollfd p = {.fd = fd, .events = POLLIN};
        const int ready = poll(&p, 1, left(end));
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        const bool full = *n == size;
        const ssize_t got = read(fd, full ? rest : answer + *n, full ? sizeof rest : size - *n);
        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            return got == 0;
        if (!full)
            *n += (size_t)got;
    }
}

bool twi_cl_apart(void (*fn)(void *user, int fd), void *user, int limit_ms, void *answer,
                  size_t size, size_t *n) {
    int end[2];
    *n = 0;
    if (pipe(end) != 0)
        return false;
    (void)fcntl(end[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(end[1], F_SETFD, FD_CLOEXEC);
    const pid_t pid = fork();
    if (pid == 0) {
        (void)close(end[0]);
        be_child(fn, user, end[1]);
    }
    (void)close(end[1]);
    const bool whole = pid > 0 && receive(end[0], limit_ms, answer, size, n);
    (void)close(end[0]);
    if (pid > 0) {
        if (!whole)
            (void)kill(pid, SIGKILL);
        while (waitpid(pid, NULL, 0) < 0 && errno == EINTR) {
        }
    }
    return whole && *n > 0;
}
