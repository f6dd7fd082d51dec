/* SPDX-License-Identifier: Apache-2.0
 * The targets of this machine: described, probed, measured.
 */
#include "compile/path.h"
#include "target/bitprobe.h"
#include "target/codes.h"

#include <stdio.h>

static const char *const targets[] = {"cpu", "interp:simt32", "interp:simt4", "opencl", "cuda"};

size_t tw_targets(tw_context *ctx) { return ctx ? sizeof targets / sizeof targets[0] : 0; }

/* The first line of the first error since `before`; the errors since then are dropped. */
static const char *taken_reason(tw_context *ctx, uint32_t before) {
    twi_diags *d = &ctx->diags;
    const char *text = d->list.n > before ? d->list.at[before].text : "no reason given";
    d->errors -= d->list.n - before;
    d->list.n = before;
    return twi_format(&ctx->arena, "%.*s", (int)strcspn(text, "\n"), text);
}

static tw_target_info describe(tw_context *ctx, const char *name) {
    twi_where where;
    tw_target_info info = {.name = name, .note = "the loop IR interpreter; needs no compiler"};
    if (strcmp(name, "cuda") == 0) {
        twi_caps caps = {0};
        info.note = twi_cuda_describe(ctx, 0, &caps);
        info.caps = caps.name ? twi_caps_text(ctx, &caps) : NULL;
        return info;
    }
    const uint32_t before = ctx->diags.list.n;
    if (!twi_where_find(ctx, name, NULL, NULL, 0, &where)) {
        info.note = twi_format(&ctx->arena, "not usable here: %s", taken_reason(ctx, before));
        return info;
    }
    info.caps = twi_caps_text(ctx, &where.caps);
    if (where.kind == TWI_WHERE_CPU)
        info.note = twi_format(&ctx->arena, "this machine, %s, compiler %s",
                               twi_text(&ctx->names, where.caps.isa),
                               ctx->env.cc ? ctx->env.cc : "cc, gcc or clang");
    else if (where.kind == TWI_WHERE_OPENCL)
        info.note = "the loader's first device; source is OpenCL C";
    return info;
}

tw_target_info tw_target_get(tw_context *ctx, size_t k) {
    jmp_buf spot, *saved;
    if (k >= tw_targets(ctx))
        return (tw_target_info){0};
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return (tw_target_info){.name = targets[k], .note = "out of memory"};
    }
    tw_target_info info = describe(ctx, targets[k]);
    TWI_UNGUARD(&ctx->mem, saved);
    return info;
}

static void probe(tw_context *ctx, tw_target_info *info, const tw_source *caps) {
    twi_where where;
    const twi_probe_row *row;
    unsigned n;
    twi_sb differ;
    const uint32_t before = ctx->diags.list.n;
    twi_target *t = NULL;
    if (twi_where_find(ctx, info->name, caps, NULL, 0, &where))
        t = twi_where_open(ctx, &where);
    const tw_status status = t ? twi_bit_probe(t, &ctx->arena, &row, &n) : TW_ERR_ENV;
    if (status == TW_OK) {
        where.caps.probe |= t->caps.probe; /* what a driver does not promise stays */
        info->caps = twi_caps_text(ctx, &where.caps);
    }
    if (t)
        t->ops->close(t);
    if (status != TW_OK) {
        info->bits = twi_format(&ctx->arena, "not run: %s", taken_reason(ctx, before));
        return;
    }
    twi_sb_init(&differ, &ctx->arena);
    for (unsigned i = 0; i < n; i++)
        if (row[i].got != row[i].right)
            twi_sb_printf(&differ, "%s%s", differ.n ? ", " : "differ: ", row[i].name);
    info->bits = differ.n ? twi_sb_text(&differ) : "ok";
}

void tw_target_probe(tw_context *ctx, tw_target_info *info) {
    jmp_buf spot, *saved;
    if (!info->caps) {
        info->bits = "not run: no device";
        return;
    }
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        info->bits = "not run: out of memory";
        return;
    }
    probe(ctx, info, &(tw_source){info->name, info->caps, strlen(info->caps)});
    TWI_UNGUARD(&ctx->mem, saved);
}

static tw_status cannot(const tw_context *ctx) {
    const uint32_t n = ctx->diags.list.n;
    return n && ctx->diags.list.at[n - 1].code == TWI_E_NO_DEVICE ? TW_ERR_ENV : TW_ERR_INPUT;
}

static tw_status measured(tw_context *ctx, const char *name, const char **text) {
    twi_where where;
    char error[TWI_ERROR_TEXT] = "";
    if (!twi_where_find(ctx, name, NULL, NULL, 0, &where))
        return cannot(ctx);
    twi_target *t = twi_where_open(ctx, &where);
    if (!t)
        return cannot(ctx);
    twi_caps caps = t->caps;
    tw_status status = TW_ERR_INPUT;
    if (t->ops->ceilings)
        status = t->ops->ceilings(t, &caps, error);
    else
        (void)snprintf(error, sizeof error, "target %.60s has no ceilings that can be measured",
                       name);
    t->ops->close(t);
    if (*error)
        twi_error(&ctx->diags, status == TW_ERR_INPUT ? TWI_E_PATH_TARGET : TWI_E_NO_DEVICE,
                  (twi_loc){0, 0}, NULL, "%s", error);
    if (status == TW_OK)
        *text = twi_caps_text(ctx, &caps);
    return status;
}

tw_status tw_target_measured(tw_context *ctx, const char *target, const char **caps) {
    jmp_buf spot, *saved;
    *caps = NULL;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return TW_ERR_MEMORY;
    }
    const tw_status status = measured(ctx, target, caps);
    TWI_UNGUARD(&ctx->mem, saved);
    return status;
}
