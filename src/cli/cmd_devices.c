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

/* The rows; 0 after an error. */
static size_t target_rows(tool *t, const cli_options *o, tw_target_info **rows) {
    const size_t n = o->measure ? 1 : tw_targets(t->ctx);
    *rows = tool_alloc(t, n, sizeof **rows);
    if (o->measure) {
        **rows = (tw_target_info){.name = o->measure, .note = "measured"};
        const tw_status status = tw_target_measured(t->ctx, o->measure, &(*rows)->caps);
        tool_exit(t, tool_status(status));
        if (status != TW_OK)
            return 0;
    }
    for (size_t k = 0; !o->measure && k < n; k++)
        (*rows)[k] = tw_target_get(t->ctx, k);
    for (size_t k = 0; k < n; k++) {
        tool_progress(t, "bit probe of %s", (*rows)[k].name);
        tw_target_probe(t->ctx, &(*rows)[k]);
    }
    return n;
}

static void target_row(tool *t, const tw_target_info *info, bool json, bool first) {
    if (json) {
        json_open(&t->json, NULL, '{');
        json_str(&t->json, "target", info->name);
        json_str(&t->json, "note", info->note);
        json_str(&t->json, "bits", info->bits);
        json_str(&t->json, "caps", info->caps);
        json_close(&t->json, '}');
        return;
    }
    text_printf(&t->out, "target %s: %s; bits %s\n", info->name, info->note, info->bits);
    if (info->caps && first)
        text_printf(&t->out, "%s", info->caps);
}

int cmd_devices(tool *t, const cli_options *o) {
    bool written = !o->caps;
    tw_target_info *rows;
    const size_t n = target_rows(t, o, &rows);
    for (size_t k = 0; k < n && !written; k++) {
        written = rows[k].caps != NULL;
        if (written && !write_caps(t, o->caps, &rows[k]))
            return t->exit;
    }
    if (o->json)
        json_open(&t->json, "rows", '[');
    for (size_t k = 0; k < n; k++)
        target_row(t, &rows[k], o->json, k == 0);
    if (o->json)
        json_close(&t->json, ']');
    if (t->exit == EXIT_DONE)
        environment(t, o->json);
    return t->exit;
}
