/* SPDX-License-Identifier: Apache-2.0
 * Contenders and the rows of the store.
 */
#include "tune/tune.h"

#include <math.h>
#include <time.h>

/* Rows of the same device, compiler, emitter and source hold: what was right needs no second look,
 * what was not is not tried again. */
static bool recall(void *user, const twi_wisdom *w) {
    twi_tuning *t = user;
    const twi_wisdom *key = &t->key;
    if (strcmp(w->target, key->target) != 0 || strcmp(w->device, key->device) != 0 ||
        strcmp(w->compiler, key->compiler) != 0 || strcmp(w->emitter, key->emitter) != 0 ||
        w->threads != key->threads)
        return true;
    static const char *const words[] = {"right", "wrong", "refused", "crashed", "timeout"};
    for (uint32_t k = 0; k < t->n; k++) {
        twi_contender *c = &t->at[k];
        if (!c->chosen || strcmp(c->hash, w->plan) != 0 || strcmp(c->source, w->source) != 0)
            continue;
        for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
            if (strcmp(w->verdict, words[i]) == 0)
                c->verdict = words[i];
        c->known = c->verdict != NULL;
        c->note = twi_strdup(t->arena, w->note);
    }
    return true;
}

void twi_tune_recall(twi_tuning *t) {
    if (t->store)
        twi_wisdom_read(t->store, &t->key, recall, t);
}

bool twi_tune_record(twi_tuning *t) {
    if (!t->store)
        return true;
    twi_wisdom *row = TWI_NEW_N(t->arena, twi_wisdom, t->n + 1);
    uint32_t n = 0;
    for (uint32_t k = 0; k < t->n; k++) {
        const twi_contender *c = &t->at[k];
        if (!c->chosen || !c->verdict)
            continue;
        twi_wisdom *w = &row[n++];
        *w = t->key;
        w->plan = c->hash;
        w->text = c->text;
        w->source = c->source;
        w->verdict = c->verdict;
        w->note = c->note;
        w->samples = c->samples;
        w->median_ns = c->median_ns;
        w->ratio = c->ratio;
        w->score_ns = c->score_ns;
        w->confirm_ns = c->confirm_ns;
        w->default_ns = c->winner ? t->result->default_ns : (double)NAN;
        w->regret = c->winner ? t->result->regret : (double)NAN;
        w->rank = c->rank;
        w->best = c->winner;
        w->when = (int64_t)time(NULL);
    }
    return n == 0 || twi_wisdom_write(t->store, row, n);
}
