/* SPDX-License-Identifier: Apache-2.0
 * The only getenv of the library: once, when a context is made. An empty variable counts as not
 * set.
 */
#include "base/env.h"

#include <stdlib.h>

static const char *read(twi_arena *arena, const char *name) {
    const char *v = getenv(name);
    return v && *v ? twi_strdup(arena, v) : NULL;
}

void twi_env_read(twi_env *env, twi_arena *arena) {
    *env = (twi_env){0};
    env->cc = read(arena, "TILEWRIGHT_CC");
    env->store = read(arena, "TILEWRIGHT_STORE");
    env->cache = read(arena, "XDG_CACHE_HOME");
    env->home = read(arena, "HOME");
    env->path = read(arena, "PATH");
    env->dump = read(arena, "TILEWRIGHT_DUMP");
    env->nvrtc = read(arena, "TILEWRIGHT_NVRTC");
    env->cuda = read(arena, "TILEWRIGHT_CUDA");
    env->opencl = read(arena, "TILEWRIGHT_OPENCL");
    env->tmpdir = read(arena, "TMPDIR");
    const char *threads = read(arena, "TILEWRIGHT_THREADS");
    if (threads) {
        char *end;
        long n = strtol(threads, &end, 10);
        if (*end == 0 && n > 0 && n <= 4096)
            env->threads = (int)n;
    }
}
