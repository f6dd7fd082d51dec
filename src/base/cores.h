/* SPDX-License-Identifier: Apache-2.0
 * How many cores there are for this thread and those it starts.
 */
#ifndef TWI_BASE_CORES_H
#define TWI_BASE_CORES_H

/* Those that its affinity lets it run on (taskset, cpusets), where the system says so; else all
 * that are on. At least 1. */
int twi_cores(void);

#endif
