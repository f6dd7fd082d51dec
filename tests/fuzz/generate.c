/* SPDX-License-Identifier: Apache-2.0
 * One function a rule of the grammar (docs/language.md has it in full).
 */
#include "generate.h"

static unsigned below(generator *g, unsigned n) { return (unsigned)twi_rng_below(&g->rng, n); }
static bool often(generator *g, unsigned percent) { return below(g, 100) < percent; }
static bool wild(generator *g) { return below(g, 1000) < g->wild * 10; }
static void put(generator *g, const char *text) { twi_sb_str(&g->out, text); }

#define PICK(g, ...)                                                                               \
    do {                                                                                           \
        static const char *const of[] = {__VA_ARGS__};                                             \
        put((g), of[below((g), sizeof of / sizeof *of)]);                                          \
    } while (0)

static void expression(generator *g, int kind);
enum { FLOAT, INTEGER, TRUTH, POSITION }; /* what an expression is meant to be */

static void line(generator *g) {
    put(g, often(g, 15) ? "; " : "\n");
    for (int k = 0; k <= g->block; k++)
        put(g, "  ");
}

static void anything(generator *g) {
    PICK(g, "(", ")", "[", "]", "{", "}", "else", "when", "..", "->", "=", "+=", "tile", "kernel",
         "fn", "0x", "1.5.2", "@", "\"", "nope", "inf", "nan", "1e999", "99999999999999999999",
         "return", "axis", "and", "not", ",", ":", ";", "\x80", "f32", "sum", "T");
}

static void name(generator *g, int kind) {
    if (g->function)
        PICK(g, "x", "y", "x");
    else if (kind == INTEGER)
        PICK(g, "i", "I[r, w]", "i", "I[r, i]", "(I[i, w] else 3)", "cumsum[w](i)");
    else if (g->names && often(g, 60))
        twi_sb_printf(&g->out, "v%u", below(g, (unsigned)g->names));
    else
        PICK(g, "s", "x", "X[r, w]", "G[w]", "x");
}

static void position(generator *g) {
    switch (below(g, g->depth > 6 ? 3 : 6)) {
    case 0:
        PICK(g, "w", "r", "w", "0", "1", "S");
        break;
    case 1:
        PICK(g, "W", "R", "2", "7");
        break;
    case 2:
        PICK(g, "w", "r");
        break;
    case 3:
        g->depth++;
        PICK(g, "min(", "max(", "cdiv(");
        position(g);
        put(g, ", ");
        position(g);
        put(g, ")");
        g->depth--;
        break;
    default:
        g->depth++;
        put(g, "(");
        position(g);
        PICK(g, " + ", " - ", "*", " // ", " % ");
        position(g);
        put(g, ")");
        g->depth--;
    }
}

static void number(generator *g, int kind) {
    if (kind == INTEGER)
        PICK(g, "0", "1", "3", "255", "0xff");
    else
        PICK(g, "0.0", "1.0", "1e-5", "2", "inf", "0x1p-3", "0.5", "W");
}

/* A position, or a value that gathers. */
static void subscript(generator *g) {
    if (often(g, 25))
        PICK(g, "i", "I[r, w]", "(i & 7)", "(i * i)", "argmax[w](x)", "i64(i) + w");
    else
        position(g);
}

static void load(generator *g) {
    PICK(g, "X[", "Z[", "X[");
    subscript(g);
    put(g, ", ");
    subscript(g);
    put(g, "]");
    if (often(g, 90)) {
        put(g, " else ");
        PICK(g, "0.0", "-inf", "nan", "(0.5 + 1.0)", "-1e30");
    }
}

static void call(generator *g, int kind) {
    switch (below(g, 7)) {
    case 0:
        PICK(g, "exp(", "sqrt(", "tanh(", "erf(", "log(", "rsqrt(", "abs(", "f32(", "T(");
        expression(g, kind);
        break;
    case 1:
        PICK(g, "min(", "max(");
        expression(g, kind);
        put(g, ", ");
        expression(g, kind);
        break;
    case 2:
        put(g, "where(");
        expression(g, TRUTH);
        put(g, ", ");
        expression(g, kind);
        put(g, ", ");
        expression(g, kind);
        break;
    case 3:
        PICK(g, "sum[", "max[", "prod[", "min[");
        put(g, wild(g) ? "r](" : "w](");
        expression(g, kind);
        if (often(g, 20)) {
            put(g, ", order = ");
            PICK(g, "free", "left", "canonical", "canonical", "free");
        }
        break;
    case 4:
        PICK(g, "cumsum[w](", "cumprod[w](", "cummax[w](");
        expression(g, kind);
        PICK(g, "", "", ", exclusive = true", ", reverse = true, exclusive = C", ", order = left");
        break;
    case 5:
        put(g, "dot[w](");
        expression(g, kind);
        put(g, ", ");
        expression(g, kind);
        break;
    default:
        PICK(g, "twice(", "twice(", "centre[w](");
        expression(g, kind);
    }
    put(g, ")");
}

static void truth(generator *g) {
    if (g->depth > 5 || often(g, 60)) {
        expression(g, FLOAT);
        PICK(g, " < ", " <= ", " == ", " != ", " > ", " >= ");
        expression(g, FLOAT);
        return;
    }
    PICK(g, "", "not ");
    put(g, "(");
    truth(g);
    PICK(g, " and ", " or ");
    truth(g);
    put(g, ")");
}

static void expression(generator *g, int kind) {
    if (wild(g)) {
        anything(g);
        return;
    }
    g->depth++;
    if (kind == TRUTH) {
        put(g, "(");
        truth(g);
        put(g, ")");
    } else if (g->depth > 5 || often(g, 30)) {
        name(g, kind);
    } else {
        unsigned what = below(g, g->function ? 4 : 6);
        if (what < 2) {
            expression(g, kind);
            if (kind == INTEGER)
                PICK(g, " + ", " - ", " * ", " // ", " % ", " & ", " | ", " ^ ", " << ", " >> ");
            else
                PICK(g, " + ", " - ", " * ", " / ");
            expression(g, kind);
        } else if (what == 2) {
            put(g, often(g, 50) ? "-(" : "(");
            expression(g, kind);
            put(g, " + ");
            number(g, kind);
            put(g, ")");
        } else if (what == 3 || kind == INTEGER) {
            name(g, kind);
        } else if (what == 4) {
            put(g, "(");
            load(g);
            put(g, ")");
        } else {
            call(g, kind);
        }
    }
    g->depth--;
}

static void assign(generator *g) {
    bool fresh = !g->function && (g->names == 0 || often(g, 60)), bound = false;
    if (g->function) {
        PICK(g, "y", "x", "y");
    } else if (fresh) {
        bound = g->block == 1; /* a name of an inner block may not live on */
        twi_sb_printf(&g->out, "v%d", bound ? g->names : 90 + g->block);
    } else {
        twi_sb_printf(&g->out, "v%u", below(g, (unsigned)g->names));
    }
    put(g, !g->function && !fresh && often(g, 20) ? " += " : " = ");
    expression(g, FLOAT);
    g->names += bound;
}

static void statement(generator *g);

static void block(generator *g) {
    put(g, "{");
    g->block++;
    for (unsigned k = below(g, 3) + 1; k--;) {
        line(g);
        statement(g);
    }
    g->block--;
    line(g);
    put(g, "}");
}

static void loop(generator *g) {
    PICK(g, "serial", "serial", "repeat");
    twi_sb_printf(&g->out, " t%d: ", g->block);
    PICK(g, "3", "0 .. 4", "1 .. S", "W", "0 .. min(W, 5)", "S", "0 .. I[r, 0]",
         "N0[r] .. N0[r] + 3");
    if (often(g, 20))
        put(g, " tile 2");
    put(g, " ");
    block(g);
}

static void statement(generator *g) {
    unsigned what = below(g, 10);
    if (wild(g)) {
        anything(g);
    } else if (what == 0 && g->block < 4) {
        put(g, "if ");
        PICK(g, "C", "not C", "S == 1", "S > 1 and C", "E == relu", "E != none or C", "P == 2");
        put(g, " ");
        block(g);
        if (often(g, 40)) {
            put(g, " else ");
            block(g);
        }
    } else if (what == 1 && g->block < 4) {
        loop(g);
    } else if (what == 2) {
        PICK(g, "atomic_add(H[i], 1)", "atomic_add(H[i & 7], i) when i > 2",
             "atomic_add(H[I[r, w]], 2)", "atomic_max(A[r], sum[w](f32(x)))",
             "atomic_max(A[i], 1.0) when C");
    } else {
        assign(g);
    }
}

static void functions(generator *g) {
    put(g, "fn twice(x) ");
    g->function = true;
    if (often(g, 50)) {
        PICK(g, "= x + x / ", "= (x + x) * 0.5 + ", "= exp(x) - ", "= -x * ");
        number(g, FLOAT);
        put(g, "\n");
    } else {
        put(g, "{ y = x; ");
        assign(g);
        put(g, "; return y }\n");
    }
    g->function = false;
    put(g, "fn centre[w](x) = x - sum[w](x) / extent(w)\n");
}

static void kernel(generator *g) {
    put(g, "kernel k");
    PICK(g, "[T in {f16}, ", "[T in {f32, bf16}, ", "[T in {f32}, ", "[T in {f16, f32}, ");
    put(g, "C in {false, true}, S = 3, E = relu](X: T[R, W], Z: T[R, W], G: T[W], I: "
           "i32[R, W], N0: i64[R], inout H: i32[8], out A: f32[R] = -inf, out Y: T[R, W]");
    PICK(g, "", " = 0", " = -inf");
    put(g, ", out J: i32[R, W] = 0, s: f32 = 1e-3) {\n  ");
    if (often(g, 30))
        PICK(g, "requires R <= W\n  ", "requires W % 2 == 0, R == W\n  ",
             "requires R + 1 <= W and W != 7\n  ");
    put(g, "param P in {2}\n  ");
    if (often(g, 20))
        PICK(g, "numerics { order = canonical }\n  ",
             "numerics { order = left, math = portable }\n  ");
    PICK(g, "parallel r: R {", "parallel r: 0 .. R {", "parallel r: R, q: 1 {");
    g->block = 1;
    line(g);
    PICK(g, "axis w: W", "axis w: 0 .. W");
    line(g);
    put(g, "x = X[r, w]; i = I[r, w]");
    for (unsigned k = below(g, 6) + 1; k--;) {
        line(g);
        statement(g);
    }
    line(g);
    put(g, "Y[r, w] = ");
    expression(g, FLOAT);
    if (often(g, 20)) {
        put(g, " when ");
        expression(g, TRUTH);
    }
    line(g);
    put(g, "J[r, w] = ");
    expression(g, INTEGER);
    put(g, "\n  }\n}\n");
}

void generate_program(generator *g, uint64_t seed, unsigned how_wild, twi_arena *arena) {
    *g = (generator){.wild = how_wild};
    twi_rng_init(&g->rng, seed);
    twi_sb_init(&g->out, arena);
    functions(g);
    kernel(g);
}
