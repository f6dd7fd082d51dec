/* SPDX-License-Identifier: Apache-2.0
 * The cases of verify-run: lists of NAME=VALUE, from a file or made up.
 */
#ifndef TWI_CLI_CASES_H
#define TWI_CLI_CASES_H

#include "cli/job.h"

/* One choice of names and values, in order. */
typedef struct pair {
    const char *name, *value;
} pair;
typedef struct pairs {
    pair *at;
    size_t n;
} pairs;
typedef struct cases {
    pairs *at;
    size_t n, cap;
} cases;

const char *pairs_find(const pairs *p, const char *name);
void cases_add(tool *t, cases *c, pairs p);
/* Every combination of one value each; names vary in the order given, the last one fastest. */
void cases_product(tool *t, const setting *names, size_t n, cases *out);
/* 'kernel=gemm M=127 N=193'; # comments. False after errors. */
bool cases_read(tool *t, const char *path, cases *out);
/* NAME.cases beside NAME.tile, or NULL. */
char *cases_beside(tool *t, const char *path);
/* Ten cases of small and odd extents that the kernel's facts allow. */
void cases_invent(tool *t, const tw_ir *ir, uint64_t seed, cases *out);

#endif
