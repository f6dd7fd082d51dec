/* SPDX-License-Identifier: Apache-2.0
 * Inputs from .npy files and fixtures, outputs to .npy files.
 */
#include "cli/arrays.h"

#include <stdlib.h>
#include <string.h>

static char *key_of(tool *t, const char *item, const char *option, const char **value) {
    const char *equals = strchr(item, '=');
    if (!equals || equals == item || !equals[1]) {
        tool_error(t, 802, NULL, "%s %.200s: NAME=FILE is wanted", option, item);
        return NULL;
    }
    *value = equals + 1;
    return tool_copy(t, item, (size_t)(equals - item));
}

static bool is_fixture(tool *t, input *in, const char *value, uint64_t seed) {
    const char *colon = strchr(value, ':');
    char *name = tool_copy(t, value, colon ? (size_t)(colon - value) : strlen(value));
    list names = {0};
    for (size_t k = 0; tw_fixture_name(k); k++)
        list_add(t, &names, tw_fixture_name(k));
    int64_t given = (int64_t)seed;
    if (colon && (!tool_parse_int(colon + 1, &given) || given < 0)) {
        tool_error(t, 804, NULL, "@%.200s: the seed is a number", value);
        return false;
    }
    for (size_t k = 0; k < names.n; k++)
        if (strcmp(names.at[k], name) == 0) {
            in->fixture = names.at[k];
            in->seed = (uint64_t)given;
            return true;
        }
    tool_error(t, 804, tool_nearest_help(t, name, names.at, names.n),
               "there is no fixture '@%.200s'", name);
    return false;
}

static bool open_input(tool *t, arrays *a, const char *item) {
    const char *value;
    char *name = key_of(t, item, "--in", &value), *bytes;
    size_t n;
    if (!name)
        return false;
    for (size_t k = 0; k < a->n_in; k++)
        if (strcmp(a->in[k].name, name) == 0) {
            tool_error(t, 803, NULL, "--in %s is given twice", name);
            return false;
        }
    input *in = &a->in[a->n_in++];
    in->name = name;
    if (*value == '@')
        return is_fixture(t, in, value + 1, a->seed);
    in->path = value;
    return tool_read(t, value, &bytes, &n) && npy_parse(t, value, bytes, n, &in->file);
}

static bool check_out(tool *t, const arrays *a, size_t k) {
    const char *path, *other;
    char *name = key_of(t, a->out->at[k], "--out", &path);
    if (!name)
        return false;
    for (size_t j = 0; j < k; j++) {
        char *twice = key_of(t, a->out->at[j], "--out", &other);
        if (twice && (strcmp(twice, name) == 0 || tool_same_file(other, path))) {
            tool_error(t, 803, NULL, "--out %s and --out %s: the same array or file twice",
                       a->out->at[j], a->out->at[k]);
            return false;
        }
    }
    for (size_t j = 0; j < a->n_in; j++)
        if (a->in[j].path && tool_same_file(a->in[j].path, path)) {
            tool_error(t, 813, NULL, "--out %s=%s is the file of --in %s", name, path,
                       a->in[j].name);
            return false;
        }
    return true;
}

bool arrays_open(tool *t, const cli_options *o, arrays *a) {
    *a = (arrays){.t = t, .out = &o->out, .seed = o->seed ? (uint64_t)o->seed : 1};
    a->in = tool_alloc(t, o->in.n, sizeof *a->in);
    bool ok = true;
    for (size_t k = 0; k < o->in.n; k++)
        ok = open_input(t, a, o->in.at[k]) && ok;
    for (size_t k = 0; ok && k < o->out.n; k++)
        ok = check_out(t, a, k);
    return ok;
}

static const input *input_named(const arrays *a, const char *name) {
    for (size_t k = 0; k < a->n_in; k++)
        if (strcmp(a->in[k].name, name) == 0)
            return &a->in[k];
    return NULL;
}

/* Names of --in and --out against the kernel's arrays, of which some are inputs alone. */
static bool known_names(tool *t, const arrays *a, const list *names, const bool *input_only) {
    bool ok = true;
    for (size_t k = 0; k < a->n_in + a->out->n; k++) {
        bool out = k >= a->n_in;
        const char *path,
            *name = out ? key_of(t, a->out->at[k - a->n_in], "--out", &path) : a->in[k].name;
        size_t m = 0;
        while (m < names->n && strcmp(names->at[m], name) != 0)
            m++;
        if (m == names->n)
            tool_error(t, 806, tool_nearest_help(t, name, names->at, names->n),
                       "%s %s: the kernel has no such array", out ? "--out" : "--in", name);
        else if (out && input_only[m])
            tool_error(t, 808, NULL, "--out %s: it is an input", name);
        ok = ok && m < names->n && !(out && input_only[m]);
    }
    return ok;
}

static bool known_to_program(tool *t, const arrays *a, const tw_program *p, size_t kernel) {
    list names = {0};
    bool *input_only = tool_alloc(t, tw_program_decls(p, kernel), sizeof *input_only);
    for (size_t k = 0; k < tw_program_decls(p, kernel); k++) {
        const tw_decl *d = tw_program_decl(p, kernel, k);
        if (d->kind != TW_DECL_ARRAY)
            continue;
        input_only[names.n] = d->role == TW_ROLE_IN;
        list_add(t, &names, d->name);
    }
    return known_names(t, a, &names, input_only);
}

bool arrays_known(tool *t, const arrays *a, const tw_ir *ir) {
    list names = {0};
    bool *input_only = tool_alloc(t, tw_ir_args(ir), sizeof *input_only);
    for (size_t k = 0; k < tw_ir_args(ir); k++) {
        const tw_arg arg = tw_ir_arg(ir, k);
        if (arg.scalar)
            continue;
        input_only[names.n] = arg.role == TW_ROLE_IN;
        list_add(t, &names, arg.name);
    }
    return known_names(t, a, &names, input_only);
}

/* The one choice of a type that the file of an array may hold. */
static bool infer_type(tool *t, job *j, const tw_decl *type, const input *in) {
    const char *found = NULL;
    for (size_t c = 0; c < type->choices; c++) {
        tw_elem elem = tw_elem_named(type->choice[c]);
        if (!(in->file.elems >> elem & 1))
            continue;
        if (found) {
            tool_error(t, 808,
                       tool_format(t, "--set %s=%s or --set %s=%s", type->name, found, type->name,
                                   type->choice[c]),
                       "%s may hold %s or %s", in->path, found, type->choice[c]);
            return false;
        }
        found = type->choice[c];
    }
    if (found)
        return settings_add(t, &j->set, tool_format(t, "%s=%s", type->name, found));
    text all = {.t = t};
    for (size_t c = 0; c < type->choices; c++)
        text_printf(&all, "%s%s", c ? ", " : "", type->choice[c]);
    tool_error(t, 823, NULL, "%s: its elements are of none of the types that %s may be: %s",
               in->path, type->name, all.at);
    return false;
}

bool arrays_infer(tool *t, job *j, const tw_program *p, size_t kernel) {
    const arrays *a = j->user;
    size_t n = tw_program_decls(p, kernel);
    if (!known_to_program(t, a, p, kernel))
        return false;
    for (size_t k = 0; k < n; k++) {
        const tw_decl *type = tw_program_decl(p, kernel, k);
        if (type->kind != TW_DECL_TYPE || settings_find(&j->set, type->name))
            continue;
        for (size_t m = 0; m < n && !settings_find(&j->set, type->name); m++) {
            const tw_decl *array = tw_program_decl(p, kernel, m);
            const input *in = array->kind == TW_DECL_ARRAY ? input_named(a, array->name) : NULL;
            if (in && in->path && array->elem == TW_NONE &&
                strcmp(array->elem_name, type->name) == 0 && !infer_type(t, j, type, in))
                return false;
        }
    }
    return true;
}

bool arrays_dims(tool *t, job *j, const arrays *a) {
    size_t n = tw_ir_dims(j->ir), shapes = 0;
    tw_shape *shape = tool_alloc(t, a->n_in, sizeof *shape);
    int64_t *values = tool_alloc(t, n, sizeof *values);
    for (size_t k = 0; k < a->n_in; k++)
        if (a->in[k].path)
            shape[shapes++] = (tw_shape){a->in[k].name, a->in[k].file.rank, a->in[k].file.shape};
    for (size_t k = 0; k < n; k++) {
        values[k] = -1;
        for (size_t d = 0; d < j->options.n_dims; d++)
            if (strcmp(j->options.dims[d].name, tw_ir_dim(j->ir, k)) == 0)
                values[k] = j->options.dims[d].value;
    }
    if (!tw_ir_dims_from(t->ctx, j->ir, shape, shapes, values)) {
        tool_exit(t, EXIT_INPUT);
        return false;
    }
    j->options.n_dims = 0;
    for (size_t k = 0; k < n; k++)
        if (values[k] >= 0)
            j->dims[j->options.n_dims++] = (tw_dim_value){tw_ir_dim(j->ir, k), values[k]};
    return job_dims_complete(t, j);
}

size_t arrays_elements(const tw_arg *arg) {
    size_t n = 1;
    for (int k = 0; k < arg->rank; k++)
        n *= (size_t)arg->shape[k];
    return n;
}

static char *shape_text(tool *t, int rank, const int64_t *shape) {
    text s = {.t = t};
    text_str(&s, "[");
    for (int k = 0; k < rank; k++)
        text_printf(&s, "%s%lld", k ? ", " : "", (long long)shape[k]);
    text_str(&s, "]");
    return s.at;
}

static bool from_file(tool *t, const input *in, const tw_arg *arg, void *data) {
    bool same = in->file.rank == arg->rank;
    for (int k = 0; same && k < arg->rank; k++)
        same = in->file.shape[k] == arg->shape[k];
    if (!same) {
        tool_error(t, 823, NULL, "%s has shape %s, %s is %s%s", in->path,
                   shape_text(t, in->file.rank, in->file.shape), arg->name, tw_elem_name(arg->elem),
                   shape_text(t, arg->rank, arg->shape));
        return false;
    }
    if (!(in->file.elems >> arg->elem & 1)) {
        tool_error(t, 823, NULL, "%s does not hold elements of type %s, which %s has", in->path,
                   tw_elem_name(arg->elem), arg->name);
        return false;
    }
    npy_dense(&in->file, data);
    return true;
}

/* Aligned, and with a byte at least: a NULL would mean no memory. */
static void *memory(tool *t, size_t bytes) {
    void *p = NULL;
    if (posix_memalign(&p, 64, bytes ? bytes : 1) != 0) {
        tool_error(t, 890, NULL, "no memory for an array of %zu bytes", bytes);
        return NULL;
    }
    memset(p, 0xa5, bytes);
    return p;
}

static bool fill_one(tool *t, arrays *a, const tw_compiled *kernel, size_t k) {
    const tw_arg *arg = &a->arg[k];
    size_t bytes = arrays_elements(arg) * tw_elem_size(arg->elem);
    a->data[k] = memory(t, bytes);
    if (!a->data[k])
        return false;
    a->tensor[k] = (tw_tensor){.data = a->data[k],
                               .device = {1, 0},
                               .rank = arg->rank,
                               .dtype = tw_elem_dtype(arg->elem),
                               .shape = a->arg[k].shape};
    a->pointer[k] = &a->tensor[k];
    const input *in = input_named(a, arg->name);
    if (arg->role == TW_ROLE_OUT) {
        if (in)
            tool_error(t, 808, NULL, "--in %s: it is an output", arg->name);
        return !in;
    }
    if (!in) {
        tool_error(t, 808,
                   tool_format(t, "--in %s=FILE.npy or --in %s=@normal:1", arg->name, arg->name),
                   "input %s has no --in", arg->name);
        return false;
    }
    if (in->path ? !from_file(t, in, arg, a->data[k])
                 : !tw_fixture_fill(kernel, a->number[k], in->fixture, in->seed, a->data[k]))
        return false;
    a->before[k] = memory(t, bytes);
    if (a->before[k] && bytes)
        memcpy(a->before[k], a->data[k], bytes);
    return a->before[k] != NULL;
}

static bool fill_scalar(tool *t, arrays *a, const tw_arg *arg, const job *j) {
    uint64_t bits = arg->bits;
    bool have = arg->has_default;
    for (size_t s = 0; s < j->n_scalars; s++)
        if (strcmp(j->scalars[s].name, arg->name) == 0) {
            a->scalar[a->n_scalars++] = j->scalars[s];
            bits = j->scalars[s].bits;
            have = true;
        }
    if (!have)
        tool_error(t, 808, tool_format(t, "--set %s=VALUE", arg->name), "scalar %s has no value",
                   arg->name);
    a->value[a->call.scalars++] = tw_scalar_from_bits(arg->elem, bits);
    return have;
}

bool arrays_fill(tool *t, arrays *a, const tw_compiled *kernel, const job *j) {
    size_t args = tw_compiled_args(kernel);
    bool ok = true;
    a->arg = tool_alloc(t, args, sizeof *a->arg);
    a->number = tool_alloc(t, args, sizeof *a->number);
    a->data = tool_alloc(t, args, sizeof *a->data);
    a->before = tool_alloc(t, args, sizeof *a->before);
    a->tensor = tool_alloc(t, args, sizeof *a->tensor);
    a->pointer = tool_alloc(t, args, sizeof(void *));
    a->scalar = tool_alloc(t, args, sizeof *a->scalar);
    a->value = tool_alloc(t, args, sizeof *a->value);
    for (size_t k = 0; k < args; k++) {
        tw_arg arg = tw_compiled_arg(kernel, k);
        if (arg.scalar) {
            ok = fill_scalar(t, a, &arg, j) && ok;
        } else {
            a->number[a->n] = k;
            a->arg[a->n++] = arg;
        }
    }
    for (size_t k = 0; ok && k < a->n; k++)
        ok = fill_one(t, a, kernel, k);
    a->call.tensor = a->pointer;
    a->call.tensors = a->n;
    a->call.scalar = a->value;
    a->call.threads = j->threads;
    return ok;
}

bool arrays_write(arrays *a) {
    tool *t = a->t;
    tool_write_job *jobs = tool_alloc(t, a->out->n, sizeof *jobs);
    for (size_t k = 0; k < a->out->n; k++) {
        const char *path, *name = key_of(t, a->out->at[k], "--out", &path);
        for (size_t m = 0; m < a->n; m++) {
            if (strcmp(a->arg[m].name, name) != 0)
                continue;
            text *bytes = tool_alloc(t, 1, sizeof *bytes);
            bytes->t = t;
            npy_print(bytes, a->arg[m].elem, a->arg[m].rank, a->arg[m].shape, a->data[m]);
            jobs[k] = (tool_write_job){.path = path, .bytes = bytes->at, .n = bytes->n};
        }
    }
    return tool_write_all(t, jobs, a->out->n);
}

void arrays_release(arrays *a) {
    for (size_t k = 0; k < a->n; k++) {
        free(a->data[k]);
        free(a->before[k]);
    }
}

void arrays_print(const arrays *a, text *out) {
    for (size_t k = 0; k < a->n; k++) {
        const tw_arg *arg = &a->arg[k];
        bool written = false;
        for (size_t m = 0; m < a->out->n; m++)
            written = written || (strncmp(a->out->at[m], arg->name, strlen(arg->name)) == 0 &&
                                  a->out->at[m][strlen(arg->name)] == '=');
        if (arg->role == TW_ROLE_IN || written)
            continue;
        text_printf(out, "%s %s%s", arg->name, tw_elem_name(arg->elem),
                    shape_text(a->t, arg->rank, arg->shape));
        size_t n = arrays_elements(arg);
        for (size_t e = 0; e < n && e < 6; e++) {
            char value[64];
            tw_element_text(arg->elem, a->data[k], e, value);
            text_printf(out, "%s%s", e ? " " : " = ", value);
        }
        text_str(out, n > 6 ? " ..\n" : "\n");
    }
}
