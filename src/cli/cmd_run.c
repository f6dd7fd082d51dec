/* SPDX-License-Identifier: Apache-2.0
 * run: one kernel on given or generated inputs; judged and timed if asked for. Files of --out
 * appear only when all that was asked for could be done.
 */
#include "cli/arrays.h"
#include "cli/json.h"
#include "cli/table.h"

#include <string.h>

typedef struct {
    tool *t;
    bool json;
} verdicts;

static void print_verdict(void *user, const tw_verdict *v) {
    verdicts *p = user;
    tool *t = p->t;
    if (p->json) {
        json_open(&t->json, NULL, '{');
        json_str(&t->json, "array", v->array);
        json_str(&t->json, "verdict",
                 !v->right      ? "wrong"
                 : v->probative ? "right"
                                : "not probative");
        json_bool(&t->json, "determined", v->determined);
        json_int(&t->json, "elements", v->elements);
        json_int(&t->json, "covered", v->covered);
        json_int(&t->json, "wrong", v->wrong);
        json_int(&t->json, "undecided", v->undecided);
        json_int(&t->json, "unbounded", v->unbounded);
        json_num(&t->json, "worst_over_bound", v->worst_over_bound);
        json_str(&t->json, "element", v->element);
        json_str(&t->json, "got", v->got);
        json_str(&t->json, "want", v->want);
        json_str(&t->json, "bound", v->bound);
        json_close(&t->json, '}');
        return;
    }
    text *out = &t->out;
    text_printf(out, "oracle: %s %s", v->array,
                !v->right      ? "WRONG"
                : v->probative ? "right"
                               : "not probative");
    if (v->right && v->determined)
        text_str(out, ", every bit determined");
    if (!v->determined) {
        text_str(out, ", worst error over bound ");
        text_short(out, v->worst_over_bound);
    }
    if (v->covered != v->elements)
        text_printf(out, ", sampled %lld of %lld elements", (long long)v->covered,
                    (long long)v->elements);
    if (v->undecided || v->unbounded)
        text_printf(out, ", %lld undecided, %lld unbounded", (long long)v->undecided,
                    (long long)v->unbounded);
    if (!v->right)
        text_printf(out, "; %lld wrong, first %s: got %s, want %s, bound %s", (long long)v->wrong,
                    v->element, v->got, v->want, v->bound);
    text_str(out, "\n");
}

static tw_status check(tool *t, const cli_options *o, const arrays *a, const tw_compiled *kernel) {
    verdicts p = {t, o->json};
    tw_judge_run run = {.before = (const void *const *)a->before,
                        .after = (const void *const *)a->data,
                        .scalars = a->scalar,
                        .n_scalars = a->n_scalars};
    if (o->json)
        json_open(&t->json, "rows", '[');
    tw_status status = tw_judge(t->ctx, kernel, &run, print_verdict, &p);
    if (o->json)
        json_close(&t->json, ']');
    return status;
}

static tw_status call_status(tool *t, tw_status status, const tw_call *call) {
    if (status != TW_OK && *call->error)
        tool_error(t, tool_status(status) == EXIT_ENV ? 892 : 824, NULL, "%s", call->error);
    return status;
}

static void json_batches(tool *t, const char *name, const double *ns, int n) {
    json_open(&t->json, name, '[');
    for (int k = 0; k < n; k++)
        json_num(&t->json, NULL, ns[k]);
    json_close(&t->json, ']');
}

static void json_state(tool *t, const tw_device_state *s) {
    if (!s->known)
        return;
    json_open(&t->json, NULL, '{');
    json_int(&t->json, "sm_mhz", s->sm_mhz);
    json_int(&t->json, "memory_mhz", s->memory_mhz);
    json_int(&t->json, "celsius", s->celsius);
    json_int(&t->json, "throttle", (int64_t)s->throttle);
    json_close(&t->json, '}');
}

static void json_timing(tool *t, const tw_timing *time) {
    json_open(&t->json, "time", '{');
    json_num(&t->json, "median_ns", time->median_ns);
    json_int(&t->json, "calls", time->calls);
    json_batches(t, "batches_ns", time->batch_ns, time->batches);
    json_batches(t, "host_batches_ns", time->host_ns, time->batches);
    json_int(&t->json, "cold_ns", time->cold_ns);
    json_open(&t->json, "device", '[');
    json_state(t, &time->before);
    json_state(t, &time->after);
    json_close(&t->json, ']');
    json_close(&t->json, '}');
}

static tw_status timing(tool *t, const cli_options *o, arrays *a, tw_kernel *kernel) {
    tw_timing time;
    tw_status status = call_status(t, tw_kernel_time(kernel, &a->call, false, &time), &a->call);
    if (status != TW_OK)
        return status;
    double least = time.batch_ns[0], most = time.batch_ns[0];
    for (int k = 1; k < time.batches; k++) {
        least = time.batch_ns[k] < least ? time.batch_ns[k] : least;
        most = time.batch_ns[k] > most ? time.batch_ns[k] : most;
    }
    if (o->json)
        json_timing(t, &time);
    else
        text_printf(&t->out, "time: median %s a call, %s .. %s in %d batches\n",
                    table_time(t, time.median_ns), table_time(t, least), table_time(t, most),
                    time.batches);
    return TW_OK;
}

static tw_status execute(tool *t, arrays *a, const tw_compiled *kernel, bool reference) {
    tw_judge_run run = {
        .before = (const void *const *)a->before, .scalars = a->scalar, .n_scalars = a->n_scalars};
    if (reference)
        return tw_judge_reference(t->ctx, kernel, &run, a->data);
    return call_status(t, tw_kernel_run(tw_compiled_kernel(kernel), &a->call), &a->call);
}

/* Timing comes last: `inout` arrays change with each call, files get the first call's results. */
static tw_status execute_all(tool *t, const cli_options *o, arrays *a, tw_compiled *kernel,
                             bool reference) {
    tw_status status = execute(t, a, kernel, reference), judged = TW_OK;
    if (status == TW_OK && o->check)
        status = judged = check(t, o, a, kernel);
    if ((status == TW_OK || status == TW_ERR_WRONG) && !arrays_write(a))
        return TW_OK; /* said already */
    if (!o->json && (status == TW_OK || status == TW_ERR_WRONG))
        arrays_print(a, &t->out);
    if (status == TW_OK && o->time && reference)
        tool_error(t, 808, NULL, "--time: target ref is not timed");
    else if (status == TW_OK && o->time)
        status = timing(t, o, a, tw_compiled_kernel(kernel));
    return judged != TW_OK ? judged : status;
}

int cmd_run(tool *t, const cli_options *o) {
    arrays a;
    job j = {.infer = arrays_infer, .user = &a};
    if (!arrays_open(t, o, &a) || !job_load(t, o, &j) || !job_store(t, o, TW_STORE_READ))
        return EXIT_INPUT;
    if (!o->plan && t->store)
        j.options.plan = "best";
    if (!j.ir) {
        tool_error(t, 808, "--tile FILE, what show --stage tile printed",
                   "run --from loop needs the tile IR it was made from");
        return EXIT_INPUT;
    }
    if ((o->from && !arrays_known(t, &a, j.ir)) || !arrays_dims(t, &j, &a))
        return EXIT_INPUT;
    bool reference = strcmp(j.options.target, "ref") == 0;
    if (reference) {
        j.options.build = false;
        j.options.until = TW_STAGE_TILE;
    }
    tw_compiled *kernel;
    tw_status status = tw_compile(t->ctx, j.ir, &j.options, &kernel);
    if (status != TW_OK)
        return tool_status(status);
    if (o->json) {
        json_open(&t->json, "target", '{');
        json_str(&t->json, "name", j.options.target);
        json_close(&t->json, '}');
        json_str(&t->json, "plan",
                 tool_format(t, "%016llx", (unsigned long long)tw_compiled_plan_hash(kernel)));
        json_bool(&t->json, "stored", tw_compiled_is_stored(kernel));
    }
    if (!reference && !j.options.loop_text.text)
        (void)job_tell_model(t, o, &j);
    int exit = EXIT_INPUT;
    if (arrays_fill(t, &a, kernel, &j))
        exit = tool_status(execute_all(t, o, &a, kernel, reference));
    arrays_release(&a);
    tw_compiled_release(kernel);
    return exit;
}
