/* SPDX-License-Identifier: Apache-2.0
 * The scanner and the expressions of tile IR text: see scan.h.
 */
#include "ir/scan.h"

enum { NESTING = 200 };

twi_loc twi_scan_loc(const twi_scan *s) { return (twi_loc){s->file, (uint32_t)s->at}; }

void twi_scan_fail(twi_scan *s, uint16_t code, const char *format, ...) {
    if (s->failed)
        return;
    s->failed = true;
    twi_sb text;
    twi_sb_init(&text, s->arena);
    va_list args;
    va_start(args, format);
    twi_sb_vprintf(&text, format, args);
    va_end(args);
    twi_error(&s->ir->ctx->diags, code, twi_scan_loc(s), NULL, "%s", twi_sb_text(&text));
}

/* ---- characters and words ---- */
static char peek(const twi_scan *s, size_t ahead) {
    return s->at + ahead < s->n ? s->text[s->at + ahead] : '\0';
}

static bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

void twi_scan_blanks(twi_scan *s) {
    while (peek(s, 0) == ' ' || peek(s, 0) == '\t' || peek(s, 0) == '\r' || peek(s, 0) == '#') {
        if (peek(s, 0) == '#')
            while (s->at < s->n && s->text[s->at] != '\n')
                s->at++;
        else
            s->at++;
    }
}

bool twi_scan_try(twi_scan *s, const char *text) {
    size_t n = strlen(text);
    twi_scan_blanks(s);
    if (s->failed || s->n - s->at < n || memcmp(s->text + s->at, text, n) != 0)
        return false;
    if (is_letter(text[n - 1]) && is_letter(peek(s, n)))
        return false;
    s->at += n;
    return true;
}

void twi_scan_need(twi_scan *s, const char *text) {
    if (!twi_scan_try(s, text))
        twi_scan_fail(s, TWI_E_TEXT, "expected %s", text);
}

bool twi_scan_line_end(twi_scan *s) {
    twi_scan_blanks(s);
    return s->at >= s->n || s->text[s->at] == '\n' || s->text[s->at] == '}';
}

void twi_scan_newline(twi_scan *s) {
    twi_scan_blanks(s);
    if (s->at < s->n && s->text[s->at] != '\n')
        twi_scan_fail(s, TWI_E_TEXT, "expected the end of the line");
    while (!s->failed && s->at < s->n && s->text[s->at] == '\n') {
        s->at++;
        twi_scan_blanks(s);
    }
}

twi_word twi_scan_name(twi_scan *s) {
    twi_scan_blanks(s);
    twi_word w = {s->text + s->at, 0};
    if (!s->failed && is_letter(peek(s, 0)) && !(peek(s, 0) >= '0' && peek(s, 0) <= '9'))
        while (is_letter(peek(s, w.n)) || (peek(s, w.n) == '.' && is_letter(peek(s, w.n + 1))))
            w.n++;
    if (w.n == 0)
        twi_scan_fail(s, TWI_E_TEXT, "expected a name");
    s->at += w.n;
    return w;
}

twi_word twi_scan_word(twi_scan *s) {
    twi_scan_blanks(s);
    twi_word w = {s->text + s->at, 0};
    while (!s->failed && s->at + w.n < s->n && w.at[w.n] != '\0' &&
           !strchr(" \t\r\n,()[]{}", w.at[w.n]))
        w.n++;
    if (w.n == 0)
        twi_scan_fail(s, TWI_E_TEXT, "expected a word");
    s->at += w.n;
    return w;
}

bool twi_scan_is(twi_word word, const char *text) {
    return strlen(text) == word.n && memcmp(word.at, text, word.n) == 0;
}

int64_t twi_scan_int(twi_scan *s) {
    int64_t k = 0;
    size_t n = 0;
    twi_scan_blanks(s);
    if (peek(s, 0) == '-')
        n++;
    while (peek(s, n) >= '0' && peek(s, n) <= '9')
        n++;
    if (s->failed || !twi_parse_i64(s->text + s->at, n, &k))
        twi_scan_fail(s, TWI_E_TEXT, "expected an integer of 64 bits");
    s->at += n;
    return k;
}

twi_sym twi_scan_sym(twi_scan *s) {
    twi_word w = twi_scan_name(s);
    return s->failed ? 0 : twi_intern(&s->ir->ctx->names, w.at, w.n);
}

/* ---- symbols ---- */
uint32_t twi_symbols_get(const twi_symbols *t, twi_sym sym) {
    return sym < t->cap ? t->id[sym] : 0;
}

void twi_symbols_set(twi_scan *s, twi_symbols *t, twi_sym sym, uint32_t id) {
    if (sym == 0 || s->failed)
        return;
    if (sym >= t->cap) {
        uint32_t cap = t->cap ? t->cap : 64u;
        while (cap <= sym)
            cap *= 2u;
        uint32_t *more = TWI_NEW_N(s->arena, uint32_t, cap);
        if (t->cap)
            memcpy(more, t->id, t->cap * sizeof *more);
        t->id = more;
        t->cap = cap;
    }
    if (t->id[sym] != 0)
        twi_scan_fail(s, TWI_E_NAME_TWICE, "%s is declared twice",
                      twi_text(&s->ir->ctx->names, sym));
    t->id[sym] = id;
}

static uint32_t known(twi_scan *s, const twi_symbols *t, const char *what) {
    size_t start = s->at;
    twi_sym sym = twi_scan_sym(s);
    uint32_t id = twi_symbols_get(t, sym);
    if (!s->failed && id == 0) {
        s->at = start;
        twi_scan_fail(s, TWI_E_TEXT_NAME, "no %s is named %s", what,
                      twi_text(&s->ir->ctx->names, sym));
    }
    return id;
}

twi_id twi_scan_value(twi_scan *s) { return known(s, &s->values, "value"); }

static uint32_t axis_named(const twi_scan *s, twi_sym sym) {
    for (uint32_t a = s->ir->axis.n; a-- > 1;)
        if (s->ir->axis.at[a].name == sym)
            for (uint32_t r = s->region; r != 0; r = s->ir->region.at[r].parent)
                if (r == s->ir->axis.at[a].region)
                    return a;
    return 0;
}

uint32_t twi_scan_axis(twi_scan *s) {
    twi_sym sym = twi_scan_sym(s);
    uint32_t a = s->failed ? 0 : axis_named(s, sym);
    if (!s->failed && a == 0)
        twi_scan_fail(s, TWI_E_TEXT_NAME, "no axis is named %s here",
                      twi_text(&s->ir->ctx->names, sym));
    return a;
}

uint64_t twi_scan_axes(twi_scan *s) {
    uint64_t set = 0;
    if (!twi_scan_try(s, "{"))
        return 0;
    do
        set |= UINT64_C(1) << twi_scan_axis(s);
    while (!s->failed && twi_scan_try(s, ","));
    twi_scan_need(s, "}");
    return set;
}

/* ---- index expressions ---- */
static bool deeper(twi_scan *s) {
    if (s->depth < NESTING)
        s->depth++;
    else
        twi_scan_fail(s, TWI_E_DEEP, "an expression is nested too deep");
    return !s->failed;
}

static twi_ix of_two(twi_scan *s, twi_ix_op op) {
    twi_scan_need(s, "(");
    twi_ix a = twi_scan_ix(s);
    twi_scan_need(s, ",");
    twi_ix b = twi_scan_ix(s);
    twi_scan_need(s, ")");
    return s->failed ? 0 : twi_ix_make(s->ir, op, a, b);
}

static twi_ix of_axis(twi_scan *s, twi_ix_op op) {
    twi_scan_need(s, "(");
    uint32_t a = twi_scan_axis(s);
    twi_scan_need(s, ")");
    return s->failed ? 0 : twi_ix_leaf(s->ir, op, a);
}

static twi_ix named(twi_scan *s) {
    size_t start = s->at;
    twi_word w = twi_scan_name(s);
    if (s->failed)
        return 0;
    if (peek(s, 0) == '(') {
        if (twi_scan_is(w, "min") || twi_scan_is(w, "max"))
            return of_two(s, w.at[1] == 'i' ? TWI_IX_MIN : TWI_IX_MAX);
        if (twi_scan_is(w, "lo") || twi_scan_is(w, "hi"))
            return of_axis(s, w.at[0] == 'l' ? TWI_IX_LO : TWI_IX_HI);
    }
    twi_sym sym = twi_lookup(&s->ir->ctx->names, w.at, w.n);
    uint32_t axis = sym ? axis_named(s, sym) : 0, dim = twi_symbols_get(&s->dims, sym);
    if (axis)
        return twi_ix_leaf(s->ir, TWI_IX_AXIS, axis);
    if (dim)
        return twi_ix_leaf(s->ir, TWI_IX_DIM, dim);
    s->at = start;
    twi_scan_fail(s, TWI_E_TEXT_NAME, "no axis or dim is named %.*s here",
                  (int)(w.n < 200 ? w.n : 200), w.at);
    return 0;
}

static twi_ix factor(twi_scan *s) {
    twi_ix x = 0;
    if (!deeper(s))
        return 0;
    if (twi_scan_try(s, "(")) {
        x = twi_scan_ix(s);
        twi_scan_need(s, ")");
    } else if (twi_scan_try(s, "$")) {
        twi_id v = twi_scan_value(s);
        x = s->failed ? 0 : twi_ix_leaf(s->ir, TWI_IX_VALUE, v);
    } else if (peek(s, 0) == '-' || (peek(s, 0) >= '0' && peek(s, 0) <= '9')) {
        int64_t k = twi_scan_int(s);
        x = s->failed ? 0 : twi_ix_const(s->ir, k);
    } else {
        x = named(s);
    }
    s->depth--;
    return x;
}

static twi_ix chain(twi_scan *s, bool sum) {
    static const struct {
        const char *text;
        twi_ix_op op;
        bool sum;
    } ops[] = {{"+", TWI_IX_ADD, true},
               {"-", TWI_IX_SUB, true},
               {"*", TWI_IX_MUL, false},
               {"//", TWI_IX_DIV, false},
               {"%", TWI_IX_MOD, false}};
    twi_ix x = sum ? chain(s, false) : factor(s);
    for (bool more = true; more && !s->failed;) {
        more = false;
        for (size_t k = 0; k < sizeof ops / sizeof *ops && !more; k++)
            if (ops[k].sum == sum && twi_scan_try(s, ops[k].text)) {
                twi_ix y = sum ? chain(s, false) : factor(s);
                x = s->failed ? 0 : twi_ix_make(s->ir, ops[k].op, x, y);
                more = true;
                if (x == 0)
                    twi_scan_fail(s, TWI_E_DEEP, "an expression is nested too deep");
            }
    }
    return x;
}

twi_ix twi_scan_ix(twi_scan *s) {
    twi_ix x = chain(s, true);
    if (x == 0)
        twi_scan_fail(s, TWI_E_DEEP, "an expression is nested too deep");
    return x;
}

/* ---- numbers ---- */
tw_elem twi_scan_elem(twi_scan *s) {
    twi_word w = twi_scan_name(s);
    for (unsigned e = 1; !s->failed && e < TW_ELEMS; e++)
        if (twi_scan_is(w, tw_elem_name((tw_elem)e))) {
            if (!twi_elem_is_built((tw_elem)e))
                twi_scan_fail(s, TWI_E_NOT_BUILT, "type %s is not built yet",
                              tw_elem_name((tw_elem)e));
            return (tw_elem)e;
        }
    twi_scan_fail(s, TWI_E_TEXT, "expected an element type");
    return TW_NONE;
}

/* The number's table entry without keeping it: constants that are known have none. */
static bool number_bits(twi_scan *s, twi_word w, tw_elem elem, uint64_t *bits) {
    uint32_t before = s->ir->num.n, num = twi_num_decimal(s->ir, w.at, w.n);
    bool fine = num != 0 && twi_num_bits(&s->ir->num.at[num], elem, true, bits);
    s->ir->num.n = before;
    return fine;
}

static bool hex(twi_word w, uint64_t *bits) {
    *bits = 0;
    if (w.n < 3 || w.n > 18 || w.at[0] != '0' || w.at[1] != 'x')
        return false;
    for (size_t k = 2; k < w.n; k++) {
        char c = w.at[k];
        int d = c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
        if (d < 0)
            return false;
        *bits = *bits << 4 | (uint64_t)d;
    }
    return true;
}

uint64_t twi_scan_bits(twi_scan *s, tw_elem elem) {
    uint64_t bits = 0;
    size_t size = tw_elem_size(elem) * 8u;
    if (twi_scan_try(s, "bits")) {
        twi_word w = twi_scan_word(s);
        if (!s->failed && (!hex(w, &bits) || (size < 64 && bits >> size != 0)))
            twi_scan_fail(s, TWI_E_TEXT, "expected a pattern of %s", tw_elem_name(elem));
        return bits;
    }
    twi_word w = twi_scan_word(s);
    if (s->failed)
        return 0;
    if (elem == TW_BOOL) {
        bits = twi_scan_is(w, "true");
        if (!bits && !twi_scan_is(w, "false"))
            twi_scan_fail(s, TWI_E_TEXT, "expected true or false");
    } else if (!number_bits(s, w, elem, &bits)) {
        twi_scan_fail(s, TWI_E_TEXT, "expected a number of %s", tw_elem_name(elem));
    }
    return bits;
}

static uint32_t put_num(twi_scan *s, twi_num num) {
    num.depth = 1;
    twi_push(s->ir->arena, &s->ir->num, num);
    return s->ir->num.n - 1u;
}

static double real_word(twi_scan *s) {
    double v = 0;
    twi_word w = twi_scan_word(s);
    if (!s->failed && !twi_parse_f64(w.at, w.n, &v))
        twi_scan_fail(s, TWI_E_TEXT, "expected a number");
    return v;
}

static uint32_t num_operation(twi_scan *s) {
    static const char *const signs[] = {"+", "-", "*", "/"};
    static const twi_num_op ops[] = {TWI_NUM_ADD, TWI_NUM_SUB, TWI_NUM_MUL, TWI_NUM_DIV};
    uint32_t a = twi_scan_num(s), num = 0;
    int k = 0;
    while (k < 4 && !twi_scan_try(s, signs[k]))
        k++;
    if (k == 4)
        twi_scan_fail(s, TWI_E_TEXT, "expected + - * or /");
    uint32_t b = twi_scan_num(s);
    twi_scan_need(s, ")");
    if (!s->failed && (num = twi_num_make(s->ir, ops[k], a, b)) == 0)
        twi_scan_fail(s, TWI_E_DEEP, "an expression is nested too deep");
    return num;
}

uint32_t twi_scan_num(twi_scan *s) {
    uint32_t num = 0;
    if (!deeper(s))
        return 0;
    if (twi_scan_try(s, "(")) {
        num = num_operation(s);
    } else if (twi_scan_try(s, "ix")) {
        twi_scan_need(s, "(");
        twi_ix x = twi_scan_ix(s);
        twi_scan_need(s, ")");
        if (!s->failed && s->ir->ix.at[x].axes != 0)
            twi_scan_fail(s, TWI_E_CONST_DIMS, "a constant of positions");
        num = s->failed ? 0 : put_num(s, (twi_num){.op = TWI_NUM_IX, .ix = x});
    } else if (twi_scan_try(s, "real")) {
        twi_num n = {.op = TWI_NUM_VALUE};
        twi_scan_need(s, "(");
        n.hi = real_word(s);
        twi_scan_need(s, ",");
        n.lo = real_word(s);
        twi_scan_need(s, ")");
        num = put_num(s, n);
    } else {
        int64_t k = twi_scan_int(s);
        num = s->failed ? 0 : twi_num_int(s->ir, k);
    }
    s->depth--;
    return num;
}
