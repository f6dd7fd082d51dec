/* SPDX-License-Identifier: Apache-2.0
 * The builder's head of a kernel: dims, arrays, scalars, facts, and untyped constants.
 */
#include "ir/build.h"

bool twi_build_is_name(const char *name) {
    if (!name || !*name || (*name >= '0' && *name <= '9'))
        return false;
    for (const char *p = name; *p; p++)
        if (!((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
              *p == '_'))
            return false;
    return true;
}

twi_sym twi_build_sym(tw_builder *b, const char *name, const char *what) {
    if (twi_build_is_name(name))
        return twi_intern_str(&b->ctx->names, name);
    twi_build_fail(b, TWI_E_NAME_WRONG, "letters, digits and _, not starting with a digit",
                   "%s is no name for a%s %s", name ? name : "(nothing)", *what == 'a' ? "n" : "",
                   what);
    return 0;
}

/* Arrays, scalars and dims share the kernel's namespace. */
static bool is_free(tw_builder *b, twi_sym name) {
    const tw_ir *ir = b->ir;
    bool taken = false;
    for (uint32_t k = 1; k < ir->array.n; k++)
        taken |= ir->array.at[k].name == name;
    for (uint32_t k = 1; k < ir->scalar.n; k++)
        taken |= ir->scalar.at[k].name == name;
    for (uint32_t k = 1; k < ir->dim.n; k++)
        taken |= ir->dim.at[k].name == name;
    if (taken)
        twi_build_fail(b, TWI_E_NAME_TWICE, "one name stands for one thing in a kernel",
                       "%s is declared twice", twi_text(&b->ctx->names, name));
    return !taken;
}

bool twi_build_elem_ok(tw_builder *b, tw_elem elem) {
    if (twi_elem_is_built(elem))
        return true;
    twi_build_fail(b, TWI_E_NOT_BUILT, NULL, "type %s is not built yet", tw_elem_name(elem));
    return false;
}

/* ---- notes and numerics ---- */
static void note(tw_builder *b, const char *text) {
    b->ir->spec_note = twi_intern_str(&b->ctx->names, text ? text : "");
}

void tw_build_note(tw_builder *b, const char *text) {
    BUILD_ENTER(b, BUILD_NOTHING)
    note(b, text);
    BUILD_LEAVE(b);
}

bool twi_build_order(tw_builder *b, tw_order order, uint8_t *out) {
    static const uint8_t kinds[] = {
        [TW_ORDER_AS_SAID] = TWI_ORDER_DEFAULT, [TW_ORDER_FREE] = TWI_ORDER_FREE,
        [TW_ORDER_TREE] = TWI_ORDER_TREE,       [TW_ORDER_LEFT] = TWI_ORDER_LEFT,
        [TW_ORDER_RIGHT] = TWI_ORDER_RIGHT,     [TW_ORDER_CANONICAL] = TWI_ORDER_CANONICAL};
    if ((unsigned)order > TW_ORDER_CANONICAL || order == TW_ORDER_RIGHT) {
        twi_build_fail(b, TWI_E_NOT_BUILT, "built are free, tree, left and canonical",
                       "order = %s is not built yet", order == TW_ORDER_RIGHT ? "right" : "?");
        return false;
    }
    *out = kinds[order] == TWI_ORDER_DEFAULT ? b->ir->order : kinds[order];
    return true;
}

static void numerics(tw_builder *b, tw_order order, bool native_math) {
    uint8_t kind;
    if (twi_build_order(b, order, &kind))
        b->ir->order = kind;
    if (native_math)
        twi_build_fail(b, TWI_E_NOT_BUILT, "math = portable", "math = native is not built yet");
}

void tw_build_numerics(tw_builder *b, tw_order order, bool native_math) {
    BUILD_ENTER(b, BUILD_NOTHING)
    numerics(b, order, native_math);
    BUILD_LEAVE(b);
}

/* ---- dims, arrays, scalars ---- */
static tw_ix dim(tw_builder *b, const char *name, bool dyn) {
    tw_ir *ir = b->ir;
    twi_sym sym = twi_build_sym(b, name, "dim");
    if (sym == 0)
        return 0;
    for (uint32_t k = 1; k < ir->dim.n; k++)
        if (ir->dim.at[k].name == sym) {
            ir->dim.at[k].dyn |= dyn;
            return twi_ix_leaf(ir, TWI_IX_DIM, k);
        }
    if (!is_free(b, sym))
        return 0;
    twi_push(ir->arena, &ir->dim, ((twi_dim){.name = sym, .dyn = dyn, .loc = b->loc}));
    return twi_ix_leaf(ir, TWI_IX_DIM, ir->dim.n - 1u);
}

tw_ix tw_build_dim(tw_builder *b, const char *name, bool dyn) {
    BUILD_ENTER(b, 0)
    tw_ix x = dim(b, name, dyn);
    BUILD_LEAVE(b);
    return x;
}

/* Dims and numbers, nothing that a launch does not know. */
static bool of_dims(const tw_ir *ir, twi_ix x) {
    const twi_ix_node *n = &ir->ix.at[x];
    if (n->op == TWI_IX_CONST || n->op == TWI_IX_DIM)
        return true;
    return n->op >= TWI_IX_ADD && of_dims(ir, n->a) && of_dims(ir, n->b);
}

static tw_array array(tw_builder *b, const char *name, tw_elem elem, tw_role role,
                      const tw_ix *dims, int rank) {
    static const uint8_t roles[] = {[TW_ROLE_IN] = TWI_IN,
                                    [TW_ROLE_OUT] = TWI_OUT,
                                    [TW_ROLE_INOUT] = TWI_INOUT,
                                    [TW_ROLE_TEMP] = TWI_TEMP};
    tw_ir *ir = b->ir;
    twi_sym sym = twi_build_sym(b, name, "array");
    if (sym == 0 || !is_free(b, sym) || !twi_build_elem_ok(b, elem))
        return 0;
    if (rank < 0 || rank > TWI_MAX_RANK) {
        twi_build_fail(b, TWI_E_TOO_MANY, "at most 8", "array %s has %d dims", name, rank);
        return 0;
    }
    twi_array a = {.name = sym,
                   .elem = (uint8_t)elem,
                   .rank = (uint8_t)rank,
                   .role = roles[role],
                   .loc = b->loc};
    for (int k = 0; k < rank; k++) {
        if (!twi_build_ix_valid(b, dims[k]))
            return 0;
        if (!of_dims(ir, dims[k])) {
            twi_build_fail(b, TWI_E_RANGE_BOUND, "dims, numbers and + - * // % min max of these",
                           "dim %d of array %s is not known at launch", k, name);
            return 0;
        }
        a.dim[k] = dims[k];
    }
    twi_push(ir->arena, &ir->array, a);
    return ir->array.n - 1u;
}

tw_array tw_build_array(tw_builder *b, const char *name, tw_elem elem, tw_role role,
                        const tw_ix *dims, int rank) {
    BUILD_ENTER(b, 0)
    tw_array a = array(b, name, elem, role, dims, rank);
    BUILD_LEAVE(b);
    return a;
}

static const char *num_text(tw_builder *b, const twi_num *num) {
    if (num->integer)
        return twi_format(&b->arena, "%lld", (long long)num->whole);
    twi_sb sb;
    twi_sb_init(&sb, &b->arena);
    twi_sb_f64(&sb, num->hi);
    return twi_sb_text(&sb);
}

/* The pattern of a constant in a type, or why there is none. */
static bool typed(tw_builder *b, tw_elem elem, tw_num num, uint64_t *bits) {
    const twi_num *n = &b->ir->num.at[num];
    if (twi_num_bits(n, elem, false, bits))
        return true;
    bool fraction = !n->integer && !twi_is_float(elem);
    twi_build_fail(b, TWI_E_CONST_RANGE,
                   fraction ? "an integer type takes integer constants"
                            : "write the value that the type has, as a float",
                   "%s has no exact value in %s", num_text(b, n), tw_elem_name(elem));
    return false;
}

static bool num_valid(tw_builder *b, tw_num num) {
    if (num != 0 && num >= b->ir->num.n)
        twi_build_fail(b, TWI_E_HANDLE, NULL, "constant %u does not exist", (unsigned)num);
    return num != 0 && num < b->ir->num.n;
}

static void fill(tw_builder *b, tw_array out, tw_num value) {
    if (out == 0 || out >= b->ir->array.n || !num_valid(b, value))
        return;
    twi_array *a = &b->ir->array.at[out];
    if (a->role != TWI_OUT) {
        twi_build_fail(b, TWI_E_FILL_ROLE, NULL,
                       "%s is no `out` array, so it cannot have a fill value",
                       twi_text(&b->ctx->names, a->name));
    } else if (!twi_num_known(b->ir, value)) {
        twi_build_fail(b, TWI_E_NOT_BUILT, NULL, "a fill value that uses dims is not built yet");
    } else if (typed(b, (tw_elem)a->elem, value, &a->fill)) {
        a->has_fill = true;
    }
}

void tw_build_fill(tw_builder *b, tw_array out, tw_num value) {
    BUILD_ENTER(b, BUILD_NOTHING)
    fill(b, out, value);
    BUILD_LEAVE(b);
}

static tw_value scalar(tw_builder *b, const char *name, tw_elem elem, tw_num default_value) {
    tw_ir *ir = b->ir;
    twi_sym sym = twi_build_sym(b, name, "scalar");
    if (sym == 0 || !is_free(b, sym) || !twi_build_elem_ok(b, elem))
        return 0;
    twi_scalar s = {.name = sym, .elem = (uint8_t)elem, .loc = b->loc};
    if (default_value != 0 && num_valid(b, default_value)) {
        if (!twi_num_known(ir, default_value))
            twi_build_fail(b, TWI_E_NOT_BUILT, NULL, "a default that uses dims is not built yet");
        else
            s.has_default = typed(b, elem, default_value, &s.bits);
    }
    twi_push(ir->arena, &ir->scalar, s);
    twi_ins ins = {.op = TWI_SCALAR,
                   .attr = ir->scalar.n - 1u,
                   .name = sym,
                   .type = {(uint8_t)twi_value_elem(elem), 0}};
    return twi_build_put(b, ins, NULL, 0);
}

tw_value tw_build_scalar(tw_builder *b, const char *name, tw_elem elem, tw_num default_value) {
    BUILD_ENTER(b, 0)
    tw_value v = scalar(b, name, elem, default_value);
    BUILD_LEAVE(b);
    return v;
}

static void fact(tw_builder *b, tw_relation relation, tw_ix x, tw_ix y) {
    static const uint8_t ops[] = {[TW_REL_EQ] = TWI_EQ, [TW_REL_NE] = TWI_NE, [TW_REL_LT] = TWI_LT,
                                  [TW_REL_LE] = TWI_LE, [TW_REL_GT] = TWI_GT, [TW_REL_GE] = TWI_GE};
    if (!twi_build_ix_valid(b, x) || !twi_build_ix_valid(b, y))
        return;
    if (!of_dims(b->ir, x) || !of_dims(b->ir, y)) {
        twi_build_fail(b, TWI_E_FACT_DIMS, NULL, "`requires` speaks of dims and numbers only");
        return;
    }
    twi_fact f = {.op = ops[relation], .a = x, .b = y, .loc = b->loc};
    twi_push(b->ir->arena, &b->ir->fact, f);
}

void tw_build_requires(tw_builder *b, tw_relation relation, tw_ix x, tw_ix y) {
    BUILD_ENTER(b, BUILD_NOTHING)
    fact(b, relation, x, y);
    BUILD_LEAVE(b);
}

/* ---- untyped constants ---- */
tw_num tw_build_num_int(tw_builder *b, int64_t k) {
    BUILD_ENTER(b, 0)
    tw_num num = twi_num_int(b->ir, k);
    BUILD_LEAVE(b);
    return num;
}

static tw_num num_of_text(tw_builder *b, const char *numeral) {
    tw_num num = numeral ? twi_num_decimal(b->ir, numeral, strlen(numeral)) : 0;
    if (num == 0)
        twi_build_fail(b, TWI_E_NUMERAL, NULL, "%s is no numeral", numeral ? numeral : "(nothing)");
    return num;
}

tw_num tw_build_num_text(tw_builder *b, const char *numeral) {
    BUILD_ENTER(b, 0)
    tw_num num = num_of_text(b, numeral);
    BUILD_LEAVE(b);
    return num;
}

static tw_num num_of_ix(tw_builder *b, tw_ix x) {
    tw_ir *ir = b->ir;
    int64_t k;
    if (!twi_build_ix_valid(b, x))
        return 0;
    if (twi_ix_is_const(ir, x, &k))
        return twi_num_int(ir, k);
    if (!of_dims(ir, x)) {
        twi_build_fail(b, TWI_E_CONST_DIMS, "make a value of it",
                       "%s is no constant: it depends on positions", twi_build_ix_text(b, x));
        return 0;
    }
    (void)twi_num_int(ir, 0); /* the table has its dummy */
    twi_push(ir->arena, &ir->num, ((twi_num){.op = TWI_NUM_IX, .ix = x, .depth = 1}));
    return ir->num.n - 1u;
}

tw_num tw_build_num_ix(tw_builder *b, tw_ix x) {
    BUILD_ENTER(b, 0)
    tw_num num = num_of_ix(b, x);
    BUILD_LEAVE(b);
    return num;
}

static tw_num num_op(tw_builder *b, char op, tw_num x, tw_num y) {
    static const char signs[] = "+-*/";
    static const twi_num_op ops[] = {TWI_NUM_ADD, TWI_NUM_SUB, TWI_NUM_MUL, TWI_NUM_DIV};
    tw_num num;
    if (!num_valid(b, x) || (op != 'n' && !num_valid(b, y)))
        return 0;
    const twi_num *n = &b->ir->num.at[x];
    if (op == 'n' && n->op == TWI_NUM_VALUE && !n->integer) {
        twi_num minus = *n; /* not 0 - x: that would lose the sign of 0.0 */
        minus.hi = -minus.hi;
        minus.lo = -minus.lo;
        twi_push(b->ir->arena, &b->ir->num, minus);
        return b->ir->num.n - 1u;
    }
    const char *at = strchr(signs, op == 'n' ? '-' : op);
    if (op == 0 || !at) {
        twi_build_fail(b, TWI_E_HANDLE, NULL, "no operation on constants: '%c'", op);
        return 0;
    }
    if (op == 'n')
        num = twi_num_make(b->ir, TWI_NUM_SUB, twi_num_int(b->ir, 0), x);
    else
        num = twi_num_make(b->ir, ops[at - signs], x, y);
    if (num == 0)
        twi_build_fail(b, TWI_E_DEEP, NULL, "a constant expression is nested too deep");
    return num;
}

tw_num tw_build_num_op(tw_builder *b, char op, tw_num x, tw_num y) {
    BUILD_ENTER(b, 0)
    tw_num num = num_op(b, op, x, y);
    BUILD_LEAVE(b);
    return num;
}

twi_id twi_build_constant(tw_builder *b, tw_elem elem, uint32_t num) {
    twi_const c = {.num = num};
    tw_elem value = twi_value_elem(elem);
    if (!twi_build_elem_ok(b, elem) || !num_valid(b, num))
        return 0;
    if (twi_num_known(b->ir, num)) {
        c.known = true;
        if (!typed(b, value, num, &c.bits))
            return 0;
        c.num = 0;
    }
    if (b->ir->constant.n == 0)
        twi_push(b->ir->arena, &b->ir->constant, (twi_const){0});
    twi_push(b->ir->arena, &b->ir->constant, c);
    twi_ins ins = {.op = TWI_CONST, .attr = b->ir->constant.n - 1u, .type = {(uint8_t)value, 0}};
    return twi_build_put(b, ins, NULL, 0);
}

static tw_value constant(tw_builder *b, tw_elem elem, tw_num value) {
    twi_id id = twi_build_constant(b, elem, value);
    if (id == 0 || elem == twi_value_elem(elem))
        return id;
    /* bf16(0.1): the numeral is rounded once, so round to the narrow type before NARROW, which then
     * keeps it */
    twi_const *c = &b->ir->constant.at[b->ir->ins.at[id].attr];
    if (c->known && !twi_narrow_const(&b->ir->num.at[value], elem, &c->bits))
        twi_build_fail(b, TWI_E_CONST_RANGE, NULL, "the constant has no value in %s",
                       tw_elem_name(elem));
    twi_ins ins = {.op = TWI_NARROW, .attr = elem, .type = {TW_F32, 0}};
    return b->current == 1 ? id : twi_build_put(b, ins, &id, 1);
}

tw_value tw_build_const(tw_builder *b, tw_elem elem, tw_num value) {
    BUILD_ENTER(b, 0)
    tw_value v = constant(b, elem, value);
    BUILD_LEAVE(b);
    return v;
}
