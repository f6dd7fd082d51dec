/* SPDX-License-Identifier: Apache-2.0
 * Verdicts of one fixture: one run of the oracle serves all plans of the case (its bounds then hold
 * for all their orders), each result array of each pass is judged, and a trial's row shows the
 * worst of them.
 */
#include "judge/unit.h"

#include <math.h>

static twi_sym merges_of(const twi_trial *t) {
    return t->loop && t->loop->ir ? t->loop->ir->merged : 0;
}

/* Bounds that hold for all trials whose plans merge these folds; 0: none. */
static twi_oracle *ask(twi_unit *u, twi_sym merged) {
    TWI_VEC(twi_order) orders = {0};
    const twi_oracle_options options = {.canonical = u->o->canonical, .max_ops = u->o->max_ops};
    const tw_ir *ir = u->ir;
    for (uint32_t k = 0; k < u->trials; k++) {
        const twi_loop *loop = u->trial[k].loop;
        if (!loop || merges_of(&u->trial[k]) != merged)
            continue;
        for (uint32_t j = 0; j < loop->order.n; j++)
            twi_push(u->arena, &orders, loop->order.at[j]);
        ir = merged ? loop->ir : ir;
    }
    const twi_oracle_in in = {(const void *const *)u->input, u->scalar};
    return twi_oracle_run(u->arena, ir, &in, orders.at, orders.n, &options);
}

/* The oracle of each trial. One that knows merges must allow what the text says. */
static twi_oracle **ask_all(twi_unit *u, twi_oracle *text, const char **trouble) {
    twi_oracle **by_trial = TWI_NEW_N(u->arena, twi_oracle *, u->trials + 1);
    for (uint32_t k = 0; k < u->trials; k++) {
        twi_sym merged = merges_of(&u->trial[k]);
        by_trial[k] = merged ? NULL : text;
        for (uint32_t j = 0; j < k && !by_trial[k]; j++)
            by_trial[k] = merges_of(&u->trial[j]) == merged ? by_trial[j] : NULL;
        if (by_trial[k] || *trouble)
            continue;
        by_trial[k] = ask(u, merged);
        *trouble = twi_oracle_error(by_trial[k]);
        if (!*trouble)
            *trouble = twi_oracle_agrees(by_trial[k], text);
    }
    return by_trial;
}

static const char *element_text(twi_unit *u, uint32_t array, const twi_verdict *v) {
    twi_sb sb;
    twi_sb_init(&sb, u->arena);
    twi_sb_printf(&sb, "%s[", twi_text(&u->ctx->names, u->ir->array.at[array].name));
    for (unsigned d = 0; d < u->ir->array.at[array].rank; d++)
        twi_sb_printf(&sb, "%s%lld", d ? ", " : "", (long long)v->at[d]);
    twi_sb_char(&sb, ']');
    return twi_sb_text(&sb);
}

typedef struct {
    bool ok, probative, bounded;
    bool have; /* an element is in the row */
} summary;

static void add(twi_unit *u, tw_verify_row *row, summary *s, uint32_t array, const twi_verdict *v) {
    const bool worse = !s->have || (s->ok && (!v->ok || v->worst > row->worst_over_bound));
    if (worse && v->elements) {
        row->element = element_text(u, array, v);
        row->got = v->got;
        row->want = v->want;
        row->bound = v->bound;
        row->worst_over_bound = v->worst;
        s->have = true;
    }
    s->ok = s->ok && v->ok;
    s->probative = s->probative && twi_verdict_probative(v);
    s->bounded = s->bounded || !v->determined;
    row->undecided += v->undecided + v->unbounded;
    row->elements += v->elements;
    row->covered += v->covered;
}

static const char *instance_text(twi_unit *u, int64_t instance) {
    return instance < 0 ? "none" : twi_format(u->arena, "instance %lld", (long long)instance);
}

/* The call's status: who left an array by a checked index first. */
static void judge_status(twi_unit *u, twi_oracle *oracle, int64_t got, tw_verify_row *row,
                         summary *s) {
    const int64_t want = twi_oracle_offending(oracle);
    if (got == want)
        return;
    s->ok = false;
    row->element = "the status";
    row->got = instance_text(u, got);
    row->want = instance_text(u, want);
    row->bound = "exact";
}

static void judge_results(twi_unit *u, twi_oracle *oracle, uint32_t trial, tw_verify_row *row) {
    summary s = {.ok = true, .probative = true};
    const twi_outcome *out = twi_outcome_of(u, trial);
    for (unsigned pass = 0; pass < TWI_PASSES && s.ok && (int)pass < out->passes; pass++) {
        row->elements = row->covered = row->undecided = 0;
        for (uint32_t a = 1; a < u->ir->array.n; a++) {
            twi_verdict v;
            if (!twi_is_result(u->ir, a))
                continue;
            twi_oracle_judge(oracle, a, twi_result_of(u, trial, pass, a), &v);
            add(u, row, &s, a, &v);
        }
        if (s.ok)
            judge_status(u, oracle, out->offending[pass], row, &s);
    }
    row->verdict = !s.ok ? "wrong" : s.probative ? "right" : "not probative";
    row->failed = !s.ok;
    row->note = s.ok && s.bounded && u->fixture == TWI_FIX_NORMAL && row->worst_over_bound > 0 &&
                        row->worst_over_bound < 1e-4
                    ? "bound too loose"
                    : "";
}

static void reference(twi_unit *u, twi_oracle *oracle) {
    for (uint32_t a = 1; a < u->ir->array.n; a++)
        if (twi_is_result(u->ir, a))
            twi_oracle_values(oracle, a, twi_result_of(u, 0, 0, a));
    *twi_outcome_of(u, 0) = (twi_outcome){.how = TWI_RAN, .passes = 1};
    twi_outcome_of(u, 0)->offending[0] = twi_oracle_offending(oracle);
}

void twi_unit_judge(twi_unit *u) {
    static const char *const words[] = {
        [TWI_RAN_NOT] = "refused",     [TWI_RAN] = "right",          [TWI_RAN_REFUSED] = "refused",
        [TWI_RAN_STRAY] = "stray",     [TWI_RAN_INPUT] = "stray",    [TWI_RAN_FAULT] = "fault",
        [TWI_RAN_CRASHED] = "crashed", [TWI_RAN_TIMEOUT] = "timeout"};
    const twi_mark mark = twi_arena_mark(u->arena);
    twi_oracle *plain = ask(u, 0);
    const char *trouble = twi_oracle_error(plain);
    twi_oracle **oracle = ask_all(u, plain, &trouble);
    if (!trouble && u->trials == 1 && !u->trial[0].loop && !u->trial[0].refused)
        reference(u, plain);
    for (uint32_t k = 0; k < u->trials; k++) {
        const twi_trial *t = &u->trial[k];
        const twi_outcome *out = twi_outcome_of(u, k);
        tw_verify_row row = {.plan = t->plan,
                             .how = t->how,
                             .source = t->source,
                             .depth = t->depth,
                             .fixture = twi_fixture_name(u->fixture),
                             .verdict = words[out->how],
                             .note = out->note,
                             .failed = true};
        if (out->how > TWI_RAN_REFUSED) {
            row.element = "-"; /* until a result says more */
            row.got = out->note;
            row.want = "a run without it";
            row.bound = "none";
        }
        if (t->refused)
            row.note = t->refused;
        else if (trouble && out->how == TWI_RAN) {
            row.verdict = "refused";
            row.note = twi_format(u->arena, "the oracle: %s", trouble);
        } else if (!trouble && out->how != TWI_RAN_CRASHED && out->how != TWI_RAN_TIMEOUT) {
            tw_verify_row judged = row;
            judge_results(u, oracle[k], k, &judged);
            if (out->how == TWI_RAN ||
                judged.failed) { /* of a fault or stray write: the element too */
                const char *word = out->how == TWI_RAN ? judged.verdict : row.verdict;
                const char *text = out->how == TWI_RAN ? judged.note : row.note;
                row = judged;
                row.verdict = word;
                row.note = text;
                row.failed = out->how != TWI_RAN || judged.failed;
            }
        }
        twi_unit_row(u, &row);
    }
    twi_arena_reset(u->arena, mark);
}
