/* SPDX-License-Identifier: Apache-2.0
 * .npy files: what NumPy writes is read, element by element; what is cut, foreign or of no type of
 * ours is named.
 */
#include "cli/npy.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

/* A file of version 1 or 2 with this dictionary; n gets its length. */
static char *file_of(tool *t, int version, const char *dictionary, const void *data, size_t bytes,
                     size_t *n) {
    const size_t fixed = version == 1 ? 10 : 12, length = strlen(dictionary);
    char *at = tool_alloc(t, fixed + length + bytes, 1);
    memcpy(at, "\x93NUMPY", 6);
    at[6] = (char)version;
    at[8] = (char)(length & 255);
    at[9] = (char)(length >> 8);
    memcpy(at + fixed, dictionary, length);
    if (bytes)
        memcpy(at + fixed + length, data, bytes);
    *n = fixed + length + bytes;
    return at;
}

static const char *last(const tool *t) { return t->n_notes ? t->notes[t->n_notes - 1].text : ""; }

static void reads(void **state) {
    (void)state;
    tool t;
    npy a;
    size_t n;
    float out[6];
    const float by_column[] = {1, 4, 2, 5, 3, 6};
    tool_init(&t);
    for (int version = 1; version <= 3; version++) {
        char *f =
            file_of(&t, version, "{'descr': '<f4', 'fortran_order': True, 'shape': (2, 3), }\n",
                    by_column, 24, &n);
        assert_true(npy_parse(&t, "x", f, n, &a));
        assert_int_equal(a.rank, 2);
        assert_int_equal(a.shape[0], 2);
        assert_int_equal(a.shape[1], 3);
        assert_int_equal(a.elems, 1u << TW_F32);
        npy_dense(&a, out);
        for (int k = 0; k < 6; k++) /* row-major: 1 2 3 4 5 6 */
            assert_true(out[k] == (float)(k + 1));
    }
    tool_fini(&t);
}

static void orders_and_spaces(void **state) {
    (void)state;
    static const char *const texts[] = {
        "{'shape': (3,), 'fortran_order': False, 'descr': '<i8'}",
        "{ \"descr\" : \"<i8\" , \"fortran_order\" : False , \"shape\" : ( 3 , ) , } \n"};
    const int64_t data[3] = {1, -2, 3};
    tool t;
    npy a;
    size_t n;
    tool_init(&t);
    for (size_t k = 0; k < 2; k++) {
        char *f = file_of(&t, 1, texts[k], data, sizeof data, &n);
        assert_true(npy_parse(&t, "x", f, n, &a));
        assert_int_equal(a.n, 3);
        assert_int_equal(a.elems, 1u << TW_I64);
    }
    char *f =
        file_of(&t, 1, "{'descr': '|b1', 'fortran_order': False, 'shape': (), }", "\1", 1, &n);
    assert_true(npy_parse(&t, "x", f, n, &a)); /* rank 0: one element */
    assert_int_equal(a.rank, 0);
    assert_int_equal(a.n, 1);
    f = file_of(&t, 1, "{'descr': '|V2', 'fortran_order': False, 'shape': (0, 7), }", "", 0, &n);
    assert_true(npy_parse(&t, "x", f, n, &a));
    assert_int_equal(a.n, 0);
    assert_int_equal(a.elems, 1u << TW_BF16);
    tool_fini(&t);
}

static void ambiguous(void **state) {
    (void)state;
    tool t;
    npy a;
    size_t n;
    tool_init(&t);
    char *f =
        file_of(&t, 1, "{'descr': '<u2', 'fortran_order': False, 'shape': (1,), }", "\1\2", 2, &n);
    assert_true(npy_parse(&t, "x", f, n, &a));
    assert_int_equal(a.elems, (1u << TW_U16) | (1u << TW_BF16));
    tool_fini(&t);
}

static void refuses(void **state) {
    (void)state;
    static const struct {
        const char *dictionary;
        size_t bytes;
        const char *said;
    } rows[] = {
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 7, "x: cut: 7 of 8 bytes"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", 9,
         "x: 9 bytes of data where its shape has 8"},
        {"{'descr': '>f4', 'fortran_order': False, 'shape': (2,), }", 8,
         "x: big-endian data ('>f4')"},
        {"{'descr': '|O', 'fortran_order': False, 'shape': (1,), }", 8, "x: holds Python objects"},
        {"{'descr': '<c8', 'fortran_order': False, 'shape': (1,), }", 8,
         "x: elements of type '<c8'"},
        {"{'descr': '<f4', 'fortran_order': False, }", 8, "x: its header is not one"},
        {"{'descr': '<f4', 'fortran_order': 0, 'shape': (2,), }", 8, "x: its header is not one"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (2), 'more': 1}", 8,
         "x: its header is not one"},
        {"{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296, 4294967296), "
         "}",
         8, "more elements than memory"},
    };
    const char data[16] = {0};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tool t;
        npy a;
        size_t n;
        tool_init(&t);
        char *f = file_of(&t, 1, rows[k].dictionary, data, rows[k].bytes, &n);
        assert_false(npy_parse(&t, "x", f, n, &a));
        assert_non_null(strstr(last(&t), rows[k].said));
        assert_int_equal(t.exit, EXIT_INPUT);
        tool_fini(&t);
    }
}

/* A whole file cut at every place is refused, and never read beyond its end (the sanitizers watch).
 */
static void cut_anywhere(void **state) {
    (void)state;
    tool t;
    npy a;
    size_t n;
    const float data[2] = {1, 2};
    tool_init(&t);
    char *f =
        file_of(&t, 1, "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }", data, 8, &n);
    for (size_t k = 0; k < n; k++) {
        char *cut = tool_copy(&t, f, k);
        assert_false(npy_parse(&t, "x", cut, k, &a));
    }
    tool_fini(&t);
}

static void writes(void **state) {
    (void)state;
    static const struct {
        tw_elem elem;
        const char *descr;
    } rows[] = {{TW_F64, "<f8"}, {TW_F16, "<f2"}, {TW_BF16, "<u2"},
                {TW_I8, "|i1"},  {TW_U32, "<u4"}, {TW_BOOL, "|b1"}};
    const int64_t shape[2] = {3, 1};
    const char data[24] = {1, 0, 1};
    for (size_t k = 0; k < sizeof rows / sizeof rows[0]; k++) {
        tool t;
        npy a;
        tool_init(&t);
        text out = {.t = &t};
        npy_print(&out, rows[k].elem, 2, shape, data);
        assert_non_null(strstr(out.at + 10, rows[k].descr));
        assert_int_equal((out.n - 3 * tw_elem_size(rows[k].elem)) % 64,
                         0); /* as NumPy aligns the data */
        assert_true(npy_parse(&t, "x", out.at, out.n, &a));
        assert_true(a.elems >> rows[k].elem & 1);
        assert_int_equal(a.rank, 2);
        assert_memory_equal(a.data, data, 3 * tw_elem_size(rows[k].elem));
        tool_fini(&t);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads),   cmocka_unit_test(orders_and_spaces), cmocka_unit_test(ambiguous),
        cmocka_unit_test(refuses), cmocka_unit_test(cut_anywhere),      cmocka_unit_test(writes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
