/* SPDX-License-Identifier: Apache-2.0
 * The arrays of one `run`: where each comes from and goes to.
 */
#ifndef TWI_CLI_ARRAYS_H
#define TWI_CLI_ARRAYS_H

#include "cli/job.h"
#include "cli/npy.h"

typedef struct input {
    const char *name, *path; /* path NULL: a fixture */
    const char *fixture;
    uint64_t seed;
    npy file;
} input;

typedef struct arrays {
    tool *t;
    input *in;
    size_t n_in, n; /* n: arrays of the kernel */
    const list *out;
    uint64_t seed;
    tw_arg *arg;    /* of each array */
    size_t *number; /* its tw_compiled_arg */
    void **data, **before;
    tw_tensor *tensor;
    const tw_tensor **pointer;
    tw_scalar_value *scalar; /* those with a value, by name */
    size_t n_scalars;
    tw_scalar *value; /* of every scalar */
    tw_call call;
} arrays;

/* --in, read; --out, checked against --in. False after errors. */
bool arrays_open(tool *t, const cli_options *o, arrays *a);
/* Types that files settle: as job.infer, with job.user the arrays. An array that the kernel does
 * not have is an error here; arrays_known says it where no program is read. */
bool arrays_infer(tool *t, job *j, const tw_program *p, size_t kernel);
bool arrays_known(tool *t, const arrays *a, const tw_ir *ir);
bool arrays_dims(tool *t, job *j, const arrays *a);
/* Memory for every array of the kernel, inputs filled, copies of them kept. */
bool arrays_fill(tool *t, arrays *a, const tw_compiled *kernel, const job *j);
bool arrays_write(arrays *a);                  /* --out: all or none */
void arrays_print(const arrays *a, text *out); /* outputs without --out, in short */
void arrays_release(arrays *a);
size_t arrays_elements(const tw_arg *arg);

#endif
