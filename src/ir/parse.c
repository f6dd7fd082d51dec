/* SPDX-License-Identifier: Apache-2.0
 * Tile IR from its text form (print.c shows it). What is read is verified like what the builder
 * makes, and what the text claims to be proved is proved again: edited text gets no further than a
 * program would.
 */
#include "ir/poly.h"
#include "ir/scan.h"

static uint8_t order(twi_scan *s) {
    static const char *const names[] = {"free", "tree", "left", "right", "canonical"};
    for (uint8_t k = 0; k < 5; k++)
        if (twi_scan_try(s, names[k]))
            return (uint8_t)(TWI_ORDER_FREE + k);
    twi_scan_fail(s, TWI_E_TEXT, "expected an order");
    return 0;
}

/* ---- head ---- */
static void note(twi_scan *s) {
    twi_sb sb;
    twi_sb_init(&sb, s->arena);
    twi_scan_need(s, "\"");
    while (!s->failed && s->at < s->n && s->text[s->at] != '"' && s->text[s->at] != '\n') {
        char c = s->text[s->at++];
        if (c == '\\') {
            int v = 0;
            for (int k = 0; k < 2; k++) {
                char d = s->n - s->at > (size_t)k + 1u ? s->text[s->at + (size_t)k + 1u] : 'z';
                int digit = d >= '0' && d <= '9'   ? d - '0'
                            : d >= 'a' && d <= 'f' ? d - 'a' + 10
                                                   : 256;
                v = v * 16 + digit;
            }
            if (s->at >= s->n || s->text[s->at] != 'x' || v > 127 || v == 0) {
                twi_scan_fail(s, TWI_E_TEXT, "expected \\x and two digits");
                return;
            }
            s->at += 3;
            c = (char)v;
        }
        if (c == '\0')
            twi_scan_fail(s, TWI_E_TEXT, "a NUL byte in a note");
        twi_sb_char(&sb, c);
    }
    twi_scan_need(s, "\"");
    if (!s->failed && sb.n)
        s->ir->spec_note = twi_intern(&s->ir->ctx->names, sb.at, sb.n);
}

static void dim(twi_scan *s) {
    twi_dim d = {.loc = twi_scan_loc(s)};
    d.name = twi_scan_sym(s);
    d.dyn = twi_scan_try(s, "dyn");
    if (twi_scan_try(s, "=")) {
        d.known = true;
        d.value = twi_scan_int(s);
        if (d.value < 0)
            twi_scan_fail(s, TWI_E_EXTENT, "a dim is never negative");
    }
    twi_symbols_set(s, &s->dims, d.name, s->ir->dim.n);
    twi_push(s->ir->arena, &s->ir->dim, d);
}

static void scalar(twi_scan *s) {
    twi_scalar x = {.loc = twi_scan_loc(s)};
    x.name = twi_scan_sym(s);
    twi_scan_need(s, ":");
    x.elem = (uint8_t)twi_scan_elem(s);
    if (twi_scan_try(s, "=")) {
        x.has_default = true;
        x.bits = twi_scan_bits(s, (tw_elem)x.elem);
    }
    twi_symbols_set(s, &s->scalars, x.name, s->ir->scalar.n);
    twi_push(s->ir->arena, &s->ir->scalar, x);
}

static void array(twi_scan *s) {
    static const char *const roles[] = {"in", "out", "inout", "temp"};
    twi_array a = {.loc = twi_scan_loc(s), .role = 4};
    a.name = twi_scan_sym(s);
    twi_scan_need(s, ":");
    for (uint8_t k = 0; k < 4 && a.role == 4; k++)
        if (twi_scan_try(s, roles[k]))
            a.role = k;
    if (a.role == 4)
        twi_scan_fail(s, TWI_E_TEXT, "expected in, out, inout or temp");
    a.elem = (uint8_t)twi_scan_elem(s);
    twi_scan_need(s, "[");
    while (!s->failed && !twi_scan_try(s, "]")) {
        if (a.rank == TWI_MAX_RANK || (a.rank && !twi_scan_try(s, ","))) {
            twi_scan_fail(s, TWI_E_TEXT, "expected ] or at most 8 dims");
            return;
        }
        a.dim[a.rank++] = twi_scan_ix(s);
    }
    if (twi_scan_try(s, "=")) {
        a.has_fill = true;
        a.fill = twi_scan_bits(s, (tw_elem)a.elem);
        if (a.role != TWI_OUT)
            twi_scan_fail(s, TWI_E_FILL_ROLE, "only an out array has a fill value");
    }
    twi_symbols_set(s, &s->arrays, a.name, s->ir->array.n);
    twi_push(s->ir->arena, &s->ir->array, a);
}

static void fact(twi_scan *s) {
    static const struct {
        const char *text;
        uint8_t op;
    } signs[] = {{"==", TWI_EQ}, {"!=", TWI_NE}, {"<=", TWI_LE},
                 {">=", TWI_GE}, {"<", TWI_LT},  {">", TWI_GT}};
    twi_fact f = {.loc = twi_scan_loc(s)};
    f.a = twi_scan_ix(s);
    for (size_t k = 0; k < 6 && f.op == 0; k++)
        if (twi_scan_try(s, signs[k].text))
            f.op = signs[k].op;
    if (f.op == 0)
        twi_scan_fail(s, TWI_E_TEXT, "expected a comparison");
    f.b = twi_scan_ix(s);
    if (!s->failed)
        twi_push(s->ir->arena, &s->ir->fact, f);
}

static void head(twi_scan *s) {
    while (s->at < s->n &&
           (s->text[s->at] == '\n' || s->text[s->at] == '#' || s->text[s->at] == ' '))
        if (s->text[s->at] == '#')
            twi_scan_blanks(s);
        else
            s->at++;
    twi_scan_need(s, "kernel");
    s->ir->kernel = twi_scan_sym(s);
    twi_scan_need(s, "order");
    s->ir->order = order(s);
    s->ir->math = twi_scan_try(s, "native");
    s->ir->specialised = twi_scan_try(s, "specialised");
    s->ir->lifted = twi_scan_try(s, "lifted");
    twi_scan_newline(s);
    while (!s->failed) {
        if (twi_scan_try(s, "note"))
            note(s);
        else if (twi_scan_try(s, "dim"))
            dim(s);
        else if (twi_scan_try(s, "scalar"))
            scalar(s);
        else if (twi_scan_try(s, "array"))
            array(s);
        else if (twi_scan_try(s, "requires"))
            fact(s);
        else
            return;
        twi_scan_newline(s);
    }
}

/* ---- instructions ---- */
static twi_id put(twi_scan *s, twi_ins *ins, const twi_id *args, uint32_t nargs) {
    tw_ir *ir = s->ir;
    ins->arg = ir->args.n;
    ins->nargs = nargs;
    for (uint32_t k = 0; k < nargs; k++)
        twi_push(ir->arena, &ir->args, args[k]);
    twi_push(ir->arena, &ir->ins, *ins);
    return ir->ins.n - 1u;
}

/* gathered: the integer tiles among the subscripts, n of them so far. */
typedef struct {
    uint64_t axes;
    twi_id gathered[TWI_MAX_RANK];
    uint32_t n;
} subscripts;

static uint32_t access(twi_scan *s, subscripts *found) {
    static const char *const proofs[] = {"unproved", "proved", "guarded", "checked"};
    tw_ir *ir = s->ir;
    twi_sym sym = twi_scan_sym(s);
    twi_access a = {.array = twi_symbols_get(&s->arrays, sym), .proof = TWI_ACCESS_PROVED};
    if (!s->failed && a.array == 0)
        twi_scan_fail(s, TWI_E_TEXT_NAME, "no array is named %s", twi_text(&ir->ctx->names, sym));
    twi_scan_need(s, "[");
    for (unsigned d = 0; !s->failed && d < ir->array.at[a.array].rank; d++) {
        if (d)
            twi_scan_need(s, ",");
        if (twi_scan_try(s, "$")) {
            twi_id v = twi_scan_value(s);
            found->gathered[found->n++] = v;
            found->axes |= s->failed ? 0 : ir->ins.at[v].type.axes;
            a.gather[d] = (uint8_t)found->n; /* the plain operands come to it */
            continue;
        }
        a.ix[d] = twi_scan_ix(s);
        if (!s->failed)
            found->axes |= twi_tile_axes(ir, ir->ix.at[a.ix[d]].at);
    }
    twi_scan_need(s, "]");
    for (uint8_t k = 0; k < 4; k++)
        if (k != TWI_ACCESS_PROVED && twi_scan_try(s, proofs[k]))
            a.proof = k;
    if (!s->failed)
        twi_push(ir->arena, &ir->access, a);
    return ir->access.n - 1u;
}

/* The instruction's operands with those of the access behind them. */
static uint32_t with_subscripts(twi_scan *s, uint32_t access, const subscripts *found, twi_id *args,
                                uint32_t n) {
    twi_access *a = &s->ir->access.at[access];
    for (unsigned d = 0; d < TWI_MAX_RANK; d++)
        a->gather[d] = (uint8_t)(a->gather[d] ? a->gather[d] + n : 0);
    for (uint32_t k = 0; k < found->n; k++)
        args[n + k] = found->gathered[k];
    return n + found->n;
}

static twi_id store(twi_scan *s, twi_op op, twi_op atomic) {
    twi_ins ins = {.op = (uint16_t)op, .loc = twi_scan_loc(s)};
    subscripts found = {0};
    twi_id args[2 + TWI_MAX_RANK];
    uint32_t n = 1;
    ins.attr = access(s, &found);
    ins.type.axes = found.axes;
    twi_scan_need(s, "=");
    args[0] = twi_scan_value(s);
    if (twi_scan_try(s, "when"))
        args[n++] = twi_scan_value(s);
    if (twi_scan_try(s, "over"))
        ins.type.axes = twi_scan_axes(s);
    if (s->failed)
        return 0;
    s->ir->access.at[ins.attr].atomic = (uint8_t)atomic;
    n = with_subscripts(s, ins.attr, &found, args, n);
    return put(s, &ins, args, n);
}

/* `store Y[m] = x`, `atomic_add H[$b] = x when c`; 0: neither stands here. */
static bool effect(twi_scan *s, twi_id *v) {
    static const struct {
        const char *text;
        twi_op op, atomic;
    } effects[] = {{"store", TWI_STORE, TWI_NOP},
                   {"atomic_add", TWI_ATOMIC, TWI_ADD},
                   {"atomic_max", TWI_ATOMIC, TWI_MAX},
                   {"atomic_min", TWI_ATOMIC, TWI_MIN}};
    for (size_t k = 0; k < sizeof effects / sizeof *effects; k++)
        if (twi_scan_try(s, effects[k].text)) {
            *v = store(s, effects[k].op, effects[k].atomic);
            return true;
        }
    return false;
}

static void constant(twi_scan *s, twi_ins *ins) {
    twi_const c = {.known = true};
    size_t start = s->at;
    twi_scan_blanks(s);
    bool of_dims = s->at < s->n && (s->text[s->at] == '(' ||
                                    (s->n - s->at > 3 && (memcmp(s->text + s->at, "ix(", 3) == 0)));
    s->at = start;
    if (of_dims) {
        c.known = false;
        c.num = twi_scan_num(s);
    } else {
        c.bits = twi_scan_bits(s, (tw_elem)ins->type.elem);
    }
    twi_push(s->ir->arena, &s->ir->constant, c);
    ins->attr = s->ir->constant.n - 1u;
}

static void bracket(twi_scan *s, twi_ins *ins) {
    do {
        if (ins->nfold == TWI_MAX_RANK)
            twi_scan_fail(s, TWI_E_TEXT, "more than 8 axes in a bracket");
        else
            ins->fold[ins->nfold++] = (uint8_t)twi_scan_axis(s);
    } while (!s->failed && twi_scan_try(s, ","));
    twi_scan_need(s, "]");
    ins->order = order(s);
    if (twi_op_row(ins->op)->kind == TWI_KIND_ORDER) {
        ins->attr = twi_scan_try(s, "exclusive") ? TWI_SCAN_EXCLUSIVE : 0;
        ins->attr |= twi_scan_try(s, "reverse") ? TWI_SCAN_REVERSE : 0;
    }
}

/* `result j 0`: of the last loop over j that ended in this region. */
static twi_id loop_over(twi_scan *s) {
    const tw_ir *ir = s->ir;
    twi_sym sym = twi_scan_sym(s);
    for (uint32_t a = ir->axis.n; !s->failed && a-- > 1;) {
        uint32_t r = ir->axis.at[a].region;
        if (ir->axis.at[a].name == sym && ir->axis.at[a].kind == TWI_AXIS_STEP &&
            ir->region.at[r].parent == s->region)
            return ir->region.at[r].ins;
    }
    twi_scan_fail(s, TWI_E_TEXT_NAME, "no loop over %s has ended here",
                  twi_text(&ir->ctx->names, sym));
    return 0;
}

static unsigned operation(twi_scan *s) {
    twi_word w = twi_scan_name(s);
    bool fold = twi_scan_try(s, "[");
    for (unsigned op = 1; !s->failed && op < TWI_TILE_END; op++)
        if (op != TWI_ELEMENTWISE_END && twi_has_bracket(op) == fold &&
            twi_scan_is(w, twi_op_row(op)->name))
            return op;
    return TWI_NOP;
}

static uint32_t attribute(twi_scan *s, twi_ins *ins, twi_id *args) {
    if (ins->op == TWI_CONST) {
        constant(s, ins);
    } else if (ins->op == TWI_SCALAR) {
        twi_sym sym = twi_scan_sym(s);
        ins->attr = twi_symbols_get(&s->scalars, sym);
        if (ins->attr == 0)
            twi_scan_fail(s, TWI_E_TEXT_NAME, "no scalar is named %s",
                          twi_text(&s->ir->ctx->names, sym));
    } else if (ins->op == TWI_INDEX) {
        ins->attr = twi_scan_axis(s);
    } else if (ins->op == TWI_IXVAL) {
        ins->attr = twi_scan_ix(s);
    } else if (ins->op == TWI_LOAD) {
        subscripts found = {0};
        ins->attr = access(s, &found);
        uint32_t plain = twi_scan_try(s, "else") ? 1 : 0;
        if (plain)
            args[0] = twi_scan_value(s);
        return s->failed ? 0 : with_subscripts(s, ins->attr, &found, args, plain);
    } else if (ins->op == TWI_NARROW) {
        ins->attr = twi_scan_elem(s);
    } else if (ins->op == TWI_PART) {
        ins->attr = (uint32_t)twi_scan_int(s);
        twi_scan_need(s, "of");
    } else if (ins->op == TWI_RESULT) {
        args[0] = loop_over(s);
        int64_t k = twi_scan_int(s);
        ins->attr = k >= 0 && k <= INT32_MAX ? (uint32_t)k : UINT32_MAX;
        return 1;
    }
    uint32_t n = 0;
    if (twi_scan_line_end(s))
        return 0;
    do
        args[n++] = twi_scan_value(s);
    while (!s->failed && n < 3 && twi_scan_try(s, ","));
    return n;
}

/* NAME: TYPE = OP ... */
static void define(twi_scan *s) {
    tw_ir *ir = s->ir;
    twi_ins ins = {.loc = twi_scan_loc(s)};
    twi_id args[1 + TWI_MAX_RANK] = {0}, v;
    uint32_t n = 0;
    twi_region *r = &ir->region.at[s->region];
    ins.name = twi_scan_sym(s);
    twi_scan_need(s, ":");
    ins.type.elem = (uint8_t)twi_scan_elem(s);
    ins.type.axes = twi_scan_axes(s);
    twi_scan_need(s, "=");
    ins.op = (uint16_t)operation(s);
    if (!s->failed && (twi_op_row(ins.op)->kind == TWI_KIND_REGION ||
                       twi_op_row(ins.op)->kind == TWI_KIND_EFFECT || ins.op == TWI_NOP))
        twi_scan_fail(s, TWI_E_TEXT, "expected an operation that gives a value");
    if (s->failed)
        return;
    if (twi_has_bracket(ins.op))
        bracket(s, &ins);
    n = attribute(s, &ins, args);
    if (s->failed)
        return;
    if (ins.op == TWI_CARRY) {
        if (r->kind != TWI_REGION_SERIAL || r->body.n != 0 || n != 1) {
            twi_scan_fail(s, TWI_E_TEXT, "a carry has one operand and stands first in a loop");
            return;
        }
        ins.attr = r->carries.n;
        twi_push(ir->arena, &ir->args, args[0]);
        ir->ins.at[r->ins].nargs++;
        v = put(s, &ins, NULL, 0);
        twi_push(ir->arena, &r->carries, v);
    } else {
        v = put(s, &ins, args, n);
        twi_push(ir->arena, &r->body, v);
    }
    twi_symbols_set(s, &s->values, ins.name, v);
}

/* ---- regions ---- */
static void range(twi_scan *s, twi_axis_kind kind, uint32_t region) {
    tw_ir *ir = s->ir;
    twi_axis a = {.kind = (uint8_t)kind, .region = region, .loc = twi_scan_loc(s)};
    a.name = twi_scan_sym(s);
    twi_scan_need(s, ":");
    a.lo = twi_scan_ix(s);
    twi_scan_need(s, "..");
    a.hi = twi_scan_ix(s);
    if (kind != TWI_AXIS_FULL && twi_scan_try(s, "tile")) {
        a.block = twi_scan_int(s);
        if (a.block <= 0)
            twi_scan_fail(s, TWI_E_BLOCK_SIZE, "a block is positive");
        a.kind = kind == TWI_AXIS_INDEX ? TWI_AXIS_BLOCK : a.kind;
    }
    if (s->failed)
        return;
    if (ir->axis.n >= TWI_MAX_AXES) {
        twi_scan_fail(s, TWI_E_TOO_MANY, "a kernel has at most %d axes", TWI_MAX_AXES - 1);
        return;
    }
    if (twi_tile_axes(ir, ir->ix.at[a.lo].at | ir->ix.at[a.hi].at) != 0) {
        twi_scan_fail(s, TWI_E_RANGE_BOUND, "a bound that is no scalar");
        return;
    }
    if (kind == TWI_AXIS_INDEX && (ir->ix.at[a.lo].loaded || ir->ix.at[a.hi].loaded)) {
        twi_scan_fail(s, TWI_E_PAR_BOUND, "a bound of a scope is known at launch");
        return;
    }
    twi_push(ir->arena, &ir->axis, a);
    if (kind != TWI_AXIS_FULL)
        twi_push(ir->arena, &ir->region.at[region].axes, (uint8_t)(ir->axis.n - 1u));
}

static void yield(twi_scan *s) {
    twi_region *r = &s->ir->region.at[s->region];
    do {
        twi_id v = twi_scan_value(s);
        twi_push(s->ir->arena, &r->yields, v);
    } while (!s->failed && twi_scan_try(s, ","));
    if (!s->failed && (r->kind != TWI_REGION_SERIAL || r->yields.n != r->carries.n))
        twi_scan_fail(s, TWI_E_CARRY_COUNT, "a loop yields as many values as it carries");
}

static void body(twi_scan *s);

static void open_region(twi_scan *s, bool par) {
    tw_ir *ir = s->ir;
    uint32_t outer = s->region, id = ir->region.n;
    for (uint32_t r = outer; r != 0; r = ir->region.at[r].parent)
        if (par && ir->region.at[r].kind == TWI_REGION_PAR)
            twi_scan_fail(s, TWI_E_NESTED, "a scope inside a scope");
    twi_ins ins = {.op = par ? TWI_PAR : TWI_SERIAL, .attr = id, .loc = twi_scan_loc(s)};
    twi_id v = put(s, &ins, NULL, 0);
    twi_push(ir->arena, &ir->region.at[outer].body, v);
    twi_region r = {.kind = par ? TWI_REGION_PAR : TWI_REGION_SERIAL, .parent = outer, .ins = v};
    twi_push(ir->arena, &ir->region, r);
    if (!twi_scan_try(s, "{")) {
        do
            range(s, par ? TWI_AXIS_INDEX : TWI_AXIS_STEP, id);
        while (par && !s->failed && twi_scan_try(s, ","));
        twi_scan_need(s, "{");
    } else if (!par) {
        twi_scan_fail(s, TWI_E_TEXT, "a loop has an axis");
    }
    s->region = id;
    twi_scan_newline(s);
    if (!s->failed)
        body(s);
    twi_scan_need(s, "}");
    s->region = outer;
    if (!s->failed && ir->region.at[id].yields.n != ir->region.at[id].carries.n)
        twi_scan_fail(s, TWI_E_CARRY_COUNT, "a loop yields as many values as it carries");
}

static void body(twi_scan *s) {
    tw_ir *ir = s->ir;
    while (!s->failed && s->at < s->n && !(s->text[s->at] == '}')) {
        uint32_t scope = s->region;
        twi_id v = 0;
        while (scope != 0 && ir->region.at[scope].kind != TWI_REGION_PAR)
            scope = ir->region.at[scope].parent;
        if (twi_scan_try(s, "parallel")) {
            open_region(s, true);
        } else if (twi_scan_try(s, "serial")) {
            open_region(s, false);
        } else if (scope == 0) {
            twi_scan_fail(s, TWI_E_TEXT, "expected parallel or serial");
        } else if (twi_scan_try(s, "axis")) {
            range(s, TWI_AXIS_FULL, s->region);
        } else if (effect(s, &v)) {
            twi_push(ir->arena, &ir->region.at[s->region].body, v);
        } else if (twi_scan_try(s, "yield")) {
            yield(s);
        } else {
            define(s);
        }
        twi_scan_newline(s);
    }
}

/* ---- claims ---- */
static bool claims_hold(tw_ir *ir) {
    uint32_t before = ir->ctx->diags.errors;
    tw_ir *again = twi_ir_clone(ir, ir->arena);
    twi_check_roles(again);
    twi_check_alias(again);
    twi_prove_accesses(again);
    for (uint32_t v = 1; v < ir->ins.n; v++) {
        const twi_ins *ins = &ir->ins.at[v];
        if (!twi_is_access(ins->op))
            continue;
        unsigned claimed = ir->access.at[ins->attr].proof,
                 found = again->access.at[again->ins.at[v].attr].proof;
        bool weaker =
            claimed == TWI_ACCESS_CHECKED || /* dims were not numbers then */
            (claimed == TWI_ACCESS_GUARDED && ins->op == TWI_LOAD && twi_plain_args(ir, v) != 0);
        if (claimed != found && found != TWI_ACCESS_UNKNOWN && !weaker)
            twi_error(&ir->ctx->diags, TWI_E_OUTSIDE, ins->loc, NULL,
                      "the access is not what the text says it is");
    }
    if (ir->ctx->diags.errors == before && !ir->specialised)
        twi_check_cover(again);
    return ir->ctx->diags.errors == before;
}

tw_ir *twi_ir_parse(tw_context *ctx, twi_arena *arena, const char *name, const char *text,
                    size_t n) {
    twi_scan s = {.ir = twi_ir_new(ctx, arena), .arena = arena, .n = n, .region = 1};
    s.text = twi_strndup(&ctx->arena, text, n);
    s.file = twi_diags_file(&ctx->diags, name, s.text, n);
    head(&s);
    if (!s.failed)
        body(&s);
    if (!s.failed && s.at < s.n)
        twi_scan_fail(&s, TWI_E_TEXT, "expected parallel or serial");
    if (s.failed || !twi_ir_verify(s.ir) || !claims_hold(s.ir))
        return NULL;
    return s.ir;
}
