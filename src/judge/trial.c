/* SPDX-License-Identifier: Apache-2.0
 * Trials on one fixture. One child runs them one after the other and says in shared memory which is
 * at hand; where it dies or hangs, that trial is marked and a new child goes on behind it.
 */
#include "judge/child.h"
#include "judge/guard.h"
#include "judge/unit.h"
#include "loop/interp.h"
#include "run/kernel.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

typedef struct {
    twi_unit *u;
    uint32_t first;
} series;

typedef struct {
    twi_guarded *g; /* by array id */
    bool ok;
} arrays;

static arrays make_arrays(twi_unit *u, unsigned pass) {
    const tw_ir *ir = u->ir;
    arrays a = {TWI_NEW_N(u->arena, twi_guarded, ir->array.n + 1), true};
    for (uint32_t k = 1; k < ir->array.n && a.ok; k++) {
        a.ok = twi_guard_make(&a.g[k], ir, k, pass ? TWI_AT_END : TWI_AT_START,
                              u->c->strided && ir->array.at[k].role != TWI_TEMP);
        if (a.ok)
            twi_guard_put(&a.g[k], u->input[k]);
    }
    return a;
}

static void free_arrays(twi_unit *u, arrays *a) {
    for (uint32_t k = 1; k < u->ir->array.n; k++)
        twi_guard_free(&a->g[k]);
}

static twi_ran note(twi_outcome *out, twi_ran how, const char *text) {
    (void)snprintf(out->note, sizeof out->note, "%.200s", text);
    return how;
}

/* Read-only inputs as they were, nothing written beside any array? */
static twi_ran inspect(twi_unit *u, const arrays *a, twi_outcome *out) {
    char text[200];
    for (uint32_t k = 1; k < u->ir->array.n; k++) {
        const char *name = twi_text(&u->ctx->names, u->ir->array.at[k].name);
        int64_t at;
        if (!twi_guard_intact(&a->g[k], &at)) {
            (void)snprintf(text, sizeof text, "wrote beside %.100s, at element %lld from its first",
                           name, (long long)at);
            return note(out, TWI_RAN_STRAY, text);
        }
        if (u->ir->array.at[k].role == TWI_IN && !twi_guard_holds(&a->g[k], u->input[k])) {
            (void)snprintf(text, sizeof text, "changed its input %.100s", name);
            return note(out, TWI_RAN_INPUT, text);
        }
    }
    return TWI_RAN;
}

static twi_ran run_compiled(twi_unit *u, const twi_trial *t, arrays *a, unsigned pass,
                            twi_outcome *out) {
    const uint32_t n = u->ir->array.n;
    tw_tensor *tensor = TWI_NEW_N(u->arena, tw_tensor, n + 1);
    const tw_tensor **pointer = TWI_NEW_N(u->arena, const tw_tensor *, n + 1);
    tw_scalar *scalar = TWI_NEW_N(u->arena, tw_scalar, u->ir->scalar.n + 1);
    tw_call call = {.tensor = pointer, .scalar = scalar, .threads = 1};
    for (uint32_t k = 1; k < n; k++) {
        if (u->ir->array.at[k].role == TWI_TEMP)
            continue;
        tensor[k] = (tw_tensor){.data = a->g[k].data,
                                .device = {1, 0},
                                .rank = (int32_t)a->g[k].rank,
                                .dtype = tw_elem_dtype((tw_elem)u->ir->array.at[k].elem),
                                .shape = a->g[k].extent,
                                .strides = a->g[k].stride};
        pointer[call.tensors++] = &tensor[k];
    }
    for (uint32_t s = 1; s < u->ir->scalar.n; s++)
        scalar[call.scalars++] =
            tw_scalar_from_bits((tw_elem)u->ir->scalar.at[s].elem, u->scalar[s]);
    const tw_status status = tw_kernel_run(t->kernel, &call);
    u->lost = status == TW_ERR_ENV;
    out->offending[pass] = status == TW_ERR_INDEX ? call.instance : -1;
    if (status == TW_OK || status == TW_ERR_INDEX)
        return TWI_RAN;
    return note(out, status == TW_ERR_WRONG ? TWI_RAN_STRAY : TWI_RAN_REFUSED, call.error);
}

static bool known_extent(const tw_ir *ir, unsigned axis, int64_t *n) {
    int64_t lo, hi;
    if (!twi_ix_is_const(ir, ir->axis.at[axis].lo, &lo) ||
        !twi_ix_is_const(ir, ir->axis.at[axis].hi, &hi))
        return false;
    *n = hi > lo ? hi - lo : 0;
    return true;
}

/* Does every position of the digits exist? Then the deepest chain is exactly the stated one; at an
 * edge, positions that do not exist may shorten it, and where an axis is empty the fold may not run
 * at all. Of a scan, which has no digits here, the depth is one that is not passed. */
static bool fills(const tw_ir *ir, const twi_order *o) {
    uint64_t seen = 0;
    int64_t n;
    for (unsigned a = 1; a < ir->axis.n; a++)
        if (known_extent(ir, a, &n) && n == 0)
            return false;
    for (unsigned k = 0; k < o->n; k++) {
        const unsigned axis = o->digit[k].axis;
        int64_t product = 1;
        if (seen >> axis & 1u)
            continue;
        seen |= UINT64_C(1) << axis;
        for (unsigned j = 0; j < o->n; j++)
            product *= o->digit[j].axis == axis ? o->digit[j].extent : 1;
        if (!known_extent(ir, axis, &n) || n != product)
            return false;
    }
    return o->n > 0;
}

/* Depths counted while running against those that the plan states. */
static twi_ran check_depth(twi_unit *u, const twi_loop *loop, const twi_interp_result *r,
                           twi_outcome *out) {
    char text[200];
    for (uint32_t k = 0; k < loop->order.n; k++) {
        const twi_order *o = &loop->order.at[k];
        if (!r->depth || r->depth[o->fold] == o->depth ||
            (r->depth[o->fold] < o->depth && !fills(u->ir, o)))
            continue;
        (void)snprintf(text, sizeof text, "depth of %.80s: %u counted, %u stated",
                       twi_value_name(u->ir, o->fold), r->depth[o->fold], o->depth);
        return note(out, TWI_RAN_FAULT, text);
    }
    return TWI_RAN;
}

static twi_ran fault(twi_outcome *out, const twi_fault *f) {
    static const char *const words[] = {[TWI_FAULT_NONE] = "",
                                        [TWI_FAULT_OUTSIDE] = "outside an array",
                                        [TWI_FAULT_UNWRITTEN] = "read unwritten",
                                        [TWI_FAULT_RACE] = "race",
                                        [TWI_FAULT_TWICE] = "written twice",
                                        [TWI_FAULT_MISSING] = "not written",
                                        [TWI_FAULT_DIVERGED] = "diverged"};
    (void)snprintf(out->note, sizeof out->note, "%s: %.200s", words[f->kind], f->text);
    return TWI_RAN_FAULT;
}

/* What a module has beside the kernel's own arrays: partial results, the status of a call. */
static void add_workspace(twi_unit *u, const twi_loop *loop, twi_interp_array *array) {
    for (uint32_t k = u->ir->array.n; k < loop->array.n; k++) {
        const twi_larray *a = &loop->array.at[k];
        int64_t *stride = TWI_NEW_N(u->arena, int64_t, TWI_MAX_RANK), n = 1;
        for (unsigned d = a->rank; d-- > 0;) {
            stride[d] = n;
            n *= a->extent[d];
        }
        array[k] = (twi_interp_array){twi_alloc_n(u->arena, (size_t)n + 1, 8), a->extent, stride};
    }
}

static twi_ran run_interpreted(twi_unit *u, const twi_trial *t, arrays *a, unsigned pass,
                               twi_outcome *out) {
    const uint32_t n = u->ir->array.n;
    twi_interp_array *array = TWI_NEW_N(u->arena, twi_interp_array, t->loop->array.n + 1);
    add_workspace(u, t->loop, array);
    for (uint32_t k = 1; k < n; k++)
        array[k] = (twi_interp_array){
            .data = a->g[k].data, .shape = a->g[k].extent, .stride = a->g[k].stride};
    int64_t word = INT64_MAX;
    twi_interp_result result = {0};
    const uint32_t entry =
        pass == 0 ? t->loop->entry.n - 1 : 0; /* pages are aligned: all facts hold */
    twi_interp_run(t->loop, entry, array, u->scalar, u->arena, &result);
    if (t->loop->status)
        memcpy(&word, array[t->loop->status].data, sizeof word);
    out->offending[pass] = word == INT64_MAX ? -1 : word;
    if (result.fault.kind != TWI_FAULT_NONE)
        return fault(out, &result.fault);
    return check_depth(u, t->loop, &result, out);
}

static void one_pass(twi_unit *u, uint32_t trial, unsigned pass) {
    const twi_trial *t = &u->trial[trial];
    twi_outcome *out = twi_outcome_of(u, trial);
    const twi_mark mark = twi_arena_mark(u->arena);
    arrays a = make_arrays(u, pass);
    twi_ran how = a.ok ? TWI_RAN : note(out, TWI_RAN_REFUSED, "no memory for the arrays");
    if (how == TWI_RAN)
        how = t->kernel ? run_compiled(u, t, &a, pass, out) : run_interpreted(u, t, &a, pass, out);
    if (how == TWI_RAN)
        how = inspect(u, &a, out);
    for (uint32_t k = 1; a.ok && k < u->ir->array.n; k++)
        if (twi_is_result(u->ir, k))
            twi_guard_get(&a.g[k], twi_result_of(u, trial, pass, k));
    free_arrays(u, &a);
    twi_arena_reset(u->arena, mark);
    out->passes = (int)pass + 1;
    if (how != TWI_RAN || pass == TWI_PASSES - 1)
        out->how = how;
}

/* Trials of all fixtures from .. to, fixture by fixture. */
static uint32_t all(const twi_unit *u) { return (uint32_t)(u->to - u->from + 1) * u->trials; }

/* Makes the at-th one's fixture the one at hand; its trial. */
static uint32_t go_to(twi_unit *u, uint32_t at) {
    const twi_fixture fixture = (twi_fixture)(u->from + at / u->trials);
    u->fixture = fixture;
    if (twi_unit_wants(u, fixture))
        twi_unit_inputs(u);
    return at % u->trials;
}

/* Only where one child runs plans and does nothing else. Sanitizers map more than there is. */
static void limit_memory(uint64_t bytes) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    (void)bytes;
#else
    struct rlimit limit;
    if (bytes && getrlimit(RLIMIT_AS, &limit) == 0) {
        limit.rlim_cur = bytes < limit.rlim_max ? (rlim_t)bytes : limit.rlim_max;
        (void)setrlimit(RLIMIT_AS, &limit);
    }
#endif
}

static void run_series(void *user, int fd) {
    series *s = user;
    twi_unit *u = s->u;
    if (fd >= 0)
        limit_memory(u->o->memory_limit);
    for (uint32_t at = s->first; at < all(u) && !u->lost; at++) {
        const uint32_t k = go_to(u, at);
        if (u->trial[k].refused || !twi_unit_wants(u, u->fixture))
            continue;
        const char sign = 1;
        (void)twi_child_write(fd, &sign, 1); /* a sign of life: the time limit starts anew */
        for (unsigned pass = 0; pass < TWI_PASSES && twi_outcome_of(u, k)->how == TWI_RAN_NOT;
             pass++)
            one_pass(u, k, pass);
    }
}

/* Reads signs of life until the child is gone. True: it went by itself. */
static bool watch(const twi_child *c, int limit_ms) {
    struct pollfd p = {.fd = c->fd, .events = POLLIN};
    char sign[64];
    for (;;) {
        int ready = poll(&p, 1, limit_ms);
        if (ready < 0 && errno == EINTR)
            continue;
        if (ready <= 0)
            return false;
        ssize_t got = read(c->fd, sign, sizeof sign);
        if (got == 0)
            return true;
        if (got < 0 && errno != EINTR)
            return true;
    }
}

/* The first trial that should have an outcome and has none; its fixture is the one at hand. */
static uint32_t unfinished(twi_unit *u) {
    uint32_t at = 0;
    for (; at < all(u); at++) {
        u->fixture = (twi_fixture)(u->from + at / u->trials);
        const uint32_t k = at % u->trials;
        if (!u->trial[k].refused && twi_unit_wants(u, u->fixture) &&
            twi_outcome_of(u, k)->how == TWI_RAN_NOT)
            break;
    }
    return at;
}

bool twi_trials_run(twi_unit *u) {
    series s = {u, 0};
    char text[64];
    const int limit_ms = u->o->run_limit_ms + (u->target ? u->target->ops->late_ms : 0);
    for (uint32_t at = 0; at < all(u); at++) {
        u->fixture = (twi_fixture)(u->from + at / u->trials);
        *twi_outcome_of(u, at % u->trials) = (twi_outcome){.how = TWI_RAN_NOT};
    }
    if (!u->trial[0].loop && u->trials == 1 && !u->trial[0].refused)
        return true;                                /* target ref */
    if (u->target && u->target->ops->one_process) { /* in the case's own child, which has a limit */
        run_series(&s, -1);
        uint32_t at;
        while ((at = unfinished(u)) < all(u)) {
            twi_outcome *out = twi_outcome_of(u, at % u->trials);
            out->how = note(out, TWI_RAN_REFUSED, "the device was lost in an earlier trial");
        }
        return true;
    }
    while ((s.first = unfinished(u)) < all(u)) {
        twi_child child;
        if (!twi_child_start(&child, false, run_series, &s))
            return false;
        const bool by_itself = watch(&child, limit_ms);
        if (!by_itself)
            twi_child_kill(&child);
        const int status = twi_child_wait(&child);
        const uint32_t at = unfinished(u);
        if (at >= all(u))
            break;
        if (by_itself && status == 0 && at > s.first)
            continue; /* it gave up a device */
        twi_outcome *out = twi_outcome_of(u, at % u->trials);
        if (by_itself)
            out->how = note(out, TWI_RAN_CRASHED, twi_signal_word(status, text));
        else
            out->how =
                note(out, TWI_RAN_TIMEOUT, twi_format(u->arena, "not done within %d ms", limit_ms));
    }
    return true;
}
