/* SPDX-License-Identifier: Apache-2.0
 * CUDA C++ as data; the source includes nothing. Narrow floats are their bits. Shared memory is one
 * block given by the launch (twi_emit_shared bytes), because static arrays end at 48 KB.
 * Contraction is off and division right by the compiler's flags: --fmad=false --ftz=false
 * --prec-div=true
 * --prec-sqrt=true. What stands in simt.def is OpenCL's too.
 */
#include "emit/simt.h"

static const twi_simt_words words = {
    .function = "static __device__ __forceinline__",
    .kernel = "extern \"C\" __global__ __launch_bounds__($0)\nvoid",
    .array = "$0$T *__restrict__ $1",
    .group = "blockIdx.x",
    .worker = "threadIdx.x",
    .shared = "$T *const $0 = ($T *)(tw_shared + $2);",
    .shared_all = "extern __shared__ __align__(16) unsigned char tw_shared[];",
    .space = {"", "", "", "", ""},
    .barrier = {"__syncwarp();", "__syncthreads();"},
    .lane_xor = {"($T)__shfl_xor_sync(0xffffffffu, $0, $1, $2)", NULL},
    .lane_read = {"($T)__shfl_sync(0xffffffffu, $0, (int)$1, $2)", NULL},
    .lane_up = {"($T)__shfl_up_sync(0xffffffffu, $0, $1, $2)", NULL},
    .lane_down = {"($T)__shfl_down_sync(0xffffffffu, $0, $1, $2)", NULL},
    .async_part = "static __device__ __forceinline__ void tw_async%u(void *to, const void *from, "
                  "int real)\n{\n"
                  "    asm volatile(\"cp.async.%s.shared.global [%%0], [%%1], %u, %%2;\"\n"
                  "                 :: \"r\"((unsigned)__cvta_generic_to_shared(to)), \"l\"(from), "
                  "\"r\"(real) : \"memory\");\n}\n",
    .async_commit = "asm volatile(\"cp.async.commit_group;\" ::: \"memory\");",
    .async_wait = "asm volatile(\"cp.async.wait_group %u;\" ::: \"memory\");",
    .global = "",
    .swap = {"atomicCAS", "atomicCAS"},
};

/* The instruction for f32 flushes subnormals, so floats go by compare and swap. */
static const twi_sized merge[TWI_MERGES][TWI_CLASSES] = {
    [TWI_MERGE_ADD] =
        TWI_SIMT_MERGE("atomicAdd($0, $1)", "atomicAdd(($U *)$0, ($U)$1)", "@mergeadd($0, $1)"),
    [TWI_MERGE_MIN] = TWI_SIMT_MERGE("atomicMin($0, $1)", "atomicMin($0, $1)", "@mergemin($0, $1)"),
    [TWI_MERGE_MAX] = TWI_SIMT_MERGE("atomicMax($0, $1)", "atomicMax($0, $1)", "@mergemax($0, $1)"),
};

/* Instructions that the language has no word for. f16 and bf16 are their bits. */
#define INSTRUCTION(ptx, result, operand)                                                          \
    "$Q $T @@($S x)\n{\n    $T y;\n    asm(\"" ptx " %0, %1;\" : \"=" result "\"(y) : \"" operand  \
    "\"(x));\n    return y;\n}\n"
#define SINGLES(ptx)                                                                               \
    "$Q $S @@($S x, $S y)\n{\n    $S z;\n    asm(\"" ptx                                           \
    " %0, %1, %2;\" : \"=f\"(z) : \"f\"(x), \"f\"(y));\n    return z;\n}\n"

static const twi_part parts[] = {
    {"half", 1 << TWI_CLASS_FLOAT, false, true, INSTRUCTION("cvt.rn.f16.f32", "h", "f"), NULL},
    {"brain", 1 << TWI_CLASS_FLOAT, false, true, INSTRUCTION("cvt.rn.bf16.f32", "h", "f"), NULL},
    {"single", 1 << TWI_CLASS_FLOAT, false, true, INSTRUCTION("cvt.f32.f16", "f", "h"), NULL},
    /* IEEE 754-2019 minimum and maximum: NaN wins, -0 < +0 */
    {"max", 1 << TWI_CLASS_FLOAT, false, false, SINGLES("max.NaN.f32"), NULL},
    {"min", 1 << TWI_CLASS_FLOAT, false, false, SINGLES("min.NaN.f32"), NULL},
    {NULL, 0, false, false, NULL, NULL},
};

const twi_dialect twi_dialect_cuda = {
    .name = "CUDA C++",
    .opening = "/* Made by Tilewright from the kernel's loop IR: CUDA C++. */\n",
    .simt = &words,
    .type =
        {
            [TW_BOOL] = "bool",
#include "emit/c_types.def"
        },
    .merge = merge,
    .vector_type = "typedef struct __align__($1) { $E e[$2]; } $0;\n",
    .bitcast = {"@bits($0)", NULL},
    .wide_suffix = "LL",
    .suffix = "f",
    .pattern = {"__uint_as_float($0)", "__longlong_as_double((long long)$0)"},
    .widen_f16 = {"@single($0)", NULL},
    .widen_bf16 = {"__uint_as_float((unsigned)$0 << 16)", NULL},
    .narrow_f16 = {"@half($0)", NULL},
    .narrow_bf16 = {"@brain($0)", NULL},
    .single = parts,
    .unroll = "#pragma unroll\n",
    .loop = "#pragma unroll $C\n",
#include "emit/simt.def"
};
