/* SPDX-License-Identifier: Apache-2.0
 * Loads and stores. Elements that follow one another are moved as a vector, whole or by the helpers
 * for a count of leading elements; all else goes lane by lane. No form touches memory that its mask
 * excludes.
 */
#include "emit/dialect.h"

enum { STACK_BYTES = 16384 };

uint64_t twi_object_bytes(const twi_object *o) {
    uint64_t n = 1;
    if (o->rank > 0)
        n = (uint64_t)o->extent[0] * (uint64_t)o->stride[0];
    return (n ? n : 1) * twi_lanes(o->count) * tw_elem_size(o->elem);
}

/* Large tiles are no automatic arrays. */
bool twi_in_scratch(const twi_object *o) {
    const bool local = o->kind == TWI_OBJ_PRIVATE || o->kind == TWI_OBJ_SHARED;
    return o->kind == TWI_OBJ_SCRATCH || (local && twi_object_bytes(o) > STACK_BYTES);
}

/* One access as the statements below need it. */
typedef struct {
    const twi_laccess *access;
    const twi_object *object;
    const char *name, *offset; /* offset: in elements, of the lane l_ where lanes differ */
    unsigned count;
    bool gathered, contiguous, whole;
    twi_lid mask, other; /* 0: none */
} place;

enum { MOST_FACTOR = 1 << 20 };

static bool is_factor(const twi_func *f, twi_lid v, int64_t *k) {
    const twi_lins *i = twi_lins_of(f, v);
    if (i->op != TWI_L_LCONST || i->count != 1)
        return false;
    *k = (int64_t)f->constant.at[i->attr];
    return *k > 0 && *k <= MOST_FACTOR;
}

/* Sums are taken apart on explicit lanes, and for asynchronous copies, which move pointers: a
 * compiler keeps one and reaches all slots by constants from it. */
static unsigned split_terms(const twi_func *f, twi_lid v, int64_t factor, twi_index_term *out,
                            unsigned n, unsigned depth) {
    const twi_lins *i = twi_lins_of(f, v);
    int64_t k;
    if (depth && i->op == TWI_ADD && i->flags & TWI_FLAG_INDEX && i->count == 1) {
        n = split_terms(f, twi_larg(f, v, 0), factor, out, n, depth - 1);
        return split_terms(f, twi_larg(f, v, 1), factor, out, n, depth - 1);
    }
    if (depth && i->op == TWI_MUL && i->flags & TWI_FLAG_INDEX && i->count == 1 &&
        is_factor(f, twi_larg(f, v, 1), &k) && factor * k <= MOST_FACTOR)
        return split_terms(f, twi_larg(f, v, 0), factor * k, out, n, depth - 1);
    out[n] = (twi_index_term){v, factor};
    return n + 1;
}

unsigned twi_index_terms(const twi_func *f, twi_lid index, bool apart, twi_index_term *out) {
    enum { DEPTH = 4 }; /* sums of 2^4 terms at most */
    return split_terms(f, index, 1, out, 0, f->explicit_lanes || apart ? DEPTH : 0);
}

static const char *stride_text(twi_emitter *e, uint32_t object, unsigned dim, int64_t *known) {
    const twi_object *o = &e->f->object.at[object];
    *known = o->stride[dim];
    if (!(o->dynamic >> dim & 1u))
        return NULL;
    return e->d->hooks->stride(e, object, dim);
}

/* Do 32 bits hold every sum of the object's indices times their strides, run-time ones (which are
 * wide) apart? */
static bool small(const twi_object *o) {
    int64_t sum = 0;
    for (unsigned d = 0; d < o->rank; d++) {
        const int64_t last = o->extent[d] > 0 ? o->extent[d] - 1 : 0;
        const int64_t by = o->stride[d] < 0 ? -o->stride[d] : o->stride[d];
        if (o->dynamic >> d & 1u)
            continue;
        if (last > INT32_MAX || by > INT32_MAX)
            return false;
        sum += last * by;
        if (sum > INT32_MAX)
            return false;
    }
    return true;
}

static void add_term(twi_emitter *e, twi_sb *sb, const char *text, const char *stride,
                     int64_t known) {
    if (!stride && known == 0)
        return;
    if (sb->n)
        twi_sb_str(sb, " + ");
    twi_sb_str(sb, text);
    if (stride)
        twi_sb_printf(sb, " * %s", stride);
    else if (known != 1)
        twi_sb_printf(sb, known < 0 ? " * (%lld)" : " * %lld", (long long)known);
    (void)e;
}

/* Terms of the sum of the access's index k that are slots (unrolled), or those that are not. */
static void add_terms(twi_emitter *e, twi_sb *sb, const place *p, twi_lid v, unsigned k,
                      bool slots) {
    twi_index_term term[TWI_INDEX_TERMS];
    int64_t known;
    const char *stride = stride_text(e, p->access->object, k, &known);
    const unsigned n = twi_index_terms(e->f, twi_larg(e->f, v, k), e->value[v].apart, term);
    for (unsigned t = 0; t < n; t++) {
        const twi_lins *at = twi_lins_of(e->f, term[t].value);
        const char *text = e->value[term[t].value].text;
        if ((at->op == TWI_L_UNROLL) != slots)
            continue;
        if (at->count > 1)
            text = twi_format(e->arena, "%s[l_]", text);
        else if (at->elem == TW_I32 && !small(p->object))
            text = twi_format(e->arena, "(%s)%s", e->d->type[TW_I64], text);
        if (stride && term[t].factor != 1)
            text = twi_format(e->arena, "%s * %lld", text, (long long)term[t].factor);
        add_term(e, sb, text, stride, stride ? known : known * term[t].factor);
    }
}

static const char *index_text(const twi_emitter *e, twi_lid index) {
    const twi_lins *at = twi_lins_of(e->f, index);
    return at->op == TWI_L_LCONST
               ? twi_format(e->arena, "%lld", (long long)e->f->constant.at[at->attr])
               : e->value[index].text;
}

/* Where the last index lies in its row. */
static const char *swizzled(twi_emitter *e, twi_lid v, const twi_object *o) {
    const twi_lid row = twi_larg(e->f, v, o->rank - 2u), at = twi_larg(e->f, v, o->rank - 1u);
    const twi_swizzle_bits b = twi_swizzle_bits_of(o->swizzle, (int64_t)tw_elem_size(o->elem));
    const char *text = index_text(e, row);
    if (b.left || b.right)
        text = twi_format(e->arena, b.left ? "%s << %u" : "%s >> %u", text, b.left + b.right);
    return twi_format(e->arena, "(%s ^ (%s & %lld))", index_text(e, at), text, (long long)b.mask);
}

static const char *offset_text(twi_emitter *e, twi_lid v, const place *p) {
    twi_sb sb;
    int64_t constant = 0, known;
    twi_sb_init(&sb, e->arena);
    for (unsigned slots = 0; slots < 2; slots++)
        for (unsigned k = 0; k < p->object->rank; k++) {
            const twi_lid index = twi_larg(e->f, v, k);
            const twi_lins *at = twi_lins_of(e->f, index);
            const char *stride = stride_text(e, p->access->object, k, &known);
            if (p->object->swizzle.span && k + 1u == p->object->rank) {
                if (!slots)
                    add_term(e, &sb, swizzled(e, v, p->object), NULL, 1);
                continue;
            }
            if (at->op == TWI_L_LCONST && at->count == 1 && !stride)
                constant += slots ? 0 : (int64_t)e->f->constant.at[at->attr] * known;
            else
                add_terms(e, &sb, p, v, k, slots);
            if (!slots && k == p->access->dim && !p->whole && !p->gathered && !p->contiguous &&
                p->count > 1)
                add_term(e, &sb, "l_", stride, known);
        }
    if (constant || !sb.n)
        twi_sb_printf(&sb, sb.n ? " + %lld" : "%lld", (long long)constant);
    return twi_sb_text(&sb);
}

static place place_of(twi_emitter *e, twi_lid v, unsigned count, bool store) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    place p = {.access = &e->f->access.at[ins->attr], .count = count};
    p.object = &e->f->object.at[p.access->object];
    p.name = twi_object_text(e, p.access->object);
    const unsigned rank = p.object->rank;
    for (unsigned k = 0; k < rank; k++)
        p.gathered = p.gathered || twi_lins_of(e->f, twi_larg(e->f, v, k))->count > 1;
    p.whole = p.object->count > 1;
    const unsigned dim = p.access->dim;
    p.contiguous = count > 1 && !p.gathered && !p.whole && rank > 0 &&
                   !(p.object->dynamic >> dim & 1u) && p.object->stride[dim] == 1 &&
                   p.access->mask != TWI_MASK_BOOL && !p.access->merge &&
                   !(p.object->elem == TW_BOOL && p.access->has_else);
    unsigned next = rank + (store ? 1 : 0);
    if (p.access->mask != TWI_MASK_NONE)
        p.mask = twi_larg(e->f, v, next++);
    if (p.access->has_else)
        p.other = twi_larg(e->f, v, next);
    p.contiguous = p.contiguous || (e->d->simt && count > 1);
    p.offset = offset_text(e, v, &p);
    return p;
}

static const char *condition(twi_emitter *e, const place *p) {
    const char *mask = p->mask ? e->value[p->mask].text : NULL;
    if (!mask)
        return NULL;
    if (p->access->mask == TWI_MASK_COUNT)
        return twi_format(e->arena, p->count > 1 ? "l_ < %s" : "%s > 0", mask);
    return twi_lins_of(e->f, p->mask)->count > 1 ? twi_format(e->arena, "%s[l_]", mask) : mask;
}

static const char *element(twi_emitter *e, const place *p) {
    return twi_format(e->arena, p->whole ? "%s[%s][l_]" : "%s[%s]", p->name, p->offset);
}

static tw_elem stored_elem(const place *p) {
    return p->object->elem == TW_BOOL ? TW_U8 : (tw_elem)p->object->elem;
}

/* A pointer expression's vector, all of it. */
static const char *vector_at(twi_emitter *e, const place *p, bool store) {
    return twi_format(e->arena, "*(%s%s *)(%s + %s)", store ? "" : "const ",
                      twi_access_type(e, stored_elem(p), p->count, p->access->align), p->name,
                      p->offset);
}

/* The leading elements: of a vector whose length is no power of two, or as many as a count says. */
static const char *leading(twi_emitter *e, const place *p) {
    return p->mask ? e->value[p->mask].text : twi_format(e->arena, "%u", p->count);
}

static const char *zero(twi_emitter *e, const char *type) {
    return twi_format(e->arena, "(%s){0}", type);
}

static void load_lanes(twi_emitter *e, twi_lid v, const place *p, const char *name) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const char *type = twi_ctype(e, ins->elem, p->count, e->value[v].mask);
    const char *start = !p->other ? p->count == 1 ? twi_literal(e, ins->elem, 0) : zero(e, type)
                        : p->count == 1 ? e->value[p->other].text
                                        : twi_mask_text(e, p->other, e->value[v].mask);
    const char *test = condition(e, p);
    const char *from = element(e, p);
    if (test && e->d->guarded && p->object->kind == TWI_OBJ_ARRAY)
        from = twi_format(e->arena, e->d->guarded, twi_ctype(e, stored_elem(p), 1, 1), from);
    if (ins->elem == TW_BOOL)
        from = twi_format(e->arena, p->count > 1 ? "-(%s != 0)" : "%s != 0", from);
    twi_line(e, "%s %s = %s;", type, name, start);
    if (p->count > 1)
        twi_line(e, "for (int l_ = 0; l_ < %u; l_++)", p->count);
    const char *at = p->count > 1 ? "    " : "";
    const char *lane = p->count > 1 ? "[l_]" : "";
    if (test)
        twi_line(e, "%sif (%s) %s%s = %s;", at, test, name, lane, from);
    else
        twi_line(e, "%s%s%s = %s;", at, name, lane, from);
}

static const char *load_vector(twi_emitter *e, const place *p) {
    const twi_spell s = {.from = stored_elem(p), .to = stored_elem(p), .count = p->count};
    const char *type = twi_ctype(e, s.from, p->count, 1);
    if (p->access->mask == TWI_MASK_NONE && twi_lanes(p->count) == p->count)
        return vector_at(e, p, false);
    return twi_format(e->arena, "%s(%s + %s, %s, %s)", twi_expand(e, "@loadn", &s), p->name,
                      p->offset, leading(e, p), p->other ? e->value[p->other].text : zero(e, type));
}

/* ---- SIMT: the only vectors there are those that one access moves ---- */

static const char *wide_pointer(twi_emitter *e, const place *p, bool store) {
    return twi_format(e->arena, "*(%s%s%s *)(%s + %s)", e->d->simt->space[p->object->kind],
                      store ? "" : "const ", twi_ctype(e, stored_elem(p), p->count, 1), p->name,
                      p->offset);
}

/* Moves it whole where its alignment is proved, else element by element; `test`: only elements for
 * which it holds. */
static void move_lanes(twi_emitter *e, const place *p, const char *vector, const char *test,
                       bool store) {
    const size_t bytes = p->count * tw_elem_size(stored_elem(p));
    const bool unit =
        !(p->object->dynamic >> p->access->dim & 1u) && p->object->stride[p->access->dim] == 1;
    if (!test && unit && p->access->align >= bytes) {
        const char *at = wide_pointer(e, p, store);
        twi_line(e, "%s = %s;", store ? at : vector, store ? vector : at);
        return;
    }
    int64_t known;
    const char *stride = stride_text(e, p->access->object, p->access->dim, &known);
    twi_sb at;
    twi_sb_init(&at, e->arena);
    add_term(e, &at, p->offset, NULL, 1);
    add_term(e, &at, "l_", stride, known);
    const char *one = twi_format(e->arena, "%s[%s]", p->name, twi_sb_text(&at));
    const char *lane = twi_format(e->arena, "%s.e[l_]", vector);
    twi_unrolled(e, p->count);
    twi_line(e, "for (int l_ = 0; l_ < %u; l_++)", p->count);
    const char *condition = test ? twi_format(e->arena, "if (%s) ", test) : "";
    twi_line(e, "    %s%s = %s;", condition, store ? one : lane, store ? lane : one);
}

/* A ragged edge is tested once, and element by element only where it lies inside. */
static void move_wide(twi_emitter *e, const place *p, const char *vector, bool store) {
    if (!p->mask) {
        move_lanes(e, p, vector, NULL, store);
        return;
    }
    const bool counts = p->access->mask == TWI_MASK_COUNT;
    const char *mask = e->value[p->mask].text;
    twi_line(e, counts ? "if (%s >= %u) {" : "if (%s) {", mask, p->count);
    e->depth++;
    move_lanes(e, p, vector, NULL, store);
    e->depth--;
    if (counts) {
        twi_line(e, "} else {");
        e->depth++;
        move_lanes(e, p, vector, twi_format(e->arena, "l_ < %s", mask), store);
        e->depth--;
    }
    twi_line(e, "}");
}

static void load_wide(twi_emitter *e, twi_lid v, place p, const char *name) {
    const char *type = twi_ctype(e, stored_elem(&p), p.count, 1);
    e->value[v].text = name;
    twi_line(e, p.mask ? "%s %s = {{0}};" : "%s %s;", type, name);
    move_wide(e, &p, name, false);
}

/* ---- */

void twi_emit_load(twi_emitter *e, twi_lid v) {
    const twi_lins *ins = twi_lins_of(e->f, v);
    const bool boolean = ins->elem == TW_BOOL && ins->count > 1;
    if (boolean)
        e->value[v].mask = 1;
    const place p = place_of(e, v, ins->count, false);
    const char *name = twi_value_text(e, v);
    if (e->d->simt && ins->count > 1) {
        load_wide(e, v, p, name);
        return;
    }
    e->value[v].text = name;
    const char *ahead = e->d->ahead[p.object->kind == TWI_OBJ_ARRAY];
    const bool one_place = p.count == 1 || p.contiguous || (p.whole && !p.gathered);
    if (p.access->ahead && ahead &&
        one_place) /* lanes that lie apart have no one line to ask for */
        twi_line(e, ahead, p.name, p.offset, p.access->ahead);
    const char *type = twi_ctype(e, ins->elem, ins->count, e->value[v].mask);
    if (p.whole && !p.mask) {
        twi_line(e, "const %s %s = %s[%s];", type, name, p.name, p.offset);
    } else if (p.count == 1 && !p.mask) {
        twi_line(e, "const %s %s = %s%s;", type, name, element(e, &p),
                 ins->elem == TW_BOOL ? " != 0" : "");
    } else if (p.contiguous) {
        const char *text = load_vector(e, &p);
        if (boolean)
            text = twi_format(e->arena, "(%s)(%s != 0)", type, text);
        twi_line(e, "const %s %s = %s;", type, name, text);
    } else {
        load_lanes(e, v, &p, name);
    }
}

const char *twi_emit_address(twi_emitter *e, twi_lid load) {
    const place p = place_of(e, load, twi_lins_of(e->f, load)->count, false);
    return twi_format(e->arena, "%s + %s", p.name, p.offset);
}

/* One element's assignment, or the atomic that stands for it. */
static const char *assignment(twi_emitter *e, const place *p, const char *to, const char *from) {
    if (!p->access->merge)
        return twi_format(e->arena, "%s = %s", to, from);
    const tw_elem elem = stored_elem(p);
    const twi_merge_kind kind = p->access->merge == TWI_ADD   ? TWI_MERGE_ADD
                                : p->access->merge == TWI_MIN ? TWI_MERGE_MIN
                                                              : TWI_MERGE_MAX;
    const twi_sized *words = &e->d->merge[kind][twi_class_of(elem)];
    const twi_spell s = {
        .from = elem, .to = elem, .count = 1, .arg = {twi_format(e->arena, "&%s", to), from}};
    return twi_expand(e, tw_elem_size(elem) == 8 ? words->wide : words->narrow, &s);
}

static void store_lanes(twi_emitter *e, twi_lid value, const place *p) {
    const char *test = condition(e, p), *to = element(e, p);
    const char *from = e->value[value].text, *at = "";
    if (p->count > 1) {
        twi_line(e, "for (int l_ = 0; l_ < %u; l_++)", p->count);
        at = "    ";
        from = twi_format(e->arena,
                          p->object->elem == TW_BOOL && !p->whole ? "%s[l_] != 0" : "%s[l_]", from);
    }
    const char *what = assignment(e, p, to, from);
    if (test)
        twi_line(e, "%sif (%s) %s;", at, test, what);
    else
        twi_line(e, "%s%s;", at, what);
}

/* Bytes of the copy that are real: the rest is written as 0. */
static const char *real_bytes(twi_emitter *e, const place *from, unsigned bytes) {
    const unsigned size = bytes / from->count;
    const char *mask = from->mask ? e->value[from->mask].text : NULL;
    if (!mask)
        return twi_format(e->arena, "%u", bytes);
    if (from->access->mask == TWI_MASK_BOOL)
        return twi_format(e->arena, "%s ? %u : 0", mask, bytes);
    return twi_format(e->arena, "%s >= %u ? %u : %s > 0 ? (int)%s * %u : 0", mask, from->count,
                      bytes, mask, mask, size);
}

void twi_emit_async(twi_emitter *e, twi_lid v) {
    const twi_laccess *access = &e->f->access.at[twi_lins_of(e->f, v)->attr];
    const twi_lid load = twi_larg(e->f, v, e->f->object.at[access->object].rank);
    const unsigned count = twi_lins_of(e->f, load)->count;
    const place to = place_of(e, v, count, true), from = place_of(e, load, count, false);
    const unsigned bytes = count * (unsigned)tw_elem_size(stored_elem(&to));
    if (twi_need(e, twi_format(e->arena, "async %u", bytes)))
        twi_sb_printf(&e->head, e->d->simt->async_part, bytes, bytes == 16 ? "cg" : "ca", bytes);
    twi_line(e, "tw_async%u(%s + %s, %s + %s, %s);", bytes, to.name, to.offset, from.name,
             from.offset, real_bytes(e, &from, bytes));
}

void twi_emit_store(twi_emitter *e, twi_lid v) {
    const twi_laccess *access = &e->f->access.at[twi_lins_of(e->f, v)->attr];
    const unsigned rank = e->f->object.at[access->object].rank;
    const twi_lid value = twi_larg(e->f, v, rank);
    const place p = place_of(e, v, twi_lins_of(e->f, value)->count, true);
    if (e->d->simt && p.count > 1) {
        move_wide(e, &p, e->value[value].text, true);
        return;
    }
    const char *text = twi_mask_text(e, value, 1);
    if (p.whole && !p.mask) {
        twi_line(e, "%s[%s] = %s;", p.name, p.offset, text);
        return;
    }
    if (!p.contiguous) {
        store_lanes(e, value, &p);
        return;
    }
    if (p.object->elem == TW_BOOL)
        text = twi_format(e->arena, "(%s)-%s", twi_ctype(e, TW_U8, p.count, 0), text);
    twi_spell s = {.from = stored_elem(&p), .to = stored_elem(&p), .count = p.count};
    if (p.access->mask == TWI_MASK_NONE && twi_lanes(p.count) == p.count) {
        if (p.access->stream && e->d->stream) {
            s.arg[0] = text;
            s.arg[1] = twi_format(e->arena, "%s + %s", p.name, p.offset);
            twi_line(e, "%s", twi_expand(e, e->d->stream, &s));
            e->streams = true;
        } else {
            twi_line(e, "%s = %s;", vector_at(e, &p, true), text);
        }
        return;
    }
    twi_line(e, "%s(%s + %s, %s, %s);", twi_expand(e, "@storen", &s), p.name, p.offset,
             leading(e, &p), text);
}
