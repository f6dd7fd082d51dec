/* SPDX-License-Identifier: Apache-2.0
 * Values: what the variable of an instruction is initialised with. Memory is access.c's.
 */
#include "emit/dialect.h"

static const char *text_of(twi_emitter *e, twi_lid v) { return e->value[v].text; }

static const char *arg_text(twi_emitter *e, twi_lid v, unsigned k) {
    return text_of(e, twi_larg(e->f, v, k));
}

/* "a, b, c": n texts from a generator of numbers or one repeated text. */
static const char *repeated(twi_emitter *e, const char *text, unsigned n) {
    twi_sb sb;
    twi_sb_init(&sb, e->arena);
    for (unsigned i = 0; i < n; i++)
        twi_sb_printf(&sb, i ? ", %s" : "%s", text);
    return twi_sb_text(&sb);
}

static const char *numbers(twi_emitter *e, unsigned n, unsigned flip) {
    twi_sb sb;
    twi_sb_init(&sb, e->arena);
    for (unsigned i = 0; i < n; i++)
        twi_sb_printf(&sb, i ? ", %u" : "%u", i ^ flip);
    return twi_sb_text(&sb);
}

const char *twi_mask_text(twi_emitter *e, twi_lid v, unsigned bytes) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    if (ins->elem != TW_BOOL || ins->count == 1 || e->value[v].mask == bytes)
        return text_of(e, v);
    return twi_format(e->arena, "__builtin_convertvector(%s, %s)", text_of(e, v),
                      twi_ctype(e, TW_BOOL, ins->count, bytes));
}

static const char *splat(twi_emitter *e, tw_elem elem, unsigned count, unsigned mask,
                         const char *text) {
    const unsigned lanes = twi_lanes(count);
    if (elem == TW_BOOL)
        text = twi_format(e->arena, "-%s", text);
    const char *key = twi_format(e->arena, "TW_SPLAT%u", lanes);
    if (twi_need(e, key))
        twi_sb_printf(&e->head, "#define %s(type, x) ((type){%s})\n", key,
                      repeated(e, "(x)", lanes));
    return twi_format(e->arena, "%s(%s, %s)", key, twi_ctype(e, elem, count, mask), text);
}

static const char *shuffled(twi_emitter *e, const char *x, unsigned count, unsigned flip) {
    const unsigned lanes = twi_lanes(count);
    const char *key = twi_format(e->arena, "TW_XOR%u_%u", flip, lanes);
    if (twi_need(e, key))
        twi_sb_printf(&e->head, "#define %s(x) __builtin_shufflevector(x, x, %s)\n", key,
                      numbers(e, lanes, flip));
    return twi_format(e->arena, "%s(%s)", key, x);
}

/* Lane l takes the one of l - by, its own where there is none. */
static const char *moved(twi_emitter *e, const char *x, unsigned count, int by) {
    const int lanes = (int)twi_lanes(count);
    const char *key =
        twi_format(e->arena, "TW_%s%d_%d", by > 0 ? "UP" : "DOWN", by > 0 ? by : -by, lanes);
    if (twi_need(e, key)) {
        twi_sb_printf(&e->head, "#define %s(x) __builtin_shufflevector(x, x", key);
        for (int l = 0; l < lanes; l++)
            twi_sb_printf(&e->head, ", %d", l - by >= 0 && l - by < lanes ? l - by : l);
        twi_sb_str(&e->head, ")\n");
    }
    return twi_format(e->arena, "%s(%s)", key, x);
}

static const char *expand(twi_emitter *e, const twi_words *words, const twi_spell *s) {
    return twi_expand(e, s->count > 1 ? words->vector : words->scalar, s);
}

static bool has_mask(const twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    return ins->elem == TW_BOOL && ins->count > 1;
}

/* Lanes of a bool vector: as wide as what it is compared with, or the widest of what it is made
 * from. */
static unsigned mask_of(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    unsigned bytes = 1;
    for (unsigned k = 0; k < ins->nargs; k++) {
        const twi_lid a = twi_larg(e->f, v, k);
        const unsigned size =
            has_mask(e, a) ? e->value[a].mask : (unsigned)tw_elem_size(twi_lins_of(e->f, a)->elem);
        if (k == 0 || (ins->op < TWI_ELEMENTWISE_END && has_mask(e, a) && size > bytes))
            bytes = size;
    }
    return bytes;
}

static const twi_words *cast_words(const twi_dialect *d, tw_elem from, tw_elem to, bool vector) {
    if (vector && from == TW_U16 && to == TW_U32 && d->widen_u16.vector)
        return &d->widen_u16;
    if (vector && from == TW_U32 && to == TW_U16 && d->narrow_u32.vector)
        return &d->narrow_u32;
    if (to == TW_BOOL)
        return &d->to_bool;
    if (from == TW_BOOL)
        return &d->from_bool;
    static const twi_words none;
    const bool narrow = from == TW_F16 || from == TW_BF16 || to == TW_F16 || to == TW_BF16;
    if (narrow && to == TW_F32)
        return from == TW_F16 ? &d->widen_f16 : &d->widen_bf16;
    if (narrow && from == TW_F32)
        return to == TW_F16 ? &d->narrow_f16 : &d->narrow_bf16;
    if (narrow && from != to) /* legalize goes by f32 or by integer operations */
        return &none;
    if (twi_class_of(from) == TWI_CLASS_FLOAT && twi_class_of(to) != TWI_CLASS_FLOAT)
        return &d->saturate;
    return &d->convert;
}

/* An integer literal meets an operation of long long only beside one that has that type. */
static const char *typed(twi_emitter *e, twi_lid v, const char *text) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    if (!e->value[v].literal || !twi_is_int(ins->elem))
        return text;
    return twi_format(e->arena, "(%s)%s", e->d->type[ins->elem], text);
}

/* What an operation on numbers of a type is called; signed ones that may overflow wrap. */
static const twi_words *words_of(const twi_emitter *e, unsigned op, tw_elem elem, bool index) {
    const twi_class class = twi_class_of(elem);
    const bool wraps = class == TWI_CLASS_SINT && !index && e->d->wrap[op].scalar;
    return wraps ? &e->d->wrap[op] : &e->d->op[op][class];
}

static const char *elementwise(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const twi_lid first = twi_larg(e->f, v, 0);
    twi_spell s = {.from = twi_lins_of(e->f, first)->elem, .to = ins->elem, .count = ins->count};
    const twi_words *words;
    bool literals = true;
    if (ins->op == TWI_SELECT)
        s.from = ins->elem;
    s.mask = has_mask(e, v) ? e->value[v].mask : has_mask(e, first) ? e->value[first].mask : 1;
    const unsigned lane =
        ins->op == TWI_SELECT && ins->elem != TW_BOOL ? (unsigned)tw_elem_size(ins->elem) : s.mask;
    for (unsigned k = 0; k < ins->nargs && k < 3; k++) {
        const twi_lid a = twi_larg(e->f, v, k);
        s.arg[k] = has_mask(e, a) ? twi_mask_text(e, a, lane) : text_of(e, a);
        literals = literals && e->value[a].literal;
    }
    if (literals && ins->count == 1)
        s.arg[0] = typed(e, first, s.arg[0]);
    switch (ins->op) {
    case TWI_CAST:
        if (s.from == s.to)
            return s.arg[0];
        words = cast_words(e->d, s.from, s.to, s.count > 1);
        break;
    case TWI_BITCAST:
        words = &e->d->bitcast;
        break;
    case TWI_SELECT:
        words = &e->d->select;
        break;
    default:
        words = words_of(e, ins->op, s.from, ins->flags & TWI_FLAG_INDEX);
    }
    if (ins->count > 1 && (ins->op == TWI_IDIV || ins->op == TWI_IMOD)) {
        /* the vector helper applies the scalar one lane by lane */
        twi_spell one = s;
        one.count = 1;
        const char *scalar = twi_expand(e, ins->op == TWI_IDIV ? "@idiv" : "@imod", &one);
        return twi_format(e->arena, "%s(%s, %s, %s)", twi_expand(e, "@idivs", &s), s.arg[0],
                          s.arg[1], scalar);
    }
    return expand(e, words, &s);
}

enum { WHOLE = 64 }; /* bytes of a vector whose comparisons give masks */

bool twi_is_extreme(const twi_emitter *e, twi_lid v, bool *greater) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    if (ins->op != TWI_SELECT || ins->elem != TW_F32 || ins->count == 1 || !e->d->greater.vector)
        return false;
    const twi_lid when = twi_larg(e->f, v, 0), a = twi_larg(e->f, v, 1), b = twi_larg(e->f, v, 2);
    const twi_lins *test = twi_lins_of(e->f, when);
    if ((test->op != TWI_GT && test->op != TWI_LT) || twi_below(e->f, when))
        return false;
    const twi_lid x = twi_larg(e->f, when, 0), y = twi_larg(e->f, when, 1);
    *greater = (test->op == TWI_GT) == (x == a);
    return (x == a && y == b) || (x == b && y == a);
}

/* NULL: v is no such choice. */
static const char *extreme(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    bool greater;
    if (!twi_is_extreme(e, v, &greater))
        return NULL;
    const twi_spell s = {.from = ins->elem,
                         .to = ins->elem,
                         .count = ins->count,
                         .arg = {arg_text(e, v, 1), arg_text(e, v, 2)}};
    return twi_expand(e, greater ? e->d->greater.vector : e->d->less.vector, &s);
}

twi_lid twi_chosen_by(const twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    bool greater;
    if (ins->op != TWI_SELECT || ins->count == 1 || !e->d->blend || tw_elem_size(ins->elem) != 4 ||
        ins->count * 4 != WHOLE || twi_is_extreme(e, v, &greater))
        return 0;
    const twi_lid when = twi_larg(e->f, v, 0);
    const twi_lins *test = twi_lins_of(e->f, when);
    return test->op >= TWI_EQ && test->op <= TWI_GE && !twi_below(e->f, when) &&
                   tw_elem_size(twi_lins_of(e->f, twi_larg(e->f, when, 0))->elem) == 4
               ? when
               : 0;
}

/* NULL: v is no such choice. */
static const char *chosen(twi_emitter *e, twi_lid v) {
    const twi_lid by = twi_chosen_by(e, v);
    if (!by)
        return NULL;
    const twi_lins *ins = twi_lins_of(e->f, v), *test = twi_lins_of(e->f, by);
    twi_spell s = {.from = twi_lins_of(e->f, twi_larg(e->f, by, 0))->elem,
                   .to = ins->elem,
                   .count = ins->count,
                   .arg = {arg_text(e, by, 0), arg_text(e, by, 1)}};
    s.arg[0] = twi_expand(e, e->d->test[test->op - TWI_EQ], &s);
    s.from = ins->elem;
    s.arg[1] = arg_text(e, v, 1);
    s.arg[2] = arg_text(e, v, 2);
    return twi_expand(e, e->d->blend, &s);
}

/* What all lanes of a divisor are; 0: they differ, or the dialect has no word for such a division.
 */
static twi_lid one_divisor(const twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const twi_lid by = ins->op == TWI_DIV && ins->count > 1 ? twi_larg(e->f, v, 1) : 0;
    return by && e->d->over && twi_lins_of(e->f, by)->op == TWI_L_SPLAT ? twi_larg(e->f, by, 0) : 0;
}

static const char *divided(twi_emitter *e, twi_lid v, twi_lid by) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const twi_spell s = {.from = ins->elem,
                         .to = ins->elem,
                         .count = ins->count,
                         .arg = {arg_text(e, v, 0), arg_text(e, v, 1), text_of(e, by)}};
    return twi_expand(e, e->d->over, &s);
}

twi_lid twi_below(const twi_func *f, twi_lid v) {
    const twi_lins *ins = twi_lins_of(f, v);
    if (ins->count == 1 || (ins->op != TWI_LT && ins->op != TWI_GT))
        return 0;
    const twi_lins *low = twi_lins_of(f, twi_larg(f, v, ins->op == TWI_GT));
    const twi_lid high = twi_larg(f, v, ins->op == TWI_LT);
    if (low->op != TWI_L_IOTA || twi_lins_of(f, high)->op != TWI_L_SPLAT)
        return 0;
    return twi_larg(f, high, 0);
}

static const char *below(twi_emitter *e, twi_lid v, twi_lid scalar) {
    const unsigned count = twi_lins_of(e->f, v)->count, lanes = twi_lanes(count);
    const char *type = twi_ctype(e, TW_BOOL, count, sizeof(int32_t));
    const char *key = twi_format(e->arena, "TW_BELOW%u", lanes);
    const char *limit = splat(e, TW_I32, lanes, 0, "n_");
    if (twi_need(e, key))
        twi_sb_printf(&e->head,
                      "#define %s(n) ({ \\\n"
                      "    const int n_ = (n) < 0 ? 0 : (n) < %u ? (int)(n) : %u; \\\n"
                      "    (%s)((%s){%s} < %s); })\n",
                      key, lanes, lanes, type, type, numbers(e, lanes, 0), limit);
    return twi_format(e->arena, "%s(%s)", key, text_of(e, scalar));
}

/* Butterfly over all lanes of a vector, by ascending weight: every lane ends with the same bits. */
static const char *lane_fold(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const twi_lid x = twi_larg(e->f, v, 0);
    const twi_lins *from = twi_lins_of(e->f, x);
    const unsigned merge = ins->attr & 0xff, stride = ins->attr >> 8 & 0xff;
    const unsigned rounds = ins->attr >> 16 & 0xff, mask = e->value[x].mask;
    const char *now = text_of(e, x);
    if (from->count == 1)
        return now;
    for (unsigned r = 0; r < rounds; r++) {
        const char *next = twi_format(e->arena, "f%u_%u", v, r);
        twi_spell s = {.from = from->elem,
                       .to = from->elem,
                       .count = from->count,
                       .mask = mask,
                       .arg = {now, shuffled(e, now, from->count, 1u << (stride + r))}};
        twi_line(e, "const %s %s = %s;", twi_ctype(e, from->elem, from->count, mask), next,
                 expand(e, words_of(e, merge, from->elem, false), &s));
        now = next;
    }
    if (ins->count > 1)
        return now;
    return twi_format(e->arena, from->elem == TW_BOOL ? "%s[0] != 0" : "%s[0]", now);
}

static const char *pack(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    twi_sb sb;
    twi_sb_init(&sb, e->arena);
    twi_sb_printf(&sb, "(%s){", twi_ctype(e, ins->elem, ins->count, e->value[v].mask));
    for (unsigned k = 0; k < ins->nargs; k++)
        twi_sb_printf(&sb, "%s%s%s", k ? ", " : "", ins->elem == TW_BOOL ? "-" : "",
                      arg_text(e, v, k));
    twi_sb_char(&sb, '}');
    return twi_sb_text(&sb);
}

static const char *permute(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const twi_lid a = twi_larg(e->f, v, 0), b = twi_larg(e->f, v, ins->nargs > 1);
    const unsigned count = twi_lins_of(e->f, a)->count, mask = e->value[v].mask;
    twi_sb sb;
    twi_sb_init(&sb, e->arena);
    twi_sb_printf(&sb, "__builtin_shufflevector(%s, %s", twi_mask_text(e, a, mask),
                  twi_mask_text(e, b, mask));
    for (unsigned i = 0; i < twi_lanes(ins->count); i++) {
        const unsigned k = i < ins->count ? (unsigned)e->f->ints.at[ins->attr + i] : 0;
        twi_sb_printf(&sb, ", %u", k < count ? k : k - count + twi_lanes(count));
    }
    twi_sb_char(&sb, ')');
    return twi_sb_text(&sb);
}

static const char *dots(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const twi_spell s = {.from = ins->elem,
                         .to = ins->elem,
                         .count = ins->count,
                         .arg = {arg_text(e, v, 0), arg_text(e, v, 1), arg_text(e, v, 2)}};
    if (twi_lins_of(e->f, twi_larg(e->f, v, 0))->count == 32)
        return twi_expand(e, e->d->row_dots, &s);
    return twi_expand(e, e->d->dots[twi_class_of(ins->elem)], &s);
}

static const char *leaf(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    if (ins->op != TWI_L_IOTA)
        return e->d->hooks->argument(e, v);
    return twi_format(e->arena, "(%s){%s}", twi_ctype(e, TW_I64, ins->count, 0),
                      numbers(e, twi_lanes(ins->count), 0));
}

/* A value from another worker of the subgroup. */
static const char *from_lane(twi_emitter *e, twi_lid v, const twi_words *words, const char *lane) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const twi_spell s = {.from = ins->elem,
                         .to = ins->elem,
                         .count = ins->count,
                         .arg = {arg_text(e, v, 0), lane, twi_format(e->arena, "%u", e->f->lanes)}};
    return expand(e, words, &s);
}

/* Between workers; NULL: no such operation. */
static const char *between(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const int by = (int32_t)ins->attr;
    switch (ins->op) {
    case TWI_L_LANE_XOR:
        return from_lane(e, v, &e->d->simt->lane_xor, twi_format(e->arena, "%u", ins->attr));
    case TWI_L_LANE_SHIFT:
        return from_lane(e, v, by > 0 ? &e->d->simt->lane_up : &e->d->simt->lane_down,
                         twi_format(e->arena, "%d", by > 0 ? by : -by));
    case TWI_L_LANE_READ:
        return from_lane(e, v, &e->d->simt->lane_read, arg_text(e, v, 1));
    default:
        return NULL;
    }
}

static const char *other(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const unsigned mask = e->value[v].mask;
    const char *format = e->f->explicit_lanes ? NULL : between(e, v);
    if (format)
        return format;
    switch (ins->op) {
    case TWI_L_SPLAT:
        return splat(e, ins->elem, ins->count, mask, arg_text(e, v, 0));
    case TWI_L_EXTRACT:
        if (twi_lins_of(e->f, twi_larg(e->f, v, 0))->count == 1)
            return arg_text(e, v, 0);
        format = ins->elem == TW_BOOL ? "%s[%u] != 0" : "%s[%u]";
        return twi_format(e->arena, format, arg_text(e, v, 0), ins->attr);
    case TWI_L_PACK:
        return pack(e, v);
    case TWI_L_DOTS:
        return dots(e, v);
    case TWI_L_PERMUTE:
        return permute(e, v);
    case TWI_L_LANE_FOLD:
        return lane_fold(e, v);
    case TWI_L_LANE_XOR:
        return ins->count == 1 ? arg_text(e, v, 0)
                               : shuffled(e, arg_text(e, v, 0), ins->count, ins->attr);
    case TWI_L_LANE_SHIFT:
        return moved(e, arg_text(e, v, 0), ins->count, (int32_t)ins->attr);
    case TWI_L_LANE_READ: {
        if (twi_lins_of(e->f, twi_larg(e->f, v, 0))->count == 1)
            return arg_text(e, v, 0);
        format = ins->elem == TW_BOOL ? "(%s[%s] != 0)" : "%s[%s]";
        const char *one = twi_format(e->arena, format, arg_text(e, v, 0), arg_text(e, v, 1));
        return ins->count == 1 ? one : splat(e, ins->elem, ins->count, mask, one);
    }
    default:
        return leaf(e, v);
    }
}

static bool inlined(const twi_lins *ins, const twi_spelled *value, const char *text) {
    const bool sum = ins->op == TWI_ADD || ins->op == TWI_SUB || ins->op == TWI_MUL;
    const bool index = ins->elem == TW_I64 || (ins->elem == TW_I32 && ins->flags & TWI_FLAG_INDEX);
    return sum && index && ins->count == 1 && value->uses == 1 && strlen(text) < 60;
}

const char *twi_expression(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    twi_spelled *value = &e->value[v];
    const char *text;
    if (has_mask(e, v))
        value->mask = (uint8_t)mask_of(e, v);
    if (ins->op == TWI_L_LCONST) {
        text = twi_literal(e, ins->elem, e->f->constant.at[ins->attr]);
        value->literal = ins->count == 1;
        if (ins->count > 1)
            return splat(e, ins->elem, ins->count, value->mask, text);
        value->text = text;
        return NULL;
    }
    const twi_lid scalar = twi_below(e->f, v);
    if (scalar) {
        value->mask = sizeof(int32_t);
        return below(e, v, scalar);
    }
    const twi_lid by = one_divisor(e, v);
    text = by ? divided(e, v, by) : extreme(e, v);
    if (!text)
        text = chosen(e, v);
    if (!text)
        text = ins->op < TWI_ELEMENTWISE_END ? elementwise(e, v) : other(e, v);
    const bool bare = ins->op == TWI_L_LSCALAR || ins->op == TWI_L_ID || ins->op == TWI_L_STRIDE ||
                      ins->op == TWI_L_TRIP;
    if (bare || inlined(ins, value, text)) {
        value->text = bare ? text : twi_format(e->arena, "(%s)", text);
        return NULL;
    }
    return text;
}
