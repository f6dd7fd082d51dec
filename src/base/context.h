/* SPDX-License-Identifier: Apache-2.0
 * The context: everything that would otherwise be global. Independent contexts share nothing. One
 * thread at a time may use a context; kernels made from it may be launched from several (docs).
 */
#ifndef TWI_BASE_CONTEXT_H
#define TWI_BASE_CONTEXT_H

#include "base/diag.h"
#include "base/intern.h"
#include "base/notes.h"
#include "base/shelf.h"
#include "tilewright/context.h"

/* Environment variables, read in one place (env.c) when a context is made; NULL or 0 where not set.
 */
typedef struct twi_env {
    const char *cc, *store, *cache, *home, *path, *dump, *nvrtc, *cuda, *opencl, *tmpdir;
    int threads;
} twi_env;

struct tw_context {
    twi_mem mem;
    twi_arena arena; /* lives as long as the context */
    twi_names names;
    twi_diags diags;
    twi_env env;
    tw_interrupt *interrupt; /* NULL: none */
    bool grouped;            /* tools stay in this process's group and end with it */
    twi_shelf *shelf;        /* NULL: nothing is kept from run to run */
    twi_notes planned;       /* default plans by what they depend on (compile/planned.c) */
    twi_sym processor;       /* what the system says of it (target/cpu/probe.c); 0: not asked yet */
};

/* Around what an interrupt must let go. */
void twi_hold(tw_context *ctx);
void twi_let_go(tw_context *ctx);
bool twi_interrupted(const tw_context *ctx);

#endif
