/* SPDX-License-Identifier: Apache-2.0
 * wisdom: what is in the store, out of it and into it, and whether it is sound.
 */
#include "cli/job.h"
#include "cli/json.h"
#include "cli/table.h"

#include <math.h>
#include <string.h>

typedef struct {
    tool *t;
    const cli_options *o;
    table table;
} listing;

static void one(void *user, const tw_wisdom *w) {
    listing *l = user;
    tool *t = l->t;
    if (l->o->json) {
        json_open(&t->json, NULL, '{');
        json_str(&t->json, "kernel", w->kernel);
        json_str(&t->json, "spec", w->spec);
        json_str(&t->json, "class", w->numeric);
        json_str(&t->json, "target", w->target);
        json_str(&t->json, "device", w->device);
        json_str(&t->json, "compiler", w->compiler);
        json_int(&t->json, "threads", w->threads);
        json_str(&t->json, "plan", w->plan);
        json_str(&t->json, "verdict", w->verdict);
        json_str(&t->json, "trust", w->trust);
        json_num(&t->json, "median_ns", w->median_ns);
        json_num(&t->json, "ratio", w->ratio);
        json_num(&t->json, "confirm_ns", w->confirm_ns);
        json_num(&t->json, "default_ns", w->default_ns);
        json_num(&t->json, "regret", w->regret);
        json_bool(&t->json, "best", w->best);
        json_str(&t->json, "text", w->text);
        json_close(&t->json, '}');
        return;
    }
    const char *cells[] = {w->kernel,
                           w->spec,
                           w->numeric,
                           w->target,
                           w->threads ? tool_format(t, "%lld", (long long)w->threads) : "all",
                           w->plan,
                           w->verdict,
                           w->trust,
                           isnan(w->median_ns) ? "-" : table_time(t, w->median_ns),
                           w->best ? "best" : ""};
    table_row(&l->table, cells);
}

static int list_rows(tool *t, const cli_options *o) {
    static const char *const head[] = {"kernel", "for",     "class", "target", "threads",
                                       "plan",   "verdict", "trust", "median", ""};
    listing l = {t, o, {0}};
    table_init(&l.table, t, head, sizeof head / sizeof head[0]);
    if (o->json)
        json_open(&t->json, "rows", '[');
    const tw_status status = tw_wisdom_list(t->store, one, &l);
    if (o->json)
        json_close(&t->json, ']');
    else
        table_print(&l.table, &t->out);
    return tool_status(status);
}

static int export_rows(tool *t, const cli_options *o) {
    const char *lines = tw_wisdom_export(t->store);
    if (!lines)
        return EXIT_ENV;
    if (o->json)
        json_str(&t->json, "text", lines);
    else
        text_str(&t->out, lines);
    return EXIT_DONE;
}

static int import_rows(tool *t, const cli_options *o) {
    file f;
    size_t taken, refused;
    if (!o->second) {
        tool_error(t, 805, NULL, "wisdom import needs a FILE (- is stdin)");
        return EXIT_INPUT;
    }
    if (!file_load(t, o->second, &f))
        return EXIT_INPUT;
    const tw_status status = tw_wisdom_import(t->store, file_source(&f), &taken, &refused);
    if (o->json) {
        json_int(&t->json, "taken", (int64_t)taken);
        json_int(&t->json, "refused", (int64_t)refused);
    } else if (status == TW_OK) {
        text_printf(&t->out, "%zu taken, %zu refused\n", taken, refused);
    }
    return tool_status(status);
}

static void say(tool *t, const cli_options *o, const tw_store_health *h, bool removed) {
    if (o->json) {
        json_str(&t->json, "folder", tw_store_folder(t->store));
        json_bool(&t->json, "index", h->index);
        json_int(&t->json, "row_count", (int64_t)h->rows);
        json_int(&t->json, "fresh", (int64_t)h->fresh);
        json_int(&t->json, "stale", (int64_t)h->stale);
        json_int(&t->json, "foreign", (int64_t)h->foreign);
        json_int(&t->json, "unreadable", (int64_t)h->unreadable);
        json_int(&t->json, "objects", (int64_t)h->objects);
        json_int(&t->json, "damaged", (int64_t)h->damaged);
        json_int(&t->json, "unused", (int64_t)h->unused);
        json_int(&t->json, "objects_bytes", h->bytes);
        return;
    }
    text *out = &t->out;
    text_printf(out, "%s: index %s\n", tw_store_folder(t->store), h->index ? "sound" : "DAMAGED");
    text_printf(out, "%zu rows: %zu fresh, %zu stale, %zu foreign, %zu unreadable\n", h->rows,
                h->fresh, h->stale, h->foreign, h->unreadable);
    text_printf(out, "%zu objects, %lld bytes: %zu damaged, %zu files that no row names\n",
                h->objects, (long long)h->bytes, h->damaged, h->unused);
    if (removed)
        text_printf(out, "removed: %zu rows, %zu objects and files\n", h->stale + h->unreadable,
                    h->damaged + h->unused);
}

static int doctor(tool *t, const cli_options *o) {
    tw_store_health h;
    const tw_status status = tw_store_check(t->store, &h);
    say(t, o, &h, false);
    return status != TW_OK                          ? tool_status(status)
           : h.index && !h.unreadable && !h.damaged ? EXIT_DONE
                                                    : EXIT_WRONG;
}

static int gc(tool *t, const cli_options *o) {
    tw_store_health h;
    const tw_status status = tw_store_gc(t->store, &h);
    say(t, o, &h, true);
    return tool_status(status);
}

int cmd_wisdom(tool *t, const cli_options *o) {
    static const struct {
        const char *name;
        int (*run)(tool *t, const cli_options *o);
    } verbs[] = {{"list", list_rows},
                 {"export", export_rows},
                 {"import", import_rows},
                 {"doctor", doctor},
                 {"gc", gc}};
    const char *names[5];
    for (size_t k = 0; k < 5; k++) {
        names[k] = verbs[k].name;
        if (strcmp(o->file, verbs[k].name) == 0)
            return job_store(t, o, TW_STORE_WRITE) ? verbs[k].run(t, o) : EXIT_ENV;
    }
    tool_error(t, 804, tool_nearest_help(t, o->file, names, 5),
               "wisdom takes list, export, import, doctor or gc, not '%.200s'", o->file);
    return EXIT_INPUT;
}
