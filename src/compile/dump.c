/* SPDX-License-Identifier: Apache-2.0
 * TILEWRIGHT_DUMP=dir: the texts of a path, as files KERNEL.STAGE. What cannot be written is a
 * warning.
 */
#include "base/fs.h"
#include "compile/path.h"

void twi_dump(const tw_compiled *c) {
    tw_context *ctx = c->ctx;
    const twi_path *p = &c->path;
    const char *kernel = p->spec   ? twi_text(&ctx->names, p->spec->kernel)
                         : p->loop ? twi_text(&ctx->names, p->loop->kernel)
                                   : "kernel";
    int error = twi_make_dir(ctx->env.dump);
    for (unsigned s = 0; s < TW_STAGES && !error; s++)
        if (c->text[s])
            error = twi_write_file(twi_format(&ctx->arena, "%s/%.100s.%s", ctx->env.dump, kernel,
                                              tw_stage_name((tw_stage)s)),
                                   c->text[s], strlen(c->text[s]));
    if (error)
        twi_warn(&ctx->diags, TWI_E_PATH_DUMP, (twi_loc){0, 0}, NULL, "TILEWRIGHT_DUMP=%s: %s",
                 ctx->env.dump, strerror(error));
}
