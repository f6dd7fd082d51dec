/* SPDX-License-Identifier: Apache-2.0
 * OpenCL C as data: the core language of 1.2 alone where subgroups have one lane, because it has no
 * operations between lanes; else with cl_khr_subgroups, cl_khr_subgroup_shuffle and
 * cl_intel_required_subgroup_size. Narrow floats are their bits. What stands in simt.def is CUDA's
 * too.
 */
#include "emit/simt.h"

static const twi_simt_words words = {
    .function = "static",
    .kernel = "__kernel __attribute__((reqd_work_group_size($0, 1, 1)))\nvoid",
    .array = "__global $0$T *restrict $1",
    .offsets = true,
    .group = "get_group_id(0)",
    .worker = "get_local_id(0)",
    /* which worker is which lane is left to the device */
    .lane = "get_sub_group_local_id()",
    .sub = "get_sub_group_id()",
    .lanes = "__attribute__((intel_reqd_sub_group_size($1)))\n",
    .subgroups = "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n",
    .shared = "__local $T $0[$1] __attribute__((aligned(16)));",
    .space = {"", "__global ", "__local ", "", ""},
    .barrier = {"sub_group_barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);",
                "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"},
    .lane_xor = {"@lanexor($0, $1)", NULL},
    .lane_read = {"@laneread($0, (uint)$1)", NULL},
    .lane_up = {"@laneup($0, $1)", NULL},
    .lane_down = {"@lanedown($0, $1)", NULL},
    .global = "volatile __global ",
    .swap = {"atomic_cmpxchg", "atom_cmpxchg"},
    .doubles = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
    .wide_atomics = "#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n",
};

/* 1.2 has none of floats; those of 64 bits are an extension, of which the base is used alone. */
static const twi_sized merge[TWI_MERGES][TWI_CLASSES] = {
    [TWI_MERGE_ADD] = TWI_SIMT_MERGE("atomic_add($0, $1)", "atom_add($0, $1)", "@mergeadd($0, $1)"),
    [TWI_MERGE_MIN] =
        TWI_SIMT_MERGE("atomic_min($0, $1)", "@mergemin($0, $1)", "@mergemin($0, $1)"),
    [TWI_MERGE_MAX] =
        TWI_SIMT_MERGE("atomic_max($0, $1)", "@mergemax($0, $1)", "@mergemax($0, $1)"),
};

/* The value of another lane; its own where there is none. Shuffles have no bool. */
enum { NUMBERS = 1 << TWI_CLASS_SINT | 1 << TWI_CLASS_UINT | 1 << TWI_CLASS_FLOAT };
#define OWN "    const uint own = get_sub_group_local_id();\n"
#define FROM_LANE(name, own, lane)                                                                 \
    {name,                                                                                         \
     NUMBERS,                                                                                      \
     false,                                                                                        \
     false,                                                                                        \
     "$Q $S @@($S x, uint n)\n{\n" own "    return sub_group_shuffle(x, " lane ");\n}\n",          \
     NULL},                                                                                        \
    {                                                                                              \
        name, 1 << TWI_CLASS_BOOL, false, false,                                                   \
            "$Q $S @@($S x, uint n)\n{\n" own "    return sub_group_shuffle((int)x, " lane         \
            ") != 0;\n}\n",                                                                        \
            NULL                                                                                   \
    }

static const twi_part parts[] = {
    FROM_LANE("lanexor", OWN, "own ^ n"),
    FROM_LANE("laneread", "", "n"),
    FROM_LANE("laneup", OWN, "own < n ? own : own - n"),
    FROM_LANE("lanedown", OWN, "own + n < get_sub_group_size() ? own + n : own"),
    {NULL, 0, false, false, NULL, NULL},
};

const twi_dialect twi_dialect_opencl = {
    .name = "OpenCL C",
    .opening = "/* Made by Tilewright from the kernel's loop IR: OpenCL C. */\n"
               "#pragma OPENCL FP_CONTRACT OFF\n",
    .simt = &words,
    .type =
        {
            [TW_BOOL] = "bool",
            [TW_I8] = "char",
            [TW_I16] = "short",
            [TW_I32] = "int",
            [TW_I64] = "long",
            [TW_U8] = "uchar",
            [TW_U16] = "ushort",
            [TW_U32] = "uint",
            [TW_U64] = "ulong",
            [TW_BF16] = "ushort",
            [TW_F16] = "ushort",
            [TW_F32] = "float",
            [TW_F64] = "double",
        },
    .merge = merge,
    .own = parts,
    .vector_type = "typedef struct __attribute__((aligned($1))) { $E e[$2]; } $0;\n",
    .bitcast = {"as_$T(($S)$0)", NULL},
    .wide_suffix = "L",
    .suffix = "",
    .infinity = "INFINITY",
    .pattern = {"as_float($0)", "as_double($0)"},
    .unroll = "#pragma unroll\n",
    .unroll_most = 4, /* drivers compile at run time: long bodies cost them minutes */
#include "emit/simt.def"
};
