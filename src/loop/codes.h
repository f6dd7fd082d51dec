/* SPDX-License-Identifier: Apache-2.0
 * Codes of loop IR's diagnostics (diag.def).
 */
#ifndef TWI_LOOP_CODES_H
#define TWI_LOOP_CODES_H

typedef enum {
#define TWI_DIAG(NAME, code, title) TWI_LOOP_E_##NAME = code,
#include "loop/diag.def"
#undef TWI_DIAG
} twi_loop_code;

#endif
