/* SPDX-License-Identifier: Apache-2.0
 * The lexer: bytes to tokens in one pass. Runs of bytes that mean nothing are one diagnostic each.
 */
#include "front/lex.h"

static const char *const spelling[TWI_T_COUNT] = {
    [TWI_T_END] = "the end of the file",
    [TWI_T_NEWLINE] = "the end of the line",
    [TWI_T_NAME] = "a name",
    [TWI_T_INT] = "a number",
    [TWI_T_REAL] = "a number",
#define TWI_TOKEN(NAME, text) [TWI_T_##NAME] = "'" text "'",
#include "front/token.def"
#undef TWI_TOKEN
};

const char *twi_token_text(unsigned kind) { return kind < TWI_T_COUNT ? spelling[kind] : "?"; }

/* Locale plays no part here: the language is ASCII. */
static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_alpha(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}
static bool is_word(char c) { return is_alpha(c) || is_digit(c); }
static bool is_hex(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F');
}

typedef struct lexer {
    tw_program *p;
    twi_tokens *out;
    size_t at;
} lexer;

static char peek(const lexer *x, size_t k) {
    return x->at + k < x->p->n ? x->p->text[x->at + k] : '\0';
}

static void add(lexer *x, unsigned kind, size_t from, twi_sym name) {
    twi_token t = {(uint8_t)kind, (uint32_t)from, (uint32_t)(x->at - from), name};
    twi_push(x->p->arena, x->out, t);
}

static void lex_error(lexer *x, twi_code code, size_t at, const char *help, const char *text) {
    twi_error(&x->p->ctx->diags, (uint16_t)code, (twi_loc){x->p->file, (uint32_t)at}, help, "%s",
              text);
}

static unsigned word_kind(const char *text, size_t n) {
    for (unsigned k = TWI_T_KERNEL; k <= TWI_T_NAN; k++) {
        const char *s = spelling[k] + 1; /* past the quote */
        if (strncmp(s, text, n) == 0 && s[n] == '\'')
            return k;
    }
    return TWI_T_NAME;
}

static void lex_word(lexer *x) {
    size_t from = x->at;
    while (x->at < x->p->n && is_word(x->p->text[x->at]))
        x->at++;
    size_t n = x->at - from;
    const char *text = x->p->text + from;
    if (n > TWI_MAX_NAME) {
        lex_error(x, TWI_E_LONG_NAME, from, "names have at most 255 characters",
                  twi_format(x->p->arena, "a name of %zu characters: %.24s...", n, text));
        n = TWI_MAX_NAME;
    }
    add(x, word_kind(text, n), from, twi_intern(&x->p->ctx->names, text, n));
}

static void skip(lexer *x, bool (*is)(char)) {
    while (x->at < x->p->n && is(x->p->text[x->at]))
        x->at++;
}

static bool exponent(lexer *x, char lower) {
    if ((peek(x, 0) | 0x20) != lower)
        return false;
    size_t sign = peek(x, 1) == '+' || peek(x, 1) == '-' ? 2 : 1;
    if (!is_digit(peek(x, sign)))
        return false;
    x->at += sign;
    skip(x, is_digit);
    return true;
}

/* 12  1.5  1e-5  0xff  0x1.8p-3; in `0..n` the dots belong to the range. */
static void lex_number(lexer *x) {
    size_t from = x->at;
    bool hex = peek(x, 0) == '0' && (peek(x, 1) | 0x20) == 'x' && is_hex(peek(x, 2)), real = false;
    bool (*is)(char) = hex ? is_hex : is_digit;
    if (hex)
        x->at += 2;
    skip(x, is);
    if (peek(x, 0) == '.' && is(peek(x, 1))) {
        real = true;
        x->at++;
        skip(x, is);
    }
    bool scaled = exponent(x, hex ? 'p' : 'e');
    bool bad = hex && real && !scaled;
    if (is_word(peek(x, 0)) || (peek(x, 0) == '.' && peek(x, 1) != '.')) {
        bad = true;
        while (is_word(peek(x, 0)) || (peek(x, 0) == '.' && peek(x, 1) != '.'))
            x->at++;
    }
    if (bad)
        lex_error(x, TWI_E_BAD_NUMBER, from, "numerals look like 12, 1.5, 1e-5, 0xff, 0x1.8p-3",
                  twi_format(x->p->arena, "malformed numeral '%.*s'",
                             (int)(x->at - from > 40 ? 40 : x->at - from), x->p->text + from));
    else if (x->at - from > TWI_MAX_NAME)
        lex_error(x, TWI_E_LONG_NAME, from, "numerals have at most 255 characters",
                  "a numeral that is too long");
    add(x, real || scaled ? TWI_T_REAL : TWI_T_INT, from, 0);
    if (bad || x->at - from > TWI_MAX_NAME) /* goes on as 1: an error once is enough */
        x->out->at[x->out->n - 1].n = 0;
}

static bool lex_sign(lexer *x) {
    for (unsigned k = TWI_T_DOTS; k < TWI_T_COUNT; k++) {
        const char *s = spelling[k] + 1;
        bool two = s[1] != '\'';
        if (peek(x, 0) == s[0] && (!two || peek(x, 1) == s[1])) {
            size_t from = x->at;
            x->at += two ? 2 : 1;
            add(x, k, from, 0);
            return true;
        }
    }
    return false;
}

static bool is_known(char c) {
    return c == '\n' || c == ' ' || c == '\t' || c == '\r' || is_word(c) ||
           (c && strchr("#().[]{},:;=<>!+-*/%&|^~", c));
}

static void lex_unknown(lexer *x) {
    size_t from = x->at++;
    while (x->at < x->p->n && !is_known(x->p->text[x->at]))
        x->at++;
    unsigned char c = (unsigned char)x->p->text[from];
    bool shown = c > ' ' && c < 0x7f;
    lex_error(x, TWI_E_BAD_BYTE, from,
              c == '!'    ? "'not' negates, '!=' compares"
              : c == '\0' ? "the file holds NUL bytes: is it text?"
                          : NULL,
              shown ? twi_format(x->p->arena, "'%c' means nothing here", c)
                    : twi_format(
                          x->p->arena,
                          "byte 0x%02x means nothing here (outside comments the language is ASCII)",
                          c));
}

void twi_lex(tw_program *p, twi_tokens *out) {
    lexer x = {p, out, 0};
    while (x.at < p->n) {
        char c = p->text[x.at];
        if (c == ' ' || c == '\t' || c == '\r') {
            x.at++;
        } else if (c == '#') {
            while (x.at < p->n && p->text[x.at] != '\n')
                x.at++;
        } else if (c == '\n') {
            x.at++;
            add(&x, TWI_T_NEWLINE, x.at - 1, 0);
        } else if (is_alpha(c)) {
            lex_word(&x);
        } else if (is_digit(c)) {
            lex_number(&x);
        } else if (!lex_sign(&x)) {
            lex_unknown(&x);
        }
    }
    add(&x, TWI_T_END, p->n, 0);
}
