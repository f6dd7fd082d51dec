/* SPDX-License-Identifier: Apache-2.0
 * Reading the command line by two tables: commands and options. Help is printed from the same
 * tables.
 */
#include "cli/args.h"

#include <stddef.h>
#include <string.h>

const cli_command cli_commands[] = {
    {"devices", CMD_DEVICES, "[options]",
     "targets found, their caps, the bit probe, the environment in force", cmd_devices, false},
    {"check", CMD_CHECK, "FILE [options]", "parse, type, prove; the access ledger; runs nothing",
     cmd_check, true},
    {"show", CMD_SHOW, "FILE --stage tile|plan|loop|caps|source [options]",
     "any stage as text; needs no device", cmd_show, true},
    {"run", CMD_RUN, "FILE [options]", "on .npy files or generated inputs", cmd_run, true},
    {"verify-run", CMD_VERIFY, "FILE [options]",
     "every fixture, dtype, constant and case against the oracle", cmd_verify, true},
    {"plan", CMD_PLAN, "FILE [options]", "candidates, features, scores, refusals", cmd_plan, true},
    {"tune", CMD_TUNE, "FILE [options]", "measure plans, keep what was seen and the winner",
     cmd_tune, true},
    {"bench", CMD_LATER, "SUITE [options]", "suites beside peers", NULL, true},
    {"repeat", CMD_LATER, "[options]", "replay two bundles in rounds", NULL, false},
    {"freeze", CMD_LATER, "[options]", "make a bundle", NULL, false},
    {"verify-package", CMD_LATER, "DIR", "check an evidence package", NULL, true},
    {"report", CMD_LATER, "DIR", "an evidence package as a page", NULL, true},
    {"calibrate", CMD_CALIBRATE, "[options]", "fit the cost model here", cmd_calibrate, false},
    {"export", CMD_EXPORT, "FILE --out DIR [options]",
     "C source and header of a kernel, which need nothing of Tilewright", cmd_export, true},
    {"wisdom", CMD_WISDOM, "list|export|import FILE|doctor|gc", "what is in the store", cmd_wisdom,
     true},
};
const size_t cli_command_count = sizeof cli_commands / sizeof cli_commands[0];

typedef enum { FLAG, WORD, LIST, COUNT } kind;
typedef struct {
    const char *name, *argument;
    kind kind;
    size_t offset;
    unsigned commands;
    const char *help;
} option;

#define AT(member) offsetof(cli_options, member)
static const option options[] = {
    {"--kernel", "K", WORD, AT(kernel), CMD_CHECK | CMD_PATH | CMD_EXPORT,
     "one of FILE's kernels (verify-run: left out, all)"},
    {"--set", "NAME=VALUE", LIST, AT(set), CMD_PATH | CMD_EXPORT,
     "binds a type, constant, dim, param or scalar; repeatable, comma lists"},
    {"--from", "STAGE", WORD, AT(from), CMD_PATH,
     "FILE is what show printed: tile, loop; plan and caps print back only"},
    {"--tile", "FILE", WORD, AT(tile), CMD_SHOW | CMD_RUN,
     "with --from plan or loop: the tile IR (show --stage tile) it was made from"},
    {"--stage", "STAGE", WORD, AT(stage), CMD_SHOW, "tile, plan, loop, caps or source"},
    {"--plan", "PLAN", WORD, AT(plan), CMD_PATH | CMD_EXPORT,
     "default, best (from the store, else default; run, export: left out), random:SEED or a file"},
    {"--figures", NULL, FLAG, AT(figures), CMD_PLAN,
     "what the model counts for --plan, beside a count over its loop IR (for developers)"},
    {"-n", "N", COUNT, AT(count), CMD_VERIFY | CMD_PLAN,
     "with --plan random:SEED: seeds SEED .. SEED+N-1"},
    {"--spread", NULL, FLAG, AT(spread), CMD_VERIFY,
     "random plans are dealt out over the cases; each case has the default plan too, every fourth "
     "has strided arrays"},
    {"--deal", NULL, FLAG, AT(deal), CMD_VERIFY,
     "with --spread: each case has the default plan for one choice of types and constants in turn; "
     "those of the same types share the random plans"},
    {"--model", "M", WORD, AT(model), CMD_PLAN | CMD_RUN | CMD_TUNE | CMD_SHOW | CMD_EXPORT,
     "what ranks plans: analytic, calibrated (left out: if the store has it) or calibrate's --out"},
    {"--pin", "PIN", LIST, AT(pin), CMD_PATH | CMD_EXPORT,
     "a line of plan text, a key, a derived figure, keep=..; repeatable"},
    {"--class", "canonical", WORD, AT(class_name), CMD_PATH | CMD_EXPORT,
     "folds in canonical order: the same bits for every plan"},
    {"--cases", "FILE", WORD, AT(cases), CMD_VERIFY, "one case a line: 'R=17 W=257'"},
    {"--fixture", "NAME", WORD, AT(fixture), CMD_VERIFY, "this one alone"},
    {"--strided", NULL, FLAG, AT(strided), CMD_SHOW | CMD_VERIFY, "arrays with gaps between rows"},
    {"--loop", "FILE", LIST, AT(loop), CMD_VERIFY,
     "judges this loop IR, after the plans (for developers); repeatable"},
    {"--mutate", "KIND[:K]", WORD, AT(mutate), CMD_SHOW,
     "--stage loop: with a planted fault (for developers)"},
    {"--in", "X=FILE|@FIXTURE[:SEED]", LIST, AT(in), CMD_RUN,
     "an input: a .npy file, @normal @negative @cancel @special @exact @zero"},
    {"--out", "Y=FILE", LIST, AT(out), CMD_RUN | CMD_CALIBRATE,
     "where an output goes, as .npy (calibrate: FILE, where the model's text goes)"},
    {"--check", NULL, FLAG, AT(check), CMD_RUN | CMD_EXPORT,
     "the oracle judges this result (export: all shapes on all fixtures, before anything is "
     "written)"},
    {"--time", NULL, FLAG, AT(time), CMD_RUN, "median time of a call"},
    {"--target", "T", WORD, AT(target), CMD_PATH | CMD_CALIBRATE | CMD_EXPORT,
     "cpu (default), ref, interp[:CAPS], or caps by name"},
    {"--caps", "FILE", WORD, AT(caps), CMD_DEVICES | CMD_PATH | CMD_EXPORT,
     "a target's description (devices: writes it)"},
    {"--measure", "TARGET", WORD, AT(measure), CMD_DEVICES,
     "this target alone (cuda[:N]), its ceilings measured: launch, read, copy, FMA"},
    {"--threads", "N", COUNT, AT(threads), CMD_PATH | CMD_EXPORT,
     "at most, of the calls that plans are made and tuned for (verify-run: cases at once)"},
    {"--seed", "N", COUNT, AT(seed), CMD_RUN | CMD_VERIFY | CMD_TUNE, "of generated inputs"},
    {"--top", "N", COUNT, AT(top), CMD_PLAN | CMD_TUNE,
     "so many candidates (plan: 10; tune: 8, patient: 24, exhaustive: all)"},
    {"--why-not", "PIN", WORD, AT(why_not), CMD_PLAN, "why there is no plan with this pin"},
    {"--effort", "E", WORD, AT(effort), CMD_TUNE,
     "estimate, measure (default), patient, exhaustive, wisdom-only"},
    {"--budget", "TIME", WORD, AT(budget), CMD_TUNE | CMD_CALIBRATE,
     "60s, 500ms, 2m; what is best, or measured, by then counts"},
    {"--store", "DIR|none", WORD, AT(store),
     CMD_RUN | CMD_VERIFY | CMD_TUNE | CMD_WISDOM | CMD_PLAN | CMD_CALIBRATE | CMD_EXPORT,
     "the wisdom store (TILEWRIGHT_STORE, $XDG_CACHE_HOME/tilewright, ~/.cache/tilewright)"},
    {"--out", "DIR", WORD, AT(dir), CMD_EXPORT,
     "where NAME.h and NAME.c go; made if it is not there"},
    {"-o", "DIR", WORD, AT(dir), CMD_EXPORT, "the same"},
    {"--name", "NAME", WORD, AT(name), CMD_EXPORT,
     "of function and files (left out: the kernel's)"},
    {"--shapes", "FILE", WORD, AT(shapes), CMD_EXPORT, "one shape a line: 'R=128 W=1024'"},
    {"--json", NULL, FLAG, AT(json), CMD_ALL, "the result as one JSON object"},
    {"--quiet", NULL, FLAG, AT(quiet), CMD_ALL, "no progress"},
    {"--no-color", NULL, FLAG, AT(no_color), CMD_ALL, "plain text on a terminal too"},
    {"--help", NULL, FLAG, AT(help), CMD_ALL, "this"},
};
#undef AT
enum { OPTIONS = sizeof options / sizeof options[0] };

const cli_command *cli_command_named(const char *name) {
    for (size_t k = 0; k < cli_command_count; k++)
        if (strcmp(cli_commands[k].name, name) == 0)
            return &cli_commands[k];
    return NULL;
}

void cli_help(text *out) {
    text_str(out, "tilewright COMMAND FILE [options]\n\n");
    for (size_t k = 0; k < cli_command_count; k++)
        text_printf(out, "  %-15s %s%s\n", cli_commands[k].name, cli_commands[k].help,
                    cli_commands[k].run ? "" : " (not built yet)");
    text_str(out, "\ntilewright COMMAND --help: its options.  tilewright --version\n");
}

void cli_command_help(const cli_command *c, text *out) {
    text_printf(out, "tilewright %s %s\n%s\n\n", c->name, c->usage, c->help);
    for (size_t k = 0; k < OPTIONS; k++) {
        const option *p = &options[k];
        if (p->commands & c->bit)
            text_printf(out, "  %-*s %s\n", 34,
                        tool_format(out->t, "%s%s%s", p->name, p->argument ? " " : "",
                                    p->argument ? p->argument : ""),
                        p->help);
    }
    text_str(
        out,
        "\nexit: 0 done, 1 judged wrong, 2 wrong use or input, 3 environment, 4 internal fault\n");
}

static const option *option_named(const cli_command *c, const char *name, size_t n) {
    for (size_t k = 0; k < OPTIONS; k++)
        if (options[k].commands & c->bit && strlen(options[k].name) == n &&
            memcmp(options[k].name, name, n) == 0)
            return &options[k];
    return NULL;
}

static void unknown(tool *t, const cli_command *c, const char *given) {
    const char *names[OPTIONS];
    size_t n = 0;
    for (size_t k = 0; k < OPTIONS; k++)
        if (options[k].commands & c->bit)
            names[n++] = options[k].name;
    char *help = tool_nearest_help(t, given, names, n);
    tool_error(t, 801, help ? help : tool_format(t, "tilewright %s --help lists them", c->name),
               "%s has no option '%.200s'", c->name, given);
}

static bool set_option(tool *t, const option *p, const char *value, cli_options *o) {
    char *at = (char *)o + p->offset;
    switch (p->kind) {
    case FLAG:
        *(bool *)at = true;
        return true;
    case WORD:
        if (*(const char **)at && strcmp(*(const char **)at, value) != 0) {
            tool_error(t, 803, NULL, "%s is given twice: '%.200s' and '%.200s'", p->name,
                       *(const char **)at, value);
            return false;
        }
        *(const char **)at = value;
        return true;
    case LIST:
        list_add(t, (list *)at, value);
        return true;
    case COUNT:
        if (!tool_parse_int(value, (int64_t *)at) || *(int64_t *)at < 1) {
            tool_error(t, 804, NULL, "%s takes a number from 1 up, not '%.200s'", p->name, value);
            return false;
        }
        return true;
    }
    return false;
}

/* argv[*k] is an option; takes its value too. */
static bool take_option(tool *t, const cli_command *c, char **argv, int argc, int *k,
                        cli_options *o) {
    const char *given = argv[*k], *equals = strchr(given, '=');
    size_t n = equals && given[1] == '-' ? (size_t)(equals - given) : strlen(given);
    const option *p = option_named(c, given, n);
    if (!p) {
        unknown(t, c, tool_copy(t, given, n));
        return false;
    }
    if (p->kind == FLAG) {
        if (n != strlen(given))
            tool_error(t, 802, NULL, "%s takes no value", p->name);
        return n == strlen(given) && set_option(t, p, NULL, o);
    }
    const char *value = n != strlen(given) ? given + n + 1 : ++*k < argc ? argv[*k] : NULL;
    if (!value) {
        tool_error(t, 802, NULL, "%s needs a value: %s %s", p->name, p->name, p->argument);
        return false;
    }
    return set_option(t, p, value, o);
}

bool cli_parse(tool *t, const cli_command *c, int argc, char **argv, cli_options *o) {
    bool ok = true;
    for (int k = 2; k < argc; k++) {
        if (argv[k][0] == '-' && argv[k][1]) {
            ok = take_option(t, c, argv, argc, &k, o) && ok;
        } else if (!c->needs_file && c->bit != CMD_LATER) {
            tool_error(t, 805, NULL, "%s takes no FILE: '%.200s' is given", c->name, argv[k]);
            ok = false;
        } else if (!o->file) {
            o->file = argv[k];
        } else if (c->bit == CMD_WISDOM && !o->second) {
            o->second = argv[k];
        } else if (c->bit != CMD_LATER) {
            tool_error(t, 805, NULL, "%s takes one FILE: '%.200s' and '%.200s' are given", c->name,
                       o->file, argv[k]);
            ok = false;
        }
    }
    if (ok && !o->help && c->needs_file && !o->file) {
        tool_error(t, 805, tool_format(t, "tilewright %s %s", c->name, c->usage), "%s needs a FILE",
                   c->name);
        ok = false;
    }
    return ok;
}
