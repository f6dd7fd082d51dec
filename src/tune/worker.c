/* SPDX-License-Identifier: Apache-2.0
 * Both ends of the pipe. The child says for each entrant whether it could be built, then answers
 * commands: a number, a time.
 */
#define _DEFAULT_SOURCE /* RLIMIT_AS */
#include "tune/worker.h"

#include "base/clock.h"
#include "oracle/fixtures.h"
#include "oracle/oracle.h"
#include "run/kernel.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct {
    uint32_t k;
    bool ok;
    double ns;
    char note[200];
} answer;

/* ---- the child */

enum { MOST_SETS = 4, PAGE = 4096 };
static const uint64_t sets_bytes = UINT64_C(1) << 28; /* of all sets; one there is in any case */

typedef struct {
    tw_tensor *tensor;
    const tw_tensor **pointer;
    void **before; /* of inout arrays, by tensor */
    size_t *bytes;
    bool touched; /* some kernel ran on them: their pages are there */
    tw_call call;
} arrays;

typedef struct {
    twi_worker *w;
    int commands;
    twi_target *target;
    tw_kernel **kernel;
    int64_t *calls; /* a sample, once it is known */
    bool *slow;     /* one call takes as long as a sample */
    unsigned sets;
    arrays set[MOST_SETS];
} bench;

typedef struct {
    uint32_t k, round;
} command;

static void limit_memory(const twi_worker *w) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)w;
#else
    struct rlimit limit;
    if (w->memory && getrlimit(RLIMIT_AS, &limit) == 0) {
        limit.rlim_cur = w->memory < limit.rlim_max ? (rlim_t)w->memory : limit.rlim_max;
        (void)setrlimit(RLIMIT_AS, &limit);
    }
#endif
}

static void tell(int fd, const answer *a) { (void)twi_child_write(fd, (const char *)a, sizeof *a); }

static const char *first_error(const tw_context *ctx) {
    for (uint32_t k = 0; k < ctx->diags.list.n; k++)
        if (ctx->diags.list.at[k].severity == TWI_ERROR)
            return ctx->diags.list.at[k].text;
    return "refused without a reason";
}

/* All at once; if that fails one by one, to know which. */
static void build(bench *b, const uint32_t *which, uint32_t n, int fd) {
    twi_worker *w = b->w;
    const twi_loop **loop = TWI_NEW_N(w->arena, const twi_loop *, n + 1);
    twi_module **module = TWI_NEW_N(w->arena, twi_module *, n + 1);
    for (uint32_t k = 0; k < n; k++)
        loop[k] = w->entrant[which[k]].loop;
    tw_diag_clear(w->ctx);
    (void)b->target->ops->build(b->target, loop, n, NULL, module);
    for (uint32_t k = 0; k < n; k++) {
        answer a = {.k = which[k], .ok = module[k] != NULL};
        if (module[k])
            b->kernel[which[k]] = twi_kernel_new(b->target, module[k], NULL);
        else if (n > 1)
            build(b, &which[k], 1, fd);
        else
            (void)snprintf(a.note, sizeof a.note, "%.190s", first_error(w->ctx));
        if (module[k] || n == 1)
            tell(fd, &a);
    }
}

/* Arrays start at other offsets of a page in each set, the same ones in every process. */
static char *place(twi_arena *a, size_t bytes, size_t number, unsigned set) {
    char *block = twi_alloc(a, bytes + 2 * PAGE);
    block += PAGE - (uintptr_t)block % PAGE;
    return block + (set * 1088 + number * 320) % PAGE;
}

/* The values that the array began with. */
static const void *first_of(const arrays *s, size_t n) {
    return s->before[n] ? s->before[n] : s->tensor[n].data;
}

static void make_arrays(bench *b, unsigned set, const tw_kernel *like) {
    const tw_ir *ir = b->w->ir;
    twi_arena *a = b->w->arena;
    arrays *s = &b->set[set];
    size_t n = 0;
    s->tensor = TWI_NEW_N(a, tw_tensor, ir->array.n + 1);
    s->pointer = TWI_NEW_N(a, const tw_tensor *, ir->array.n + 1);
    s->before = TWI_NEW_N(a, void *, ir->array.n + 1);
    s->bytes = TWI_NEW_N(a, size_t, ir->array.n + 1);
    for (uint32_t k = 1; k < ir->array.n; k++) {
        int64_t *extent = TWI_NEW_N(a, int64_t, TWI_MAX_RANK);
        if (ir->array.at[k].role == TWI_TEMP)
            continue;
        const tw_elem elem = (tw_elem)ir->array.at[k].elem;
        s->bytes[n] = twi_array_extents(ir, k, extent) * tw_elem_size(elem);
        char *block = place(a, s->bytes[n], n, set);
        if (ir->array.at[k].role != TWI_OUT && set > 0)
            memcpy(block, first_of(&b->set[0], n), s->bytes[n]);
        else if (ir->array.at[k].role != TWI_OUT)
            twi_fixture_fill(ir, k, TWI_FIX_NORMAL, b->w->seed, block);
        if (ir->array.at[k].role == TWI_INOUT)
            s->before[n] = twi_copy(a, block, s->bytes[n] + 1);
        s->tensor[n] = (tw_tensor){.data = block,
                                   .device = {1, 0},
                                   .rank = (int32_t)ir->array.at[k].rank,
                                   .dtype = tw_elem_dtype(elem),
                                   .shape = extent};
        s->pointer[n] = &s->tensor[n];
        n++;
    }
    s->call = (tw_call){.tensor = s->pointer,
                        .tensors = n,
                        .scalars = tw_kernel_scalars(like),
                        .threads = b->w->threads};
}

static tw_scalar *make_scalars(bench *b, size_t n) {
    const tw_ir *ir = b->w->ir;
    tw_scalar *value = TWI_NEW_N(b->w->arena, tw_scalar, n + 1);
    for (uint32_t s = 1; s < ir->scalar.n && s <= n; s++) {
        uint64_t bits = twi_fixture_scalar(ir, s, TWI_FIX_NORMAL);
        for (size_t k = 0; k < b->w->n_scalars; k++)
            if (strcmp(b->w->scalars[k].name, twi_text(&b->w->ctx->names, ir->scalar.at[s].name)) ==
                0)
                bits = b->w->scalars[k].bits;
        value[s - 1] = tw_scalar_from_bits((tw_elem)ir->scalar.at[s].elem, bits);
    }
    return value;
}

static void make_sets(bench *b, const tw_kernel *like) {
    const size_t scalars = tw_kernel_scalars(like);
    const tw_scalar *value = make_scalars(b, scalars);
    uint64_t bytes = 0;
    do {
        arrays *s = &b->set[b->sets];
        make_arrays(b, b->sets++, like);
        s->call.scalar = scalars ? value : NULL;
        for (size_t k = 0; b->sets == 1 && k < s->call.tensors; k++)
            bytes += s->bytes[k];
    } while (b->sets < MOST_SETS && bytes * (b->sets + 1) <= sets_bytes);
}

/* Accumulating kernels start each sample from the same values. */
static void restore(arrays *s) {
    for (size_t k = 0; k < s->call.tensors; k++)
        if (s->before[k])
            memcpy(s->tensor[k].data, s->before[k], s->bytes[k]);
}

static tw_status sample(bench *b, uint32_t k, arrays *s, double *ns) {
    int64_t took = 0;
    restore(s);
    if (b->target->ops->time) {
        tw_timing timing;
        const tw_status status = tw_kernel_time(b->kernel[k], &s->call, true, &timing);
        *ns = timing.median_ns;
        return status;
    }
    int64_t *calls = &b->calls[k];
    tw_status status = TW_OK;
    if (!b->slow[k] || !s->touched) /* not counted; what a slow call finds cold is little of it */
        status = twi_kernel_batch(b->kernel[k], &s->call, 1, &took);
    s->touched = true;
    *calls = *calls ? *calls : 1;
    while (status == TW_OK) {
        static const int64_t most = INT64_C(1) << 40;
        restore(s);
        status = twi_kernel_batch(b->kernel[k], &s->call, *calls, &took);
        if (took >= b->w->sample_ns / 2 || *calls >= most)
            break;
        /* too short to count, this time or because a call was held up when it was counted */
        const int64_t more = took > 0 ? *calls * b->w->sample_ns / took : 8 * *calls;
        *calls = more > 8 * *calls ? 8 * *calls : more > *calls ? more : *calls + 1;
    }
    *ns = (double)took / (double)*calls;
    b->slow[k] = *calls == 1 && took >= b->w->sample_ns;
    return status;
}

static void serve(bench *b, int fd) {
    command c;
    while (read(b->commands, &c, sizeof c) == (ssize_t)sizeof c) {
        answer a = {.k = c.k};
        if (c.k >= b->w->n || !b->kernel[c.k])
            break;
        arrays *s = &b->set[c.round % b->sets];
        const tw_status status = sample(b, c.k, s, &a.ns);
        a.ok = (status == TW_OK || status == TW_ERR_INDEX) && a.ns > 0;
        if (!a.ok)
            (void)snprintf(a.note, sizeof a.note, "%.190s",
                           *s->call.error ? s->call.error : "the clock stands still");
        tell(fd, &a);
    }
}

static void child(void *user, int fd) {
    bench *b = user;
    twi_worker *w = b->w;
    jmp_buf spot, *saved;
    (void)close(w->to);
    limit_memory(w);
    w->ctx->grouped = true;
    w->ctx->interrupt = NULL; /* signals end it */
    if (TWI_GUARD(&w->ctx->mem, spot, saved)) {
        TWI_UNGUARD(&w->ctx->mem, saved);
        _exit(3);
    }
    if (w->rebuild && w->ctx->shelf)
        w->ctx->shelf->rebuild = true;
    else
        w->ctx->shelf = NULL; /* what is built in batches is not worth keeping */
    b->target = twi_where_open(w->ctx, w->where);
    b->kernel = TWI_NEW_N(w->arena, tw_kernel *, w->n + 1);
    b->calls = TWI_NEW_N(w->arena, int64_t, w->n + 1);
    b->slow = TWI_NEW_N(w->arena, bool, w->n + 1);
    uint32_t *which = TWI_NEW_N(w->arena, uint32_t, w->n + 1), n = 0;
    const tw_kernel *like = NULL;
    for (uint32_t k = 0; k < w->n; k++)
        if (!w->entrant[k].out)
            which[n++] = k;
    if (!b->target)
        _exit(4);
    for (uint32_t k = 0; w->rebuild && k < n; k++)
        build(b, &which[k], 1, fd);
    if (!w->rebuild)
        build(b, which, n, fd);
    for (uint32_t k = 0; k < w->n && !like; k++)
        like = b->kernel[k];
    if (like) {
        make_sets(b, like);
        serve(b, fd);
    }
    _exit(0);
}

/* ---- the parent */

static void lose(twi_worker *w, uint32_t k, const char *verdict, const char *note) {
    twi_entrant *e = &w->entrant[k];
    e->out = true;
    e->verdict = verdict;
    (void)snprintf(e->note, sizeof e->note, "%.190s", note);
}

void twi_worker_end(twi_worker *w) {
    if (!w->running)
        return;
    w->running = false;
    (void)close(w->to);
    twi_child_kill(&w->child);
    (void)twi_child_wait(&w->child);
}

/* A whole answer within the limit. False: none, and the child is gone: verdict and text say how. */
static bool listen(twi_worker *w, int limit_ms, answer *a, const char **verdict, char text[64]) {
    char *at = (char *)a;
    size_t n = 0;
    while (n < sizeof *a) {
        struct pollfd p = {.fd = w->child.fd, .events = POLLIN};
        const int ready = poll(&p, 1, limit_ms);
        if (ready < 0 && errno == EINTR)
            continue;
        const ssize_t got = ready > 0 ? read(w->child.fd, at + n, sizeof *a - n) : 0;
        if (got < 0 && errno == EINTR)
            continue;
        if (got > 0) {
            n += (size_t)got;
            continue;
        }
        if (ready == 0)
            twi_child_kill(&w->child);
        const int status = twi_child_wait(&w->child);
        w->running = false;
        (void)close(w->to);
        *verdict = ready == 0 ? "timeout" : "crashed";
        if (ready == 0)
            (void)snprintf(text, 64, "not done within %d ms", limit_ms);
        else
            (void)twi_signal_word(status, text);
        return false;
    }
    return true;
}

/* Starts a child and hears what could be built. */
static bool start(twi_worker *w) {
    int ends[2];
    bench b = {.w = w};
    if (pipe(ends) != 0)
        return false;
    (void)fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    (void)fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    b.commands = ends[0];
    w->to = ends[1];
    const bool born = twi_child_start(&w->child, true, child, &b);
    (void)close(ends[0]);
    if (!born) {
        (void)close(ends[1]);
        return false;
    }
    w->running = true;
    uint32_t waiting = 0;
    for (uint32_t k = 0; k < w->n; k++)
        waiting += !w->entrant[k].out;
    for (; waiting > 0; waiting--) {
        const char *verdict;
        char text[64];
        answer a;
        if (!listen(w, w->build_limit_ms, &a, &verdict, text)) {
            for (uint32_t k = 0; k < w->n; k++)
                if (!w->entrant[k].out)
                    lose(w, k, verdict, text);
            return false;
        }
        if (!a.ok && a.k < w->n)
            lose(w, a.k, "refused", a.note);
    }
    return true;
}

twi_sampled twi_worker_time(twi_worker *w, uint32_t k, unsigned round, double *ns) {
    const command c = {k, round};
    const char *verdict;
    char text[64];
    answer a;
    if (w->entrant[k].out || (!w->running && !start(w)) || w->entrant[k].out)
        return TWI_LOST;
    /* a child that is gone shows as the end of its answers; its signal must not end us */
    struct sigaction ignore = {.sa_handler = SIG_IGN}, old;
    (void)sigaction(SIGPIPE, &ignore, &old);
    (void)twi_child_write(w->to, (const char *)&c, sizeof c);
    (void)sigaction(SIGPIPE, &old, NULL);
    if (!listen(w, w->run_limit_ms, &a, &verdict, text)) {
        lose(w, k, verdict, text);
        return TWI_LOST;
    }
    if (!a.ok) {
        lose(w, k, "refused", a.note);
        return TWI_LOST;
    }
    *ns = a.ns;
    return TWI_SAMPLED;
}
