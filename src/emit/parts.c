/* SPDX-License-Identifier: Apache-2.0
 * Templates and the prelude: types and helpers are printed once, just before the first function
 * that needs them.
 */
#include "emit/dialect.h"

static const char not_spoken[] = "tw_not_spoken"; /* no compiler takes it */

twi_class twi_class_of(tw_elem elem) {
    if (elem == TW_BOOL)
        return TWI_CLASS_BOOL;
    if (twi_is_int(elem))
        return twi_is_signed(elem) ? TWI_CLASS_SINT : TWI_CLASS_UINT;
    return TWI_CLASS_FLOAT;
}

unsigned twi_lanes(unsigned count) {
    unsigned lanes = 1;
    while (lanes < count)
        lanes *= 2;
    return lanes;
}

bool twi_need(twi_emitter *e, const char *key) {
    for (uint32_t i = 0; i < e->have.n; i++)
        if (strcmp(e->have.at[i], key) == 0)
            return false;
    const char *kept = twi_strdup(e->arena, key);
    twi_push(e->arena, &e->have, kept);
    return true;
}

static tw_elem int_of(size_t bytes, bool is_signed) {
    static const tw_elem elem[2][4] = {{TW_U8, TW_U16, TW_U32, TW_U64},
                                       {TW_I8, TW_I16, TW_I32, TW_I64}};
    unsigned k = 0;
    while (k < 3 && ((size_t)1 << k) < bytes)
        k++;
    return elem[is_signed][k];
}

/* What stands in a C vector for a type: narrow floats are their bits, truth values are masks. */
static tw_elem lane_elem(tw_elem elem, unsigned mask) {
    if (elem == TW_BOOL)
        return int_of(mask, true);
    return elem == TW_F16 || elem == TW_BF16 ? TW_U16 : elem;
}

const char *twi_ctype(twi_emitter *e, tw_elem elem, unsigned count, unsigned mask) {
    if (count == 1)
        return e->d->type[elem] ? e->d->type[elem] : not_spoken;
    elem = lane_elem(elem, mask);
    const unsigned lanes = twi_lanes(count);
    const char *name = twi_format(e->arena, "%sx%u", tw_elem_name(elem), lanes);
    if (twi_need(e, name)) {
        const char *bytes = twi_format(e->arena, "%u", lanes * (unsigned)tw_elem_size(elem));
        const char *n = twi_format(e->arena, "%u", lanes);
        twi_spell s = {.from = elem, .to = elem, .count = 1, .arg = {name, bytes, n}};
        twi_sb_str(&e->head, twi_expand(e, e->d->vector_type, &s));
    }
    return name;
}

const char *twi_access_type(twi_emitter *e, tw_elem elem, unsigned count, unsigned align) {
    const char *type = twi_ctype(e, elem, count, 1);
    const unsigned size = (unsigned)tw_elem_size(elem), bytes = twi_lanes(count) * size;
    align = align < bytes ? size : bytes; /* an instruction asks for all of it or for none */
    const char *name = twi_format(e->arena, "%s_a%u", type, align);
    if (twi_need(e, name)) {
        const char *number = twi_format(e->arena, "%u", align);
        twi_spell s = {.from = elem, .to = elem, .count = count, .mask = 1, .arg = {name, number}};
        twi_sb_str(&e->head, twi_expand(e, e->d->access_type, &s));
    }
    return name;
}

static const twi_part *part_named(const twi_part *list, const char *name, size_t n, twi_class class,
                                  bool vector) {
    for (const twi_part *p = list; p && p->name; p++)
        if (strlen(p->name) == n && memcmp(p->name, name, n) == 0 && (p->classes >> class & 1u) &&
            p->vector == vector)
            return p;
    return NULL;
}

/* The helper's name for these operands; prints the helper if it is new. */
static const char *helper(twi_emitter *e, const char *name, size_t n, const twi_spell *s) {
    const twi_class class = twi_class_of(s->from);
    const twi_part *p = NULL;
    if (tw_elem_size(s->from) <= 4)
        p = part_named(e->d->single, name, n, class, s->count > 1);
    if (!p)
        p = part_named(e->d->own, name, n, class, s->count > 1);
    if (!p)
        p = part_named(e->d->part, name, n, class, s->count > 1);
    if (!p)
        return not_spoken;
    const tw_elem from = s->from == TW_BOOL && s->count > 1 ? int_of(s->mask, true) : s->from;
    const char *full = twi_format(e->arena, "tw_%s_%s", p->name, tw_elem_name(from));
    if (s->count > 1)
        full = twi_format(e->arena, "%sx%u", full, s->count);
    if (p->two)
        full = twi_format(e->arena, "%s_%s", full, tw_elem_name(s->to));
    if (twi_need(e, full)) {
        const size_t size = tw_elem_size(from), bytes = twi_lanes(s->count) * size;
        const bool wide = p->wide && size > 1 && (bytes == 16 || bytes == 32 || bytes == 64);
        twi_spell own = *s;
        own.arg[3] = full;
        twi_sb_str(&e->head, twi_expand(e, wide ? p->wide : p->text, &own));
    }
    return full;
}

/* Exact limits of a cast: values x <= least give the least, x >= limit the greatest integer. */
static const char *limit(twi_emitter *e, char which, tw_elem from, tw_elem to) {
    const unsigned bits = 8u * (unsigned)tw_elem_size(to);
    const bool is_signed = twi_is_signed(to);
    const uint64_t most = is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : ~UINT64_C(0) >> (64 - bits);
    const char *f = from == TW_F32 ? "f" : "";
    switch (which) {
    case 'L':
        return is_signed ? twi_format(e->arena, "-0x1p%u%s", bits - 1, f)
                         : twi_format(e->arena, "0.0%s", f);
    case 'H':
        return twi_format(e->arena, "0x1p%u%s", bits - is_signed, f);
    case 'A':
        return twi_literal(e, to, is_signed ? ~most : 0);
    default:
        return twi_literal(e, to, most);
    }
}

static const char *number(twi_emitter *e, size_t n) {
    return twi_format(e->arena, "%u", (unsigned)n);
}

/* x86's names of an operation on a vector of 16, 32 or 64 bytes of floats: the feature that has it,
 * the suffix of the builtin, and what its last arguments are (no mask, no rounding of its own); P
 * and D: suffix and last argument of one that has a mask at every size. */
static const char *x86_word(char c, size_t bytes, bool wide) {
    static const char *const names[2][3] = {{"s", "s256", "s512_mask"}, {"d", "d256", "d512_mask"}};
    static const char *const masked[2][3] = {{"s128_mask", "s256_mask", "s512_mask"},
                                             {"d128_mask", "d256_mask", "d512_mask"}};
    const unsigned k = bytes == 64 ? 2 : bytes == 32 ? 1 : 0;
    if (c == 'J')
        return k == 2 ? "__AVX512F__" : "__FMA__";
    if (c == 'V' || c == 'P')
        return (c == 'V' ? names : masked)[wide][k];
    if (c == 'D')
        return k == 2 ? ", 4" : "";
    return k == 2 ? ", -1, 4" : "";
}

static const char *word(twi_emitter *e, char c, const twi_spell *s) {
    const size_t size = s->from == TW_BOOL ? s->mask : tw_elem_size(s->from);
    switch (c) {
    case '0':
    case '1':
    case '2':
        return s->arg[c - '0'];
    case 'T':
        return twi_ctype(e, s->to, s->count, s->mask);
    case 'S':
        return twi_ctype(e, s->from, s->count, s->mask);
    case 'I':
        return twi_ctype(e, int_of(size, true), s->count, 0);
    case 'U':
        return twi_ctype(e, int_of(size, false), s->count, 0);
    case 'E':
        return e->d->type[s->from];
    case 'R':
        return e->d->type[s->to];
    case 'N':
        return number(e, twi_lanes(s->count));
    case 'C':
        return number(e, s->count);
    case 'B':
        return number(e, 8 * size);
    case 'W':
        return number(e, 8 * size - 1);
    case 'Z':
        return number(e, size);
    case 'X':
        return twi_format(e->arena, "%s%u",
                          size == 2   ? "hi"
                          : size == 4 ? "si"
                                      : "di",
                          8 * twi_lanes(s->count) * (unsigned)size);
    case 'J':
    case 'V':
    case 'Y':
    case 'P':
    case 'D':
        return x86_word(c, size * twi_lanes(s->count), size == 8);
    case 'Q':
        return e->d->simt->function;
    case 'G':
        return e->d->simt->global;
    case 'K':
        return size == 8 ? e->d->simt->swap.wide : e->d->simt->swap.narrow;
    case 'F':
        return s->from == TW_F32 ? e->d->suffix : "";
    default:
        return limit(e, c, s->from, s->to);
    }
}

const char *twi_expand(twi_emitter *e, const char *text, const twi_spell *s) {
    twi_sb out;
    if (!text)
        return not_spoken;
    twi_sb_init(&out, e->arena);
    while (*text) {
        const size_t plain = strcspn(text, "$@");
        twi_sb_add(&out, text, plain);
        text += plain;
        if (*text == '$') {
            twi_sb_str(&out, word(e, text[1], s));
            text += 2;
        } else if (*text == '@' && text[1] == '@') {
            twi_sb_str(&out, s->arg[3]);
            text += 2;
        } else if (*text == '@') {
            const size_t n = strspn(text + 1, "abcdefghijklmnopqrstuvwxyz0123456789");
            twi_sb_str(&out, helper(e, text + 1, n, s));
            text += 1 + n;
        }
    }
    return twi_sb_text(&out);
}
