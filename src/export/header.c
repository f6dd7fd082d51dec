/* SPDX-License-Identifier: Apache-2.0
 * NAME.h: what a caller must know, in C and in C++.
 */
#include "export/export.h"

void twi_export_quote(twi_sb *out, const char *indent, const char *text) {
    while (*text) {
        const size_t n = strcspn(text, "\n");
        twi_sb_str(out, n ? indent : " *");
        for (size_t k = 0; k < n; k++) {
            twi_sb_char(out, text[k]);
            if ((text[k] == '*' && text[k + 1] == '/') || (text[k] == '/' && text[k + 1] == '*'))
                twi_sb_char(out, ' '); /* the comment goes on */
        }
        twi_sb_char(out, '\n');
        text += n + (text[n] == '\n');
    }
}

static const char *role_text(unsigned role) {
    static const char *const texts[] = {
        [TWI_IN] = "is read", [TWI_OUT] = "is written", [TWI_INOUT] = "is read and written"};
    return texts[role];
}

static const char *note(tw_elem elem) {
    static const char *const notes[TW_ELEMS] = {[TW_F16] = " (bits of IEEE binary16)",
                                                [TW_BF16] = " (bits of bfloat16)",
                                                [TW_BOOL] = " (0 or 1)"};
    return notes[elem] ? notes[elem] : "";
}

static void arguments(const twi_export *x, twi_sb *out) {
    for (uint32_t a = 1; a < x->ir->array.n; a++) {
        const twi_array *array = &x->ir->array.at[a];
        if (array->role == TWI_TEMP)
            continue;
        twi_sb_printf(out, " *     %-12s %s", twi_export_given(x, 'a', array->name),
                      twi_export_type((tw_elem)array->elem));
        twi_export_shape_text(x, a, out);
        twi_sb_printf(out, "%s, %s\n", note((tw_elem)array->elem), role_text(array->role));
    }
    for (uint32_t s = 1; s < x->ir->scalar.n; s++)
        twi_sb_printf(out, " *     %-12s %s%s\n",
                      twi_export_given(x, 's', x->ir->scalar.at[s].name),
                      twi_export_type((tw_elem)x->ir->scalar.at[s].elem),
                      note((tw_elem)x->ir->scalar.at[s].elem));
}

static void shapes(const twi_export *x, twi_sb *out) {
    twi_sb_str(out, " *\n * There is code for these extents:\n");
    for (uint32_t k = 0; k < x->n; k++)
        twi_sb_printf(out, " *     %s: %lld step%s, workspace %llu bytes and %llu for each share\n",
                      *x->shape[k].extents ? x->shape[k].extents : "(there are none)",
                      (long long)x->shape[k].steps, x->shape[k].steps == 1 ? "" : "s",
                      (unsigned long long)x->shape[k].shared_bytes,
                      (unsigned long long)x->shape[k].share_bytes);
}

static void head(const twi_export *x, twi_sb *out) {
    const char *spec = x->ir->spec_note ? twi_text(&x->ctx->names, x->ir->spec_note) : "";
    twi_sb_printf(out,
                  "/* %s.h: made by Tilewright %s from the kernel %s%s%s, for CPUs (%s).\n *\n",
                  x->name, tw_version(), twi_text(&x->ctx->names, x->ir->kernel), *spec ? ", " : "",
                  spec, x->machine->isa);
    if (x->options->program)
        twi_export_quote(out, " *     ", x->options->program);
    twi_sb_str(out,
               " *\n * Arguments; arrays are dense, the last extent varies fastest, and start at a "
               "multiple of their\n * element's size (16 or more may be faster, with the same "
               "results):\n");
    arguments(x, out);
    twi_sb_str(out,
               " * What is written overlaps no other argument. An array without elements may be "
               "NULL.\n");
    shapes(x, out);
    twi_sb_str(
        out, " *\n * Nothing is allocated, no thread is started, nothing is kept between calls; "
             "any threads may\n * call at once. Rounding modes and flushing of subnormals that the "
             "caller has set do not count\n * and are as before afterwards.\n */\n");
}

static void codes(const twi_export *x, twi_sb *out) {
    static const struct {
        const char *name, *text;
    } rows[] = {{"DONE", "the results are there"},
                {"EXTENTS", "there is no code for these extents"},
                {"POINTER", "an array is NULL, or not aligned to its elements"},
                {"OVERLAP", "what is written overlaps another argument"},
                {"WORKSPACE", "the workspace is NULL"},
                {"INDEX", "an index led outside an array (and was not followed)"},
                {"PART", "no such step, or no such share of it"}};
    twi_sb_str(out, "\n/* What functions return. Other than 0 and _INDEX: nothing was written. */\n"
                    "enum {\n");
    for (unsigned k = 0; k < sizeof rows / sizeof rows[0]; k++)
        if ((x->workspace || strcmp(rows[k].name, "WORKSPACE") != 0) &&
            (x->indexes || strcmp(rows[k].name, "INDEX") != 0))
            twi_sb_printf(out, "    %s_%s = %u, /* %s */\n", x->upper, rows[k].name, k,
                          rows[k].text);
    twi_sb_str(out, "};\n");
}

static void extents(const twi_export *x, const char *more, twi_sb *out) {
    twi_export_dims(x, out);
    if (*more)
        twi_sb_printf(out, "%s%s", x->ir->dim.n > 1 ? ", " : "", more);
    else if (x->ir->dim.n <= 1)
        twi_sb_str(out, "void");
}

static void functions(const twi_export *x, twi_sb *out) {
    twi_sb_printf(out, "\n/* The whole of it, in the calling thread.%s */\nint %s(",
                  x->workspace ? " workspace: of one share. " : "", x->name);
    twi_export_dims(x, out);
    twi_export_arrays(x, out);
    twi_sb_printf(out,
                  ");\n\n/* For threads of the caller: steps 0, 1, .. are done in order, each by "
                  "shares 0 .. of - 1, which may run\n * at once; all shares of a step have "
                  "returned before the next one starts. Any `of` from 1 gives the\n * same "
                  "bits%s. */\nint %s_share(int64_t step, int64_t share, int64_t of",
                  x->workspace ? "; all take the same workspace, of `of` shares" : "", x->name);
    if (x->ir->dim.n > 1)
        twi_sb_str(out, ", ");
    twi_export_dims(x, out);
    twi_export_arrays(x, out);
    twi_sb_printf(out,
                  ");\n\n/* How many steps; 0: there is no code for these extents. */\n"
                  "int64_t %s_steps(",
                  x->name);
    extents(x, "", out);
    twi_sb_str(out, ");\n");
    if (!x->workspace)
        return;
    twi_sb_printf(out,
                  "\n/* Bytes of workspace (of any alignment, contents do not matter) for so many "
                  "shares; SIZE_MAX: there is\n * no code for these extents, or no such number. "
                  "*/\nsize_t %s_workspace(",
                  x->name);
    extents(x, "int64_t of", out);
    twi_sb_str(out, ");\n");
}

void twi_export_header(const twi_export *x, twi_sb *out) {
    head(x, out);
    twi_sb_printf(out,
                  "#ifndef TILEWRIGHT_%s_H\n#define TILEWRIGHT_%s_H\n\n#include <stddef.h>\n"
                  "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {\n#endif\n",
                  x->upper, x->upper);
    codes(x, out);
    functions(x, out);
    twi_sb_str(out, "\n#ifdef __cplusplus\n}\n#endif\n#endif\n");
}
