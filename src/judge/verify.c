/* SPDX-License-Identifier: Apache-2.0
 * verify: a child a case, so many at a time; rows are handed on in the order of the cases.
 */
#include "base/clock.h"
#include "base/cores.h"
#include "base/fs.h"
#include "judge/child.h"
#include "judge/row.h"
#include "judge/unit.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

typedef struct {
    twi_child child;
    bool started, ended, late;
    int status;
    int64_t deadline_ns;
    twi_sb rows;
} slot;

typedef struct {
    tw_context *ctx;
    twi_arena arena;
    const tw_verify_case *cases;
    const tw_verify_options *o;
    size_t n, next, told; /* next to start; next to hand on */
    unsigned running;
    slot *slots;
    bool failed;
} board;

tw_verify_options tw_verify_options_defaults(void) {
    return (tw_verify_options){
        .target = "cpu", .seed = 1, .run_limit_ms = 20000, .build_limit_ms = 300000};
}

typedef struct {
    board *b;
    size_t k;
} start_of;

static void in_child(void *user, int fd) {
    const start_of *s = user;
    tw_context *ctx = s->b->ctx;
    twi_unit u = {
        .ctx = ctx, .arena = &ctx->arena, .c = &s->b->cases[s->k], .o = s->b->o, .fd = fd};
    jmp_buf spot, *saved;
    ctx->grouped = true;
    ctx->interrupt = NULL; /* signals end it */
    if (TWI_GUARD(&ctx->mem, spot, saved))
        _exit(3);
    twi_unit_run(&u);
    TWI_UNGUARD(&ctx->mem, saved);
}

static bool start(board *b) {
    slot *s = &b->slots[b->next];
    start_of which = {b, b->next};
    twi_sb_init(&s->rows, &b->arena);
    if (!twi_child_start(&s->child, true, in_child, &which))
        return false;
    s->started = true;
    s->deadline_ns = twi_now_ns() + (int64_t)b->o->build_limit_ms * 1000000;
    b->next++;
    b->running++;
    return true;
}

static void end(board *b, slot *s) {
    s->status = twi_child_wait(&s->child);
    s->ended = true;
    b->running--;
}

static void take(board *b, slot *s) {
    char part[16384];
    ssize_t got = read(s->child.fd, part, sizeof part);
    if (got > 0)
        twi_sb_add(&s->rows, part, (size_t)got);
    else if (got == 0 || errno != EINTR)
        end(b, s);
}

/* Waits until some child has something to say, and reads it. */
static void gather(board *b) {
    struct pollfd *p = TWI_NEW_N(&b->arena, struct pollfd, b->running);
    slot **of = TWI_NEW_N(&b->arena, slot *, b->running);
    nfds_t n = 0;
    for (size_t k = b->told; k < b->next; k++)
        if (b->slots[k].started && !b->slots[k].ended) {
            of[n] = &b->slots[k];
            p[n++] = (struct pollfd){.fd = b->slots[k].child.fd, .events = POLLIN};
        }
    if (poll(p, n, 200) < 0)
        return;
    const int64_t now = twi_now_ns();
    for (nfds_t k = 0; k < n; k++) {
        if (p[k].revents)
            take(b, of[k]);
        else if (now > of[k]->deadline_ns && !of[k]->late) {
            of[k]->late = true;
            twi_child_kill(&of[k]->child);
        }
    }
}

/* A case whose child did not live to its end: a row of its own. */
static void broken(board *b, const slot *s, size_t k, tw_verify_fn fn, void *user) {
    char text[64];
    const tw_verify_case *c = &b->cases[k];
    tw_verify_row row = {.kernel = twi_text(&b->ctx->names, c->ir->kernel),
                         .types = c->types,
                         .text = c->text,
                         .target = b->o->target ? b->o->target : "cpu",
                         .plan = "-",
                         .how = "-",
                         .fixture = "-",
                         .source = "",
                         .element = "",
                         .got = "",
                         .want = "",
                         .bound = "",
                         .failed = true,
                         .verdict = s->late ? "timeout" : "crashed",
                         .note =
                             s->late ? "the case took too long" : twi_signal_word(s->status, text)};
    b->failed = true;
    fn(user, &row);
}

static void tell(board *b, tw_verify_fn fn, void *user) {
    while (b->told < b->next && b->slots[b->told].ended) {
        slot *s = &b->slots[b->told];
        char *at = s->rows.at, *stop = at ? at + s->rows.n : NULL;
        tw_verify_row row;
        while (at && at < stop && twi_row_parse(&at, stop, &row)) {
            b->failed = b->failed || row.failed;
            fn(user, &row);
        }
        if (s->status != 0)
            broken(b, s, b->told, fn, user);
        b->told++;
    }
}

static void stop_all(board *b) {
    for (size_t k = b->told; b->slots && k < b->next; k++)
        if (b->slots[k].started && !b->slots[k].ended) {
            twi_child_kill(&b->slots[k].child);
            end(b, &b->slots[k]);
        }
}

static tw_status verify(board *b, tw_verify_fn fn, void *user) {
    const unsigned jobs = b->o->jobs > 0 ? (unsigned)b->o->jobs : (unsigned)twi_cores();
    b->slots = TWI_NEW_N(&b->arena, slot, b->n + 1);
    while (b->told < b->n) {
        if (b->o->stop && *b->o->stop) {
            stop_all(b);
            break;
        }
        while (b->next < b->n && b->running < jobs)
            if (!start(b)) {
                if (b->running)
                    break;
                twi_error(&b->ctx->diags, TWI_E_PATH_CHILD, (twi_loc){0, 0}, NULL,
                          "a child process could not be made");
                return TW_ERR_ENV;
            }
        gather(b);
        tell(b, fn, user);
    }
    return b->failed ? TW_ERR_WRONG : TW_OK;
}

/* Is the target here? A device is asked once, and its caps are handed to all children. */
static tw_status ask_device(tw_context *ctx, tw_verify_options *o) {
    twi_where where;
    twi_sb text;
    if (o->caps.text)
        return TW_OK;
    if (!twi_where_find(ctx, o->target, NULL, o->pins, o->n_pins, &where))
        return twi_where_is_device(&where) ? TW_ERR_ENV : TW_ERR_INPUT;
    if (strcmp(where.name, "ref") != 0 && !twi_where_is_here(ctx, &where))
        return TW_ERR_INPUT;
    if (!twi_where_is_device(&where))
        return TW_OK;
    twi_sb_init(&text, &ctx->arena);
    twi_caps_print(ctx, &where.caps, &text);
    o->caps = (tw_source){"the device's caps", twi_sb_text(&text), text.n};
    return TW_OK;
}

static bool fixtures_known(const board *b, const char *list) {
    if (!list || twi_fixtures_named(list))
        return true;
    twi_error(&b->ctx->diags, TWI_E_PATH_ARGUMENT, (twi_loc){0, 0},
              "normal, negative, cancel, special, exact, zero", "there is no fixture '%.200s'",
              list);
    return false;
}

/* Else every row would be missing, or of something else than was asked. */
static bool sensible(const board *b) {
    if (!fixtures_known(b, b->o->fixture))
        return false;
    for (size_t k = 0; k < b->n; k++) {
        const tw_verify_case *c = &b->cases[k];
        if (!c->ir)
            (void)twi_no_ir(b->ctx);
        if (!c->ir || !twi_scalars_known(c->ir, c->scalars, c->n_scalars) ||
            !fixtures_known(b, c->fixture))
            return false;
    }
    return true;
}

static tw_status checked(board *b, tw_verify_options *o, tw_verify_fn fn, void *user) {
    const tw_status status = sensible(b) ? ask_device(b->ctx, o) : TW_ERR_INPUT;
    return status == TW_OK ? verify(b, fn, user) : status;
}

tw_status tw_verify(tw_context *ctx, const tw_verify_case *cases, size_t n,
                    const tw_verify_options *options, tw_verify_fn fn, void *user) {
    tw_verify_options o = options ? *options : tw_verify_options_defaults();
    board b = {.ctx = ctx, .cases = cases, .o = &o, .n = n};
    jmp_buf spot, *saved;
    char folder[PATH_MAX];
    const char *before = ctx->env.tmpdir;
    volatile tw_status status = TW_ERR_MEMORY;
    twi_hold(ctx);
    twi_own_folder(ctx, folder);
    twi_arena_init(&b.arena, &ctx->mem);
    if (!TWI_GUARD(&ctx->mem, spot, saved))
        status = checked(&b, &o, fn, user);
    TWI_UNGUARD(&ctx->mem, saved);
    stop_all(&b);
    twi_arena_fini(&b.arena);
    twi_leave_folder(ctx, folder, before);
    twi_let_go(ctx);
    return status;
}
