/* SPDX-License-Identifier: Apache-2.0
 * Reading instructions. A value's word is its name and its number in the order of the text; of a
 * word that ends in another number all digits are taken off the name.
 */
#include "base/context.h"
#include "loop/codes.h"
#include "loop/parse_state.h"
#include "loop/raw.h"
#include "loop/rows.h"

enum { DEEPEST = 100 };

static twi_sym word_symbol(twi_parser *p) {
    return twi_intern(&p->lex.ctx->names, p->lex.word, p->lex.length);
}

static twi_lid operand(twi_parser *p) {
    twi_lex *x = &p->lex;
    if (x->length && x->word[0] == '%') {
        twi_sym sym = word_symbol(p);
        twi_lid v = sym < p->value.n ? p->value.at[sym] : 0;
        if (!v)
            twi_lex_error(x, TWI_LOOP_E_UNKNOWN, "no value `%.*s` above",
                          (int)(x->length < 40 ? x->length : 40), x->word);
        twi_lex_next(x);
        return v;
    }
    return twi_lb_i64(&p->c, twi_lex_int(x, INT64_MIN, INT64_MAX));
}

/* The name in "%c5": the digits at its end are its number. */
static twi_sym value_name(twi_parser *p, const char *word, size_t n) {
    twi_sb digits = {.arena = &p->lex.ctx->arena};
    twi_sb_printf(&digits, "%u", p->sequence);
    size_t tail = digits.n;
    if (n > tail && memcmp(word + n - tail, digits.at, tail) == 0)
        n -= tail;
    else
        while (n > 1 && word[n - 1] >= '0' && word[n - 1] <= '9')
            n--;
    return n > 1 ? twi_lex_unescaped(&p->lex, word + 1, n - 1) : 0;
}

typedef struct {
    twi_sym sym, name;
    twi_loc loc;
} defined;

static defined definition(twi_parser *p) {
    twi_lex *x = &p->lex;
    defined d = {0, 0, twi_lex_loc(x)};
    if (!x->length || x->word[0] != '%') {
        twi_lex_error(x, TWI_LOOP_E_EXPECTED, "a value such as %%5 expected, found `%.*s`",
                      (int)(x->length < 40 ? x->length : 40), x->word);
        return d;
    }
    d.sym = word_symbol(p);
    d.name = value_name(p, x->word, x->length);
    if (d.sym < p->value.n && p->value.at[d.sym])
        twi_lex_error(x, TWI_LOOP_E_TWICE, "`%.*s` stands above",
                      (int)(x->length < 40 ? x->length : 40), x->word);
    twi_lex_next(x);
    return d;
}

static void define(twi_parser *p, defined d, twi_lid v) {
    p->c.f->ins.at[v].name = d.name;
    while (p->value.n <= d.sym)
        twi_push(p->loop->arena, &p->value, 0);
    p->value.at[d.sym] = v;
    p->sequence++;
}

/* One instruction under way. */
typedef struct {
    twi_lins ins;
    TWI_VEC(twi_lid) args;
    uint64_t bits; /* LCONST waits for its type */
    const char *literal;
    size_t literal_at;
} line;

static void add_operand(twi_parser *p, line *l) {
    twi_lid v = operand(p);
    twi_push(p->loop->arena, &l->args, v);
}

static void add_operands(twi_parser *p, line *l) {
    do
        add_operand(p, l);
    while (!p->lex.failed && twi_lex_take(&p->lex, ","));
}

static uint32_t object_named(twi_parser *p) {
    twi_lex *x = &p->lex;
    twi_sym sym = x->length ? twi_lex_unescaped(x, x->word, x->length) : 0;
    for (uint32_t k = 1; k < p->c.f->object.n && sym; k++)
        if (p->c.f->object.at[k].name == sym) {
            twi_lex_next(x);
            return k;
        }
    twi_lex_error(x, TWI_LOOP_E_UNKNOWN, "no object `%.*s`", (int)(x->length < 40 ? x->length : 40),
                  x->word);
    return 0;
}

static void access(twi_parser *p, line *l) {
    twi_lex *x = &p->lex;
    twi_laccess a = {.object = object_named(p)};
    const twi_object *o = &p->c.f->object.at[a.object];
    twi_lex_expect(x, "[");
    if (!twi_lex_is(x, "]"))
        add_operands(p, l);
    twi_lex_expect(x, "]");
    if (!x->failed && l->args.n != o->rank)
        twi_lex_error(x, TWI_LOOP_E_BAD_NUMBER, "%u indices expected", o->rank);
    if (twi_loop_stores(l->ins.op)) {
        if (l->ins.op == TWI_L_LSTORE && !twi_lex_is(x, "=")) {
            a.merge = (uint16_t)twi_loop_op_named(x->word, x->length);
            twi_lex_next(x);
        }
        twi_lex_expect(x, "=");
        add_operand(p, l);
    }
    a.dim = (uint8_t)(o->rank ? o->rank - 1 : 0);
    if (twi_lex_take(x, "dim"))
        a.dim = (uint8_t)twi_lex_int(x, 0, o->rank ? o->rank - 1 : 0);
    a.mask = twi_lex_take(x, "first")   ? TWI_MASK_COUNT
             : twi_lex_take(x, "where") ? TWI_MASK_BOOL
                                        : TWI_MASK_NONE;
    if (a.mask)
        add_operand(p, l);
    if (l->ins.op == TWI_L_LLOAD && (a.has_else = twi_lex_take(x, "else")))
        add_operand(p, l);
    if (twi_lex_take(x, "align"))
        a.align = (uint8_t)twi_lex_int(x, 1, 255);
    a.stream = twi_lex_take(x, "stream");
    a.early = l->ins.op == TWI_L_LLOAD && twi_lex_take(x, "early");
    if (l->ins.op == TWI_L_LLOAD && twi_lex_take(x, "ahead"))
        a.ahead = (uint32_t)twi_lex_int(x, 1, INT32_MAX);
    twi_push(p->loop->arena, &p->c.f->access, a);
    l->ins.attr = p->c.f->access.n - 1;
}

static void numbers(twi_parser *p, line *l) {
    twi_lex_expect(&p->lex, "[");
    l->ins.attr = p->c.f->ints.n;
    do {
        int32_t k = (int32_t)twi_lex_int(&p->lex, 0, INT32_MAX);
        twi_push(p->loop->arena, &p->c.f->ints, k);
    } while (!p->lex.failed && twi_lex_take(&p->lex, ","));
    twi_lex_expect(&p->lex, "]");
}

static void fold_mark(twi_parser *p, line *l) {
    if (!twi_lex_take(&p->lex, "fold"))
        return;
    l->ins.flags |= TWI_FLAG_COMBINE;
    l->ins.fold = (uint32_t)twi_lex_int(&p->lex, 1, 1 << 24);
}

static uint32_t log_of(twi_parser *p, const char *word) {
    twi_lex_expect(&p->lex, word);
    int64_t n = twi_lex_int(&p->lex, 1, 4096);
    uint32_t log = 0;
    while ((int64_t)1 << log < n)
        log++;
    if ((int64_t)1 << log != n)
        twi_lex_error(&p->lex, TWI_LOOP_E_BAD_NUMBER, "a power of two expected");
    return log;
}

static void lane_fold(twi_parser *p, line *l) {
    twi_lex *x = &p->lex;
    unsigned merge = twi_loop_op_named(x->word, x->length);
    if (!twi_loop_elementwise(merge) || twi_loop_row_of(merge)->arity != 2)
        twi_lex_error(x, TWI_LOOP_E_UNKNOWN_OP, "no operation of two operands");
    twi_lex_next(x);
    add_operand(p, l);
    uint32_t stride = log_of(p, "stride"), extent = log_of(p, "extent");
    l->ins.attr = merge | stride << 8 | extent << 16;
    fold_mark(p, l);
}

static uint32_t scalar_named(twi_parser *p) {
    twi_loc at = twi_lex_loc(&p->lex);
    twi_sym name = twi_lex_name(&p->lex);
    for (uint32_t k = 1; k < p->loop->scalar.n; k++)
        if (p->loop->scalar.at[k].name == name)
            return k;
    p->lex.start = at.at;
    twi_lex_error(&p->lex, TWI_LOOP_E_UNKNOWN, "no scalar of that name");
    return 0;
}

static uint32_t level_named(twi_parser *p) {
    static const unsigned levels[] = {TWI_LV_GRID, TWI_LV_SUB, TWI_LV_LANE};
    for (size_t k = 0; k < sizeof levels / sizeof *levels; k++)
        if (twi_lex_take(&p->lex, twi_level_name(levels[k])))
            return levels[k];
    twi_lex_error(&p->lex, TWI_LOOP_E_EXPECTED, "grid, sub or lane expected");
    return 0;
}

static void rest(twi_parser *p, line *l) {
    twi_lex *x = &p->lex;
    switch (l->ins.op) {
    case TWI_L_LCONST:
        l->literal_at = x->start;
        twi_lex_next(x);
        if (twi_lex_take(x, "identity"))
            l->ins.flags |= TWI_FLAG_IDENTITY;
        break;
    case TWI_L_LSCALAR:
        l->ins.attr = scalar_named(p);
        break;
    case TWI_L_STRIDE:
        l->ins.attr = object_named(p) << 4;
        l->ins.attr |= (uint32_t)twi_lex_int(x, 0, TWI_MAX_RANK - 1);
        break;
    case TWI_L_TRIP:
        l->ins.attr = (uint32_t)twi_lex_int(x, 0, 6);
        break;
    case TWI_L_ID:
        l->ins.attr = level_named(p);
        break;
    case TWI_L_IOTA:
        break;
    case TWI_L_EXTRACT:
        add_operand(p, l);
        twi_lex_expect(x, "[");
        l->ins.attr = (uint32_t)twi_lex_int(x, 0, 4095);
        twi_lex_expect(x, "]");
        break;
    case TWI_L_PERMUTE:
        add_operands(p, l);
        numbers(p, l);
        break;
    case TWI_L_LLOAD:
    case TWI_L_LSTORE:
    case TWI_L_ASYNC_COPY:
        access(p, l);
        break;
    case TWI_L_LANE_FOLD:
        lane_fold(p, l);
        break;
    case TWI_L_LANE_XOR:
        add_operand(p, l);
        twi_lex_expect(x, "mask");
        l->ins.attr = (uint32_t)twi_lex_int(x, 1, 4095);
        break;
    case TWI_L_LANE_SHIFT:
        add_operand(p, l);
        twi_lex_expect(x, "by");
        l->ins.attr = (uint32_t)(int32_t)twi_lex_int(x, -4095, 4095);
        break;
    case TWI_L_ASYNC_COMMIT:
        break;
    case TWI_L_ASYNC_WAIT:
        l->ins.attr = (uint32_t)twi_lex_int(x, 0, 255);
        break;
    case TWI_L_BARRIER:
        l->ins.attr = twi_lex_take(x, "group") ? TWI_SCOPE_GROUP : TWI_SCOPE_SUBGROUP;
        if (l->ins.attr == TWI_SCOPE_SUBGROUP)
            twi_lex_expect(x, "subgroup");
        break;
    default:
        add_operands(p, l);
        fold_mark(p, l);
        if (twi_lex_take(x, "index"))
            l->ins.flags |= TWI_FLAG_INDEX;
        break;
    }
}

/* The literal of a constant, read again now that its type is known. */
static void constant(twi_parser *p, line *l) {
    twi_lex again = p->lex;
    again.at = l->literal_at;
    twi_lex_next(&again);
    l->bits = twi_lex_bits(&again, (tw_elem)l->ins.elem);
    p->lex.failed = again.failed;
    twi_push(p->loop->arena, &p->c.f->constant, l->bits);
    l->ins.attr = p->c.f->constant.n - 1;
}

static void plain(twi_parser *p) {
    twi_lex *x = &p->lex;
    line l = {0};
    twi_loc loc = twi_lex_loc(x);
    bool has_result = x->length && x->word[0] == '%';
    defined d = {0};
    if (has_result) {
        d = definition(p);
        twi_lex_expect(x, "=");
    }
    unsigned op = twi_loop_op_named(x->word, x->length);
    bool silent = twi_loop_silent(op);
    if (op == TWI_NOP || op == TWI_L_FOR || op == TWI_L_UNROLL || op == TWI_L_IF ||
        silent == has_result) {
        twi_lex_error(x, TWI_LOOP_E_UNKNOWN_OP, "`%.*s` is no operation %s",
                      (int)(x->length < 40 ? x->length : 40), x->word,
                      has_result ? "with a result" : "without a result");
        return;
    }
    twi_lex_next(x);
    l.ins.op = (uint16_t)op;
    rest(p, &l);
    l.ins.elem = has_result ? TW_I64 : 0;
    l.ins.count = has_result ? 1 : 0;
    if (has_result && twi_lex_take(x, ":"))
        l.ins.elem = (uint8_t)twi_lex_type(x, &l.ins.count);
    if (op == TWI_L_LCONST && !x->failed)
        constant(p, &l);
    if (op == TWI_L_PERMUTE && !x->failed && p->c.f->ints.n - l.ins.attr != l.ins.count)
        twi_lex_error(x, TWI_LOOP_E_BAD_NUMBER, "%u numbers expected", l.ins.count);
    if (x->failed)
        return;
    p->c.loc = loc;
    twi_lid v = twi_lb_raw(&p->c, &l.ins, l.args.at, l.args.n);
    if (has_result)
        define(p, d, v);
}

static void opening(twi_parser *p) {
    twi_lex *x = &p->lex;
    line l = {0};
    defined d = {0};
    twi_loc loc = twi_lex_loc(x);
    if (twi_lex_take(x, "if")) {
        l.ins.op = TWI_L_IF;
        l.ins.attr = twi_lex_take(x, "edge") ? TWI_IF_EDGE : 0;
        add_operand(p, &l);
    } else {
        l.ins.op = twi_lex_is(x, "for") ? TWI_L_FOR : TWI_L_UNROLL;
        l.ins.elem = TW_I64;
        l.ins.count = 1;
        twi_lex_next(x);
        d = definition(p);
        if (twi_lex_take(x, ":"))
            l.ins.elem = (uint8_t)twi_lex_type(x, &l.ins.count);
        twi_lex_expect(x, "in");
        l.ins.attr = 1;
        if (l.ins.op == TWI_L_FOR) {
            add_operand(p, &l);
            twi_lex_expect(x, "..");
            add_operand(p, &l);
            if (twi_lex_take(x, "step"))
                l.ins.attr = (uint32_t)twi_lex_int(x, 1, INT32_MAX);
        } else {
            l.ins.attr = (uint32_t)twi_lex_int(x, 0, 1 << 20);
        }
    }
    twi_lex_expect(x, "{");
    if (x->failed)
        return;
    p->c.loc = loc;
    twi_lid v = twi_lb_raw(&p->c, &l.ins, l.args.at, l.args.n);
    if (l.ins.count)
        define(p, d, v);
    if (p->c.open.n >= DEEPEST)
        twi_lex_error(x, TWI_LOOP_E_TOO_DEEP, "more than %d bodies inside one another", DEEPEST);
    twi_lb_open(&p->c, v);
}

void twi_parse_body(twi_parser *p) {
    twi_lex *x = &p->lex;
    while (!x->failed) {
        if (twi_lex_take(x, "}")) {
            if (p->c.open.n == 0)
                return;
            twi_lb_close(&p->c);
        } else if (twi_lex_is(x, "for") || twi_lex_is(x, "unroll") || twi_lex_is(x, "if")) {
            opening(p);
        } else if (x->length == 0) {
            twi_lex_error(x, TWI_LOOP_E_EXPECTED, "`}` expected, found the end of the text");
        } else {
            plain(p);
        }
    }
}
