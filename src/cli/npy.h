/* SPDX-License-Identifier: Apache-2.0
 * .npy files, versions 1 to 3, little endian, C or Fortran order, rank 0 to 8.
 */
#ifndef TWI_CLI_NPY_H
#define TWI_CLI_NPY_H

#include "cli/tool.h"

/* What a file's descr may be read as: a set of 1 << tw_elem (16-bit patterns may be u16 or bf16).
 */
typedef struct npy {
    uint32_t elems;
    size_t item; /* bytes of an element */
    int rank;
    int64_t shape[8];
    bool fortran;
    const char *data; /* as the file has it */
    size_t n;         /* elements */
} npy;

/* False after an error that names the path and what is wrong with it. */
bool npy_parse(tool *t, const char *path, const char *bytes, size_t n, npy *out);
void npy_dense(const npy *in, void *out); /* the elements in row-major order */
/* A version 1 file of a dense row-major array. */
void npy_print(text *out, tw_elem elem, int rank, const int64_t *shape, const void *data);

#endif
