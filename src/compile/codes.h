/* SPDX-License-Identifier: Apache-2.0
 * Names of the diagnostics in diag.def.
 */
#ifndef TWI_COMPILE_CODES_H
#define TWI_COMPILE_CODES_H

enum {
#define TWI_DIAG(NAME, code, title) TWI_E_PATH_##NAME = code,
#include "compile/diag.def"
#undef TWI_DIAG
};

#endif
