/* SPDX-License-Identifier: Apache-2.0
 * Cases of verify-run.
 */
#include "cli/cases.h"

#include <string.h>

const char *pairs_find(const pairs *p, const char *name) {
    for (size_t k = 0; k < p->n; k++)
        if (strcmp(p->at[k].name, name) == 0)
            return p->at[k].value;
    return NULL;
}

void cases_add(tool *t, cases *c, pairs p) {
    if (c->n == c->cap) {
        size_t cap = c->cap ? c->cap * 2 : 16;
        pairs *at = tool_alloc(t, cap, sizeof *at);
        if (c->n)
            memcpy(at, c->at, c->n * sizeof *at);
        c->at = at;
        c->cap = cap;
    }
    c->at[c->n++] = p;
}

void cases_product(tool *t, const setting *names, size_t n, cases *out) {
    size_t total = 1;
    for (size_t k = 0; k < n; k++)
        total *= names[k].values.n;
    for (size_t c = 0; c < total; c++) {
        pairs p = {tool_alloc(t, n, sizeof *p.at), n};
        size_t rest = c;
        for (size_t k = n; k-- > 0;) {
            p.at[k] = (pair){names[k].name, names[k].values.at[rest % names[k].values.n]};
            rest /= names[k].values.n;
        }
        cases_add(t, out, p);
    }
}

static bool read_line(tool *t, const char *path, size_t number, char *line, cases *out) {
    pairs p = {tool_alloc(t, strlen(line) / 2 + 1, sizeof *p.at), 0};
    char *hash = strchr(line, '#');
    if (hash)
        *hash = 0;
    for (char *at = line;;) {
        at += strspn(at, " \t\r");
        size_t n = strcspn(at, " \t\r");
        if (!n)
            break;
        char *word = tool_copy(t, at, n), *equals = strchr(word, '=');
        if (!equals || equals == word || !equals[1]) {
            tool_error(t, 825, "R=17 W=257", "%s:%zu: '%.100s' is not NAME=VALUE", path, number,
                       word);
            return false;
        }
        *equals = 0;
        if (pairs_find(&p, word)) {
            tool_error(t, 825, NULL, "%s:%zu: %.100s is given twice", path, number, word);
            return false;
        }
        p.at[p.n++] = (pair){word, equals + 1};
        at += n;
    }
    if (p.n)
        cases_add(t, out, p);
    return true;
}

bool cases_read(tool *t, const char *path, cases *out) {
    char *bytes;
    size_t n, number = 0;
    bool ok = true;
    if (!tool_read(t, path, &bytes, &n))
        return false;
    if (strlen(bytes) != n) {
        tool_error(t, 825, NULL, "%s: holds NUL bytes", path);
        return false;
    }
    for (char *at = bytes; *at;) {
        size_t line = strcspn(at, "\n");
        ok = read_line(t, path, ++number, tool_copy(t, at, line), out) && ok;
        at += line + (at[line] == '\n');
    }
    if (ok && out->n == 0)
        tool_error(t, 825, NULL, "%s: holds no case", path);
    return ok && out->n;
}

char *cases_beside(tool *t, const char *path) {
    size_t n = strlen(path);
    if (n < 5 || strcmp(path + n - 5, ".tile") != 0)
        return NULL;
    char *beside = tool_format(t, "%.*s.cases", (int)(n - 5), path);
    return tool_exists(beside) ? beside : NULL;
}

static uint64_t draw(uint64_t *state) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    uint64_t x = *state;
    x ^= x >> 31;
    return x * 0x9e3779b97f4a7c15u >> 33;
}

static bool allowed(tool *t, const tw_ir *ir, const tw_dim_value *dims, size_t n) {
    tw_compile_options o = tw_compile_options_defaults();
    tw_compiled *c;
    o.build = false;
    o.until = TW_STAGE_TILE;
    o.dims = dims;
    o.n_dims = n;
    bool ok = tw_compile(t->ctx, ir, &o, &c) == TW_OK;
    tw_compiled_release(c);
    tw_diag_clear(t->ctx);
    return ok;
}

void cases_invent(tool *t, const tw_ir *ir, uint64_t seed, cases *out) {
    static const int64_t extents[] = {1, 2, 3, 7, 31, 33, 63, 65, 127, 129};
    size_t n = tw_ir_dims(ir);
    uint64_t state = seed;
    for (unsigned attempt = 0; attempt < 400 && out->n < 10; attempt++) {
        tw_dim_value *dims = tool_alloc(t, n, sizeof *dims);
        pairs p = {tool_alloc(t, n, sizeof *p.at), n};
        for (size_t k = 0; k < n; k++) {
            /* the first dim walks through all extents, so that each is there */
            int64_t v = extents[k == 0 && attempt < 10 ? attempt : draw(&state) % 10];
            dims[k] = (tw_dim_value){tw_ir_dim(ir, k), v};
            p.at[k] = (pair){dims[k].name, tool_format(t, "%lld", (long long)v)};
        }
        if (allowed(t, ir, dims, n))
            cases_add(t, out, p);
        if (!n)
            return;
    }
}
