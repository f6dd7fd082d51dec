/* SPDX-License-Identifier: Apache-2.0
 * Loading the two libraries by the tables of api.def.
 */
#include "target/cuda/api.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

const char *const twi_cu_names[] = {"libcuda.so.1", "libcuda.so", NULL};
const char *const twi_nvrtc_names[] = {"libnvrtc.so.13",
                                       "libnvrtc.so.12",
                                       "libnvrtc.so.11.2",
                                       "libnvrtc.so",
                                       "/usr/local/cuda/lib64/libnvrtc.so",
                                       NULL};

typedef struct {
    const char *name;
    size_t offset; /* of the pointer in the table */
    bool late;     /* may be missing */
} symbol;

static const symbol driver[] = {
#define TWI_CU(member, symbol, parameters) {#symbol, offsetof(twi_cu_api, member), false},
#define TWI_CU_LATE(member, symbol, parameters) {#symbol, offsetof(twi_cu_api, member), true},
#include "target/cuda/api.def"
};
static const symbol management[] = {
#define TWI_NVML(member, symbol, parameters) {#symbol, offsetof(twi_nvml_api, member), false},
#include "target/cuda/api.def"
};
static const symbol compiler[] = {
#define TWI_NVRTC(member, symbol, parameters) {#symbol, offsetof(twi_nvrtc_api, member), false},
#include "target/cuda/api.def"
};

static void *open_one(const char *path, const char *const *names, char why[TWI_API_WHY]) {
    const char *one[] = {path, NULL};
    size_t n = 0;
    why[0] = 0;
    for (const char *const *name = path ? one : names; *name; name++) {
        void *handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL);
        if (handle)
            return handle;
        const char *said = dlerror();
        const int put =
            snprintf(why + n, TWI_API_WHY - n, "%s%.200s", n ? "; " : "", said ? said : *name);
        n += put > 0 ? (size_t)put : 0;
        n = n < TWI_API_WHY - 1 ? n : TWI_API_WHY - 1;
    }
    return NULL;
}

static bool load(char *table, const symbol *s, size_t n, const char *path, const char *const *names,
                 char why[TWI_API_WHY]) {
    void *handle = open_one(path, names, why);
    for (size_t k = 0; handle && k < n; k++) {
        void *at = dlsym(handle, s[k].name);
        if (!at && !s[k].late) {
            (void)snprintf(why, TWI_API_WHY, "%.200s has no %s: too old, or another library",
                           path ? path : names[0], s[k].name);
            (void)dlclose(handle);
            return false;
        }
        memcpy(table + s[k].offset, &at, sizeof at); /* POSIX: data pointers hold functions */
    }
    return handle != NULL;
}

bool twi_cu_is_loaded(const char *path) {
    const char *one[] = {path, NULL};
    for (const char *const *name = path ? one : twi_cu_names; *name; name++) {
        void *handle = dlopen(*name, RTLD_NOW | RTLD_LOCAL | RTLD_NOLOAD);
        if (handle) {
            (void)dlclose(handle);
            return true;
        }
    }
    return false;
}

bool twi_cu_load(twi_cu_api *api, const char *path, char why[TWI_API_WHY]) {
    return load((char *)api, driver, sizeof driver / sizeof *driver, path, twi_cu_names, why);
}

bool twi_nvml_load(twi_nvml_api *api, const char *path) {
    static const char *const names[] = {"libnvidia-ml.so.1", NULL};
    char why[TWI_API_WHY];
    return load((char *)api, management, sizeof management / sizeof *management, path, names, why);
}

bool twi_nvrtc_load(twi_nvrtc_api *api, const char *path, char why[TWI_API_WHY]) {
    return load((char *)api, compiler, sizeof compiler / sizeof *compiler, path, twi_nvrtc_names,
                why);
}
