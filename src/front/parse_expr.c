/* SPDX-License-Identifier: Apache-2.0
 * Expressions, by precedence climbing. docs/language.md has the table of bindings.
 */
#include "front/parse.h"

enum { NOT_LEVEL = 3, COMPARE_LEVEL = 4, NEST_LIMIT = 200 };

static const struct {
    uint8_t token, op, level;
} binary[] = {
    {TWI_T_OR, TWI_B_OR, 1},        {TWI_T_AND, TWI_B_AND, 2},    {TWI_T_EQ, TWI_B_EQ, 4},
    {TWI_T_NE, TWI_B_NE, 4},        {TWI_T_LT, TWI_B_LT, 4},      {TWI_T_LE, TWI_B_LE, 4},
    {TWI_T_GT, TWI_B_GT, 4},        {TWI_T_GE, TWI_B_GE, 4},      {TWI_T_BAR, TWI_B_BOR, 5},
    {TWI_T_CARET, TWI_B_BXOR, 6},   {TWI_T_AMP, TWI_B_BAND, 7},   {TWI_T_SHL, TWI_B_SHL, 8},
    {TWI_T_SHR, TWI_B_SHR, 8},      {TWI_T_PLUS, TWI_B_ADD, 9},   {TWI_T_MINUS, TWI_B_SUB, 9},
    {TWI_T_STAR, TWI_B_MUL, 10},    {TWI_T_SLASH, TWI_B_DIV, 10}, {TWI_T_IDIV, TWI_B_IDIV, 10},
    {TWI_T_PERCENT, TWI_B_MOD, 10},
};

static twi_x *parse_level(twi_parser *x, unsigned level);

twi_x *twi_x_new(twi_parser *x, twi_x_kind kind, uint32_t at) {
    twi_x *e = TWI_NEW(x->p->arena, twi_x);
    e->kind = (uint8_t)kind;
    e->at = at;
    e->depth = 1;
    return e;
}

static void too_deep(twi_parser *x, uint32_t at) {
    twi_parse_error(x, TWI_E_TOO_DEEP, at, "give parts of it names of their own",
                    "this expression nests too deep; parsing stops here");
}

/* The child counts in the parent's depth; false: too deep. */
static bool deepen(twi_parser *x, twi_x *parent, const twi_x *child) {
    if (!child)
        return false;
    if (child->depth >= parent->depth)
        parent->depth = (uint16_t)(child->depth + 1);
    if (parent->depth > TWI_MAX_DEPTH)
        too_deep(x, parent->at);
    return !x->panic;
}

static twi_x *number(twi_parser *x, const twi_token *t) {
    twi_x *e = twi_x_new(x, TWI_X_NUMBER, t->at);
    e->flag = t->kind == TWI_T_INT;
    e->text = t->kind == TWI_T_INF   ? "inf"
              : t->kind == TWI_T_NAN ? "nan"
              : t->n == 0            ? "1"
                                     : twi_strndup(x->p->arena, x->p->text + t->at, t->n);
    return e;
}

bool twi_parse_items(twi_parser *x, twi_x *to) {
    TWI_VEC(twi_item) v = {0};
    twi_tok_open(x);
    if (twi_tok_peek(x)->kind != TWI_T_RBRACKET) {
        do {
            twi_item item = {.x = twi_parse_x(x)};
            if (!deepen(x, to, item.x))
                return false;
            item.arrow = twi_tok_peek(x)->kind == TWI_T_ARROW;
            if (twi_tok_accept(x, TWI_T_COLON) || twi_tok_accept(x, TWI_T_ARROW)) {
                item.y = twi_parse_x(x);
                if (!deepen(x, to, item.y))
                    return false;
            }
            twi_push(x->p->arena, &v, item);
        } while (twi_tok_accept(x, TWI_T_COMMA));
    }
    to->item = v.at;
    to->items = v.n;
    return twi_tok_close(x, TWI_T_RBRACKET);
}

/* After ( of a call. */
static bool parse_args(twi_parser *x, twi_x *to) {
    TWI_VEC(twi_x *) arg = {0};
    TWI_VEC(twi_option) option = {0};
    twi_tok_open(x);
    if (twi_tok_peek(x)->kind != TWI_T_RPAREN) {
        do {
            const twi_token *t = twi_tok_peek(x);
            bool named = t->kind == TWI_T_NAME && twi_tok_peek_after(x)->kind == TWI_T_ASSIGN;
            if (named) {
                twi_tok_next(x);
                twi_tok_next(x);
            }
            twi_x *value = twi_parse_x(x);
            if (!deepen(x, to, value))
                return false;
            twi_option o = {t->name, t->at, value};
            if (named)
                twi_push(x->p->arena, &option, o);
            else
                twi_push(x->p->arena, &arg, value);
        } while (twi_tok_accept(x, TWI_T_COMMA));
    }
    to->arg = arg.at;
    to->args = arg.n;
    to->option = option.at;
    to->options = option.n;
    return twi_tok_close(x, TWI_T_RPAREN);
}

/* After ( that is no call's: (a) is a, (a, b) a tuple. */
static twi_x *parse_paren(twi_parser *x, uint32_t at) {
    twi_tok_open(x);
    twi_x *e = twi_parse_list(x);
    if (e && e->kind == TWI_X_TUPLE && e->at > at)
        e->at = at;
    return twi_tok_close(x, TWI_T_RPAREN) ? e : NULL;
}

twi_x *twi_parse_list(twi_parser *x) {
    twi_x *first = twi_parse_x(x);
    if (!first || twi_tok_peek(x)->kind != TWI_T_COMMA)
        return first;
    twi_x *e = twi_x_new(x, TWI_X_TUPLE, first->at);
    TWI_VEC(twi_x *) v = {0};
    twi_push(x->p->arena, &v, first);
    deepen(x, e, first);
    while (twi_tok_accept(x, TWI_T_COMMA)) {
        twi_x *next = twi_parse_x(x);
        if (!deepen(x, e, next))
            return NULL;
        twi_push(x->p->arena, &v, next);
    }
    e->arg = v.at;
    e->args = v.n;
    return x->panic ? NULL : e;
}

static twi_x *parse_primary(twi_parser *x) {
    const twi_token *t = twi_tok_peek(x);
    switch (t->kind) {
    case TWI_T_NAME: {
        twi_tok_next(x);
        twi_x *e = twi_x_new(x, TWI_X_NAME, t->at);
        e->name = t->name;
        return e;
    }
    case TWI_T_INT:
    case TWI_T_REAL:
    case TWI_T_INF:
    case TWI_T_NAN:
        twi_tok_next(x);
        return number(x, t);
    case TWI_T_TRUE:
    case TWI_T_FALSE: {
        twi_tok_next(x);
        twi_x *e = twi_x_new(x, TWI_X_BOOL, t->at);
        e->flag = t->kind == TWI_T_TRUE;
        return e;
    }
    case TWI_T_LPAREN:
        twi_tok_next(x);
        return parse_paren(x, t->at);
    default:
        twi_parse_error(
            x, TWI_E_EXPECTED, t->at,
            t->kind == TWI_T_NOT ? "'not' binds loosely: put it into parentheses" : NULL,
            twi_format(x->p->arena, "expected a value, found %s", twi_token_text(t->kind)));
        return NULL;
    }
}

/* What stands after `else`: a signed numeral, inf, nan, true, false, or a parenthesis. */
static twi_x *parse_outside(twi_parser *x) {
    const twi_token *t = twi_tok_peek(x);
    if (t->kind == TWI_T_MINUS || t->kind == TWI_T_PLUS) {
        twi_tok_next(x);
        twi_x *e = twi_x_new(x, TWI_X_UNARY, t->at);
        e->op = TWI_B_NEG;
        e->a = parse_primary(x);
        if (e->a && e->a->kind != TWI_X_NUMBER)
            twi_parse_error(x, TWI_E_BAD_ELSE, t->at, "write `else (..)`",
                            "'else' takes a signed numeral, inf, nan or a parenthesis");
        if (!deepen(x, e, e->a))
            return NULL;
        return t->kind == TWI_T_PLUS ? e->a : e;
    }
    if (t->kind == TWI_T_NAME) {
        twi_parse_error(x, TWI_E_BAD_ELSE, t->at, "write `else (..)`",
                        "'else' takes a signed numeral, inf, nan or a parenthesis");
        return NULL;
    }
    return parse_primary(x);
}

static twi_x *parse_suffix(twi_parser *x, twi_x *base) {
    const twi_token *t = twi_tok_next(x);
    if (t->kind == TWI_T_LPAREN && base->kind == TWI_X_NAME) {
        base->kind = TWI_X_CALL;
        return parse_args(x, base) ? base : NULL;
    }
    if (t->kind == TWI_T_LBRACKET && base->kind == TWI_X_NAME) {
        twi_x *e = twi_x_new(x, TWI_X_ACCESS, base->at);
        if (!twi_parse_items(x, e))
            return NULL;
        if (twi_tok_peek(x)->kind == TWI_T_LPAREN) { /* sum[w](..) */
            twi_tok_next(x);
            e->kind = TWI_X_CALL;
            e->name = base->name;
            return parse_args(x, e) ? e : NULL;
        }
        e->a = base;
        return deepen(x, e, base) ? e : NULL;
    }
    if (t->kind == TWI_T_LBRACKET) {
        twi_x *e = twi_x_new(x, TWI_X_ACCESS, base->at);
        e->a = base;
        return deepen(x, e, base) && twi_parse_items(x, e) ? e : NULL;
    }
    if (t->kind == TWI_T_ELSE && base->kind == TWI_X_ACCESS) {
        twi_x *e = twi_x_new(x, TWI_X_ELSE, base->at);
        e->a = base;
        e->b = parse_outside(x);
        return deepen(x, e, base) && deepen(x, e, e->b) ? e : NULL;
    }
    if (t->kind == TWI_T_ELSE)
        twi_parse_error(x, TWI_E_BAD_ELSE, t->at, "`X[i - 1] else 0.0`",
                        "'else' belongs to an access: there is none before it");
    else
        twi_parse_error(x, TWI_E_EXPECTED, t->at, NULL, "only a name can be called");
    return NULL;
}

static twi_x *parse_unary(twi_parser *x) {
    if (x->panic)
        return NULL;
    const twi_token *t = twi_tok_peek(x);
    if (t->kind == TWI_T_MINUS || t->kind == TWI_T_TILDE) {
        twi_tok_next(x);
        twi_x *e = twi_x_new(x, TWI_X_UNARY, t->at);
        e->op = t->kind == TWI_T_MINUS ? TWI_B_NEG : TWI_B_BNOT;
        if (++x->depth > NEST_LIMIT)
            too_deep(x, t->at);
        e->a = parse_unary(x);
        x->depth -= x->depth > 0;
        return deepen(x, e, e->a) ? e : NULL;
    }
    twi_x *e = parse_primary(x);
    while (e && !x->panic) {
        unsigned kind = twi_tok_peek(x)->kind;
        if (kind != TWI_T_LBRACKET && kind != TWI_T_LPAREN && kind != TWI_T_ELSE)
            break;
        e = parse_suffix(x, e);
    }
    return x->panic ? NULL : e;
}

static int binary_row(unsigned token) {
    for (size_t k = 0; k < sizeof binary / sizeof *binary; k++)
        if (binary[k].token == token)
            return (int)k;
    return -1;
}

static twi_x *parse_not(twi_parser *x) {
    const twi_token *t = twi_tok_next(x);
    twi_x *e = twi_x_new(x, TWI_X_UNARY, t->at);
    e->op = TWI_B_NOT;
    e->a = parse_level(x, NOT_LEVEL);
    return deepen(x, e, e->a) ? e : NULL;
}

static twi_x *parse_level(twi_parser *x, unsigned level) {
    if (x->panic)
        return NULL;
    if (++x->depth > NEST_LIMIT) {
        too_deep(x, twi_tok_peek(x)->at);
        return NULL;
    }
    bool negated = level <= NOT_LEVEL && twi_tok_peek(x)->kind == TWI_T_NOT, compared = false;
    twi_x *left = negated ? parse_not(x) : parse_unary(x);
    while (left && !x->panic) {
        const twi_token *t = twi_tok_peek(x);
        int row = binary_row(t->kind);
        if (row < 0 || binary[row].level < level)
            break;
        bool compare = binary[row].level == COMPARE_LEVEL;
        if (compare && compared)
            twi_parse_error(x, TWI_E_CHAINED, t->at, "write `a < b and b < c`",
                            "comparisons do not chain");
        compared = compare;
        twi_tok_next(x);
        twi_x *e = twi_x_new(x, TWI_X_BINARY, t->at);
        e->op = binary[row].op;
        e->a = left;
        e->b = parse_level(x, binary[row].level + 1u);
        left = deepen(x, e, e->a) && deepen(x, e, e->b) ? e : NULL;
    }
    x->depth -= x->depth > 0;
    return x->panic ? NULL : left;
}

twi_x *twi_parse_x(twi_parser *x) { return parse_level(x, 1); }
