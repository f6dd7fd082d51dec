/* SPDX-License-Identifier: Apache-2.0
 * show: the text of any stage. Needs no device and no compiler.
 */
#include "cli/job.h"
#include "cli/json.h"

#include <string.h>

static bool stage_named(tool *t, const char *name, tw_stage *stage) {
    const char *names[TW_STAGES];
    for (unsigned k = 0; k < TW_STAGES; k++) {
        names[k] = tw_stage_name((tw_stage)k);
        *stage = (tw_stage)k;
        if (name && strcmp(name, names[k]) == 0)
            return true;
    }
    if (name)
        tool_error(t, 804, tool_nearest_help(t, name, names, TW_STAGES),
                   "there is no stage '%.200s'", name);
    else
        tool_error(t, 802, NULL, "show needs --stage tile, plan, loop, caps or source");
    return false;
}

static void give(tool *t, const cli_options *o, tw_stage stage, const char *what) {
    if (o->json) {
        json_str(&t->json, "stage", tw_stage_name(stage));
        json_str(&t->json, "text", what);
    } else {
        text_str(&t->out, what);
    }
}

/* --from caps: read and printed back. */
static int show_caps(tool *t, const cli_options *o, tw_stage stage) {
    file f;
    if (stage != TW_STAGE_CAPS) {
        tool_error(t, 808, NULL, "--from caps only prints back: --stage caps");
        return EXIT_INPUT;
    }
    if (!file_load(t, o->file, &f))
        return EXIT_INPUT;
    const char *back = tw_caps_reprint(t->ctx, file_source(&f));
    if (!back)
        return EXIT_INPUT;
    give(t, o, stage, back);
    return EXIT_DONE;
}

/* --mutate KIND[:K] */
static const char *mutate(tool *t, const cli_options *o, const char *loop) {
    const char *colon = strchr(o->mutate, ':');
    char *kind = tool_copy(t, o->mutate, colon ? (size_t)(colon - o->mutate) : strlen(o->mutate));
    int64_t k = 0;
    list kinds = {0};
    for (size_t m = 0; tw_loop_mutation(m); m++)
        list_add(t, &kinds, tw_loop_mutation(m));
    bool known = false;
    for (size_t m = 0; m < kinds.n; m++)
        known = known || strcmp(kinds.at[m], kind) == 0;
    if (!known || (colon && (!tool_parse_int(colon + 1, &k) || k < 0))) {
        text all = {.t = t};
        for (size_t m = 0; m < kinds.n; m++)
            text_printf(&all, "%s%s", m ? ", " : "", kinds.at[m]);
        tool_error(t, 804, all.at, "--mutate takes KIND[:K], not '%.200s'", o->mutate);
        return NULL;
    }
    const char *changed =
        tw_loop_mutate(t->ctx, (tw_source){"loop", loop, strlen(loop)}, kind, (unsigned)k);
    if (!changed)
        tool_error(t, 808, NULL, "--mutate %.200s: there is no such place in this loop IR",
                   o->mutate);
    return changed;
}

int cmd_show(tool *t, const cli_options *o) {
    tw_stage stage;
    job j = {0};
    if (!stage_named(t, o->stage, &stage))
        return EXIT_INPUT;
    if (o->mutate && stage != TW_STAGE_LOOP) {
        tool_error(t, 808, NULL, "--mutate goes with --stage loop");
        return EXIT_INPUT;
    }
    if (o->from && strcmp(o->from, "caps") == 0)
        return show_caps(t, o, stage);
    if (!job_load(t, o, &j))
        return EXIT_INPUT;
    if (o->from && strcmp(o->from, "plan") == 0 && stage != TW_STAGE_PLAN) {
        tool_error(t, 808, "--plan FILE uses a plan", "--from plan only prints back: --stage plan");
        return EXIT_INPUT;
    }
    if (stage == TW_STAGE_TILE && j.ir && !j.options.n_dims) { /* for any extents */
        give(t, o, stage, tw_ir_text(t->ctx, j.ir));
        return EXIT_DONE;
    }
    if (stage != TW_STAGE_CAPS && !j.options.loop_text.text && !job_dims_complete(t, &j))
        return EXIT_INPUT;
    j.options.build = false;
    j.options.until = stage;
    tw_compiled *kernel;
    tw_status status = tw_compile(t->ctx, j.ir, &j.options, &kernel);
    if (status != TW_OK)
        return tool_status(status);
    const char *what = tw_compiled_text(kernel, stage);
    if (what && o->mutate)
        what = mutate(t, o, what);
    else if (!what)
        tool_error(t, 808, NULL, "there is no %s here: FILE is a later stage",
                   tw_stage_name(stage));
    if (what)
        give(t, o, stage, tool_copy(t, what, strlen(what)));
    tw_compiled_release(kernel);
    return what ? EXIT_DONE : EXIT_INPUT;
}
