/* SPDX-License-Identifier: Apache-2.0
 * The text of a calibrated model (model.h). Lines come in one order, each once.
 */
#include "caps/model.h"

#include "base/hash.h"

#include <string.h>

static void print_body(const twi_model *m, twi_sb *out) {
    twi_sb_printf(out, "model 1\ndevice %s\nversion %s\ndate %s\nresidual ", m->device, m->version,
                  m->date);
    twi_sb_f64(out, m->residual);
    for (unsigned k = 0; k < TWI_COSTS; k++) {
        twi_sb_printf(out, "\nprice %s ", twi_costs[k].name);
        twi_sb_f64(out, m->price[k]);
    }
    twi_sb_char(out, '\n');
}

void twi_model_print(const twi_model *m, twi_sb *out) {
    const size_t from = out->n;
    print_body(m, out);
    const uint64_t hash = twi_hash(out->at + from, out->n - from, 0);
    twi_sb_printf(out, "hash %016llx\n", (unsigned long long)hash);
}

typedef struct {
    tw_context *ctx;
    const char *at, *end, *why;
} reader;

/* The rest of the next line, which must start with the word. NULL: it does not. */
static const char *line(reader *r, const char *word) {
    const size_t n = strlen(word);
    const char *end = memchr(r->at, '\n', (size_t)(r->end - r->at));
    if (r->why)
        return NULL;
    if (!end || (size_t)(end - r->at) < n + 2 || memcmp(r->at, word, n) != 0 || r->at[n] != ' ') {
        r->why = twi_format(&r->ctx->arena, "a line '%s ..' is missing or out of place", word);
        return NULL;
    }
    const size_t rest = (size_t)(end - r->at) - n - 1;
    char *text = twi_alloc(&r->ctx->arena, rest + 1);
    memcpy(text, r->at + n + 1, rest);
    text[rest] = 0;
    r->at = end + 1;
    return text;
}

static double number(reader *r, const char *word) {
    double v = 0;
    const char *text = line(r, word);
    if (text && (!twi_parse_f64(text, strlen(text), &v) || !(v >= 0 && v <= 1e12)))
        r->why =
            twi_format(&r->ctx->arena, "'%s' takes a number from 0 up, not '%.40s'", word, text);
    return v;
}

bool twi_model_parse(tw_context *ctx, const char *text, size_t n, twi_model *m, const char **why) {
    reader r = {ctx, text, text + n, NULL};
    *m = (twi_model){.device = ""};
    const char *kind = line(&r, "model");
    if (kind && strcmp(kind, "1") != 0)
        r.why = "it is no model text of this version";
    m->device = line(&r, "device");
    m->version = line(&r, "version");
    m->date = line(&r, "date");
    m->residual = number(&r, "residual");
    for (unsigned k = 0; k < TWI_COSTS; k++)
        m->price[k] = number(&r, twi_format(&ctx->arena, "price %s", twi_costs[k].name));
    const size_t body = (size_t)(r.at - text);
    const char *hash = line(&r, "hash");
    const char *right =
        twi_format(&ctx->arena, "%016llx", (unsigned long long)twi_hash(text, body, 0));
    if (hash && strcmp(hash, right) != 0)
        r.why = "its hash is not that of its lines: it was changed or cut";
    else if (hash && r.at != r.end)
        r.why = "something stands after its hash";
    *why = r.why;
    return !r.why;
}
