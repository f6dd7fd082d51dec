/* SPDX-License-Identifier: Apache-2.0
 * --set: what the program declares, by name.
 */
#include "cli/job.h"

#include <string.h>

static setting *named(tool *t, settings *s, const char *name) {
    setting *found = settings_find(s, name);
    if (found)
        return found;
    if (s->n == s->cap) {
        size_t cap = s->cap ? s->cap * 2 : 8;
        setting *at = tool_alloc(t, cap, sizeof *at);
        if (s->n)
            memcpy(at, s->at, s->n * sizeof *at);
        s->at = at;
        s->cap = cap;
    }
    s->at[s->n] = (setting){.name = name};
    return &s->at[s->n++];
}

bool settings_add(tool *t, settings *s, const char *item) {
    const char *name = NULL;
    for (const char *at = item;;) {
        size_t n = strcspn(at, ",");
        char *part = tool_copy(t, at, n), *equals = strchr(part, '=');
        if (equals) {
            *equals = 0;
            name = part;
            part = equals + 1;
        }
        if (!name || !*name || !*part) {
            tool_error(t, 806, NULL, "--set %.200s: NAME=VALUE is wanted", item);
            return false;
        }
        list_add(t, &named(t, s, name)->values, part);
        if (!at[n])
            return true;
        at += n + 1;
    }
}

bool settings_parse(tool *t, const list *items, settings *s) {
    bool ok = true;
    for (size_t k = 0; k < items->n; k++)
        ok = settings_add(t, s, items->at[k]) && ok;
    return ok;
}

setting *settings_find(const settings *s, const char *name) {
    for (size_t k = 0; k < s->n; k++)
        if (strcmp(s->at[k].name, name) == 0)
            return &s->at[k];
    return NULL;
}

void settings_names(tool *t, list *names, const tw_program *program, size_t kernel,
                    const tw_ir *ir) {
    for (size_t k = 0; program && k < tw_program_decls(program, kernel); k++) {
        const tw_decl *d = tw_program_decl(program, kernel, k);
        if (d->kind != TW_DECL_ARRAY)
            list_add(t, names, d->name);
    }
    for (size_t k = 0; !program && ir && k < tw_ir_dims(ir); k++)
        list_add(t, names, tw_ir_dim(ir, k));
    for (size_t k = 0; !program && ir && k < tw_ir_args(ir); k++)
        if (tw_ir_arg(ir, k).scalar)
            list_add(t, names, tw_ir_arg(ir, k).name);
}

bool settings_known(tool *t, settings *s, const tw_program *program, size_t kernel,
                    const tw_ir *ir) {
    list names = {0};
    bool ok = true;
    settings_names(t, &names, program, kernel, ir);
    for (size_t k = 0; k < s->n; k++) {
        bool found = false;
        for (size_t j = 0; j < names.n && !found; j++)
            found = strcmp(names.at[j], s->at[k].name) == 0;
        if (found)
            continue;
        tool_error(t, 806, tool_nearest_help(t, s->at[k].name, names.at, names.n),
                   "--set %.200s: the kernel declares no type, constant, dim, param or scalar of "
                   "that name",
                   s->at[k].name);
        ok = false;
    }
    return ok;
}

bool settings_single(tool *t, const settings *s) {
    for (size_t k = 0; k < s->n; k++)
        if (s->at[k].values.n > 1) {
            tool_error(t, 806, "verify-run takes lists",
                       "--set %s is given %zu values, this command takes one", s->at[k].name,
                       s->at[k].values.n);
            return false;
        }
    return true;
}
