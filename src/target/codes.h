/* SPDX-License-Identifier: Apache-2.0
 * Names of the diagnostics in diag.def.
 */
#ifndef TWI_TARGET_CODES_H
#define TWI_TARGET_CODES_H

enum {
#define TWI_DIAG(NAME, code, title) TWI_E_##NAME = code,
#include "target/diag.def"
#undef TWI_DIAG
};

#endif
