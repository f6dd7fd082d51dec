/* SPDX-License-Identifier: Apache-2.0
 * NVIDIA's driver and run-time compiler, loaded when first needed: tables of pointers made from
 * api.def. No CUDA header is needed; types and numbers are those of the public API. A library that
 * was loaded stays until the process ends (threads of its own may run in it).
 */
#ifndef TWI_TARGET_CUDA_API_H
#define TWI_TARGET_CUDA_API_H

#include <stdbool.h>
#include <stddef.h>

typedef struct CUctx_st *twi_cu_context;
typedef struct CUmod_st *twi_cu_module;
typedef struct CUfunc_st *twi_cu_function;
typedef struct CUstream_st *twi_cu_stream;
typedef struct CUgraph_st *twi_cu_graph;
typedef struct CUgraphExec_st *twi_cu_graph_exec;
typedef struct CUevent_st *twi_cu_event;
typedef struct nvrtcProgram_st *twi_nvrtc_program;
typedef struct nvmlDevice_st *twi_nvml_device;
typedef unsigned long long twi_cu_address;

/* Attributes of a device. */
enum {
    TWI_CU_WORKERS = 1, /* MAX_THREADS_PER_BLOCK */
    TWI_CU_LANES = 10,  /* WARP_SIZE */
    TWI_CU_UNITS = 16,  /* MULTIPROCESSOR_COUNT */
    TWI_CU_MAJOR = 75,  /* COMPUTE_CAPABILITY_MAJOR */
    TWI_CU_MINOR = 76,  /* COMPUTE_CAPABILITY_MINOR */
    TWI_CU_SHARED = 97  /* MAX_SHARED_MEMORY_PER_BLOCK_OPTIN */
};
/* Results, flags and options. */
enum {
    TWI_CU_NO_MEMORY = 2,
    TWI_CU_STREAM_NON_BLOCKING = 1,
    TWI_CU_CAPTURE_THREAD_LOCAL = 1,
    TWI_CU_CAPTURE_RELAXED = 2,
    TWI_CU_DYNAMIC_SHARED = 8, /* MAX_DYNAMIC_SHARED_SIZE_BYTES, of a function */
    TWI_CU_JIT_LOG = 5,        /* ERROR_LOG_BUFFER */
    TWI_CU_JIT_LOG_SIZE = 6    /* ERROR_LOG_BUFFER_SIZE_BYTES */
};
/* Attributes of a pointer. */
enum {
    TWI_CU_MEMORY_TYPE = 2,    /* 0: not the driver's, 1: of the host, 2: of a device */
    TWI_CU_MEMORY_MANAGED = 8, /* both */
    TWI_CU_MEMORY_DEVICE = 9,  /* its ordinal */
    TWI_CU_RANGE_START = 11,
    TWI_CU_RANGE_SIZE = 12
};

typedef struct {
#define TWI_CU(member, symbol, parameters) int(*member) parameters;
#define TWI_CU_LATE(member, symbol, parameters) int(*member) parameters;
#include "target/cuda/api.def"
} twi_cu_api;

typedef struct {
#define TWI_NVRTC(member, symbol, parameters) int(*member) parameters;
#include "target/cuda/api.def"
} twi_nvrtc_api;

typedef struct {
#define TWI_NVML(member, symbol, parameters) int(*member) parameters;
#include "target/cuda/api.def"
} twi_nvml_api;

enum { TWI_API_WHY = 400 };
/* path NULL: the usual names. False: why says what was tried, or which symbol is missing. */
bool twi_cu_is_loaded(const char *path); /* by whomever */
bool twi_cu_load(twi_cu_api *api, const char *path, char why[TWI_API_WHY]);
bool twi_nvml_load(twi_nvml_api *api, const char *path);
bool twi_nvrtc_load(twi_nvrtc_api *api, const char *path, char why[TWI_API_WHY]);
/* Names by which the libraries are looked for, in order; NULL ends. */
extern const char *const twi_cu_names[], *const twi_nvrtc_names[];

#endif
