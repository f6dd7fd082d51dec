/* SPDX-License-Identifier: Apache-2.0
 * A target that does nothing but write down what was asked of it, and fails when a test wants that.
 */
#include "target/codes.h"
#include "target/target.h"

#include <stdio.h>

typedef struct {
    twi_target base;
    twi_null_log *log;
} null_target;

static twi_null_log *log_of(twi_target *t) { return ((null_target *)t)->log; }

static tw_status build(twi_target *t, const twi_loop *const *loop, unsigned n,
                       const struct twi_printed *printed, twi_module **out) {
    (void)printed;
    twi_null_log *log = log_of(t);
    log->builds++;
    memset(out, 0, n * sizeof *out);
    if (log->fail != TW_OK) {
        twi_error(&t->ctx->diags, TWI_E_ON_DEMAND, (twi_loc){0, 0}, NULL,
                  "the null target fails on demand");
        return log->fail;
    }
    for (unsigned k = 0; k < n; k++) {
        out[k] = twi_mem_get(&t->ctx->mem, sizeof *out[k]);
        *out[k] = (twi_module){t, loop[k]};
    }
    return TW_OK;
}

static tw_status launch(twi_module *m, uint32_t func, int64_t grid, const twi_launch *args,
                        char error[TWI_ERROR_TEXT]) {
    twi_null_log *log = log_of(m->target);
    const unsigned k = log->launches++ % 64;
    log->func[k] = func;
    log->grid[k] = grid;
    log->trip[k] = args->trip[0];
    if (log->fail != TW_OK)
        (void)snprintf(error, TWI_ERROR_TEXT, "the null target fails on demand");
    return log->fail;
}

static void release(twi_module *m) {
    if (!m)
        return;
    log_of(m->target)->releases++;
    twi_mem_put(&m->target->ctx->mem, m, sizeof *m);
}

static void close_null(twi_target *t) { twi_mem_put(&t->ctx->mem, t, sizeof(null_target)); }

static const twi_target_ops ops = {
    .name = "null", .build = build, .launch = launch, .release = release, .close = close_null};

twi_target *twi_null_open(tw_context *ctx, twi_null_log *log) {
    null_target *t = twi_mem_get(&ctx->mem, sizeof *t);
    *t = (null_target){.base = {.ops = &ops, .ctx = ctx, .version = ""}, .log = log};
    twi_caps_default(&t->base.caps);
    return &t->base;
}
