/* SPDX-License-Identifier: Apache-2.0
 * NAME.c: how it was made, what the compiler must be, the code of each shape as the emitter prints
 * it, and around it a table of shapes that plain functions look into.
 */
#include "emit/dialect.h"
#include "export/export.h"
#include "plan/scope.h"

static void plans(const twi_export *x, twi_sb *out) {
    for (uint32_t k = 0; k < x->n; k++) {
        const char *text = tw_compiled_text(x->shape[k].from, TW_STAGE_PLAN);
        if (k)
            twi_sb_str(out, " *\n");
        twi_export_quote(out, " *     ", text ? text : "");
    }
}

/* "with -march=..", "for aarch64"; "" for any. */
static const char *compiler(const twi_export *x) {
    const char *arch = x->machine->arch;
    return *arch       ? twi_format(x->arena, "for %s", arch)
           : *x->flags ? twi_format(x->arena, "with %s", x->flags)
                       : "";
}

static void head(const twi_export *x, twi_sb *out) {
    static const char *const classes[] = {
        [TWI_ORDER_FREE] = "free: sums combine in the order of the plan. A result lies inside the "
                           "bound that follows from\n * the program and this order",
        [TWI_ORDER_TREE] =
            "tree: sums combine over neighbours, as the plan says. A result lies inside "
            "the bound that follows\n * from the program and this order",
        [TWI_ORDER_CANONICAL] = "canonical: the program determines every bit of the result"};
    twi_sb_printf(out, "/* %s.c: made by Tilewright %s; %s.h says how it is called.\n", x->name,
                  tw_version(), x->name);
    if (x->options->command) {
        twi_sb_str(out, " *\n");
        twi_export_quote(out, " *     ", x->options->command);
    }
    twi_sb_printf(
        out,
        " *\n * For gcc (-O2) and clang (-O3)%s%s; link with -lm.\n * The plan of each shape, and "
        "in "
        "`derived` what follows from it (depth: roundings on the longest\n * path of a sum):\n *\n",
        *compiler(x) ? " " : "", compiler(x));
    plans(x, out);
    twi_sb_printf(out, " *\n * Class %s.\n", classes[twi_ir_class(x->shape[0].from->path.ir)]);
    if (x->options->verdict) {
        twi_sb_str(out, " *\n");
        twi_export_quote(out, " * ", x->options->verdict);
    }
    twi_sb_str(out, " */\n");
}

static void needs(const twi_export *x, twi_sb *out) {
    twi_sb_printf(out,
                  "#include \"%s.h\"\n\n#ifndef __GNUC__\n#error \"this needs gcc or clang: it is "
                  "written with their vectors\"\n#endif\n",
                  x->name);
    if (*x->test)
        twi_sb_printf(out,
                      "#if !(%s)\n#error \"this is made for %s: compile %s, or export with --pin "
                      "isa=baseline\"\n#endif\n",
                      x->test, x->machine->isa, compiler(x));
    twi_sb_str(out,
               "#if defined __FAST_MATH__ || (defined __FINITE_MATH_ONLY__ && "
               "__FINITE_MATH_ONLY__)\n#error \"the meaning of this code needs IEEE arithmetic: no "
               "-ffast-math\"\n#endif\n"
               "#ifdef __clang__\n#pragma STDC FP_CONTRACT OFF\n#else\n#pragma GCC push_options\n"
               "#pragma GCC optimize(\"fp-contract=off\", \"no-math-errno\", "
               "\"no-trapping-math\", \"no-associative-math\", \"no-reciprocal-math\", "
               "\"signed-zeros\")\n#endif\n#if !defined __SSE__ && !defined __aarch64__\n#include "
               "<fenv.h>\n#endif\n\n");
}

static void code(const twi_export *x, twi_sb *out) {
    const twi_loop **loop = TWI_NEW_N(x->arena, const twi_loop *, x->n);
    twi_dialect dialect = twi_dialect_c;
    dialect.opening = "";
    /* Apart from what calls it: the caller's floating-point environment ends before it starts. */
    dialect.linkage = "__attribute__((noinline)) static ";
    for (uint32_t k = 0; k < x->n; k++)
        loop[k] = x->shape[k].loop;
    twi_emit_all(loop, x->n, &dialect, out);
}

/* @ is the name, ~ the name in capitals. */
static void expand(const twi_export *x, const char *text, twi_sb *out) {
    for (; *text; text++)
        if (*text == '@')
            twi_sb_str(out, x->name);
        else if (*text == '~')
            twi_sb_str(out, x->upper);
        else
            twi_sb_char(out, *text);
}

static uint32_t most_arrays(const twi_export *x) {
    uint32_t most = 0;
    for (uint32_t k = 0; k < x->n; k++)
        most = x->shape[k].loop->array.n > most ? x->shape[k].loop->array.n : most;
    return most;
}

static const char call[] =
    "typedef void @_code(void *const *array, const unsigned long long *scalar, const long long "
    "*stride,\n"
    "                    const long long *trip, char *scratch, long long lo, long long hi);\n\n"
    "/* Where part k of n starts. */\n"
    "static long long @_part(long long n, long long k, long long of)\n{\n"
    "    return of == 1 ? n * k : n / of * k + n % of * k / of; /* dividing takes its time "
    "*/\n}\n\n"
    "/* This share's groups, in the floating-point environment that programs start with. */\n"
    "static void @_run(const @_call *c, @_code *code, const long long *trip, long long groups)\n{\n"
    "    const long long lo = @_part(groups, c->share, c->of), hi = @_part(groups, c->share + 1, "
    "c->of);\n"
    "    if (lo == hi)\n        return;\n"
    "#ifdef __SSE__\n"
    "    const unsigned before = __builtin_ia32_stmxcsr();\n"
    "    const int other = (before & 0xffc0) != 0x1f80;\n"
    "    if (other)\n        __builtin_ia32_ldmxcsr(0x1f80);\n"
    "    code(c->array, c->scalar, 0, trip, c->scratch, lo, hi);\n"
    "    if (other)\n        __builtin_ia32_ldmxcsr(before);\n"
    "#elif defined __aarch64__\n"
    "    unsigned long long before; /* rounding, flushing, traps; flags are elsewhere */\n"
    "    __asm__ volatile(\"mrs %0, fpcr\" : \"=r\"(before));\n"
    "    if (before)\n        __asm__ volatile(\"msr fpcr, %0\" : : \"r\"(0ULL));\n"
    "    code(c->array, c->scalar, 0, trip, c->scratch, lo, hi);\n"
    "    if (before)\n        __asm__ volatile(\"msr fpcr, %0\" : : \"r\"(before));\n"
    "#else\n"
    "    fenv_t before;\n"
    "    fegetenv(&before);\n    fesetenv(FE_DFL_ENV);\n"
    "    code(c->array, c->scalar, 0, trip, c->scratch, lo, hi);\n"
    "    fesetenv(&before);\n"
    "#endif\n}\n";

/* A call: arrays and temporaries by their number, from 1; scalars likewise. */
static void call_type(const twi_export *x, twi_sb *out) {
    twi_sb_str(out,
               "\n/* A call: arrays, then temporaries; the bits of scalars (numbers from 1); which "
               "share of it. */\ntypedef struct {\n");
    twi_sb_printf(out, "    void *array[%u];\n    unsigned long long scalar[%u];\n", most_arrays(x),
                  x->ir->scalar.n ? x->ir->scalar.n : 1);
    twi_sb_printf(out, "    char *workspace, *scratch;\n    long long share, of;\n} %s_call;\n\n",
                  x->name);
    expand(x, call, out);
}

/* One row a shape: extents, what does it, steps, workspace, bytes of the arrays. */
static void table(const twi_export *x, twi_sb *out) {
    const uint32_t arrays = x->ir->array.n, dims = x->ir->dim.n;
    twi_sb_printf(
        out,
        "\nstatic const struct %s_shape {\n    int64_t extent[%u];\n    int (*step)(%s_call *c, "
        "long long step);\n    long long steps;\n    size_t shared, share; /* bytes of "
        "workspace */\n    size_t bytes[%u];      /* of arrays, by their number */\n} "
        "%s_shapes[] = {\n",
        x->name, dims > 1 ? dims - 1 : 1, x->name, arrays ? arrays : 1, x->name);
    for (uint32_t k = 0; k < x->n; k++) {
        const twi_export_shape *s = &x->shape[k];
        twi_sb_str(out, "    {{");
        for (uint32_t d = 1; d < dims; d++)
            twi_sb_printf(out, "%s%lld", d > 1 ? ", " : "",
                          (long long)s->from->path.spec->dim.at[d].value);
        twi_sb_printf(out, "%s}, %s_%u, %lld, %llu, %llu, {0", dims > 1 ? "" : "0", x->name, k + 1,
                      (long long)s->steps, (unsigned long long)s->shared_bytes,
                      (unsigned long long)s->share_bytes);
        for (uint32_t a = 1; a < arrays; a++)
            twi_sb_printf(out, ", %llu",
                          x->ir->array.at[a].role == TWI_TEMP
                              ? 0ull
                              : (unsigned long long)twi_export_bytes(s->loop, a));
        twi_sb_str(out, "}},\n");
    }
    twi_sb_str(out, "};\n");
}

static void find(const twi_export *x, twi_sb *out) {
    twi_sb_printf(out, "\n/* NULL: there is none. */\nstatic const struct %s_shape *%s_find(",
                  x->name, x->name);
    twi_export_dims(x, out);
    twi_sb_printf(out, "%s)\n{\n    for (int k = 0; k < %u; k++)\n        if (",
                  x->ir->dim.n > 1 ? "" : "void", x->n);
    for (uint32_t d = 1; d < x->ir->dim.n; d++)
        twi_sb_printf(out, "%s%s_shapes[k].extent[%u] == %s", d > 1 ? " && " : "", x->name, d - 1,
                      twi_export_given(x, 'n', x->ir->dim.at[d].name));
    twi_sb_printf(out, "%s)\n            return &%s_shapes[k];\n    return 0;\n}\n",
                  x->ir->dim.n > 1 ? "" : "1", x->name);
}

/* Bytes of an element, and whether it is written, by number. */
static void check(const twi_export *x, twi_sb *out) {
    const uint32_t arrays = x->ir->array.n;
    twi_sb_printf(out, "\nstatic int %s_check(const %s_call *c, const struct %s_shape *s)\n{\n",
                  x->name, x->name, x->name);
    twi_sb_str(out, "    static const unsigned char size[] = {1");
    for (uint32_t a = 1; a < arrays; a++)
        twi_sb_printf(out, ", %u", (unsigned)tw_elem_size((tw_elem)x->ir->array.at[a].elem));
    twi_sb_str(out, "}, written[] = {0");
    for (uint32_t a = 1; a < arrays; a++)
        twi_sb_printf(out, ", %u",
                      x->ir->array.at[a].role == TWI_OUT || x->ir->array.at[a].role == TWI_INOUT);
    twi_sb_printf(out, "};\n    for (int a = 1; a < %u; a++) {\n", arrays);
    expand(
        x,
        "        const uintptr_t at = (uintptr_t)c->array[a];\n"
        "        if (s->bytes[a] && (at == 0 || at % size[a] != 0))\n"
        "            return ~_POINTER;\n"
        "        for (int b = 1; b < a && s->bytes[a]; b++) {\n"
        "            const uintptr_t other = (uintptr_t)c->array[b];\n"
        "            if ((written[a] || written[b]) && s->bytes[b] && at < other + s->bytes[b] &&\n"
        "                other < at + s->bytes[a])\n"
        "                return ~_OVERLAP;\n"
        "        }\n    }\n    return ~_DONE;\n}\n",
        out);
}

/* "{0, (void *)a_X, a_Y}": a call's arrays by number, and the lines that set its scalars. */
static void bind(const twi_export *x, twi_sb *out) {
    twi_sb_printf(out, "    %s_call c = {.array = {0", x->name);
    for (uint32_t a = 1; a < x->ir->array.n; a++)
        twi_sb_printf(out, ", %s",
                      x->ir->array.at[a].role == TWI_TEMP
                          ? "0"
                          : twi_format(x->arena, "(void *)%s",
                                       twi_export_given(x, 'a', x->ir->array.at[a].name)));
    twi_sb_str(out, "}};\n");
    for (uint32_t s = 1; s < x->ir->scalar.n; s++) {
        const char *name = twi_export_given(x, 's', x->ir->scalar.at[s].name);
        twi_sb_printf(out, "    __builtin_memcpy(&c.scalar[%u], &%s, sizeof %s);\n", s, name, name);
    }
    twi_sb_printf(out, "    const struct %s_shape *s = %s_find(", x->name, x->name);
    for (uint32_t d = 1; d < x->ir->dim.n; d++)
        twi_sb_printf(out, "%s%s", d > 1 ? ", " : "",
                      twi_export_given(x, 'n', x->ir->dim.at[d].name));
    expand(x,
           ");\n    if (!s)\n        return ~_EXTENTS;\n"
           "    const int wrong = @_check(&c, s);\n    if (wrong)\n        return wrong;\n",
           out);
    if (x->workspace)
        expand(x,
               "    if (!workspace && s->shared + s->share)\n        return ~_WORKSPACE;\n"
               "    c.workspace = (char *)workspace + (64 - (uintptr_t)workspace % 64) % 64;\n",
               out);
}

static void whole(const twi_export *x, twi_sb *out) {
    twi_sb_printf(out, "\nint %s(", x->name);
    twi_export_dims(x, out);
    twi_export_arrays(x, out);
    twi_sb_str(out, ")\n{\n");
    bind(x, out);
    expand(x,
           "    c.of = 1;\n"
           "    c.scratch = c.workspace + s->shared;\n"
           "    int code = ~_DONE;\n"
           "    for (long long step = 0; step < s->steps; step++)\n"
           "        code = s->step(&c, step);\n"
           "    return code;\n}\n",
           out);
}

static void share(const twi_export *x, twi_sb *out) {
    twi_sb_printf(out, "\nint %s_share(int64_t step, int64_t share, int64_t of%s", x->name,
                  x->ir->dim.n > 1 ? ", " : "");
    twi_export_dims(x, out);
    twi_export_arrays(x, out);
    twi_sb_str(out, ")\n{\n");
    bind(x, out);
    expand(x,
           "    if (step < 0 || step >= s->steps || share < 0 || share >= of || of > 0x7fffffff)\n"
           "        return ~_PART;\n"
           "    c.share = share;\n    c.of = of;\n"
           "    c.scratch = c.workspace + s->shared + (size_t)share * s->share;\n"
           "    return s->step(&c, step);\n}\n",
           out);
}

static void found(const twi_export *x, twi_sb *out) {
    twi_sb_printf(out, "    const struct %s_shape *s = %s_find(", x->name, x->name);
    for (uint32_t d = 1; d < x->ir->dim.n; d++)
        twi_sb_printf(out, "%s%s", d > 1 ? ", " : "",
                      twi_export_given(x, 'n', x->ir->dim.at[d].name));
    twi_sb_str(out, ");\n");
}

static void sizes(const twi_export *x, twi_sb *out) {
    twi_sb_printf(out, "\nint64_t %s_steps(", x->name);
    twi_export_dims(x, out);
    twi_sb_str(out, x->ir->dim.n > 1 ? ")\n{\n" : "void)\n{\n");
    found(x, out);
    twi_sb_str(out, "    return s ? s->steps : 0;\n}\n");
    if (!x->workspace)
        return;
    twi_sb_printf(out, "\nsize_t %s_workspace(", x->name);
    twi_export_dims(x, out);
    twi_sb_str(out, x->ir->dim.n > 1 ? ", int64_t of)\n{\n" : "int64_t of)\n{\n");
    found(x, out);
    twi_sb_str(out, "    if (!s || of < 1 || of > 0x7fffffff)\n        return SIZE_MAX;\n"
                    "    const size_t all = s->shared + (size_t)of * s->share;\n"
                    "    return all ? all + 63 : 0;\n}\n");
}

void twi_export_source(const twi_export *x, twi_sb *out) {
    head(x, out);
    needs(x, out);
    code(x, out);
    call_type(x, out);
    for (uint32_t k = 0; k < x->n; k++)
        twi_export_stepper(x, k, out);
    table(x, out);
    find(x, out);
    check(x, out);
    whole(x, out);
    share(x, out);
    sizes(x, out);
    twi_sb_str(out, "#ifndef __clang__\n#pragma GCC pop_options\n#endif\n");
}
