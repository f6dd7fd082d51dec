/* SPDX-License-Identifier: Apache-2.0
 * The run-time compiler: source to cubin. Flags forbid whatever would change bits: no contraction,
 * subnormals kept, divide and square root rounded correctly. An architecture that the compiler does
 * not know yet gets PTX for the newest that it knows, which the driver finishes.
 */
#include "target/codes.h"
#include "target/cuda/cuda.h"

#include <stdlib.h>

enum { MOST_ARCHS = 128, LOG_SHOWN = 6000 };

bool twi_cuda_find_nvrtc(twi_cuda *c) {
    tw_context *ctx = c->base.ctx;
    char why[TWI_API_WHY];
    int major = 0, minor = 0;
    if (c->have_nvrtc)
        return true;
    if (!twi_nvrtc_load(&c->nvrtc, ctx->env.nvrtc, why)) {
        twi_error(&ctx->diags, TWI_E_NO_NVRTC, (twi_loc){0, 0},
                  "TILEWRIGHT_NVRTC names the library (libnvrtc.so.13)",
                  "NVRTC, which compiles CUDA source, cannot be loaded: %s", why);
        return false;
    }
    c->have_nvrtc = c->nvrtc.version(&major, &minor) == 0;
    c->base.version = twi_format(&ctx->arena, "NVRTC %d.%d", major, minor);
    if (!c->have_nvrtc)
        twi_error(&ctx->diags, TWI_E_NO_NVRTC, (twi_loc){0, 0}, NULL,
                  "NVRTC does not tell its version");
    return c->have_nvrtc;
}

/* "sm_90a" is 90; 0: no such name. */
static int number_of(const char *arch) {
    if (strncmp(arch, "sm_", 3) != 0)
        return 0;
    char *end;
    const long n = strtol(arch + 3, &end, 10);
    return end > arch + 3 && n > 0 && n < 10000 && strlen(end) <= 1 ? (int)n : 0;
}

/* The option that names the architecture; *ptx: the compiler is older than the device. */
static const char *arch_option(twi_cuda *c, bool *ptx) {
    tw_context *ctx = c->base.ctx;
    const char *name = twi_text(&ctx->names, c->base.caps.name);
    int known[MOST_ARCHS], n = 0, newest = 0;
    const int wanted = number_of(name);
    *ptx = true;
    if (!wanted) {
        twi_error(&ctx->diags, TWI_E_ARCH, (twi_loc){0, 0}, NULL,
                  "'%s' names no CUDA architecture (sm_80, sm_90a, ..)", name);
        return NULL;
    }
    if (c->nvrtc.arch_count(&n) != 0 || n <= 0 || n > MOST_ARCHS || c->nvrtc.archs(known) != 0)
        n = 0;
    for (int k = 0; k < n; k++) {
        newest = known[k] > newest && known[k] <= wanted ? known[k] : newest;
        *ptx = *ptx && known[k] != wanted;
    }
    if (*ptx && !newest) {
        twi_error(&ctx->diags, TWI_E_ARCH, (twi_loc){0, 0}, NULL,
                  "%s does not know %s, nor anything older", c->base.version, name);
        return NULL;
    }
    return *ptx ? twi_format(&ctx->arena, "-arch=compute_%d", newest)
                : twi_format(&ctx->arena, "-arch=%s", name);
}

static void refused(twi_cuda *c, twi_nvrtc_program program, int result) {
    size_t n = 0;
    char *log = NULL;
    if (c->nvrtc.log_size(program, &n) == 0 && n > 1)
        log = malloc(n);
    if (log && c->nvrtc.log(program, log) != 0)
        log[0] = 0;
    twi_error(&c->base.ctx->diags, TWI_E_NVRTC, (twi_loc){0, 0}, NULL,
              "%s refused the emitted source (result %d)%s%.*s", c->base.version, result,
              log ? "; it said:\n" : " and said nothing", LOG_SHOWN, log ? log : "");
    free(log);
}

/* The product, in memory of the context. */
static twi_cuda_image *product(twi_cuda *c, twi_nvrtc_program program, bool ptx) {
    twi_mem *mem = &c->base.ctx->mem;
    size_t n = 0;
    const int result = ptx ? c->nvrtc.ptx_size(program, &n) : c->nvrtc.cubin_size(program, &n);
    char *at = result == 0 && n ? malloc(n) : NULL;
    if (!at || (ptx ? c->nvrtc.ptx(program, at) : c->nvrtc.cubin(program, at)) != 0) {
        free(at);
        twi_error(&c->base.ctx->diags, TWI_E_NVRTC, (twi_loc){0, 0}, NULL,
                  "%s left no code (result %d)", c->base.version, result);
        return NULL;
    }
    jmp_buf spot, *saved;
    if (TWI_GUARD(mem, spot, saved)) {
        TWI_UNGUARD(mem, saved);
        free(at);
        return NULL;
    }
    twi_cuda_image *image = twi_mem_get(mem, sizeof *image);
    *image = (twi_cuda_image){.at = at, .n = n, .ptx = ptx, .users = 1};
    TWI_UNGUARD(mem, saved);
    return image;
}

twi_cuda_image *twi_cuda_compile(twi_cuda *c, const char *source) {
    bool ptx;
    twi_nvrtc_program program = NULL;
    const char *arch = arch_option(c, &ptx);
    if (!arch)
        return NULL;
    const char *const option[] = {arch,
                                  "--fmad=false",
                                  "--ftz=false",
                                  "--prec-div=true",
                                  "--prec-sqrt=true",
                                  "-default-device",
                                  "--std=c++17"};
    int result = c->nvrtc.create(&program, source, "tilewright.cu", 0, NULL, NULL);
    if (result != 0) {
        twi_error(&c->base.ctx->diags, TWI_E_NVRTC, (twi_loc){0, 0}, NULL,
                  "%s made no program (result %d)", c->base.version, result);
        return NULL;
    }
    result = c->nvrtc.compile(program, (int)(sizeof option / sizeof *option), option);
    twi_cuda_image *image = NULL;
    if (result == 0)
        image = product(c, program, ptx);
    else
        refused(c, program, result);
    (void)c->nvrtc.destroy(&program);
    return image;
}

void twi_cuda_drop_image(twi_cuda *c, twi_cuda_image *image) {
    if (!image || --image->users)
        return;
    twi_cuda_unload(c, image);
    free(image->at);
    twi_mem_put(&c->base.ctx->mem, image, sizeof *image);
}
