/* SPDX-License-Identifier: Apache-2.0
 * Finding the loader, its functions, and a device; devices of all platforms are numbered in order.
 */
#define _DEFAULT_SOURCE /* RTLD_NOLOAD where the system has it */
#include "target/opencl/opencl.h"

#include <dlfcn.h>
#include <stdio.h>
#include <unistd.h>

enum { MOST_PLATFORMS = 16, MOST_DEVICES = 64 };

const char *twi_cl_words(int32_t error) {
    static const struct {
        int32_t number;
        const char *words;
    } table[] = {
#define TWI_CL_ERROR(number, words) {number, words},
#include "target/opencl/opencl.def"
#undef TWI_CL_ERROR
    };
    for (size_t k = 0; k < sizeof table / sizeof *table; k++)
        if (table[k].number == error)
            return table[k].words;
    return "an error that has no words";
}

bool twi_cl_loaded(const char *path) {
#ifdef RTLD_NOLOAD
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
    if (library)
        (void)dlclose(library);
    return library != NULL;
#else
    (void)path;
    return true;
#endif
}

static bool load(twi_cl_runtime *rt, const char *path, char error[TWI_ERROR_TEXT]) {
    static const struct {
        const char *name;
        size_t at;
    } table[] = {
#define TWI_CL(name, arguments) {#name, offsetof(twi_cl, name)},
#define TWI_CL_MAKE(name, arguments) {#name, offsetof(twi_cl, name)},
#include "target/opencl/opencl.def"
#undef TWI_CL
#undef TWI_CL_MAKE
    };
    rt->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!rt->library) {
        const char *why = dlerror();
        (void)snprintf(error, TWI_ERROR_TEXT, "no OpenCL: %.200s", why ? why : path);
        return false;
    }
    for (size_t k = 0; k < sizeof table / sizeof *table; k++) {
        void *symbol = dlsym(rt->library, table[k].name);
        if (!symbol) {
            (void)snprintf(error, TWI_ERROR_TEXT, "%.150s is no OpenCL loader: it has no %s", path,
                           table[k].name);
            return false;
        }
        memcpy((char *)&rt->cl + table[k].at, &symbol, sizeof symbol);
    }
    return true;
}

static bool failed(char error[TWI_ERROR_TEXT], const char *call, int32_t code) {
    (void)snprintf(error, TWI_ERROR_TEXT, "%s: %s (%d)", call, twi_cl_words(code), (int)code);
    return false;
}

static bool pick(twi_cl_runtime *rt, unsigned index, char error[TWI_ERROR_TEXT]) {
    void *platform[MOST_PLATFORMS], *device[MOST_DEVICES];
    uint32_t platforms = 0, total = 0;
    const int32_t code = rt->cl.clGetPlatformIDs(MOST_PLATFORMS, platform, &platforms);
    if (code != 0)
        return failed(error, "clGetPlatformIDs", code);
    for (uint32_t p = 0; p < platforms && p < MOST_PLATFORMS; p++) {
        uint32_t n = 0;
        if (rt->cl.clGetDeviceIDs(platform[p], 0xffffffffu, MOST_DEVICES, device, &n) != 0)
            continue;
        n = n < MOST_DEVICES ? n : MOST_DEVICES;
        if (index >= total && index - total < n)
            rt->device = device[index - total];
        total += n;
    }
    if (!rt->device)
        (void)snprintf(error, TWI_ERROR_TEXT, "there is no OpenCL device %u: the drivers have %u",
                       index, (unsigned)total);
    return rt->device != NULL;
}

static bool listed(const char *extensions, const char *name) {
    const size_t n = strlen(name);
    for (const char *at = extensions; (at = strstr(at, name)) != NULL; at += n)
        if ((at == extensions || at[-1] == ' ') && (!at[n] || at[n] == ' '))
            return true;
    return false;
}

uint32_t twi_cl_lanes(const char *extensions, const size_t *size, size_t n) {
    static const char *const needed[] = {"cl_khr_subgroups", "cl_khr_subgroup_shuffle",
                                         "cl_intel_required_subgroup_size"};
    enum { MOST = 16 }; /* twice the lanes have half the registers each */
    size_t most = 1;
    for (size_t k = 0; k < sizeof needed / sizeof *needed; k++)
        if (!listed(extensions, needed[k]))
            return 1;
    for (size_t k = 0; k < n; k++)
        if (size[k] > most && size[k] <= MOST && (size[k] & (size[k] - 1)) == 0)
            most = size[k];
    return (uint32_t)most;
}

/* What does not fit into the room for it is not answered: then nothing is listed. */
static uint32_t lanes_of(const twi_cl_runtime *rt) {
    enum { EXTENSIONS = 0x1030, SIZES = 0x4108 };
    char extensions[16384] = "";
    size_t size[16] = {0}, bytes = 0;
    (void)rt->cl.clGetDeviceInfo(rt->device, EXTENSIONS, sizeof extensions, extensions, NULL);
    extensions[sizeof extensions - 1] = 0;
    if (rt->cl.clGetDeviceInfo(rt->device, SIZES, sizeof size, size, &bytes) != 0)
        return 1;
    return twi_cl_lanes(extensions, size, bytes / sizeof *size);
}

static void describe(twi_cl_runtime *rt) {
    const struct {
        uint32_t what;
        size_t size;
        void *at;
    } asked[] = {{0x1000, 8, &rt->is.type},
                 {0x1002, 4, &rt->is.units},
                 {0x1004, 8, &rt->is.workers},
                 {0x1023, 8, &rt->is.shared},
                 {0x1035, 4, &rt->is.unified},
                 {0x101B, 8, &rt->is.single},
                 {0x1032, 8, &rt->is.doubles},
                 {0x102B, sizeof rt->is.name, rt->is.name},
                 {0x102D, sizeof rt->is.version, rt->is.version},
                 {0x102F, sizeof rt->is.speaks, rt->is.speaks}};
    memset(&rt->is, 0, sizeof rt->is);
    for (size_t k = 0; k < sizeof asked / sizeof *asked; k++)
        (void)rt->cl.clGetDeviceInfo(rt->device, asked[k].what, asked[k].size, asked[k].at, NULL);
    rt->is.name[sizeof rt->is.name - 1] = rt->is.version[sizeof rt->is.version - 1] = 0;
    rt->is.speaks[sizeof rt->is.speaks - 1] = 0;
    rt->is.lanes = lanes_of(rt);
}

bool twi_cl_start(twi_cl_runtime *rt, const char *path, unsigned index,
                  char error[TWI_ERROR_TEXT]) {
    int32_t code = 0;
    memset(rt, 0, sizeof *rt);
    if (!load(rt, path, error) || !pick(rt, index, error)) {
        twi_cl_stop(rt);
        return false;
    }
    describe(rt);
    rt->context = rt->cl.clCreateContext(NULL, 1, &rt->device, NULL, NULL, &code);
    if (rt->context)
        rt->queue = rt->cl.clCreateCommandQueue(rt->context, rt->device, 0, &code);
    if (!rt->queue) {
        (void)failed(error, rt->context ? "clCreateCommandQueue" : "clCreateContext", code);
        twi_cl_stop(rt);
        return false;
    }
    rt->pid = getpid();
    return true;
}

/* Of a runtime that another process opened nothing can be given back. */
void twi_cl_stop(twi_cl_runtime *rt) {
    if (rt->pid == 0 || rt->pid == getpid()) {
        if (rt->queue)
            (void)rt->cl.clReleaseCommandQueue(rt->queue);
        if (rt->context)
            (void)rt->cl.clReleaseContext(rt->context);
        /* The library stays: drivers keep threads that run its code. */
    }
    memset(rt, 0, sizeof *rt);
}

bool twi_cl_here(twi_opencl *t, char error[TWI_ERROR_TEXT]) {
    if (t->rt.pid == getpid())
        return true;
    if (t->rt.pid == 0)
        return twi_cl_start(&t->rt, t->path, t->index, error);
    (void)snprintf(error, TWI_ERROR_TEXT,
                   "this process was forked from one that had OpenCL open; drivers do not survive "
                   "that: fork before the first launch");
    return false;
}
