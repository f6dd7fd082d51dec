/* SPDX-License-Identifier: Apache-2.0
 * Declarations, before any kernel is built: names declared once, sets of one kind, element types,
 * dims; functions that do not call themselves. Makes the list that tw_program_decl shows.
 */
#include "front/ast.h"

typedef struct declarer {
    tw_program *p;
    twi_kernel *k;   /* being declared */
    uint32_t *stamp; /* by symbol: number of the kernel or function that declared it last */
    uint32_t stamps, now;
    const twi_const_decl **constant; /* by symbol, where its stamp is now */
} declarer;

static const char *name_of(const declarer *d, twi_sym s) { return twi_text(&d->p->ctx->names, s); }

static void fail(const declarer *d, twi_code code, uint32_t at, const char *help,
                 const char *text) {
    twi_error(&d->p->ctx->diags, (uint16_t)code, (twi_loc){d->p->file, at}, help, "%s", text);
}

static bool fresh(declarer *d, twi_sym name, uint32_t at) {
    twi_arena *a = d->p->arena;
    const char *text = name_of(d, name);
    if (twi_word_of(text) || strcmp(text, "_") == 0) {
        fail(d, TWI_E_RESERVED, at, "take another name",
             twi_format(a, "%s is a built-in name", twi_quote(a, text)));
        return false;
    }
    if (d->p->fn_of[name]) {
        fail(d, TWI_E_SHADOWS, at, "take another name",
             twi_format(a, "%s is a function of this file: nothing shadows", twi_quote(a, text)));
        return false;
    }
    if (d->stamp[name] == d->now) {
        fail(d, TWI_E_TWICE, at, "one namespace a kernel",
             twi_format(a, "%s is declared twice", twi_quote(a, text)));
        return false;
    }
    d->stamp[name] = d->now;
    d->constant[name] = NULL;
    return true;
}

/* ---- expressions as text ---- */
static const char *const sign[TWI_B_COUNT] = {
    [TWI_B_OR] = " or ",  [TWI_B_AND] = " and ", [TWI_B_NOT] = "not ",  [TWI_B_EQ] = " == ",
    [TWI_B_NE] = " != ",  [TWI_B_LT] = " < ",    [TWI_B_LE] = " <= ",   [TWI_B_GT] = " > ",
    [TWI_B_GE] = " >= ",  [TWI_B_BOR] = " | ",   [TWI_B_BXOR] = " ^ ",  [TWI_B_BAND] = " & ",
    [TWI_B_SHL] = " << ", [TWI_B_SHR] = " >> ",  [TWI_B_ADD] = " + ",   [TWI_B_SUB] = " - ",
    [TWI_B_MUL] = " * ",  [TWI_B_DIV] = " / ",   [TWI_B_IDIV] = " // ", [TWI_B_MOD] = " % ",
    [TWI_B_NEG] = "-",    [TWI_B_BNOT] = "~",
};

static void print_x(twi_sb *sb, const twi_names *names, const twi_x *x, bool inner) {
    bool paren = inner && (x->kind == TWI_X_BINARY || x->kind == TWI_X_UNARY);
    if (sb->n > 2000)
        return;
    if (paren || x->kind == TWI_X_TUPLE)
        twi_sb_char(sb, '(');
    if (x->kind == TWI_X_NAME || x->kind == TWI_X_CALL)
        twi_sb_str(sb, twi_text(names, x->name));
    else if (x->kind == TWI_X_NUMBER)
        twi_sb_str(sb, x->text);
    else if (x->kind == TWI_X_BOOL)
        twi_sb_str(sb, x->flag ? "true" : "false");
    else if (x->a && x->kind != TWI_X_UNARY)
        print_x(sb, names, x->a, true);
    if (x->kind == TWI_X_UNARY || x->kind == TWI_X_BINARY)
        twi_sb_str(sb, sign[x->op]);
    if (x->kind == TWI_X_UNARY)
        print_x(sb, names, x->a, true);
    if (x->kind == TWI_X_ELSE)
        twi_sb_str(sb, " else ");
    if (x->b)
        print_x(sb, names, x->b, true);
    bool bracket = x->kind == TWI_X_ACCESS || x->items;
    if (bracket)
        twi_sb_char(sb, '[');
    for (uint32_t k = 0; k < x->items; k++) {
        twi_sb_str(sb, k ? ", " : "");
        print_x(sb, names, x->item[k].x, false);
        if (x->item[k].y) {
            twi_sb_str(sb, x->item[k].arrow ? " -> " : ": ");
            print_x(sb, names, x->item[k].y, false);
        }
    }
    if (bracket)
        twi_sb_char(sb, ']');
    if (x->kind == TWI_X_CALL)
        twi_sb_char(sb, '(');
    for (uint32_t k = 0; k < x->args; k++) {
        twi_sb_str(sb, k ? ", " : "");
        print_x(sb, names, x->arg[k], false);
    }
    for (uint32_t k = 0; k < x->options; k++) {
        twi_sb_str(sb, k || x->args ? ", " : "");
        twi_sb_str(sb, twi_text(names, x->option[k].name));
        twi_sb_str(sb, " = ");
        print_x(sb, names, x->option[k].value, false);
    }
    if (x->kind == TWI_X_CALL || paren || x->kind == TWI_X_TUPLE)
        twi_sb_char(sb, ')');
}

const char *twi_x_text(const tw_program *p, const twi_x *x) {
    twi_sb sb;
    twi_sb_init(&sb, p->arena);
    print_x(&sb, &p->ctx->names, x, false);
    return twi_sb_text(&sb);
}

/* ---- kernels ---- */
static void declare_set(declarer *d, const twi_const_decl *c, bool param) {
    twi_arena *a = d->p->arena;
    const char *name = name_of(d, c->name);
    if (c->choices == 0 || c->choices > TWI_MAX_CHOICES)
        fail(d, TWI_E_BAD_SET, c->at, "a set has 1 to 64 members",
             twi_format(a, "the set of %s has %u members", twi_quote(a, name), c->choices));
    bool built = true;
    for (uint32_t k = 0; k < c->choices && k < TWI_MAX_CHOICES; k++) {
        const twi_choice *x = &c->choice[k];
        if (x->kind != c->choice[0].kind &&
            (x->kind == TWI_C_WORD || c->choice[0].kind == TWI_C_WORD) &&
            (x->kind == TWI_C_TYPE || c->choice[0].kind == TWI_C_TYPE)) {
            const twi_choice *word = x->kind == TWI_C_WORD ? x : &c->choice[0];
            twi_nearest near;
            twi_nearest_init(&near, word->text);
            twi_nearest_words(&near, true);
            fail(d, TWI_E_UNKNOWN_TYPE, word->at, twi_nearest_help(&near, a),
                 twi_format(a, "%s is no element type", twi_quote(a, word->text)));
            return;
        }
        if (x->kind != c->choice[0].kind || (param && x->kind != TWI_C_INT)) {
            fail(d, TWI_E_BAD_SET, x->at,
                 param ? "params are integers"
                       : "one kind a set: types, integers, true and false, or words",
                 twi_format(a, "%s does not fit into the set of %s", twi_quote(a, x->text),
                            twi_quote(a, name)));
            return;
        }
        for (uint32_t j = 0; j < k; j++)
            if (strcmp(x->text, c->choice[j].text) == 0)
                fail(d, TWI_E_BAD_SET, x->at, NULL,
                     twi_format(a, "%s stands twice in the set", twi_quote(a, x->text)));
        if (x->kind == TWI_C_TYPE && !twi_elem_built(x->elem) && built)
            fail(d, TWI_E_NOT_BUILT, x->at, "built are f64 f32 f16 bf16 i8 i32 i64 u8 u32 bool",
                 twi_format(a, "element type '%s' is not built yet", x->text));
    }
}

static void add_decl(declarer *d, tw_decl decl) { twi_push(d->p->arena, &d->k->decl, decl); }

static void declare_const(declarer *d, const twi_const_decl *c, bool param) {
    if (!c->name || !fresh(d, c->name, c->at))
        return;
    d->constant[c->name] = c;
    declare_set(d, c, param);
    tw_decl decl = {.name = name_of(d, c->name), .choices = c->choices, .open = c->open};
    const char **choice = TWI_NEW_N(d->p->arena, const char *, c->choices);
    for (uint32_t k = 0; k < c->choices; k++)
        choice[k] = c->choice[k].text;
    decl.choice = choice;
    decl.kind = param                                           ? TW_DECL_PARAM
                : c->choices && c->choice[0].kind == TWI_C_TYPE ? TW_DECL_TYPE
                                                                : TW_DECL_CONST;
    add_decl(d, decl);
}

static tw_elem declared_type(declarer *d, const twi_array_decl *x) {
    twi_arena *a = d->p->arena;
    const char *text = name_of(d, x->type);
    tw_elem elem = tw_elem_named(text);
    bool named = d->stamp[x->type] == d->now && d->constant[x->type];
    if (elem == TW_NONE && named && d->constant[x->type]->choices &&
        d->constant[x->type]->choice[0].kind == TWI_C_TYPE)
        return TW_NONE;
    if (elem == TW_NONE) {
        twi_nearest near;
        twi_nearest_init(&near, text);
        twi_nearest_words(&near, true);
        for (uint32_t k = 0; k < d->k->constant.n; k++)
            twi_nearest_offer(&near, name_of(d, d->k->constant.at[k].name));
        fail(d, TWI_E_UNKNOWN_TYPE, x->type_at, twi_nearest_help(&near, a),
             twi_format(a, "%s is no element type", twi_quote(a, text)));
    } else if (!twi_elem_built(elem)) {
        fail(d, TWI_E_NOT_BUILT, x->type_at, "built are f64 f32 f16 bf16 i8 i32 i64 u8 u32 bool",
             twi_format(a, "element type '%s' is not built yet", text));
    }
    return elem;
}

static void declare_dim(declarer *d, twi_sym name, uint32_t at) {
    if (d->stamp[name] == d->now) /* again, or a constant; an array's name is found by sema */
        return;
    if (fresh(d, name, at))
        add_decl(d, (tw_decl){.kind = TW_DECL_DIM, .name = name_of(d, name)});
}

static void declare_array(declarer *d, const twi_array_decl *x, bool temp) {
    twi_arena *a = d->p->arena;
    if (!fresh(d, x->name, x->at))
        return;
    tw_decl decl = {.kind = x->scalar ? TW_DECL_SCALAR : TW_DECL_ARRAY,
                    .name = name_of(d, x->name)};
    decl.elem = declared_type(d, x);
    decl.elem_name = name_of(d, x->type);
    decl.role = x->role;
    decl.has_default = x->scalar && x->initial;
    decl.rank = (int)x->rank;
    if (x->scalar && (x->role != TW_ROLE_IN || temp))
        fail(d, TWI_E_BAD_RANK, x->at, "one element is `f32[]`",
             twi_format(a, "%s is stored to, so it is an array", twi_quote(a, decl.name)));
    if (x->initial && !x->scalar && x->role != TW_ROLE_OUT)
        fail(d, TWI_E_BAD_FILL, x->at, "`out Y: f32[N] = 0.0`",
             twi_format(a, "%s is no 'out' array: it takes no value for all elements",
                        twi_quote(a, decl.name)));
    if (x->rank > 8)
        fail(d, TWI_E_NOT_BUILT, x->at, NULL,
             twi_format(a, "%s has %u dims: more than 8 are not built yet", twi_quote(a, decl.name),
                        x->rank));
    const char **dim = TWI_NEW_N(a, const char *, x->rank);
    for (uint32_t k = 0; k < x->rank; k++) {
        if (x->dim[k]->kind == TWI_X_NAME && !temp)
            declare_dim(d, x->dim[k]->name, x->dim[k]->at);
        dim[k] = twi_x_text(d->p, x->dim[k]);
    }
    decl.dims = dim;
    if (!temp)
        add_decl(d, decl);
}

static void declare_kernel(declarer *d, twi_kernel *k) {
    d->k = k;
    d->now++;
    for (uint32_t i = 0; i < k->constant.n; i++)
        declare_const(d, &k->constant.at[i], false);
    for (uint32_t i = 0; i < k->dyn.n; i++)
        declare_dim(d, k->dyn.at[i].name, k->dyn.at[i].at);
    for (uint32_t i = 0; i < k->argument.n; i++)
        declare_array(d, &k->argument.at[i], false);
    for (uint32_t i = 0; i < k->param.n; i++)
        declare_const(d, &k->param.at[i], true);
    for (uint32_t i = 0; i < k->temp.n; i++)
        declare_array(d, &k->temp.at[i], true);
}

/* ---- functions ---- */
static void declare_fn(declarer *d, const twi_fn *f) {
    d->now++;
    for (uint32_t k = 0; k < f->axes; k++)
        fresh(d, f->axis[k].name, f->axis[k].at);
    for (uint32_t k = 0; k < f->params; k++)
        fresh(d, f->param[k].name, f->param[k].at);
}

enum { UNSEEN, OPEN, DONE, FN_HEIGHT = 32 };

static void visit_fn(declarer *d, twi_fn *f, unsigned depth);

static void visit_x(declarer *d, twi_fn *in, const twi_x *x, unsigned depth) {
    if (!x)
        return;
    if (x->kind == TWI_X_CALL && d->p->fn_of[x->name]) {
        twi_fn *f = d->p->fn_of[x->name];
        const char *name = name_of(d, f->name);
        if (f->seen == OPEN)
            fail(d, TWI_E_RECURSION, x->at, "functions are unfolded where they are called",
                 twi_format(d->p->arena, "%s calls itself", twi_quote(d->p->arena, name)));
        else if (f->seen == UNSEEN)
            visit_fn(d, f, depth + 1);
        if (in->height <= f->height)
            in->height = (uint16_t)(f->height + 1);
    }
    visit_x(d, in, x->a, depth);
    visit_x(d, in, x->b, depth);
    for (uint32_t k = 0; k < x->items; k++) {
        visit_x(d, in, x->item[k].x, depth);
        visit_x(d, in, x->item[k].y, depth);
    }
    for (uint32_t k = 0; k < x->args; k++)
        visit_x(d, in, x->arg[k], depth);
    for (uint32_t k = 0; k < x->options; k++)
        visit_x(d, in, x->option[k].value, depth);
}

static void visit_list(declarer *d, twi_fn *in, twi_list list, unsigned depth) {
    for (uint32_t k = 0; k < list.n; k++) {
        const twi_s *s = list.at[k];
        visit_x(d, in, s->access, depth);
        visit_x(d, in, s->value, depth);
        visit_x(d, in, s->when, depth);
        for (uint32_t j = 0; j < s->spans; j++) {
            visit_x(d, in, s->span[j].lo, depth);
            visit_x(d, in, s->span[j].hi, depth);
            visit_x(d, in, s->span[j].block, depth);
        }
        visit_list(d, in, s->body, depth);
        visit_list(d, in, s->other, depth);
    }
}

static void visit_fn(declarer *d, twi_fn *f, unsigned depth) {
    f->seen = OPEN;
    if (depth <= FN_HEIGHT)
        visit_list(d, f, f->body, depth);
    if (depth > FN_HEIGHT || f->height > FN_HEIGHT) {
        f->height = 0; /* said once */
        fail(d, TWI_E_TOO_DEEP, f->at, NULL,
             twi_format(d->p->arena, "functions call each other more than %d deep at %s", FN_HEIGHT,
                        twi_quote(d->p->arena, name_of(d, f->name))));
    }
    f->seen = DONE;
}

bool twi_declare(tw_program *p) {
    uint32_t before = p->ctx->diags.errors;
    uint32_t n = p->ctx->names.n;
    p->fn_of = TWI_NEW_N(p->arena, twi_fn *, n);
    p->fn_ofs = n;
    declarer d = {.p = p, .stamps = n, .now = 1};
    d.stamp = TWI_NEW_N(p->arena, uint32_t, n);
    d.constant = TWI_NEW_N(p->arena, const twi_const_decl *, n);
    for (uint32_t k = 0; k < p->fn.n; k++)
        fresh(&d, p->fn.at[k]->name, p->fn.at[k]->at);
    d.now++; /* kernels have a namespace of their own: `kernel argmax` is fine */
    for (uint32_t k = 0; k < p->kernel.n; k++) {
        const twi_kernel *one = p->kernel.at[k];
        if (d.stamp[one->name] == d.now)
            fail(&d, TWI_E_TWICE, one->at, "give one of them another name",
                 twi_format(p->arena, "kernel %s stands twice in the file",
                            twi_quote(p->arena, name_of(&d, one->name))));
        d.stamp[one->name] = d.now;
    }
    for (uint32_t k = 0; k < p->fn.n; k++)
        if (!p->fn_of[p->fn.at[k]->name])
            p->fn_of[p->fn.at[k]->name] = p->fn.at[k];
    for (uint32_t k = 0; k < p->fn.n; k++)
        declare_fn(&d, p->fn.at[k]);
    for (uint32_t k = 0; k < p->fn.n; k++)
        if (p->fn.at[k]->seen == UNSEEN)
            visit_fn(&d, p->fn.at[k], 0);
    for (uint32_t k = 0; k < p->kernel.n; k++)
        declare_kernel(&d, p->kernel.at[k]);
    return p->ctx->diags.errors == before;
}
