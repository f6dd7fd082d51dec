/* SPDX-License-Identifier: Apache-2.0
 * export: NAME.h and NAME.c of one kernel for a table of shapes. Both files appear or none; files
 * that export did not write are left alone.
 */
#include "cli/cases.h"
#include "cli/json.h"
#include "cli/table.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

typedef struct {
    tool *t;
    const cli_options *o;
    job j; /* without extents */
    tw_program *program;
    size_t kernel;
    cases shapes;
    tw_compiled **made;    /* a shape; NULL: not yet */
    tw_verify_case *judge; /* a shape, at the plan that was made */
    size_t right, wrong;   /* results */
    double worst;          /* over bound */
    const char *verdict;   /* in words; NULL: not asked */
} exporting;

static bool is_dim(const tw_ir *ir, const char *name) {
    for (size_t k = 0; k < tw_ir_dims(ir); k++)
        if (strcmp(tw_ir_dim(ir, k), name) == 0)
            return true;
    return false;
}

/* Types, constants and params have one value, extents a list; scalars are the caller's. */
static bool check_settings(const exporting *x) {
    tool *t = x->t;
    bool ok = true;
    for (size_t k = 0; k < tw_program_decls(x->program, x->kernel); k++) {
        const tw_decl *d = tw_program_decl(x->program, x->kernel, k);
        const setting *s = settings_find(&x->j.set, d->name);
        if (!s || d->kind == TW_DECL_DIM)
            continue;
        if (d->kind == TW_DECL_SCALAR)
            tool_error(t, 806, NULL, "--set %s: it is an argument of the exported function",
                       d->name);
        else if (s->values.n > 1)
            tool_error(t, 806, "one export for each, with --name NAME",
                       "--set %s is given %zu values; export takes lists of extents alone", d->name,
                       s->values.n);
        else
            continue;
        ok = false;
    }
    return ok;
}

static bool load(exporting *x) {
    tool *t = x->t;
    job *j = &x->j;
    if (!job_options(t, x->o, &j->options) || !settings_parse(t, &x->o->set, &j->set) ||
        !program_load(t, x->o, &x->program, &j->source) ||
        !program_kernel(t, x->o, x->program, &x->kernel) ||
        !settings_known(t, &j->set, x->program, x->kernel, NULL) || !check_settings(x))
        return false;
    j->ir = program_build(t, x->program, x->kernel, &j->set, &j->types);
    return j->ir != NULL;
}

/* A line of --shapes speaks of extents, and may say which kernel it is for. */
static bool check_shape(const exporting *x, const pairs *p) {
    for (size_t k = 0; k < p->n; k++)
        if (strcmp(p->at[k].name, "kernel") != 0 && !is_dim(x->j.ir, p->at[k].name)) {
            list names = {0};
            for (size_t d = 0; d < tw_ir_dims(x->j.ir); d++)
                list_add(x->t, &names, tw_ir_dim(x->j.ir, d));
            tool_error(x->t, 825, tool_nearest_help(x->t, p->at[k].name, names.at, names.n),
                       "%s: the kernel has no dim %.100s", x->o->shapes, p->at[k].name);
            return false;
        }
    return true;
}

/* The product of what --set gives, with each line of --shapes. */
static bool find_shapes(exporting *x) {
    tool *t = x->t;
    const size_t n = tw_ir_dims(x->j.ir);
    setting *given = tool_alloc(t, n, sizeof *given);
    size_t used = 0;
    cases lines = {0}, product = {0};
    for (size_t k = 0; k < n; k++) {
        const setting *s = settings_find(&x->j.set, tw_ir_dim(x->j.ir, k));
        if (s)
            given[used++] = *s;
    }
    cases_product(t, given, used, &product);
    if (x->o->shapes && !cases_read(t, x->o->shapes, &lines))
        return false;
    if (!x->o->shapes)
        cases_add(t, &lines, (pairs){0});
    for (size_t l = 0; l < lines.n; l++) {
        const char *kernel = pairs_find(&lines.at[l], "kernel");
        if (kernel && strcmp(kernel, tw_ir_kernel(x->j.ir)) != 0)
            continue;
        if (!check_shape(x, &lines.at[l]))
            return false;
        for (size_t p = 0; p < product.n; p++) {
            pairs both = {tool_alloc(t, lines.at[l].n + product.at[p].n, sizeof *both.at), 0};
            for (size_t k = 0; k < product.at[p].n; k++)
                both.at[both.n++] = product.at[p].at[k];
            for (size_t k = 0; k < lines.at[l].n; k++)
                both.at[both.n++] = lines.at[l].at[k];
            cases_add(t, &x->shapes, both);
        }
    }
    if (!x->shapes.n)
        tool_error(t, 825, NULL, "%s has no shape for kernel %s", x->o->shapes,
                   tw_ir_kernel(x->j.ir));
    return x->shapes.n > 0;
}

/* An extent for every dim; one that --set and the line both give must agree. */
static bool bind(const exporting *x, const pairs *shape, job *j) {
    tool *t = x->t;
    *j = x->j;
    j->set = (settings){0};
    for (size_t k = 0; k < shape->n; k++) {
        const pair *p = &shape->at[k];
        if (strcmp(p->name, "kernel") == 0)
            continue;
        const setting *had = settings_find(&j->set, p->name);
        if (had && strcmp(had->values.at[0], p->value) != 0) {
            tool_error(t, 825, NULL, "%s: %s=%s, but --set says %s", x->o->shapes, p->name,
                       p->value, had->values.at[0]);
            return false;
        }
        if (!had && !settings_add(t, &j->set, tool_format(t, "%s=%s", p->name, p->value)))
            return false;
    }
    return job_bind(t, j) && job_dims_complete(t, j);
}

static const char *shape_text(const exporting *x, size_t k) {
    text shape = {.t = x->t};
    text_str(&shape, "");
    for (size_t p = 0; p < x->shapes.at[k].n; p++)
        text_printf(&shape, "%s%s=%s", p ? " " : "", x->shapes.at[k].at[p].name,
                    x->shapes.at[k].at[p].value);
    return shape.at;
}

/* The same shape at the same plan, for the oracle. */
static void add_judged(exporting *x, size_t k, const job *j, const char *shape) {
    tool *t = x->t;
    const char *plan = tw_compiled_text(x->made[k], TW_STAGE_PLAN);
    tw_source *source = tool_alloc(t, 1, sizeof *source);
    *source = (tw_source){"the plan", plan, strlen(plan)};
    x->judge[k] = (tw_verify_case){.ir = x->j.ir,
                                   .types = x->j.types,
                                   .text = shape,
                                   .dims = j->dims,
                                   .n_dims = j->options.n_dims,
                                   .plans = source,
                                   .n_plans = 1};
}

static tw_status compile(exporting *x) {
    x->made = tool_alloc(x->t, x->shapes.n, sizeof(tw_compiled *));
    x->judge = tool_alloc(x->t, x->shapes.n, sizeof *x->judge);
    for (size_t k = 0; k < x->shapes.n; k++) {
        job j;
        if (!bind(x, &x->shapes.at[k], &j))
            return TW_ERR_INPUT;
        j.options.build = false;
        if (!x->o->quiet && !x->o->json)
            tool_progress(x->t, "export: shape %zu of %zu", k + 1, x->shapes.n);
        const tw_status status = tw_compile(x->t->ctx, x->j.ir, &j.options, &x->made[k]);
        if (status != TW_OK || tool_interrupt()->asked)
            return status;
        add_judged(x, k, &j, shape_text(x, k));
    }
    return TW_OK;
}

static void judged(void *user, const tw_verify_row *r) {
    exporting *x = user;
    tool *t = x->t;
    *(r->failed ? &x->wrong : &x->right) += 1;
    if (r->worst_over_bound > x->worst)
        x->worst = r->worst_over_bound;
    if (!x->o->quiet && !x->o->json)
        tool_progress(t, "export: %zu results right", x->right);
    if (r->failed && !x->o->json)
        text_printf(&t->out, "%s: %s, fixture %s: element %s is %s, not %s within %s %s\n", r->text,
                    r->verdict, r->fixture, r->element, r->got, r->want, r->bound, r->note);
}

/* Every shape on every fixture in children; only what is right is written. */
static tw_status check(exporting *x) {
    tool *t = x->t;
    const tw_compile_options *o = &x->j.options;
    tw_verify_options how = tw_verify_options_defaults();
    if (!x->o->check)
        return TW_OK;
    how.target = o->target;
    how.caps = o->caps;
    how.pins = o->pins;
    how.n_pins = o->n_pins;
    how.canonical = o->canonical;
    how.stop = &tool_interrupt()->asked;
    const tw_status status = tw_verify(t->ctx, x->judge, x->shapes.n, &how, judged, x);
    text said = {.t = t};
    text_printf(&said,
                "Judged by the oracle when it was made: %zu results of %zu shape%s, worst "
                "error over bound ",
                x->right + x->wrong, x->shapes.n, x->shapes.n == 1 ? "" : "s");
    text_short(&said, x->worst);
    x->verdict = said.at;
    if (status == TW_ERR_WRONG && !x->o->json)
        text_printf(&t->out, "%zu right, %zu wrong; nothing was written\n", x->right, x->wrong);
    return status;
}

static void quoted(text *out, const char *option, const char *value) {
    const char *plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./:,";
    if (value)
        text_printf(out, strspn(value, plain) == strlen(value) ? " %s %s" : " %s '%s'", option,
                    value);
}

/* What makes the same again. */
static const char *command(const exporting *x) {
    const cli_options *o = x->o;
    text s = {.t = x->t};
    quoted(&s, "tilewright export", o->file);
    quoted(&s, "--kernel", o->kernel);
    for (size_t k = 0; k < o->set.n; k++)
        quoted(&s, "--set", o->set.at[k]);
    quoted(&s, "--shapes", o->shapes);
    quoted(&s, "--target", o->target);
    quoted(&s, "--caps", o->caps);
    for (size_t k = 0; k < o->pin.n; k++)
        quoted(&s, "--pin", o->pin.at[k]);
    quoted(&s, "--class", o->class_name);
    quoted(&s, "--model", o->model);
    quoted(&s, "--plan", o->plan);
    if (o->threads)
        text_printf(&s, " --threads %lld", (long long)o->threads);
    quoted(&s, "--name", o->name);
    quoted(&s, "--out", o->dir);
    text_str(&s, o->check ? " --check" : "");
    return s.at;
}

/* May it be written? Not over a file that somebody else wrote. */
static bool is_ours(tool *t, const char *path) {
    char head[201] = "";
    FILE *old = fopen(path, "r");
    if (!old)
        return true; /* not there, or the write will say why it cannot be */
    const size_t n = fread(head, 1, sizeof head - 1, old);
    (void)fclose(old);
    head[n] = 0;
    if (n == 0 || strstr(head, ": made by Tilewright "))
        return true;
    tool_error(t, 812, "remove it, or --name NAME, or another --out",
               "%s: is there and was not made by export; it is left alone", path);
    return false;
}

static bool write_files(const exporting *x, const tw_exported *e) {
    tool *t = x->t;
    tool_write_job jobs[] = {
        {.path = tool_format(t, "%s/%s.h", x->o->dir, e->name), .bytes = e->header},
        {.path = tool_format(t, "%s/%s.c", x->o->dir, e->name), .bytes = e->source}};
    for (size_t k = 0; k < 2; k++) {
        jobs[k].n = strlen(jobs[k].bytes);
        if (!is_ours(t, jobs[k].path))
            return false;
    }
    const bool fresh = mkdir(x->o->dir, 0777) == 0;
    const int error = fresh ? 0 : errno;
    struct stat there;
    if (error && error != EEXIST)
        tool_error(t, 812, NULL, "%s: cannot be made: %s", x->o->dir, strerror(error));
    else if (stat(x->o->dir, &there) != 0 || !S_ISDIR(there.st_mode))
        tool_error(t, 812, NULL, "%s: is no folder", x->o->dir);
    if (t->exit)
        return false;
    const bool ok = tool_write_all(t, jobs, 2);
    if (!ok && fresh)
        (void)rmdir(x->o->dir);
    return ok;
}

static void report(const exporting *x, const tw_exported *e) {
    static const char *const head[] = {"shape", "plan", "", "steps", "workspace", "a share"};
    tool *t = x->t;
    table all;
    table_init(&all, t, head, sizeof head / sizeof head[0]);
    if (x->o->json) {
        json_str(&t->json, "name", e->name);
        json_str(&t->json, "folder", x->o->dir);
        json_str(&t->json, "isa", e->isa);
        json_str(&t->json, "flags", e->flags);
        json_str(&t->json, "verdict", x->verdict);
        json_open(&t->json, "rows", '[');
    }
    for (size_t k = 0; k < x->shapes.n; k++) {
        const tw_export_figures f = tw_export_needs(x->made[k]);
        const char *hash =
            tool_format(t, "%016llx", (unsigned long long)tw_compiled_plan_hash(x->made[k]));
        const bool stored = tw_compiled_is_stored(x->made[k]);
        if (x->o->json) {
            json_open(&t->json, NULL, '{');
            json_str(&t->json, "shape", shape_text(x, k));
            json_str(&t->json, "plan", hash);
            json_bool(&t->json, "stored", stored);
            json_int(&t->json, "steps", f.steps);
            json_int(&t->json, "workspace_bytes", (int64_t)f.shared_bytes);
            json_int(&t->json, "share_bytes", (int64_t)f.share_bytes);
            json_close(&t->json, '}');
            continue;
        }
        const char *cells[] = {shape_text(x, k),
                               hash,
                               stored ? "stored" : "",
                               tool_format(t, "%lld", (long long)f.steps),
                               tool_format(t, "%llu B", (unsigned long long)f.shared_bytes),
                               tool_format(t, "%llu B", (unsigned long long)f.share_bytes)};
        table_row(&all, cells);
    }
    if (x->o->json) {
        json_close(&t->json, ']');
        return;
    }
    table_print(&all, &t->out);
    if (x->verdict)
        text_printf(&t->out, "%s\n", x->verdict);
    text_printf(&t->out, "%s/%s.h and %s.c: compile %s%swith -O2%s%s, link with -lm\n", x->o->dir,
                e->name, e->name, *e->arch ? "for " : "",
                *e->arch ? tool_format(t, "%s ", e->arch) : "", *e->flags ? " " : "", e->flags);
}

static tw_status make(exporting *x) {
    tw_status status = compile(x);
    tw_exported e;
    if (status == TW_OK)
        status = check(x);
    if (status != TW_OK)
        return status;
    const tw_export_options options = {.name = x->o->name,
                                       .program = x->j.source.bytes,
                                       .command = command(x),
                                       .verdict = x->verdict};
    status = tw_export(x->t->ctx, x->j.ir, (const tw_compiled *const *)x->made, x->shapes.n,
                       &options, &e);
    if (status == TW_OK && write_files(x, &e))
        report(x, &e);
    return status;
}

int cmd_export(tool *t, const cli_options *o) {
    exporting x = {.t = t, .o = o};
    if (!o->dir) {
        tool_error(t, 802, NULL, "export needs --out DIR");
        return EXIT_INPUT;
    }
    if (!load(&x) || !find_shapes(&x) || !job_store(t, o, TW_STORE_READ) ||
        !job_tell_model(t, o, &x.j))
        return EXIT_INPUT;
    if (!o->plan && t->store)
        x.j.options.plan = "best";
    const tw_status status = make(&x);
    for (size_t k = 0; x.made && k < x.shapes.n; k++)
        tw_compiled_release(x.made[k]);
    return tool_status(status);
}
