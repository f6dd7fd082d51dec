/* SPDX-License-Identifier: Apache-2.0
 * From FILE and options to the tile IR of one kernel and the options of its path.
 */
#ifndef TWI_CLI_JOB_H
#define TWI_CLI_JOB_H

#include "cli/args.h"

/* --set: names with the values given for each, in order. */
typedef struct setting {
    const char *name;
    list values;
    bool used;
} setting;
typedef struct settings {
    setting *at;
    size_t n, cap;
} settings;

/* False after errors. */
bool settings_add(tool *t, settings *s, const char *item); /* "R=128,W=1024", "T=f32,bf16" */
bool settings_parse(tool *t, const list *items, settings *s);
setting *settings_find(const settings *s, const char *name);
/* Types, constants, dims, params and scalars by name. program NULL: what the IR has. */
void settings_names(tool *t, list *names, const tw_program *program, size_t kernel,
                    const tw_ir *ir);
/* Every name must be one that the kernel declares; says which are near. */
bool settings_known(tool *t, settings *s, const tw_program *program, size_t kernel,
                    const tw_ir *ir);
bool settings_single(tool *t, const settings *s); /* lists are for verify-run */

typedef struct file {
    const char *name;
    char *bytes;
    size_t n;
} file;
bool file_load(tool *t, const char *path, file *f);
tw_source file_source(const file *f);

/* FILE as a program: kernel number by --kernel, or the only one. */
bool program_load(tool *t, const cli_options *o, tw_program **program, file *f);
bool program_kernel(tool *t, const cli_options *o, const tw_program *p, size_t *kernel);
/* "T=f32 CAUSAL=true BI=32": what was bound. */
tw_ir *program_build(tool *t, tw_program *p, size_t kernel, const settings *s, const char **types);

typedef struct job {
    bool (*infer)(tool *t, struct job *j, const tw_program *p,
                  size_t kernel); /* may add to set; NULL */
    void *user;
    tw_ir *ir; /* NULL with --from loop */
    const char *types;
    settings set;
    file source, loop; /* texts stay */
    tw_compile_options options;
    tw_dim_value *dims; /* of options */
    tw_scalar_value *scalars;
    int threads; /* 0: all */
    size_t n_scalars;
} job;
int job_threads(const cli_options *o);
/* --store, TILEWRIGHT_STORE or the usual place becomes t->store. Reading: one that cannot be had is
 * a warning, unless it was asked for. */
bool job_store(tool *t, const cli_options *o, tw_store_use use);
/* "model calibrated DATE", a line unless it is analytic; --json: the member "model". False:
 * there is none such. */
bool job_tell_model(tool *t, const cli_options *o, const job *j);
/* target, caps, plan, pins, class; FILE apart. */
bool job_options(tool *t, const cli_options *o, tw_compile_options *options);
/* The whole of it for commands that take one kernel at one choice; dims and scalars as far as --set
 * gives them. */
bool job_load(tool *t, const cli_options *o, job *j);
bool job_bind(tool *t, job *j);                /* dims (of options) and scalars from j->set */
bool job_dims_complete(tool *t, const job *j); /* else an error that names the missing ones */

#endif
