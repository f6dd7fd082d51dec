/* SPDX-License-Identifier: Apache-2.0
 * verify-run: kernels x types x constants x cases, each with its plans, handed to the library's
 * verify; a row for each plan and fixture.
 */
#include "cli/cases.h"
#include "cli/json.h"
#include "cli/table.h"

#include <string.h>

/* One choice of types, constants and params, built. */
typedef struct built {
    size_t kernel;
    const char *types, *params; /* "T=f32", "BI=32 BJ=64" */
    const tw_ir *ir;
    const struct built *next;
} built;

typedef struct {
    tool *t;
    const cli_options *o;
    settings set;
    const built *builds; /* each once */
    tw_verify_case *at;
    size_t n, cap;
    tw_source *plans, *loops;
    size_t n_plans;
    uint64_t seed;
    size_t count; /* random plans: of a case, or of all cases with --spread, or of some types with
                     --deal */
    bool default_plan;
    table table;
    size_t passed, failed, unproved;
} verify;

static void add_case(verify *v, const tw_verify_case *c) {
    if (v->n == v->cap) {
        size_t cap = v->cap ? v->cap * 2 : 64;
        tw_verify_case *at = tool_alloc(v->t, cap, sizeof *at);
        if (v->n)
            memcpy(at, v->at, v->n * sizeof *at);
        v->at = at;
        v->cap = cap;
    }
    v->at[v->n++] = *c;
}

static char *pairs_text(tool *t, const pairs *p) {
    text s = {.t = t};
    text_str(&s, "");
    for (size_t k = 0; k < p->n; k++)
        text_printf(&s, "%s%s=%s", k ? " " : "", p->at[k].name, p->at[k].value);
    return s.at;
}

typedef struct {
    tw_program *program; /* NULL: FILE is tile IR */
    size_t kernel;
} of_kernel;

/* A kernel's choices: what is declared of one kind, with the values of --set or all of them. */
static bool choices(verify *v, const of_kernel *of, bool params, cases *out) {
    tool *t = v->t;
    const tw_program *p = of->program;
    const size_t kernel = of->kernel;
    size_t n = tw_program_decls(p, kernel), used = 0;
    setting *names = tool_alloc(t, n, sizeof *names);
    for (size_t k = 0; k < n; k++) {
        const tw_decl *d = tw_program_decl(p, kernel, k);
        bool mine =
            params ? d->kind == TW_DECL_PARAM : d->kind == TW_DECL_TYPE || d->kind == TW_DECL_CONST;
        if (!mine)
            continue;
        setting *given = settings_find(&v->set, d->name);
        names[used].name = d->name;
        if (given) {
            names[used].values = given->values;
        } else {
            for (size_t c = 0; c < d->choices; c++)
                list_add(t, &names[used].values, d->choice[c]);
        }
        used++;
    }
    cases_product(t, names, used, out);
    return out->n > 0;
}

static bool among(const char *const *names, size_t n, const char *name) {
    for (size_t k = 0; k < n; k++)
        if (strcmp(names[k], name) == 0)
            return true;
    return false;
}

/* Is each name of a case declared? Else it would say something that nobody hears. */
static bool names_known(verify *v, const of_kernel *of, const tw_ir *ir, const pairs *one) {
    tool *t = v->t;
    list names = {0};
    list_add(t, &names, "kernel");
    for (size_t k = 0; k < (of->program ? tw_program_kernels(of->program) : 1); k++)
        settings_names(t, &names, of->program, k, ir); /* a file's kernels may share cases */
    for (size_t k = 0; k < one->n; k++) {
        const char *name = one->at[k].name;
        if (among(names.at, names.n, name))
            continue;
        tool_error(t, 825, tool_nearest_help(t, name, names.at, names.n),
                   "case '%s': no type, constant, dim, param or scalar is named %.100s",
                   pairs_text(t, one), name);
        return false;
    }
    return true;
}

/* Are its choices in their sets? Else it would be passed over without a word. */
static bool choices_known(verify *v, const of_kernel *of, const pairs *one) {
    tool *t = v->t;
    for (size_t k = 0; of->program && k < tw_program_decls(of->program, of->kernel); k++) {
        const tw_decl *d = tw_program_decl(of->program, of->kernel, k);
        const char *value = pairs_find(one, d->name);
        text all = {.t = t};
        if (!d->choices || d->open || !value || among(d->choice, d->choices, value))
            continue;
        for (size_t c = 0; c < d->choices; c++)
            text_printf(&all, "%s%s", c ? ", " : "", d->choice[c]);
        tool_error(t, 825, tool_nearest_help(t, value, d->choice, d->choices),
                   "case '%s': %s is one of %s", pairs_text(t, one), d->name, all.at);
        return false;
    }
    return true;
}

/* Cases: a product if --set names every dim; else the file's; else made up. */
static bool find_cases(verify *v, const of_kernel *of, const tw_ir *ir, cases *out) {
    tool *t = v->t;
    size_t n = tw_ir_dims(ir), given = 0;
    setting *names = tool_alloc(t, n, sizeof *names);
    for (size_t k = 0; k < n; k++) {
        setting *s = settings_find(&v->set, tw_ir_dim(ir, k));
        int64_t known;
        if (s) {
            names[given++] = *s;
        } else if (tw_ir_dim_known(ir, k, &known)) {
            names[given].name = tw_ir_dim(ir, k);
            list_add(t, &names[given++].values, tool_format(t, "%lld", (long long)known));
        }
    }
    if (given == n) {
        cases_product(t, names, n, out);
        return true;
    }
    const char *path = v->o->cases ? v->o->cases : cases_beside(t, v->o->file);
    if (!path) {
        cases_invent(t, ir, v->seed, out);
        if (!out->n)
            tool_error(t, 825, "--cases FILE or --set",
                       "no small extents were found that the kernel's facts allow");
        return out->n > 0;
    }
    cases all = {0};
    if (!cases_read(t, path, &all))
        return false;
    const char *name = of->program ? tw_program_kernel(of->program, of->kernel) : tw_ir_kernel(ir);
    for (size_t k = 0; k < all.n; k++) {
        const char *mine = pairs_find(&all.at[k], "kernel");
        if (mine && strcmp(mine, name) != 0)
            continue;
        if (!names_known(v, of, ir, &all.at[k]) || !choices_known(v, of, &all.at[k]))
            return false;
        cases_add(t, out, all.at[k]);
    }
    if (!out->n)
        tool_error(t, 825, NULL, "%s has no case for kernel %s", path, name);
    return out->n > 0;
}

/* A case may fix constants and params too: does this combination fit it? */
static bool fits(const pairs *combo, const pairs *one) {
    for (size_t k = 0; k < combo->n; k++) {
        const char *fixed = pairs_find(one, combo->at[k].name);
        if (fixed && strcmp(fixed, combo->at[k].value) != 0)
            return false;
    }
    return true;
}

/* May a case give this constant a value of its own? One with a default, unless --set has it. */
static bool is_open(verify *v, const of_kernel *of, const char *name) {
    for (size_t k = 0; k < tw_program_decls(of->program, of->kernel); k++) {
        const tw_decl *d = tw_program_decl(of->program, of->kernel, k);
        if (d->open && strcmp(d->name, name) == 0)
            return !settings_find(&v->set, name);
    }
    return false;
}

static pairs with_open(verify *v, const of_kernel *of, const pairs *combo, const pairs *one) {
    pairs mine = {tool_alloc(v->t, combo->n, sizeof *mine.at), combo->n};
    for (size_t k = 0; k < combo->n; k++) {
        const char *value = pairs_find(one, combo->at[k].name);
        mine.at[k] = combo->at[k];
        if (value && is_open(v, of, mine.at[k].name))
            mine.at[k].value = value;
    }
    return mine;
}

/* Values of the IR's dims and scalars in this case; text: the dims alone. */
static bool bind(verify *v, const tw_ir *ir, const pairs *one, tw_verify_case *c) {
    tool *t = v->t;
    size_t n = tw_ir_dims(ir), args = tw_ir_args(ir);
    tw_dim_value *dims = tool_alloc(t, n, sizeof *dims);
    tw_scalar_value *scalars = tool_alloc(t, args, sizeof *scalars);
    text label = {.t = t};
    text_str(&label, "");
    for (size_t k = 0; k < n; k++) {
        const char *name = tw_ir_dim(ir, k);
        const setting *set = settings_find(&v->set, name);
        const char *value = set && set->values.n == 1 ? set->values.at[0] : pairs_find(one, name);
        int64_t x;
        if (tw_ir_dim_known(ir, k, &x))
            continue;
        if (!value || !tool_parse_int(value, &x) || x < 0) {
            tool_error(t, 825, NULL, "case '%s': dim %s has no extent%s%.100s", pairs_text(t, one),
                       name, value ? ": " : "", value ? value : "");
            return false;
        }
        dims[c->n_dims++] = (tw_dim_value){name, x};
        text_printf(&label, "%s%s=%lld", label.n ? " " : "", name, (long long)x);
    }
    for (size_t k = 0; k < args; k++) {
        tw_arg a = tw_ir_arg(ir, k);
        const setting *set = a.scalar ? settings_find(&v->set, a.name) : NULL;
        const char *value = set ? set->values.at[0] : a.scalar ? pairs_find(one, a.name) : NULL;
        if (!value)
            continue;
        scalars[c->n_scalars].name = a.name;
        if (!tw_scalar_bits(a.elem, value, &scalars[c->n_scalars++].bits)) {
            tool_error(t, 806, NULL, "%s: '%.100s' is no value of %s", a.name, value,
                       tw_elem_name(a.elem));
            return false;
        }
    }
    c->dims = dims;
    c->scalars = scalars;
    c->text = label.at;
    return true;
}

/* What is to be judged: random plans by their numbers, the default one, arrays with gaps. */
typedef struct {
    size_t from, to;
    bool by_default, strided;
} work;

/* The part of the k-th of n cases; --spread deals the random plans out, and every fourth case has
 * gaps. */
static work of_case(const verify *v, work all, size_t k, size_t n) {
    if (!v->o->spread)
        return all;
    return (work){.from = all.from + k * (all.to - all.from) / n,
                  .to = all.from + (k + 1) * (all.to - all.from) / n,
                  .by_default = all.by_default,
                  .strided = all.strided || k % 4 == 3};
}

static bool add_one(verify *v, const built *b, const pairs *one, work w) {
    tw_verify_case c = {.ir = b->ir,
                        .types = b->types,
                        .default_plan = w.by_default,
                        .strided = w.strided,
                        .seed = v->seed + w.from,
                        .random_plans = w.to - w.from,
                        .plans = v->plans,
                        .n_plans = v->n_plans,
                        .loops = v->loops,
                        .n_loops = v->o->loop.n};
    if (!bind(v, b->ir, one, &c))
        return false;
    if (*b->params)
        c.text = tool_format(v->t, "%s %s", b->params, c.text);
    if (c.strided)
        c.text = tool_format(v->t, "%s strided", c.text);
    if (c.default_plan || c.random_plans || c.n_plans || c.n_loops)
        add_case(v, &c);
    return true;
}

static const built *build_ir(verify *v, const of_kernel *k, const pairs *combo,
                             const pairs *params) {
    tool *t = v->t;
    settings s = {0};
    built *b = tool_alloc(t, 1, sizeof *b);
    *b = (built){k->kernel, pairs_text(t, combo), pairs_text(t, params), NULL, v->builds};
    for (const built *at = v->builds; at; at = at->next)
        if (at->kernel == b->kernel && strcmp(at->types, b->types) == 0 &&
            strcmp(at->params, b->params) == 0)
            return at;
    for (size_t c = 0; c < combo->n + params->n; c++) {
        const pair *p = c < combo->n ? &combo->at[c] : &params->at[c - combo->n];
        if (!settings_add(t, &s, tool_format(t, "%s=%s", p->name, p->value)))
            return NULL;
    }
    const char *all;
    b->ir = program_build(t, k->program, k->kernel, &s, &all);
    v->builds = b;
    return b->ir ? b : NULL;
}

/* Params: each case has one choice of them in turn, the defaults first, or those it names. */
static const pairs *turn(const cases *params, size_t k, const pairs *one) {
    for (size_t c = 0; c < params->n; c++)
        if (fits(&params->at[(k + c) % params->n], one))
            return &params->at[(k + c) % params->n];
    return NULL;
}

static bool same_types(const of_kernel *of, const pairs *a, const pairs *b) {
    for (size_t k = 0; k < tw_program_decls(of->program, of->kernel); k++) {
        const tw_decl *d = tw_program_decl(of->program, of->kernel, k);
        if (d->kind == TW_DECL_TYPE && strcmp(pairs_find(a, d->name), pairs_find(b, d->name)) != 0)
            return false;
    }
    return true;
}

/* --deal: the choices of one set of types share its random plans. */
static work of_choice(const verify *v, const of_kernel *of, const cases *combos, size_t choice) {
    size_t n = 0, before = 0;
    for (size_t k = 0; k < combos->n; k++)
        if (k == choice || (v->o->deal && same_types(of, &combos->at[k], &combos->at[choice]))) {
            n++;
            before += k < choice;
        }
    return (work){.from = before * v->count / n,
                  .to = (before + 1) * v->count / n,
                  .by_default = v->default_plan,
                  .strided = v->o->strided};
}

/* --deal: each case has the default plan for one of n choices, the next case for the next. */
static bool has_default(const verify *v, size_t choice, size_t n, size_t k) {
    return v->default_plan && (choice + k) % (v->o->deal ? n : 1) == 0;
}

static bool add_combo(verify *v, const of_kernel *of, const cases *combos, size_t choice,
                      const cases *params) {
    const pairs *combo = &combos->at[choice];
    tool *t = v->t;
    cases all = {0}, mine = {0}, constants = {0};
    const work whole = of_choice(v, of, combos, choice);
    const built *b = build_ir(v, of, combo, &params->at[0]);
    if (!b || !find_cases(v, of, b->ir, &all))
        return false;
    for (size_t k = 0; k < all.n; k++) {
        pairs own = with_open(v, of, combo, &all.at[k]);
        if (!fits(&own, &all.at[k]) || !turn(params, 0, &all.at[k]))
            continue;
        cases_add(t, &mine, all.at[k]);
        cases_add(t, &constants, own);
    }
    for (size_t k = 0; k < mine.n; k++) {
        b = build_ir(v, of, &constants.at[k], turn(params, k, &mine.at[k]));
        work w = of_case(v, whole, k, mine.n);
        w.by_default = has_default(v, choice, combos->n, k);
        if (!b || !add_one(v, b, &mine.at[k], w))
            return false;
    }
    return true;
}

static bool add_kernel(verify *v, tw_program *p, size_t kernel) {
    const of_kernel of = {p, kernel};
    cases combos = {0}, params = {0};
    if (!choices(v, &of, false, &combos) || !choices(v, &of, true, &params))
        return false;
    for (size_t k = 0; k < combos.n; k++)
        if (!add_combo(v, &of, &combos, k, &params))
            return false;
    return true;
}

static bool add_program(verify *v) {
    tool *t = v->t;
    tw_program *p;
    file *f = tool_alloc(t, 1, sizeof *f);
    size_t only = 0;
    if (!program_load(t, v->o, &p, f))
        return false;
    bool one = v->o->kernel || tw_program_kernels(p) <= 1;
    if (one)
        return program_kernel(t, v->o, p, &only) && settings_known(t, &v->set, p, only, NULL) &&
               add_kernel(v, p, only);
    for (size_t k = 0; k < tw_program_kernels(p); k++)
        if (!add_kernel(v, p, k))
            return false;
    return true;
}

/* --set and the cases may leave nothing of each other. */
static bool some_case(verify *v) {
    if (!v->n)
        tool_error(v->t, 825, "--cases FILE, or less of --set", "no case has what --set gives");
    return v->n > 0;
}

static bool add_tile(verify *v) {
    tool *t = v->t;
    file *f = tool_alloc(t, 1, sizeof *f);
    cases all = {0};
    if (!file_load(t, v->o->file, f))
        return false;
    tw_ir *ir = tw_ir_from_text(t->ctx, f->name, f->bytes, f->n);
    if (!ir) {
        tool_exit(t, EXIT_INPUT);
        return false;
    }
    if (!settings_known(t, &v->set, NULL, 0, ir) || !find_cases(v, &(of_kernel){NULL, 0}, ir, &all))
        return false;
    const work whole = {0, v->count, v->default_plan, v->o->strided};
    for (size_t k = 0; k < all.n; k++)
        if (!add_one(v, &(built){.ir = ir, .types = "", .params = ""}, &all.at[k],
                     of_case(v, whole, k, all.n)))
            return false;
    return true;
}

static bool known_fixture(tool *t, const char *name) {
    list names = {0};
    for (size_t k = 0; tw_fixture_name(k); k++) {
        list_add(t, &names, tw_fixture_name(k));
        if (!name || strcmp(name, names.at[k]) == 0)
            return true;
    }
    tool_error(t, 804, tool_nearest_help(t, name, names.at, names.n),
               "there is no fixture '%.200s'", name);
    return false;
}

static bool load_plans(verify *v, const tw_compile_options *options) {
    tool *t = v->t;
    v->loops = tool_alloc(t, v->o->loop.n, sizeof *v->loops);
    for (size_t k = 0; k < v->o->loop.n; k++) {
        file *f = tool_alloc(t, 1, sizeof *f);
        if (!file_load(t, v->o->loop.at[k], f))
            return false;
        v->loops[k] = file_source(f);
    }
    int64_t seed = v->o->seed ? v->o->seed : 1;
    bool random = options->plan && strncmp(options->plan, "random:", 7) == 0;
    if (random)
        (void)tool_parse_int(options->plan + 7, &seed);
    v->seed = (uint64_t)seed;
    v->count = random ? (size_t)(v->o->count ? v->o->count : 1) : 0;
    v->default_plan =
        v->o->spread || (!random && !options->plan_text.text && (!v->o->loop.n || v->o->plan));
    v->plans = tool_alloc(t, 1, sizeof *v->plans);
    v->plans[0] = options->plan_text;
    v->n_plans = options->plan_text.text != NULL;
    if (v->o->count && !random)
        tool_error(t, 808, "--plan random:SEED -n N", "-n goes with random plans");
    return !v->o->count || random;
}

static void json_row(text *s, const tw_verify_row *r) {
    json_open(s, NULL, '{');
    json_str(s, "kernel", r->kernel);
    json_str(s, "types", r->types);
    json_str(s, "case", r->text);
    json_str(s, "target", r->target);
    json_str(s, "plan", r->plan);
    json_str(s, "how", r->how);
    json_str(s, "source", *r->source ? r->source : NULL);
    json_str(s, "fixture", r->fixture);
    json_int(s, "depth", r->depth);
    json_num(s, "worst_over_bound", r->worst_over_bound);
    json_str(s, "element", r->element);
    json_str(s, "got", r->got);
    json_str(s, "want", r->want);
    json_str(s, "bound", r->bound);
    json_int(s, "undecided", r->undecided);
    json_str(s, "covered",
             r->covered == r->elements ? "all"
                                       : tool_format(s->t, "sampled:%lld", (long long)r->covered));
    json_str(s, "verdict", r->verdict);
    json_str(s, "note", *r->note ? r->note : NULL);
    json_close(s, '}');
}

static void one_row(void *user, const tw_verify_row *r) {
    verify *v = user;
    tool *t = v->t;
    *(r->failed ? &v->failed : strcmp(r->verdict, "right") == 0 ? &v->passed : &v->unproved) += 1;
    if (!v->o->quiet && !v->o->json)
        tool_progress(t, "%zu passed, %zu failed; %s %s %s", v->passed, v->failed, r->kernel,
                      r->types, r->text);
    if (v->o->json) {
        json_row(&t->json, r);
        return;
    }
    text worst = {.t = t};
    text_short(&worst, r->worst_over_bound);
    const char *covered =
        r->covered == r->elements ? "all" : tool_format(t, "sampled:%lld", (long long)r->covered);
    const char *cells[] = {tool_copy(t, r->kernel, strlen(r->kernel)),
                           tool_copy(t, r->types, strlen(r->types)),
                           tool_copy(t, r->text, strlen(r->text)),
                           tool_copy(t, r->target, strlen(r->target)),
                           tool_copy(t, r->plan, strlen(r->plan)),
                           tool_copy(t, r->fixture, strlen(r->fixture)),
                           tool_format(t, "%u", (unsigned)r->depth),
                           worst.at,
                           tool_copy(t, r->element, strlen(r->element)),
                           tool_copy(t, r->got, strlen(r->got)),
                           tool_copy(t, r->want, strlen(r->want)),
                           tool_copy(t, r->bound, strlen(r->bound)),
                           tool_format(t, "%lld", (long long)r->undecided),
                           covered,
                           tool_copy(t, r->verdict, strlen(r->verdict)),
                           tool_copy(t, r->note, strlen(r->note))};
    table_row(&v->table, cells);
}

static int report(verify *v, tw_status status) {
    tool *t = v->t;
    if (v->o->json) {
        json_close(&t->json, ']');
        json_int(&t->json, "passed", (int64_t)v->passed);
        json_int(&t->json, "failed", (int64_t)v->failed);
        json_int(&t->json, "not_probative", (int64_t)v->unproved);
        return tool_status(status);
    }
    if (status != TW_OK && v->passed + v->failed + v->unproved == 0)
        return tool_status(status); /* nothing was judged */
    table_print(&v->table, &t->out);
    if (v->unproved)
        text_printf(&t->out, "%zu not probative: too much undecided to prove anything\n",
                    v->unproved);
    text_printf(&t->out, "%zu passed, %zu failed\n", v->passed, v->failed);
    return tool_status(status);
}

int cmd_verify(tool *t, const cli_options *o) {
    static const char *const head[] = {
        "kernel",  "types", "case", "target", "plan",      "fixture", "depth",   "worst/bound",
        "element", "got",   "want", "bound",  "undecided", "covered", "verdict", "note"};
    verify v = {.t = t, .o = o};
    tw_compile_options options;
    bool from_tile = o->from && strcmp(o->from, "tile") == 0;
    if (o->from && !from_tile) {
        tool_error(t, 808, "--loop FILE judges loop IR",
                   "verify-run takes a program or --from tile");
        return EXIT_INPUT;
    }
    if (!known_fixture(t, o->fixture) || !job_options(t, o, &options) ||
        ((o->store || (o->plan && strcmp(o->plan, "best") == 0)) &&
         !job_store(t, o, TW_STORE_READ)) ||
        !settings_parse(t, &o->set, &v.set) || !load_plans(&v, &options) ||
        !(from_tile ? add_tile(&v) : add_program(&v)) || !some_case(&v))
        return EXIT_INPUT;
    tw_verify_options verify_options = tw_verify_options_defaults();
    verify_options.target = options.target;
    verify_options.caps = options.caps;
    verify_options.pins = options.pins;
    verify_options.n_pins = options.n_pins;
    verify_options.canonical = options.canonical;
    verify_options.plan = options.plan && strcmp(options.plan, "best") == 0 ? "best" : NULL;
    verify_options.fixture = o->fixture;
    verify_options.seed = o->seed ? (uint64_t)o->seed : 1;
    verify_options.jobs = (int)(o->threads > 1024 ? 1024 : o->threads);
    table_init(&v.table, t, head, sizeof head / sizeof head[0]);
    if (o->json) {
        json_open(&t->json, "target", '{');
        json_str(&t->json, "name", options.target);
        json_close(&t->json, '}');
        json_open(&t->json, "rows", '[');
    }
    verify_options.stop = &tool_interrupt()->asked; /* the rows so far are printed */
    return report(&v, tw_verify(t->ctx, v.at, v.n, &verify_options, one_row, &v));
}
