/* SPDX-License-Identifier: Apache-2.0
 * The CPU target's insides, shared by its files.
 */
#ifndef TWI_TARGET_CPU_CPU_H
#define TWI_TARGET_CPU_CPU_H

#include "target/buffers.h"
#include "target/cpu/pool.h"
#include "target/cpu/tool.h"
#include "target/target.h"

/* What an entry of the emitted source is: emit/dialect_c.c. */
typedef void (*twi_entry_fn)(void *const *array, const unsigned long long *scalar,
                             const long long *stride, const long long *trip, char *scratch,
                             long long lo, long long hi);

typedef struct {
    twi_target base;
    const char *compiler; /* as started; NULL: not looked for yet */
    bool given;           /* by the caller or TILEWRIGHT_CC: no other is tried */
    bool clang;
    const char *file; /* the compiler's, links followed; "": not known */
    int64_t limit_ms;
    twi_pool pool;
} twi_cpu;

typedef struct {
    twi_entry_fn fn;
    uint64_t scratch;
} twi_cpu_func;

/* A shared object, loaded once for all modules in it. */
typedef struct {
    void *handle;
    unsigned users;
} twi_library;

typedef struct {
    twi_module base;
    twi_library *library;
    twi_buffers scratch;
    uint32_t n;
    twi_cpu_func func[];
} twi_cpu_module;

/* Runs a tool within the limits of the target and of its context. */
void twi_cpu_tool(const twi_cpu *cpu, const char *const *argv, const char *tmpdir,
                  twi_tool_result *result);
bool twi_cpu_take_tiles(void);      /* AMX's, of the system for this process; false: refused */
bool twi_cpu_stopped(twi_cpu *cpu); /* false; diagnostics */
bool twi_cpu_find_compiler(twi_cpu *cpu); /* once; diagnostics */
tw_status twi_cpu_build(twi_target *t, const twi_loop *const *loop, unsigned n,
                        const struct twi_printed *printed, twi_module **out);
void twi_cpu_source(twi_target *t, const twi_loop *loop, twi_sb *out);
tw_status twi_cpu_launch(twi_module *base, uint32_t func, int64_t grid, const twi_launch *args,
                         char error[TWI_ERROR_TEXT]);
void twi_cpu_release(twi_module *base);

#endif
