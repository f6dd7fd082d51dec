/* SPDX-License-Identifier: Apache-2.0
 * What a cubin says of its kernels: read from the ELF image, no device needed.
 */
#ifndef TWI_TARGET_CUDA_CUBIN_H
#define TWI_TARGET_CUDA_CUBIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct {
    uint32_t registers; /* a worker */
    uint32_t shared;    /* static bytes a group; what the system reserves for itself counts too */
    uint32_t local;     /* bytes of stack a worker: spills and private arrays in memory */
    uint32_t code;      /* bytes */
} twi_cubin_figures;

/* False: the image is no cubin, is cut, or holds no such kernel. */
bool twi_cubin_read(const void *image, size_t n, const char *kernel, twi_cubin_figures *figures);

#endif
