/* SPDX-License-Identifier: Apache-2.0
 * The parser: tokens in hand, recovery, and the file's top level. Linear in the number of tokens;
 * recursion is bounded by TWI_MAX_DEPTH and TWI_MAX_BLOCKS. Next: parse_expr.c, parse_stmt.c,
 * parse_head.c.
 */
#include "front/parse.h"

const twi_token *twi_tok_peek(twi_parser *x) {
    if (x->nest)
        twi_tok_skip_newlines(x);
    return &x->token.at[x->i];
}

const twi_token *twi_tok_peek_after(twi_parser *x) {
    uint32_t k = (uint32_t)(twi_tok_peek(x) - x->token.at);
    if (x->token.at[k].kind != TWI_T_END)
        k++;
    while (x->nest && x->token.at[k].kind == TWI_T_NEWLINE)
        k++;
    return &x->token.at[k];
}

const twi_token *twi_tok_next(twi_parser *x) {
    const twi_token *t = twi_tok_peek(x);
    if (t->kind != TWI_T_END)
        x->i++;
    return t;
}

bool twi_tok_accept(twi_parser *x, twi_t kind) {
    if (x->panic || twi_tok_peek(x)->kind != kind)
        return false;
    twi_tok_next(x);
    return true;
}

void twi_tok_skip_newlines(twi_parser *x) {
    while (x->token.at[x->i].kind == TWI_T_NEWLINE)
        x->i++;
}

void twi_parse_error(twi_parser *x, twi_code code, uint32_t at, const char *help,
                     const char *text) {
    if (!x->panic && !x->fatal)
        twi_error(&x->p->ctx->diags, (uint16_t)code, (twi_loc){x->p->file, at}, help, "%s", text);
    x->panic = true;
    if (code == TWI_E_TOO_DEEP) {
        x->fatal = true;
        x->i = x->token.n - 1;
    }
}

static const char *found(twi_parser *x, const twi_token *t) {
    bool named = t->kind == TWI_T_NAME || t->kind == TWI_T_INT || t->kind == TWI_T_REAL;
    if (!named)
        return twi_token_text(t->kind);
    return twi_quote(x->p->arena,
                     twi_strndup(x->p->arena, x->p->text + t->at, t->n > 60 ? 60 : t->n));
}

bool twi_tok_expect(twi_parser *x, twi_t kind, const char *where) {
    if (twi_tok_accept(x, kind))
        return true;
    if (!x->panic) {
        const twi_token *t = twi_tok_peek(x);
        twi_parse_error(x, TWI_E_EXPECTED, t->at, NULL,
                        twi_format(x->p->arena, "expected %s %s, found %s", twi_token_text(kind),
                                   where, found(x, t)));
    }
    return false;
}

twi_sym twi_tok_expect_name(twi_parser *x, const char *what, uint32_t *at) {
    if (x->panic)
        return 0;
    const twi_token *t = twi_tok_peek(x);
    *at = t->at;
    if (t->kind == TWI_T_NAME) {
        twi_tok_next(x);
        return t->name;
    }
    bool word = t->kind >= TWI_T_KERNEL && t->kind <= TWI_T_NAN;
    twi_parse_error(x, word ? TWI_E_RESERVED : TWI_E_EXPECTED, t->at,
                    word ? "words of the language name nothing else" : NULL,
                    twi_format(x->p->arena, "expected %s, found %s", what, found(x, t)));
    return 0;
}

void twi_tok_open(twi_parser *x) { x->nest++; }

bool twi_tok_close(twi_parser *x, twi_t kind) {
    if (x->panic)
        return false;
    if (twi_tok_peek(x)->kind == kind) {
        x->i++;
        x->nest--;
        return true;
    }
    const twi_token *t = twi_tok_peek(x);
    twi_parse_error(
        x, TWI_E_EXPECTED, t->at, NULL,
        twi_format(x->p->arena, "expected ',' or %s, found %s", twi_token_text(kind), found(x, t)));
    return false;
}

/* To the next kernel or fn that starts a line. */
static void sync_top(twi_parser *x) {
    x->panic = false;
    x->nest = x->depth = x->blocks = 0;
    while (x->token.at[x->i].kind != TWI_T_END) {
        unsigned kind = x->token.at[x->i].kind;
        bool starts = x->i == 0 || x->token.at[x->i - 1].kind == TWI_T_NEWLINE;
        if (starts && (kind == TWI_T_KERNEL || kind == TWI_T_FN))
            return;
        x->i++;
    }
}

bool twi_parse_program(tw_program *p) {
    uint32_t before = p->ctx->diags.errors;
    twi_parser x = {.p = p};
    twi_lex(p, &x.token);
    for (;;) {
        while (x.token.at[x.i].kind == TWI_T_NEWLINE || x.token.at[x.i].kind == TWI_T_SEMI)
            x.i++;
        const twi_token *t = twi_tok_peek(&x);
        if (t->kind == TWI_T_END)
            break;
        if (t->kind == TWI_T_KERNEL) {
            twi_parse_kernel(&x);
        } else if (t->kind == TWI_T_FN) {
            twi_parse_fn(&x);
        } else {
            const char *help = t->kind == TWI_T_RBRACE ? "one '}' too many?"
                                                       : "a file holds kernels and functions";
            twi_parse_error(
                &x, TWI_E_EXPECTED, t->at, help,
                twi_format(p->arena, "expected 'kernel' or 'fn', found %s", found(&x, t)));
            x.i++; /* it may be a `kernel` in the middle of a line */
        }
        if (x.panic)
            sync_top(&x);
    }
    if (p->ctx->diags.errors == before && p->kernel.n == 0 && p->fn.n == 0)
        twi_error(&p->ctx->diags, TWI_E_NO_KERNEL, (twi_loc){p->file, 0},
                  "kernel copy(X: f32[N], out Y: f32[N]) { parallel n: N { Y[n] = X[n] } }",
                  "the file has no kernel and no function");
    return p->ctx->diags.errors == before;
}
