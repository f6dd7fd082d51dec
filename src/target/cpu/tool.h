/* SPDX-License-Identifier: Apache-2.0
 * Running the host's compiler: no shell, a process group of its own, a time limit, an early end,
 * its output kept.
 */
#ifndef TWI_TARGET_CPU_TOOL_H
#define TWI_TARGET_CPU_TOOL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    int64_t limit_ms;
    const char *tmpdir;       /* TMPDIR of the tool; NULL: as it is */
    const volatile int *stop; /* not 0: it is ended; NULL: never */
    bool grouped; /* it stays in this process's group, and what it leaves behind ends with that */
} twi_tool_way;

typedef struct {
    int error;      /* errno: it could not be started */
    bool timed_out; /* it was killed, with its group if that is its own */
    bool stopped;   /* likewise */
    bool known;     /* status holds (a host that ignores SIGCHLD loses it) */
    int status;     /* exit status; 128 + signal */
    size_t n;
    char log[6000]; /* stdout and stderr, cut, NUL-terminated */
} twi_tool_result;

/* argv[0] is searched in PATH unless it has a slash. */
void twi_tool_run(const char *const *argv, const twi_tool_way *way, twi_tool_result *result);

/* The file that twi_tool_run would start with this PATH, links followed; out: PATH_MAX bytes.
 * False: none. */
bool twi_tool_find(const char *program, const char *path, char *out);

#endif
