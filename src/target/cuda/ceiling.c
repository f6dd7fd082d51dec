/* SPDX-License-Identifier: Apache-2.0
 * The device's ceilings, by the plainest kernels there are: an empty launch, a read and a copy of
 * far more than the caches hold, chains of FMA. Each is timed like any kernel (clock.c); of several
 * grids the best counts.
 */
#include "target/cuda/cuda.h"

#include <stdio.h>

static const char source[] =
    "extern \"C\" __global__ void K_launch() {}\n"
    "extern \"C\" __global__ void K_read(const uint4 *x, uint4 *y, unsigned long long n) {\n"
    "    unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;\n"
    "    unsigned long long at = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;\n"
    "    unsigned a = 0;\n"
    "    for (; at + 3 * step < n; at += 4 * step) {\n"
    "        uint4 p = x[at], q = x[at + step], r = x[at + 2 * step], s = x[at + 3 * step];\n"
    "        a ^= p.x ^ p.y ^ p.z ^ p.w ^ q.x ^ q.y ^ q.z ^ q.w;\n"
    "        a ^= r.x ^ r.y ^ r.z ^ r.w ^ s.x ^ s.y ^ s.z ^ s.w;\n"
    "    }\n"
    "    for (; at < n; at += step) a ^= x[at].x ^ x[at].y ^ x[at].z ^ x[at].w;\n"
    "    if (a == 12345) y->x = a;\n"
    "}\n"
    "extern \"C\" __global__ void K_copy(const uint4 *x, uint4 *y, unsigned long long n) {\n"
    "    unsigned long long step = gridDim.x * (unsigned long long)blockDim.x;\n"
    "    unsigned long long at = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;\n"
    "    for (; at + step < n; at += 2 * step) {\n"
    "        uint4 p = x[at], q = x[at + step];\n"
    "        y[at] = p;\n"
    "        y[at + step] = q;\n"
    "    }\n"
    "    if (at < n) y[at] = x[at];\n"
    "}\n"
    "extern \"C\" __global__ void K_fma(const uint4 *x, uint4 *y, unsigned long long n) {\n"
    "    float f[8];\n"
    "    for (int k = 0; k < 8; k++) f[k] = (float)(threadIdx.x + k);\n"
    "    for (unsigned i = 0; i < (unsigned)n; i += 32) {\n"
    "#pragma unroll\n"
    "        for (int j = 0; j < 32; j++)\n"
    "            for (int k = 0; k < 8; k++) f[k] = __fmaf_rn(f[k], 0.999f, 0.25f);\n"
    "    }\n"
    "    float t = 0;\n"
    "    for (int k = 0; k < 8; k++) t += f[k];\n"
    "    if (t == 12345.0f) y->x = x->x;\n"
    "}\n";

enum { WORKERS = 512, CHAINS = 8, STEPS = 2048 };
#define FAR_BYTES ((size_t)1 << 29) /* of each of two arrays */

/* What of a kernel is one unit, and how many a launch takes. */
typedef struct {
    const char *name;
    unsigned long long n; /* its last parameter */
    double units; /* with one group an SM, where they depend on the grid; else of a launch */
    bool by_group;
    size_t member; /* of twi_caps */
} ceiling;
static const ceiling ceilings[] = {
    {"K_launch", 0, 1, false, offsetof(twi_caps, ceiling_launch_ns)},
    {"K_read", 2 * FAR_BYTES / 16, 2 * (double)FAR_BYTES, false,
     offsetof(twi_caps, ceiling_read_byte_ns)},
    {"K_copy", FAR_BYTES / 16, 2 * (double)FAR_BYTES, false,
     offsetof(twi_caps, ceiling_copy_byte_ns)},
    {"K_fma", STEPS, 2.0 * CHAINS *STEPS *WORKERS, true, offsetof(twi_caps, ceiling_flop_ns)},
};
enum { CEILINGS = sizeof ceilings / sizeof ceilings[0] };

typedef struct {
    twi_cuda *c;
    twi_cu_module module;
    twi_cu_function function;
    twi_cu_address x; /* y is behind it */
    const ceiling *what;
    unsigned groups;
    char *error;
} bench;

static tw_status queue(void *user, unsigned k, twi_cu_stream stream) {
    bench *b = user;
    unsigned long long n = b->what->n;
    twi_cu_address x = b->x, y = b->x + FAR_BYTES;
    void *value[] = {&x, &y, &n};
    const bool bare = b->what->n == 0;
    (void)k;
    return twi_cuda_result(b->c,
                           b->c->cu.launch(b->function, bare ? 1 : b->groups, 1, 1,
                                           bare ? 32 : WORKERS, 1, 1, 0, stream,
                                           bare ? NULL : value, NULL),
                           b->what->name, b->error);
}

/* Nanoseconds a unit, the least over some grids. */
static tw_status measure_one(bench *b, double *least) {
    static const unsigned an_sm[] = {1, 2, 4, 8, 16};
    const twi_cuda_work work = {queue, b, b->what->name};
    tw_status status =
        twi_cuda_result(b->c, b->c->cu.function_get(&b->function, b->module, b->what->name),
                        b->what->name, b->error);
    *least = 0;
    for (unsigned k = 0; status == TW_OK && k < sizeof an_sm / sizeof an_sm[0]; k++) {
        tw_timing t = {.batches = 0};
        b->groups = b->c->base.caps.units * an_sm[k];
        status = twi_cuda_clock(b->c, &work, true, &t, b->error);
        const double units = b->what->units * (b->what->by_group ? b->groups : 1);
        const double ns = t.median_ns / units;
        *least = *least > 0 && *least < ns ? *least : ns;
        if (b->what->n == 0)
            break;
    }
    return status;
}

static tw_status measure_all(bench *b, const twi_cuda_image *image, twi_caps *caps) {
    twi_cuda *c = b->c;
    tw_status status = twi_cuda_result(c, c->cu.module_load(&b->module, image->at, 0, NULL, NULL),
                                       "cuModuleLoadDataEx", b->error);
    if (status == TW_OK)
        status = twi_cuda_result(c, c->cu.alloc(&b->x, 2 * FAR_BYTES), "cuMemAlloc", b->error);
    if (status == TW_OK) {
        const size_t words = 2 * FAR_BYTES / 4;
        status = twi_cuda_result(c, c->cu.fill32(b->x, 4 * words, 0x3f800000, words, 1, NULL),
                                 "fill", b->error);
    }
    if (status == TW_OK)
        status = twi_cuda_result(c, c->cu.stream_wait(NULL), "fill", b->error);
    for (unsigned k = 0; status == TW_OK && k < CEILINGS; k++) {
        double *member = (double *)(void *)((char *)caps + ceilings[k].member);
        b->what = &ceilings[k];
        status = measure_one(b, member);
    }
    if (b->x)
        (void)c->cu.free(b->x);
    if (b->module)
        (void)c->cu.module_unload(b->module);
    return status;
}

tw_status twi_cuda_ceilings(twi_target *t, twi_caps *caps, char error[TWI_ERROR_TEXT]) {
    twi_cuda *c = (twi_cuda *)t;
    bench b = {.c = c, .error = error};
    twi_cuda_place place;
    twi_cu_context before;
    bool pushed = false;
    error[0] = 0;
    twi_cuda_image *image = twi_cuda_find_nvrtc(c) ? twi_cuda_compile(c, source) : NULL;
    if (!image)
        return TW_ERR_ENV; /* diagnostics */
    (void)pthread_mutex_lock(&c->lock);
    tw_status status = c->open ? TW_OK : twi_cuda_open_driver(c, error);
    if (status == TW_OK)
        status = twi_cuda_choose_context(c, &place, &pushed, error);
    (void)pthread_mutex_unlock(&c->lock);
    if (status == TW_OK)
        status = measure_all(&b, image, caps);
    if (pushed)
        (void)c->cu.context_pop(&before);
    twi_cuda_drop_image(c, image);
    return status;
}
