/* SPDX-License-Identifier: Apache-2.0
 * check: every rule of the language on every choice of types, constants and params; then the access
 * ledger.
 */
#include "cli/job.h"
#include "cli/json.h"

#include <string.h>

/* The ledger at the first choice of every type, constant and param. */
static void ledger(tool *t, tw_program *p, size_t kernel, bool json) {
    size_t n = tw_program_decls(p, kernel), used = 0;
    tw_binding *first = tool_alloc(t, n, sizeof *first);
    text note = {.t = t};
    for (size_t k = 0; k < n; k++) {
        const tw_decl *d = tw_program_decl(p, kernel, k);
        bool chosen =
            d->kind == TW_DECL_TYPE || d->kind == TW_DECL_CONST || d->kind == TW_DECL_PARAM;
        if (!chosen || !d->choices)
            continue;
        first[used++] = (tw_binding){d->name, d->choice[0]};
        text_printf(&note, " %s=%s", d->name, d->choice[0]);
    }
    tw_ir *ir = tw_program_build(p, kernel, first, used);
    if (!ir)
        return;
    const char *name = tw_program_kernel(p, kernel), *accesses = tw_ir_ledger_text(t->ctx, ir);
    if (json) {
        json_open(&t->json, NULL, '{');
        json_str(&t->json, "kernel", name);
        json_str(&t->json, "types", note.n ? note.at + 1 : "");
        json_str(&t->json, "ledger", accesses);
        json_close(&t->json, '}');
    } else {
        text_printf(&t->out, "%s: well formed%s%s\n%s", name, note.n ? "; accesses at" : "",
                    note.n ? note.at : "", accesses);
    }
}

int cmd_check(tool *t, const cli_options *o) {
    tw_program *p;
    file f;
    size_t only = SIZE_MAX;
    if (!program_load(t, o, &p, &f) || (o->kernel && !program_kernel(t, o, p, &only)))
        return EXIT_INPUT;
    if (!tw_program_check(p))
        return EXIT_INPUT;
    if (o->json)
        json_open(&t->json, "kernels", '[');
    for (size_t k = 0; k < tw_program_kernels(p); k++)
        if (only == SIZE_MAX || only == k)
            ledger(t, p, k, o->json);
    if (o->json)
        json_close(&t->json, ']');
    return EXIT_DONE;
}
