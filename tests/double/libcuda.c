/* SPDX-License-Identifier: Apache-2.0
 * See libcuda.h. Parameters that a test has no use for have no names in the public API either.
 */
#include "libcuda.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))
typedef unsigned long long address;

extern tw_double_cuda tw_double EXPORT;
tw_double_cuda tw_double = {.devices = 1, .major = 9, .replay_ms = 0.5f};
static int marks[2]; /* replays when an event was recorded */
static unsigned next_mark;
static int capturing;
enum { STACK = 80 };
static void *stack[STACK];

/* A call that ends captures: of this thread, unless it said that it knows. */
static void harms_captures(void) {
    tw_double.illegal += tw_double.capture != 0 || (capturing && tw_double.mode != 2);
}

#define CALL(name, parameters)                                                                     \
    EXPORT int name parameters;                                                                    \
    int name parameters

CALL(cuInit, (unsigned flags)) {
    tw_double.inits++;
    return flags ? 1 : tw_double.init_result;
}
CALL(cuDriverGetVersion, (int *version)) { return (*version = 13000, 0); }
CALL(cuGetErrorName, (int error, const char **name)) {
    *name = error == 2     ? "CUDA_ERROR_OUT_OF_MEMORY"
            : error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS"
            : error == 701 ? "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES"
                           : "CUDA_ERROR_OTHER";
    return 0;
}
CALL(cuGetErrorString, (int error, const char **text)) {
    *text = error ? "as the test wants" : "no error";
    return 0;
}
CALL(cuDeviceGetCount, (int *count)) { return (*count = tw_double.devices, 0); }
CALL(cuDeviceGet, (int *device, int ordinal)) { return (*device = ordinal + 40, 0); }
CALL(cuDeviceGetPCIBusId, (char *bus, int size, int device)) {
    strncpy(bus, "0000:0a:00.0", (size_t)size);
    return device < 40;
}
/* Of NVML: a device that gets warmer whenever somebody looks. */
CALL(nvmlInit_v2, (void)) { return 0; }
CALL(nvmlDeviceGetHandleByPciBusId_v2, (const char *bus, void **device)) {
    *device = &tw_double;
    return strcmp(bus, "0000:0a:00.0") != 0;
}
CALL(nvmlDeviceGetClockInfo, (void *device, int which, unsigned *mhz)) {
    *mhz = which == 1 ? 1980 : 2619;
    return device != &tw_double;
}
CALL(nvmlDeviceGetTemperature, (void *device, int sensor, unsigned *celsius)) {
    *celsius = 40 + tw_double.looks++;
    return device != &tw_double || sensor != 0;
}
CALL(nvmlDeviceGetCurrentClocksThrottleReasons, (void *device, unsigned long long *reasons)) {
    return (*reasons = 4, device != &tw_double);
}
CALL(cuDeviceGetName, (char *name, int size, int device)) {
    strncpy(name, device == 40 ? "double" : "another", (size_t)size);
    return 0;
}
CALL(cuDeviceGetAttribute, (int *value, int attribute, int device)) {
    static const struct {
        int attribute, value;
    } rows[] = {{1, 1024}, {10, 32}, {16, 132}, {97, 232448}};
    *value = attribute == 75 ? tw_double.major : attribute == 76 ? tw_double.minor : 0;
    for (size_t k = 0; k < sizeof rows / sizeof *rows; k++)
        if (rows[k].attribute == attribute)
            *value = rows[k].value;
    return device < 40;
}
CALL(cuDevicePrimaryCtxRetain, (void **context, int device)) {
    *context = &tw_double;
    return device < 40;
}
CALL(cuDevicePrimaryCtxRelease_v2, (int device)) { return device < 40; }
CALL(cuCtxPushCurrent_v2, (void *context)) {
    if (tw_double.pushed >= STACK || !context)
        return 1;
    stack[tw_double.pushed++] = tw_double.current;
    tw_double.current = context;
    return 0;
}
CALL(cuCtxPopCurrent_v2, (void **context)) {
    *context = tw_double.current;
    if (tw_double.pushed <= 0)
        return 1;
    tw_double.current = stack[--tw_double.pushed];
    return 0;
}
CALL(cuCtxGetCurrent, (void **context)) {
    *context = tw_double.current;
    return tw_double.inits ? 0 : 3;
}
CALL(cuCtxGetDevice, (int *device)) {
    *device = tw_double.current == &tw_double || !tw_double.foreign ? 40 : tw_double.foreign;
    return tw_double.current == NULL;
}
CALL(cuCtxGetId, (void *context, unsigned long long *id)) { return (*id = (uintptr_t)context, 0); }
CALL(cuPointerGetAttributes, (unsigned n, int *attribute, void **value, address pointer)) {
    const struct tw_double_range none = {NULL, 0, 0, 0, 0}, *r = &none;
    for (unsigned k = 0; k < 4; k++)
        if (pointer - (uintptr_t)tw_double.range[k].start < tw_double.range[k].size)
            r = &tw_double.range[k];
    for (unsigned k = 0; k < n; k++) {
        if (attribute[k] == 11)
            memcpy(value[k], &r->start, sizeof r->start);
        else if (attribute[k] == 12)
            memcpy(value[k], &r->size, sizeof r->size);
        else
            memcpy(value[k],
                   attribute[k] == 2   ? &r->type
                   : attribute[k] == 8 ? &r->managed
                                       : &r->device,
                   sizeof(int));
    }
    return 0;
}
CALL(cuModuleLoadDataEx,
     (void **module, const void *image, unsigned n, int *option, void **value)) {
    harms_captures();
    tw_double.loaded_in = tw_double.current;
    if (tw_double.load_result) {
        if (n == 2 && option[0] == 5)
            memcpy(value[0], "no kernel image", sizeof "no kernel image");
        return tw_double.load_result;
    }
    tw_double.modules++;
    *module = malloc(1);
    return memcmp(image, "\177ELF", 4) != 0;
}
CALL(cuModuleUnload, (void *module)) {
    free(module);
    tw_double.modules--;
    return 0;
}
CALL(cuModuleGetFunction, (void **function, void *module, const char *name)) {
    union {
        const char *in;
        void *out;
    } u = {name}; /* the target keeps it as long as the function */
    *function = u.out;
    return module == NULL;
}
CALL(cuFuncSetAttribute, (void *function, int attribute, int value)) {
    return !function || attribute != 8 || value <= 49152;
}
CALL(cuLaunchKernel,
     (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
      unsigned shared, void *stream, void **parameter, void **extra)) {
    if (gy != 1 || gz != 1 || by != 1 || bz != 1 || bx > 1024 ||
        (!stream && tw_double.refuse_null) || extra)
        return 1;
    if (tw_double.launch_result)
        return tw_double.launch_result;
    tw_double.launches++;
    tw_double.captured += capturing != 0 || tw_double.capture == 1;
    tw_double.stream = stream;
    if (tw_double.kernel)
        tw_double.kernel(function, gx, bx, shared, parameter);
    return 0;
}
CALL(cuMemAlloc_v2, (address * at, size_t size)) {
    void *p = NULL;
    harms_captures();
    tw_double.allocated++;
    if (tw_double.alloc_result) {
        tw_double.allocated--;
        return tw_double.alloc_result;
    }
    const int failed = posix_memalign(&p, 256, size ? size : 1);
    *at = (uintptr_t)p;
    return failed;
}
CALL(cuMemFree_v2, (address at)) {
    harms_captures();
    free((void *)(uintptr_t)at);
    tw_double.allocated--;
    return 0;
}
CALL(cuMemcpyHtoDAsync_v2, (address to, const void *from, size_t size, void *stream)) {
    memcpy((void *)(uintptr_t)to, from, size);
    return !stream && tw_double.refuse_null;
}
CALL(cuMemcpyDtoHAsync_v2, (void *to, address from, size_t size, void *stream)) {
    memcpy(to, (void *)(uintptr_t)from, size);
    return !stream && tw_double.refuse_null;
}
static int fill(address at, size_t pitch, uint64_t value, size_t size, size_t width, size_t n) {
    tw_double.fills++;
    if (width > 1u << 24) /* of what a test looks at nothing is so large */
        return 0;
    for (size_t row = 0; row < n; row++)
        for (size_t k = 0; k < width; k++)
            memcpy((char *)(uintptr_t)at + row * pitch + k * size, &value, size);
    return 0;
}
CALL(cuMemsetD2D8Async,
     (address at, size_t pitch, unsigned char value, size_t width, size_t height, void *stream)) {
    return stream || !tw_double.refuse_null ? fill(at, pitch, value, 1, width, height) : 1;
}
CALL(cuMemsetD2D16Async,
     (address at, size_t pitch, unsigned short value, size_t width, size_t height, void *stream)) {
    return stream || !tw_double.refuse_null ? fill(at, pitch, value, 2, width, height) : 1;
}
CALL(cuMemsetD2D32Async,
     (address at, size_t pitch, unsigned value, size_t width, size_t height, void *stream)) {
    return stream || !tw_double.refuse_null ? fill(at, pitch, value, 4, width, height) : 1;
}
CALL(cuStreamCreate, (void **stream, unsigned flags)) {
    tw_double.streams++;
    *stream = malloc(1);
    return flags != 1;
}
CALL(cuStreamDestroy_v2, (void *stream)) {
    free(stream);
    tw_double.streams--;
    return 0;
}
CALL(cuStreamSynchronize, (void *stream)) {
    const int result = tw_double.launches ? tw_double.wait_result : 0;
    tw_double.wait_result = result ? 0 : tw_double.wait_result;
    harms_captures();
    return stream || !tw_double.refuse_null ? result : 1;
}
/* Ends a capture of the stream (seen with driver 580.159.04). */
CALL(cuStreamGetId, (void *stream, unsigned long long *id)) {
    tw_double.illegal += tw_double.capture != 0;
    return tw_double.capture ? 900 : (*id = (uintptr_t)stream, 0);
}
CALL(cuThreadExchangeStreamCaptureMode, (int *mode)) {
    const int before = tw_double.mode;
    tw_double.mode = *mode;
    *mode = before;
    return 0;
}
CALL(cuStreamIsCapturing, (void *stream, int *status)) {
    (void)stream;
    return (*status = tw_double.capture, 0);
}
CALL(cuStreamBeginCapture_v2, (void *stream, int mode)) {
    capturing = 1;
    return !stream || mode != 1;
}
CALL(cuStreamEndCapture, (void *stream, void **graph)) {
    capturing = 0;
    tw_double.graphs++;
    *graph = malloc(1);
    return stream == NULL;
}
CALL(cuGraphInstantiateWithFlags, (void **exec, void *graph, unsigned long long flags)) {
    tw_double.graphs++;
    *exec = malloc(1);
    return !graph || flags;
}
CALL(cuGraphLaunch, (void *exec, void *stream)) {
    tw_double.replays++;
    return !exec || !stream;
}
CALL(cuGraphExecDestroy, (void *exec)) {
    free(exec);
    tw_double.graphs--;
    return 0;
}
CALL(cuGraphDestroy, (void *graph)) {
    free(graph);
    tw_double.graphs--;
    return 0;
}
CALL(cuEventCreate, (void **event, unsigned flags)) {
    tw_double.events++;
    *event = &marks[next_mark++ % 2];
    return flags != 0;
}
CALL(cuEventDestroy_v2, (void *event)) {
    tw_double.events--;
    return event == NULL;
}
CALL(cuEventRecord, (void *event, void *stream)) {
    *(int *)event = (int)tw_double.replays;
    return stream == NULL;
}
CALL(cuEventElapsedTime, (float *ms, void *start, void *end)) {
    *ms = (float)(*(int *)end - *(int *)start) * tw_double.replay_ms;
    return 0;
}
