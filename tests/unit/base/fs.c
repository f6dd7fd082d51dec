/* SPDX-License-Identifier: Apache-2.0
 * Files, in a folder of this test's own.
 */
#include "test.h"

#include "base/clock.h"
#include "base/fs.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static char old[4096], dir[] = "/tmp/tilewright-fs-XXXXXX";

static int enter(void **state) {
    (void)state;
    return !getcwd(old, sizeof old) || !mkdtemp(dir) || chdir(dir) != 0;
}

static int leave(void **state) {
    (void)state;
    char command[4200];
    (void)snprintf(command, sizeof command, "rm -rf '%s'", dir);
    return chdir(old) != 0 || system(command) != 0; /* NOLINT: a path of ours */
}

static int entries(const char *path) {
    int n = 0;
    DIR *open = opendir(path);
    assert_non_null(open);
    while (readdir(open))
        n++;
    (void)closedir(open);
    return n - 2;
}

static void read_back(const char *path, const void *want, size_t want_n) {
    fixture f;
    fixture_open(&f);
    char *text = NULL;
    size_t n = 0;
    assert_int_equal(twi_read_file(&f.arena, path, &text, &n), 0);
    assert_int_equal(n, want_n);
    assert_memory_equal(text, want, want_n);
    assert_int_equal(text[n], 0);
    fixture_close(&f);
}

static void writes_and_reads(void **state) {
    (void)state;
    size_t sizes[] = {0, 1, 4095, 4096, 4097, 1000003};
    char *data = malloc(1000003);
    assert_non_null(data);
    for (size_t i = 0; i < 1000003; i++)
        data[i] = (char)(i * 7);
    for (size_t i = 0; i < 6; i++) {
        assert_int_equal(twi_write_file("file", data, sizes[i]), 0);
        read_back("file", data, sizes[i]);
    }
    free(data);
    assert_int_equal(entries("."), 1); /* no temporary is left */
    assert_int_equal(unlink("file"), 0);
}

static void errors_leave_nothing(void **state) {
    (void)state;
    fixture f;
    fixture_open(&f);
    char *text;
    size_t n;
    assert_int_equal(twi_read_file(&f.arena, "none", &text, &n), ENOENT);
    assert_int_equal(mkdir("folder", 0700), 0);
    assert_int_equal(twi_read_file(&f.arena, "folder", &text, &n), EISDIR);
    assert_int_equal(twi_write_file("folder", "x", 1), EISDIR);
    assert_int_equal(twi_write_file("none/file", "x", 1), ENOENT);
    assert_int_equal(twi_write_file("", "x", 1), ENOENT);
    assert_int_equal(rmdir("folder"), 0);
    assert_int_equal(entries("."), 0);
    fixture_close(&f);
}

static void links_and_devices_stay(void **state) {
    (void)state;
    struct stat st;
    assert_int_equal(twi_write_file("real", "old", 3), 0);
    assert_int_equal(chmod("real", 0640), 0);
    assert_int_equal(symlink("real", "link"), 0);
    assert_int_equal(twi_write_file("link", "new", 3), 0);
    assert_int_equal(lstat("link", &st), 0);
    assert_true(S_ISLNK(st.st_mode));
    read_back("real", "new", 3);
    assert_int_equal(stat("real", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
    assert_int_equal(twi_write_file("/dev/null", "x", 1), 0);
    assert_int_equal(stat("/dev/null", &st), 0);
    assert_true(S_ISCHR(st.st_mode));
    assert_int_equal(twi_write_file("/dev/full", "x", 1), ENOSPC);
    (void)unlink("link");
    (void)unlink("real");
}

static void trees_go_and_links_are_not_followed(void **state) {
    (void)state;
    assert_int_equal(twi_make_dir("tree/a/b/c"), 0);
    assert_int_equal(twi_make_dir("kept"), 0);
    assert_int_equal(twi_write_file("kept/file", "x", 1), 0);
    assert_int_equal(twi_write_file("tree/a/file", "x", 1), 0);
    assert_int_equal(symlink("../../kept", "tree/a/link"), 0);
    twi_remove_tree("tree");
    assert_int_equal(access("tree", F_OK), -1);
    read_back("kept/file", "x", 1);
    twi_remove_tree("kept/file"); /* no folder: left alone */
    read_back("kept/file", "x", 1);
    twi_remove_tree("nowhere");
    twi_remove_tree("kept");
    assert_int_equal(entries("."), 0);
}

static void standard_input_and_pipes(void **state) {
    (void)state;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], "through a pipe", 14), 14);
    (void)close(ends[1]);
    int kept = dup(0);
    assert_int_equal(dup2(ends[0], 0), 0);
    read_back("-", "through a pipe", 14);
    assert_int_equal(dup2(kept, 0), 0);
    (void)close(ends[0]);
    (void)close(kept);
}

static void folders(void **state) {
    (void)state;
    struct stat st;
    assert_int_equal(twi_make_dir("a/b//c/"), 0);
    assert_int_equal(twi_make_dir("a/b/c"), 0);
    assert_int_equal(stat("a/b", &st), 0);
    assert_int_equal(st.st_mode & 0777, 0700);
    assert_int_equal(twi_write_file("a/file", "x", 1), 0);
    assert_int_equal(twi_make_dir("a/file"), ENOTDIR);
    assert_int_equal(twi_make_dir("a/file/x"), ENOTDIR);
}

static void same_files(void **state) {
    (void)state;
    assert_int_equal(twi_make_dir("d"), 0);
    assert_int_equal(twi_write_file("d/x", "x", 1), 0);
    assert_int_equal(link("d/x", "d/y"), 0);
    assert_true(twi_same_file("d/x", "./d//x"));
    assert_true(twi_same_file("d/x", "d/y"));
    assert_false(twi_same_file("d/x", "d/absent"));
    assert_true(twi_same_file("d/absent", "d/absent"));
    assert_true(twi_same_file("d/absent", "d/../d/absent"));
    assert_true(twi_same_file("absent", "./absent"));
    assert_false(twi_same_file("absent", "d/absent"));
    assert_false(twi_same_file("d/absent", "d/missing"));
}

static void *refuse(void *user, size_t size) {
    (void)user;
    (void)size;
    return NULL;
}

static void no_descriptor_leaks_without_memory(void **state) {
    (void)state;
    assert_int_equal(twi_write_file("some", "text", 4), 0);
    int before = entries("/proc/self/fd");
    fixture f;
    fixture_open(&f);
    f.mem.alloc = refuse;
    volatile bool jumped = false;
    jmp_buf spot, *saved;
    if (TWI_GUARD(&f.mem, spot, saved)) {
        jumped = true;
    } else {
        char *text;
        size_t n;
        (void)twi_read_file(&f.arena, "some", &text, &n);
    }
    TWI_UNGUARD(&f.mem, saved);
    assert_true(jumped);
    assert_int_equal(entries("/proc/self/fd"), before);
}

static void the_clock_goes_on(void **state) {
    (void)state;
    int64_t a = twi_now_ns(), b = a;
    while (b == a)
        b = twi_now_ns();
    assert_true(a > 0 && b > a);
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_and_reads),
        cmocka_unit_test(errors_leave_nothing),
        cmocka_unit_test(links_and_devices_stay),
        cmocka_unit_test(trees_go_and_links_are_not_followed),
        cmocka_unit_test(standard_input_and_pipes),
        cmocka_unit_test(folders),
        cmocka_unit_test(same_files),
        cmocka_unit_test(no_descriptor_leaks_without_memory),
        cmocka_unit_test(the_clock_goes_on),
    };
    return cmocka_run_group_tests(tests, enter, leave);
}
