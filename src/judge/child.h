/* SPDX-License-Identifier: Apache-2.0
 * Child processes: each in a process group of its own, ended as a group, waited for by the pipe
 * that it holds.
 */
#ifndef TWI_JUDGE_CHILD_H
#define TWI_JUDGE_CHILD_H

#include "base/context.h"

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

typedef struct {
    pid_t pid;
    int fd;     /* to read from: its rows, and the end of file when it is gone */
    bool group; /* leads a process group, which ends with it */
} twi_child;

/* group: the child leads one; else it stays in its parent's, so that it ends with that. In the
 * child fn(user, fd) is called, then the child ends without running the host's exit handlers.
 * False: none. */
bool twi_child_start(twi_child *c, bool group, void (*fn)(void *user, int fd), void *user);
void twi_child_kill(const twi_child *c);
/* Closes; what is left of its group ends too. Wait status, -1: unknown (reaped by the host). */
int twi_child_wait(twi_child *c);
bool twi_child_write(int fd, const char *at, size_t n);
/* One folder for all temporary files that children make, whatever becomes of them; without it they
 * say why. before: the context's temporary folder until then. */
void twi_own_folder(tw_context *ctx, char folder[PATH_MAX]);
void twi_leave_folder(tw_context *ctx, const char *folder, const char *before);
const char *twi_signal_word(int wait_status,
                            char text[64]); /* "ended by signal 11 (a bad address)" */

#endif
