/* SPDX-License-Identifier: Apache-2.0
 * Contexts, their diagnostics through the public interface, the environment, and element types.
 */
#include "test.h"

#include "base/context.h"

#include <stdlib.h>

static void diagnostics_come_out(void **state) {
    (void)state;
    tw_context *ctx = tw_context_create(NULL);
    assert_non_null(ctx);
    assert_int_equal(tw_diag_count(ctx), 0);
    assert_string_equal(tw_diag_text(ctx, false), "");
    uint32_t file = twi_diags_file(&ctx->diags, "f.tile", "ab\ncd\n", 6);
    twi_error(&ctx->diags, 42, (twi_loc){file, 4}, "the help", "the text %d", 1);
    twi_warn(&ctx->diags, 43, (twi_loc){0, 0}, NULL, "nowhere");
    assert_int_equal(tw_diag_count(ctx), 2);
    tw_diag diag = tw_diag_get(ctx, 0);
    assert_int_equal(diag.code, 42);
    assert_int_equal(diag.severity, 0);
    assert_string_equal(diag.file, "f.tile");
    assert_string_equal(diag.text, "the text 1");
    assert_string_equal(diag.help, "the help");
    assert_int_equal(diag.line, 2);
    assert_int_equal(diag.column, 2);
    diag = tw_diag_get(ctx, 1);
    assert_int_equal(diag.severity, 1);
    assert_int_equal(diag.line, 0);
    assert_null(diag.file);
    assert_null(diag.help);
    assert_int_equal(tw_diag_get(ctx, 2).code, 0); /* beyond the end: nothing */
    assert_string_equal(tw_diag_text(ctx, false),
                        "f.tile:2:2: error[E0042]: the text 1\n  cd\n   ^\n"
                        "  help: the help\nwarning[E0043]: nowhere\n");
    tw_diag_clear(ctx);
    assert_int_equal(tw_diag_count(ctx), 0);
    tw_context_destroy(ctx);
    tw_context_destroy(NULL);
}

static void environment_is_read_once(void **state) {
    (void)state;
    (void)setenv("TILEWRIGHT_CC", "some cc", 1);
    (void)setenv("TILEWRIGHT_STORE", "", 1);
    (void)setenv("TILEWRIGHT_THREADS", "3", 1);
    tw_context *ctx = tw_context_create(NULL);
    (void)setenv("TILEWRIGHT_CC", "other", 1);
    (void)setenv("TILEWRIGHT_THREADS", "3x", 1);
    assert_string_equal(ctx->env.cc, "some cc");
    assert_null(ctx->env.store);
    assert_int_equal(ctx->env.threads, 3);
    tw_context *second = tw_context_create(NULL);
    assert_string_equal(second->env.cc, "other");
    assert_int_equal(second->env.threads, 0);
    tw_context_destroy(ctx);
    tw_context_destroy(second);
    (void)unsetenv("TILEWRIGHT_CC");
    (void)unsetenv("TILEWRIGHT_STORE");
    (void)unsetenv("TILEWRIGHT_THREADS");
}

static void element_types(void **state) {
    (void)state;
    static const struct {
        tw_elem elem;
        const char *name;
        size_t size;
    } row[] = {
        {TW_BOOL, "bool", 1},     {TW_I8, "i8", 1},         {TW_I16, "i16", 2},
        {TW_I32, "i32", 4},       {TW_I64, "i64", 8},       {TW_U8, "u8", 1},
        {TW_U16, "u16", 2},       {TW_U32, "u32", 4},       {TW_U64, "u64", 8},
        {TW_F8E4M3, "f8e4m3", 1}, {TW_F8E5M2, "f8e5m2", 1}, {TW_BF16, "bf16", 2},
        {TW_F16, "f16", 2},       {TW_F32, "f32", 4},       {TW_F64, "f64", 8},
    };
    assert_int_equal(sizeof row / sizeof *row, TW_ELEMS - 1);
    for (size_t i = 0; i < sizeof row / sizeof *row; i++) {
        assert_int_equal(tw_elem_size(row[i].elem), row[i].size);
        assert_string_equal(tw_elem_name(row[i].elem), row[i].name);
        assert_int_equal(tw_elem_named(row[i].name), row[i].elem);
        tw_dtype dtype = tw_elem_dtype(row[i].elem);
        assert_int_equal(dtype.bits, row[i].size * 8);
        assert_int_equal(tw_dtype_elem(dtype), row[i].elem);
        dtype.lanes = 2;
        assert_int_equal(tw_dtype_elem(dtype), TW_NONE);
    }
    assert_int_equal(tw_elem_named("f31"), TW_NONE);
    assert_int_equal(tw_elem_named("none"), TW_NONE);
    assert_int_equal(tw_elem_size(TW_NONE), 0);
    assert_int_equal(tw_elem_size((tw_elem)99), 0);
    assert_int_equal(tw_dtype_elem((tw_dtype){2, 24, 1}), TW_NONE);
}

/* The layout of DLPack's DLTensor on 64-bit machines. */
static void tensors_have_dlpack_layout(void **state) {
    (void)state;
    assert_int_equal(offsetof(tw_tensor, device), 8);
    assert_int_equal(offsetof(tw_tensor, rank), 16);
    assert_int_equal(offsetof(tw_tensor, dtype), 20);
    assert_int_equal(offsetof(tw_tensor, shape), 24);
    assert_int_equal(offsetof(tw_tensor, strides), 32);
    assert_int_equal(offsetof(tw_tensor, byte_offset), 40);
    assert_int_equal(sizeof(tw_tensor), 48);
    assert_int_equal(sizeof(tw_dtype), 4);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(diagnostics_come_out),
        cmocka_unit_test(environment_is_read_once),
        cmocka_unit_test(element_types),
        cmocka_unit_test(tensors_have_dlpack_layout),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
