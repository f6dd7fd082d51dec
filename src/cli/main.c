/* SPDX-License-Identifier: Apache-2.0
 * The tool: finds the command, runs it, and then says what there is to say: the result on stdout,
 * diagnostics on stderr, or with --json one object that holds both. docs: tilewright --help.
 */
#include "cli/args.h"
#include "cli/json.h"

#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void json_diagnostic(tool *t, const char *severity, const tw_diag *d) {
    json_open(&t->json, NULL, '{');
    json_str(&t->json, "code", tool_format(t, "E%04d", d->code));
    json_str(&t->json, "severity", severity);
    json_str(&t->json, "file", d->file);
    json_int(&t->json, "line", d->line);
    json_int(&t->json, "column", d->column);
    json_str(&t->json, "message", d->text);
    json_str(&t->json, "help", d->help);
    json_close(&t->json, '}');
}

static void diagnostics_json(tool *t) {
    static const char *const severities[] = {"error", "warning", "note"};
    json_open(&t->json, "diagnostics", '[');
    for (size_t k = 0; k < tw_diag_count(t->ctx); k++) {
        tw_diag d = tw_diag_get(t->ctx, k);
        json_diagnostic(t, severities[(unsigned)d.severity < 3 ? d.severity : 0], &d);
    }
    for (size_t k = 0; k < t->n_notes; k++) {
        tw_diag d = {.code = t->notes[k].code, .text = t->notes[k].text, .help = t->notes[k].help};
        json_diagnostic(t, severities[t->notes[k].exit == 0], &d);
    }
    json_close(&t->json, ']');
}

static void diagnostics_text(tool *t, bool color) {
    (void)fputs(tw_diag_text(t->ctx, color), stderr);
    for (size_t k = 0; k < t->n_notes; k++) {
        const tool_note *n = &t->notes[k];
        (void)fprintf(stderr, "tilewright: %s%s[E%04d]:%s %s\n",
                      !color    ? ""
                      : n->exit ? "\033[31m"
                                : "\033[33m",
                      n->exit ? "error" : "warning", n->code, color ? "\033[0m" : "", n->text);
        if (n->help)
            (void)fprintf(stderr, "  help: %s\n", n->help);
    }
}

/* Everything that the run came to, at once; a result that cannot be written is an error of its own.
 */
static int finish(tool *t, const char *command, bool json) {
    tool_progress_end(t);
    if (json) {
        text head = {.t = t};
        diagnostics_json(t);
        text_str(&head, "{\"schema\":");
        json_quote(&head, command, strlen(command));
        head.n--;
        text_str(&head, "/1\"");
        json_str(&head, "version", tw_version());
        json_int(&head, "exit", t->exit);
        text_str(&head, ",");
        text_add(&head, t->json.at, t->json.n);
        text_str(&head, "}\n");
        t->out = head;
    } else {
        diagnostics_text(t, !t->options->no_color && !getenv("NO_COLOR") && isatty(STDERR_FILENO));
    }
    size_t put = t->out.n ? fwrite(t->out.at, 1, t->out.n, stdout) : 0;
    if (put != t->out.n || fflush(stdout) != 0) {
        (void)fprintf(stderr, "tilewright: error[E0891]: stdout: %s\n", strerror(errno));
        tool_exit(t, EXIT_ENV);
    }
    return t->exit;
}

static void dispatch(tool *t, const cli_command *c, int argc, char **argv, cli_options *o) {
    if (!cli_parse(t, c, argc, argv, o)) {
        for (int k = 2; k < argc; k++) /* also when the rest is wrong */
            o->json = o->json || strcmp(argv[k], "--json") == 0;
        return;
    }
    t->color = !o->json && !o->no_color && !getenv("NO_COLOR") && isatty(STDOUT_FILENO);
    if (o->help)
        cli_command_help(c, &t->out);
    else if (!c->run)
        tool_error(t, 809, NULL, "%s is not built yet", c->name);
    else
        tool_exit(t, c->run(t, o));
}

static void other(tool *t, const char *word) {
    const char *names[32];
    size_t n = 0;
    for (; n < cli_command_count && n < 32; n++)
        names[n] = cli_commands[n].name;
    char *help = tool_nearest_help(t, word, names, n);
    tool_error(t, 800, help ? help : "tilewright --help lists them", "there is no command '%.200s'",
               word);
}

int main(int argc, char **argv) {
    (void)setlocale(LC_ALL, ""); /* texts do not depend on it; tests hold that */
    tool t;
    cli_options o = {0};
    tool_init(&t);
    t.options = &o;
    t.ctx = tw_context_create(NULL);
    if (!t.ctx) {
        (void)fputs("tilewright: out of memory\n", stderr);
        return EXIT_ENV;
    }
    tool_catch_signals();
    tw_context_interrupt(t.ctx, tool_interrupt());
    const char *word = argc > 1 ? argv[1] : "--help";
    const cli_command *c = cli_command_named(word);
    if (c)
        dispatch(&t, c, argc, argv, &o);
    else if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
        cli_help(&t.out);
    else if (strcmp(word, "--version") == 0)
        text_printf(&t.out, "tilewright %s\n", tw_version());
    else
        other(&t, word);
    if (argc < 2)
        tool_exit(&t, EXIT_INPUT);
    if (tool_interrupt()->asked)
        t.exit = EXIT_INTERRUPT;
    int status =
        finish(&t, tool_format(&t, "tilewright/%s", c ? c->name : "error"), o.json && !o.help);
    tw_store_close(t.store);
    tw_context_destroy(t.ctx);
    tool_fini(&t);
    return status;
}
