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
    .shared = "__local $T $0[$1];",
    .barrier = {"", "barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE);"},
    .doubles = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n",
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
    .bitcast = {"as_$T(($S)$0)", NULL},
    .wide_suffix = "L",
    .suffix = "",
    .infinity = "INFINITY",
    .pattern = {"as_float($0)", "as_double($0)"},
    .unroll = "#pragma unroll\n",
    .unroll_most = 4, /* drivers compile at run time: long bodies cost them minutes */
#include "emit/simt.def"
};
