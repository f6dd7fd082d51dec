/* SPDX-License-Identifier: Apache-2.0
 * What a tile IR has for arguments and dims.
 */
#include "compile/path.h"

size_t tw_ir_dims(const tw_ir *ir) { return ir && ir->dim.n ? ir->dim.n - 1 : 0; }

const char *tw_ir_dim(const tw_ir *ir, size_t k) {
    return k < tw_ir_dims(ir) ? twi_text(&ir->ctx->names, ir->dim.at[k + 1].name) : NULL;
}

bool tw_ir_dim_known(const tw_ir *ir, size_t k, int64_t *value) {
    if (k >= tw_ir_dims(ir) || !ir->dim.at[k + 1].known)
        return false;
    *value = ir->dim.at[k + 1].value;
    return true;
}

const char *tw_ir_kernel(const tw_ir *ir) {
    return ir ? twi_text(&ir->ctx->names, ir->kernel) : NULL;
}

static void array_arg(const tw_ir *ir, uint32_t id, tw_arg *out) {
    static const tw_role roles[] = {[TWI_IN] = TW_ROLE_IN,
                                    [TWI_OUT] = TW_ROLE_OUT,
                                    [TWI_INOUT] = TW_ROLE_INOUT,
                                    [TWI_TEMP] = TW_ROLE_TEMP};
    const twi_array *a = &ir->array.at[id];
    *out = (tw_arg){.name = twi_text(&ir->ctx->names, a->name),
                    .elem = (tw_elem)a->elem,
                    .role = roles[a->role],
                    .rank = a->rank};
    for (unsigned d = 0; d < a->rank; d++)
        if (!twi_ix_is_const(ir, a->dim[d], &out->shape[d]))
            out->shape[d] = -1;
}

/* Arrays in order of their ids, then scalars: both are in order of declaration. */
bool twi_arg_of(const tw_ir *ir, size_t k, tw_arg *out, uint32_t *id) {
    for (uint32_t a = 1; a < ir->array.n; a++) {
        if (ir->array.at[a].role == TWI_TEMP)
            continue;
        if (k-- == 0) {
            array_arg(ir, a, out);
            *id = a;
            return true;
        }
    }
    if (!ir->scalar.n || k >= ir->scalar.n - 1)
        return false;
    *id = (uint32_t)k + 1;
    const twi_scalar *s = &ir->scalar.at[*id];
    *out = (tw_arg){.name = twi_text(&ir->ctx->names, s->name),
                    .elem = (tw_elem)s->elem,
                    .scalar = true,
                    .has_default = s->has_default,
                    .bits = s->bits};
    return true;
}

bool twi_scalars_known(const tw_ir *ir, const tw_scalar_value *values, size_t n) {
    for (size_t k = 0; k < n; k++) {
        uint32_t s = 1;
        while (s < ir->scalar.n &&
               strcmp(values[k].name, twi_text(&ir->ctx->names, ir->scalar.at[s].name)) != 0)
            s++;
        if (s < ir->scalar.n)
            continue;
        twi_error(&ir->ctx->diags, TWI_E_PATH_ARGUMENT, (twi_loc){0, 0}, NULL,
                  "kernel %s has no scalar %s", twi_text(&ir->ctx->names, ir->kernel),
                  values[k].name);
        return false;
    }
    return true;
}

size_t tw_ir_args(const tw_ir *ir) {
    size_t n = 0;
    tw_arg arg;
    uint32_t id;
    while (ir && twi_arg_of(ir, n, &arg, &id))
        n++;
    return n;
}

tw_arg tw_ir_arg(const tw_ir *ir, size_t k) {
    tw_arg arg = {0};
    uint32_t id;
    if (ir)
        (void)twi_arg_of(ir, k, &arg, &id);
    return arg;
}

/* The array that a shape is for; 0: there is none, or it cannot have that shape. */
static uint32_t array_of(tw_context *ctx, const tw_ir *ir, const tw_shape *s) {
    uint32_t a = 1;
    while (a < ir->array.n && strcmp(twi_text(&ctx->names, ir->array.at[a].name), s->array) != 0)
        a++;
    if (a == ir->array.n) {
        twi_error(&ctx->diags, TWI_E_PATH_DIM, (twi_loc){0, 0}, NULL, "kernel %s has no array %s",
                  twi_text(&ctx->names, ir->kernel), s->array);
        return 0;
    }
    if (ir->array.at[a].rank != s->rank) {
        twi_error(&ctx->diags, TWI_E_PATH_DIM, ir->array.at[a].loc, NULL,
                  "%s has rank %d, but the array given for it has rank %d", s->array,
                  (int)ir->array.at[a].rank, s->rank);
        return 0;
    }
    for (int d = 0; d < s->rank; d++)
        if (s->extent[d] < 0) {
            twi_error(&ctx->diags, TWI_E_PATH_DIM, ir->array.at[a].loc, NULL,
                      "%s cannot have extent %lld in dimension %d", s->array,
                      (long long)s->extent[d], d);
            return 0;
        }
    return a;
}

static bool bind(tw_context *ctx, const tw_ir *ir, const tw_shape *shapes, size_t n,
                 int64_t *values) {
    const int64_t **shape = TWI_NEW_N(&ctx->arena, const int64_t *, ir->array.n + 1);
    int64_t *dims = TWI_NEW_N(&ctx->arena, int64_t, ir->dim.n + 1);
    for (uint32_t d = 1; d < ir->dim.n; d++)
        dims[d] = ir->dim.at[d].known ? ir->dim.at[d].value : values[d - 1];
    for (size_t k = 0; k < n; k++) {
        const uint32_t a = array_of(ctx, ir, &shapes[k]);
        if (!a)
            return false;
        shape[a] = shapes[k].extent;
    }
    if (!twi_ir_bind_dims(ir, shape, dims))
        return false;
    for (uint32_t d = 1; d < ir->dim.n; d++)
        values[d - 1] = dims[d];
    return true;
}

bool tw_ir_dims_from(tw_context *ctx, const tw_ir *ir, const tw_shape *shapes, size_t n,
                     int64_t *values) {
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return false;
    }
    bool ok = bind(ctx, ir, shapes, n, values);
    TWI_UNGUARD(&ctx->mem, saved);
    return ok;
}
