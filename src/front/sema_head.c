/* SPDX-License-Identifier: Apache-2.0
 * The head of a kernel: constants, dims, arrays, scalars, numerics, requires.
 */
#include "front/sema.h"

static twi_o choice_o(twi_sema *s, const twi_const_decl *d, const twi_choice *c, bool param) {
    if (c->kind == TWI_C_TYPE)
        return (twi_o){.kind = TWI_O_TYPE, .elem = c->elem};
    if (c->kind == TWI_C_WORD)
        return (twi_o){.kind = TWI_O_WORD, .word = c->word, .set = d};
    if (c->kind == TWI_C_BOOL)
        return (twi_o){.kind = TWI_O_BOOL, .flag = c->number != 0, .param = param};
    return twi_index_o(TWI_O_INT, tw_build_ix(s->b, c->number), param, false);
}

static void bind_const(twi_sema *s, twi_sym name, twi_o o) {
    twi_sema_bind(s, (twi_binding){.kind = TWI_N_CONST, .name = name, .o = o});
}

static void bind_dim(twi_sema *s, twi_sym name, bool dyn, uint32_t at) {
    if (twi_sema_find(s, name))
        return;
    twi_sema_at(s, at);
    tw_ix ix = tw_build_dim(s->b, twi_sema_name(s, name), dyn);
    bind_const(s, name, twi_index_o(TWI_O_INT, ix, false, false));
}

static tw_elem type_of(twi_sema *s, const twi_array_decl *a) {
    const twi_binding *b = twi_sema_find(s, a->type);
    tw_elem e = tw_elem_named(twi_sema_name(s, a->type));
    return e != TW_NONE ? e : b ? b->o.elem : TW_NONE;
}

static bool constant(twi_sema *s, const twi_x *x, tw_num *out) {
    twi_o o = twi_sema_eval(s, x);
    *out = 0;
    if (o.kind == TWI_O_INT || o.kind == TWI_O_REAL || o.kind == TWI_O_BOOL) {
        *out = twi_o_num(s, o);
        return true;
    }
    if (o.kind != TWI_O_ERROR)
        twi_sema_fail(s, TWI_E_BAD_DEFAULT, x->at, "a numeral, or constants of the kernel",
                      "%s is no constant", twi_o_text(s, o));
    return false;
}

static void declare_scalar(twi_sema *s, const twi_array_decl *a) {
    tw_num n = 0;
    if (a->initial)
        constant(s, a->initial, &n);
    twi_sema_at(s, a->at);
    tw_value v = tw_build_scalar(s->b, twi_sema_name(s, a->name), type_of(s, a), n);
    bind_const(s, a->name, twi_value_o(v));
}

static void declare_array(twi_sema *s, const twi_array_decl *a) {
    tw_ix *dim = TWI_NEW_N(s->arena, tw_ix, a->rank + 1u);
    twi_arr *arr = TWI_NEW(s->arena, twi_arr);
    bool good = true;
    for (uint32_t k = 0; k < a->rank; k++) {
        twi_o o = twi_sema_eval(s, a->dim[k]);
        if (o.kind != TWI_O_INT && o.kind != TWI_O_ERROR)
            twi_sema_fail(s, TWI_E_BAD_DIM, a->dim[k]->at,
                          "dims, constants, params and + - * // % min max cdiv of these",
                          "%s is no dim", twi_o_text(s, o));
        good = good && o.kind == TWI_O_INT;
        dim[k] = o.id;
    }
    *arr = (twi_arr){0, type_of(s, a), a->role, a->rank};
    twi_sema_at(s, a->at);
    if (good)
        arr->id =
            tw_build_array(s->b, twi_sema_name(s, a->name), arr->elem, a->role, dim, (int)a->rank);
    tw_num n;
    if (a->initial && constant(s, a->initial, &n)) {
        twi_sema_at(s, a->initial->at);
        tw_build_fill(s->b, arr->id, n);
    }
    twi_sema_bind(s, (twi_binding){.kind = TWI_N_ARRAY, .name = a->name, .arr = arr});
}

static void numerics(twi_sema *s) {
    tw_order order = TW_ORDER_AS_SAID;
    for (uint32_t k = 0; k < s->k->numerics.n; k++) {
        const twi_option *o = &s->k->numerics.at[k];
        const char *name = twi_sema_name(s, o->name);
        const char *value = o->value->kind == TWI_X_NAME ? twi_sema_name(s, o->value->name)
                                                         : twi_x_text(s->p, o->value);
        bool math = strcmp(name, "math") == 0, precision = strcmp(name, "precision") == 0;
        const char *later = math ? "native" : "ieee tf32 bf16";
        if (strcmp(name, "order") == 0) {
            order = twi_sema_order_word(s, o->value);
        } else if (!math && !precision) {
            twi_sema_fail(s, TWI_E_UNKNOWN_WORD, o->at, "order, math, precision",
                          "'numerics' has no option %s", twi_quote(s->arena, name));
        } else if (strcmp(value, math ? "portable" : "f32") != 0) {
            bool known = strlen(value) > 3 && strstr(later, value);
            twi_sema_fail(s, known ? TWI_E_NOT_BUILT : TWI_E_UNKNOWN_WORD, o->value->at,
                          math ? "math = portable" : "precision = f32",
                          known ? "%s = %s is not built yet" : "%s = %s means nothing", name,
                          twi_quote(s->arena, value));
        }
    }
    tw_build_numerics(s->b, order == TW_ORDER_AS_SAID ? TW_ORDER_FREE : order, false);
}

/* Facts; false: one of plain numbers does not hold and the caller probes. */
static bool fact(twi_sema *s, const twi_x *x) {
    static const uint8_t relation[TWI_B_COUNT] = {
        [TWI_B_EQ] = 1 + TW_REL_EQ, [TWI_B_NE] = 1 + TW_REL_NE, [TWI_B_LT] = 1 + TW_REL_LT,
        [TWI_B_LE] = 1 + TW_REL_LE, [TWI_B_GT] = 1 + TW_REL_GT, [TWI_B_GE] = 1 + TW_REL_GE};
    bool binary = x->kind == TWI_X_BINARY;
    if (binary && x->op == TWI_B_AND) {
        bool left = fact(s, x->a);
        return fact(s, x->b) && left;
    }
    if (binary && relation[x->op]) {
        twi_o a = twi_sema_eval_index(s, x->a), b = twi_sema_eval_index(s, x->b);
        int64_t p, q;
        if (a.kind == TWI_O_ERROR || b.kind == TWI_O_ERROR)
            return true;
        if (twi_o_plain(s, a, &p) && twi_o_plain(s, b, &q)) {
            if (twi_sema_binary(s, (twi_b_op)x->op, a, b, x->at).flag)
                return true;
            s->bound->excluded = true;
            if (!s->bound->probe)
                twi_sema_fail(s, TWI_E_BAD_REQUIRES, x->at, s->bound->note,
                              "'requires %s' does not hold", twi_x_text(s->p, x));
            return !s->bound->probe;
        }
        if (a.kind == TWI_O_INT && b.kind == TWI_O_INT) {
            twi_sema_at(s, x->at);
            tw_build_requires(s->b, (tw_relation)(relation[x->op] - 1), a.id, b.id);
            return true;
        }
    }
    twi_sema_fail(s, TWI_E_BAD_REQUIRES, x->at, "`requires H % G == 0, I <= J`",
                  "'requires' states relations of dims and constants");
    return true;
}

bool twi_sema_head(twi_sema *s) {
    const twi_kernel *k = s->k;
    for (uint32_t i = 0; i < k->constant.n; i++)
        bind_const(s, k->constant.at[i].name,
                   choice_o(s, &k->constant.at[i], &s->bound->constant[i], false));
    for (uint32_t i = 0; i < k->param.n; i++)
        bind_const(s, k->param.at[i].name, choice_o(s, &k->param.at[i], &s->bound->param[i], true));
    numerics(s);
    for (uint32_t i = 0; i < k->dyn.n; i++)
        bind_dim(s, k->dyn.at[i].name, true, k->dyn.at[i].at);
    for (uint32_t i = 0; i < k->argument.n;
         i++) /* all dims first: an extent may be made of later ones */
        for (uint32_t j = 0; j < k->argument.at[i].rank; j++)
            if (k->argument.at[i].dim[j]->kind == TWI_X_NAME)
                bind_dim(s, k->argument.at[i].dim[j]->name, false, k->argument.at[i].dim[j]->at);
    for (uint32_t i = 0; i < k->argument.n; i++) {
        if (k->argument.at[i].scalar)
            declare_scalar(s, &k->argument.at[i]);
        else
            declare_array(s, &k->argument.at[i]);
    }
    for (uint32_t i = 0; i < k->temp.n; i++)
        declare_array(s, &k->temp.at[i]);
    bool holds = true;
    for (uint32_t i = 0; i < k->fact.n; i++)
        holds = fact(s, k->fact.at[i]) && holds;
    return holds;
}
