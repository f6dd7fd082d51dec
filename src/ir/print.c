/* SPDX-License-Identifier: Apache-2.0
 * The text form of tile IR: a line an instruction, regions indented. parse.c reads it back to the
 * same tables. In the other mode names are replaced by kind and number: what is hashed.
 *
 *     kernel row_sum order free
 *     dim R
 *     array X: in f32[R, W]
 *     parallel r: 0 .. R {
 *         axis w: 0 .. W
 *         X: f32{w} = load X[r, w]
 *         sum.1: f32 = sum[w] free X
 *         store Y[r] = sum.1
 *     }
 */
#include "base/hash.h"
#include "ir/ir.h"

typedef struct {
    const tw_ir *ir;
    twi_sb *out;
    bool numbered; /* names as kind and number */
} printer;

static const char *const order_names[] = {"default", "free", "tree", "left", "right", "canonical"};
static const char *const role_names[] = {"in", "out", "inout", "temp"};

static void name(printer *p, const char *kind, uint32_t id, twi_sym sym) {
    if (p->numbered)
        twi_sb_printf(p->out, "%s%u", kind, (unsigned)id);
    else
        twi_sb_str(p->out, twi_text(&p->ir->ctx->names, sym));
}

static void value(printer *p, twi_id v) { name(p, "v", v, p->ir->ins.at[v].name); }

static void axis(printer *p, uint32_t a) { name(p, "x", a, p->ir->axis.at[a].name); }

/* ---- index expressions ---- */
enum { SUM = 1, PRODUCT = 2, ATOM = 3 };
typedef struct {
    const char *text;
    int level;
} ix_row;
static const ix_row ix_rows[] = {
    [TWI_IX_ADD] = {" + ", SUM},     [TWI_IX_SUB] = {" - ", SUM},
    [TWI_IX_MUL] = {" * ", PRODUCT}, [TWI_IX_DIV] = {" // ", PRODUCT},
    [TWI_IX_MOD] = {" % ", PRODUCT}, [TWI_IX_MIN] = {"min(", ATOM},
    [TWI_IX_MAX] = {"max(", ATOM},   [TWI_IX_LO] = {"lo(", ATOM},
    [TWI_IX_HI] = {"hi(", ATOM},
};

static void ix_at(printer *p, twi_ix x, int level) {
    const twi_ix_node *n = &p->ir->ix.at[x];
    const ix_row *row = &ix_rows[n->op < sizeof ix_rows / sizeof *ix_rows ? n->op : 0];
    if (n->op == TWI_IX_CONST) {
        twi_sb_printf(p->out, "%lld", (long long)n->k);
    } else if (n->op == TWI_IX_DIM) {
        name(p, "d", n->a, p->ir->dim.at[n->a].name);
    } else if (n->op == TWI_IX_AXIS) {
        axis(p, n->a);
    } else if (n->op == TWI_IX_VALUE) {
        twi_sb_char(p->out, '$');
        value(p, n->a);
    } else if (n->op == TWI_IX_LO || n->op == TWI_IX_HI) {
        twi_sb_str(p->out, row->text);
        axis(p, n->a);
        twi_sb_char(p->out, ')');
    } else if (row->level == ATOM) {
        twi_sb_str(p->out, row->text);
        ix_at(p, n->a, SUM);
        twi_sb_str(p->out, ", ");
        ix_at(p, n->b, SUM);
        twi_sb_char(p->out, ')');
    } else {
        if (row->level < level)
            twi_sb_char(p->out, '(');
        ix_at(p, n->a, row->level);
        twi_sb_str(p->out, row->text);
        ix_at(p, n->b, row->level + 1);
        if (row->level < level)
            twi_sb_char(p->out, ')');
    }
}

static void ix(printer *p, twi_ix x) {
    if (x == 0)
        twi_sb_str(p->out, "none");
    else
        ix_at(p, x, SUM);
}

void twi_ix_text(const tw_ir *ir, twi_sb *out, twi_ix x) {
    printer p = {ir, out, false};
    ix(&p, x);
}

/* ---- numbers ---- */
/* A pattern as the type shows it: floats shortest, NaNs that are not the plain quiet one by their
 * bits. */
static void bits(printer *p, tw_elem elem, uint64_t v) {
    union {
        uint32_t u;
        float f;
    } f32 = {(uint32_t)v};
    union {
        uint64_t u;
        double f;
    } f64 = {v};
    if (elem == TW_BOOL && v <= 1)
        twi_sb_str(p->out, v ? "true" : "false");
    else if (elem == TW_F32 && (f32.f == f32.f || v == 0x7fc00000u))
        twi_sb_f32(p->out, f32.f);
    else if (elem == TW_F64 && (f64.f == f64.f || v == UINT64_C(0x7ff8) << 48))
        twi_sb_f64(p->out, f64.f);
    else if (twi_is_signed(elem)) {
        unsigned shift = 64u - 8u * (unsigned)tw_elem_size(elem);
        uint64_t sign = UINT64_C(1) << 63, up = v << shift;
        int64_t k = up & sign ? (int64_t)(up & ~sign) + INT64_MIN : (int64_t)up;
        twi_sb_printf(p->out, "%lld", (long long)(k / (INT64_C(1) << shift)));
    } else if (twi_is_int(elem))
        twi_sb_printf(p->out, "%llu", (unsigned long long)v);
    else
        twi_sb_printf(p->out, "bits 0x%llx", (unsigned long long)v);
}

static void num(printer *p, uint32_t id) {
    static const char signs[] = {
        [TWI_NUM_ADD] = '+', [TWI_NUM_SUB] = '-', [TWI_NUM_MUL] = '*', [TWI_NUM_DIV] = '/'};
    const twi_num *n = &p->ir->num.at[id];
    if (n->op == TWI_NUM_IX) {
        twi_sb_str(p->out, "ix(");
        ix(p, n->ix);
        twi_sb_char(p->out, ')');
    } else if (n->op == TWI_NUM_VALUE && n->integer) {
        twi_sb_printf(p->out, "%lld", (long long)n->whole);
    } else if (n->op == TWI_NUM_VALUE) {
        twi_sb_str(p->out, "real(");
        twi_sb_f64(p->out, n->hi);
        twi_sb_str(p->out, ", ");
        twi_sb_f64(p->out, n->lo);
        twi_sb_char(p->out, ')');
    } else {
        twi_sb_char(p->out, '(');
        num(p, n->a);
        twi_sb_printf(p->out, " %c ", signs[n->op]);
        num(p, n->b);
        twi_sb_char(p->out, ')');
    }
}

/* ---- head ---- */
static void array(printer *p, uint32_t id) {
    const twi_array *a = &p->ir->array.at[id];
    twi_sb_str(p->out, "array ");
    name(p, "a", id, a->name);
    twi_sb_printf(p->out, ": %s %s[", role_names[a->role], tw_elem_name((tw_elem)a->elem));
    for (unsigned d = 0; d < a->rank; d++) {
        twi_sb_str(p->out, d ? ", " : "");
        ix(p, a->dim[d]);
    }
    twi_sb_char(p->out, ']');
    if (a->has_fill) {
        twi_sb_str(p->out, " = ");
        bits(p, (tw_elem)a->elem, a->fill);
    }
    twi_sb_char(p->out, '\n');
}

static void fact(printer *p, const twi_fact *f) {
    static const char *const signs[] = {"==", "!=", "<", "<=", ">", ">="};
    twi_sb_str(p->out, "requires ");
    ix(p, f->a);
    twi_sb_printf(p->out, " %s ", signs[f->op - TWI_EQ]);
    ix(p, f->b);
    twi_sb_char(p->out, '\n');
}

static void note(printer *p, const char *text) {
    twi_sb_str(p->out, "note \"");
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == '"' || c == '\\' || c == 0x7f)
            twi_sb_printf(p->out, "\\x%02x", c);
        else
            twi_sb_char(p->out, *text);
    }
    twi_sb_str(p->out, "\"\n");
}

static void head(printer *p) {
    const tw_ir *ir = p->ir;
    twi_sb_str(p->out, "kernel ");
    name(p, "k", 0, ir->kernel);
    twi_sb_printf(p->out, " order %s%s%s%s\n", order_names[ir->order], ir->math ? " native" : "",
                  ir->specialised ? " specialised" : "", ir->lifted ? " lifted" : "");
    if (ir->spec_note && !p->numbered) /* it may hold the user's names */
        note(p, twi_text(&ir->ctx->names, ir->spec_note));
    for (uint32_t k = 1; k < ir->dim.n; k++) {
        twi_sb_str(p->out, "dim ");
        name(p, "d", k, ir->dim.at[k].name);
        if (ir->dim.at[k].dyn)
            twi_sb_str(p->out, " dyn");
        if (ir->dim.at[k].known)
            twi_sb_printf(p->out, " = %lld", (long long)ir->dim.at[k].value);
        twi_sb_char(p->out, '\n');
    }
    for (uint32_t k = 1; k < ir->scalar.n; k++) {
        const twi_scalar *s = &ir->scalar.at[k];
        twi_sb_str(p->out, "scalar ");
        name(p, "s", k, s->name);
        twi_sb_printf(p->out, ": %s", tw_elem_name((tw_elem)s->elem));
        if (s->has_default) {
            twi_sb_str(p->out, " = ");
            bits(p, (tw_elem)s->elem, s->bits);
        }
        twi_sb_char(p->out, '\n');
    }
    for (uint32_t k = 1; k < ir->array.n; k++)
        array(p, k);
    for (uint32_t k = 1; k < ir->fact.n; k++)
        fact(p, &ir->fact.at[k]);
}

/* ---- instructions ---- */
static void access(printer *p, twi_id v) {
    static const char *const proofs[] = {"", "", " guarded", " checked"};
    const twi_access *a = &p->ir->access.at[p->ir->ins.at[v].attr];
    name(p, "a", a->array, p->ir->array.at[a->array].name);
    twi_sb_char(p->out, '[');
    for (unsigned d = 0; d < p->ir->array.at[a->array].rank; d++) {
        twi_sb_str(p->out, d ? ", " : "");
        if (a->gather[d]) {
            twi_sb_str(p->out, "$");
            value(p, twi_gathered(p->ir, v, d));
        } else {
            ix(p, a->ix[d]);
        }
    }
    twi_sb_char(p->out, ']');
    twi_sb_str(p->out, a->proof == TWI_ACCESS_UNKNOWN ? " unproved" : proofs[a->proof]);
}

static void type(printer *p, twi_type t) {
    if (t.elem != TW_NONE)
        twi_sb_str(p->out, tw_elem_name((tw_elem)t.elem));
    const char *open = "{";
    for (unsigned a = 1; a < p->ir->axis.n; a++)
        if (t.axes >> a & 1u) {
            twi_sb_str(p->out, open);
            axis(p, a);
            open = ", ";
        }
    if (t.axes)
        twi_sb_char(p->out, '}');
}

static void args(printer *p, twi_id v) {
    for (uint32_t k = 0; k < twi_plain_args(p->ir, v); k++) {
        twi_sb_str(p->out, k == 0 ? " " : ", ");
        value(p, twi_arg(p->ir, v, k));
    }
}

/* What stands behind the operation's name: its attribute. */
static void attribute(printer *p, twi_id v) {
    const tw_ir *ir = p->ir;
    const twi_ins *ins = &ir->ins.at[v];
    if (ins->op == TWI_CONST) {
        const twi_const *c = &ir->constant.at[ins->attr];
        twi_sb_char(p->out, ' ');
        if (c->known)
            bits(p, (tw_elem)ins->type.elem, c->bits);
        else
            num(p, c->num);
    } else if (ins->op == TWI_SCALAR) {
        twi_sb_char(p->out, ' ');
        name(p, "s", ins->attr, ir->scalar.at[ins->attr].name);
    } else if (ins->op == TWI_INDEX) {
        twi_sb_char(p->out, ' ');
        axis(p, ins->attr);
    } else if (ins->op == TWI_IXVAL) {
        twi_sb_char(p->out, ' ');
        ix(p, ins->attr);
    } else if (ins->op == TWI_LOAD) {
        twi_sb_char(p->out, ' ');
        access(p, v);
        twi_sb_str(p->out, twi_plain_args(ir, v) ? " else" : "");
    } else if (ins->op == TWI_NARROW) {
        twi_sb_printf(p->out, " %s", tw_elem_name((tw_elem)ins->attr));
    } else if (ins->op == TWI_PART) {
        twi_sb_printf(p->out, " %u of", (unsigned)ins->attr);
    } else if (twi_has_bracket(ins->op)) {
        bool scan = twi_op_row(ins->op)->kind == TWI_KIND_ORDER;
        twi_sb_char(p->out, '[');
        for (unsigned k = 0; k < ins->nfold; k++) {
            twi_sb_str(p->out, k ? ", " : "");
            axis(p, ins->fold[k]);
        }
        twi_sb_printf(p->out, "] %s%s%s", order_names[ins->order],
                      scan && (ins->attr & TWI_SCAN_EXCLUSIVE) ? " exclusive" : "",
                      scan && (ins->attr & TWI_SCAN_REVERSE) ? " reverse" : "");
    }
}

static void indent(printer *p, int depth) {
    for (int k = 0; k < depth; k++)
        twi_sb_str(p->out, "    ");
}

static void range(printer *p, uint32_t a) {
    const twi_axis *x = &p->ir->axis.at[a];
    axis(p, a);
    twi_sb_str(p->out, ": ");
    ix(p, x->lo);
    twi_sb_str(p->out, " .. ");
    ix(p, x->hi);
    if (x->block)
        twi_sb_printf(p->out, " tile %lld", (long long)x->block);
}

static void region(printer *p, uint32_t id, int depth);

static void region_line(printer *p, const twi_ins *ins, int depth) {
    const twi_region *r = &p->ir->region.at[ins->attr];
    twi_sb_str(p->out, twi_op_row(ins->op)->name);
    for (uint32_t k = 0; k < r->axes.n; k++) {
        twi_sb_str(p->out, k ? ", " : " ");
        range(p, r->axes.at[k]);
    }
    twi_sb_str(p->out, " {\n");
    region(p, ins->attr, depth + 1);
    indent(p, depth);
    twi_sb_str(p->out, "}\n");
}

static void effect(printer *p, twi_id v) {
    const twi_ins *ins = &p->ir->ins.at[v];
    twi_sb_str(p->out, twi_op_row(ins->op)->name);
    if (ins->op == TWI_ATOMIC)
        twi_sb_printf(p->out, "_%s", twi_op_row(p->ir->access.at[ins->attr].atomic)->name);
    twi_sb_char(p->out, ' ');
    access(p, v);
    twi_sb_str(p->out, " = ");
    value(p, twi_arg(p->ir, v, 0));
    if (twi_plain_args(p->ir, v) > 1) {
        twi_sb_str(p->out, " when ");
        value(p, twi_arg(p->ir, v, 1));
    }
    if (p->ir->lifted) { /* the domain cannot be told from the subscripts any more */
        twi_sb_str(p->out, " over ");
        type(p, (twi_type){TW_NONE, ins->type.axes});
    }
    twi_sb_char(p->out, '\n');
}

static void instruction(printer *p, twi_id v, int depth) {
    const twi_ins *ins = &p->ir->ins.at[v];
    indent(p, depth);
    if (twi_op_row(ins->op)->kind == TWI_KIND_REGION) {
        region_line(p, ins, depth);
        return;
    }
    if (twi_op_row(ins->op)->kind == TWI_KIND_EFFECT) {
        effect(p, v);
        return;
    }
    value(p, v);
    twi_sb_str(p->out, ": ");
    type(p, ins->type);
    twi_sb_printf(p->out, " = %s", twi_op_row(ins->op)->name);
    attribute(p, v);
    if (ins->op == TWI_RESULT) {
        const twi_region *r = &p->ir->region.at[p->ir->ins.at[twi_arg(p->ir, v, 0)].attr];
        twi_sb_char(p->out, ' ');
        axis(p, r->axes.at[0]);
        twi_sb_printf(p->out, " %u", (unsigned)ins->attr);
    } else {
        args(p, v);
    }
    twi_sb_char(p->out, '\n');
}

static void last_value(void *user, twi_id v) {
    twi_id *last = user;
    *last = v > *last ? v : *last;
}

/* The axes of a region whose bounds are known once value `after` is, and were not before `from`:
 * ids follow the text. */
static void axes_after(printer *p, uint32_t region, twi_id from, twi_id after, int depth) {
    const tw_ir *ir = p->ir;
    for (uint32_t a = 1; a < ir->axis.n; a++) {
        twi_id last = 0;
        if (ir->axis.at[a].region != region || ir->axis.at[a].kind != TWI_AXIS_FULL)
            continue;
        twi_ix_values(ir, ir->axis.at[a].lo, last_value, &last);
        twi_ix_values(ir, ir->axis.at[a].hi, last_value, &last);
        if (last < from || last > after)
            continue;
        indent(p, depth);
        twi_sb_str(p->out, "axis ");
        range(p, a);
        twi_sb_char(p->out, '\n');
    }
}

static void region(printer *p, uint32_t id, int depth) {
    const tw_ir *ir = p->ir;
    const twi_region *r = &ir->region.at[id];
    axes_after(p, id, 0, r->ins, depth);
    for (uint32_t k = 0; k < r->carries.n; k++) {
        indent(p, depth);
        value(p, r->carries.at[k]);
        twi_sb_str(p->out, ": ");
        type(p, ir->ins.at[r->carries.at[k]].type);
        twi_sb_str(p->out, " = carry ");
        value(p, twi_arg(ir, r->ins, k));
        twi_sb_char(p->out, '\n');
    }
    if (r->carries.n)
        axes_after(p, id, r->ins + 1u, r->carries.at[r->carries.n - 1u], depth);
    for (uint32_t k = 0; k < r->body.n; k++) {
        instruction(p, r->body.at[k], depth);
        axes_after(p, id, r->body.at[k], r->body.at[k], depth);
    }
    for (uint32_t k = 0; k < r->yields.n; k++) {
        if (k == 0) {
            indent(p, depth);
            twi_sb_str(p->out, "yield ");
        } else {
            twi_sb_str(p->out, ", ");
        }
        value(p, r->yields.at[k]);
        if (k + 1 == r->yields.n)
            twi_sb_char(p->out, '\n');
    }
}

void twi_ir_print(const tw_ir *ir, twi_sb *out) {
    printer p = {ir, out, false};
    head(&p);
    region(&p, 1, 0);
}

uint64_t twi_ir_hash(const tw_ir *ir) {
    twi_mark mark = twi_arena_mark(ir->arena);
    twi_sb sb;
    twi_sb_init(&sb, ir->arena);
    printer p = {ir, &sb, true};
    head(&p);
    region(&p, 1, 0);
    uint64_t h = twi_hash(sb.at, sb.n, 0);
    twi_arena_reset(ir->arena, mark);
    return h;
}
