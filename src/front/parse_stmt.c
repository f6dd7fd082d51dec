/* SPDX-License-Identifier: Apache-2.0
 * Statements and blocks. A statement with an error is left out; the next line goes on.
 */
#include "front/parse.h"

static twi_s *s_new(twi_parser *x, twi_s_kind kind, uint32_t at) {
    twi_s *s = TWI_NEW(x->p->arena, twi_s);
    s->kind = (uint8_t)kind;
    s->at = at;
    return s;
}

/* name: [lo ..] hi [tile block] */
static bool parse_span(twi_parser *x, twi_span *out) {
    out->name = twi_tok_expect_name(x, "the name of an axis", &out->at);
    if (!twi_tok_expect(x, TWI_T_COLON, "after the name of the axis"))
        return false;
    out->hi = twi_parse_x(x);
    if (twi_tok_accept(x, TWI_T_DOTS)) {
        out->lo = out->hi;
        out->hi = twi_parse_x(x);
    }
    if (twi_tok_accept(x, TWI_T_TILE))
        out->block = twi_parse_x(x);
    return !x->panic;
}

static twi_s *parse_scope(twi_parser *x, twi_s_kind kind, bool many, bool body) {
    twi_s *s = s_new(x, kind, twi_tok_next(x)->at);
    TWI_VEC(twi_span) v = {0};
    do {
        twi_span span = {0};
        if (!parse_span(x, &span))
            return NULL;
        twi_push(x->p->arena, &v, span);
    } while (many && twi_tok_accept(x, TWI_T_COMMA));
    s->span = v.at;
    s->spans = v.n;
    return !body || twi_parse_block(x, &s->body, "after the range") ? s : NULL;
}

static twi_s *parse_if(twi_parser *x) {
    twi_s *s = s_new(x, TWI_S_IF, twi_tok_next(x)->at);
    s->value = twi_parse_x(x);
    if (!twi_parse_block(x, &s->body, "after the condition"))
        return NULL;
    if (!twi_tok_accept(x, TWI_T_ELSE))
        return s;
    if (twi_tok_peek(x)->kind != TWI_T_IF)
        return twi_parse_block(x, &s->other, "after 'else'") ? s : NULL;
    if (++x->blocks > TWI_MAX_BLOCKS) {
        twi_parse_error(x, TWI_E_TOO_DEEP, s->at, NULL,
                        "'else if' goes on too long; parsing stops here");
        return NULL;
    }
    twi_s **one = TWI_NEW(x->p->arena, twi_s *);
    *one = parse_if(x);
    x->blocks--;
    s->other = (twi_list){one, 1};
    return *one ? s : NULL;
}

static bool target_of(twi_parser *x, const twi_x *e, twi_s *s) {
    const twi_x *const *part = e->kind == TWI_X_TUPLE ? (const twi_x *const *)e->arg : &e;
    uint32_t n = e->kind == TWI_X_TUPLE ? e->args : 1;
    s->target = TWI_NEW_N(x->p->arena, twi_target, n);
    s->targets = n;
    for (uint32_t k = 0; k < n; k++) {
        if (part[k]->kind != TWI_X_NAME) {
            twi_parse_error(
                x, TWI_E_BAD_TARGET, part[k]->at,
                n > 1 ? "`a, b = f(x)` takes names or `_`; store them one by one"
                      : "`name = ..` or `Y[i] = ..`",
                twi_format(x->p->arena, "'%s' cannot be assigned", twi_x_text(x->p, part[k])));
            return false;
        }
        bool ignored = strcmp(twi_text(&x->p->ctx->names, part[k]->name), "_") == 0;
        s->target[k] = (twi_target){ignored ? 0 : part[k]->name, part[k]->at};
    }
    return true;
}

static twi_s *parse_assign(twi_parser *x, twi_x *left, uint32_t start) {
    const twi_token *t = twi_tok_next(x);
    bool store = left->kind == TWI_X_ACCESS && left->a->kind == TWI_X_NAME;
    twi_s *s = s_new(x, store ? TWI_S_STORE : TWI_S_ASSIGN, start);
    s->plus = t->kind == TWI_T_PLUSEQ;
    if (store)
        s->access = left;
    else if (!target_of(x, left, s))
        return NULL;
    if (s->plus && s->targets > 1) {
        twi_parse_error(x, TWI_E_BAD_TARGET, t->at, NULL, "'+=' takes one name");
        return NULL;
    }
    s->value = twi_parse_x(x);
    if (store && twi_tok_accept(x, TWI_T_WHEN))
        s->when = twi_parse_x(x);
    return x->panic ? NULL : s;
}

static twi_s *parse_simple(twi_parser *x) {
    const twi_token *start = twi_tok_peek(x);
    if (start->kind >= TWI_T_KERNEL && start->kind <= TWI_T_NAN &&
        twi_tok_peek_after(x)->kind == TWI_T_ASSIGN) {
        twi_parse_error(
            x, TWI_E_RESERVED, start->at, "words of the language name nothing else",
            twi_format(x->p->arena, "%s cannot be assigned", twi_token_text(start->kind)));
        return NULL;
    }
    twi_x *left = twi_parse_list(x);
    if (!left)
        return NULL;
    unsigned kind = twi_tok_peek(x)->kind;
    if (kind == TWI_T_ASSIGN || kind == TWI_T_PLUSEQ)
        return parse_assign(x, left, start->at);
    if (left->kind == TWI_X_CALL) {
        const twi_word *w = twi_word_of(twi_text(&x->p->ctx->names, left->name));
        if (w && w->kind == TWI_W_ATOMIC) {
            twi_s *s = s_new(x, TWI_S_ATOMIC, left->at);
            s->value = left;
            if (twi_tok_accept(x, TWI_T_WHEN))
                s->when = twi_parse_x(x);
            return x->panic ? NULL : s;
        }
    }
    twi_parse_error(x, TWI_E_NO_EFFECT, start->at,
                    "give it a name, `x = ..`, or store it, `Y[i] = ..`",
                    "an expression alone does nothing");
    return NULL;
}

static twi_s *parse_statement(twi_parser *x) {
    const twi_token *t = twi_tok_peek(x);
    if (t->kind == TWI_T_PARALLEL)
        return parse_scope(x, TWI_S_PARALLEL, true, true);
    if (t->kind == TWI_T_SERIAL)
        return parse_scope(x, TWI_S_SERIAL, false, true);
    if (t->kind == TWI_T_REPEAT)
        return parse_scope(x, TWI_S_REPEAT, false, true);
    if (t->kind == TWI_T_AXIS)
        return parse_scope(x, TWI_S_AXIS, false, false);
    if (t->kind == TWI_T_IF)
        return parse_if(x);
    if (t->kind == TWI_T_RETURN) {
        twi_s *s = s_new(x, TWI_S_RETURN, twi_tok_next(x)->at);
        s->value = twi_parse_list(x);
        return s->value ? s : NULL;
    }
    return parse_simple(x);
}

/* To the end of the line or of the block; a block on the way is skipped whole. */
static void sync_statement(twi_parser *x) {
    x->panic = false;
    x->nest = x->depth = 0;
    uint32_t open = 0;
    for (;; x->i++) {
        unsigned kind = x->token.at[x->i].kind;
        if (kind == TWI_T_END)
            return;
        if (kind == TWI_T_LBRACE)
            open++;
        else if (kind == TWI_T_RBRACE && open)
            open--;
        else if (open == 0 && (kind == TWI_T_RBRACE || kind == TWI_T_NEWLINE || kind == TWI_T_SEMI))
            return;
    }
}

static bool is_block(const twi_s *s) {
    return s && (s->kind == TWI_S_PARALLEL || s->kind == TWI_S_SERIAL || s->kind == TWI_S_REPEAT ||
                 s->kind == TWI_S_IF);
}

static bool ends_statement(unsigned kind) {
    return kind == TWI_T_NEWLINE || kind == TWI_T_SEMI || kind == TWI_T_RBRACE || kind == TWI_T_END;
}

/* After {, up to and with }. */
static bool parse_statements(twi_parser *x, twi_list *out, uint32_t opened) {
    TWI_VEC(twi_s *) v = {0};
    uint32_t blocks = x->blocks;
    while (!x->fatal) {
        while (x->token.at[x->i].kind == TWI_T_NEWLINE || x->token.at[x->i].kind == TWI_T_SEMI)
            x->i++;
        const twi_token *t = twi_tok_peek(x);
        if (t->kind == TWI_T_RBRACE || t->kind == TWI_T_END || t->kind == TWI_T_KERNEL ||
            t->kind == TWI_T_FN)
            break;
        uint32_t from = x->i;
        if (!twi_parse_head_statement(x)) {
            x->head = false;
            twi_s *s = parse_statement(x);
            if (s && !x->panic)
                twi_push(x->p->arena, &v, s);
            unsigned kind = x->token.at[x->i].kind;
            if (!x->panic && !is_block(s) && !ends_statement(kind))
                twi_tok_expect(x, TWI_T_NEWLINE, "after the statement");
        }
        if (x->panic) {
            x->blocks = blocks;
            x->i += x->i == from; /* always forward */
            sync_statement(x);
        }
    }
    *out = (twi_list){v.at, v.n};
    if (twi_tok_accept(x, TWI_T_RBRACE))
        return true;
    uint32_t line = 0, column = 0;
    const char *text;
    size_t n;
    if (!x->panic)
        twi_loc_find(&x->p->ctx->diags, (twi_loc){x->p->file, opened}, &line, &column, &text, &n);
    twi_parse_error(x, TWI_E_EXPECTED, twi_tok_peek(x)->at, NULL,
                    twi_format(x->p->arena,
                               "expected '}' before %s: the block opened in line %u is not closed",
                               twi_token_text(twi_tok_peek(x)->kind), line));
    return false;
}

bool twi_parse_block(twi_parser *x, twi_list *out, const char *after) {
    if (x->panic)
        return false;
    if (twi_tok_peek(x)->kind == TWI_T_NEWLINE) {
        uint32_t back = x->i;
        twi_tok_skip_newlines(x);
        if (twi_tok_peek(x)->kind == TWI_T_LBRACE) {
            twi_parse_error(x, TWI_E_BRACE_LINE, twi_tok_peek(x)->at,
                            "move it up to the end of the line before",
                            "'{' stands on the line of its head");
            x->panic = false;
        } else {
            x->i = back;
        }
    }
    const twi_token *t = twi_tok_peek(x);
    if (!twi_tok_expect(x, TWI_T_LBRACE, after))
        return false;
    if (++x->blocks > TWI_MAX_BLOCKS) {
        twi_parse_error(x, TWI_E_TOO_DEEP, t->at, NULL, "blocks nest too deep; parsing stops here");
        return false;
    }
    bool done = parse_statements(x, out, t->at);
    x->blocks--;
    return done;
}

void twi_parse_fn(twi_parser *x) {
    twi_fn *f = TWI_NEW(x->p->arena, twi_fn);
    twi_tok_next(x);
    x->kernel = NULL;
    x->head = false;
    f->name = twi_tok_expect_name(x, "the name of a function", &f->at);
    for (int round = 0; round < 2; round++) {
        twi_t open = round ? TWI_T_LPAREN : TWI_T_LBRACKET,
              close = round ? TWI_T_RPAREN : TWI_T_RBRACKET;
        if (!round && twi_tok_peek(x)->kind != open)
            continue;
        if (!twi_tok_expect(x, open, "after the name of the function"))
            return;
        TWI_VEC(twi_target) v = {0};
        twi_tok_open(x);
        if (twi_tok_peek(x)->kind != close) {
            do {
                twi_target one = {0};
                one.name = twi_tok_expect_name(
                    x, round ? "the name of a parameter" : "the name of an axis", &one.at);
                twi_push(x->p->arena, &v, one);
            } while (twi_tok_accept(x, TWI_T_COMMA));
        }
        if (!twi_tok_close(x, close))
            return;
        *(round ? &f->param : &f->axis) = v.at;
        *(round ? &f->params : &f->axes) = v.n;
    }
    if (twi_tok_accept(x, TWI_T_ASSIGN)) {
        twi_s *s = s_new(x, TWI_S_RETURN, twi_tok_peek(x)->at);
        s->value = twi_parse_list(x);
        twi_s **one = TWI_NEW(x->p->arena, twi_s *);
        *one = s;
        f->body = (twi_list){one, 1};
        unsigned kind = x->token.at[x->i].kind;
        if (!x->panic && kind != TWI_T_NEWLINE && kind != TWI_T_SEMI && kind != TWI_T_END)
            twi_tok_expect(x, TWI_T_NEWLINE, "after the function");
    } else {
        twi_parse_block(x, &f->body, "or '=' after the parameters");
    }
    if (f->name && !x->panic)
        twi_push(x->p->arena, &x->p->fn, f);
}
