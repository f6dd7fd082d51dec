/* SPDX-License-Identifier: Apache-2.0
 * What calibration measures: small kernels at shapes of several cache levels. Prices are fitted to
 * some; the others are held out: other shapes of the same kernels, and kernels of their own.
 */
#ifndef TWI_TUNE_SUITE_H
#define TWI_TUNE_SUITE_H

#include "tilewright/compile.h"

typedef enum { TWI_SUITE_FIT, TWI_SUITE_SHAPE, TWI_SUITE_KERNEL } twi_suite_use;

typedef struct {
    const char *kernel, *type; /* T */
    int64_t dim[3];            /* in order of the kernel's dims */
    twi_suite_use use;
    bool shared; /* by all threads; else one thread alone */
} twi_suite_case;

extern const twi_suite_case twi_suite[];
extern const unsigned twi_suite_cases;
extern const char twi_suite_text[];                /* the kernels, as a program */
const char *twi_suite_use_name(twi_suite_use use); /* "fit", "shape", "kernel" */

#endif
