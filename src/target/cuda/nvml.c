/* SPDX-License-Identifier: Apache-2.0
 * The state of the device while something is timed: clocks, temperature, reasons for lower clocks.
 * NVML is asked if it is there; nobody needs it.
 */
#include "target/cuda/cuda.h"

#include <dlfcn.h>
#include <stdio.h>

enum { SM = 1, MEMORY = 2, GPU_SENSOR = 0 };

/* Under the lock: the library once, the device by its place on the bus. */
static bool find(twi_cuda *c) {
    char bus[32] = "";
    if (c->asked_nvml)
        return c->nvml_device != NULL;
    c->asked_nvml = true;
    if (!twi_nvml_load(&c->nvml, c->nvml_path) || c->nvml.init() != 0)
        return false;
    if (c->cu.device_bus(bus, (int)sizeof bus, c->device) != 0 ||
        c->nvml.device(bus, &c->nvml_device) != 0)
        c->nvml_device = NULL;
    return c->nvml_device != NULL;
}

void twi_cuda_state(twi_cuda *c, tw_device_state *state) {
    *state = (tw_device_state){.known = false};
    (void)pthread_mutex_lock(&c->lock);
    if (find(c)) {
        unsigned long long reasons = 0;
        state->known = c->nvml.clock(c->nvml_device, SM, &state->sm_mhz) == 0 &&
                       c->nvml.clock(c->nvml_device, MEMORY, &state->memory_mhz) == 0 &&
                       c->nvml.temperature(c->nvml_device, GPU_SENSOR, &state->celsius) == 0 &&
                       c->nvml.throttle(c->nvml_device, &reasons) == 0;
        state->throttle = reasons;
    }
    (void)pthread_mutex_unlock(&c->lock);
}
