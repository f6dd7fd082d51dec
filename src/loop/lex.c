/* SPDX-License-Identifier: Apache-2.0
 * Words of loop IR's text.
 */
#include "loop/lex.h"

#include "base/context.h"
#include "loop/codes.h"

static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '.' || c == '$' || c == '%' || c == '#' || c == '-' || c == '+';
}

void twi_lex_init(twi_lex *x, tw_context *ctx, const char *name, const char *text, size_t n) {
    *x = (twi_lex){.ctx = ctx, .text = text, .n = n < UINT32_MAX ? n : UINT32_MAX};
    x->file = twi_diags_file(&ctx->diags, name, text, n);
    twi_lex_next(x);
}

void twi_lex_next(twi_lex *x) {
    while (x->at < x->n) {
        char c = x->text[x->at];
        if (c == ';')
            while (x->at < x->n && x->text[x->at] != '\n')
                x->at++;
        else if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
            break;
        else
            x->at++;
    }
    x->start = (uint32_t)x->at;
    x->word = x->text + x->at;
    if (x->failed || x->at >= x->n) {
        x->word = "";
        x->length = 0;
        return;
    }
    size_t from = x->at++;
    if (is_word(x->text[from]))
        while (x->at < x->n && is_word(x->text[x->at]))
            x->at++;
    x->length = x->at - from;
}

twi_loc twi_lex_loc(const twi_lex *x) { return (twi_loc){x->file, x->start}; }

bool twi_lex_is(const twi_lex *x, const char *word) {
    return x->length == strlen(word) && memcmp(x->word, word, x->length) == 0;
}

bool twi_lex_take(twi_lex *x, const char *word) {
    if (!twi_lex_is(x, word))
        return false;
    twi_lex_next(x);
    return true;
}

void twi_lex_error(twi_lex *x, int code, const char *format, ...) {
    if (x->failed)
        return;
    twi_sb text;
    twi_sb_init(&text, &x->ctx->arena);
    va_list args;
    va_start(args, format);
    twi_sb_vprintf(&text, format, args);
    va_end(args);
    twi_error(&x->ctx->diags, (uint16_t)code, twi_lex_loc(x), NULL, "%s", twi_sb_text(&text));
    x->failed = true;
    x->word = "";
    x->length = 0;
}

static int shown(const twi_lex *x) { return (int)(x->length < 40 ? x->length : 40); }

void twi_lex_expect(twi_lex *x, const char *word) {
    if (!twi_lex_take(x, word))
        twi_lex_error(x, TWI_LOOP_E_EXPECTED, "`%s` expected, found `%.*s`", word, shown(x),
                      x->word);
}

int64_t twi_lex_int(twi_lex *x, int64_t least, int64_t most) {
    int64_t k = least;
    if (!twi_parse_i64(x->word, x->length, &k) || k < least || k > most) {
        twi_lex_error(x, TWI_LOOP_E_BAD_NUMBER, "a number from %lld to %lld expected, found `%.*s`",
                      (long long)least, (long long)most, shown(x), x->word);
        return least;
    }
    twi_lex_next(x);
    return k;
}

static bool hex(const char *text, size_t n, uint64_t *bits) {
    *bits = 0;
    for (size_t k = 0; k < n; k++) {
        char c = text[k];
        int digit = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (digit < 0)
            return false;
        *bits = *bits << 4 | (uint64_t)digit;
    }
    return n > 0 && n <= 16;
}

static bool real(const twi_lex *x, tw_elem elem, uint64_t *bits) {
    double v;
    if ((elem != TW_F32 && elem != TW_F64) || !twi_parse_f64(x->word, x->length, &v))
        return false;
    if (elem == TW_F64) {
        memcpy(bits, &v, sizeof v);
    } else {
        float f = (float)v;
        uint32_t low;
        memcpy(&low, &f, sizeof f);
        *bits = low;
    }
    return true;
}

uint64_t twi_lex_bits(twi_lex *x, tw_elem elem) {
    uint64_t bits = 0;
    size_t size = tw_elem_size(elem);
    uint64_t mask = size < 8 ? (UINT64_C(1) << 8 * size) - 1 : UINT64_MAX;
    int64_t k;
    bool fits = false;
    if (x->length && x->word[0] == '#')
        fits = hex(x->word + 1, x->length - 1, &bits) && (bits & ~mask) == 0;
    else if (elem == TW_BOOL)
        fits = (bits = twi_lex_is(x, "true")) != 0 || twi_lex_is(x, "false");
    else if (twi_is_int(elem) && twi_parse_i64(x->word, x->length, &k))
        fits = size == 8 || !twi_is_signed(elem)
                   ? ((bits = (uint64_t)k) & ~mask) == 0
                   : (bits = (uint64_t)k & mask,
                      k >= -(int64_t)(mask / 2) - 1 && k <= (int64_t)(mask / 2));
    else
        fits = real(x, elem, &bits);
    if (!fits)
        twi_lex_error(x, TWI_LOOP_E_BAD_NUMBER, "`%.*s` is no constant of type %s", shown(x),
                      x->word, tw_elem_name(elem));
    twi_lex_next(x);
    return bits;
}

tw_elem twi_lex_type(twi_lex *x, uint16_t *count) {
    char name[16];
    size_t n = 0;
    while (n < x->length && x->word[n] != 'x' && n + 1 < sizeof name) {
        name[n] = x->word[n];
        n++;
    }
    name[n] = 0;
    tw_elem elem = tw_elem_named(name);
    int64_t k = 1;
    bool fits = elem != TW_NONE;
    if (fits && n < x->length)
        fits = twi_parse_i64(x->word + n + 1, x->length - n - 1, &k) && k >= 2 && k <= 4096;
    if (!fits)
        twi_lex_error(x, TWI_LOOP_E_BAD_TYPE, "a type such as f32 or f32x16 expected, found `%.*s`",
                      shown(x), x->word);
    *count = (uint16_t)k;
    twi_lex_next(x);
    return elem;
}

twi_sym twi_lex_unescaped(twi_lex *x, const char *text, size_t n) {
    char *plain = twi_strndup(&x->ctx->arena, text, n);
    size_t to = 0;
    for (size_t k = 0; k < n; k++) {
        uint64_t byte;
        if (text[k] == '$' && k + 2 < n && hex(text + k + 1, 2, &byte)) {
            plain[to++] = (char)byte;
            k += 2;
        } else {
            plain[to++] = text[k];
        }
    }
    return twi_intern(&x->ctx->names, plain, to);
}

twi_sym twi_lex_name(twi_lex *x) {
    if (x->length == 0 || !is_word(x->word[0]) || x->word[0] == '%' || x->word[0] == '#') {
        twi_lex_error(x, TWI_LOOP_E_EXPECTED, "a name expected, found `%.*s`", shown(x), x->word);
        return 0;
    }
    twi_sym sym = twi_lex_is(x, "-") ? 0 : twi_lex_unescaped(x, x->word, x->length);
    twi_lex_next(x);
    return sym;
}
