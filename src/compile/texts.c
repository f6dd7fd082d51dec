/* SPDX-License-Identifier: Apache-2.0
 * Numbers as text, caps printed back, targets described.
 */
#include "compile/path.h"
#include "loop/scalar.h"
#include "target/codes.h"

#include <math.h>
#include <stdio.h>

static bool integer_bits(tw_elem elem, int64_t v, uint64_t *bits) {
    const unsigned width = 8u * (unsigned)tw_elem_size(elem);
    const bool is_signed = elem >= TW_I8 && elem <= TW_I64;
    const uint64_t mask = width == 64 ? UINT64_MAX : (UINT64_C(1) << width) - 1;
    *bits = (uint64_t)v & mask;
    if (is_signed)
        return width == 64 || (v >= -(INT64_C(1) << (width - 1)) && v < INT64_C(1) << (width - 1));
    return v >= 0 && (uint64_t)v <= mask;
}

/* Rounded once, to nearest even. */
static bool float_bits(tw_elem elem, double v, uint64_t *bits) {
    const float f = (float)v;
    uint32_t pattern = 0;
    *bits = 0;
    memcpy(&pattern, &f, sizeof pattern);
    if (elem == TW_F64)
        memcpy(bits, &v, sizeof v);
    else if (elem == TW_F32)
        *bits = pattern;
    else if (elem == TW_F16)
        *bits = twi_f16_of_f64(v);
    else if (elem == TW_BF16)
        *bits = twi_bf16_of_f64(v);
    return elem == TW_F64 || elem == TW_F32 || elem == TW_F16 || elem == TW_BF16;
}

bool tw_scalar_bits(tw_elem elem, const char *text, uint64_t *bits) {
    const size_t n = strlen(text);
    int64_t i;
    double f;
    if (elem == TW_BOOL) {
        *bits = strcmp(text, "true") == 0;
        return *bits || strcmp(text, "false") == 0;
    }
    if (elem >= TW_I8 && elem <= TW_U64)
        return twi_parse_i64(text, n, &i) && integer_bits(elem, i, bits);
    return twi_parse_f64(text, n, &f) && float_bits(elem, f, bits);
}

static double as_double(tw_elem elem, uint64_t bits) {
    float f = 0;
    double d = 0;
    const uint32_t low = (uint32_t)bits;
    if (elem == TW_F64)
        memcpy(&d, &bits, sizeof d);
    memcpy(&f, &low, sizeof f);
    if (elem == TW_F32)
        d = (double)f;
    if (elem == TW_F16)
        d = (double)twi_f32_of_f16((uint16_t)bits);
    if (elem == TW_BF16)
        d = (double)twi_f32_of_bf16((uint16_t)bits);
    return d;
}

static int64_t as_int(tw_elem elem, uint64_t bits) {
    const unsigned unused = 64u - 8u * (unsigned)tw_elem_size(elem);
    const int64_t high = (int64_t)(bits << unused);
    return elem >= TW_I8 && elem <= TW_I64 ? high >> unused : (int64_t)(bits << unused >> unused);
}

tw_scalar tw_scalar_from_bits(tw_elem elem, uint64_t bits) {
    if (elem >= TW_F8E4M3)
        return (tw_scalar){.f = as_double(elem, bits)};
    return (tw_scalar){.i = as_int(elem, bits)};
}

/* Shortest decimal that reads back, with a point in any locale. */
static void float_text(tw_elem elem, double v, char *out) {
    int digits = 1;
    const int most = elem == TW_F64 ? 17 : 9;
    if (!isfinite(v)) {
        (void)snprintf(out, 64, "%s", isnan(v) ? "nan" : v < 0 ? "-inf" : "inf");
        return;
    }
    for (; digits <= most; digits++) {
        double back = 0;
        (void)snprintf(out, 64, "%.*g", digits, v);
        for (char *c = out; *c; c++)
            if (*c == ',')
                *c = '.';
        if (twi_parse_f64(out, strlen(out), &back) &&
            (elem == TW_F64 ? back == v : (float)back == (float)v))
            return;
    }
}

void tw_element_text(tw_elem elem, const void *data, size_t k, char *out) {
    uint64_t bits = 0;
    const size_t size = tw_elem_size(elem);
    memcpy(&bits, (const char *)data + k * size, size);
    if (elem == TW_BOOL)
        (void)snprintf(out, 64, "%s", bits ? "true" : "false");
    else if (elem == TW_U64)
        (void)snprintf(out, 64, "%llu", (unsigned long long)bits);
    else if (elem < TW_F8E4M3)
        (void)snprintf(out, 64, "%lld", (long long)as_int(elem, bits));
    else
        float_text(elem, as_double(elem, bits), out);
}

static const char *caps_text(tw_context *ctx, const twi_caps *caps) {
    twi_sb sb;
    twi_sb_init(&sb, &ctx->arena);
    twi_caps_print(ctx, caps, &sb);
    return twi_sb_text(&sb);
}

const char *tw_caps_reprint(tw_context *ctx, tw_source caps) {
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return NULL;
    }
    twi_caps read;
    const char *text =
        twi_caps_parse(ctx, caps.name, caps.text, caps.n, &read) ? caps_text(ctx, &read) : NULL;
    TWI_UNGUARD(&ctx->mem, saved);
    return text;
}

static const char *const targets[] = {"cpu", "interp:simt32", "interp:simt4", "opencl", "cuda"};

size_t tw_targets(tw_context *ctx) { return ctx ? sizeof targets / sizeof targets[0] : 0; }

static tw_target_info describe(tw_context *ctx, const char *name) {
    twi_where where;
    tw_target_info info = {.name = name, .note = "the loop IR interpreter; needs no compiler"};
    if (strcmp(name, "cuda") == 0) {
        twi_caps caps = {0};
        info.note = twi_cuda_describe(ctx, 0, &caps);
        info.caps = caps.name ? caps_text(ctx, &caps) : NULL;
        return info;
    }
    if (!twi_where_find(ctx, name, NULL, NULL, 0, &where)) {
        info.note = "not usable here";
        return info;
    }
    info.caps = caps_text(ctx, &where.caps);
    if (where.kind == TWI_WHERE_CPU)
        info.note = twi_format(&ctx->arena, "this machine, %s, compiler %s",
                               twi_text(&ctx->names, where.caps.isa),
                               ctx->env.cc ? ctx->env.cc : "cc, gcc or clang");
    else if (where.kind == TWI_WHERE_OPENCL)
        info.note = "the loader's first device; source is OpenCL C 1.2";
    return info;
}

tw_target_info tw_target_get(tw_context *ctx, size_t k) {
    jmp_buf spot, *saved;
    if (k >= tw_targets(ctx))
        return (tw_target_info){0};
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return (tw_target_info){.name = targets[k], .note = "out of memory"};
    }
    tw_target_info info = describe(ctx, targets[k]);
    TWI_UNGUARD(&ctx->mem, saved);
    return info;
}

static tw_status cannot(const tw_context *ctx) {
    const uint32_t n = ctx->diags.list.n;
    return n && ctx->diags.list.at[n - 1].code == TWI_E_NO_DEVICE ? TW_ERR_ENV : TW_ERR_INPUT;
}

static tw_status measured(tw_context *ctx, const char *name, const char **text) {
    twi_where where;
    char error[TWI_ERROR_TEXT] = "";
    if (!twi_where_find(ctx, name, NULL, NULL, 0, &where))
        return cannot(ctx);
    twi_target *t = twi_where_open(ctx, &where);
    if (!t)
        return cannot(ctx);
    twi_caps caps = t->caps;
    tw_status status = TW_ERR_INPUT;
    if (t->ops->ceilings)
        status = t->ops->ceilings(t, &caps, error);
    else
        (void)snprintf(error, sizeof error, "target %.60s has no ceilings that can be measured",
                       name);
    t->ops->close(t);
    if (*error)
        twi_error(&ctx->diags, status == TW_ERR_INPUT ? TWI_E_PATH_TARGET : TWI_E_NO_DEVICE,
                  (twi_loc){0, 0}, NULL, "%s", error);
    if (status == TW_OK)
        *text = caps_text(ctx, &caps);
    return status;
}

tw_status tw_target_measured(tw_context *ctx, const char *target, const char **caps) {
    jmp_buf spot, *saved;
    *caps = NULL;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return TW_ERR_MEMORY;
    }
    const tw_status status = measured(ctx, target, caps);
    TWI_UNGUARD(&ctx->mem, saved);
    return status;
}
