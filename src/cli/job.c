/* SPDX-License-Identifier: Apache-2.0
 * FILE, --from, --kernel, --set, --target, --plan and the rest become a tile IR and the options of
 * its path.
 */
#include "cli/job.h"
#include "cli/json.h"

#include <stdlib.h>
#include <string.h>

enum { CODE_NO_STORE = 782 }; /* a build without it: nothing to warn of */

bool file_load(tool *t, const char *path, file *f) {
    f->name = strcmp(path, "-") == 0 ? "stdin" : path;
    return tool_read(t, path, &f->bytes, &f->n);
}

tw_source file_source(const file *f) { return (tw_source){f->name, f->bytes, f->n}; }

bool program_load(tool *t, const cli_options *o, tw_program **program, file *f) {
    if (!file_load(t, o->file, f))
        return false;
    *program = tw_program_parse(t->ctx, f->name, f->bytes, f->n);
    if (!*program)
        tool_exit(t, EXIT_INPUT);
    return *program != NULL;
}

bool program_kernel(tool *t, const cli_options *o, const tw_program *p, size_t *kernel) {
    size_t n = tw_program_kernels(p);
    list names = {0};
    text all = {.t = t};
    for (size_t k = 0; k < n; k++) {
        list_add(t, &names, tw_program_kernel(p, k));
        text_printf(&all, "%s%s", k ? ", " : "", names.at[k]);
        if (o->kernel && strcmp(o->kernel, names.at[k]) == 0) {
            *kernel = k;
            return true;
        }
    }
    *kernel = 0;
    if (n == 1 && !o->kernel)
        return true;
    if (o->kernel)
        tool_error(t, 807, tool_nearest_help(t, o->kernel, names.at, n),
                   "%s has no kernel '%.200s'; it has: %s", o->file, o->kernel,
                   n ? all.at : "none");
    else if (n == 0)
        tool_error(t, 807, NULL, "%s has no kernel", o->file);
    else
        tool_error(t, 807, "--kernel K", "%s has %zu kernels: %s", o->file, n, all.at);
    return false;
}

tw_ir *program_build(tool *t, tw_program *p, size_t kernel, const settings *s, const char **types) {
    size_t n = tw_program_decls(p, kernel), used = 0;
    tw_binding *bindings = tool_alloc(t, n, sizeof *bindings);
    text note = {.t = t};
    text_str(&note, "");
    for (size_t k = 0; k < n; k++) {
        const tw_decl *d = tw_program_decl(p, kernel, k);
        if (d->kind != TW_DECL_TYPE && d->kind != TW_DECL_CONST && d->kind != TW_DECL_PARAM)
            continue;
        const setting *given = settings_find(s, d->name);
        const char *value = given ? given->values.at[0] : NULL;
        if (value)
            bindings[used++] = (tw_binding){d->name, value};
        else if (d->choices && (d->kind == TW_DECL_PARAM || d->open || d->choices == 1))
            value = d->choice[0];
        if (value)
            text_printf(&note, "%s%s=%s", note.n ? " " : "", d->name, value);
    }
    *types = note.at;
    tw_ir *ir = tw_program_build(p, kernel, bindings, used);
    if (!ir)
        tool_exit(t, EXIT_INPUT);
    return ir;
}

static bool load_caps(tool *t, const cli_options *o, tw_compile_options *options) {
    const char *path = o->caps;
    if (!path && o->target &&
        (strchr(o->target, '/') || (strstr(o->target, ".caps") && tool_exists(o->target))))
        path = o->target; /* a target may be a file of caps */
    if (!path)
        return true;
    file *f = tool_alloc(t, 1, sizeof *f);
    if (!file_load(t, path, f))
        return false;
    options->caps = file_source(f);
    if (path == o->target)
        options->target = "caps";
    return true;
}

int job_threads(const cli_options *o) { return (int)(o->threads > 4096 ? 4096 : o->threads); }

bool job_store(tool *t, const cli_options *o, tw_store_use use) {
    const bool must =
        use == TW_STORE_WRITE || o->store || (o->plan && strcmp(o->plan, "best") == 0);
    const char *folder = o->store ? o->store : getenv("TILEWRIGHT_STORE");
    const bool none = folder && strcmp(folder, "none") == 0;
    if (none && use != TW_STORE_WRITE)
        return true;
    if (none) {
        tool_error(t, 893, "--store DIR", "this needs a store, and there is to be none");
        return false;
    }
    if (tw_store_open(t->ctx, o->store, use, &t->store) == TW_OK)
        return true;
    if (must) {
        tool_exit(t, EXIT_ENV);
        return false;
    }
    const tw_diag d = tw_diag_get(t->ctx, 0);
    if (d.code != CODE_NO_STORE)
        tool_warning(t, d.code, d.text);
    tw_diag_clear(t->ctx);
    return true;
}

/* analytic, calibrated, reversed (for developers), or the file of a model. */
static bool load_model(tool *t, const cli_options *o, tw_compile_options *options) {
    static const char *const names[] = {"analytic", "calibrated", "reversed"};
    for (size_t k = 0; o->model && k < sizeof names / sizeof names[0]; k++)
        if (strcmp(o->model, names[k]) == 0)
            options->model = names[k];
    if (!o->model || options->model)
        return true;
    file *f = tool_alloc(t, 1, sizeof *f);
    if (!file_load(t, o->model, f))
        return false;
    options->model_text = file_source(f);
    return true;
}

bool job_tell_model(tool *t, const cli_options *o, const job *j) {
    const char *model = tw_model_of(t->ctx, &j->options);
    if (!model)
        return false;
    if (o->json)
        json_str(&t->json, "model", model);
    else if (strcmp(model, "analytic") != 0)
        text_printf(&t->out, "model %s\n", model);
    return true;
}

bool job_options(tool *t, const cli_options *o, tw_compile_options *options) {
    *options = tw_compile_options_defaults();
    options->target = o->target ? o->target : "cpu";
    options->pins = o->pin.at;
    options->n_pins = o->pin.n;
    options->strided = o->strided;
    if (o->class_name && strcmp(o->class_name, "canonical") != 0 &&
        strcmp(o->class_name, "free") != 0) {
        tool_error(t, 804, NULL, "--class takes canonical or free, not '%.200s'", o->class_name);
        return false;
    }
    options->canonical = o->class_name && strcmp(o->class_name, "canonical") == 0;
    if (!load_caps(t, o, options) || !load_model(t, o, options))
        return false;
    options->threads = job_threads(o);
    if (!o->plan || strcmp(o->plan, "default") == 0 || strcmp(o->plan, "best") == 0 ||
        strncmp(o->plan, "random:", 7) == 0) {
        options->plan = o->plan ? o->plan : "default";
        int64_t seed;
        if (strncmp(options->plan, "random:", 7) == 0 &&
            (!tool_parse_int(options->plan + 7, &seed) || seed < 0)) {
            tool_error(t, 804, NULL, "--plan random:SEED takes a number, not '%.200s'",
                       options->plan + 7);
            return false;
        }
        return true;
    }
    file *f = tool_alloc(t, 1, sizeof *f);
    bool ok = file_load(t, o->plan, f);
    options->plan_text = file_source(f);
    return ok;
}

static bool load_tile(tool *t, job *j, const char *path, file *f) {
    if (!file_load(t, path, f))
        return false;
    j->ir = tw_ir_from_text(t->ctx, f->name, f->bytes, f->n);
    j->types = "";
    if (!j->ir)
        tool_exit(t, EXIT_INPUT);
    return j->ir != NULL;
}

/* --from loop or plan: the tile IR, where it is needed, comes by --tile. */
static bool load_later(tool *t, const cli_options *o, job *j, bool plan) {
    file *tile = tool_alloc(t, 1, sizeof *tile);
    if (!file_load(t, o->file, &j->source) || (o->tile && !load_tile(t, j, o->tile, tile)))
        return false;
    if (plan && !o->tile) {
        tool_error(t, 808, "--tile FILE, what show --stage tile printed",
                   "--from plan needs the tile IR that the plan speaks of");
        return false;
    }
    j->types = "";
    if (plan)
        j->options.plan_text = file_source(&j->source);
    else
        j->options.loop_text = file_source(&j->source);
    return true;
}

static bool load_program(tool *t, const cli_options *o, job *j) {
    tw_program *p;
    size_t kernel;
    if (!program_load(t, o, &p, &j->source) || !program_kernel(t, o, p, &kernel) ||
        !settings_known(t, &j->set, p, kernel, NULL) || (j->infer && !j->infer(t, j, p, kernel)))
        return false;
    j->ir = program_build(t, p, kernel, &j->set, &j->types);
    return j->ir != NULL;
}

bool job_load(tool *t, const cli_options *o, job *j) {
    static const char *const stages[] = {"tile", "plan", "loop", "caps"};
    if (!job_options(t, o, &j->options) || !settings_parse(t, &o->set, &j->set) ||
        !settings_single(t, &j->set))
        return false;
    bool ok;
    j->threads = job_threads(o);
    if (!o->from)
        ok = load_program(t, o, j);
    else if (strcmp(o->from, "tile") == 0)
        ok = load_tile(t, j, o->file, &j->source) && settings_known(t, &j->set, NULL, 0, j->ir);
    else if (strcmp(o->from, "loop") == 0 || strcmp(o->from, "plan") == 0)
        ok = load_later(t, o, j, *o->from == 'p');
    else {
        tool_error(t, 804, tool_nearest_help(t, o->from, stages, 4),
                   "--from takes tile, plan, loop or caps, not '%.200s'", o->from);
        return false;
    }
    return ok && job_bind(t, j);
}

static bool bind_scalar(tool *t, job *j, const tw_arg *a) {
    const setting *given = settings_find(&j->set, a->name);
    if (!given)
        return true;
    tw_scalar_value *v = &j->scalars[j->n_scalars++];
    v->name = a->name;
    if (tw_scalar_bits(a->elem, given->values.at[0], &v->bits))
        return true;
    tool_error(t, 806, NULL, "--set %s: '%.200s' is no value of %s", a->name, given->values.at[0],
               tw_elem_name(a->elem));
    return false;
}

bool job_bind(tool *t, job *j) {
    if (!j->ir)
        return true;
    size_t n = tw_ir_dims(j->ir), args = tw_ir_args(j->ir);
    bool ok = true;
    j->dims = tool_alloc(t, n, sizeof *j->dims);
    j->scalars = tool_alloc(t, args, sizeof *j->scalars);
    j->options.dims = j->dims;
    j->options.n_dims = j->n_scalars = 0;
    for (size_t k = 0; k < n; k++) {
        const char *name = tw_ir_dim(j->ir, k);
        const setting *given = settings_find(&j->set, name);
        int64_t v;
        if (!given)
            continue;
        if (!tool_parse_int(given->values.at[0], &v) || v < 0) {
            tool_error(t, 806, NULL, "--set %s: '%.200s' is no extent", name, given->values.at[0]);
            ok = false;
            continue;
        }
        j->dims[j->options.n_dims++] = (tw_dim_value){name, v};
    }
    for (size_t k = 0; k < args; k++) {
        tw_arg a = tw_ir_arg(j->ir, k);
        if (a.scalar)
            ok = bind_scalar(t, j, &a) && ok;
    }
    return ok;
}

bool job_dims_complete(tool *t, const job *j) {
    text missing = {.t = t};
    for (size_t k = 0; j->ir && k < tw_ir_dims(j->ir); k++) {
        int64_t v;
        bool have = tw_ir_dim_known(j->ir, k, &v);
        for (size_t d = 0; d < j->options.n_dims && !have; d++)
            have = strcmp(j->options.dims[d].name, tw_ir_dim(j->ir, k)) == 0;
        if (!have)
            text_printf(&missing, "%s%s", missing.n ? ", " : "", tw_ir_dim(j->ir, k));
    }
    if (!missing.n)
        return true;
    tool_error(t, 808, "--set NAME=EXTENT", "no value for dim %s", missing.at);
    return false;
}
