/* SPDX-License-Identifier: Apache-2.0
 * Lines of plan text below the header: frame, value, stage, entry.
 */
#include "plan/codes.h"
#include "plan/parse.h"
#include "plan/scope.h"
#include "plan/words.h"

static const char *word(const twi_plan_reader *r) { return r->text + r->tok; }

static bool need(twi_plan_reader *r, const char *what) {
    return twi_plan_next(r) ||
           twi_plan_fail(r, TWI_PLAN_EXPECTED, "%s is expected where the line ends", what);
}

static bool read_axis(twi_plan_reader *r, unsigned *axis) {
    if (!need(r, "an axis"))
        return false;
    return twi_axis_named(r->ir, r->arena, r->par, word(r), r->len, axis) ||
           twi_plan_fail(r, TWI_PLAN_AXIS, "'%.*s' is no axis of this scope", (int)r->len, word(r));
}

/* Words that end a map: they follow it on a line. */
static bool ends_map(const twi_plan_reader *r) {
    static const char *const words[] = {";",       "order", "around", "pad",
                                        "swizzle", "via",   "window", "copy"};
    for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)
        if (twi_plan_is(r, words[i]))
            return true;
    return false;
}

static bool read_map(twi_plan_reader *r, twi_map *m) {
    size_t from = r->at, end = r->at, bad;
    twi_plan_reader ahead = *r;
    while (twi_plan_next(&ahead) && !ends_map(&ahead))
        if (!twi_plan_is(&ahead, ","))
            end = ahead.at;
    /* A comma before a word that ends the map belongs to the line; one before `;` or at the end is
     * a fault. */
    if (!ahead.len || twi_plan_is(&ahead, ";"))
        end = ahead.tok;
    if (twi_map_parse(r->text + from, end - from, m, &bad)) {
        r->at = end;
        return true;
    }
    r->at = from + bad;
    twi_plan_next(r);
    if (r->len)
        return twi_plan_fail(
            r, TWI_PLAN_MAP,
            "'%.*s' fits no map: digits are LEVEL EXTENT[@STRIDE], at most %d, set "
            "apart by commas",
            (int)r->len, word(r), TWI_MAX_DIGITS);
    return twi_plan_fail(r, TWI_PLAN_MAP, "a digit is missing where the map ends");
}

/* AXIS = digits ; AXIS = digits .. */
static bool read_maps(twi_plan_reader *r, uint64_t *axes, twi_map *maps) {
    do {
        unsigned axis;
        if (!read_axis(r, &axis))
            return false;
        if (*axes >> axis & 1)
            return twi_plan_fail(r, TWI_PLAN_TWICE, "axis '%.*s' is mapped twice", (int)r->len,
                                 word(r));
        if (!twi_plan_expect(r, "=") || !read_map(r, &maps[axis]))
            return false;
        *axes |= UINT64_C(1) << axis;
    } while (twi_plan_take(r, ";"));
    return true;
}

/* The word read last is AXIS.LEVEL or AXIS.LEVEL.N. */
static bool find_digit(twi_plan_reader *r, const twi_frame *f, twi_axis_digit *out) {
    size_t len = r->len;
    int64_t nth = 1;
    const char *text = word(r);
    size_t dot = len;
    while (dot > 0 && text[dot - 1] != '.')
        dot--;
    if (dot > 1 && twi_parse_i64(text + dot, len - dot, &nth)) {
        len = dot - 1;
        for (dot = len; dot > 0 && text[dot - 1] != '.';)
            dot--;
    }
    unsigned axis;
    if (dot < 2 || !twi_axis_named(r->ir, r->arena, r->par, text, dot - 1, &axis))
        return twi_plan_fail(r, TWI_PLAN_AXIS, "'%.*s' does not start with an axis of this scope",
                             (int)r->len, text);
    const twi_map *m = &f->map[axis];
    for (unsigned i = 0; (f->axes >> axis & 1) && i < m->n; i++) {
        const char *level = twi_level_name(m->d[i].level);
        if (strlen(level) == len - dot && memcmp(level, text + dot, len - dot) == 0 && --nth == 0) {
            *out = (twi_axis_digit){(uint8_t)axis, (uint8_t)i};
            return true;
        }
    }
    return twi_plan_fail(r, TWI_PLAN_DIGIT, "frame '%s' has no digit '%.*s'",
                         twi_text(&r->ctx->names, f->name), (int)r->len, text);
}

static bool read_count(twi_plan_reader *r, int64_t least, int64_t most, int64_t *out) {
    if (!need(r, "a number"))
        return false;
    return (twi_parse_i64(word(r), r->len, out) && *out >= least && *out <= most) ||
           twi_plan_fail(r, TWI_PLAN_NUMBER, "a number from %lld to %lld is expected, not '%.*s'",
                         (long long)least, (long long)most, (int)r->len, word(r));
}

static bool read_order(twi_plan_reader *r, twi_frame *f) {
    f->loops = 0;
    do {
        twi_axis_digit d;
        if (!need(r, "AXIS.loop") || !find_digit(r, f, &d))
            return false;
        if (f->loops == TWI_MAX_LOOPS)
            return twi_plan_fail(r, TWI_PLAN_MANY, "an order has at most %d loops", TWI_MAX_LOOPS);
        for (unsigned i = 0; i < f->loops; i++)
            if (f->order[i].axis == d.axis && f->order[i].digit == d.digit)
                return twi_plan_fail(r, TWI_PLAN_TWICE, "'%.*s' is ordered twice", (int)r->len,
                                     word(r));
        f->order[f->loops++] = d;
    } while (twi_plan_take(r, ","));
    return true;
}

/* swizzle SPAN [unit BYTES] [rows N] */
static bool read_swizzle(twi_plan_reader *r, twi_swizzle *s) {
    int64_t span, unit = TWI_SWIZZLE_UNIT, rows = 1;
    if (!read_count(r, 1, TWI_SWIZZLE_SPAN, &span) ||
        (twi_plan_take(r, "unit") && !read_count(r, 1, TWI_SWIZZLE_UNIT, &unit)) ||
        (twi_plan_take(r, "rows") && !read_count(r, 1, TWI_SWIZZLE_ROWS, &rows)))
        return false;
    *s = (twi_swizzle){(uint16_t)span, (uint8_t)unit, (uint8_t)rows};
    return true;
}

static unsigned frame_named(const twi_plan *p, twi_sym name) {
    unsigned i = 0;
    while (i < p->frames && p->frame[i].name != name)
        i++;
    return i;
}

bool twi_plan_read_frame(twi_plan_reader *r) {
    if (!need(r, "the frame's name"))
        return false;
    twi_frame f =
        twi_frame_new(r->arena, twi_intern(&r->ctx->names, word(r), r->len), r->ir->axis.n);
    unsigned at = frame_named(r->p, f.name);
    if (at < r->p->frames && !r->again)
        return twi_plan_fail(r, TWI_PLAN_TWICE, "frame '%.*s' is given twice", (int)r->len,
                             word(r));
    if (at == TWI_MAX_FRAMES)
        return twi_plan_fail(r, TWI_PLAN_MANY, "a scope has at most %d frames", TWI_MAX_FRAMES);
    if (!twi_plan_expect(r, ":") || !read_maps(r, &f.axes, f.map))
        return false;
    for (unsigned a = 0; at < r->p->frames && a < f.ids; a++)
        if ((r->p->frame[at].axes & ~f.axes) >> a & 1)
            f.map[a] = r->p->frame[at].map[a];
    if (at < r->p->frames)
        f.axes |= r->p->frame[at].axes;
    twi_frame_default_order(&f);
    if (twi_plan_take(r, "order") && !read_order(r, &f))
        return false;
    int64_t around = 0;
    if (twi_plan_take(r, "around") && !read_count(r, 1, f.loops, &around))
        return false;
    f.around = (uint8_t)around;
    r->p->frame[at] = f;
    r->p->frames = (uint8_t)(at == r->p->frames ? at + 1 : r->p->frames);
    return true;
}

static bool read_value_name(twi_plan_reader *r, twi_id *v) {
    if (!need(r, "a value"))
        return false;
    twi_id_list all = {0};
    *v = twi_value_named(r->ir, word(r), r->len);
    twi_scope_values(r->arena, r->ir, r->par, &all);
    for (uint32_t i = 0; *v && i < all.n; i++)
        if (all.at[i] == *v)
            return true;
    return twi_plan_fail(r, TWI_PLAN_VALUE, "'%.*s' is no value of this scope", (int)r->len,
                         word(r));
}

static bool read_word_of(twi_plan_reader *r, unsigned set, const char *what, uint8_t *out) {
    static const char *const otherwise[TWI_WORD_SETS] = {
        [TWI_WORDS_FOLD] = "time", [TWI_WORDS_COPY] = "sync"};
    if (!need(r, what))
        return false;
    for (unsigned i = 0; i < TWI_MAX_WORDS; i++) {
        const char *w = twi_plan_words[set][i];
        if (w && twi_plan_is(r, w)) {
            *out = (uint8_t)i;
            return true;
        }
    }
    if (otherwise[set] && twi_plan_is(r, otherwise[set])) {
        *out = 0;
        return true;
    }
    return twi_plan_fail(r, TWI_PLAN_EXPECTED, "'%.*s' is not %s", (int)r->len, word(r), what);
}

static bool read_frame_name(twi_plan_reader *r, uint8_t *frame) {
    if (!need(r, "a frame"))
        return false;
    *frame = (uint8_t)frame_named(r->p, twi_intern(&r->ctx->names, word(r), r->len));
    return *frame < r->p->frames ||
           twi_plan_fail(r, TWI_PLAN_FRAME,
                         "'%.*s' is no frame of this plan: frames stand before "
                         "values",
                         (int)r->len, word(r));
}

/* The word read last starts a part of a value line. */
static bool read_part(twi_plan_reader *r, twi_place *v) {
    if (twi_plan_is(r, "in"))
        return read_frame_name(r, &v->frame);
    if (twi_plan_is(r, "keep"))
        return read_word_of(r, TWI_WORDS_KEEP, "stripe, shared or scratch", &v->keep);
    if (twi_plan_is(r, "fold"))
        return read_word_of(r, TWI_WORDS_FOLD, "time or weight", &v->fold);
    if (twi_plan_is(r, "atom"))
        return read_word_of(r, TWI_WORDS_ATOM, "fma, muladd, dpi8, dpbf16 or tdpbf16", &v->atom);
    if (twi_plan_is(r, "pad")) {
        int64_t k;
        if (!read_count(r, 1, UINT16_MAX, &k))
            return false;
        v->pad = (uint16_t)k;
        return true;
    }
    if (twi_plan_is(r, "swizzle"))
        return read_swizzle(r, &v->swizzle);
    if (!twi_plan_is(r, "to"))
        return twi_plan_fail(r, TWI_PLAN_EXPECTED,
                             "a value takes in, keep, fold, atom, to, pad, swizzle, not '%.*s'",
                             (int)r->len, word(r));
    if (!read_frame_name(r, &v->to) || !twi_plan_expect(r, "via"))
        return false;
    v->to++;
    return read_word_of(r, TWI_WORDS_VIA, "rename, private, lanes or shared", &v->via);
}

bool twi_plan_read_value(twi_plan_reader *r) {
    twi_place v = {0};
    if (!read_value_name(r, &v.value))
        return false;
    if (twi_plan_place(r->p, v.value) && !r->again)
        return twi_plan_fail(r, TWI_PLAN_TWICE, "value '%.*s' is placed twice", (int)r->len,
                             word(r));
    if (!twi_plan_expect(r, ":") || !need(r, "in, keep, fold, atom or to"))
        return false;
    do {
        if (twi_plan_is(r, ","))
            continue;
        if (!read_part(r, &v))
            return false;
    } while (twi_plan_next(r));
    *twi_plan_set_place(r->arena, r->p, v.value) = v;
    return true;
}

/* Adds a digit, or all inside digits of an axis, to a stage's order. */
static bool read_stage_digits(twi_plan_reader *r, const twi_frame *f, twi_stage_plan *s) {
    unsigned axis;
    twi_axis_digit d = {0};
    bool whole = twi_axis_named(r->ir, r->arena, r->par, word(r), r->len, &axis);
    if (!whole && !find_digit(r, f, &d))
        return false;
    const twi_map *m = &f->map[whole ? axis : d.axis];
    unsigned from = whole ? 0 : d.digit, to = whole ? m->n : d.digit + 1u;
    for (unsigned i = from; i < to; i++) {
        if (whole && !twi_stage_inside(m->d[i].level))
            continue;
        if (s->n == TWI_MAX_LOOPS)
            return twi_plan_fail(r, TWI_PLAN_MANY, "a stage has at most %d digits", TWI_MAX_LOOPS);
        s->order[s->n++] = (twi_axis_digit){(uint8_t)(whole ? axis : d.axis), (uint8_t)i};
    }
    return true;
}

static bool read_stage_part(twi_plan_reader *r, const twi_frame *f, twi_stage_plan *s) {
    int64_t k;
    if (twi_plan_is(r, "order")) {
        for (;;) {
            twi_plan_reader before = *r;
            if (!twi_plan_next(r) || twi_plan_is(r, ",") || ends_map(r)) {
                *r = before;
                return s->n || twi_plan_fail(r, TWI_PLAN_EXPECTED, "digits follow 'order'");
            }
            if (!read_stage_digits(r, f, s))
                return false;
        }
    }
    if (twi_plan_is(r, "pad")) {
        bool good = read_count(r, 1, 1024, &k);
        s->pad = good ? (uint32_t)k : 0;
        return good;
    }
    if (twi_plan_is(r, "window")) {
        bool good = read_count(r, 1, 8, &k);
        s->window = good ? (uint8_t)k : 1;
        return good;
    }
    if (twi_plan_is(r, "ahead")) {
        bool good = read_count(r, 1, 64, &k);
        s->ahead = good ? (uint8_t)k : 0;
        return good;
    }
    if (twi_plan_is(r, "copy") && !s->copy)
        twi_stage_add_copy(r->arena, s, r->ir->axis.n);
    if (twi_plan_is(r, "copy"))
        return read_maps(r, &s->copy_axes, s->copy);
    if (twi_plan_is(r, "via")) {
        twi_plan_reader ahead = *r;
        if (!twi_plan_next(&ahead) || !twi_plan_is(&ahead, "bulk"))
            return read_word_of(r, TWI_WORDS_COPY, "sync, regs or async", &s->via);
        *r = ahead;
        return twi_plan_fail(r, TWI_PLAN_LATER,
                             "'via %.*s' is not built yet: stages copy by sync, regs or async",
                             (int)r->len, word(r));
    }
    if (twi_plan_is(r, "swizzle"))
        return read_swizzle(r, &s->swizzle);
    return twi_plan_fail(r, TWI_PLAN_EXPECTED,
                         "a stage takes order, pad, swizzle, copy, via, window, ahead, not '%.*s'",
                         (int)r->len, word(r));
}

bool twi_plan_read_stage(twi_plan_reader *r) {
    twi_stage_plan s = {.window = 1};
    unsigned at = 0;
    if (!read_value_name(r, &s.value))
        return false;
    while (at < r->p->stages && r->p->stage[at].value != s.value)
        at++;
    if (at < r->p->stages && !r->again)
        return twi_plan_fail(r, TWI_PLAN_TWICE, "value '%.*s' is staged twice", (int)r->len,
                             word(r));
    if (at == TWI_MAX_STAGES)
        return twi_plan_fail(r, TWI_PLAN_MANY, "a scope has at most %d stages", TWI_MAX_STAGES);
    const twi_place *place = twi_plan_place(r->p, s.value);
    const twi_frame *f = &r->p->frame[place ? place->frame : 0];
    if (!r->p->frames)
        return twi_plan_fail(r, TWI_PLAN_FRAME, "frames stand before stages");
    if (!twi_plan_expect(r, ":") || !need(r, "shared or scratch"))
        return false;
    s.shared = twi_plan_is(r, "shared");
    if (!s.shared && !twi_plan_is(r, "scratch"))
        return twi_plan_fail(r, TWI_PLAN_EXPECTED, "a stage is shared or scratch, not '%.*s'",
                             (int)r->len, word(r));
    while (twi_plan_next(r))
        if (!twi_plan_is(r, ",") && !read_stage_part(r, f, &s))
            return false;
    r->p->stage[at] = s;
    r->p->stages = (uint8_t)(at == r->p->stages ? at + 1 : r->p->stages);
    return true;
}

static bool read_order_of_groups(twi_plan_reader *r) {
    static const char *const orders = "rows, cols, band N or hilbert";
    r->p->order = TWI_GROUPS_ROWS;
    r->p->band = 0;
    twi_plan_reader ahead = *r;
    if (twi_plan_next(&ahead) && twi_plan_is(&ahead, "rows")) {
        *r = ahead;
        return true;
    }
    return read_word_of(r, TWI_WORDS_GROUPS, orders, &r->p->order) &&
           (r->p->order != TWI_GROUPS_BAND || read_count(r, 1, INT32_MAX, &r->p->band));
}

bool twi_plan_read_launch(twi_plan_reader *r) {
    if ((r->p->order || r->p->persistent) && !r->again)
        return twi_plan_fail(r, TWI_PLAN_TWICE, "a launch is described twice");
    if (!need(r, "order or persistent"))
        return false;
    do {
        bool good = false;
        if (twi_plan_is(r, ","))
            continue;
        if (twi_plan_is(r, "order"))
            good = read_order_of_groups(r);
        else if (twi_plan_is(r, "persistent"))
            good = read_count(r, 1, INT32_MAX, &r->p->persistent);
        else if (twi_plan_is(r, "roles"))
            return twi_plan_fail(r, TWI_PLAN_LATER, "'roles' are not built yet");
        else
            return twi_plan_fail(r, TWI_PLAN_EXPECTED,
                                 "a launch takes order and persistent, not '%.*s'", (int)r->len,
                                 word(r));
        if (!good)
            return false;
    } while (twi_plan_next(r));
    return true;
}

static unsigned array_named(const twi_plan_reader *r) {
    for (unsigned a = 1; a < r->ir->array.n; a++)
        if (twi_plan_is(r, twi_text(&r->ctx->names, r->ir->array.at[a].name)))
            return a;
    return 0;
}

/* "align16 X Y align32 Z" up to `;` or the end. */
static bool read_facts(twi_plan_reader *r, twi_entry_plan *e) {
    int64_t bytes = 0;
    twi_reserve(r->arena, &e->align, r->ir->array.n);
    e->align.n = r->ir->array.n;
    memset(e->align.at, 0, e->align.n * sizeof e->align.at[0]);
    for (;;) {
        twi_plan_reader before = *r;
        if (!twi_plan_next(r) || twi_plan_is(r, ";")) {
            *r = before;
            return bytes || twi_plan_fail(r, TWI_PLAN_EXPECTED, "alignN is expected after ':'");
        }
        bool fact = r->len > 5 && memcmp(word(r), "align", 5) == 0;
        if (fact && twi_parse_i64(word(r) + 5, r->len - 5, &bytes)) {
            if (bytes < 1 || bytes > 4096 || (bytes & (bytes - 1)))
                return twi_plan_fail(r, TWI_PLAN_NUMBER,
                                     "'%.*s': alignments are powers of two up to 4096", (int)r->len,
                                     word(r));
            continue;
        }
        if (!bytes)
            return twi_plan_fail(r, TWI_PLAN_EXPECTED, "alignN is expected, not '%.*s'",
                                 (int)r->len, word(r));
        unsigned array = array_named(r);
        if (!array)
            return twi_plan_fail(r, TWI_PLAN_ARRAY, "'%.*s' is no array of the kernel", (int)r->len,
                                 word(r));
        e->align.at[array] = (uint32_t)bytes;
    }
}

bool twi_plan_read_entry(twi_plan_reader *r) {
    if (r->p->scope || r->p->second)
        return twi_plan_fail(r, TWI_PLAN_EXPECTED, "entries stand in the block of scope 0");
    do {
        if (!need(r, "an entry's name"))
            return false;
        twi_entry_plan e = {.name = twi_intern(&r->ctx->names, word(r), r->len)};
        for (uint32_t i = 0; i < r->p->entry.n; i++)
            if (r->p->entry.at[i].name == e.name && !r->again)
                return twi_plan_fail(r, TWI_PLAN_TWICE, "entry '%.*s' is given twice", (int)r->len,
                                     word(r));
        if (twi_plan_take(r, ":") && !read_facts(r, &e))
            return false;
        uint32_t at = 0;
        while (at < r->p->entry.n && r->p->entry.at[at].name != e.name)
            at++;
        if (at == r->p->entry.n)
            twi_push(r->arena, &r->p->entry, e);
        r->p->entry.at[at] = e;
    } while (twi_plan_take(r, ";") && twi_plan_expect(r, "entry"));
    return r->ok;
}
