/* SPDX-License-Identifier: Apache-2.0
 * The command line, as data: commands, options, which command takes which.
 */
#ifndef TWI_CLI_ARGS_H
#define TWI_CLI_ARGS_H

#include "cli/tool.h"

typedef struct cli_options {
    const char *file, *second;    /* second: what wisdom import reads */
    list set, pin, in, out, loop; /* in the order given */
    const char *kernel, *from, *stage, *plan, *target, *cases, *class_name, *caps, *fixture,
        *why_not, *mutate, *tile, *measure, *model;
    const char *effort, *budget, *store, *dir, *name, *shapes;
    int64_t count, threads, top, seed; /* 0: not given */
    bool check, time, figures, json, quiet, no_color, spread, deal, strided, help;
} cli_options;

typedef struct cli_command {
    const char *name;
    unsigned bit;                              /* in the options' sets */
    const char *usage, *help;                  /* "FILE [options]" */
    int (*run)(tool *t, const cli_options *o); /* NULL: not built yet */
    bool needs_file;
} cli_command;

enum {
    CMD_DEVICES = 1,
    CMD_CHECK = 2,
    CMD_SHOW = 4,
    CMD_RUN = 8,
    CMD_VERIFY = 16,
    CMD_PLAN = 32,
    CMD_LATER = 64,
    CMD_TUNE = 128,
    CMD_WISDOM = 256,
    CMD_CALIBRATE = 512,
    CMD_EXPORT = 1024,
    CMD_PATH = CMD_SHOW | CMD_RUN | CMD_VERIFY | CMD_PLAN | CMD_TUNE,
    CMD_ALL = 2047
};

extern const cli_command cli_commands[];
extern const size_t cli_command_count;

const cli_command *cli_command_named(const char *name);
/* argv[2..]. False after errors. */
bool cli_parse(tool *t, const cli_command *c, int argc, char **argv, cli_options *o);
void cli_help(text *out);
void cli_command_help(const cli_command *c, text *out);

int cmd_devices(tool *t, const cli_options *o);
int cmd_check(tool *t, const cli_options *o);
int cmd_show(tool *t, const cli_options *o);
int cmd_run(tool *t, const cli_options *o);
int cmd_verify(tool *t, const cli_options *o);
int cmd_plan(tool *t, const cli_options *o);
int cmd_tune(tool *t, const cli_options *o);
int cmd_calibrate(tool *t, const cli_options *o);
int cmd_wisdom(tool *t, const cli_options *o);
int cmd_export(tool *t, const cli_options *o);

#endif
