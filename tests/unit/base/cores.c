/* SPDX-License-Identifier: Apache-2.0
 * A thread that may run on one core alone has one, whatever the machine has.
 */
#define _GNU_SOURCE /* sched_setaffinity */
#include "test.h"

#include "base/cores.h"

#include <unistd.h>

#ifdef __linux__
#include <sched.h>

static void those_of_the_affinity(void **state) {
    (void)state;
    cpu_set_t before, one;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_int_equal(twi_cores(), CPU_COUNT(&before));
    size_t core = 0;
    while (!CPU_ISSET(core, &before))
        core++;
    CPU_ZERO(&one);
    CPU_SET(core, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    assert_int_equal(twi_cores(), 1);
    assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
}
#else
static void those_of_the_affinity(void **state) {
    (void)state;
    assert_int_equal(twi_cores(), sysconf(_SC_NPROCESSORS_ONLN));
}
#endif

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(those_of_the_affinity)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
