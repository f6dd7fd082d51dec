/* SPDX-License-Identifier: Apache-2.0
 * Launches: no access outside arrays (guard pages), the caller's floating-point state, threads,
 * fork. The modules of a test share one translation unit.
 */
#include "target/target.h"

#include <fcntl.h>
#include <fenv.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { ROWS = 3 };
static const int64_t widths[] = {1, 2, 3, 7, 15, 16, 17, 31, 33, 63, 65, 127, 129};
enum { WIDTHS = sizeof widths / sizeof *widths, KINDS = 4, MODULES = WIDTHS * KINDS };

typedef struct {
    tw_context *ctx;
    twi_target *target;
    const twi_loop *loop[MODULES];
    twi_module *module[MODULES];
    unsigned n;
} fixture;

static void add_array(tw_ir *ir, const char *name, tw_elem elem, twi_role role, int64_t rows,
                      int64_t columns) {
    twi_array a = {.name = twi_intern_str(&ir->ctx->names, name),
                   .elem = (uint8_t)elem,
                   .rank = 2,
                   .role = (uint8_t)role};
    a.dim[0] = twi_ix_const(ir, rows);
    a.dim[1] = twi_ix_const(ir, columns);
    twi_push(ir->arena, &ir->array, a);
}

/* Y[r, w] = X[r, w] * 0.5 + 1/3 of one row a group, in vectors of `count`. Kinds: 0 a count mask; 1
 * a bool mask; 2 a gather under a bool mask; 3 the unmasked vectors first, one by one the rest. */
static twi_loop *make_loop(tw_context *ctx, int64_t width, unsigned kind, unsigned count) {
    tw_ir *ir = TWI_NEW(&ctx->arena, tw_ir);
    ir->ctx = ctx;
    ir->arena = &ctx->arena;
    ir->kernel = twi_intern_str(&ctx->names, "half");
    twi_push(ir->arena, &ir->ix, (twi_ix_node){0});
    twi_push(ir->arena, &ir->array, (twi_array){0});
    add_array(ir, "X", TW_F32, TWI_IN, ROWS, width);
    add_array(ir, "Y", TW_F32, TWI_OUT, ROWS, width);
    twi_loop *loop = twi_loop_new(&ctx->arena, ir, 0);
    twi_entry entry = {.name = twi_intern_str(&ctx->names, "main")};
    twi_push(ir->arena, &loop->entry, entry);
    const uint32_t f = twi_loop_func(loop, twi_intern_str(&ctx->names, "half_main"), 0, 0);
    loop->func.at[f].explicit_lanes = true;
    loop->func.at[f].lanes = count;
    twi_cursor c;
    twi_cursor_init(&c, loop, f);
    const twi_lid r = twi_lb_leaf(&c, TWI_L_ID, TW_I64, 1, TWI_LV_GRID);
    for (unsigned part = 0; part < (kind == 3 ? 2u : 1u); part++) {
        const bool whole = kind == 3 && part == 0;
        const unsigned n = kind == 3 && part == 1 ? 1 : count;
        const int64_t full = width / count * count;
        const twi_lid lo = twi_lb_i64(&c, kind == 3 && part == 1 ? full : 0);
        const twi_lid w = twi_lb_for(&c, lo, twi_lb_i64(&c, whole ? full : width), n);
        twi_lid at[] = {r, w}, mask = 0;
        const twi_lid left = twi_lb_op(&c, TWI_SUB, twi_lb_i64(&c, width), w, 0);
        if (kind == 0)
            mask = left;
        if (kind == 1 || kind == 2)
            mask = twi_lb_op(&c, TWI_LT, twi_lb_leaf(&c, TWI_L_IOTA, TW_I64, n, 0),
                             twi_lb_splat(&c, left, n), 0);
        if (kind == 2)
            at[1] = twi_lb_op(&c, TWI_ADD, twi_lb_splat(&c, w, n),
                              twi_lb_leaf(&c, TWI_L_IOTA, TW_I64, n, 0), 0);
        const twi_lid x = twi_lb_load(&c, (twi_laccess){.object = 1, .dim = 1}, at, n, mask, 0);
        const twi_lid half = twi_lb_splat(&c, twi_lb_bits(&c, TW_F32, 0x3f000000, 0), n);
        const twi_lid third =
            twi_lb_op(&c, TWI_DIV, twi_lb_splat(&c, twi_lb_bits(&c, TW_F32, 0x3f800000, 0), n),
                      twi_lb_splat(&c, twi_lb_bits(&c, TW_F32, 0x40400000, 0), n), 0);
        const twi_lid tiny = twi_lb_op(&c, TWI_MUL, x, half, 0);
        const twi_lid big = twi_lb_op(&c, TWI_GT, x, half, 0);
        const twi_lid y =
            twi_lb_op(&c, TWI_SELECT, big, twi_lb_op(&c, TWI_ADD, tiny, third, 0), tiny);
        twi_lb_store(&c, (twi_laccess){.object = 2, .dim = 1}, at, y, mask);
        twi_lb_close(&c);
    }
    return loop;
}

static int start(void **state) {
    fixture *f = *state = calloc(1, sizeof *f);
    f->ctx = tw_context_create(NULL);
    f->target = twi_cpu_open(f->ctx, NULL);
    if (!f->target)
        return -1;
    for (unsigned i = 0; i < WIDTHS; i++)
        for (unsigned kind = 0; kind < KINDS; kind++)
            f->loop[f->n++] = make_loop(f->ctx, widths[i], kind, kind == 1 ? 4 : 16);
    const tw_status status = f->target->ops->build(f->target, f->loop, f->n, NULL, f->module);
    if (status != TW_OK)
        print_error("%s", tw_diag_text(f->ctx, false));
    return status == TW_OK ? 0 : -1;
}

static int stop(void **state) {
    fixture *f = *state;
    for (unsigned i = 0; i < f->n; i++)
        f->target->ops->release(f->module[i]);
    f->target->ops->close(f->target);
    tw_context_destroy(f->ctx);
    free(f);
    return 0;
}

static tw_status launch(const fixture *f, unsigned k, void *x, void *y, int threads) {
    const int64_t width = widths[k / KINDS], trip = 0;
    int64_t stride[3 * TWI_MAX_RANK] = {0};
    void *array[] = {NULL, x, y};
    char error[TWI_ERROR_TEXT];
    for (unsigned i = 1; i < 3; i++) {
        stride[i * TWI_MAX_RANK] = width;
        stride[i * TWI_MAX_RANK + 1] = 1;
    }
    const twi_launch args = {.array = array, .stride = stride, .trip = &trip, .threads = threads};
    return f->target->ops->launch(f->module[k], 0, ROWS, &args, error);
}

static float expected(float x) {
    const volatile float half = x * 0.5f, third = 1.0f / 3.0f;
    return x > 0.5f ? half + third : half;
}

/* Three pages, the outer two out of bounds; an array at the start or the end of the middle one. */
static char *guarded(size_t bytes, bool at_end, char **pages) {
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const int zero = open("/dev/zero", O_RDWR);
    *pages = mmap(NULL, 3 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE, zero, 0);
    assert_true(*pages != MAP_FAILED);
    (void)close(zero);
    assert_int_equal(mprotect(*pages, page, PROT_NONE), 0);
    assert_int_equal(mprotect(*pages + 2 * page, page, PROT_NONE), 0);
    return *pages + page + (at_end ? page - bytes : 0);
}

static void nothing_outside_is_touched(void **state) {
    const fixture *f = *state;
    for (unsigned k = 0; k < f->n; k++)
        for (unsigned end = 0; end < 2; end++) {
            const size_t n = (size_t)widths[k / KINDS] * ROWS;
            char *pages[2];
            float *x = (void *)guarded(n * 4, end, &pages[0]),
                  *y = (void *)guarded(n * 4, end, &pages[1]);
            for (size_t i = 0; i < n; i++)
                x[i] = (float)i - 5.0f;
            assert_int_equal(launch(f, k, x, y, 1), TW_OK);
            for (size_t i = 0; i < n; i++)
                if (y[i] != expected(x[i]))
                    fail_msg("width %d, kind %u, element %u", (int)widths[k / KINDS], k % KINDS,
                             (unsigned)i);
            const size_t all = 3 * (size_t)sysconf(_SC_PAGESIZE);
            (void)munmap(pages[0], all);
            (void)munmap(pages[1], all);
        }
}

static void callers_floating_point_state(void **state) {
    const fixture *f = *state;
    const unsigned k = f->n - 4;
    static float x[129 * ROWS], y[129 * ROWS], plain[129 * ROWS];
    for (unsigned i = 0; i < 129 * ROWS; i++)
        x[i] = i % 2 ? 1e-40f * (float)(i + 1) : (float)i;
    assert_int_equal(launch(f, k, x, plain, 1), TW_OK);
    assert_true(plain[1] > 0.0f); /* subnormal, kept */
    assert_int_equal(fesetround(FE_UPWARD), 0);
#if defined __SSE__
    const unsigned before = __builtin_ia32_stmxcsr();
    __builtin_ia32_ldmxcsr(before | 0x8040); /* flush to zero, denormals are zero */
#endif
    for (int threads = 1; threads < 4; threads++) {
        memset(y, 0, sizeof y);
        assert_int_equal(launch(f, k, x, y, threads), TW_OK);
        assert_memory_equal(y, plain, sizeof y);
        assert_int_equal(fegetround(), FE_UPWARD);
#if defined __SSE__
        assert_int_equal(__builtin_ia32_stmxcsr() & 0x8040, 0x8040);
#endif
    }
#if defined __SSE__
    __builtin_ia32_ldmxcsr(before);
#endif
    assert_int_equal(fesetround(FE_TONEAREST), 0);
}

static void check_once(const fixture *f, int threads) {
    float x[129 * ROWS], y[129 * ROWS];
    for (unsigned i = 0; i < 129 * ROWS; i++)
        x[i] = (float)i;
    assert_int_equal(launch(f, f->n - 1, x, y, threads), TW_OK);
    for (unsigned i = 0; i < 129 * ROWS; i++)
        assert_true(y[i] == expected(x[i]));
}

#if defined __SANITIZE_THREAD__
/* The sanitizer itself does not like threads after a fork. */
const char *__tsan_default_options(void);
const char *__tsan_default_options(void) { return "die_after_fork=0"; }
#endif

static void pool_survives_fork(void **state) {
    const fixture *f = *state;
    check_once(f, 3);
    for (unsigned round = 0; round < 3; round++) {
        const pid_t child = fork();
        assert_true(child >= 0);
        if (child == 0) {
            float x[129 * ROWS] = {1.0f}, y[129 * ROWS] = {0};
            (void)alarm(20);
            const bool ran = launch(f, f->n - 1, x, y, 3) == TW_OK;
            _exit(ran && y[0] == expected(1.0f) ? 0 : 1);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        check_once(f, 3);
    }
}

static void *hammer(void *user) {
    const fixture *f = user;
    uintptr_t wrong = 0;
    for (unsigned round = 0; round < 300; round++) {
        float x[129 * ROWS], y[129 * ROWS];
        for (unsigned i = 0; i < 129 * ROWS; i++)
            x[i] = (float)(i + round);
        wrong += launch(f, f->n - 1 - round % KINDS, x, y, 2) != TW_OK;
        for (unsigned i = 0; i < 129 * ROWS; i++)
            wrong += y[i] != expected(x[i]);
    }
    return (void *)wrong;
}

static void threads_share_a_target(void **state) {
    pthread_t thread[3];
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(pthread_create(&thread[i], NULL, hammer, *state), 0);
    for (unsigned i = 0; i < 3; i++) {
        void *wrong;
        assert_int_equal(pthread_join(thread[i], &wrong), 0);
        assert_null(wrong);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_outside_is_touched),
        cmocka_unit_test(callers_floating_point_state),
        cmocka_unit_test(pool_survives_fork),
        cmocka_unit_test(threads_share_a_target),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
