/* SPDX-License-Identifier: Apache-2.0
 * Names and literals. Every name of the user's stands behind a prefix that no keyword, macro or
 * name of the emitter has; values end in their number, so none collide. Literals are exact and
 * independent of the host's locale.
 */
#include "emit/dialect.h"

enum { LONGEST = 40 };

static bool plain(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/* At most LONGEST characters, others than letters and digits as '_'; *changed: not the name itself.
 */
static const char *cleaned(twi_emitter *e, const char *name, bool *changed) {
    size_t n = strlen(name);
    *changed = n > LONGEST;
    n = n < LONGEST ? n : LONGEST;
    char *text = twi_strndup(e->arena, name, n);
    for (size_t i = 0; i < n; i++) {
        if (!plain(text[i])) {
            text[i] = '_';
            *changed = true;
        }
    }
    return text;
}

const char *twi_value_text(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const char letter = ins->op == TWI_L_FOR ? 'i' : ins->op == TWI_L_UNROLL ? 'u' : 't';
    if (ins->name == 0)
        return twi_format(e->arena, "%c%u", letter, v);
    bool changed;
    const char *name = cleaned(e, twi_text(&e->loop->ctx->names, ins->name), &changed);
    return twi_format(e->arena, "%c_%s_%u", letter == 't' ? 'v' : letter, name, v);
}

void twi_once(twi_emitter *e, const char *line) {
    for (uint32_t i = 0; i < e->prologue.n; i++)
        if (strcmp(e->prologue.at[i], line) == 0)
            return;
    twi_push(e->arena, &e->prologue, line);
}

uint64_t twi_object_elements(const twi_object *o) {
    return twi_object_bytes(o) / (twi_lanes(o->count) * (uint64_t)tw_elem_size(o->elem));
}

const char *twi_object_type(twi_emitter *e, uint32_t object) {
    const twi_object *o = &e->f->object.at[object];
    return o->elem == TW_BOOL && o->count == 1 ? e->d->type[TW_U8]
                                               : twi_ctype(e, o->elem, o->count, 1);
}

const char *twi_object_text(twi_emitter *e, uint32_t object) {
    if (e->object[object])
        return e->object[object];
    static const char prefix[] = {'o', 'a', 'g', 'p', 'm'};
    const twi_object *o = &e->f->object.at[object];
    bool changed = false;
    const char *name = o->name ? cleaned(e, twi_text(&e->loop->ctx->names, o->name), &changed) : "";
    for (uint32_t i = 1; i < object; i++) /* two of one name: the later ones are numbered */
        changed =
            changed || (e->f->object.at[i].name == o->name && e->f->object.at[i].kind == o->kind);
    /* The number stands before the name only where the name alone might be another's. */
    e->object[object] = o->name && !changed
                            ? twi_format(e->arena, "%c_%s", prefix[o->kind], name)
                            : twi_format(e->arena, "%c%u_%s", prefix[o->kind], object, name);
    e->d->hooks->declare(e, object, e->object[object]);
    return e->object[object];
}

static const char *integer(twi_emitter *e, tw_elem elem, uint64_t bits) {
    const unsigned width = 8u * (unsigned)tw_elem_size(elem);
    if (width < 64)
        bits &= (UINT64_C(1) << width) - 1;
    if (elem == TW_BOOL)
        return bits & 1 ? "1" : "0";
    if (!twi_is_signed(elem))
        return twi_format(e->arena, "%llu%s", (unsigned long long)bits,
                          width == 64 ? twi_format(e->arena, "U%s", e->d->wide_suffix) : "u");
    const uint64_t sign = UINT64_C(1) << (width - 1);
    const int64_t k = (int64_t)((bits ^ sign) - sign);
    if (k == INT64_MIN)
        return twi_format(e->arena, "(-9223372036854775807%s - 1)", e->d->wide_suffix);
    if (k == INT32_MIN)
        return "(-2147483647 - 1)";
    const bool wide = k > INT32_MAX || k < INT32_MIN;
    return twi_format(e->arena, k < 0 ? "(%lld%s)" : "%lld%s", (long long)k,
                      wide ? e->d->wide_suffix : "");
}

/* sign, exponent field, fraction of a binary format with `fraction` bits; digits of the fraction in
 * hexadecimal. */
static const char *floating(twi_emitter *e, uint64_t bits, unsigned fraction, unsigned exponents,
                            const char *suffix) {
    const uint64_t most = (UINT64_C(1) << exponents) - 1;
    const uint64_t exponent = bits >> fraction & most, f = bits & ((UINT64_C(1) << fraction) - 1);
    const bool negative = bits >> (fraction + exponents) & 1;
    if (exponent == 0 && f == 0)
        return negative ? twi_format(e->arena, "(-0.0%s)", suffix)
                        : twi_format(e->arena, "0.0%s", suffix);
    const twi_spell s = {.from = *suffix ? TW_F32 : TW_F64,
                         .count = 1,
                         .arg = {twi_format(e->arena, *suffix ? "0x%llxu" : "0x%llxU%s",
                                            (unsigned long long)bits, e->d->wide_suffix)}};
    if (exponent == most && f == 0 && e->d->infinity)
        return twi_format(e->arena, "(%s%s)", negative ? "-" : "",
                          twi_expand(e, e->d->infinity, &s));
    if (exponent == most)
        return twi_expand(e, e->d->pattern[*suffix == 0], &s);
    const int bias = (int)(most / 2), power = exponent ? (int)exponent - bias : 1 - bias;
    /* Small whole numbers read better in decimal. */
    if (exponent && power >= 0 && power < 20 &&
        (f << power & ((UINT64_C(1) << fraction) - 1)) == 0) {
        const uint64_t whole = (f | UINT64_C(1) << fraction) >> (fraction - (unsigned)power);
        return twi_format(e->arena, negative ? "(-%llu.0%s)" : "%llu.0%s",
                          (unsigned long long)whole, suffix);
    }
    const unsigned digits = (fraction + 3) / 4;
    uint64_t hex = f << (digits * 4 - fraction);
    unsigned shown = digits;
    while (shown > 1 && (hex & 15) == 0) {
        hex >>= 4;
        shown--;
    }
    return twi_format(e->arena, negative ? "(-0x%d.%0*llxp%d%s)" : "0x%d.%0*llxp%d%s",
                      exponent != 0, (int)shown, (unsigned long long)hex, power, suffix);
}

const char *twi_literal(twi_emitter *e, tw_elem elem, uint64_t bits) {
    if (elem == TW_F32)
        return floating(e, bits & 0xffffffffu, 23, 8, "f");
    if (elem == TW_F64)
        return floating(e, bits, 52, 11, "");
    if (elem == TW_F16 || elem == TW_BF16)
        return twi_format(e->arena, "0x%04x", (unsigned)(bits & 0xffff));
    return integer(e, elem, bits);
}
