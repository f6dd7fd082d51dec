/* SPDX-License-Identifier: Apache-2.0
 * Numbers of tile IR's diagnostics (diag.def).
 */
#ifndef TWI_IR_CODES_H
#define TWI_IR_CODES_H

enum {
#define TWI_DIAG(NAME, code, title) TWI_E_##NAME = code,
#include "ir/diag.def"
#undef TWI_DIAG
    TWI_E_END
};

#endif
