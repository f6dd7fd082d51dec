/* SPDX-License-Identifier: Apache-2.0
 * Emitted C under a compiler that is told of no instruction set.
 */
#ifndef TEST_TARGET_SUPPORT_H
#define TEST_TARGET_SUPPORT_H

#include "base/strbuf.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <cmocka.h>

/* Entry `main` of kernel k, whose text this is, over all groups; files of that stem are made and
 * removed. */
static inline void run_plain(twi_arena *arena, const char *stem, const char *text,
                             void *const *arrays, long long groups) {
    typedef void entry(void *const *, const unsigned long long *, const long long *,
                       const long long *, char *, long long, long long);
    const char *source = twi_format(arena, "%s/%s.c", TW_BINARY_DIR, stem),
               *module = twi_format(arena, "%s/%s.so", TW_BINARY_DIR, stem);
    FILE *f = fopen(source, "w");
    assert_non_null(f);
    assert_true(fputs(text, f) >= 0 && fclose(f) == 0);
    assert_int_equal(system(twi_format(arena,
                                       "cc -std=gnu11 -O1 -shared -fPIC -ffp-contract=off -fwrapv "
                                       "-o %s %s -lm",
                                       module, source)),
                     0);
    void *handle = dlopen(module, RTLD_NOW | RTLD_LOCAL);
    if (!handle)
        fail_msg("%s", dlerror());
    entry *run_all;
    *(void **)&run_all = dlsym(handle, "K_k_main");
    assert_non_null(run_all);
    run_all(arrays, NULL, NULL, NULL, NULL, 0, groups);
    (void)dlclose(handle);
    (void)remove(source);
    (void)remove(module);
}

#endif
