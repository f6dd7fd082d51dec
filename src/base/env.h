/* SPDX-License-Identifier: Apache-2.0
 * Environment variables, read in one place.
 */
#ifndef TWI_BASE_ENV_H
#define TWI_BASE_ENV_H

#include "base/context.h"

void twi_env_read(
    twi_env *env,
    twi_arena *arena); /* copies: later changes of the host's environment don't matter */

#endif
