/* SPDX-License-Identifier: Apache-2.0
 * Helpers that OpenCL C and CUDA C++ share: plain functions in the words of both, with the meaning
 * of docs/numerics.md.
 */
#include "emit/dialect.h"

enum {
    SINT = 1 << TWI_CLASS_SINT,
    UINT = 1 << TWI_CLASS_UINT,
    FLOAT = 1 << TWI_CLASS_FLOAT,
    INT = SINT | UINT,
    ANY = INT | FLOAT
};

/* Compare and swap until nobody came between. */
#define SWAPPED(after)                                                                             \
    "$Q void @@($G$S *p, $S v)\n{\n"                                                               \
    "    union { $S number; $U bits; } now, next;\n"                                               \
    "    $U seen;\n"                                                                               \
    "    now.number = *p;\n"                                                                       \
    "    do {\n"                                                                                   \
    "        seen = now.bits;\n"                                                                   \
    "        next.number = " after ";\n"                                                           \
    "        now.bits = $K(($G$U *)p, seen, next.bits);\n"                                         \
    "    } while (now.bits != seen);\n}\n"

const twi_part twi_simt_parts[] = {
    /* floor division, x // 0 = 0, x % 0 = x; -1 apart, because least / -1 is undefined */
    {"idiv", SINT, false, false,
     "$Q $S @@($S x, $S y)\n{\n"
     "    return y == 0 ? 0 : y == -1 ? ($S)(0 - ($U)x)\n"
     "                    : x / y - (x % y != 0 && (x < 0) != (y < 0));\n}\n",
     NULL},
    {"idiv", UINT, false, false, "$Q $S @@($S x, $S y)\n{\n    return y == 0 ? 0 : x / y;\n}\n",
     NULL},
    {"imod", SINT, false, false,
     "$Q $S @@($S x, $S y)\n{\n"
     "    const $S m = y == 0 ? x : y == -1 ? 0 : x % y;\n"
     "    return y != 0 && m != 0 && (m < 0) != (y < 0) ? m + y : m;\n}\n",
     NULL},
    {"imod", UINT, false, false, "$Q $S @@($S x, $S y)\n{\n    return y == 0 ? x : x % y;\n}\n",
     NULL},
    {"bits", ANY, false, true,
     "$Q $T @@($S x)\n{\n"
     "    union { $S from; $T to; } u;\n"
     "    u.from = x;\n"
     "    return u.to;\n}\n",
     NULL},
    {"negative", FLOAT, false, false,
     "$Q int @@($S x)\n{\n"
     "    union { $S from; $I to; } u;\n"
     "    u.from = x;\n"
     "    return u.to < 0;\n}\n",
     NULL},
    /* IEEE 754-2019 minimum and maximum: NaN wins, -0 < +0 */
    {"max", FLOAT, false, false,
     "$Q $S @@($S x, $S y)\n{\n"
     "    return x == y ? (@negative(x) ? y : x) : x > y || x != x ? x : y;\n}\n",
     NULL},
    {"min", FLOAT, false, false,
     "$Q $S @@($S x, $S y)\n{\n"
     "    return x == y ? (@negative(x) ? x : y) : x < y || x != x ? x : y;\n}\n",
     NULL},
    {"max", INT, false, false, "$Q $S @@($S x, $S y)\n{\n    return x > y ? x : y;\n}\n", NULL},
    {"min", INT, false, false, "$Q $S @@($S x, $S y)\n{\n    return x < y ? x : y;\n}\n", NULL},
    {"abs", SINT, false, false, "$Q $S @@($S x)\n{\n    return x < 0 ? ($S)(0 - ($U)x) : x;\n}\n",
     NULL},
    /* float to integer: truncates, saturates, NaN gives 0 */
    {"sat", FLOAT, false, true,
     "$Q $T @@($S x)\n{\n"
     "    return x > $L && x < $H ? ($T)x : x >= $H ? ($T)$M : x <= $L ? ($T)$A : ($T)0;\n}\n",
     NULL},
    {"mergeadd", FLOAT, false, false, SWAPPED("now.number + v"), NULL},
    {"mergemin", ANY, false, false, SWAPPED("@min(now.number, v)"), NULL},
    {"mergemax", ANY, false, false, SWAPPED("@max(now.number, v)"), NULL},
    {NULL, 0, false, false, NULL, NULL},
};
