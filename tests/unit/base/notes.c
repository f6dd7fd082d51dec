/* SPDX-License-Identifier: Apache-2.0
 * Notes: found by the whole key, copies of what was given, and no more of them than there is room.
 */
#include "test.h"

#include "base/notes.h"

#include <stdio.h>

static void by_key(void **state) {
    fixture f;
    fixture_open(&f);
    twi_notes notes;
    char key[] = "one", text[] = "1";
    (void)state;
    twi_notes_init(&notes, &f.mem);
    assert_null(twi_notes_find(&notes, "one"));
    twi_notes_add(&notes, key, text);
    key[0] = text[0] = '?';
    assert_string_equal(twi_notes_find(&notes, "one"), "1");
    assert_null(twi_notes_find(&notes, "on"));
    assert_null(twi_notes_find(&notes, "one "));
    twi_notes_add(&notes, "", "nothing");
    assert_string_equal(twi_notes_find(&notes, ""), "nothing");
    twi_notes_fini(&notes);
    assert_null(twi_notes_find(&notes, "one"));
    fixture_close(&f);
}

static void bounded(void **state) {
    fixture f;
    fixture_open(&f);
    twi_notes notes;
    char key[16];
    uint64_t most = 0;
    (void)state;
    twi_notes_init(&notes, &f.mem);
    for (unsigned k = 0; k < 100 * TWI_NOTES; k++) {
        (void)snprintf(key, sizeof key, "%u", k);
        twi_notes_add(&notes, key, "text");
        assert_string_equal(twi_notes_find(&notes, key), "text");
        assert_true(notes.n <= TWI_NOTES);
        if (k < 2 * TWI_NOTES && f.mem.bytes > most)
            most = f.mem.bytes;
        assert_true(f.mem.bytes <= 2 * most);
    }
    twi_notes_fini(&notes);
    fixture_close(&f);
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(by_key), cmocka_unit_test(bounded)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
