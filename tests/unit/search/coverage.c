/* SPDX-License-Identifier: Apache-2.0
 * links: front
 * Any verified program has a plan: every kernel of kernels/ and tests/corpus/, of both classes, on
 * every kind of target, for drawn types, constants, params and dims; the model's first, found among
 * the least that others take, is the first of all that are counted; and what a plan takes at least,
 * read off its maps, is no more than what its walk finds. TW_DRAWS draws so many of each
 * (2), from TW_SEED on; TW_FILE names a file.
 */
#include "base/fs.h"
#include "base/hash.h"
#include "lower/lower.h"
#include "pass/pass.h"
#include "plan/scope.h"
#include "search/view.h"
#include "tilewright/program.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const char *const targets[] = {"cpu-avx512", "cpu-baseline", "simt32",
                                      "simt4",      "simt1",        "sm_90a"};
enum { TARGETS = sizeof targets / sizeof *targets, TRIES = 40 };

typedef struct {
    tw_context *ctx;
    const char *path;
    unsigned programs, refused, wrong;
} walk;

static uint64_t setting(const char *name, uint64_t otherwise) {
    return getenv(name) ? strtoull(getenv(name), NULL, 10) : otherwise;
}

static tw_ir *bound(tw_program *p, size_t kernel, twi_rng *rng) {
    tw_binding b[32];
    size_t n = 0;
    for (size_t k = 0; k < tw_program_decls(p, kernel); k++) {
        const tw_decl *d = tw_program_decl(p, kernel, k);
        if (d->kind <= TW_DECL_PARAM && d->choices > 1 && n < 32)
            b[n++] = (tw_binding){d->name, d->choice[twi_rng_below(rng, d->choices)]};
    }
    return tw_program_build(p, kernel, b, n);
}

/* Dims that an equation of `requires` gives are left to it. */
static tw_ir *specialised(tw_context *ctx, const tw_ir *ir, twi_rng *rng, bool small) {
    static const int64_t sizes[] = {1, 2, 3, 4, 6, 8, 9, 12, 33, 64, 70, 128, 300, 1000, 5000};
    int64_t *dims = TWI_NEW_N(&ctx->arena, int64_t, ir->dim.n);
    const int64_t **shape = TWI_NEW_N(&ctx->arena, const int64_t *, ir->array.n);
    for (uint32_t d = 1; d < ir->dim.n; d++)
        dims[d] =
            ir->dim.at[d].known ? ir->dim.at[d].value : sizes[twi_rng_below(rng, small ? 6 : 15)];
    for (uint32_t k = 1; k < ir->fact.n; k++) {
        const twi_ix_node *n = &ir->ix.at[ir->fact.at[k].a];
        if (ir->fact.at[k].op == TWI_EQ && n->op == TWI_IX_DIM && !ir->dim.at[n->a].known)
            dims[n->a] = -1;
    }
    return twi_ir_bind_dims(ir, shape, dims) ? twi_ir_specialise(ir, &ctx->arena, dims) : NULL;
}

/* What stays with the workers of a group must fit into it; without indexed private memory into
 * slots. */
static bool too_small(const twi_caps *caps, const twi_why *why) {
    return why->kind == TWI_WHY_GROUP || (why->kind == TWI_WHY_SLOTS && !caps->indexable);
}

/* Scans along ranges known at run time: the canonical order, and two directions in one loop. */
static bool unbuilt(const twi_why *why) {
    return why->kind == TWI_WHY_LATER && strncmp(why->text, "scan ", 5) == 0;
}

static const char *text_of(walk *w, const tw_ir *ir, twi_plan *plan) {
    const twi_plans one = {.ir = ir, .n = 1, .scope = plan};
    twi_sb sb;
    twi_sb_init(&sb, &w->ctx->arena);
    twi_plan_print(ir, &one, NULL, &sb);
    return twi_sb_text(&sb);
}

static bool is_below(walk *w, const tw_ir *ir, const twi_caps *caps, twi_plan *p, double score) {
    twi_view *v = TWI_NEW(&w->ctx->arena, twi_view);
    twi_view_init(v, &w->ctx->arena, ir, caps, p->scope);
    const double floor = twi_view_floor(v, p, false), any = twi_view_floor(v, p, true);
    if (floor <= score && any <= score)
        return true;
    fprintf(stderr, "%s: %s: at least %f and %f ns, but it takes %f:\n%s\n", w->path,
            twi_text(&w->ctx->names, caps->name), floor, any, score, text_of(w, ir, p));
    return false;
}

/* Of plans that are proposed, and of drawn ones. */
static void check_floors(walk *w, const tw_ir *ir, const twi_caps *caps, const twi_plans *first) {
    twi_arena *arena = &w->ctx->arena;
    twi_why why;
    for (uint32_t scope = 0; scope < first->n; scope++) {
        twi_candidate *c;
        const uint32_t n = twi_search_list(arena, ir, caps, NULL, scope, &c);
        for (uint32_t k = 0; k < n && c[k].legal; k++)
            w->wrong += !is_below(w, c[k].ir, caps, c[k].plan, c[k].score);
        const char *it = text_of(w, first->ir, &first->scope[scope]);
        const char *one = text_of(w, c[0].ir, c[0].plan);
        if (first->n > 1 || strcmp(it, one) == 0)
            continue;
        fprintf(stderr, "%s: %s (%s): the first is\n%s\nthe first of all\n%s\n", w->path,
                twi_text(&w->ctx->names, caps->name), twi_ir_spec(ir, arena), it, one);
        w->wrong++;
    }
    for (uint64_t seed = 0; seed < 4; seed++) {
        twi_plans *p = twi_search_random(arena, ir, caps, NULL, seed, &why);
        for (uint32_t scope = 0; p && scope < p->n; scope++) {
            twi_features f;
            twi_tally(arena, p->ir, caps, &p->scope[scope], &f);
            w->wrong +=
                !is_below(w, p->ir, caps, &p->scope[scope], twi_search_cost(p->ir, caps, &f));
        }
    }
}

static void plan_all(walk *w, tw_ir *ir, bool canonical) {
    tw_context *ctx = w->ctx;
    if (canonical)
        twi_canonical_orders(ir);
    opt_lift(ir);
    for (unsigned t = 0; t < TARGETS; t++) {
        twi_mark mark = twi_arena_mark(&ctx->arena);
        twi_why why = {.text = ""};
        twi_caps caps;
        assert_true(twi_caps_named(ctx, targets[t], &caps));
        twi_plans *first = twi_search_default(&ctx->arena, ir, &caps, NULL, &why);
        if (first)
            check_floors(w, ir, &caps, first);
        if (!first && !too_small(&caps, &why) && !unbuilt(&why)) {
            fprintf(stderr, "%s: %s (%s%s) has no plan on %s: %s\n", w->path,
                    twi_text(&ctx->names, ir->kernel), twi_ir_spec(ir, &ctx->arena),
                    canonical ? ", canonical" : "", targets[t], why.text);
            w->refused++;
        }
        twi_arena_reset(&ctx->arena, mark);
    }
}

static void draw(walk *w, tw_program *p, size_t kernel, uint64_t seed) {
    for (unsigned canonical = 0; canonical < 2; canonical++) {
        tw_ir *sp = NULL;
        for (unsigned k = 0; k < TRIES && !sp; k++) {
            twi_rng rng;
            twi_rng_init(&rng, seed * 977 + k);
            tw_ir *ir = bound(p, kernel, &rng);
            sp = ir ? specialised(w->ctx, ir, &rng, k > TRIES / 2) : NULL;
        }
        if (!sp)
            fail_msg("%s, kernel %zu: no dims found\n%s", w->path, kernel,
                     tw_diag_text(w->ctx, false));
        w->programs++;
        plan_all(w, sp, canonical);
    }
}

static void visit(walk *w, const char *text, size_t n) {
    tw_context *ctx = w->ctx;
    jmp_buf spot, *saved;
    if (TWI_GUARD(&ctx->mem, spot, saved))
        fail_msg("out of memory");
    tw_program *p = tw_program_parse(ctx, w->path, text, n);
    const uint64_t draws = setting("TW_DRAWS", 2), seed = setting("TW_SEED", 0);
    for (size_t kernel = 0; kernel < tw_program_kernels(p); kernel++)
        for (uint64_t k = 0; k < draws; k++)
            draw(w, p, kernel, seed + k);
    TWI_UNGUARD(&ctx->mem, saved);
}

static void each(walk *w, const char *folder) {
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e = readdir(d); e; e = readdir(d)) {
        const char *dot = strrchr(e->d_name, '.');
        if (!dot || strcmp(dot, ".tile") != 0 ||
            (getenv("TW_FILE") &&
             strncmp(e->d_name, getenv("TW_FILE"), (size_t)(dot - e->d_name)) != 0))
            continue;
        w->ctx = tw_context_create(NULL);
        w->path = twi_format(&w->ctx->arena, "%s/%s", folder, e->d_name);
        char *text;
        size_t n;
        assert_int_equal(twi_read_file(&w->ctx->arena, w->path, &text, &n), 0);
        if (text[0] != '#' || strncmp(text, "# expect: E", 11) != 0)
            visit(w, text, n);
        tw_context_destroy(w->ctx);
    }
    closedir(d);
}

static void all_have_plans(void **state) {
    (void)state;
    walk w = {0};
    each(&w, TW_SOURCE_DIR "/kernels");
    each(&w, TW_SOURCE_DIR "/tests/corpus");
    printf("%u programs on %d targets, %u without a plan\n", w.programs, (int)TARGETS, w.refused);
    assert_int_equal(w.refused, 0);
    assert_int_equal(w.wrong, 0);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(all_have_plans)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
