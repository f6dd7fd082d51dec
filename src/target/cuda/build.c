/* SPDX-License-Identifier: Apache-2.0
 * Modules: several loops become one source, which is compiled once. No driver is needed for that;
 * twi_cuda_enter loads what was made. Functions of the k-th loop get names of their own, its
 * helpers a namespace.
 */
#include "emit/emit.h"
#include "loop/legalize.h"
#include "target/codes.h"
#include "target/cuda/cuda.h"

static const char *unit_name(twi_arena *arena, const char *name, unsigned k, unsigned n) {
    return n == 1 ? name : twi_format(arena, "%s_m%u", name, k);
}

void twi_cuda_source(twi_target *t, const twi_loop *loop, twi_sb *out) {
    twi_emit(twi_legalize(loop, out->arena, &t->caps), &twi_dialect_cuda, out);
}

static bool implicit_lanes(twi_target *t, const twi_loop *loop) {
    for (uint32_t i = 0; i < loop->func.n; i++) {
        if (!loop->func.at[i].explicit_lanes)
            continue;
        twi_error(&t->ctx->diags, TWI_E_WORKER_LANES, (twi_loc){0, 0}, NULL,
                  "%s is made for explicit lanes; the target cuda has implicit ones",
                  twi_text(&t->ctx->names, loop->func.at[i].name));
        return false;
    }
    return true;
}

static void add_module(const twi_loop *lawful, unsigned k, unsigned n, twi_sb *out) {
    for (uint32_t i = 0; n > 1 && i < lawful->func.n; i++) {
        const char *name = twi_emit_name(lawful, &twi_dialect_cuda, i, out->arena);
        twi_sb_printf(out, "#define %s %s\n", name, unit_name(out->arena, name, k, n));
    }
    if (n > 1)
        twi_sb_printf(out, "namespace m%u {\n", k);
    twi_emit(lawful, &twi_dialect_cuda, out);
    if (n > 1)
        twi_sb_str(out, "}\n");
    for (uint32_t i = 0; n > 1 && i < lawful->func.n; i++)
        twi_sb_printf(out, "#undef %s\n", twi_emit_name(lawful, &twi_dialect_cuda, i, out->arena));
}

static size_t module_size(uint32_t n) {
    return sizeof(twi_cuda_module) + n * sizeof(twi_cuda_func);
}

static twi_cuda_module *new_module(twi_cuda *c, const twi_loop *loop, twi_cuda_image *image) {
    twi_cuda_module *m = twi_mem_get(&c->base.ctx->mem, module_size(loop->func.n));
    memset(m, 0, module_size(loop->func.n));
    m->base = (twi_module){&c->base, loop};
    m->image = image;
    image->users++;
    m->n = loop->func.n;
    m->arrays = loop->array.n;
    twi_buffers_init(&m->tables, twi_cuda_table_bytes(loop));
    return m;
}

static void take_function(twi_cuda_module *m, uint32_t i, const twi_func *f, const char *name,
                          twi_arena *arena) {
    twi_mem *mem = &m->base.target->ctx->mem;
    const size_t n = strlen(name) + 1;
    twi_cuda_func *func = &m->func[i];
    twi_pass *pass;
    func->name = twi_mem_get(mem, n);
    memcpy(func->name, name, n);
    func->passes = twi_emit_passed(f, &twi_dialect_cuda, arena, &pass);
    func->pass = twi_mem_get(mem, func->passes * sizeof *pass);
    memcpy(func->pass, pass, func->passes * sizeof *pass);
    func->workers = f->lanes * f->subs;
    func->shared = (unsigned)twi_emit_shared(f);
    if (!m->image->ptx && twi_cubin_read(m->image->at, m->image->n, name, &func->figures))
        func->figures.shared += func->shared;
}

void twi_cuda_release(twi_module *base) {
    if (!base)
        return;
    twi_cuda_module *m = (twi_cuda_module *)base;
    twi_mem *mem = &base->target->ctx->mem;
    for (uint32_t i = 0; i < m->n; i++) {
        const twi_cuda_func *f = &m->func[i];
        twi_mem_put(mem, f->name, f->name ? strlen(f->name) + 1 : 0);
        twi_mem_put(mem, f->pass, f->pass ? f->passes * sizeof *f->pass : 0);
    }
    twi_buffers_fini(&m->tables);
    twi_cuda_drop_homes(m);
    twi_cuda_drop_image((twi_cuda *)base->target, m->image);
    twi_mem_put(mem, m, module_size(m->n));
}

/* One call of build: what must be let go if memory runs out on the way. */
typedef struct {
    twi_cuda *c;
    twi_arena arena;
    twi_cuda_image *image;
    twi_module **out;
    unsigned n;
} unit;

static void release_all(unit *u) {
    for (unsigned k = 0; k < u->n; k++) {
        twi_cuda_release(u->out[k]);
        u->out[k] = NULL;
    }
}

static tw_status build_unit(unit *u, const twi_loop *const *loop) {
    twi_sb text;
    const twi_loop **lawful = TWI_NEW_N(&u->arena, const twi_loop *, u->n);
    twi_sb_init(&text, &u->arena);
    for (unsigned k = 0; k < u->n; k++) {
        lawful[k] = twi_legalize(loop[k], &u->arena, &u->c->base.caps);
        add_module(lawful[k], k, u->n, &text);
    }
    u->image = twi_cuda_compile(u->c, twi_sb_text(&text));
    if (!u->image)
        return TW_ERR_ENV;
    for (unsigned k = 0; k < u->n; k++) {
        twi_cuda_module *m = new_module(u->c, loop[k], u->image);
        u->out[k] = &m->base;
        for (uint32_t i = 0; i < m->n; i++) {
            const char *name = twi_emit_name(lawful[k], &twi_dialect_cuda, i, &u->arena);
            take_function(m, i, &lawful[k]->func.at[i], unit_name(&u->arena, name, k, u->n),
                          &u->arena);
        }
    }
    return TW_OK;
}

tw_status twi_cuda_build(twi_target *t, const twi_loop *const *loop, unsigned n,
                         const twi_printed *printed, twi_module **out) {
    (void)printed;
    unit u = {.c = (twi_cuda *)t, .out = out, .n = n};
    jmp_buf spot, *saved;
    memset(out, 0, n * sizeof(twi_module *));
    for (unsigned k = 0; k < n; k++)
        if (!implicit_lanes(t, loop[k]))
            return TW_ERR_INPUT;
    if (!twi_cuda_find_nvrtc(u.c))
        return TW_ERR_ENV;
    twi_arena_init(&u.arena, &t->ctx->mem);
    if (TWI_GUARD(&t->ctx->mem, spot, saved)) {
        TWI_UNGUARD(&t->ctx->mem, saved);
        release_all(&u);
        twi_cuda_drop_image(u.c, u.image);
        twi_arena_fini(&u.arena);
        twi_mem_fail(&t->ctx->mem);
    }
    const tw_status status = n ? build_unit(&u, loop) : TW_OK;
    TWI_UNGUARD(&t->ctx->mem, saved);
    if (status != TW_OK)
        release_all(&u);
    twi_cuda_drop_image(u.c, u.image); /* this call's own hold on it */
    twi_arena_fini(&u.arena);
    return status;
}

bool twi_cuda_figures(const twi_module *m, uint32_t func, twi_code_figures *out) {
    const twi_cuda_module *cm = (const twi_cuda_module *)m;
    const twi_cubin_figures *f = &cm->func[func].figures;
    *out = (twi_code_figures){cm->func[func].name, f->registers, f->shared, f->local, f->code};
    return f->registers > 0;
}
