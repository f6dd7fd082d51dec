/* SPDX-License-Identifier: Apache-2.0
 * The portable functions: exp, log, tanh, erf of f32 as fixed sequences of IEEE operations, one
 * rounding each (docs/portable-functions.md has them step by step). The same bits everywhere.
 */
#ifndef TWI_ORACLE_PORTABLE_H
#define TWI_ORACLE_PORTABLE_H

float twi_portable_exp(float x);
float twi_portable_log(float x);
float twi_portable_tanh(float x);
float twi_portable_erf(float x);

/* What is proved of one of them over all f32 x: the result is within phi * |f(x)| + eta of f(x).
 * phi is in units of 2^-24; eta holds where the result may be subnormal. */
#define TWI_EXP_PHI 2.0
#define TWI_LOG_PHI 2.0
#define TWI_TANH_PHI 3.0
#define TWI_ERF_PHI 3.0

#endif
