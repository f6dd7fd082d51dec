/* SPDX-License-Identifier: Apache-2.0
 * Proves the stated error of the portable functions: all 2^32 inputs of each against the double
 * functions of the C library (whose own error, below 2^-52, does not show here). Minutes of work:
 * run by `make exhaustive`. Compiles on its own:
 *     cc -O2 -std=c11 -ffp-contract=off -Isrc tests/exhaustive/portable.c -lm -lpthread
 */
#include "oracle/portable.c"
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define THREADS_MAX 64

typedef struct {
    const char *name;
    float (*ours)(float);
    double (*theirs)(double);
    double phi; /* allowed relative error, units of 2^-24 */
    double ulps;
} row;

static const row table[] = {
    {"exp", twi_portable_exp, exp, TWI_EXP_PHI, 2.0},
    {"log", twi_portable_log, log, TWI_LOG_PHI, 2.0},
    {"tanh", twi_portable_tanh, tanh, TWI_TANH_PHI, 4.0},
    {"erf", twi_portable_erf, erf, TWI_ERF_PHI, 4.0},
};

typedef struct {
    const row *fn;
    uint64_t first, end;
    double rel, ulp, sub; /* worst, in 2^-24, ulps, and 2^-149 where the result is subnormal */
    uint32_t at;
    uint64_t bad;
    uint32_t bad_at;
} job;

/* Spacing of f32 at y (y finite, not 0): 2^(exponent - 23), 2^-149 at least. */
static double spacing(double y) {
    uint64_t u;
    memcpy(&u, &y, sizeof u);
    uint64_t e = u >> 52 & 0x7ffu;
    u = ((e < 1023 - 126 ? 1023 - 126 : e) - 23) << 52;
    memcpy(&y, &u, sizeof y);
    return y;
}

static void wrong(job *j, uint32_t u) {
    if (j->bad == 0) {
        j->bad_at = u;
    }
    j->bad++;
}

static void one(job *j, uint32_t u) {
    float x = from(u);
    float got = j->fn->ours(x);
    double want = j->fn->theirs((double)x);
    if (want != want || got != got) {
        if (want == want || got == got) {
            wrong(j, u);
        }
        return;
    }
    float near = (float)want; /* inf, 0 and exact values */
    if (isinf(near) || isinf(got) || near == 0.0f || want == 1.0 || want == -1.0) {
        /* 2^-150 may go either way; overflow to be decided within the last unit */
        int same = got == near && (got != 0.0f || signbit(got) == signbit(near));
        if (!same && !(fabs(want) >= 0x1.fffffep127 && fabs((double)got) >= 0x1.fffffep127) &&
            !(fabs(want) < 0x1p-148 && fabs((double)got - want) < 0x1p-149) &&
            !(fabs(want) == 1.0 && fabs((double)got - want) <= 0x1p-23)) {
            wrong(j, u);
        }
        return;
    }
    double d = fabs((double)got - want);
    if (fabs(want) < 0x1p-126) {
        d = d * 0x1p149;
        j->sub = d > j->sub ? d : j->sub;
        return;
    }
    double rel = d / fabs(want) * 0x1p24;
    double ulp = d / spacing(want);
    if (rel > j->rel) {
        j->rel = rel;
        j->at = u;
    }
    j->ulp = ulp > j->ulp ? ulp : j->ulp;
    if (rel > j->fn->phi || ulp > j->fn->ulps) {
        wrong(j, u);
    }
}

static void *work(void *arg) {
    job *j = arg;
    for (uint64_t u = j->first; u < j->end; u++) {
        one(j, (uint32_t)u);
    }
    return NULL;
}

static int check(const row *fn, unsigned threads) {
    static job jobs[THREADS_MAX];
    pthread_t id[THREADS_MAX];
    job sum = {.fn = fn};
    int ok = 1;
    for (unsigned chunk = 0; chunk < 256; chunk += threads) { /* neighbouring chunks cost alike */
        unsigned n = 256 - chunk < threads ? 256 - chunk : threads;
        for (unsigned t = 0; t < n; t++) {
            jobs[t] = (job){.fn = fn,
                            .first = (uint64_t)(chunk + t) << 24,
                            .end = (uint64_t)(chunk + t + 1) << 24};
            if (pthread_create(&id[t], NULL, work, &jobs[t]) != 0) {
                fprintf(stderr, "cannot start a thread\n");
                exit(3);
            }
        }
        for (unsigned t = 0; t < n; t++) {
            (void)pthread_join(id[t], NULL);
            if (jobs[t].rel > sum.rel) {
                sum.rel = jobs[t].rel;
                sum.at = jobs[t].at;
            }
            sum.ulp = jobs[t].ulp > sum.ulp ? jobs[t].ulp : sum.ulp;
            sum.sub = jobs[t].sub > sum.sub ? jobs[t].sub : sum.sub;
            if (jobs[t].bad != 0 && sum.bad == 0) {
                sum.bad_at = jobs[t].bad_at;
            }
            sum.bad += jobs[t].bad;
        }
    }
    printf("%-4s  worst relative %.3f (bound %.1f) * 2^-24 at %08" PRIx32
           ", %.3f ulp (bound %.1f), "
           "subnormal results %.3f * 2^-149\n",
           fn->name, sum.rel, fn->phi, sum.at, sum.ulp, fn->ulps, sum.sub);
    if (sum.bad != 0) {
        float x = from(sum.bad_at);
        printf("%-4s  FAILED for %" PRIu64 " inputs, first %08" PRIx32 ": f(%a) = %a, not %a\n",
               fn->name, sum.bad, sum.bad_at, (double)x, (double)fn->ours(x),
               fn->theirs((double)x));
        ok = 0;
    }
    if (sum.sub > 1.0) {
        printf("%-4s  FAILED: a subnormal result is off by more than one unit\n", fn->name);
        ok = 0;
    }
    (void)fflush(stdout);
    return ok;
}

/* The values that are promised exactly. */
static int exact(void) {
    const struct {
        float (*f)(float);
        uint32_t in, out;
    } list[] = {
        {twi_portable_exp, 0x00000000u, 0x3f800000u},
        {twi_portable_exp, 0x80000000u, 0x3f800000u},
        {twi_portable_exp, 0xff800000u, 0x00000000u},
        {twi_portable_exp, 0x7f800000u, 0x7f800000u},
        {twi_portable_log, 0x00000000u, 0xff800000u},
        {twi_portable_log, 0x80000000u, 0xff800000u},
        {twi_portable_log, 0x3f800000u, 0x00000000u},
        {twi_portable_log, 0x7f800000u, 0x7f800000u},
        {twi_portable_tanh, 0x00000000u, 0x00000000u},
        {twi_portable_tanh, 0x80000000u, 0x80000000u},
        {twi_portable_tanh, 0x7f800000u, 0x3f800000u},
        {twi_portable_tanh, 0xff800000u, 0xbf800000u},
        {twi_portable_erf, 0x00000000u, 0x00000000u},
        {twi_portable_erf, 0x80000000u, 0x80000000u},
        {twi_portable_erf, 0x7f800000u, 0x3f800000u},
        {twi_portable_erf, 0xff800000u, 0xbf800000u},
    };
    int ok = 1;
    for (size_t i = 0; i < sizeof list / sizeof *list; i++) {
        uint32_t got = bits(list[i].f(from(list[i].in)));
        if (got != list[i].out) {
            printf("exact value FAILED: %08" PRIx32 " gives %08" PRIx32 ", not %08" PRIx32 "\n",
                   list[i].in, got, list[i].out);
            ok = 0;
        }
    }
    return ok;
}

int main(int argc, char **argv) {
    int threads = argc > 1 ? atoi(argv[1]) : 2;
    int ok = exact();
    if (threads < 1 || threads > THREADS_MAX) {
        fprintf(stderr, "usage: portable [threads, 1 to %d]\n", THREADS_MAX);
        return 2;
    }
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        ok &= check(&table[i], (unsigned)threads);
    }
    return ok ? 0 : 1;
}
