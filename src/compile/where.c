/* SPDX-License-Identifier: Apache-2.0
 * Targets by name: cpu, interp[:CAPS], cuda[:N], opencl[:N], and recorded caps for texts.
 */
#include "compile/path.h"
#include "target/codes.h"

static bool no_target(tw_context *ctx, const char *name) {
    twi_error(&ctx->diags, TWI_E_PATH_TARGET, (twi_loc){0, 0},
              "cpu, cuda, opencl, ref, interp, interp:simt4, or for texts simt32, simt4, sm_80, "
              "sm_90a, sm_100, opencl-a770, cpu-baseline, cpu-neon, cpu-avx2, cpu-avx512, "
              "cpu-avx512-dots, cpu-avx512-tiles",
              "there is no target '%.200s'", name);
    return false;
}

/* --pin isa=avx2 picks the machine description that the pin asks for. */
static const char *pinned_isa(const char *const *pins, size_t n) {
    for (size_t k = 0; k < n; k++)
        if (strncmp(pins[k], "isa=", 4) == 0)
            return pins[k] + 4;
    return NULL;
}

/* This machine, or the record of an instruction set that it lacks: for texts. */
static bool find_cpu(tw_context *ctx, const char *isa, twi_where *out) {
    const char *record = isa ? twi_cpu_record(isa) : NULL;
    if (isa && !record) {
        twi_error(&ctx->diags, TWI_E_BAD_ISA, (twi_loc){0, 0}, "isa=avx512, avx2, neon or baseline",
                  "there is no instruction set '%.200s'", isa);
        return false;
    }
    if (!isa || twi_cpu_has(ctx, isa))
        return twi_cpu_caps(ctx, isa, &out->caps);
    out->kind = TWI_WHERE_NOWHERE;
    return twi_caps_named(ctx, record, &out->caps);
}

static bool is_later(tw_context *ctx, const char *name) {
    static const char *const later[] = {"metal"};
    for (size_t k = 0; k < sizeof later / sizeof later[0]; k++) {
        size_t n = strlen(later[k]);
        if (strncmp(name, later[k], n) != 0 || (name[n] && name[n] != ':'))
            continue;
        twi_error(&ctx->diags, TWI_E_PATH_TARGET, (twi_loc){0, 0}, NULL,
                  "target %s is not built yet", later[k]);
        return true;
    }
    return false;
}

/* "NAME" or "NAME:N": the number N of a device. */
static bool is_device(const char *name, const char *of, unsigned *device) {
    const size_t n = strlen(of);
    int64_t k = 0;
    if (strncmp(name, of, n) != 0 || (name[n] && name[n] != ':'))
        return false;
    if (name[n] && (!twi_parse_i64(name + n + 1, strlen(name + n + 1), &k) || k < 0 || k > 99999))
        return false;
    *device = (unsigned)k;
    return true;
}

bool twi_where_find(tw_context *ctx, const char *target, const tw_source *caps,
                    const char *const *pins, size_t n_pins, twi_where *out) {
    const char *name = target ? target : "cpu";
    bool given = caps && caps->text;
    *out = (twi_where){.kind = TWI_WHERE_NOWHERE, .name = name};
    if (given && !twi_caps_parse(ctx, caps->name, caps->text, caps->n, &out->caps))
        return false;
    if (strcmp(name, "cpu") == 0 || strcmp(name, "ref") == 0) {
        out->kind = TWI_WHERE_CPU;
        return given || find_cpu(ctx, pinned_isa(pins, n_pins), out);
    }
    if (strncmp(name, "interp", 6) == 0 && (!name[6] || name[6] == ':')) {
        const char *of = name[6] ? name + 7 : "simt32";
        out->kind = TWI_WHERE_INTERP;
        return given || twi_caps_named(ctx, of, &out->caps) || no_target(ctx, name);
    }
    if (is_device(name, "cuda", &out->device)) {
        out->kind = TWI_WHERE_CUDA;
        return given || twi_cuda_caps(ctx, out->device, &out->caps);
    }
    if (is_device(name, "opencl", &out->device)) {
        out->kind = TWI_WHERE_OPENCL;
        return given || twi_opencl_caps(ctx, out->device, &out->caps);
    }
    if (given && strcmp(name, "caps") == 0)
        return true;
    if (is_later(ctx, name))
        return false;
    twi_caps named;
    if (!twi_caps_named(ctx, name, &named))
        return no_target(ctx, name);
    if (!given)
        out->caps = named;
    return true;
}

const twi_dialect *twi_where_dialect(const tw_context *ctx, const twi_where *where) {
    if (where->caps.family == TWI_FAMILY_CPU)
        return &twi_dialect_c;
    static const struct {
        const char *prefix; /* of the name that the caps have */
        const twi_dialect *dialect;
    } spoken[] = {{"sm_", &twi_dialect_cuda}, {"opencl", &twi_dialect_opencl}};
    const char *name = twi_text(&ctx->names, where->caps.name);
    for (size_t k = 0; k < sizeof spoken / sizeof spoken[0]; k++)
        if (strncmp(name, spoken[k].prefix, strlen(spoken[k].prefix)) == 0)
            return spoken[k].dialect;
    return NULL;
}

twi_caps twi_where_shared(const twi_where *where) {
    twi_caps caps = where->caps;
    const int64_t threads = where->threads;
    if (caps.family == TWI_FAMILY_CPU && threads > 0 && threads < (int64_t)caps.units)
        caps.units = (uint32_t)threads;
    return caps;
}

const char *twi_where_device(tw_context *ctx, const twi_where *where) {
    const char *name = twi_text(&ctx->names, where->caps.name);
    const char *model = where->kind == TWI_WHERE_CPU ? twi_cpu_model(ctx) : "";
    return twi_format(&ctx->arena, "%s, %u units%s%s", name, (unsigned)where->caps.units,
                      *model ? ", " : "", model);
}

bool twi_where_is_here(tw_context *ctx, const twi_where *where) {
    if (where->kind != TWI_WHERE_NOWHERE)
        return true;
    if (strcmp(where->name, "cpu") == 0)
        twi_error(&ctx->diags, TWI_E_BAD_ISA, (twi_loc){0, 0},
                  twi_format(&ctx->arena, "--target interp:%s runs its plans in the interpreter",
                             twi_text(&ctx->names, where->caps.name)),
                  "this machine has no instruction set '%s': code for it can be shown and "
                  "exported, not run",
                  twi_text(&ctx->names, where->caps.isa));
    else
        twi_error(&ctx->diags, TWI_E_PATH_TARGET, (twi_loc){0, 0},
                  "interp:NAME runs plans of recorded caps in the interpreter",
                  "target %s is a description, not a device: texts can be shown, nothing can be "
                  "run",
                  where->name);
    return false;
}

twi_target *twi_where_open(tw_context *ctx, const twi_where *where) {
    if (!twi_where_is_here(ctx, where))
        return NULL;
    if (where->kind == TWI_WHERE_INTERP)
        return twi_interp_open(ctx, &where->caps);
    if (where->kind == TWI_WHERE_OPENCL)
        return twi_opencl_open(ctx, &where->caps, where->device);
    if (where->kind == TWI_WHERE_CUDA)
        return twi_cuda_open(ctx, &(twi_cuda_options){&where->caps, where->device});
    return twi_cpu_open(ctx, &(twi_cpu_options){.caps = &where->caps});
}
