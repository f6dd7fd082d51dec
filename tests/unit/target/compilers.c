/* SPDX-License-Identifier: Apache-2.0
 * Compilers that fail in every way that they do: the diagnostic's code, its text, the status;
 * nothing left behind.
 */
#include "target/codes.h"
#include "target/target.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

/* Scripts stand in for compilers. OUT is the word after -o. */
#define OUT "while [ $# -gt 0 ]; do if [ \"$1\" = -o ]; then out=$2; fi; shift; done\n"
#define VERSION "if [ \"$1\" = --version ]; then echo fake 1.0; exit 0; fi\n"

static const struct {
    const char *what, *script;
    int code; /* 0: builds */
    const char *says;
} fakes[] = {
    {"refuses", VERSION "echo 'unit.c:1: you call that C?' >&2\nexit 1\n", TWI_E_COMPILE,
     "you call that C?"},
    {"is killed", VERSION "kill -9 $$\n", TWI_E_COMPILE, "137"},
    {"leaves nothing", VERSION "exit 0\n", TWI_E_NO_PRODUCT, "without leaving"},
    {"leaves an empty file", VERSION OUT ": > $out\n", TWI_E_NO_PRODUCT, "without leaving"},
    {"leaves a text", VERSION OUT "echo hello, this is no object at all > $out\n",
     TWI_E_BAD_PRODUCT, "no shared object"},
    {"leaves a bad object",
     VERSION OUT "printf '\\177ELF\\2\\1\\1\\0\\0\\0\\0\\0\\0\\0\\0\\0\\3\\0rubbish' > $out\n",
     TWI_E_LOAD, "cannot be loaded"},
    {"leaves another object",
     VERSION "echo 'int other;' > $TMPDIR/o.c\n" OUT
             "cc -shared -fPIC -o $out $TMPDIR/o.c\nrm $TMPDIR/o.c\n",
     TWI_E_LOAD, "K_fill_main"},
    {"leaves more than was asked for",
     VERSION "mkdir -p $TMPDIR/a/b\n: > $TMPDIR/a/b/c.s\nln -s / $TMPDIR/a/root\nexec cc \"$@\"\n",
     0, ""},
    {"hangs", VERSION "echo thinking\nsleep 100 & sleep 100\n", TWI_E_HANGS, "thinking"},
    {"hangs when asked its version", "sleep 100\n", TWI_E_HANGS, "--version"},
    {"prints much and fails",
     VERSION "i=0; while [ $i -lt 3000 ]; do echo 'warning: a long line of warnings that nobody "
             "will read to the end'; i=$((i+1)); done\nexit 3\n",
     TWI_E_COMPILE, "exit status 3"},
    {"warns and works", VERSION "echo 'warning: odd' >&2\nexec cc \"$@\"\n", 0, ""},
    {"has no version", "if [ \"$1\" = --version ]; then exit 1; fi\nexec cc \"$@\"\n", 0, ""},
};

typedef struct {
    char folder[64], script[96];
    tw_context *ctx;
    twi_loop *loop;
} fixture;

/* Y[group] = group, by one group each. */
static twi_loop *make_loop(tw_context *ctx) {
    tw_ir *ir = TWI_NEW(&ctx->arena, tw_ir);
    ir->ctx = ctx;
    ir->arena = &ctx->arena;
    ir->kernel = twi_intern_str(&ctx->names, "fill");
    twi_push(ir->arena, &ir->ix, (twi_ix_node){0});
    twi_push(ir->arena, &ir->array, (twi_array){0});
    twi_array y = {
        .name = twi_intern_str(&ctx->names, "Y"), .elem = TW_I64, .rank = 1, .role = TWI_OUT};
    y.dim[0] = twi_ix_const(ir, 8);
    twi_push(ir->arena, &ir->array, y);
    twi_loop *loop = twi_loop_new(&ctx->arena, ir, 0);
    twi_entry entry = {.name = twi_intern_str(&ctx->names, "main")};
    twi_push(ir->arena, &loop->entry, entry);
    const uint32_t f = twi_loop_func(loop, twi_intern_str(&ctx->names, "fill_main"), 0, 0);
    loop->func.at[f].explicit_lanes = true;
    twi_cursor c;
    twi_cursor_init(&c, loop, f);
    const twi_lid g = twi_lb_leaf(&c, TWI_L_ID, TW_I64, 1, TWI_LV_GRID);
    twi_lb_store(&c, (twi_laccess){.object = 1}, &g, g, 0);
    return loop;
}

static int start(void **state) {
    fixture *f = calloc(1, sizeof *f);
    (void)snprintf(f->folder, sizeof f->folder, "/tmp/tw-compilers-XXXXXX");
    if (!mkdtemp(f->folder) || setenv("TMPDIR", f->folder, 1) != 0)
        return -1;
    (void)snprintf(f->script, sizeof f->script, "%s/fake", f->folder);
    f->ctx = tw_context_create(NULL);
    f->loop = make_loop(f->ctx);
    *state = f;
    return 0;
}

static int stop(void **state) {
    fixture *f = *state;
    (void)unlink(f->script);
    const int left = rmdir(f->folder); /* fails if a build left something */
    tw_context_destroy(f->ctx);
    free(f);
    (void)unsetenv("TMPDIR");
    return left;
}

static void write_script(const fixture *f, const char *text) {
    FILE *file = fopen(f->script, "w");
    assert_non_null(file);
    (void)fprintf(file, "#!/bin/sh\n%s", text);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(f->script, 0700), 0);
}

static tw_status try_build(const fixture *f, const char *compiler, int64_t limit_ms) {
    twi_module *module = NULL;
    char error[TWI_ERROR_TEXT];
    int64_t y[8] = {0}, stride[2 * TWI_MAX_RANK] = {0}, trip = 0;
    void *array[] = {NULL, y};
    stride[TWI_MAX_RANK] = 1;
    const twi_loop *loop = f->loop;
    twi_target *t =
        twi_cpu_open(f->ctx, &(twi_cpu_options){.compiler = compiler, .limit_ms = limit_ms});
    assert_non_null(t);
    const tw_status status = t->ops->build(t, &loop, 1, NULL, &module);
    if (status == TW_OK) {
        const twi_launch args = {.array = array, .stride = stride, .trip = &trip, .threads = 1};
        assert_int_equal(t->ops->launch(module, 0, 8, &args, error), TW_OK);
        for (int64_t i = 0; i < 8; i++)
            assert_int_equal(y[i], i);
    } else {
        assert_null(module);
    }
    t->ops->release(module);
    t->ops->close(t);
    return status;
}

static void check(const fixture *f, const char *what, tw_status status, int code,
                  const char *says) {
    const char *text = tw_diag_text(f->ctx, false);
    const bool right = code == 0 ? status == TW_OK
                                 : status == TW_ERR_ENV && tw_diag_count(f->ctx) == 1 &&
                                       tw_diag_get(f->ctx, 0).code == code && strstr(text, says);
    if (!right)
        print_error("a compiler that %s: status %d, E%04d expected, got\n%s\n", what, (int)status,
                    code, text);
    assert_true(right);
    tw_diag_clear(f->ctx);
}

static void every_failure_has_its_message(void **state) {
    const fixture *f = *state;
    for (unsigned i = 0; i < sizeof fakes / sizeof *fakes; i++) {
        write_script(f, fakes[i].script);
        const bool slow = fakes[i].code == TWI_E_HANGS;
        check(f, fakes[i].what, try_build(f, f->script, slow ? 300 : 20000), fakes[i].code,
              fakes[i].says);
    }
}

static void missing(void **state) {
    const fixture *f = *state;
    check(f, "does not exist", try_build(f, "/nonexistent/cc", 1000), TWI_E_BAD_COMPILER,
          "/nonexistent/cc");
    char *path = strdup(getenv("PATH"));
    assert_int_equal(setenv("PATH", f->folder, 1), 0);
    const tw_status status = try_build(f, NULL, 1000);
    assert_int_equal(setenv("PATH", path, 1), 0);
    free(path);
    check(f, "is nowhere", status, TWI_E_NO_COMPILER, "cc, gcc and clang");
}

static void host_ignores_children(void **state) {
    const fixture *f = *state;
    struct sigaction before, ignore = {.sa_handler = SIG_IGN};
    assert_int_equal(sigaction(SIGCHLD, &ignore, &before), 0);
    const tw_status status = try_build(f, NULL, 20000);
    assert_int_equal(sigaction(SIGCHLD, &before, NULL), 0);
    check(f, "nobody waits for", status, 0, "");
}

static void no_temporary_folder(void **state) {
    fixture *f = *state;
    const char *before = f->ctx->env.tmpdir;
    f->ctx->env.tmpdir = "/nonexistent/folder";
    const tw_status status = try_build(f, NULL, 20000);
    f->ctx->env.tmpdir = before;
    check(f, "has no folder", status, TWI_E_TEMPORARY, "/nonexistent/folder");
}

static void implicit_lanes_are_refused(void **state) {
    fixture *f = *state;
    f->loop->func.at[0].explicit_lanes = false;
    assert_int_equal(try_build(f, NULL, 20000), TW_ERR_INPUT);
    f->loop->func.at[0].explicit_lanes = true;
    assert_int_equal(tw_diag_get(f->ctx, 0).code, TWI_E_LANES);
}

static void many_builds_leave_nothing(void **state) {
    const fixture *f = *state;
    const uint64_t bytes = f->ctx->mem.bytes;
    for (unsigned i = 0; i < 12; i++)
        assert_int_equal(try_build(f, NULL, 20000), TW_OK);
    DIR *dir = opendir("/proc/self/fd");
    unsigned open = 0;
    while (dir && readdir(dir))
        open++;
    if (dir)
        (void)closedir(dir);
    assert_true(open < 20);
    assert_true(f->ctx->mem.bytes < bytes + 65536);
}

/* Memory that runs out at every place once: no leak, no folder, no jump to nowhere. */
typedef struct {
    unsigned left; /* until it fails */
    int out;
} meter;

static void *metered_alloc(void *user, size_t size) {
    meter *m = user;
    if (m->left == 0)
        return NULL;
    m->left--;
    m->out++;
    return malloc(size);
}

static void metered_free(void *user, void *p) {
    if (p)
        ((meter *)user)->out--;
    free(p);
}

/* What a failing step leaves to its caller. */
typedef struct {
    tw_context *ctx;
    twi_target *target;
    twi_module *module;
    bool done;
} attempt;

static void build_all(attempt *a) {
    const twi_loop *loop = make_loop(a->ctx);
    a->target = twi_cpu_open(a->ctx, NULL);
    if (a->target && a->target->ops->build(a->target, &loop, 1, NULL, &a->module) == TW_OK)
        a->done = true;
}

static bool try_with(meter *m) {
    static attempt a;
    const tw_allocator allocator = {metered_alloc, metered_free, m};
    jmp_buf spot, *saved;
    a = (attempt){.ctx = tw_context_create(&allocator)};
    if (!a.ctx)
        return false;
    if (!TWI_GUARD(&a.ctx->mem, spot, saved))
        build_all(&a);
    TWI_UNGUARD(&a.ctx->mem, saved);
    if (a.module)
        a.target->ops->release(a.module);
    if (a.target)
        a.target->ops->close(a.target);
    tw_context_destroy(a.ctx);
    return a.done;
}

static void out_of_memory(void **state) {
    (void)state;
    unsigned failures = 0;
    for (unsigned n = 0; n < 2000; n++) {
        meter m = {.left = n};
        const bool done = try_with(&m);
        assert_int_equal(m.out, 0);
        if (done)
            break;
        failures++;
    }
    assert_in_range(failures, 3, 1999);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_failure_has_its_message, start, stop),
        cmocka_unit_test_setup_teardown(missing, start, stop),
        cmocka_unit_test_setup_teardown(host_ignores_children, start, stop),
        cmocka_unit_test_setup_teardown(no_temporary_folder, start, stop),
        cmocka_unit_test_setup_teardown(implicit_lanes_are_refused, start, stop),
        cmocka_unit_test_setup_teardown(many_builds_leave_nothing, start, stop),
        cmocka_unit_test_setup_teardown(out_of_memory, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
