/* SPDX-License-Identifier: Apache-2.0
 * C for gcc and clang with vector extensions, as data. Vectors of truth values are masks of signed
 * integers, all ones or zero, as comparisons give them. Helpers copy their arguments once, because
 * those may be expressions. Meaning of the operations: docs/numerics.md.
 */
#include "emit/dialect.h"

enum {
    BOOL = 1 << TWI_CLASS_BOOL,
    SINT = 1 << TWI_CLASS_SINT,
    UINT = 1 << TWI_CLASS_UINT,
    FLOAT = 1 << TWI_CLASS_FLOAT,
    INT = SINT | UINT,
    ANY = INT | FLOAT
};

#define PICK "(($T)(($I)$2 ^ ((($I)$1 ^ ($I)$2) & $0)))"
#define EACH "for (int l_ = 0; l_ < $C; l_++) "

#define LOADN                                                                                      \
    "#define @@(p, n, e) ({ \\\n"                                                                  \
    "    $S r_ = (e); const long long n_ = (n); \\\n"                                              \
    "    __builtin_memcpy(&r_, (p), (unsigned long)(n_ < 0 ? 0 : n_ < $C ? n_ : $C) * $Z); \\\n"   \
    "    r_; })\n"
#define STOREN                                                                                     \
    "#define @@(p, n, v) ({ \\\n"                                                                  \
    "    const $S v_ = (v); const long long n_ = (n); \\\n"                                        \
    "    __builtin_memcpy((p), &v_, (unsigned long)(n_ < 0 ? 0 : n_ < $C ? n_ : $C) * $Z); })\n"

#define FMA                                                                                        \
    "#define @@(a, b, c) ({ \\\n"                                                                  \
    "    const $S a_ = (a), b_ = (b), c_ = (c); $S r_ = {0}; \\\n"                                 \
    "    " EACH "r_[l_] = __builtin_fma$F(a_[l_], b_[l_], c_[l_]); \\\n"                           \
    "    r_; })\n"

/* IEEE 754-2019 maximum and minimum of vectors. */
#define BETTER(than, equal)                                                                        \
    "#define @@(a, b) ({ \\\n"                                                                     \
    "    const $S a_ = (a), b_ = (b); \\\n"                                                        \
    "    const $I g_ = ($I)(a_ " than " b_) | ($I)(a_ != a_), e_ = ($I)(a_ == b_); \\\n"           \
    "    const $I x_ = ($I)a_, y_ = ($I)b_; \\\n"                                                  \
    "    ($S)((e_ & " equal ") | (~e_ & ((g_ & x_) | (~g_ & y_)))); })\n"

/* x86's range instruction orders zeros so (5: the greater, 4: the less, with its own sign), and
 * passes over NaN: it is kept from lanes that have one, which become NaN. */
#define RANGE(which, text)                                                                         \
    "#if defined __AVX512DQ__ && defined __AVX512VL__\n"                                           \
    "#define @@(a, b) ({ \\\n"                                                                     \
    "    const $S a_ = (a), b_ = (b); \\\n"                                                        \
    "    ($S)__builtin_ia32_rangep$P(a_, b_, " which ", __builtin_nan$F(\"\") - ($S){0}, \\\n"     \
    "        __builtin_ia32_cmpp$P(a_, b_, 7, -1$D)$D); })\n"                                      \
    "#else\n" text "#endif\n"

/* a / s for a vector a and one s, to the bit (Markstein 1990; tests/unit/compile/division.c): the
 * quotient by the rounded reciprocal, corrected once by the remainder, which fma gives. Where a or
 * s is so small or large (or infinite, NaN, -0) that a step could leave the normal numbers, the
 * division itself: s from 2^-60 to 2^60, a +0 or from 2^-63 to 2^65, whose exponent's upper bit is
 * set once 64 is added. s is the same in all trips, so that a compiler takes its part out of the
 * loop. */
#define OVER                                                                                       \
    "#if defined __AVX512F__ && $B * $N == 512 && $Z == 4\n"                                       \
    "#ifndef TW_CLEAR\n"                                                                           \
    "#ifdef __clang__\n"                                                                           \
    "#define TW_CLEAR(u, bit, m) __builtin_ia32_cmpd512_mask((u) & (bit), (bit) ^ (bit), 0, m)\n"  \
    "#else\n"                                                                                      \
    "#define TW_CLEAR(u, bit, m) __builtin_ia32_ptestnmd512((u), (bit), m)\n"                      \
    "#endif\n"                                                                                     \
    "#endif\n"                                                                                     \
    "#define @@(a, v, s) ({ \\\n"                                                                  \
    "    const $S a_ = (a); $S q_; \\\n"                                                           \
    "    const $E s_ = (s), r_ = 1.0f / s_; \\\n"                                                  \
    "    const unsigned b_ = ((union { $E f; unsigned u; }){s_}).u << 1; \\\n"                     \
    "    const $I e_ = ($I)(($U)a_ + 0x20000000u), bit_ = 0x40000000 - ($I){0}; \\\n"              \
    "    const short some_ = (short)__builtin_ia32_cmpd512_mask(($I)a_, ($I){0}, 4, -1); \\\n"     \
    "    if (__builtin_expect(b_ - 0x43000000u < 0x78000000u && \\\n"                              \
    "                         (short)TW_CLEAR(e_, bit_, some_) == 0, 1)) { \\\n"                   \
    "        const $S r2_ = r_ - ($S){0}; \\\n"                                                    \
    "        q_ = a_ * r2_; \\\n"                                                                  \
    "        q_ = @fma(@fma(-q_, (v), a_), r2_, q_); \\\n"                                         \
    "    } else { \\\n"                                                                            \
    "        q_ = a_ / (v); \\\n"                                                                  \
    "    } \\\n"                                                                                   \
    "    q_; })\n"                                                                                 \
    "#else\n"                                                                                      \
    "#define @@(a, v, s) ((a) / (v))\n"                                                            \
    "#endif\n"

/* exp's last step (loop/scalar.h), x * 2^n by n's halves, the first product exact. What comes to 0
 * or to infinity is chosen by n, and no product makes it: where a lane's result is subnormal or
 * lost, x86 takes a hundred cycles for the vector. */
#define SCALE                                                                                      \
    "#define @@(x, n) ({ \\\n"                                                                     \
    "    const $S n_ = (n); const $I none_ = ($I)(n_ < -150.5f), all_ = ($I)(n_ > 128.5f); \\\n"   \
    "    const $I far_ = none_ | all_; \\\n"                                                       \
    "    const $I k_ = ($I)($U)(($U)(n_ + 0x1.8p+23f) - 0x4b400000u) & ~far_, h_ = k_ >> 1; "      \
    "\\\n"                                                                                         \
    "    const $S f_ = ($S)((($U)h_ << 23) + 0x3f800000u); \\\n"                                   \
    "    const $S g_ = ($S)((($U)(k_ - h_) << 23) + 0x3f800000u); \\\n"                            \
    "    ($S)((($I)((x) * f_ * g_) & ~far_) | (all_ & 0x7f800000)); })\n"
#define SCALE_ONE                                                                                  \
    "#define @@(x, n) ({ \\\n"                                                                     \
    "    const $S n_ = (n); const int far_ = n_ < -150.5f || n_ > 128.5f; \\\n"                    \
    "    const $I k_ = far_ ? 0 : (union { $S f; $I i; }){n_ + 0x1.8p+23f}.i - 0x4b400000; \\\n"   \
    "    const $U h_ = ($U)(k_ >> 1), g_ = ($U)k_ - h_; \\\n"                                      \
    "    const $S f_ = (x) * (union { $U u; $S f; }){(h_ << 23) + 0x3f800000u}.f; \\\n"            \
    "    !far_ ? f_ * (union { $U u; $S f; }){(g_ << 23) + 0x3f800000u}.f \\\n"                    \
    "          : n_ < 0 ? 0.0f : __builtin_inff(); })\n"
/* The instruction gives infinity itself, of NaN and infinity too, which exp's polynomial makes of
 * infinity. */
#define SCALE_X86                                                                                  \
    "#if defined __AVX512F__ && defined __AVX512VL__\n"                                            \
    "#define @@(x, n) ({ \\\n"                                                                     \
    "    const $S n_ = (n); \\\n"                                                                  \
    "    ($S)__builtin_ia32_scalefp$P((x), n_, ($S){0}, \\\n"                                      \
    "        __builtin_ia32_cmpp$P(n_, ($S){0} - 150.5f, 5, -1$D)$D); })\n"                        \
    "#else\n" SCALE "#endif\n"

/* x86's builtin of a vector of 16 for which compilers find no single instruction, else the text. */
#define SIXTEEN(builtin, call, text)                                                               \
    "#if defined __AVX512F__ && $N == 16 && defined __has_builtin\n"                               \
    "#if __has_builtin(" builtin ")\n"                                                             \
    "#define @@" call "\n"                                                                         \
    "#endif\n"                                                                                     \
    "#endif\n"                                                                                     \
    "#ifndef @@\n" text "#endif\n"
#define CONVERT "#define @@(a) __builtin_convertvector((a), $T)\n"
/* Comparison and choice under a mask of bits; clang makes it of the text. */
#define MASKED "#if defined __AVX512F__ && !defined __clang__ && $N == 16\n"
#define TEST(call)                                                                                 \
    MASKED "#define @@(x, y, sign, n) " call "\n"                                                  \
           "#else\n"                                                                               \
           "#define @@(x, y, sign, n) (($I)((x) sign (y)))\n"                                      \
           "#endif\n"
#define BLEND                                                                                      \
    MASKED "#define @@(m, a, b) "                                                                  \
           "(($S)__builtin_ia32_blendmd_512_mask(($I)(b), ($I)(a), (m)))\n"                        \
           "#else\n"                                                                               \
           "#define @@(m, a, b) (($S)(($I)(b) ^ ((($I)(a) ^ ($I)(b)) & (m))))\n"                   \
           "#endif\n"
#define CHOOSE(than)                                                                               \
    "#define @@(a, b) ({ \\\n"                                                                     \
    "    const $S a_ = (a), b_ = (b); const $I g_ = ($I)(a_ " than " b_); \\\n"                    \
    "    ($S)((g_ & ($I)a_) | (~g_ & ($I)b_)); })\n"

/* Whole aligned vectors past the caches; what lies otherwise goes through them. */
#define STREAM                                                                                     \
    "#if defined __AVX512F__ && !defined __clang__ && $N * $Z == 64\n"                             \
    "#define @@(v, p) ({ \\\n"                                                                     \
    "    const $S v_ = (v); void *const p_ = (p); \\\n"                                            \
    "    typedef long long w_ __attribute__((vector_size($N * $Z), may_alias)); \\\n"              \
    "    if (((unsigned long)p_ & ($N * $Z - 1)) == 0) \\\n"                                       \
    "        __builtin_ia32_movntdq512((w_ *)p_, (w_)v_); \\\n"                                    \
    "    else \\\n"                                                                                \
    "        __builtin_memcpy(p_, &v_, sizeof v_); })\n"                                           \
    "#elif defined __AVX__ && !defined __clang__ && $N * $Z == 32\n"                               \
    "#define @@(v, p) ({ \\\n"                                                                     \
    "    const $S v_ = (v); void *const p_ = (p); \\\n"                                            \
    "    typedef long long w_ __attribute__((vector_size($N * $Z), may_alias)); \\\n"              \
    "    if (((unsigned long)p_ & ($N * $Z - 1)) == 0) \\\n"                                       \
    "        __builtin_ia32_movntdq256((w_ *)p_, (w_)v_); \\\n"                                    \
    "    else \\\n"                                                                                \
    "        __builtin_memcpy(p_, &v_, sizeof v_); })\n"                                           \
    "#else\n" THROUGH "#endif\n"
#define THROUGH "#define @@(v, p) ({ const $S v_ = (v); __builtin_memcpy((p), &v_, sizeof v_); })\n"

/* The instruction takes one operand without sign: the group's bytes are raised by 128 (their top
 * bit turned), and 128 times the sum of the other's is taken back, which is the same for all groups
 * that meet it. */
#define DOTS_OF_BYTES                                                                              \
    "#ifdef __AVX512VNNI__\n"                                                                      \
    "#ifdef __clang__\n"                                                                           \
    "#define TW_DPBUSD __builtin_ia32_vpdpbusd512\n"                                               \
    "#else\n"                                                                                      \
    "#define TW_DPBUSD __builtin_ia32_vpdpbusd_v16si\n"                                            \
    "#endif\n"                                                                                     \
    "#define @@(a, b, c) ({ \\\n"                                                                  \
    "    typedef unsigned u_ __attribute__((vector_size(sizeof($T)))); \\\n"                       \
    "    const $T b_ = ($T)(b), top_ = (int)0x80808080u - ($T){0}; \\\n"                           \
    "    const $T g_ = ((int)(a) - ($T){0}) ^ top_; \\\n"                                          \
    "    TW_DPBUSD(($T)((u_)(c) - (u_)TW_DPBUSD(($T){0}, top_, b_)), g_, b_); })\n"                \
    "#else\n"                                                                                      \
    "#define @@(a, b, c) ({ \\\n"                                                                  \
    "    const __typeof__(a) a_ = (a); const __typeof__(b) b_ = (b); $T r_ = (c); \\\n"            \
    "    " EACH "r_[l_] = (int)((unsigned)r_[l_] + (unsigned)(a_[0] * b_[4 * l_] + a_[1] * b_[4 "  \
    "* l_ + 1] \\\n"                                                                               \
    "                      + a_[2] * b_[4 * l_ + 2] + a_[3] * b_[4 * l_ + 3])); \\\n"              \
    "    r_; })\n"                                                                                 \
    "#endif\n"

/* f32 to bf16, to nearest even. The instruction takes subnormals as 0: vectors with one go by the
 * text. Compilers differ in the types of its builtin. */
#define ROUNDED                                                                                    \
    "#define @@(a) ({ \\\n"                                                                        \
    "    const $S a_ = (a); const $U u_ = ($U)a_, h_ = u_ >> 16, n_ = ($U)($I)(a_ != a_); \\\n"    \
    "    const $U r_ = (n_ & (h_ | 0x40u)) | (~n_ & ((u_ + 0x7fffu + (h_ & 1u)) >> 16)); \\\n"     \
    "    __builtin_convertvector(r_, $T); })\n"
#define ROUND_SIXTEEN                                                                              \
    "#if defined __AVX512BF16__ && defined __AVX512DQ__ && $N == 16\n"                             \
    "#define @@(a) ({ \\\n"                                                                        \
    "    const $S x_ = (a); $T y_; \\\n"                                                           \
    "    if (__builtin_expect(__builtin_ia32_fpclassps512_mask(x_, 0x20, -1) == 0, 1)) \\\n"       \
    "        __asm__(\"vcvtneps2bf16 %1, %0\" : \"=v\"(y_) : \"v\"(x_)); \\\n"                     \
    "    else \\\n"                                                                                \
    "        y_ = @roundplain(x_); \\\n"                                                           \
    "    y_; })\n"                                                                                 \
    "#else\n"                                                                                      \
    "#define @@(a) @roundplain(a)\n"                                                               \
    "#endif\n"
#define ROUND_ONE                                                                                  \
    "#define @@(x) ({ \\\n"                                                                        \
    "    const $S x_ = (x); const $U u_ = (union { $S f; $U u; }){x_}.u, h_ = u_ >> 16; \\\n"      \
    "    ($T)(x_ != x_ ? h_ | 0x40u : (u_ + 0x7fffu + (h_ & 1u)) >> 16); })\n"

/* f16 to f32 and back by x86's instructions, which round to nearest even (the 0), keep subnormals
 * and the upper bits of NaNs; compilers that are told of none go by the bits of one after the
 * other. */
#define HALVES                                                                                     \
    "#ifndef TW_F32_OF_F16\n"                                                                      \
    "#ifdef __F16C__\n"                                                                            \
    "#define TW_F32_OF_F16(h) ({ \\\n"                                                             \
    "    float w_; \\\n"                                                                           \
    "    __asm__(\"vcvtph2ps %1, %0\" : \"=v\"(w_) : \"v\"((int)(h))); \\\n"                       \
    "    w_; })\n"                                                                                 \
    "#define TW_F16_OF_F32(x) ({ \\\n"                                                             \
    "    int w_; \\\n"                                                                             \
    "    __asm__(\"vcvtps2ph %2, %1, %0\" : \"=v\"(w_) : \"v\"((float)(x)), \"i\"(0)); \\\n"       \
    "    (unsigned short)w_; })\n"                                                                 \
    "#else\n"                                                                                      \
    "#define TW_F32_OF_F16(h) ({ \\\n"                                                             \
    "    const unsigned h_ = (h), m_ = h_ & 0x7fffu; \\\n"                                         \
    "    union { unsigned u; float f; } w_ = {(m_ << 13) + 0x38000000u}; \\\n"                     \
    "    if (m_ < 0x400u) \\\n"                                                                    \
    "        w_.f = (float)m_ * 0x1p-24f; \\\n"                                                    \
    "    if (m_ >= 0x7c00u) \\\n"                                                                  \
    "        w_.u = (m_ << 13) | (m_ > 0x7c00u ? 0x7fc00000u : 0x7f800000u); \\\n"                 \
    "    w_.u |= (h_ & 0x8000u) << 16; \\\n"                                                       \
    "    w_.f; })\n"                                                                               \
    "#define TW_F16_OF_F32(x) ({ \\\n"                                                             \
    "    const unsigned u_ = ((union { float f; unsigned u; }){(x)}).u, m_ = u_ & 0x7fffffffu; "   \
    "\\\n"                                                                                         \
    "    unsigned h_ = (m_ - 0x37fff001u + (m_ >> 13 & 1u)) >> 13; \\\n"                           \
    "    if (m_ < 0x38800000u) \\\n"                                                               \
    "        h_ = ((union { float f; unsigned u; }){ \\\n"                                         \
    "            ((union { unsigned u; float f; }){m_}).f * 0x1p+24f + 0x1p+23f}).u & 0x7fffu; "   \
    "\\\n"                                                                                         \
    "    if (m_ >= 0x47800000u) \\\n"                                                              \
    "        h_ = m_ > 0x7f800000u ? (m_ >> 13 & 0x3ffu) | 0x7e00u : 0x7c00u; \\\n"                \
    "    (unsigned short)(h_ | (u_ >> 16 & 0x8000u)); })\n"                                        \
    "#endif\n"                                                                                     \
    "#endif\n"
/* `to` out of `from`: types that fit the registers of $N lanes. */
#define HALF_LANES(instruction, more, to, from)                                                    \
    "#define @@(a) ({ \\\n"                                                                        \
    "    const $S a_ = (a); " to " r_; \\\n"                                                       \
    "    __asm__(\"" instruction "\" : \"=v\"(r_) : \"v\"((" from ")a_)" more "); \\\n"            \
    "    ($T)r_; })\n"
#define WIDEN(to, from) HALF_LANES("vcvtph2ps %1, %0", "", to, from)
#define NARROW(to, from) HALF_LANES("vcvtps2ph %2, %1, %0", ", \"i\"(0)", to, from)
#define HALF_EACH(one)                                                                             \
    "#define @@(a) ({ \\\n"                                                                        \
    "    const $S a_ = (a); $T r_ = {0}; \\\n"                                                     \
    "    " EACH "r_[l_] = " one "(a_[l_]); \\\n"                                                   \
    "    r_; })\n"
#define OF_FOUR "#if defined __F16C__ && $N == 4\n"
#define OF_MORE "#elif defined __F16C__ && ($N == 8 || (defined __AVX512F__ && $N == 16))\n"
#define HALF_VECTORS(four, more, one)                                                              \
    HALVES OF_FOUR four OF_MORE more "#else\n" HALF_EACH(one) "#endif\n"

#define FLUSHED                                                                                    \
    "#ifndef TW_FLUSHED\n"                                                                         \
    "#define TW_FLUSHED(x) ({ \\\n"                                                                \
    "    const float x_ = (x); __builtin_fabsf(x_) < 0x1p-126f ? 0 * x_ : x_; })\n"                \
    "#define TW_HALF(u) TW_FLUSHED(((union { unsigned b; float f; }){(unsigned)(u) << 16}).f)\n"   \
    "#endif\n"

/* Types of the builtin's pairs differ from compiler to compiler. */
#define DOTS_OF_HALVES                                                                             \
    "#ifdef __AVX512BF16__\n"                                                                      \
    "#ifdef __clang__\n"                                                                           \
    "#define TW_DPBF16 __builtin_ia32_dpbf16ps_512\n"                                              \
    "#if __clang_major__ < 16\n"                                                                   \
    "typedef int tw_pairs __attribute__((vector_size(64)));\n"                                     \
    "#endif\n"                                                                                     \
    "#else\n"                                                                                      \
    "#define TW_DPBF16 __builtin_ia32_dpbf16ps_v16sf\n"                                            \
    "#if __GNUC__ < 13\n"                                                                          \
    "typedef short tw_pairs __attribute__((vector_size(64)));\n"                                   \
    "#endif\n"                                                                                     \
    "#endif\n"                                                                                     \
    "#if (defined __clang__ && __clang_major__ > 15) || (!defined __clang__ && __GNUC__ > 12)\n"   \
    "typedef __bf16 tw_pairs __attribute__((vector_size(64)));\n"                                  \
    "#endif\n"                                                                                     \
    "#define @@(a, b, c) TW_DPBF16((c), (tw_pairs)((int)(a) - ($I){0}), (tw_pairs)(b))\n"          \
    "#else\n" FLUSHED "#define @@(a, b, c) ({ \\\n"                                                \
    "    const __typeof__(a) a_ = (a); const __typeof__(b) b_ = (b); $T r_ = (c); \\\n"            \
    "    " EACH "for (int k_ = 1; k_ >= 0; k_--) \\\n"                                             \
    "        r_[l_] = TW_FLUSHED(__builtin_fmaf(TW_HALF(a_[k_]), TW_HALF(b_[2 * l_ + k_]), \\\n"   \
    "                                           TW_FLUSHED(r_[l_]))); \\\n"                        \
    "    r_; })\n"                                                                                 \
    "#endif\n"

/* A row of a tile: chains of the even and of the odd elements of 16 pairs. */
#define DOTS_OF_ROWS                                                                               \
    FLUSHED                                                                                        \
    "#define @@(a, b, c) ({ \\\n"                                                                  \
    "    const __typeof__(a) a_ = (a); const __typeof__(b) b_ = (b); \\\n"                         \
    "    $T r_ = (c), s_[2] = {{0}, {0}}; \\\n"                                                    \
    "    for (int k_ = 0; k_ < 32; k_++) \\\n"                                                     \
    "        " EACH "s_[k_ % 2][l_] = TW_FLUSHED(__builtin_fmaf( \\\n"                             \
    "            TW_HALF(a_[k_]), TW_HALF(b_[k_ / 2 * 2 * $C + 2 * l_ + k_ % 2]), s_[k_ % "        \
    "2][l_])); \\\n"                                                                               \
    "    " EACH "r_[l_] = TW_FLUSHED(TW_FLUSHED(r_[l_]) + TW_FLUSHED(s_[0][l_] + s_[1][l_])); "    \
    "\\\n"                                                                                         \
    "    r_; })\n"

/* Tiles 0 to 3 hold sums, of 16 rows and 16 columns each: rows 0 and columns 0, columns 1, rows 1
 * and columns 0, columns 1. 4 and 5 hold 32 elements of each row, 6 and 7 of each column, by pairs.
 * A process asks its kernel for them before the first use; a refusal shows there, as it does for
 * any instruction that a machine lacks. */
#define TILES                                                                                      \
    "#if defined __AMX_BF16__ || defined __AMXBF16__ /* clang before 16 */\n"                      \
    "#define TW_TILED 1\n"                                                                         \
    "static void tw_tiles_for(int rows, int *now)\n"                                               \
    "{\n"                                                                                          \
    "    struct { unsigned char palette, start, none[14]; unsigned short bytes[16]; unsigned "     \
    "char "                                                                                        \
    "rows[16]; }\n"                                                                                \
    "        tiles = {.palette = 1};\n"                                                            \
    "    static char asked;\n"                                                                     \
    "    long result;\n"                                                                           \
    "    if (*now == rows)\n"                                                                      \
    "        return;\n"                                                                            \
    "    if (!__atomic_load_n(&asked, __ATOMIC_RELAXED))\n"                                        \
    "        __asm__ volatile(\"syscall\" /* arch_prctl(ARCH_REQ_XCOMP_PERM, 18) */\n"             \
    "                         : \"=a\"(result) : \"a\"(158L), \"D\"(0x1023L), \"S\"(18L)\n"        \
    "                         : \"rcx\", \"r11\", \"memory\");\n"                                  \
    "    __atomic_store_n(&asked, 1, __ATOMIC_RELAXED);\n"                                         \
    "    for (int k = 0; k < 8; k++) {\n"                                                          \
    "        const int second = k == 2 || k == 3 || k == 5, first = k < 2 || k == 4;\n"            \
    "        const int of = second ? rows - 16 : first && rows < 16 ? rows : 16;\n"                \
    "        tiles.rows[k] = of > 0 ? of : 0;\n"                                                   \
    "        tiles.bytes[k] = of > 0 ? 64 : 0;\n"                                                  \
    "    }\n"                                                                                      \
    "    __asm__ volatile(\"ldtilecfg %0\" : : \"m\"(tiles));\n"                                   \
    "    *now = rows;\n"                                                                           \
    "}\n"                                                                                          \
    "#define TW_TILE_LOAD(tile, p, stride) \\\n"                                                   \
    "    __asm__ volatile(\"tileloadd (%0,%1,1), %%tmm\" #tile \\\n"                               \
    "                     : : \"r\"(p), \"r\"((long)(stride)) : \"memory\")\n"                     \
    "/* far: used once, so that it pushes nothing out of the first cache */\n"                     \
    "#define TW_TILE_TAKE(far, tile, p, stride) \\\n"                                              \
    "    if (far) \\\n"                                                                            \
    "        __asm__ volatile(\"tileloaddt1 (%0,%1,1), %%tmm\" #tile \\\n"                         \
    "                         : : \"r\"(p), \"r\"((long)(stride)) : \"memory\"); \\\n"             \
    "    else \\\n"                                                                                \
    "        TW_TILE_LOAD(tile, p, stride)\n"                                                      \
    "#define TW_TILE_ZERO(tile, p, stride) __asm__ volatile(\"tilezero %%tmm\" #tile ::)\n"        \
    "#define TW_TILE_STORE(tile, p, stride) \\\n"                                                  \
    "    __asm__ volatile(\"tilestored %%tmm\" #tile \", (%0,%1,1)\" \\\n"                         \
    "                     : : \"r\"(p), \"r\"((long)(stride)) : \"memory\")\n"                     \
    "#define TW_TILE_ADD(sum, a, b) \\\n"                                                          \
    "    __asm__ volatile(\"tdpbf16ps %%tmm\" #b \", %%tmm\" #a \", %%tmm\" #sum ::)\n"            \
    "#define TW_TILES_EACH(does) \\\n"                                                             \
    "    does(0, sums, stride); \\\n"                                                              \
    "    if (columns > 1) \\\n"                                                                    \
    "        does(1, sums + next, stride); \\\n"                                                   \
    "    if (rows > 16) \\\n"                                                                      \
    "        does(2, sums + 16 * stride, stride); \\\n"                                            \
    "    if (rows > 16 && columns > 1) \\\n"                                                       \
    "        does(3, sums + 16 * stride + next, stride)\n"                                         \
    "static inline void tw_tiles_load(int rows, int columns, const char *sums, long stride,\n"     \
    "                                 long next)\n"                                                \
    "{\n"                                                                                          \
    "    if (sums) {\n"                                                                            \
    "        TW_TILES_EACH(TW_TILE_LOAD);\n"                                                       \
    "    } else {\n"                                                                               \
    "        TW_TILES_EACH(TW_TILE_ZERO);\n"                                                       \
    "    }\n"                                                                                      \
    "}\n"                                                                                          \
    "static inline void tw_tiles_store(int rows, int columns, char *sums, long stride, long "      \
    "next)\n"                                                                                      \
    "{\n"                                                                                          \
    "    TW_TILES_EACH(TW_TILE_STORE);\n"                                                          \
    "}\n"                                                                                          \
    "static inline void tw_tiles_add(int rows, int columns, int far, const char *a, long row,\n"   \
    "                                const char *b, long column)\n"                                \
    "{\n"                                                                                          \
    "    TW_TILE_TAKE(far & 2, 6, b, 64);\n"                                                       \
    "    TW_TILE_TAKE(far & 1, 4, a, row);\n"                                                      \
    "    TW_TILE_ADD(0, 4, 6);\n"                                                                  \
    "    if (columns > 1) {\n"                                                                     \
    "        TW_TILE_TAKE(far & 2, 7, b + column, 64);\n"                                          \
    "        TW_TILE_ADD(1, 4, 7);\n"                                                              \
    "    }\n"                                                                                      \
    "    if (rows > 16) {\n"                                                                       \
    "        TW_TILE_TAKE(far & 1, 5, a + 16 * row, row);\n"                                       \
    "        TW_TILE_ADD(2, 5, 6);\n"                                                              \
    "    }\n"                                                                                      \
    "    if (rows > 16 && columns > 1)\n"                                                          \
    "        TW_TILE_ADD(3, 5, 7);\n"                                                              \
    "}\n"                                                                                          \
    "#define TW_UNTILE(rows) \\\n"                                                                 \
    "    if (rows) \\\n"                                                                           \
    "        __asm__ volatile(\"tilerelease\")\n"                                                  \
    "#else\n"                                                                                      \
    "#define TW_UNTILE(rows) (void)(rows)\n"                                                       \
    "#endif\n"

/* Compare and swap until nobody came between. */
#define SWAPPED(next)                                                                              \
    "#define @@(p, v) ({ \\\n"                                                                     \
    "    $S *const at_ = (p), more_ = (v); $S now_, then_; \\\n"                                   \
    "    __atomic_load(at_, &now_, __ATOMIC_RELAXED); \\\n"                                        \
    "    do then_ = " next "; \\\n"                                                                \
    "    while (!__atomic_compare_exchange(at_, &now_, &then_, 1, __ATOMIC_RELAXED, \\\n"          \
    "                                      __ATOMIC_RELAXED)); })\n"

static const twi_part parts[] = {
    /* floor division, x // 0 = 0, x % 0 = x; -1 apart, because least / -1 traps */
    {"idiv", SINT, false, false,
     "#define @@(x, y) ({ \\\n"
     "    const $S x_ = (x), y_ = (y); \\\n"
     "    ($S)(y_ == 0 ? 0 : y_ == -1 ? ($S)-($U)x_ : x_ / y_ - (x_ % y_ != 0 && (x_ < 0) != (y_ < "
     "0))); "
     "})\n",
     NULL},
    {"idiv", UINT, false, false,
     "#define @@(x, y) ({ const $S x_ = (x), y_ = (y); ($S)(y_ == 0 ? 0 : x_ / y_); })\n", NULL},
    {"imod", SINT, false, false,
     "#define @@(x, y) ({ \\\n"
     "    const $S x_ = (x), y_ = (y), m_ = y_ == 0 ? x_ : y_ == -1 ? 0 : x_ % y_; \\\n"
     "    ($S)(y_ != 0 && m_ != 0 && (m_ < 0) != (y_ < 0) ? m_ + y_ : m_); })\n",
     NULL},
    {"imod", UINT, false, false,
     "#define @@(x, y) ({ const $S x_ = (x), y_ = (y); ($S)(y_ == 0 ? x_ : x_ % y_); })\n", NULL},
    {"idivs", INT, true, false,
     "#define @@(a, b, one) ({ \\\n"
     "    const $S a_ = (a), b_ = (b); $S r_ = {0}; \\\n"
     "    " EACH "r_[l_] = one(a_[l_], b_[l_]); \\\n"
     "    r_; })\n",
     NULL},
    /* IEEE 754-2019 minimum and maximum: NaN wins, -0 < +0 */
    {"max", FLOAT, false, false,
     "#define @@(x, y) ({ \\\n"
     "    const $S x_ = (x), y_ = (y); \\\n"
     "    x_ == y_ ? (__builtin_signbit(x_) ? y_ : x_) : x_ > y_ || x_ != x_ ? x_ : y_; })\n",
     NULL},
    {"min", FLOAT, false, false,
     "#define @@(x, y) ({ \\\n"
     "    const $S x_ = (x), y_ = (y); \\\n"
     "    x_ == y_ ? (__builtin_signbit(x_) ? x_ : y_) : x_ < y_ || x_ != x_ ? x_ : y_; })\n",
     NULL},
    {"max", FLOAT, true, false, BETTER(">", "x_ & y_"), RANGE("5", BETTER(">", "x_ & y_"))},
    {"min", FLOAT, true, false, BETTER("<", "(x_ | y_)"), RANGE("4", BETTER("<", "(x_ | y_)"))},
    {"max", INT, false, false,
     "#define @@(x, y) ({ const $S x_ = (x), y_ = (y); x_ > y_ ? x_ : y_; })\n", NULL},
    {"min", INT, false, false,
     "#define @@(x, y) ({ const $S x_ = (x), y_ = (y); x_ < y_ ? x_ : y_; })\n", NULL},
    {"max", INT, true, false,
     "#define @@(a, b) ({ \\\n"
     "    const $S a_ = (a), b_ = (b); const $I g_ = ($I)(a_ > b_); \\\n"
     "    ($S)((g_ & ($I)a_) | (~g_ & ($I)b_)); })\n",
     NULL},
    {"min", INT, true, false,
     "#define @@(a, b) ({ \\\n"
     "    const $S a_ = (a), b_ = (b); const $I g_ = ($I)(a_ < b_); \\\n"
     "    ($S)((g_ & ($I)a_) | (~g_ & ($I)b_)); })\n",
     NULL},
    {"abs", SINT, true, false,
     "#define @@(a) ({ const $S a_ = (a), s_ = ($S)(a_ < 0); ($S)(($U)(a_ ^ s_) - ($U)s_); })\n",
     NULL},
    {"abs", SINT, false, false,
     "#define @@(x) ({ const $S x_ = (x); ($S)(x_ < 0 ? -($U)x_ : ($U)x_); })\n", NULL},
    /* the instruction by its name: compilers do not always find it in the loop */
    {"fma", FLOAT, true, false, FMA,
     "#if defined $J && defined __has_builtin\n"
     "#if __has_builtin(__builtin_ia32_vfmaddp$V)\n"
     "#define @@(a, b, c) (($S)__builtin_ia32_vfmaddp$V((a), (b), (c)$Y))\n"
     "#endif\n"
     "#endif\n"
     "#ifndef @@\n" FMA "#endif\n"},
    /* a comparison of vectors that is never true: zeros of the builtin's own type */
    {"widen", UINT, true, true, CONVERT,
     SIXTEEN("__builtin_ia32_pmovzxwd512_mask",
             "(a) (($T)__builtin_ia32_pmovzxwd512_mask(($I)(a), ($T){0} != ($T){0}, -1))",
             CONVERT)},
    {"narrow", UINT, true, true, CONVERT,
     SIXTEEN("__builtin_ia32_pmovdw512_mask",
             "(a) (($T)__builtin_ia32_pmovdw512_mask(($I)(a), ($T){0} != ($T){0}, -1))", CONVERT)},
    {"greater", FLOAT, true, false, CHOOSE(">"),
     SIXTEEN("__builtin_ia32_maxps512_mask",
             "(a, b) (($S)__builtin_ia32_maxps512_mask((a), (b), ($S){0}, -1, 4))", CHOOSE(">"))},
    {"less", FLOAT, true, false, CHOOSE("<"),
     SIXTEEN("__builtin_ia32_minps512_mask",
             "(a, b) (($S)__builtin_ia32_minps512_mask((a), (b), ($S){0}, -1, 4))", CHOOSE("<"))},
    {"test", FLOAT, true, false, TEST("__builtin_ia32_cmpps512_mask((x), (y), n, -1, 4)"), NULL},
    {"test", SINT, true, false, TEST("__builtin_ia32_cmpd512_mask((x), (y), n, -1)"), NULL},
    {"test", UINT, true, false, TEST("__builtin_ia32_ucmpd512_mask(($I)(x), ($I)(y), n, -1)"),
     NULL},
    {"blend", ANY, true, false, BLEND, NULL},
    {"scale", FLOAT, false, false, SCALE_ONE, NULL},
    {"scale", FLOAT, true, false, SCALE, SCALE_X86},
    {"round", FLOAT, false, true, ROUND_ONE, NULL},
    {"roundplain", FLOAT, true, true, ROUNDED, NULL},
    {"round", FLOAT, true, true, "#define @@(a) @roundplain(a)\n", ROUND_SIXTEEN},
    {"single", FLOAT, false, false, HALVES "#define @@(h) TW_F32_OF_F16(h)\n", NULL},
    {"single", FLOAT, true, true,
     HALF_VECTORS(WIDEN("$T", "long long"), WIDEN("$T", "$S"), "TW_F32_OF_F16"), NULL},
    {"half", FLOAT, false, false, HALVES "#define @@(x) TW_F16_OF_F32(x)\n", NULL},
    {"half", FLOAT, true, true,
     HALF_VECTORS(NARROW("long long", "$S"), NARROW("$T", "$S"), "TW_F16_OF_F32"), NULL},
    {"over", FLOAT, true, false, "#define @@(a, v, s) ((a) / (v))\n", OVER},
    {"dots", SINT, true, false, DOTS_OF_BYTES, NULL},
    {"dots", FLOAT, true, false, DOTS_OF_HALVES, NULL},
    {"rowdots", FLOAT, true, false, DOTS_OF_ROWS, NULL},
    {"sqrt", FLOAT, true, false,
     "#define @@(a) ({ \\\n"
     "    const $S a_ = (a); $S r_ = {0}; \\\n"
     "    " EACH "r_[l_] = __builtin_sqrt$F(a_[l_]); \\\n"
     "    r_; })\n",
     NULL},
    /* float to integer: truncates, saturates, NaN gives 0 */
    /* gcc 12 makes float of int of x the whole part of x, which is -0 where the int is 0: it must
     * not see where the int comes from */
    {"sat", FLOAT, false, true,
     "#define @@(x) ({ \\\n"
     "    const $S x_ = (x); \\\n"
     "    $T r_ = x_ > $L && x_ < $H ? ($T)x_ : x_ >= $H ? ($T)$M : x_ <= $L ? ($T)$A : ($T)0; \\\n"
     "    __asm__(\"\" : \"+r\"(r_)); r_; })\n",
     NULL},
    {"sat", FLOAT, true, true,
     "#define @@(a) ({ \\\n"
     "    const $S a_ = (a); \\\n"
     "    const $I o_ = ($I)(a_ >= $H), u_ = ($I)(a_ <= $L), i_ = ($I)(a_ > $L) & ($I)(a_ < $H); "
     "\\\n"
     "    const $T r_ = __builtin_convertvector(($S)(($I)a_ & i_), $T); \\\n"
     "    r_ | (__builtin_convertvector(o_, $T) & ($R)$M) | (__builtin_convertvector(u_, $T) & "
     "($R)$A); })\n",
     NULL},
    {"bits", ANY, false, true, "#define @@(x) (((union { $S from; $T to; }){(x)}).to)\n", NULL},
    /* the first n elements in memory, the rest from e: nothing beyond them is touched */
    {"first", ANY, true, false,
     "#define @@(n) \\\n"
     "    ((n) <= 0 ? 0 : (n) >= $C ? ~0ULL >> (64 - $C) : ~(~0ULL << (n)))\n",
     NULL},
    {"loadn", ANY, true, false, LOADN,
     "#if defined __AVX512VL__ && defined __AVX512BW__\n"
     "#define @@(p, n, e) \\\n"
     "    (($S)__builtin_ia32_loaddqu$X_mask((const void *)(p), ($I)(e), @first(n)))\n"
     "#else\n" LOADN "#endif\n"},
    {"storen", ANY, true, false, STOREN,
     "#if defined __AVX512VL__ && defined __AVX512BW__\n"
     "#define @@(p, n, v) \\\n"
     "    __builtin_ia32_storedqu$X_mask((void *)(p), ($I)(v), @first(n))\n"
     "#else\n" STOREN "#endif\n"},
    {"stream", ANY, true, false, THROUGH, STREAM},
    {"mergeadd", FLOAT, false, false, SWAPPED("now_ + more_"), NULL},
    {"mergemin", ANY, false, false, SWAPPED("@min(now_, more_)"), NULL},
    {"mergemax", ANY, false, false, SWAPPED("@max(now_, more_)"), NULL},
    {NULL, 0, false, false, NULL, NULL},
};

#define ALL_CLASSES(text)                                                                          \
    {                                                                                              \
        [TWI_CLASS_SINT] = {text, text}, [TWI_CLASS_UINT] = {text, text}, [TWI_CLASS_FLOAT] = {    \
            text,                                                                                  \
            text                                                                                   \
        }                                                                                          \
    }
#define FETCH_ADD "__atomic_fetch_add($0, $1, __ATOMIC_RELAXED)"
/* Groups run on several threads. */
static const twi_sized merge[TWI_MERGES][TWI_CLASSES] = {
    [TWI_MERGE_ADD] = {[TWI_CLASS_SINT] = {FETCH_ADD, FETCH_ADD},
                       [TWI_CLASS_UINT] = {FETCH_ADD, FETCH_ADD},
                       [TWI_CLASS_FLOAT] = {"@mergeadd($0, $1)", "@mergeadd($0, $1)"}},
    [TWI_MERGE_MIN] = ALL_CLASSES("@mergemin($0, $1)"),
    [TWI_MERGE_MAX] = ALL_CLASSES("@mergemax($0, $1)"),
};

#define SAME(scalar, vector)                                                                       \
    {                                                                                              \
        [TWI_CLASS_SINT] = {scalar, vector}, [TWI_CLASS_UINT] = {scalar, vector},                  \
        [TWI_CLASS_FLOAT] = {                                                                      \
            scalar,                                                                                \
            vector                                                                                 \
        }                                                                                          \
    }
#define INTS(scalar, vector)                                                                       \
    {                                                                                              \
        [TWI_CLASS_SINT] = {scalar, vector}, [TWI_CLASS_UINT] = { scalar, vector }                 \
    }
#define FLOATS(scalar, vector)                                                                     \
    {                                                                                              \
        [TWI_CLASS_FLOAT] = { scalar, vector }                                                     \
    }
#define BOOLS(scalar, vector)                                                                      \
    {                                                                                              \
        [TWI_CLASS_BOOL] = { scalar, vector }                                                      \
    }
/* The class of a comparison is that of its operands. */
#define COMPARE(sign)                                                                              \
    {                                                                                              \
        [TWI_CLASS_BOOL] = {"$0 " sign " $1", NULL},                                               \
        [TWI_CLASS_SINT] = {"$0 " sign " $1", "($I)($0 " sign " $1)"},                             \
        [TWI_CLASS_UINT] = {"$0 " sign " $1", "($I)($0 " sign " $1)"}, [TWI_CLASS_FLOAT] = {       \
            "$0 " sign " $1",                                                                      \
            "($I)($0 " sign " $1)"                                                                 \
        }                                                                                          \
    }
#define EQUAL(sign, mask)                                                                          \
    {                                                                                              \
        [TWI_CLASS_BOOL] = {"$0 " sign " $1", mask},                                               \
        [TWI_CLASS_SINT] = {"$0 " sign " $1", "($I)($0 " sign " $1)"},                             \
        [TWI_CLASS_UINT] = {"$0 " sign " $1", "($I)($0 " sign " $1)"}, [TWI_CLASS_FLOAT] = {       \
            "$0 " sign " $1",                                                                      \
            "($I)($0 " sign " $1)"                                                                 \
        }                                                                                          \
    }

const twi_dialect twi_dialect_c = {
    .name = "C",
    .opening = "/* Made by Tilewright from the kernel's loop IR: C for gcc or clang with vector "
               "extensions. */\n"
               "#ifdef __FAST_MATH__\n"
               "#error \"the meaning of this code needs IEEE arithmetic: no -ffast-math\"\n"
               "#endif\n"
               "#ifdef __clang__\n"
               "#pragma STDC FP_CONTRACT OFF\n"
               "#endif\n",
    .hooks = &twi_hooks_c,
    .type =
        {
            [TW_BOOL] = "_Bool",
#include "emit/c_types.def"
        },
    .op =
        {
            [TWI_ADD] = SAME("$0 + $1", "$0 + $1"),
            [TWI_SUB] = SAME("$0 - $1", "$0 - $1"),
            [TWI_MUL] = {[TWI_CLASS_SINT] = {"$0 * $1", "$0 * $1"},
                         [TWI_CLASS_UINT] = {"($S)(1u * $0 * $1)", "$0 * $1"},
                         [TWI_CLASS_FLOAT] = {"$0 * $1", "$0 * $1"}},
            [TWI_DIV] = FLOATS("$0 / $1", "$0 / $1"),
            [TWI_IDIV] = INTS("@idiv($0, $1)", "@idivs($0, $1, @idiv)"),
            [TWI_IMOD] = INTS("@imod($0, $1)", "@idivs($0, $1, @imod)"),
            [TWI_NEG] = SAME("-$0", "-$0"),
            [TWI_ABS] = {[TWI_CLASS_SINT] = {"@abs($0)", "@abs($0)"},
                         [TWI_CLASS_UINT] = {"$0", "$0"},
                         [TWI_CLASS_FLOAT] = {"__builtin_fabs$F($0)",
                                              "($S)(($U)$0 & (~($U){0} >> 1))"}},
            [TWI_MIN] = SAME("@min($0, $1)", "@min($0, $1)"),
            [TWI_MAX] = SAME("@max($0, $1)", "@max($0, $1)"),
            [TWI_FMA] = FLOATS("__builtin_fma$F($0, $1, $2)", "@fma($0, $1, $2)"),
            [TWI_SCALE] = FLOATS("@scale($0, $1)", "@scale($0, $1)"),
            [TWI_SQRT] = FLOATS("__builtin_sqrt$F($0)", "@sqrt($0)"),
            [TWI_EQ] = EQUAL("==", "~($0 ^ $1)"),
            [TWI_NE] = EQUAL("!=", "$0 ^ $1"),
            [TWI_LT] = COMPARE("<"),
            [TWI_LE] = COMPARE("<="),
            [TWI_GT] = COMPARE(">"),
            [TWI_GE] = COMPARE(">="),
            [TWI_AND] = BOOLS("$0 & $1", "$0 & $1"),
            [TWI_OR] = BOOLS("$0 | $1", "$0 | $1"),
            [TWI_NOT] = BOOLS("!$0", "~$0"),
            [TWI_BAND] = INTS("$0 & $1", "$0 & $1"),
            [TWI_BOR] = INTS("$0 | $1", "$0 | $1"),
            [TWI_BXOR] = INTS("$0 ^ $1", "$0 ^ $1"),
            [TWI_BNOT] = INTS("~$0", "~$0"),
            [TWI_SHL] = INTS("($S)(($U)$0 << ($1 & $W))", "($S)(($U)$0 << (($U)$1 & $W))"),
            [TWI_SHR] = INTS("$0 >> ($1 & $W)", "$0 >> ($1 & $W)"),
        },
    .test = {[0] = "@test($0, $1, ==, 0)",
             [TWI_NE - TWI_EQ] = "@test($0, $1, !=, 4)",
             [TWI_LT - TWI_EQ] = "@test($0, $1, <, 1)",
             [TWI_LE - TWI_EQ] = "@test($0, $1, <=, 2)",
             [TWI_GT - TWI_EQ] = "@test($1, $0, <, 1)",
             [TWI_GE - TWI_EQ] = "@test($1, $0, <=, 2)"},
    .blend = "@blend($0, $1, $2)",
    .over = "@over($0, $1, $2)",
    .widen_f16 = {"@single($0)", "@single($0)"},
    .narrow_f16 = {"@half($0)", "@half($0)"},
    .narrow_bf16 = {"@round($0)", "@round($0)"},
    .widen_u16 = {NULL, "@widen($0)"},
    .narrow_u32 = {NULL, "@narrow($0)"},
    .greater = {NULL, "@greater($0, $1)"},
    .less = {NULL, "@less($0, $1)"},
    /* numbers narrower than int are promoted to int: 1u makes it unsigned */
    .wrap =
        {
            [TWI_ADD] = {"($S)(($U)$0 + ($U)$1)", "($S)(($U)$0 + ($U)$1)"},
            [TWI_SUB] = {"($S)(($U)$0 - ($U)$1)", "($S)(($U)$0 - ($U)$1)"},
            [TWI_MUL] = {"($S)(1u * ($U)$0 * ($U)$1)", "($S)(($U)$0 * ($U)$1)"},
            [TWI_NEG] = {"($S)-($U)$0", "($S)-($U)$0"},
        },
    .to_bool = {"$0 != 0", "($I)($0 != ($S){0})"},
    .from_bool = {"($T)$0", "__builtin_convertvector(-$0, $T)"},
    .convert = {"($T)$0", "__builtin_convertvector($0, $T)"},
    .saturate = {"@sat($0)", "@sat($0)"},
    .bitcast = {"@bits($0)", "($T)$0"},
    .select = {"$0 ? $1 : $2", PICK},
    .dots = {[TWI_CLASS_SINT] = "@dots($0, $1, $2)", [TWI_CLASS_FLOAT] = "@dots($0, $1, $2)"},
    .row_dots = "@rowdots($0, $1, $2)",
    .tiles = TILES,
    .untiled = "    TW_UNTILE(rows_);\n",
    .merge = merge,
    .part = parts,
    .wide_suffix = "LL",
    .suffix = "f",
    .infinity = "__builtin_inf$F()",
    .pattern = {"((union { unsigned int b; float f; }){$0}).f",
                "((union { unsigned long long b; double f; }){$0}).f"},
    .vector_type = "typedef $E $0 __attribute__((vector_size($1)));\n",
    .access_type = "typedef $T $0 __attribute__((aligned($1), may_alias));\n",
    .parameters = "void *const *array, const unsigned long long *scalar, const long long *stride,\n"
                  "    const long long *trip, char *scratch, long long lo, long long hi",
    .unroll = "TW_UNROLL($C)\n",
    .guarded = "*(const volatile %s *)&%s",
    .stream = "@stream($0, $1);",
    .streamed = "    __sync_synchronize();\n",
    .ahead = {"__builtin_prefetch(%s + %s + %u);", "__builtin_prefetch(%s + %s + %u, 0, 2);"},
    .unroll_part = "#ifdef __clang__\n"
                   "#define TW_PRAGMA(text) _Pragma(#text)\n"
                   "#define TW_UNROLL(n) TW_PRAGMA(clang loop unroll(full))\n"
                   "#else\n"
                   "#define TW_PRAGMA(text) _Pragma(#text)\n"
                   "#define TW_UNROLL(n) TW_PRAGMA(GCC unroll n)\n"
                   "#endif\n",
};
