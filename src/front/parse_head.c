/* SPDX-License-Identifier: Apache-2.0
 * Heads of kernels: constants, arguments, and what stands at the head of a body.
 */
#include "front/parse.h"

static bool parse_choice(twi_parser *x, twi_choice *out) {
    const twi_token *t = twi_tok_peek(x);
    bool minus = t->kind == TWI_T_MINUS;
    if (minus)
        twi_tok_next(x);
    const twi_token *v = twi_tok_next(x);
    const char *text =
        twi_strndup(x->p->arena, x->p->text + v->at, v->n > TWI_MAX_NAME ? TWI_MAX_NAME : v->n);
    *out = (twi_choice){.text = text, .at = t->at};
    if (v->kind == TWI_T_INT) {
        out->kind = TWI_C_INT;
        if (!twi_parse_i64(text, strlen(text), &out->number)) {
            twi_parse_error(x, TWI_E_BAD_SET, v->at, NULL,
                            twi_format(x->p->arena, "'%s' is no 64-bit integer", text));
            return false;
        }
        out->number = minus ? -out->number : out->number;
        out->text = twi_format(x->p->arena, "%lld", (long long)out->number);
        return true;
    }
    if (!minus && (v->kind == TWI_T_TRUE || v->kind == TWI_T_FALSE)) {
        out->kind = TWI_C_BOOL;
        out->number = v->kind == TWI_T_TRUE;
        return true;
    }
    if (!minus && v->kind == TWI_T_NAME) {
        out->word = v->name;
        out->elem = tw_elem_named(text);
        out->kind = out->elem == TW_NONE ? TWI_C_WORD : TWI_C_TYPE;
        return true;
    }
    twi_parse_error(x, TWI_E_BAD_SET, t->at,
                    "`T in {f32, bf16}`, `B in {false, true}`, `S = 1`, `E in {none, relu}`",
                    "constants are types, integers, true or false, or words");
    return false;
}

/* After `in`: { a, b, .. } */
static bool parse_set(twi_parser *x, twi_const_decl *out) {
    if (!twi_tok_expect(x, TWI_T_LBRACE, "after 'in'"))
        return false;
    TWI_VEC(twi_choice) v = {0};
    twi_tok_skip_newlines(x);
    if (twi_tok_peek(x)->kind != TWI_T_RBRACE) {
        do {
            twi_choice c;
            twi_tok_skip_newlines(x);
            if (!parse_choice(x, &c))
                return false;
            twi_push(x->p->arena, &v, c);
            twi_tok_skip_newlines(x);
        } while (twi_tok_accept(x, TWI_T_COMMA));
    }
    out->choice = v.at;
    out->choices = v.n;
    return twi_tok_expect(x, TWI_T_RBRACE, "or ',' in the set");
}

static bool parse_const(twi_parser *x, twi_const_decl *out) {
    *out = (twi_const_decl){0};
    out->name = twi_tok_expect_name(x, "the name of a constant", &out->at);
    if (twi_tok_accept(x, TWI_T_IN))
        return parse_set(x, out);
    if (!twi_tok_expect(x, TWI_T_ASSIGN, "or 'in' after the name"))
        return false;
    out->choice = TWI_NEW(x->p->arena, twi_choice);
    out->choices = 1;
    out->open = true;
    return parse_choice(x, out->choice);
}

/* [out | inout] X: T[R, W] [= value] */
static bool parse_array(twi_parser *x, twi_array_decl *out, bool temp) {
    *out = (twi_array_decl){.role = temp ? TW_ROLE_TEMP : TW_ROLE_IN};
    if (!temp && twi_tok_accept(x, TWI_T_OUT))
        out->role = TW_ROLE_OUT;
    else if (!temp && twi_tok_accept(x, TWI_T_INOUT))
        out->role = TW_ROLE_INOUT;
    out->name = twi_tok_expect_name(x, "the name of an argument", &out->at);
    if (!twi_tok_expect(x, TWI_T_COLON, "after the name"))
        return false;
    out->type = twi_tok_expect_name(x, "an element type", &out->type_at);
    out->scalar = true;
    if (twi_tok_accept(x, TWI_T_LBRACKET)) {
        TWI_VEC(twi_x *) v = {0};
        out->scalar = false;
        twi_tok_open(x);
        if (twi_tok_peek(x)->kind != TWI_T_RBRACKET) {
            do {
                twi_x *e = twi_parse_x(x);
                twi_push(x->p->arena, &v, e);
            } while (twi_tok_accept(x, TWI_T_COMMA));
        }
        out->dim = v.at;
        out->rank = v.n;
        if (!twi_tok_close(x, TWI_T_RBRACKET))
            return false;
    }
    if (twi_tok_accept(x, TWI_T_ASSIGN))
        out->initial = twi_parse_x(x);
    return !x->panic;
}

static bool parse_arguments(twi_parser *x, twi_kernel *k) {
    twi_tok_open(x);
    if (twi_tok_peek(x)->kind != TWI_T_RPAREN) {
        do {
            if (twi_tok_accept(x, TWI_T_DYN)) {
                twi_dyn_decl d = {0};
                d.name = twi_tok_expect_name(x, "the name of a dim", &d.at);
                twi_push(x->p->arena, &k->dyn, d);
                continue;
            }
            twi_array_decl a;
            if (!parse_array(x, &a, false))
                return false;
            twi_push(x->p->arena, &k->argument, a);
        } while (twi_tok_accept(x, TWI_T_COMMA));
    }
    return twi_tok_close(x, TWI_T_RPAREN);
}

void twi_parse_kernel(twi_parser *x) {
    twi_kernel *k = TWI_NEW(x->p->arena, twi_kernel);
    twi_tok_next(x);
    k->name = twi_tok_expect_name(x, "the name of a kernel", &k->at);
    if (twi_tok_accept(x, TWI_T_LBRACKET)) {
        twi_tok_open(x);
        if (twi_tok_peek(x)->kind != TWI_T_RBRACKET) {
            do {
                twi_const_decl c;
                if (!parse_const(x, &c))
                    return;
                twi_push(x->p->arena, &k->constant, c);
            } while (twi_tok_accept(x, TWI_T_COMMA));
        }
        if (!twi_tok_close(x, TWI_T_RBRACKET))
            return;
        twi_tok_skip_newlines(x); /* the arguments may start a line */
    }
    if (!twi_tok_expect(x, TWI_T_LPAREN, "before the arguments of the kernel") ||
        !parse_arguments(x, k))
        return;
    x->kernel = k;
    x->head = true;
    twi_parse_block(x, &k->body, "after the arguments");
    x->kernel = NULL;
    x->head = false;
    if (k->name && !x->panic)
        twi_push(x->p->arena, &x->p->kernel, k);
}

static void parse_params(twi_parser *x, twi_kernel *k) {
    do {
        twi_const_decl c = {0};
        c.name = twi_tok_expect_name(x, "the name of a param", &c.at);
        if (!twi_tok_expect(x, TWI_T_IN, "after the name of the param") || !parse_set(x, &c))
            return;
        twi_push(x->p->arena, &k->param, c);
    } while (twi_tok_accept(x, TWI_T_COMMA));
}

static void parse_temps(twi_parser *x, twi_kernel *k) {
    do {
        twi_array_decl a;
        if (!parse_array(x, &a, true))
            return;
        twi_push(x->p->arena, &k->temp, a);
    } while (twi_tok_accept(x, TWI_T_COMMA));
}

static void parse_requires(twi_parser *x, twi_kernel *k) {
    do {
        twi_x *e = twi_parse_x(x);
        if (!e)
            return;
        twi_push(x->p->arena, &k->fact, e);
    } while (twi_tok_accept(x, TWI_T_COMMA));
}

static void skip_separators(twi_parser *x) {
    for (;;) {
        unsigned kind = x->token.at[x->i].kind;
        if (kind != TWI_T_NEWLINE && kind != TWI_T_SEMI && kind != TWI_T_COMMA)
            return;
        x->i++;
    }
}

static void parse_numerics(twi_parser *x, twi_kernel *k) {
    if (!twi_tok_expect(x, TWI_T_LBRACE, "after 'numerics'"))
        return;
    for (skip_separators(x); !x->panic && twi_tok_peek(x)->kind != TWI_T_RBRACE;
         skip_separators(x)) {
        twi_option o = {0};
        o.name = twi_tok_expect_name(x, "order, math or precision", &o.at);
        if (!twi_tok_expect(x, TWI_T_ASSIGN, "after the name of the option"))
            return;
        o.value = twi_parse_x(x);
        if (o.value)
            twi_push(x->p->arena, &k->numerics, o);
    }
    twi_tok_expect(x, TWI_T_RBRACE, "at the end of 'numerics'");
}

bool twi_parse_head_statement(twi_parser *x) {
    static void (*const parse[])(twi_parser *, twi_kernel *) = {
        [TWI_T_PARAM] = parse_params,
        [TWI_T_REQUIRES] = parse_requires,
        [TWI_T_NUMERICS] = parse_numerics,
        [TWI_T_TEMP] = parse_temps,
    };
    const twi_token *t = twi_tok_peek(x);
    if (t->kind != TWI_T_PARAM && t->kind != TWI_T_REQUIRES && t->kind != TWI_T_NUMERICS &&
        t->kind != TWI_T_TEMP)
        return false;
    twi_tok_next(x);
    twi_kernel ignored = {0};
    bool here = x->kernel && x->head && x->blocks == 1;
    if (!here) {
        twi_parse_error(x, TWI_E_NOT_AT_HEAD, t->at, "move it up, before the first other statement",
                        twi_format(x->p->arena, "%s stands at the head of a kernel's body",
                                   twi_token_text(t->kind)));
        x->panic = false;
    }
    parse[t->kind](x, here ? x->kernel : &ignored);
    unsigned kind = x->token.at[x->i].kind;
    if (!x->panic && kind != TWI_T_NEWLINE && kind != TWI_T_SEMI && kind != TWI_T_RBRACE &&
        kind != TWI_T_END)
        twi_tok_expect(x, TWI_T_NEWLINE, "after the statement");
    return true;
}
