/* SPDX-License-Identifier: Apache-2.0
 * The verdict on an output: element by element against what the oracle allows.
 */
#include "oracle/eval.h"
#include <math.h>

static bool covered(const twi_array_state *s, size_t k) {
    return s->raw != NULL || s->writer[k] != 0;
}

/* What the array holds, as a form over the value type. */
static twi_form element(const twi_array_state *s, size_t k) {
    tw_elem elem = (tw_elem)s->elem;
    if (s->bounded)
        return twi_el_form(&s->el[k], s->pool.at);
    uint64_t bits = s->raw ? twi_load_bits(elem, s->raw, k) : s->bits[k];
    return twi_form_exact(twi_value_elem(elem), twi_widen(elem, bits));
}

/* inf: not allowed; 0: the one value there is; else how much of the bound is used. */
static double used(const twi_array_state *s, const twi_form *x, uint64_t got) {
    tw_elem elem = (tw_elem)s->elem;
    double g = twi_double_of(elem, got);
    bool is_float = twi_is_float(elem);
    if (x->kind == TWI_ANYTHING)
        return 0.0;
    if (x->kind == TWI_EXACT) {
        uint64_t want = twi_is_float(elem) ? twi_narrow(elem, x->bits) : x->bits;
        want = elem == TW_F64 ? x->bits : want;
        bool both_nan = is_float && isnan(g) && isnan(x->v);
        bool zeros = s->bounded && is_float && g == 0.0 && x->v == 0.0;
        return got == want || both_nan || zeros ? 0.0 : INFINITY;
    }
    if (!(g >= x->lo && g <= x->hi))
        return INFINITY;
    if ((x->flags & TWI_SET) != 0) {
        bool listed = false;
        for (uint32_t p = 0; p < x->n; p++)
            listed = listed || x->part[p].c == g;
        return listed ? 0.0 : INFINITY;
    }
    if (!is_float || isinf(g))
        return 0.0;
    double v = fmin(fmax(x->v, x->lo), x->hi);
    double bound = g > v ? x->hi - v : v - x->lo;
    return g == v ? 0.0 : bound < INFINITY ? fabs(g - v) / bound : 0.0;
}

static void number(twi_sb *sb, tw_elem elem, double v) {
    if (elem == TW_F64)
        twi_sb_f64(sb, v);
    else if (twi_is_float(elem))
        twi_sb_f32(sb, (float)v);
    else
        twi_sb_printf(sb, "%lld", (long long)v);
}

static const char *value_text(twi_oracle *o, tw_elem elem, uint64_t bits) {
    twi_sb sb;
    twi_sb_init(&sb, o->arena);
    if (elem == TW_BOOL)
        twi_sb_str(&sb, bits != 0 ? "true" : "false");
    else if (twi_is_float(elem))
        number(&sb, elem, twi_double_of(elem, bits));
    else if (twi_is_signed(elem))
        twi_sb_printf(&sb, "%lld", (long long)twi_int_of(elem, bits));
    else
        twi_sb_printf(&sb, "%llu", (unsigned long long)bits);
    return twi_sb_text(&sb);
}

/* The oracle's own value in the storage type. */
static uint64_t own_bits(const twi_array_state *s, size_t k) {
    tw_elem elem = (tw_elem)s->elem;
    if (!s->bounded)
        return s->raw ? twi_load_bits(elem, s->raw, k) : s->bits[k];
    twi_form x = element(s, k);
    if (x.kind == TWI_EXACT)
        return twi_is_float(elem) && elem != TW_F64 ? twi_narrow(elem, x.bits) : x.bits;
    if (x.kind == TWI_ANYTHING)
        return 0;
    return twi_bits_of_double(elem, fmin(fmax(x.v, x.lo), x.hi));
}

static void describe(twi_oracle *o, const twi_array_state *s, size_t k, uint64_t got,
                     twi_verdict *out) {
    tw_elem elem = (tw_elem)s->elem;
    size_t rest = s->total, flat = k;
    twi_form x = element(s, k);
    twi_sb sb;
    for (unsigned d = 0; d < s->rank; d++) {
        rest /= (size_t)s->extent[d];
        out->at[d] = (int64_t)(flat / rest);
        flat %= rest;
    }
    out->got = value_text(o, elem, got);
    out->want = x.kind == TWI_ANYTHING ? "anything" : value_text(o, elem, own_bits(s, k));
    twi_sb_init(&sb, o->arena);
    if (x.kind == TWI_EXACT) {
        twi_sb_str(&sb, "exact");
    } else if (x.kind == TWI_ANYTHING) {
        twi_sb_str(&sb, "unbounded");
    } else if ((x.flags & TWI_SET) != 0) {
        for (uint32_t p = 0; p < x.n; p++) {
            twi_sb_str(&sb, p == 0 ? "one of " : ", ");
            number(&sb, elem, x.part[p].c);
        }
    } else {
        number(&sb, elem, x.lo);
        twi_sb_str(&sb, " .. ");
        number(&sb, elem, x.hi);
    }
    out->bound = twi_sb_text(&sb);
}

void twi_oracle_judge(twi_oracle *o, uint32_t array, const void *got, twi_verdict *out) {
    const twi_array_state *s = &o->array[array];
    size_t shown = SIZE_MAX;
    *out = (twi_verdict){.ok = true,
                         .determined = !s->bounded,
                         .elements = (int64_t)s->total,
                         .got = "",
                         .want = "",
                         .bound = ""};
    if (o->error) {
        out->ok = false;
        out->bound = o->error;
        return;
    }
    for (size_t k = 0; k < s->total; k++) {
        if (!covered(s, k))
            continue;
        twi_form x = element(s, k);
        uint64_t bits = twi_load_bits((tw_elem)s->elem, got, k);
        double part = used(s, &x, bits);
        out->covered++;
        out->single += x.kind == TWI_EXACT ? 1 : 0;
        out->unbounded += x.kind == TWI_ANYTHING ? 1 : 0;
        out->undecided += x.kind != TWI_ANYTHING && (x.flags & TWI_UNDECIDED) != 0 ? 1 : 0;
        bool wrong = isinf(part), first = wrong && out->wrong == 0;
        out->wrong += wrong ? 1 : 0;
        if (first || shown == SIZE_MAX || (out->wrong == 0 && part > out->worst))
            shown = k;
        out->worst = part > out->worst ? part : out->worst;
    }
    out->ok = out->wrong == 0;
    if (shown != SIZE_MAX)
        describe(o, s, shown, twi_load_bits((tw_elem)s->elem, got, shown), out);
}

bool twi_verdict_probative(const twi_verdict *v) {
    return (v->undecided + v->unbounded) * 1000 <= v->covered;
}

void twi_oracle_values(const twi_oracle *o, uint32_t array, void *out) {
    const twi_array_state *s = &o->array[array];
    for (size_t k = 0; k < s->total; k++)
        twi_store_bits((tw_elem)s->elem, out, k, covered(s, k) ? own_bits(s, k) : 0);
}

twi_allowed twi_oracle_allowed(const twi_oracle *o, uint32_t array, size_t k) {
    const twi_array_state *s = &o->array[array];
    twi_allowed a = {.covered = covered(s, k)};
    if (!a.covered)
        return a;
    twi_form x = element(s, k);
    a.v = x.v;
    a.lo = x.lo;
    a.hi = x.hi;
    a.nan = x.kind == TWI_EXACT && isnan(x.v);
    a.any = x.kind == TWI_ANYTHING;
    a.undecided = (x.flags & TWI_UNDECIDED) != 0;
    return a;
}
