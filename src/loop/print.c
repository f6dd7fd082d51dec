/* SPDX-License-Identifier: Apache-2.0
 * Loop IR as text. Instructions are numbered in the order of the text, so equal modules print the
 * same bytes whatever order they were built in. i64 constants stand as numbers among the operands
 * and get no line. Names: bytes other than letters, digits, _ and . (and - in front) are written
 * $HH.
 */
#include "base/context.h"
#include "loop/rows.h"
#include "loop/text.h"

#include <math.h>

typedef struct {
    const twi_loop *loop;
    const twi_func *f;
    twi_sb *out;
    uint32_t *number;    /* by instruction */
    const char **object; /* by object: its name in this function */
    uint32_t next;
    unsigned indent;
} printer;

static const char *const roles[] = {"in", "out", "inout", "temp"};
static const char *const kinds[] = {"", "array", "shared", "private", "scratch"};

static const char *text_of(const twi_loop *loop, twi_sym sym) {
    return sym && loop->ctx ? twi_text(&loop->ctx->names, sym) : "";
}

void twi_loop_name(twi_sb *out, const char *text) {
    for (const char *at = text; *at; at++) {
        unsigned char c = (unsigned char)*at;
        if ((c == '-' && at > text) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
            (c >= '0' && c <= '9') || c == '_' || c == '.')
            twi_sb_char(out, (char)c);
        else
            twi_sb_printf(out, "$%02x", c);
    }
}

static void name(const twi_loop *loop, twi_sb *out, twi_sym sym) {
    const char *text = text_of(loop, sym);
    if (*text)
        twi_loop_name(out, text);
    else
        twi_sb_char(out, '-');
}

/* ---- numbers ---- */

static bool as_f64(twi_sb *out, uint64_t bits) {
    double v, again;
    uint64_t back;
    memcpy(&v, &bits, sizeof v);
    if (isnan(v))
        return false;
    size_t from = out->n;
    twi_sb_f64(out, v);
    if (twi_parse_f64(out->at + from, out->n - from, &again)) {
        memcpy(&back, &again, sizeof back);
        if (back == bits)
            return true;
    }
    out->at[out->n = from] = 0;
    return false;
}

static bool as_f32(twi_sb *out, uint64_t bits) {
    float v, again;
    double wide;
    uint32_t low = (uint32_t)bits, back;
    memcpy(&v, &low, sizeof v);
    if (isnan(v))
        return false;
    size_t from = out->n;
    twi_sb_f32(out, v);
    if (twi_parse_f64(out->at + from, out->n - from, &wide)) {
        again = (float)wide;
        memcpy(&back, &again, sizeof back);
        if (back == low)
            return true;
    }
    out->at[out->n = from] = 0;
    return false;
}

void twi_loop_bits(twi_sb *out, unsigned elem, uint64_t bits) {
    size_t size = tw_elem_size((tw_elem)elem);
    if (size && size < 8)
        bits &= (UINT64_C(1) << 8 * size) - 1;
    unsigned shift = size && size < 8 ? 64u - 8u * (unsigned)size : 0;
    switch (elem) {
    case TW_BOOL:
        twi_sb_str(out, bits ? "true" : "false");
        return;
    case TW_F32:
        if (as_f32(out, bits))
            return;
        break;
    case TW_F64:
        if (as_f64(out, bits))
            return;
        break;
    case TW_I8:
    case TW_I16:
    case TW_I32:
    case TW_I64: {
        uint64_t sign = UINT64_C(1) << (63 - shift);
        twi_sb_printf(out, "%lld", (long long)(int64_t)((bits ^ sign) - sign));
        return;
    }
    case TW_U8:
    case TW_U16:
    case TW_U32:
        twi_sb_printf(out, "%llu", (unsigned long long)bits);
        return;
    default:
        break;
    }
    twi_sb_printf(out, "#%llx", (unsigned long long)bits);
}

/* ---- instructions ---- */

static bool literal(const twi_func *f, twi_lid v) {
    const twi_lins *i = &f->ins.at[v];
    return i->op == TWI_L_LCONST && i->elem == TW_I64 && i->count == 1 && !i->flags && !i->name;
}

static void operand(printer *p, twi_lid v) {
    if (literal(p->f, v)) {
        twi_loop_bits(p->out, TW_I64, p->f->constant.at[p->f->ins.at[v].attr]);
        return;
    }
    twi_sb_char(p->out, '%');
    twi_loop_name(p->out, text_of(p->loop, p->f->ins.at[v].name));
    twi_sb_printf(p->out, "%u", p->number[v]);
}

static void operands(printer *p, twi_lid v, uint32_t from, uint32_t n) {
    for (uint32_t k = from; k < from + n; k++) {
        if (k > from)
            twi_sb_str(p->out, ", ");
        operand(p, twi_larg(p->f, v, k));
    }
}

static void access(printer *p, twi_lid v) {
    const twi_lins *i = &p->f->ins.at[v];
    const twi_laccess *a = &p->f->access.at[i->attr];
    const twi_object *o = &p->f->object.at[a->object];
    bool store = twi_loop_stores(i->op);
    twi_sb_printf(p->out, "%s[", p->object[a->object]);
    operands(p, v, 0, o->rank);
    twi_sb_char(p->out, ']');
    uint32_t k = o->rank;
    uint32_t count = i->count;
    if (store) {
        twi_sb_printf(p->out, " %s= ", a->merge ? twi_loop_op_name(a->merge) : "");
        count = p->f->ins.at[twi_larg(p->f, v, k)].count;
        operands(p, v, k++, 1);
    }
    if (count > 1 && o->count == 1 && a->dim + 1u != o->rank)
        twi_sb_printf(p->out, " dim %u", a->dim);
    if (a->mask) {
        twi_sb_str(p->out, a->mask == TWI_MASK_COUNT ? " first " : " where ");
        operands(p, v, k++, 1);
    }
    if (a->has_else) {
        twi_sb_str(p->out, " else ");
        operands(p, v, k++, 1);
    }
    if (a->align)
        twi_sb_printf(p->out, " align %u", a->align);
    if (a->stream)
        twi_sb_str(p->out, " stream");
    if (a->early)
        twi_sb_str(p->out, " early");
    if (a->ahead)
        twi_sb_printf(p->out, " ahead %u", a->ahead);
}

static void numbers(printer *p, const twi_lins *i) {
    twi_sb_str(p->out, " [");
    for (uint32_t k = 0; k < i->count; k++)
        twi_sb_printf(p->out, k ? ", %d" : "%d", p->f->ints.at[i->attr + k]);
    twi_sb_char(p->out, ']');
}

static void fold_mark(printer *p, const twi_lins *i) {
    if (i->flags & TWI_FLAG_COMBINE)
        twi_sb_printf(p->out, " fold %u", i->fold);
}

/* What follows the operation's name, without the type. */
static void rest(printer *p, twi_lid v) {
    const twi_lins *i = &p->f->ins.at[v];
    twi_sb *out = p->out;
    twi_sb_char(out, ' ');
    switch (i->op) {
    case TWI_L_LCONST:
        twi_loop_bits(out, i->elem, p->f->constant.at[i->attr]);
        if (i->flags & TWI_FLAG_IDENTITY)
            twi_sb_str(out, " identity");
        break;
    case TWI_L_LSCALAR:
        name(p->loop, out, p->loop->scalar.at[i->attr].name);
        break;
    case TWI_L_STRIDE:
        twi_sb_printf(out, "%s %u", p->object[i->attr >> 4], i->attr & 15u);
        break;
    case TWI_L_TRIP:
        twi_sb_printf(out, "%u", i->attr);
        break;
    case TWI_L_ID:
        twi_sb_str(out, twi_level_name(i->attr));
        break;
    case TWI_L_EXTRACT:
        operands(p, v, 0, i->nargs);
        twi_sb_printf(out, " [%u]", i->attr);
        break;
    case TWI_L_PERMUTE:
        operands(p, v, 0, i->nargs);
        numbers(p, i);
        break;
    case TWI_L_LLOAD:
    case TWI_L_LSTORE:
    case TWI_L_ASYNC_COPY:
        access(p, v);
        break;
    case TWI_L_LANE_FOLD:
        twi_sb_printf(out, "%s ", twi_loop_op_name(i->attr & 255u));
        operands(p, v, 0, i->nargs);
        twi_sb_printf(out, " stride %u extent %u", 1u << (i->attr >> 8 & 31u),
                      1u << (i->attr >> 16 & 31u));
        fold_mark(p, i);
        break;
    case TWI_L_LANE_XOR:
        operands(p, v, 0, i->nargs);
        twi_sb_printf(out, " mask %u", i->attr);
        break;
    case TWI_L_LANE_SHIFT:
        operands(p, v, 0, i->nargs);
        twi_sb_printf(out, " by %d", (int)(int32_t)i->attr);
        break;
    case TWI_L_ASYNC_WAIT:
        twi_sb_printf(out, "%u", i->attr);
        break;
    case TWI_L_BARRIER:
        twi_sb_str(out, i->attr == TWI_SCOPE_GROUP ? "group" : "subgroup");
        break;
    default:
        operands(p, v, 0, i->nargs);
        fold_mark(p, i);
        if (i->elem == TW_I32 && i->flags & TWI_FLAG_INDEX)
            twi_sb_str(out, " index");
        break;
    }
}

static void index_type(printer *p, const twi_lins *i) {
    if (i->elem != TW_I64)
        twi_sb_printf(p->out, " : %s", tw_elem_name((tw_elem)i->elem));
}

static void indent(printer *p) {
    for (unsigned k = 0; k < p->indent; k++)
        twi_sb_str(p->out, "  ");
}

static void head(printer *p, twi_lid v) {
    const twi_lins *i = &p->f->ins.at[v];
    if (i->op == TWI_L_IF) {
        twi_sb_str(p->out, i->attr == TWI_IF_EDGE ? "if edge " : "if ");
        operands(p, v, 0, 1);
    } else if (i->op == TWI_L_UNROLL) {
        twi_sb_str(p->out, "unroll ");
        operand(p, v);
        index_type(p, i);
        twi_sb_printf(p->out, " in %u", i->attr);
    } else {
        twi_sb_str(p->out, "for ");
        operand(p, v);
        index_type(p, i);
        twi_sb_str(p->out, " in ");
        operands(p, v, 0, 1);
        twi_sb_str(p->out, " .. ");
        operands(p, v, 1, 1);
        if (i->attr != 1)
            twi_sb_printf(p->out, " step %u", i->attr);
    }
}

static void body(printer *p, twi_lid first);

static bool has_body(const twi_lins *i) {
    return i->op == TWI_L_FOR || i->op == TWI_L_UNROLL || i->op == TWI_L_IF;
}

/* One line without its end. */
static void plain(printer *p, twi_lid v) {
    const twi_lins *i = &p->f->ins.at[v];
    if (i->count) {
        operand(p, v);
        twi_sb_str(p->out, " = ");
    }
    twi_sb_str(p->out, twi_loop_op_name(i->op));
    size_t before = p->out->n;
    rest(p, v);
    if (p->out->n == before + 1)
        p->out->at[--p->out->n] = 0; /* nothing came: no blank */
    if (i->count && (i->elem != TW_I64 || i->count > 1)) {
        twi_sb_str(p->out, " : ");
        twi_loop_type(p->out, i->elem, i->count);
    }
}

static void line(printer *p, twi_lid v) {
    const twi_lins *i = &p->f->ins.at[v];
    if (literal(p->f, v))
        return;
    indent(p);
    if (!has_body(i)) {
        plain(p, v);
        twi_sb_char(p->out, '\n');
        return;
    }
    head(p, v);
    twi_sb_str(p->out, " {\n");
    p->indent++;
    body(p, i->body);
    p->indent--;
    indent(p);
    twi_sb_str(p->out, "}\n");
}

static void body(printer *p, twi_lid first) {
    for (twi_lid v = first; v; v = p->f->ins.at[v].next)
        line(p, v);
}

/* ---- heads ---- */

static void extents(twi_sb *out, unsigned rank, const int64_t *extent, unsigned dynamic) {
    twi_sb_char(out, '[');
    for (unsigned d = 0; d < rank; d++) {
        twi_sb_str(out, d ? ", " : "");
        if (dynamic >> d & 1u)
            twi_sb_char(out, '*');
        else
            twi_sb_printf(out, "%lld", (long long)extent[d]);
    }
    twi_sb_char(out, ']');
}

static bool taken(const printer *p, uint32_t n, const char *text) {
    for (uint32_t k = 1; k < n; k++)
        if (strcmp(p->object[k], text) == 0)
            return true;
    return false;
}

/* Names of objects are made unique by their number. */
static void name_objects(printer *p) {
    twi_arena *arena = p->out->arena;
    p->object = TWI_NEW_N(arena, const char *, p->f->object.n + 1u);
    for (uint32_t id = 1; id < p->f->object.n; id++) {
        twi_sb own;
        twi_sb_init(&own, arena);
        twi_loop_name(&own, text_of(p->loop, p->f->object.at[id].name));
        const char *text = twi_sb_text(&own);
        while (*text == 0 || taken(p, id, text))
            text = twi_format(arena, "%s.%u", text, id);
        p->object[id] = text;
    }
}

static void number(printer *p, twi_lid first) {
    for (twi_lid v = first; v; v = p->f->ins.at[v].next) {
        if (!literal(p->f, v) && p->f->ins.at[v].count)
            p->number[v] = p->next++;
        number(p, p->f->ins.at[v].body);
    }
}

static void enter(printer *p, const twi_func *f) {
    p->f = f;
    p->next = 1;
    p->number = TWI_NEW_N(p->out->arena, uint32_t, f->ins.n);
    number(p, f->first);
    name_objects(p);
}

void twi_loop_show(const twi_loop *loop, uint32_t func, twi_lid v, twi_sb *out) {
    printer p = {.loop = loop, .out = out};
    enter(&p, &loop->func.at[func]);
    if (has_body(&p.f->ins.at[v]))
        head(&p, v);
    else
        plain(&p, v);
}

static void object(printer *p, uint32_t id) {
    const twi_object *o = &p->f->object.at[id];
    twi_sb_printf(p->out, "  %s %s ", kinds[o->kind], p->object[id]);
    if (o->kind == TWI_OBJ_ARRAY)
        twi_sb_printf(p->out, "= %u ", o->array);
    twi_loop_type(p->out, o->elem, o->count);
    extents(p->out, o->rank, o->extent, 0);
    twi_sb_str(p->out, " stride ");
    extents(p->out, o->rank, o->stride, o->dynamic);
    if (o->align)
        twi_sb_printf(p->out, " align %u", o->align);
    if (o->swizzle.span) {
        twi_sb_char(p->out, ' ');
        twi_swizzle_print(o->swizzle, p->out);
    }
    twi_sb_char(p->out, '\n');
}

static void function(printer *p, const twi_func *f) {
    enter(p, f);
    twi_sb_str(p->out, "func ");
    name(p->loop, p->out, f->name);
    twi_sb_printf(p->out, " entry %u scope %u %s lanes %u subs %u {\n", f->entry, f->scope,
                  f->explicit_lanes ? "explicit" : "implicit", f->lanes, f->subs);
    for (uint32_t k = 1; k < f->object.n; k++)
        object(p, k);
    p->indent = 1;
    body(p, f->first);
    twi_sb_str(p->out, "}\n");
}

static void entry(const twi_loop *loop, twi_sb *out, const twi_entry *e) {
    twi_sb_str(out, "entry ");
    name(loop, out, e->name);
    for (uint32_t k = 1; k < e->align.n; k++)
        if (e->align.at[k]) {
            twi_sb_printf(out, " align%u ", e->align.at[k]);
            name(loop, out, loop->array.at[k].name);
        }
    twi_sb_str(out, " {\n");
    unsigned depth = 1;
    for (uint32_t k = 0; k < e->recipe.n; k++) {
        const twi_step_do *s = &e->recipe.at[k];
        depth -= s->what == TWI_DO_END;
        for (unsigned d = 0; d < depth; d++)
            twi_sb_str(out, "  ");
        switch (s->what) {
        case TWI_DO_LAUNCH:
            twi_sb_str(out, "launch ");
            name(loop, out, loop->func.at[s->func].name);
            twi_sb_printf(out, " grid %lld\n", (long long)s->grid);
            break;
        case TWI_DO_FILL:
            twi_sb_str(out, "fill ");
            name(loop, out, loop->array.at[s->array].name);
            twi_sb_char(out, '\n');
            break;
        case TWI_DO_LOOP:
            twi_sb_printf(out, "for %lld .. %lld {\n", (long long)s->lo, (long long)s->hi);
            depth++;
            break;
        default:
            twi_sb_str(out, "}\n");
            break;
        }
    }
    twi_sb_str(out, "}\n");
}

static void order(twi_sb *out, const twi_order *o) {
    static const char *const how[] = {"chain", "tree", "back"};
    twi_sb_printf(out, "order %u depth %u%s%s", o->fold, o->depth, o->fused ? " fused" : "",
                  o->flushes ? " flushes" : "");
    for (unsigned k = 0; k < o->n; k++)
        twi_sb_printf(out, "%s axis %u %s %lld*%lld", k ? "," : " :", o->digit[k].axis,
                      how[o->digit[k].how], (long long)o->digit[k].extent,
                      (long long)o->digit[k].weight);
    twi_sb_char(out, '\n');
}

void twi_loop_print(const twi_loop *loop, twi_sb *out) {
    printer p = {.loop = loop, .out = out};
    twi_sb_str(out, "loop ");
    name(loop, out, loop->kernel);
    twi_sb_str(out, " target ");
    name(loop, out, loop->target);
    twi_sb_char(out, '\n');
    for (uint32_t k = 1; k < loop->array.n; k++) {
        const twi_larray *a = &loop->array.at[k];
        twi_sb_printf(out, "argument %u ", k);
        name(loop, out, a->name);
        twi_sb_printf(out, " %s %s", roles[a->role & 3u], tw_elem_name((tw_elem)a->elem));
        extents(out, a->rank, a->extent, 0);
        if (a->has_fill) {
            twi_sb_str(out, " = ");
            twi_loop_bits(out, a->elem, a->fill);
        }
        twi_sb_char(out, '\n');
    }
    if (loop->status)
        twi_sb_printf(out, "status %u\n", loop->status);
    for (uint32_t k = 1; k < loop->scalar.n; k++) {
        twi_sb_printf(out, "scalar %u ", k);
        name(loop, out, loop->scalar.at[k].name);
        twi_sb_printf(out, " %s\n", tw_elem_name((tw_elem)loop->scalar.at[k].elem));
    }
    for (uint32_t k = 0; k < loop->entry.n; k++)
        entry(loop, out, &loop->entry.at[k]);
    for (uint32_t k = 0; k < loop->merge.n; k++)
        twi_sb_printf(out, "merge %u\n", loop->merge.at[k]);
    for (uint32_t k = 0; k < loop->order.n; k++)
        order(out, &loop->order.at[k]);
    for (uint32_t k = 0; k < loop->func.n; k++)
        function(&p, &loop->func.at[k]);
}
