/* SPDX-License-Identifier: Apache-2.0
 * Random programs of the tile language, derived from the grammar of docs/language.md. The same seed
 * gives the same text. Names are mostly ones that exist, so that many programs get past the parser;
 * `wild` (0 to 100) says how often a rule of the language is broken on purpose.
 */
#ifndef TW_TESTS_FUZZ_GENERATE_H
#define TW_TESTS_FUZZ_GENERATE_H

#include "base/hash.h"
#include "base/strbuf.h"

typedef struct generator {
    twi_rng rng;
    twi_sb out;
    unsigned wild;
    int depth, block, names; /* nesting of expressions and blocks; names bound so far: v0 .. */
    bool function;           /* inside `fn` */
} generator;

void generate_program(generator *g, uint64_t seed, unsigned wild, twi_arena *arena);

#endif
