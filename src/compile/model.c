/* SPDX-License-Identifier: Apache-2.0
 * Which cost model ranks plans on a target: the analytic one, a calibrated one from a text or from
 * the context's store, or, to test who relies on it, the analytic one turned around. No model has a
 * say in what is legal.
 */
#include "compile/path.h"

#include "caps/model.h"

static bool refuse(tw_context *ctx, const char *name, const char *why) {
    twi_error(&ctx->diags, TWI_E_PATH_MODEL, (twi_loc){0, 0},
              "tilewright calibrate --out FILE makes one for this machine", "%.200s: %s", name,
              why);
    return false;
}

const char *twi_where_model_name(tw_context *ctx, const twi_where *where) {
    return twi_format(&ctx->arena, "model of %s", twi_where_device(ctx, where));
}

static void use(twi_where *where, const twi_model *m) {
    where->model = m;
    where->caps.fitted = m->price;
}

/* Is it a model for this machine, by this version? */
static bool read_model(tw_context *ctx, const twi_where *where, const char *text, size_t n,
                       twi_model *m, const char **why) {
    if (!twi_model_parse(ctx, text, n, m, why))
        return false;
    if (strcmp(m->device, twi_where_device(ctx, where)) != 0)
        *why = twi_format(&ctx->arena, "it is for '%s', this is '%s'", m->device,
                          twi_where_device(ctx, where));
    else if (strcmp(m->version, TW_VERSION) != 0)
        *why = twi_format(&ctx->arena, "Tilewright %s made it, this is %s", m->version, TW_VERSION);
    return !*why;
}

static bool from_text(tw_context *ctx, const tw_source *text, twi_where *where) {
    twi_model *m = TWI_NEW(&ctx->arena, twi_model);
    const char *why = NULL;
    if (where->kind != TWI_WHERE_CPU)
        return refuse(ctx, text->name,
                      twi_format(&ctx->arena, "calibrated models are of target cpu, this is %s",
                                 where->name));
    if (!read_model(ctx, where, text->text, text->n, m, &why))
        return refuse(ctx, text->name, why);
    use(where, m);
    return true;
}

bool twi_where_stored_model(tw_context *ctx, twi_where *where) {
    const twi_shelf *shelf = ctx->shelf;
    if (where->kind != TWI_WHERE_CPU || !shelf || !shelf->memo)
        return false;
    const char *why,
        *text = shelf->memo(shelf->user, &ctx->arena, twi_where_model_name(ctx, where));
    twi_model *m = text ? TWI_NEW(&ctx->arena, twi_model) : NULL;
    if (!m || !read_model(ctx, where, text, strlen(text), m, &why))
        return false; /* of another version, or damaged: it counts as not there */
    use(where, m);
    return true;
}

bool twi_where_of(tw_context *ctx, const tw_compile_options *o, twi_where *out) {
    const char *name = o->model ? o->model : "";
    if (!twi_where_find(ctx, o->target, &o->caps, o->pins, o->n_pins, out))
        return false;
    out->threads = o->threads;
    if (o->model_text.text)
        return from_text(ctx, &o->model_text, out);
    if (strcmp(name, "reversed") == 0) {
        out->caps.reversed = true;
        return true;
    }
    if (strcmp(name, "analytic") == 0)
        return true;
    const bool found = !o->caps.text && twi_where_stored_model(ctx, out);
    if (found || !*name)
        return true;
    if (strcmp(name, "calibrated") == 0)
        return refuse(ctx, name,
                      ctx->shelf ? "the store has no model of this device"
                                 : "there is no store that could have one");
    return refuse(ctx, name, "there is no such model; analytic, calibrated or a model's text");
}

const char *tw_model_of(tw_context *ctx, const tw_compile_options *options) {
    jmp_buf spot, *saved;
    twi_where where;
    const char *words = NULL;
    if (TWI_GUARD(&ctx->mem, spot, saved)) {
        TWI_UNGUARD(&ctx->mem, saved);
        return NULL;
    }
    if (twi_where_of(ctx, options, &where))
        words = where.model           ? twi_format(&ctx->arena, "calibrated %s", where.model->date)
                : where.caps.reversed ? "reversed"
                                      : "analytic";
    TWI_UNGUARD(&ctx->mem, saved);
    return words;
}
