/* SPDX-License-Identifier: Apache-2.0
 * Child processes.
 */
#include "judge/child.h"

#include "base/fs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static void become(int fd, bool group) {
    if (group)
        (void)setpgid(0, 0);
    (void)setrlimit(RLIMIT_CORE, &(struct rlimit){0, 0});
    static const int defaults[] = {SIGSEGV, SIGBUS, SIGFPE,  SIGILL, SIGABRT,
                                   SIGCHLD, SIGINT, SIGTERM, SIGHUP};
    for (size_t k = 0; k < sizeof defaults / sizeof defaults[0]; k++)
        (void)signal(defaults[k], SIG_DFL);
    (void)signal(SIGPIPE, SIG_IGN);
    (void)fcntl(fd, F_SETFD, FD_CLOEXEC);
}

bool twi_child_start(twi_child *c, bool group, void (*fn)(void *user, int fd), void *user) {
    int ends[2];
    *c = (twi_child){-1, -1, group};
    if (pipe(ends) != 0)
        return false;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    c->pid = fork();
    if (c->pid == 0) {
        (void)close(ends[0]);
        become(ends[1], group);
        fn(user, ends[1]);
        _exit(0);
    }
    (void)close(ends[1]);
    if (c->pid < 0) {
        (void)close(ends[0]);
        return false;
    }
    if (group)
        (void)setpgid(c->pid, c->pid); /* whichever of the two comes first */
    c->fd = ends[0];
    return true;
}

void twi_child_kill(const twi_child *c) {
    if (c->pid > 0) {
        if (c->group)
            (void)kill(-c->pid, SIGKILL);
        (void)kill(c->pid, SIGKILL);
    }
}

int twi_child_wait(twi_child *c) {
    int status = -1;
    siginfo_t end;
    while (waitid(P_PID, (id_t)c->pid, &end, WEXITED | WNOWAIT) != 0 && errno == EINTR)
        continue;
    if (c->group) /* not yet waited for, so the number is still its own */
        (void)kill(-c->pid, SIGKILL);
    while (waitpid(c->pid, &status, 0) < 0) {
        if (errno != EINTR) {
            status = -1;
            break;
        }
    }
    (void)close(c->fd);
    c->pid = c->fd = -1;
    return status;
}

bool twi_child_write(int fd, const char *at, size_t n) {
    while (n) {
        ssize_t put = write(fd, at, n);
        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return false;
        at += put;
        n -= (size_t)put;
    }
    return true;
}

const char *twi_signal_word(int status, char text[64]) {
    static const struct {
        int signal;
        const char *word;
    } words[] = {{SIGSEGV, "an address outside"}, {SIGBUS, "a bad address"}, {SIGFPE, "arithmetic"},
                 {SIGILL, "an instruction"},      {SIGABRT, "abort"},        {SIGKILL, "kill"}};
    if (status < 0 || !WIFSIGNALED(status)) {
        (void)snprintf(text, 64, "ended early, exit status %d",
                       status < 0 ? -1 : WEXITSTATUS(status));
        return text;
    }
    const char *word = "";
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++)
        if (words[k].signal == WTERMSIG(status))
            word = words[k].word;
    (void)snprintf(text, 64, "signal %d (%s)", WTERMSIG(status), word);
    return text;
}

void twi_own_folder(tw_context *ctx, char folder[PATH_MAX]) {
    const int n = snprintf(folder, PATH_MAX, "%s/tilewright-XXXXXX",
                           ctx->env.tmpdir ? ctx->env.tmpdir : "/tmp");
    if (n < 0 || n >= PATH_MAX || !mkdtemp(folder))
        folder[0] = 0;
    else
        ctx->env.tmpdir = folder;
}

void twi_leave_folder(tw_context *ctx, const char *folder, const char *before) {
    ctx->env.tmpdir = before;
    if (*folder)
        twi_remove_tree(folder);
}
