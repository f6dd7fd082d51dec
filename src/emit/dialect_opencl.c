/* SPDX-License-Identifier: Apache-2.0
 * OpenCL C 1.2 as data: the core language alone. Narrow floats are their bits; subgroups have one
 * lane, because 1.2 has no operations between lanes. What stands in simt.def is CUDA's too.
 */
#include "emit/simt.h"

static const twi_simt_words words = {
    .function = "static",
    .kernel = "__kernel __attribute__((reqd_work_group_size($0, 1, 1)))\nvoid",
    .array = "__global $0$T *restrict $1",
    .offsets = true,
    .group = "get_group_id(0)",
    .worker = "get_local_id(0)",
    .shared = "__local $T $0[$1] __attribute__((aligned(16)));",
    .space = {"", "__global ", "__local ", "", ""},
    .barrier = {"", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"},
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

const twi_dialect twi_dialect_opencl = {
    .name = "OpenCL C",
    .opening = "/* Made by Tilewright from the kernel's loop IR: OpenCL C 1.2. */\n"
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
