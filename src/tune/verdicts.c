/* SPDX-License-Identifier: Apache-2.0
 * The oracle's word on contenders, through verify: built in batches, run in children under guards,
 * on several fixtures.
 */
#include "base/clock.h"
#include "oracle/fixtures.h"
#include "oracle/oracle.h"
#include "tilewright/judge.h"
#include "tune/codes.h"
#include "tune/tune.h"

#include <stdlib.h>

/* Of what is left of the budget after the first wave; the rest is for timing. */
static const double LATER_WAVES = 0.5;

enum { MOST_CASES = 64, OPS_BITS = 25, RUN_MS = 10000, BUILD_MS = 120000, LARGE = 1 << 18 };

typedef struct {
    twi_tuning *t;
    twi_contender **of; /* by number in `how` */
    bool *proved;
    size_t *heard; /* fixtures */
    size_t n, rows, expected;
} hearing;

static const char *word_of(const char *verdict) {
    static const char *const same[] = {"refused", "crashed", "timeout"};
    for (size_t k = 0; k < sizeof same / sizeof same[0]; k++)
        if (strcmp(verdict, same[k]) == 0)
            return same[k];
    return "wrong";
}

static void hear(void *user, const tw_verify_row *row) {
    hearing *h = user;
    twi_tuning *t = h->t;
    const size_t k = strtoull(row->how, NULL, 10);
    h->rows++;
    twi_tune_tell(t, "judged", h->rows, h->expected);
    (void)twi_tune_over(t);
    if (k >= h->n || *row->how < '0' || *row->how > '9') { /* of a whole case */
        for (size_t i = 0; row->failed && i < h->n; i++)
            if (!h->proved[i] && !h->of[i]->verdict) {
                h->of[i]->verdict = word_of(row->verdict);
                h->of[i]->note = twi_strdup(t->arena, row->note);
            }
        return;
    }
    twi_contender *c = h->of[k];
    if (row->failed && !c->verdict) {
        c->verdict = word_of(row->verdict);
        c->note = *row->note ? twi_strdup(t->arena, row->note)
                             : twi_format(t->arena, "%s: %s: got %s, want %s", row->fixture,
                                          row->element, row->got, row->want);
    }
    h->heard[k]++;
    h->proved[k] = h->proved[k] || strcmp(row->verdict, "right") == 0;
}

static size_t cases_at_once(const twi_tuning *t) {
    const long cores = t->path.where.kind == TWI_WHERE_CPU ? (long)t->path.where.caps.units : 1;
    return (size_t)(cores < 1 ? 1 : cores > MOST_CASES ? MOST_CASES : cores);
}

static const uint32_t few = 1u << TWI_FIX_NORMAL | 1u << TWI_FIX_SPECIAL,
                      most = (1u << TWI_FIXTURES) - 2 -
                             (1u << TWI_FIX_ZERO); /* which proves nothing */

static size_t fixtures_in(uint32_t set) {
    size_t n = 0;
    for (unsigned f = 0; f < TWI_FIXTURES; f++)
        n += set >> f & 1u;
    return n;
}

/* Names of the at-th of so many parts of a set of fixtures. */
static const char *part_of(twi_arena *arena, uint32_t set, size_t at, size_t parts) {
    const size_t n = fixtures_in(set), from = n * at / parts, to = n * (at + 1) / parts;
    twi_sb sb;
    twi_sb_init(&sb, arena);
    for (size_t f = 0, k = 0; f < TWI_FIXTURES; k += set >> f & 1u, f++)
        if (set >> f & 1u && k >= from && k < to)
            twi_sb_printf(&sb, "%s%s", sb.n ? "," : "", twi_fixture_name((twi_fixture)f));
    return twi_sb_text(&sb);
}

/* Do inputs and what the oracle says of them take longer than compiling a plan? */
static bool is_large(const twi_tuning *t) {
    const tw_ir *ir = t->path.spec;
    size_t elements = 0;
    for (uint32_t k = 1; k < ir->array.n; k++) {
        int64_t extent[TWI_MAX_RANK];
        elements += twi_array_extents(ir, k, extent);
    }
    return elements >= LARGE;
}

/* Into how many parts fixtures are dealt out; the cores of each share the plans. What takes longest
 * is done once: inputs and the oracle, where a core has a fixture for all plans, or compiling,
 * where it has a plan for all fixtures. */
static size_t deal(const twi_tuning *t, size_t cores, size_t fixtures, size_t plans) {
    const size_t slices = is_large(t)              ? 1
                          : plans && plans < cores ? plans
                                                   : cores,
                 parts = cores / slices;
    return fixtures < parts ? fixtures : parts;
}

/* Those from .. to on the fixtures of a set. */
static tw_status judge(hearing *h, size_t from, size_t to, uint32_t set, uint64_t seed) {
    twi_tuning *t = h->t;
    tw_verify_options o = tw_verify_options_defaults();
    const size_t cores = cases_at_once(t), n = to - from,
                 parts = deal(t, cores, fixtures_in(set), n), slices = parts ? cores / parts : 0;
    tw_verify_case *c = TWI_NEW_N(t->arena, tw_verify_case, cores + 1);
    tw_source *plan = TWI_NEW_N(t->arena, tw_source, n + 1);
    size_t full = 0;
    for (size_t k = 0; k < n; k++) {
        const char *text = h->of[from + k]->text;
        plan[k] = (tw_source){twi_format(t->arena, "%zu", from + k), text, strlen(text)};
    }
    for (size_t k = 0; k < parts * slices; k++) {
        const size_t slice = k / parts, first = n * slice / slices, last = n * (slice + 1) / slices;
        if (first < last)
            c[full++] = (tw_verify_case){.ir = t->program,
                                         .types = "",
                                         .text = "",
                                         .dims = t->compile->dims,
                                         .n_dims = t->compile->n_dims,
                                         .scalars = t->o->scalars,
                                         .n_scalars = t->o->n_scalars,
                                         .plans = plan + first,
                                         .n_plans = last - first,
                                         .fixture = part_of(t->arena, set, k % parts, parts)};
    }
    o.target = t->compile->target;
    o.caps = t->compile->caps;
    o.pins = t->compile->pins;
    o.n_pins = t->compile->n_pins;
    o.canonical = t->compile->canonical;
    o.seed = seed;
    o.max_ops = UINT64_C(1) << OPS_BITS;
    o.run_limit_ms = t->o->run_limit_ms ? t->o->run_limit_ms : RUN_MS;
    o.build_limit_ms = BUILD_MS;
    o.memory_limit = UINT64_C(1) << 33;
    o.stop = &t->stop;
    twi_shelf *shelf = t->ctx->shelf; /* batches are not worth keeping */
    t->ctx->shelf = NULL;
    const tw_status status = full ? tw_verify(t->ctx, c, full, &o, hear, h) : TW_OK;
    t->ctx->shelf = shelf;
    return status == TW_ERR_WRONG ? TW_OK : status;
}

static hearing gather(twi_tuning *t) {
    hearing h = {.t = t,
                 .of = TWI_NEW_N(t->arena, twi_contender *, t->n + 1),
                 .proved = TWI_NEW_N(t->arena, bool, t->n + 1),
                 .heard = TWI_NEW_N(t->arena, size_t, t->n + 1)};
    for (uint32_t k = 0; k < t->n; k++)
        if (t->at[k].chosen && !t->at[k].known)
            h.of[h.n++] = &t->at[k];
    return h;
}

/* Who was heard on all that was asked, with nothing against it, and some of it proved something? */
static void conclude(twi_tuning *t, hearing *h, size_t asked) {
    size_t wrong = 0;
    for (size_t k = 0; k < h->n; k++) {
        twi_contender *c = h->of[k];
        wrong += c->verdict && strcmp(c->verdict, "wrong") == 0;
        if (c->verdict || h->heard[k] < asked)
            continue;
        c->verdict = h->proved[k] ? "right" : "refused";
        c->note = h->proved[k] ? "" : "no fixture proves anything";
    }
    if (wrong * 2 > h->n)
        twi_warn(&t->ctx->diags, TWI_E_TUNE_SUSPECT, (twi_loc){0, 0}, NULL,
                 "%zu of %zu candidates are wrong: the kernel's text or the oracle is the suspect, "
                 "not they",
                 wrong, h->n);
}

/* How many at once: one alone, by which it is known what one takes, then as many as the phase has
 * time for. */
static size_t next_wave(const twi_tuning *t, size_t done, size_t left) {
    if (!done || !t->until_ns)
        return done ? left : 1;
    const double time = (double)(t->until_ns - twi_now_ns());
    return time >= t->each_ns * (double)left ? left
           : time < t->each_ns               ? 0
                                             : (size_t)(time / t->each_ns);
}

tw_status twi_tune_verdicts(twi_tuning *t) {
    const uint32_t set = t->o->effort == TW_EFFORT_MEASURE ? few : most;
    const size_t asked = fixtures_in(set);
    hearing h = gather(t);
    tw_status status = TW_OK;
    const int64_t from = twi_now_ns();
    h.expected = h.n * asked;
    for (size_t done = 0, wave; done < h.n && status == TW_OK; done += wave) {
        twi_tune_phase(t, done ? LATER_WAVES : 1);
        if (twi_tune_over(t))
            break;
        wave = next_wave(t, done, h.n - done);
        t->late = t->late || !wave;
        if (!wave)
            break;
        status = judge(&h, done, done + wave, set, t->o->seed);
        t->each_ns = (double)(twi_now_ns() - from) / (double)(done + wave);
    }
    conclude(t, &h, asked);
    return status;
}

uint32_t twi_tune_again(twi_tuning *t, twi_contender **of, uint32_t n) {
    hearing h = {.t = t,
                 .of = TWI_NEW_N(t->arena, twi_contender *, n + 1),
                 .proved = TWI_NEW_N(t->arena, bool, n + 1),
                 .heard = TWI_NEW_N(t->arena, size_t, n + 1),
                 .n = n,
                 .expected = n};
    uint32_t kept = 0;
    for (uint32_t k = 0; k < n; k++) {
        h.of[k] = of[k];
        of[k]->verdict = NULL;
    }
    const tw_status status = judge(&h, 0, n, 1u << TWI_FIX_NORMAL, t->o->seed + 1);
    for (uint32_t k = 0; k < n; k++) {
        if (h.of[k]->verdict)
            continue;
        h.of[k]->verdict = "right"; /* as it was */
        if (status == TW_OK && h.heard[k])
            of[kept++] = h.of[k];
    }
    return kept;
}
