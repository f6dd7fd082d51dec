/* SPDX-License-Identifier: Apache-2.0
 * The bit probe: its recorded hashes are those of the interpreter; this machine passes with every
 * instruction set; a compiler that computes otherwise is found out.
 */
#include "target/bitprobe.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static uint32_t probe(tw_context *ctx, twi_target *t) {
    const twi_probe_row *row;
    unsigned n = 0;
    const tw_status status = twi_bit_probe(t, &ctx->arena, &row, &n);
    if (status != TW_OK)
        print_error("%s", tw_diag_text(ctx, false));
    assert_int_equal(status, TW_OK);
    assert_true(n >= 36);
    for (unsigned i = 0; i < n; i++)
        if (row[i].got != row[i].right)
            print_message("%s: 0x%llx, recorded 0x%llx\n", row[i].name,
                          (unsigned long long)row[i].got, (unsigned long long)row[i].right);
    return t->caps.probe;
}

static void recorded_hashes(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    twi_caps caps;
    assert_true(twi_caps_named(ctx, "cpu-avx512", &caps));
    twi_target *t = twi_interp_open(ctx, &caps);
    assert_int_equal(probe(ctx, t), 0);
    t->ops->close(t);
    tw_context_destroy(ctx);
}

static void this_machine(void **state) {
    (void)state;
    static const char *const isas[] = {"baseline", "avx2", "avx512", "neon"};
    unsigned passed = 0;
    for (unsigned i = 0; i < 4; i++) {
        tw_context *ctx = tw_context_create(NULL);
        twi_caps caps;
        if (twi_cpu_caps(ctx, isas[i], &caps)) {
            twi_target *t = twi_cpu_open(ctx, &(twi_cpu_options){.caps = &caps});
            assert_int_equal(probe(ctx, t), 0);
            t->ops->close(t);
            passed++;
        }
        tw_context_destroy(ctx);
    }
    assert_true(passed > 0);
}

/* A compiler whose square roots are none. */
static void wrong_arithmetic(void **state) {
    (void)state;
    char path[] = "/tmp/tw-probe-XXXXXX";
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    FILE *file = fdopen(fd, "w");
    assert_non_null(file);
    (void)fputs("#!/bin/sh\nexec cc \"$@\" -D'__builtin_sqrtf(x)=((x)*0.5f)'\n", file);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    tw_context *ctx = tw_context_create(NULL);
    twi_caps caps;
    assert_true(twi_cpu_caps(ctx, NULL, &caps));
    twi_target *t = twi_cpu_open(ctx, &(twi_cpu_options){.caps = &caps, .compiler = path});
    const twi_probe_row *row;
    unsigned n;
    assert_int_equal(twi_bit_probe(t, &ctx->arena, &row, &n), TW_OK);
    assert_int_equal(t->caps.probe, TWI_PROBE_DIVIDE);
    t->ops->close(t);
    tw_context_destroy(ctx);
    (void)unlink(path);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(recorded_hashes),
        cmocka_unit_test(this_machine),
        cmocka_unit_test(wrong_arithmetic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
