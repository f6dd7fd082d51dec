/* SPDX-License-Identifier: Apache-2.0
 * Numbers as text, free of the host's locale. The C library does the correctly rounded work; the
 * trick is to show it no decimal point: 12.5e3 is read as 125e2, and of what it prints only the
 * digits and the exponent are taken. So no locale has to be switched, not even for this thread.
 */
#include "base/strbuf.h"

#include <errno.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

/* A positive decimal: 0.d1d2d3.. times 10^exponent would be digits with the point before the first;
 * here the point stands after the first. */
typedef struct {
    char digit[24];
    int n, exponent;
} decimal;

/* The n digits nearest to v. */
static decimal round_to(double v, int n) {
    char text[64];
    decimal d = {.n = 0};
    (void)snprintf(text, sizeof text, "%.*e", n - 1, v);
    const char *p = text;
    for (; *p && *p != 'e'; p++)
        if (*p >= '0' && *p <= '9' && d.n < n)
            d.digit[d.n++] = *p;
    d.exponent = *p ? (int)strtol(p + 1, NULL, 10) : 0;
    return d;
}

/* The next decimal of as many digits. */
static void step_up(decimal *d) {
    int i = d->n - 1;
    while (i >= 0 && d->digit[i] == '9')
        d->digit[i--] = '0';
    if (i >= 0) {
        d->digit[i]++;
    } else {
        d->digit[0] = '1';
        d->exponent++;
    }
}

static bool reads_back(const decimal *d, double v, bool single) {
    char text[64];
    (void)snprintf(text, sizeof text, "%.*se%d", d->n, d->digit, d->exponent - (d->n - 1));
    return single ? strtof(text, NULL) == (float)v : strtod(text, NULL) == v;
}

/* The fewest digits that read back to v > 0. At a power of two the interval below is half as wide,
 * so the nearest decimal may fail where its upper neighbour reads back. */
static decimal shortest(double v, bool single) {
    bool normal = v >= (single ? (double)FLT_MIN : DBL_MIN);
    int most = single ? FLT_DECIMAL_DIG : DBL_DECIMAL_DIG;
    decimal d = {.n = 0};
    /* A normal number's short decimals show as trailing zeros of FLT_DIG or DBL_DIG digits. */
    for (int n = !normal ? 1 : single ? FLT_DIG : DBL_DIG; n <= most; n++) {
        d = round_to(v, n);
        if (reads_back(&d, v, single))
            break;
        decimal up = d;
        step_up(&up);
        if (reads_back(&up, v, single)) {
            d = up;
            break;
        }
    }
    while (d.n > 1 && d.digit[d.n - 1] == '0')
        d.n--;
    return d;
}

static void add_decimal(twi_sb *sb, const decimal *d) {
    int e = d->exponent;
    if (e < -4 || e >= 16) {
        twi_sb_char(sb, d->digit[0]);
        if (d->n > 1)
            twi_sb_printf(sb, ".%.*s", d->n - 1, d->digit + 1);
        twi_sb_printf(sb, "e%c%02d", e < 0 ? '-' : '+', abs(e));
        return;
    }
    if (e < 0) {
        twi_sb_printf(sb, "0.%.*s%.*s", -e - 1, "000", d->n, d->digit);
        return;
    }
    for (int i = 0; i <= e || i < d->n; i++) {
        if (i == e + 1)
            twi_sb_char(sb, '.');
        twi_sb_char(sb, i < d->n ? d->digit[i] : '0');
    }
}

/* What has no digits: false if v has. */
static bool add_special(twi_sb *sb, double v) {
    if (isnan(v)) {
        twi_sb_str(sb, "nan");
        return true;
    }
    if (signbit(v))
        twi_sb_char(sb, '-');
    if (isinf(v))
        twi_sb_str(sb, "inf");
    return isinf(v);
}

static void add_shortest(twi_sb *sb, double v, bool single) {
    if (add_special(sb, v))
        return;
    if (v == 0) {
        twi_sb_char(sb, '0');
        return;
    }
    decimal d = shortest(fabs(v), single);
    add_decimal(sb, &d);
}

void twi_sb_f64(twi_sb *sb, double v) { add_shortest(sb, v, false); }

void twi_sb_f32(twi_sb *sb, float v) { add_shortest(sb, (double)v, true); }

void twi_sb_fixed(twi_sb *sb, double v, int digits) {
    if (add_special(sb, v))
        return;
    char text[512]; /* DBL_MAX has 309 digits before the point */
    digits = digits < 0 ? 0 : digits > 100 ? 100 : digits;
    (void)snprintf(text, sizeof text, "%.*f", digits, fabs(v));
    size_t whole = strspn(text, "0123456789");
    twi_sb_add(sb, text, whole);
    if (digits)
        twi_sb_printf(sb, ".%s", text + strlen(text) - digits);
}

static int digit_value(char c) {
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : 99;
}

static bool equals(const char *text, size_t n, const char *what) {
    return strlen(what) == n && memcmp(text, what, n) == 0;
}

/* Reads digits around at most one point into out; *shift is how many stood after it. */
static size_t scan_digits(const char *text, size_t n, int base, char *out, size_t *len,
                          int64_t *shift) {
    size_t i = 0;
    bool point = false;
    *shift = 0;
    *len = 0;
    for (; i < n; i++) {
        if (text[i] == '.' && !point) {
            point = true;
        } else if (digit_value(text[i]) < base) {
            out[(*len)++] = text[i];
            *shift += point;
        } else {
            break;
        }
    }
    return i;
}

/* An exponent, held to a range far outside what any number can use. */
static bool scan_exponent(const char *text, size_t n, int64_t *e) {
    bool minus = n && text[0] == '-';
    size_t i = n && (text[0] == '-' || text[0] == '+');
    if (i == n)
        return false;
    *e = 0;
    for (; i < n; i++) {
        if (digit_value(text[i]) > 9)
            return false;
        if (*e < 100000000)
            *e = *e * 10 + (text[i] - '0');
    }
    if (minus)
        *e = -*e;
    return true;
}

enum { LONGEST = 4000 }; /* no literal of use is longer; bounds the stack */

bool twi_parse_f64(const char *text, size_t n, double *v) {
    bool minus = n && text[0] == '-';
    if (n && (text[0] == '-' || text[0] == '+'))
        text++, n--;
    if (equals(text, n, "inf") || equals(text, n, "nan")) {
        double magnitude = text[0] == 'i' ? (double)INFINITY : (double)NAN;
        *v = minus ? -magnitude : magnitude;
        return true;
    }
    bool hex = n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
    if (n > LONGEST)
        return false;
    char plain[LONGEST + 48];
    size_t len = 0, head = hex ? 2 : 0;
    int64_t shift = 0, e = 0;
    memcpy(plain, "0x", 2);
    size_t i = head + scan_digits(text + head, n - head, hex ? 16 : 10, plain + head, &len, &shift);
    if (len == 0)
        return false;
    if (i < n) {
        char mark = text[i++];
        if (hex ? (mark != 'p' && mark != 'P') : (mark != 'e' && mark != 'E'))
            return false;
        if (!scan_exponent(text + i, n - i, &e))
            return false;
    }
    e -= hex ? 4 * shift : shift;
    (void)snprintf(plain + head + len, 40, "%c%lld", hex ? 'p' : 'e', (long long)e);
    double magnitude = strtod(plain, NULL);
    *v = minus ? -magnitude : magnitude;
    return true;
}

bool twi_parse_i64(const char *text, size_t n, int64_t *v) {
    bool minus = n && text[0] == '-';
    if (n && (text[0] == '-' || text[0] == '+'))
        text++, n--;
    unsigned base = 10;
    if (n > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
        base = 16;
        text += 2;
        n -= 2;
    }
    if (n == 0)
        return false;
    uint64_t limit = (uint64_t)INT64_MAX + minus, sum = 0;
    for (size_t i = 0; i < n; i++) {
        unsigned digit = (unsigned)digit_value(text[i]);
        if (digit >= base || sum > (limit - digit) / base)
            return false;
        sum = sum * base + digit;
    }
    *v = minus ? (int64_t)(0 - sum) : (int64_t)sum;
    return true;
}
