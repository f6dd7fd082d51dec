/* SPDX-License-Identifier: Apache-2.0
 * Memory, text and errors of the tool.
 */
#include "cli/tool.h"

#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct tool_block {
    struct tool_block *next;
    max_align_t data[];
};

static int64_t now_ns(void) {
    struct timespec at;
    return clock_gettime(CLOCK_MONOTONIC, &at) == 0 ? at.tv_sec * 1000000000LL + at.tv_nsec : 0;
}

/* A handler has nothing but this to go by. */
static tw_interrupt interrupt;

tw_interrupt *tool_interrupt(void) { return &interrupt; }

static void on_signal(int number) {
    (void)number;
    if (interrupt.holding == 0)
        _exit(EXIT_INTERRUPT);
    interrupt.asked = 1;
}

void tool_catch_signals(void) {
    static const int numbers[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = on_signal}, before;
    (void)sigemptyset(&action.sa_mask);
    for (size_t k = 0; k < sizeof numbers / sizeof numbers[0]; k++)
        if (sigaction(numbers[k], NULL, &before) == 0 && before.sa_handler != SIG_IGN) /* nohup */
            (void)sigaction(numbers[k], &action, NULL);
}

void tool_init(tool *t) {
    *t = (tool){0};
    t->out.t = t->json.t = t;
    t->started_ns = now_ns();
}

void tool_fini(tool *t) {
    for (struct tool_block *b = t->blocks; b;) {
        struct tool_block *next = b->next;
        free(b);
        b = next;
    }
    t->blocks = NULL;
}

void *tool_alloc(tool *t, size_t n, size_t size) {
    struct tool_block *b = NULL;
    if (size == 0 || n <= (SIZE_MAX / 2) / size)
        b = calloc(1, sizeof *b + n * size + 1);
    if (!b) {
        (void)fputs("tilewright: out of memory\n", stderr);
        exit(EXIT_ENV);
    }
    b->next = t->blocks;
    t->blocks = b;
    return b->data;
}

char *tool_copy(tool *t, const char *from, size_t n) {
    char *at = tool_alloc(t, n + 1, 1);
    memcpy(at, from, n);
    return at;
}

static char *vformat(tool *t, const char *format, va_list args) {
    va_list again;
    va_copy(again, args);
    int n = vsnprintf(NULL, 0, format, args);
    char *at = tool_alloc(t, n < 0 ? 1 : (size_t)n + 1, 1);
    if (n >= 0)
        (void)vsnprintf(at, (size_t)n + 1, format, again);
    va_end(again);
    return at;
}

char *tool_format(tool *t, const char *format, ...) {
    va_list args;
    va_start(args, format);
    char *at = vformat(t, format, args);
    va_end(args);
    return at;
}

void text_add(text *s, const char *bytes, size_t n) {
    if (s->n + n + 1 > s->cap) {
        size_t cap = (s->n + n + 1) * 2;
        char *at = tool_alloc(s->t, cap, 1);
        if (s->n)
            memcpy(at, s->at, s->n);
        s->at = at;
        s->cap = cap;
    }
    if (n)
        memcpy(s->at + s->n, bytes, n);
    s->n += n;
    s->at[s->n] = 0;
}

void text_str(text *s, const char *str) { text_add(s, str, strlen(str)); }

void text_printf(text *s, const char *format, ...) {
    va_list args;
    va_start(args, format);
    text_str(s, vformat(s->t, format, args));
    va_end(args);
}

/* The host's locale may write a comma; texts have a point. */
static void add_float(text *s, const char *format, int digits, double v) {
    char digits_text[64];
    (void)snprintf(digits_text, sizeof digits_text, format, digits, v);
    for (char *c = digits_text; *c; c++)
        if (*c == ',')
            *c = '.';
    text_str(s, digits_text);
}

static bool special(text *s, double v) {
    if (isfinite(v))
        return false;
    text_str(s, isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
    return true;
}

void text_number(text *s, double v) {
    char probe[64];
    if (special(s, v))
        return;
    if (v == floor(v) && fabs(v) < 1e15) {
        add_float(s, "%.*f", 0, v);
        return;
    }
    int digits = 1;
    for (; digits < 17; digits++) {
        (void)snprintf(probe, sizeof probe, "%.*g", digits, v);
        if (strtod(probe, NULL) == v)
            break;
    }
    add_float(s, "%.*g", digits, v);
}

void text_fixed(text *s, double v, int digits) {
    if (!special(s, v))
        add_float(s, "%.*f", digits, v);
}

void text_short(text *s, double v) {
    if (!special(s, v))
        add_float(s, "%.*g", 3, v);
}

void list_add(tool *t, list *l, const char *item) {
    if (l->n == l->cap) {
        size_t cap = l->cap ? l->cap * 2 : 8;
        const char **at = tool_alloc(t, cap, sizeof *at);
        if (l->n)
            memcpy(at, l->at, l->n * sizeof *at);
        l->at = at;
        l->cap = cap;
    }
    l->at[l->n++] = item;
}

void tool_exit(tool *t, int status) {
    if (status > t->exit)
        t->exit = status;
}

static tool_note *add_note(tool *t) {
    if (t->n_notes == t->cap_notes) {
        size_t cap = t->cap_notes ? t->cap_notes * 2 : 8;
        tool_note *at = tool_alloc(t, cap, sizeof *at);
        if (t->n_notes)
            memcpy(at, t->notes, t->n_notes * sizeof *at);
        t->notes = at;
        t->cap_notes = cap;
    }
    return &t->notes[t->n_notes++];
}

/* E0801..: use; E0811..: files. All are exit 2 but those of E089x: the environment. */
void tool_error(tool *t, int code, const char *help, const char *format, ...) {
    va_list args;
    va_start(args, format);
    int status = code >= 890 ? EXIT_ENV : EXIT_INPUT;
    *add_note(t) = (tool_note){.code = code,
                               .exit = status,
                               .text = vformat(t, format, args),
                               .help = help ? tool_copy(t, help, strlen(help)) : NULL};
    va_end(args);
    tool_exit(t, status);
}

void tool_warning(tool *t, int code, const char *said) {
    *add_note(t) = (tool_note){.code = code, .text = tool_copy(t, said, strlen(said))};
}

int tool_status(tw_status status) {
    static const int exits[] = {[TW_OK] = EXIT_DONE,
                                [TW_ERR_WRONG] = EXIT_WRONG,
                                [TW_ERR_INPUT] = EXIT_INPUT,
                                [TW_ERR_ENV] = EXIT_ENV,
                                [TW_ERR_MEMORY] = EXIT_ENV,
                                [TW_ERR_INDEX] = EXIT_INPUT,
                                [TW_ERR_INTERNAL] = EXIT_INTERNAL};
    return (unsigned)status < sizeof exits / sizeof exits[0] ? exits[status] : EXIT_INTERNAL;
}

/* Edit distance, cut off: names are short. */
static size_t distance(const char *a, const char *b) {
    size_t row[65], n = strlen(b);
    if (n > 64 || strlen(a) > 64)
        return SIZE_MAX;
    for (size_t j = 0; j <= n; j++)
        row[j] = j;
    for (size_t i = 1; a[i - 1]; i++) {
        size_t diagonal = row[0];
        row[0] = i;
        for (size_t j = 1; j <= n; j++) {
            size_t change = diagonal + (a[i - 1] != b[j - 1]);
            diagonal = row[j];
            size_t best = row[j] < row[j - 1] ? row[j] + 1 : row[j - 1] + 1;
            row[j] = change < best ? change : best;
        }
    }
    return row[n];
}

const char *tool_nearest(const char *name, const char *const *names, size_t n) {
    size_t best = strlen(name) / 3 + 2;
    const char *found = NULL;
    for (size_t k = 0; k < n; k++) {
        size_t d = distance(name, names[k]);
        if (d < best) {
            best = d;
            found = names[k];
        }
    }
    return found;
}

char *tool_nearest_help(tool *t, const char *name, const char *const *names, size_t n) {
    const char *near = tool_nearest(name, names, n);
    return near ? tool_format(t, "did you mean '%s'?", near) : NULL;
}

bool tool_parse_int(const char *from, int64_t *v) {
    bool minus = *from == '-';
    uint64_t x = 0;
    const char *c = from + minus;
    if (!*c)
        return false;
    for (; *c; c++) {
        if (*c < '0' || *c > '9' || x > (uint64_t)INT64_MAX / 10)
            return false;
        x = x * 10 + (uint64_t)(*c - '0');
        if (x > (uint64_t)INT64_MAX)
            return false;
    }
    *v = minus ? -(int64_t)x : (int64_t)x;
    return true;
}

void tool_progress(tool *t, const char *format, ...) {
    int64_t now = now_ns();
    if (!isatty(STDERR_FILENO) || now - t->started_ns < 1000000000 || now - t->shown_ns < 100000000)
        return;
    va_list args;
    va_start(args, format);
    char *line = vformat(t, format, args);
    va_end(args);
    (void)fprintf(stderr, "\r\033[K%.110s", line);
    (void)fflush(stderr);
    t->shown_ns = now;
    t->progress_shown = true;
}

void tool_progress_end(tool *t) {
    if (t->progress_shown)
        (void)fputs("\r\033[K", stderr);
    t->progress_shown = false;
}

/* "90", "60s", "500ms", "2m", "1h". */
bool tool_budget(tool *t, const char *given, int64_t *ms) {
    static const struct {
        const char *unit;
        int64_t ms;
    } units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {"h", 3600000}, {"", 1000}};
    *ms = 0;
    if (!given)
        return true;
    const size_t digits = strspn(given, "0123456789");
    int64_t n = 0;
    for (size_t k = 0; digits && digits < 8 && k < sizeof units / sizeof units[0]; k++)
        if (strcmp(given + digits, units[k].unit) == 0 &&
            tool_parse_int(tool_copy(t, given, digits), &n))
            *ms = n * units[k].ms;
    if (*ms > 0)
        return true;
    tool_error(t, 804, NULL, "--budget takes a time such as 60s, 500ms or 2m, not '%.200s'", given);
    return false;
}
