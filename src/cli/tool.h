/* SPDX-License-Identifier: Apache-2.0
 * What the tool's files share: memory that lives as long as the run, text, files, errors of use.
 * The tool uses the library's public headers only, so these few things are its own.
 */
#ifndef TWI_CLI_TOOL_H
#define TWI_CLI_TOOL_H

#include "tilewright/tilewright.h"

#if defined(__GNUC__)
#define TOOL_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define TOOL_PRINTF(fmt, args)
#endif

enum { EXIT_DONE, EXIT_WRONG, EXIT_INPUT, EXIT_ENV, EXIT_INTERNAL, EXIT_INTERRUPT = 130 };

typedef struct tool tool;

/* Zeroed, freed at the end of the run; exits with 3 when there is no memory (nothing was written
 * before). */
void *tool_alloc(tool *t, size_t n, size_t size);
char *tool_format(tool *t, const char *format, ...) TOOL_PRINTF(2, 3);
char *tool_copy(tool *t, const char *from, size_t n);

/* A growing text. */
typedef struct text {
    tool *t;
    char *at;
    size_t n, cap;
} text;
void text_add(text *s, const char *bytes, size_t n);
void text_str(text *s, const char *str);
void text_printf(text *s, const char *format, ...)
    TOOL_PRINTF(2, 3);                          /* no float formats: locales */
void text_number(text *s, double v);            /* shortest that reads back; inf, nan */
void text_fixed(text *s, double v, int digits); /* 12.30 */
void text_short(text *s, double v);             /* three digits: 1.23e-05, 0.12 */

/* A list of texts. */
typedef struct list {
    const char **at;
    size_t n, cap;
} list;
void list_add(tool *t, list *l, const char *item);

/* Errors of use and input: a line on stderr at the end (and in --json); the exit status becomes the
 * code's. */
void tool_error(tool *t, int code, const char *help, const char *format, ...) TOOL_PRINTF(4, 5);
void tool_warning(tool *t, int code, const char *said);
int tool_status(tw_status status); /* exit status of a library status */
/* The nearest of some names, or NULL if none is near. */
const char *tool_nearest(const char *name, const char *const *names, size_t n);
char *tool_nearest_help(tool *t, const char *name, const char *const *names,
                        size_t n); /* "did you mean 'x'?" or NULL */

/* Whole file ("-": stdin). False after an error of its own. A NUL is added. */
bool tool_read(tool *t, const char *path, char **bytes, size_t *n);
/* Writes beside, then renames; false after an error of its own and with the old file as it was. */
typedef struct tool_write_job {
    const char *path;
    const void *bytes;
    size_t n;
    char *temp;
} tool_write_job;
bool tool_write_all(tool *t, tool_write_job *jobs, size_t n); /* all or none */
bool tool_same_file(const char *a, const char *b);
bool tool_exists(const char *path);
bool tool_parse_int(const char *from, int64_t *v);
/* --budget: "90", "60s", "500ms", "2m", "1h"; NULL: 0. False after an error. */
bool tool_budget(tool *t, const char *given, int64_t *ms);

/* Progress on stderr, from the second second on, on a terminal only; quiet and --json keep it off.
 */
void tool_progress(tool *t, const char *format, ...) TOOL_PRINTF(2, 3);
void tool_progress_end(tool *t);

typedef struct tool_note {
    int code, exit; /* exit 0: a warning */
    char *text, *help;
} tool_note;
struct tool {
    struct tool_block *blocks;
    tw_context *ctx;
    tw_store *store; /* NULL: none */
    const struct cli_options *options;
    tool_note *notes;
    size_t n_notes, cap_notes;
    int exit;  /* the worst so far */
    text out;  /* the result, written to stdout at the end */
    text json; /* members of the object, without the outer braces */
    bool color, progress_shown;
    int64_t started_ns, shown_ns;
};
/* SIGINT, SIGTERM and SIGHUP end the tool with EXIT_INTERRUPT: at once, or, where it holds
 * something (a temporary folder, children, half-written files), as soon as that is gone. */
tw_interrupt *tool_interrupt(void);
void tool_catch_signals(void);
void tool_init(tool *t);
void tool_fini(tool *t);
void tool_exit(tool *t, int status); /* raises the exit status: 0 < 1 < 2 < 3 < 4 */

#endif
