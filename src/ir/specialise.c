/* SPDX-License-Identifier: Apache-2.0
 * Dims become numbers: every fact is checked, every extent known, every untyped constant rounded to
 * its type. And how dims are read off the shapes of arguments.
 */
#include "ir/codes.h"
#include "ir/whole.h"

static int64_t dim_value(void *user, const twi_ix_node *node) {
    const int64_t *dims = user;
    return node->op == TWI_IX_DIM ? dims[node->a] : 0;
}

static int64_t eval(const tw_ir *ir, twi_ix x, const int64_t *dims) {
    union {
        const int64_t *c;
        void *v;
    } user = {dims};
    return twi_ix_eval(ir, x, dim_value, user.v);
}

static const char *ix_text(const tw_ir *ir, twi_ix x) {
    twi_sb sb;
    twi_sb_init(&sb, ir->arena);
    twi_ix_text(ir, &sb, x);
    return twi_sb_text(&sb);
}

static const char *sym(const tw_ir *ir, twi_sym s) { return twi_text(&ir->ctx->names, s); }

/* "M = 3, K = 4" of the dims in an expression. */
static void add_values(const tw_ir *ir, twi_sb *sb, twi_ix x, const int64_t *dims, uint8_t *seen) {
    const twi_ix_node *n = &ir->ix.at[x];
    if (n->op == TWI_IX_DIM && !seen[n->a]) {
        seen[n->a] = 1;
        twi_sb_printf(sb, "%s%s = %lld", sb->n ? ", " : "", sym(ir, ir->dim.at[n->a].name),
                      (long long)dims[n->a]);
    } else if (n->op >= TWI_IX_ADD) {
        add_values(ir, sb, n->a, dims, seen);
        add_values(ir, sb, n->b, dims, seen);
    }
}

static const char *const relations[] = {"==", "!=", "<", "<=", ">", ">="};

static bool holds(unsigned op, int64_t a, int64_t b) {
    if (op == TWI_EQ)
        return a == b;
    if (op == TWI_NE)
        return a != b;
    if (op == TWI_LT)
        return a < b;
    if (op == TWI_LE)
        return a <= b;
    return op == TWI_GT ? a > b : a >= b;
}

static void check_fact(const tw_ir *ir, const twi_fact *f, const int64_t *dims) {
    int64_t a = eval(ir, f->a, dims), b = eval(ir, f->b, dims);
    if (holds(f->op, a, b))
        return;
    twi_sb sb;
    twi_sb_init(&sb, ir->arena);
    uint8_t *seen = TWI_NEW_N(ir->arena, uint8_t, ir->dim.n);
    add_values(ir, &sb, f->a, dims, seen);
    add_values(ir, &sb, f->b, dims, seen);
    twi_error(&ir->ctx->diags, TWI_E_FACT_FAILS, f->loc, NULL,
              "requires %s %s %s: %lld %s %lld is false (%s)", ix_text(ir, f->a),
              relations[f->op - TWI_EQ], ix_text(ir, f->b), (long long)a, relations[f->op - TWI_EQ],
              (long long)b, sb.n ? twi_sb_text(&sb) : "of numbers alone");
}

/* Extents of arrays: known, not negative, and few enough elements for offsets. */
static void check_array(const tw_ir *ir, const twi_array *a, const int64_t *dims) {
    const int64_t most = INT64_C(1) << 40; /* loop IR takes no more */
    int64_t count = 1;
    for (unsigned d = 0; d < a->rank; d++) {
        int64_t n = eval(ir, a->dim[d], dims);
        if (n < 0) {
            twi_error(&ir->ctx->diags, TWI_E_EXTENT, a->loc, NULL, "dim %u of %s is %s = %lld", d,
                      sym(ir, a->name), ix_text(ir, a->dim[d]), (long long)n);
            return;
        }
        if (n > most / count) {
            twi_error(&ir->ctx->diags, TWI_E_OVERFLOW, a->loc, NULL,
                      "%s has more than %lld elements", sym(ir, a->name), (long long)most);
            return;
        }
        count = n == 0 ? count : count * n;
    }
}

static void fold_const(const tw_ir *from, tw_ir *to, twi_ins *ins, const int64_t *dims) {
    twi_const *c = &to->constant.at[ins->attr];
    twi_num n = twi_num_eval(to, c->num, dims);
    if (twi_num_bits(&n, (tw_elem)ins->type.elem, true, &c->bits)) {
        c->known = true;
        c->num = 0;
        return;
    }
    twi_error(&from->ctx->diags, TWI_E_CONST_RANGE, ins->loc, NULL,
              "a constant is %lld here, which %s cannot hold", (long long)n.whole,
              tw_elem_name((tw_elem)ins->type.elem));
}

/* Constants of dims, and positions that turned out to be numbers. */
static void fold_ins(const tw_ir *from, tw_ir *to, const int64_t *dims) {
    for (uint32_t v = 1; v < to->ins.n; v++) {
        twi_ins *ins = &to->ins.at[v];
        int64_t k;
        if (ins->op == TWI_CONST && !to->constant.at[ins->attr].known)
            fold_const(from, to, ins, dims);
        if (ins->op == TWI_IXVAL && twi_ix_is_const(to, ins->attr, &k)) {
            twi_push(to->arena, &to->constant, ((twi_const){.known = true, .bits = (uint64_t)k}));
            ins->op = TWI_CONST;
            ins->attr = to->constant.n - 1u;
        }
    }
}

tw_ir *twi_ir_specialise(const tw_ir *ir, twi_arena *arena, const int64_t *dims) {
    uint32_t before = ir->ctx->diags.errors;
    for (uint32_t k = 1; k < ir->dim.n; k++) {
        const twi_dim *d = &ir->dim.at[k];
        if (dims[k] < 0)
            twi_error(&ir->ctx->diags, TWI_E_EXTENT, d->loc, NULL, "dim %s is %lld",
                      sym(ir, d->name), (long long)dims[k]);
    }
    if (ir->ctx->diags.errors != before)
        return NULL;
    for (uint32_t k = 1; k < ir->fact.n; k++)
        check_fact(ir, &ir->fact.at[k], dims);
    for (uint32_t k = 1; k < ir->array.n; k++)
        check_array(ir, &ir->array.at[k], dims);
    if (ir->ctx->diags.errors != before)
        return NULL;
    tw_ir *to = twi_ir_copy(ir, arena, dims);
    to->specialised = true;
    to->fact.n = 1; /* they hold */
    fold_ins(ir, to, dims);
    to->num.n = 1;
    for (uint32_t x = 1; x < to->ix.n; x++) { /* numbers fold; what did not, does not fit 64 bits */
        int64_t a, b;
        if (to->ix.at[x].op >= TWI_IX_ADD && twi_ix_is_const(to, to->ix.at[x].a, &a) &&
            twi_ix_is_const(to, to->ix.at[x].b, &b)) {
            twi_error(&ir->ctx->diags, TWI_E_OVERFLOW, (twi_loc){0}, NULL,
                      "an index expression overflows: %s", ix_text(to, x));
            break;
        }
    }
    return ir->ctx->diags.errors == before ? to : NULL;
}

/* ---- dims from shapes ---- */
typedef struct {
    const tw_ir *ir;
    const int64_t *const *shape;
    int64_t *dims;
    uint32_t *source; /* array that gave the dim */
} binder;

static bool bind_one(binder *b, uint32_t array, unsigned d) {
    const tw_ir *ir = b->ir;
    const twi_array *a = &ir->array.at[array];
    const twi_ix_node *n = &ir->ix.at[a->dim[d]];
    int64_t got = b->shape[array][d];
    if (n->op != TWI_IX_DIM)
        return true;
    if (b->dims[n->a] < 0) {
        b->dims[n->a] = got;
        b->source[n->a] = array;
        return true;
    }
    if (b->dims[n->a] == got)
        return true;
    const char *dim = sym(ir, ir->dim.at[n->a].name);
    uint32_t other = b->source[n->a];
    if (other)
        twi_error(&ir->ctx->diags, TWI_E_DIM_DISAGREES, (twi_loc){0}, NULL,
                  "%s is %lld in %s and %lld in %s", dim, (long long)b->dims[n->a],
                  sym(ir, ir->array.at[other].name), (long long)got, sym(ir, a->name));
    else
        twi_error(&ir->ctx->diags, TWI_E_DIM_DISAGREES, (twi_loc){0}, NULL,
                  "%s is set to %lld, but %lld in %s", dim, (long long)b->dims[n->a],
                  (long long)got, sym(ir, a->name));
    return false;
}

static bool dims_of_ix_known(const binder *b, twi_ix x) {
    const twi_ix_node *n = &b->ir->ix.at[x];
    if (n->op == TWI_IX_DIM)
        return b->dims[n->a] >= 0;
    return n->op < TWI_IX_ADD || (dims_of_ix_known(b, n->a) && dims_of_ix_known(b, n->b));
}

/* Dims that a fact gives: one side is a dim by itself, the other is known. */
static void bind_by_facts(binder *b) {
    const tw_ir *ir = b->ir;
    for (uint32_t again = 1; again != 0;) {
        again = 0;
        for (uint32_t k = 1; k < ir->fact.n; k++)
            for (int side = 0; side < 2 && ir->fact.at[k].op == TWI_EQ; side++) {
                twi_ix lone = side ? ir->fact.at[k].b : ir->fact.at[k].a;
                twi_ix other = side ? ir->fact.at[k].a : ir->fact.at[k].b;
                const twi_ix_node *n = &ir->ix.at[lone];
                if (n->op == TWI_IX_DIM && b->dims[n->a] < 0 && dims_of_ix_known(b, other)) {
                    int64_t v = eval(ir, other, b->dims);
                    b->dims[n->a] = v;
                    again = v >= 0;
                    if (v < 0)
                        return;
                }
            }
    }
}

static bool check_shape(binder *b, uint32_t array) {
    const tw_ir *ir = b->ir;
    const twi_array *a = &ir->array.at[array];
    for (unsigned d = 0; d < a->rank; d++) {
        int64_t want = eval(ir, a->dim[d], b->dims), got = b->shape[array][d];
        if (want == got)
            continue;
        twi_error(&ir->ctx->diags, TWI_E_DIM_SHAPE, (twi_loc){0}, NULL,
                  "dim %u of %s is %lld, declared as %s = %lld", d, sym(ir, a->name),
                  (long long)got, ix_text(ir, a->dim[d]), (long long)want);
        return false;
    }
    return true;
}

bool twi_ir_bind_dims(const tw_ir *ir, const int64_t *const *shape, int64_t *dims) {
    binder b = {ir, shape, dims, TWI_NEW_N(ir->arena, uint32_t, ir->dim.n)};
    bool fine = true;
    for (uint32_t k = 1; k < ir->dim.n; k++)
        if (ir->dim.at[k].known && dims[k] < 0)
            dims[k] = ir->dim.at[k].value;
    for (uint32_t k = 1; k < ir->array.n; k++)
        for (unsigned d = 0; shape[k] && d < ir->array.at[k].rank; d++)
            fine &= bind_one(&b, k, d);
    if (!fine)
        return false;
    bind_by_facts(&b);
    for (uint32_t k = 1; k < ir->dim.n; k++)
        if (dims[k] < 0) {
            twi_error(&ir->ctx->diags, TWI_E_DIM_UNKNOWN, ir->dim.at[k].loc, "set it",
                      "nothing gives dim %s a value", sym(ir, ir->dim.at[k].name));
            fine = false;
        }
    for (uint32_t k = 1; fine && k < ir->array.n; k++)
        fine = !shape[k] || check_shape(&b, k);
    return fine;
}
