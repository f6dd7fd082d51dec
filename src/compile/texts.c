/* SPDX-License-Identifier: Apache-2.0
 * Numbers as text, caps printed back.
 */
#include "compile/path.h"
#include "loop/scalar.h"

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

const char *twi_caps_text(tw_context *ctx, const twi_caps *caps) {
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
        twi_caps_parse(ctx, caps.name, caps.text, caps.n, &read) ? twi_caps_text(ctx, &read) : NULL;
    TWI_UNGUARD(&ctx->mem, saved);
    return text;
}
