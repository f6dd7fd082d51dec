/* SPDX-License-Identifier: Apache-2.0
 * Names of the diagnostics in diag.def.
 */
#ifndef TWI_TUNE_CODES_H
#define TWI_TUNE_CODES_H

enum {
#define TWI_DIAG(NAME, code, title) TWI_E_TUNE_##NAME = code,
#include "tune/diag.def"
#undef TWI_DIAG
};

#endif
