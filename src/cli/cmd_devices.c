/* SPDX-License-Identifier: Apache-2.0
 * devices: targets, what they can do, and the environment in force.
 */
#include "cli/args.h"
#include "cli/json.h"

#include <stdlib.h>
#include <string.h>

static const char *const variables[] = {"TILEWRIGHT_CC",      "TILEWRIGHT_STORE", "TILEWRIGHT_DUMP",
                                        "TILEWRIGHT_THREADS", "TILEWRIGHT_NVRTC", "TILEWRIGHT_CUDA",
                                        "TILEWRIGHT_OPENCL",  "TMPDIR",           "NO_COLOR"};

static void environment(tool *t, bool json) {
    if (json)
        json_open(&t->json, "environment", '{');
    for (size_t k = 0; k < sizeof variables / sizeof variables[0]; k++) {
        const char *v = getenv(variables[k]);
        if (json)
            json_str(&t->json, variables[k], v);
        else if (v)
            text_printf(&t->out, "environment %s=%s\n", variables[k], v);
    }
    if (json)
        json_close(&t->json, '}');
}

/* --caps FILE: the first usable target's. */
static bool write_caps(tool *t, const char *path, const tw_target_info *info) {
    tool_write_job w = {.path = path, .bytes = info->caps, .n = strlen(info->caps)};
    return tool_write_all(t, &w, 1);
}

/* The k-th row; false: there is none. */
static bool target_row(tool *t, const cli_options *o, size_t k, tw_target_info *info) {
    if (!o->measure) {
        *info = tw_target_get(t->ctx, k);
        return k < tw_targets(t->ctx);
    }
    if (k > 0)
        return false;
    *info = (tw_target_info){.name = o->measure, .note = "measured"};
    const tw_status status = tw_target_measured(t->ctx, o->measure, &info->caps);
    tool_exit(t, tool_status(status));
    return status == TW_OK;
}

int cmd_devices(tool *t, const cli_options *o) {
    bool written = !o->caps;
    tw_target_info info;
    if (o->json)
        json_open(&t->json, "rows", '[');
    for (size_t k = 0; target_row(t, o, k, &info); k++) {
        if (o->json) {
            json_open(&t->json, NULL, '{');
            json_str(&t->json, "target", info.name);
            json_str(&t->json, "note", info.note);
            json_str(&t->json, "caps", info.caps);
            json_close(&t->json, '}');
        } else {
            text_printf(&t->out, "target %s: %s\n", info.name, info.note);
            if (info.caps && k == 0)
                text_printf(&t->out, "%s", info.caps);
        }
        if (!written && info.caps)
            written = write_caps(t, o->caps, &info);
    }
    if (o->json)
        json_close(&t->json, ']');
    if (t->exit == EXIT_DONE)
        environment(t, o->json);
    return t->exit;
}
