/* SPDX-License-Identifier: Apache-2.0
 * Calls on the caller's streams, in the caller's contexts, on arrays of the device, and inside a
 * capture; on a double of the driver that counts what would end a capture. links: front
 */
#include "device.h"

static const char program[] = "kernel twice(X: f32[N], out Y: f32[N]) {\n"
                              "    temp T: f32[N]\n"
                              "    parallel n: N {\n"
                              "        T[n] = X[n] * 2\n"
                              "    }\n"
                              "    parallel n: N {\n"
                              "        Y[n] = T[n] * 2\n"
                              "    }\n"
                              "}\n";
enum { N = 40 };
static tw_double_cuda *driver;
static float *seen[4]; /* the two arrays of the last two launches: X and T, Y and T */

static void look(const char *name, unsigned groups, unsigned workers, unsigned shared,
                 void **parameter) {
    (void)name, (void)groups, (void)workers, (void)shared;
    seen[0] = seen[2];
    seen[1] = seen[3];
    seen[2] = *(float **)parameter[0];
    seen[3] = *(float **)parameter[1];
}

typedef struct {
    tw_context *ctx;
    tw_compiled *c;
    tw_kernel *k;
    float x[N + 1], y[N + 1];
    int64_t shape[1];
    tw_tensor tx, ty;
    const tw_tensor *both[2];
    tw_call call;
} fixture;

/* Arrays "on the device", a stream, nothing launched. */
static fixture *start(const char *test) {
    fixture *f = calloc(1, sizeof *f);
    assert_non_null(f);
    f->ctx = device_context(&driver);
    driver->kernel = look;
    f->c = device_made(f->ctx, program, N, NULL, test);
    if (!f->c) {
        free(f);
        return NULL;
    }
    f->k = tw_compiled_kernel(f->c);
    f->shape[0] = N;
    f->tx = (tw_tensor){.data = f->x,
                        .device = {2, 0},
                        .rank = 1,
                        .dtype = tw_elem_dtype(TW_F32),
                        .shape = f->shape};
    f->ty = f->tx;
    f->ty.data = f->y;
    f->both[0] = &f->tx;
    f->both[1] = &f->ty;
    f->call = (tw_call){.tensor = f->both, .tensors = 2, .stream = f->y};
    driver->range[0] = (struct tw_double_range){(char *)f->x, sizeof f->x, 2, 0, 0};
    driver->range[1] = (struct tw_double_range){(char *)f->y, sizeof f->y, 2, 0, 0};
    return f;
}

static void finish(fixture *f) {
    device_end(f->ctx, f->c, driver);
    free(f);
}

static void refused(fixture *f, const char *said) {
    const unsigned launches = driver->launches;
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_ERR_INPUT);
    if (!strstr(f->call.error, said))
        fail_msg("'%s' lacks '%s'", f->call.error, said);
    assert_int_equal(driver->launches, launches);
}

/* Used where they are, on the stream given, and nobody waits. */
static void in_place(void **state) {
    (void)state;
    fixture *f = start("in_place");
    if (!f)
        skip();
    driver->wait_result = 700;
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_int_equal(driver->launches, 2);
    assert_ptr_equal(driver->stream, f->call.stream);
    assert_ptr_equal(seen[0], f->x);
    assert_ptr_equal(seen[1], seen[3]); /* the temp */
    assert_ptr_equal(seen[2], f->y);
    assert_int_equal(driver->allocated, 1);
    float *temp = seen[1];
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_ptr_equal(seen[1], temp); /* calls on one stream follow each other */
    f->call.stream = NULL;           /* the default stream is another */
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_null(driver->stream);
    assert_ptr_not_equal(seen[1], temp);
    assert_int_equal(driver->allocated, 2);
    f->call.checks = TW_CHECKS_FULL; /* waits: the fault is told */
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_ERR_ENV);
    assert_non_null(strstr(f->call.error, "kernel twice, entry"));
    finish(f);
}

/* One array of the host: it is copied, on the stream given, and the call waits. */
static void mixed(void **state) {
    (void)state;
    fixture *f = start("mixed");
    if (!f)
        skip();
    f->ty.device = (tw_device){1, 0};
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_ptr_equal(driver->stream, f->call.stream);
    assert_ptr_equal(seen[0], f->x);
    assert_ptr_not_equal(seen[2], f->y);
    assert_int_equal(driver->allocated, 0);
    finish(f);
}

static void captured(void **state) {
    (void)state;
    fixture *f = start("captured");
    if (!f)
        skip();
    driver->capture = 1;
    refused(f, "kernel twice has no code in this context yet"); /* cold */
    driver->capture = 0;
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    driver->capture = 1;
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    f->call.checks = TW_CHECKS_FULL; /* looks at pointers, does not wait */
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_int_equal(driver->captured, 4);
    f->call.checks = TW_CHECKS_ARGS;
    f->call.stream = f->x; /* no memory for temps on this one */
    refused(f, "kernel twice has no memory for temps yet");
    f->call.stream = f->y;
    f->tx.device = (tw_device){1, 0};
    refused(f, "X is in host memory");
    tw_timing t;
    assert_int_equal(tw_kernel_time(f->k, &f->call, true, &t), TW_ERR_INPUT);
    assert_int_equal(driver->illegal, 0);
    driver->capture = 0;
    finish(f);
}

/* A context of the device that is current is used and stays; another device's is left alone. */
static void contexts(void **state) {
    (void)state;
    fixture *f = start("contexts");
    if (!f)
        skip();
    int own, other;
    driver->current = &own;
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_ptr_equal(driver->loaded_in, &own);
    assert_ptr_equal(driver->current, &own);
    driver->current = NULL;
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_ptr_equal(driver->loaded_in, driver); /* the primary one */
    assert_null(driver->current);
    assert_int_equal(driver->modules, 2);
    driver->current = &other;
    driver->foreign = 41;
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_int_equal(driver->modules, 2);
    assert_ptr_equal(driver->current, &other);
    driver->current = &own;
    driver->foreign = 0;
    driver->capture = 1; /* warm there */
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    driver->capture = 0;
    driver->current = NULL;
    finish(f);
}

/* The device is asked by a child as long as nobody has opened the driver here, then by this
 * process: a child could not. */
static void asked(void **state) {
    (void)state;
    fixture *f = start("asked");
    if (!f)
        skip();
    twi_caps caps;
    assert_int_equal(driver->inits, 0); /* compiling has asked */
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_int_equal(driver->inits, 1);
    assert_true(twi_cuda_caps(f->ctx, 0, &caps));
    assert_int_equal(driver->inits, 2);
    assert_int_equal(caps.units, 132);
    finish(f);
}

/* What the caller says of an array against what it says otherwise, or the driver does. */
static void places(void **state) {
    (void)state;
    static const struct {
        tw_device device;
        int type, managed, ordinal; /* of the driver */
        size_t less;                /* bytes of the allocation missing */
        const char *said;           /* NULL: right */
    } rows[] = {
        {{2, 0}, 2, 0, 0, 4, NULL},
        {{2, 0}, 2, 0, 0, 8, "X needs 160 bytes from 0 on of an allocation of 156 bytes"},
        {{2, 0}, 0, 0, 0, 0, "X is said to be on cuda:0 and lies in host memory"},
        {{2, 0}, 1, 0, 0, 0, "X is said to be on cuda:0 and lies in host memory"},
        {{2, 0}, 2, 0, 1, 0, "X is said to be on cuda:0 and lies on cuda:1"},
        {{2, 0}, 1, 1, 0, 0, NULL},
        {{2, 1}, 2, 0, 1, 0, "X is on cuda:1; this kernel runs on cuda:0"},
        {{4, 0}, 2, 0, 0, 0, "X is on a device of type 4; this kernel takes types 1 and 2"},
        {{1, 0}, 2, 0, 0, 0, "X is said to be in host memory and lies on CUDA device 0"},
        {{3, 0}, 1, 0, 0, 0, NULL},
    };
    fixture *f = start("places");
    if (!f)
        skip();
    f->call.checks = TW_CHECKS_FULL;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        f->tx.device = rows[i].device;
        driver->range[0] = (struct tw_double_range){(char *)f->x, sizeof f->x - rows[i].less,
                                                    rows[i].type, rows[i].managed, rows[i].ordinal};
        if (rows[i].said)
            refused(f, rows[i].said);
        else if (tw_kernel_run(f->k, &f->call) != TW_OK)
            fail_msg("row %u: %s", (unsigned)i, f->call.error);
    }
    finish(f);
}

/* Entries are chosen by the device's own addresses. */
static void entries(void **state) {
    (void)state;
    fixture *f = start("entries");
    if (!f)
        skip();
    f->tx.data = f->x + 1;
    assert_string_equal(tw_kernel_entry(f->k, &f->call), "main");
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_OK);
    assert_ptr_equal(seen[0], f->x + 1);
    finish(f);
}

/* Sets in turn within the graph of 100; everything in place. */
static void timed(void **state) {
    (void)state;
    fixture *f = start("timed");
    if (!f)
        skip();
    tw_call other = f->call, *sets[] = {&f->call, &other};
    const tw_tensor *swapped[] = {&f->ty, &f->tx};
    tw_timing t;
    other.tensor = swapped;
    assert_int_equal(tw_kernel_time_sets(f->k, sets, 2, true, &t), TW_OK);
    assert_int_equal(driver->captured, 200);
    assert_ptr_equal(seen[0], f->y); /* the last operation's */
    assert_ptr_equal(seen[2], f->x);
    assert_int_equal(driver->illegal, 0);
    assert_true(t.median_ns > 4999 && t.median_ns < 5001);
    assert_int_equal(tw_kernel_time_sets(f->k, sets, TW_MOST_SETS + 1, true, &t), TW_ERR_INPUT);
    assert_non_null(strstr(f->call.error, "65 sets"));
    finish(f);
}

static int64_t stray = INT64_MAX; /* the instance that uses an index outside its array */

static void stray_index(const char *name, unsigned groups, unsigned workers, unsigned shared,
                        void **parameter) {
    (void)name, (void)groups, (void)workers, (void)shared;
    int64_t *word = *(int64_t **)parameter[3]; /* X, I, Y, then the word */
    *word = stray < *word ? stray : *word;
}

/* An index outside an array is told by a call that waits, of that call alone. Nothing is filled:
 * beside a small kernel that would be most of an operation. */
static void indexed(void **state) {
    (void)state;
    static const char text[] = "kernel pick(X: f32[N], I: i32[N], out Y: f32[N]) {\n"
                               "    parallel n: N {\n"
                               "        i = I[n]\n"
                               "        Y[n] = X[i]\n"
                               "    }\n"
                               "}\n";
    fixture *f = start("indexed");
    if (!f)
        skip();
    tw_compiled *pick = device_made(f->ctx, text, N, NULL, "indexed");
    assert_non_null(pick);
    int32_t index[N] = {0};
    tw_tensor ti = f->tx;
    ti.data = index;
    ti.dtype = tw_elem_dtype(TW_I32);
    const tw_tensor *three[] = {&f->tx, &ti, &f->ty};
    tw_call call = {.tensor = three, .tensors = 3};
    driver->kernel = stray_index;
    driver->range[2] = (struct tw_double_range){(char *)index, sizeof index, 2, 0, 0};
    stray = 3;
    assert_int_equal(tw_kernel_run(tw_compiled_kernel(pick), &call), TW_OK);
    assert_int_equal(driver->fills, 0);
    call.checks = TW_CHECKS_FULL;
    stray = 5;
    assert_int_equal(tw_kernel_run(tw_compiled_kernel(pick), &call), TW_ERR_INDEX);
    assert_non_null(strstr(call.error, "instance 5"));
    stray = INT64_MAX;
    assert_int_equal(tw_kernel_run(tw_compiled_kernel(pick), &call), TW_OK);
    stray = 6;
    ti.device = (tw_device){1, 0}; /* copied: waits too */
    driver->range[2].type = 0;
    assert_int_equal(tw_kernel_run(tw_compiled_kernel(pick), &call), TW_ERR_INDEX);
    assert_non_null(strstr(call.error, "instance 6"));
    stray = INT64_MAX;
    assert_int_equal(tw_kernel_run(tw_compiled_kernel(pick), &call), TW_OK);
    tw_timing t;
    driver->fills = 0;
    assert_int_equal(tw_kernel_time(tw_compiled_kernel(pick), &call, true, &t), TW_OK);
    assert_true(driver->fills < 100); /* zones of copies, not one an operation */
    tw_compiled_release(pick);
    finish(f);
}

/* No memory is not a lost device. */
static void no_memory(void **state) {
    (void)state;
    fixture *f = start("no_memory");
    if (!f)
        skip();
    driver->alloc_result = 2;
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_ERR_MEMORY);
    assert_non_null(
        strstr(f->call.error, "memory for temps: cuMemAlloc: CUDA_ERROR_OUT_OF_MEMORY"));
    f->ty.device = (tw_device){1, 0};
    assert_int_equal(tw_kernel_run(f->k, &f->call), TW_ERR_MEMORY);
    finish(f);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(in_place), cmocka_unit_test(mixed),     cmocka_unit_test(captured),
        cmocka_unit_test(contexts), cmocka_unit_test(places),    cmocka_unit_test(entries),
        cmocka_unit_test(timed),    cmocka_unit_test(no_memory), cmocka_unit_test(asked),
        cmocka_unit_test(indexed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
