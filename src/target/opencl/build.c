/* SPDX-License-Identifier: Apache-2.0
 * Loop IR to source, and source to program. Building is tried in a child where OpenCL is not open
 * yet; the process that launches builds again (drivers keep what they built).
 */
#include "loop/legalize.h"
#include "target/codes.h"
#include "target/opencl/opencl.h"

#include <stdio.h>

static const twi_loop *legal(twi_target *t, const twi_loop *loop, twi_arena *arena) {
    return twi_legalize(loop, arena, &t->caps);
}

void twi_cl_source(twi_target *t, const twi_loop *loop, twi_sb *out) {
    twi_emit(legal(t, loop, out->arena), &twi_dialect_opencl, out);
}

void *twi_cl_compile(const twi_cl_runtime *rt, const char *source, size_t n, char log[TWI_CL_LOG]) {
    enum { BUILD_LOG = 0x1183 };
    /* Subgroups came with 2.0. */
    const char *language = rt->is.lanes == 1                             ? "CL1.2"
                           : strncmp(rt->is.speaks, "OpenCL 2.", 9) == 0 ? "CL2.0"
                                                                         : "CL3.0";
    char options[80];
    int32_t code = 0;
    size_t got = 0;
    (void)snprintf(options, sizeof options, "-cl-std=%s%s", language,
                   rt->is.single & TWI_CL_RIGHT_DIVIDE ? " -cl-fp32-correctly-rounded-divide-sqrt"
                                                       : "");
    void *program = rt->cl.clCreateProgramWithSource(rt->context, 1, &source, &n, &code);
    if (program) {
        code = rt->cl.clBuildProgram(program, 1, &rt->device, options, NULL, NULL);
        if (code == 0)
            return program;
    }
    const int at = snprintf(log, TWI_CL_LOG, "%s (%d)\n", twi_cl_words(code), (int)code);
    if (!program)
        return NULL;
    /* A log longer than the room for it is not given in part: then only its head is fetched. */
    (void)rt->cl.clGetProgramBuildInfo(program, rt->device, BUILD_LOG, 0, NULL, &got);
    if (got <= TWI_CL_LOG - (size_t)at)
        (void)rt->cl.clGetProgramBuildInfo(program, rt->device, BUILD_LOG, got, log + at, NULL);
    log[TWI_CL_LOG - 1] = 0;
    (void)rt->cl.clReleaseProgram(program);
    return NULL;
}

static twi_cl_module *new_module(twi_target *t, const twi_loop *loop, twi_arena *arena) {
    const twi_loop *lawful = legal(t, loop, arena);
    twi_cl_module *m = TWI_NEW(arena, twi_cl_module);
    twi_sb text;
    twi_sb_init(&text, arena);
    twi_emit(lawful, &twi_dialect_opencl, &text);
    m->base = (twi_module){t, loop};
    m->source = twi_sb_text(&text);
    m->n = text.n;
    m->funcs = lawful->func.n;
    m->func = TWI_NEW_N(arena, twi_cl_func, m->funcs + 1);
    for (uint32_t i = 0; i < m->funcs; i++) {
        twi_cl_func *f = &m->func[i];
        f->name = twi_emit_name(lawful, &twi_dialect_opencl, i, arena);
        f->passes = twi_emit_passed(&lawful->func.at[i], &twi_dialect_opencl, arena, &f->pass);
    }
    return m;
}

/* The arena comes to lie in the module that it holds. */
static twi_cl_module *make_module(twi_target *t, const twi_loop *loop) {
    twi_mem *mem = &t->ctx->mem;
    jmp_buf spot, *saved;
    twi_arena arena, *a = &arena;
    twi_arena_init(a, mem);
    if (TWI_GUARD(mem, spot, saved)) {
        TWI_UNGUARD(mem, saved);
        twi_arena_fini(a);
        twi_mem_fail(mem);
    }
    twi_cl_module *m = new_module(t, loop, a);
    TWI_UNGUARD(mem, saved);
    m->arena = *a;
    return m;
}

/* What a driver of this process gave; the lock is held, or nobody else is about. */
static void drop_program(twi_cl_module *m) {
    twi_opencl *t = (twi_opencl *)m->base.target;
    char error[TWI_ERROR_TEXT];
    if (!m->program || !twi_cl_here(t, error))
        return;
    for (uint32_t i = 0; i < m->funcs; i++)
        if (m->func[i].kernel)
            (void)t->rt.cl.clReleaseKernel(m->func[i].kernel);
    (void)t->rt.cl.clReleaseProgram(m->program);
}

void twi_cl_release(twi_module *base) {
    if (!base)
        return;
    twi_cl_module *m = (twi_cl_module *)base;
    drop_program(m);
    twi_arena arena = m->arena;
    twi_arena_fini(&arena);
}

/* One byte a module: built; then the log of the first that was not. */
typedef struct {
    twi_opencl *t;
    twi_module *const *module;
    unsigned n;
} trial;

static void try_build(void *user, int fd) {
    const trial *all = user;
    twi_cl_runtime rt;
    char log[TWI_CL_LOG] = "";
    if (!twi_cl_start(&rt, all->t->path, all->t->index, log)) {
        twi_cl_send(fd, "n", 1);
        twi_cl_send(fd, log, strlen(log));
        return;
    }
    for (unsigned k = 0; k < all->n; k++) {
        const twi_cl_module *m = (const twi_cl_module *)all->module[k];
        if (!twi_cl_compile(&rt, m->source, m->n, log)) {
            twi_cl_send(fd, "r", 1);
            twi_cl_send(fd, &k, sizeof k);
            twi_cl_send(fd, log, strlen(log));
            return;
        }
    }
    twi_cl_send(fd, "y", 1);
}

static tw_status refuse(twi_opencl *t, const char *kernel, const char *log) {
    twi_error(&t->base.ctx->diags, TWI_E_CL_COMPILE, (twi_loc){0, 0}, NULL,
              "OpenCL refused the emitted source of %s; it said:\n%s", kernel, log);
    return TW_ERR_ENV;
}

static const char *kernel_of(const twi_opencl *t, const twi_module *m) {
    return twi_text(&t->base.ctx->names, m->loop->kernel);
}

static tw_status build_apart(twi_opencl *t, twi_module **out, unsigned n) {
    trial all = {t, out, n};
    char answer[TWI_CL_LOG + 16];
    size_t got;
    unsigned which;
    if (!twi_cl_apart(try_build, &all, TWI_CL_BUILD_MS, answer, sizeof answer - 1, &got)) {
        twi_error(&t->base.ctx->diags, TWI_E_CL_COMPILE, (twi_loc){0, 0}, NULL,
                  "OpenCL's compiler died or hung on the emitted source of %s",
                  n ? kernel_of(t, out[0]) : "nothing");
        return TW_ERR_ENV;
    }
    answer[got] = 0;
    if (answer[0] == 'y')
        return TW_OK;
    if (answer[0] == 'n' || got < 1 + sizeof which) {
        twi_error(&t->base.ctx->diags, TWI_E_CL_NONE, (twi_loc){0, 0}, NULL, "%s", answer + 1);
        return TW_ERR_ENV;
    }
    memcpy(&which, answer + 1, sizeof which);
    return refuse(t, kernel_of(t, out[which < n ? which : 0]), answer + 1 + sizeof which);
}

static tw_status build_here(twi_opencl *t, twi_module **out, unsigned n) {
    char log[TWI_CL_LOG] = "";
    if (!twi_cl_here(t, log)) {
        twi_error(&t->base.ctx->diags, TWI_E_CL_NONE, (twi_loc){0, 0}, NULL, "%s", log);
        return TW_ERR_ENV;
    }
    for (unsigned k = 0; k < n; k++) {
        twi_cl_module *m = (twi_cl_module *)out[k];
        m->program = twi_cl_compile(&t->rt, m->source, m->n, log);
        if (!m->program)
            return refuse(t, kernel_of(t, out[k]), log);
    }
    return TW_OK;
}

static void release_all(twi_module **out, unsigned n) {
    for (unsigned k = 0; k < n; k++) {
        twi_cl_release(out[k]);
        out[k] = NULL;
    }
}

static tw_status make_modules(twi_opencl *t, const twi_loop *const *loop, unsigned n,
                              twi_module **out) {
    for (unsigned k = 0; k < n; k++) {
        for (uint32_t i = 0; i < loop[k]->func.n; i++) {
            if (!loop[k]->func.at[i].explicit_lanes)
                continue;
            twi_error(&t->base.ctx->diags, TWI_E_LANES, (twi_loc){0, 0}, NULL,
                      "%s is made for explicit lanes; the target opencl has implicit ones",
                      twi_text(&t->base.ctx->names, loop[k]->func.at[i].name));
            return TW_ERR_INPUT;
        }
        out[k] = &make_module(&t->base, loop[k])->base;
    }
    return TW_OK;
}

tw_status twi_cl_build(twi_target *base, const twi_loop *const *loop, unsigned n,
                       const twi_printed *printed, twi_module **out) {
    (void)printed;
    twi_opencl *t = (twi_opencl *)base;
    twi_mem *mem = &base->ctx->mem;
    jmp_buf spot, *saved;
    memset(out, 0, n * sizeof(twi_module *));
    if (TWI_GUARD(mem, spot, saved)) {
        TWI_UNGUARD(mem, saved);
        release_all(out, n);
        twi_mem_fail(mem);
    }
    tw_status status = make_modules(t, loop, n, out);
    TWI_UNGUARD(mem, saved);
    if (status == TW_OK && n > 0)
        status =
            t->rt.pid || twi_cl_loaded(t->path) ? build_here(t, out, n) : build_apart(t, out, n);
    if (status != TW_OK)
        release_all(out, n);
    return status;
}
