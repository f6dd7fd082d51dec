/* SPDX-License-Identifier: Apache-2.0
 * Recorded targets that are built in, each in its text form: the bytes of caps/NAME.caps.
 * cpu-avx512-dots has the dot products of bytes and bf16 as well, cpu-avx512-tiles those of tiles
 * too; cpu-neon is any AArch64. simt32, simt4 and simt1 are no devices: the loop IR interpreter
 * runs their plans. sm_80 is an A100 of 80 GB, sm_90a an H200, sm_100 a B200, opencl-a770 an Arc
 * A770; docs/porting.md names the sources of their figures.
 */
#include "caps/caps.h"

static const struct {
    const char *name, *text;
} records[] = {
    {"cpu-baseline",
     "caps cpu-baseline\nfamily cpu\nisa baseline\nvector_bytes 16\nregisters 16\nlane 4\nsub "
     "1\nworkers 1\nshared 0\nbanks 1\nslots 64\nunits 1\nunit_workers 1\nunit_groups "
     "1\nunit_registers 0\nunit_shared 0\naccess_bytes 16\ncache_bytes 524288\nindexable yes\nfma "
     "no\nf16 no\nbf16 no\nhalf_casts no\nlane_ops yes\nprobe 0\nop_ns 0 0.25 2 12\nbyte_ns "
     "0.1\ncache_byte_ns "
     "0\nnear_byte_ns 0.02\nlatency_ns 0.4\nturn_ns 0\nbarrier_ns 0\nlaunch_ns 1000\nlane_round_ns "
     "0.5\ngroup_ns 5\ntrip_ns 0.5\n"},
    {"cpu-neon",
     "caps cpu-neon\nfamily cpu\nisa neon\nvector_bytes 16\nregisters 32\nlane 4\nsub 1\n"
     "workers 1\nshared 0\nbanks 1\nslots 64\nunits 1\nunit_workers 1\nunit_groups 1\n"
     "unit_registers 0\nunit_shared 0\naccess_bytes 16\ncache_bytes 1048576\nindexable yes\n"
     "fma yes\nf16 no\nbf16 no\nhalf_casts no\nlane_ops yes\nprobe 0\nop_ns 0 0.25 2 12\n"
     "byte_ns 0.1\ncache_byte_ns 0\nnear_byte_ns 0.02\nlatency_ns 0.4\nturn_ns 0\nbarrier_ns 0\n"
     "launch_ns 1000\nlane_round_ns 0.5\ngroup_ns 5\ntrip_ns 0.5\n"},
    {"cpu-avx2",
     "caps cpu-avx2\nfamily cpu\nisa avx2\nvector_bytes 32\nregisters 16\nlane 8\nsub "
     "1\nworkers 1\nshared 0\nbanks 1\nslots 64\nunits 1\nunit_workers 1\nunit_groups "
     "1\nunit_registers 0\nunit_shared 0\naccess_bytes 32\ncache_bytes 1048576\nindexable "
     "yes\nfma yes\nf16 no\nbf16 no\nhalf_casts no\nf16_casts yes\nlane_ops yes\nprobe 0\nop_ns 0 "
     "0.25 2 10\nbyte_ns "
     "0.1\ncache_byte_ns 0\nnear_byte_ns 0.02\nlatency_ns 0.4\nturn_ns 0\nbarrier_ns "
     "0\nlaunch_ns 1000\nlane_round_ns 0.5\ngroup_ns 5\ntrip_ns 0.5\n"},
    {"cpu-avx512",
     "caps cpu-avx512\nfamily cpu\nisa avx512\nvector_bytes 64\nregisters 32\nlane 16\nsub "
     "1\nworkers 1\nshared 0\nbanks 1\nslots 64\nunits 1\nunit_workers 1\nunit_groups "
     "1\nunit_registers 0\nunit_shared 0\naccess_bytes 64\ncache_bytes 2097152\nindexable yes\nfma "
     "yes\nf16 no\nbf16 no\nhalf_casts no\nf16_casts yes\nlane_ops yes\nprobe 0\nop_ns 0 0.25 3 "
     "10\nbyte_ns "
     "0.1\ncache_byte_ns "
     "0\nnear_byte_ns 0.02\nlatency_ns 0.4\nturn_ns 0\nbarrier_ns 0\nlaunch_ns 1000\nlane_round_ns "
     "0.5\ngroup_ns 5\ntrip_ns 0.5\n"},
    {"cpu-avx512-dots",
     "caps cpu-avx512-dots\nfamily cpu\nisa avx512\nvector_bytes 64\nregisters 32\nlane 16\nsub "
     "1\nworkers 1\nshared 0\nbanks 1\nslots 64\nunits 1\nunit_workers 1\nunit_groups "
     "1\nunit_registers 0\nunit_shared 0\naccess_bytes 64\ncache_bytes 2097152\nindexable yes\nfma "
     "yes\nf16 no\nbf16 no\nhalf_casts no\nf16_casts yes\ndpi8 yes\ndpbf16 yes\nlane_ops "
     "yes\nprobe 0\nop_ns 0 "
     "0.25 3 10\nbyte_ns "
     "0.1\ncache_byte_ns "
     "0\nnear_byte_ns 0.02\nlatency_ns 0.4\nturn_ns 0\nbarrier_ns 0\nlaunch_ns 1000\nlane_round_ns "
     "0.5\ngroup_ns 5\ntrip_ns 0.5\n"},
    {"cpu-avx512-tiles",
     "caps cpu-avx512-tiles\nfamily cpu\nisa avx512\nvector_bytes 64\nregisters 32\nlane 16\nsub "
     "1\nworkers 1\nshared 0\nbanks 1\nslots 64\nunits 1\nunit_workers 1\nunit_groups "
     "1\nunit_registers 0\nunit_shared 0\naccess_bytes 64\ncache_bytes 2097152\nindexable yes\nfma "
     "yes\nf16 no\nbf16 no\nhalf_casts no\nf16_casts yes\ndpi8 yes\ndpbf16 yes\ntdpbf16 yes\n"
     "lane_ops yes\nprobe 0\nop_ns 0 0.25 3 10\nbyte_ns "
     "0.1\ncache_byte_ns "
     "0\nnear_byte_ns 0.02\nlatency_ns 0.4\nturn_ns 0\nbarrier_ns 0\nlaunch_ns 1000\nlane_round_ns "
     "0.5\ngroup_ns 5\ntrip_ns 0.5\n"},
    {"simt32",
     "caps simt32\nfamily simt\nisa none\nvector_bytes 4\nregisters 255\nlane 32\nsub 8\nworkers "
     "256\nshared 49152\nbanks 32\nslots 64\nunits 64\nunit_workers 2048\nunit_groups "
     "32\nunit_registers 65536\nunit_shared 98304\naccess_bytes 16\nasync_bytes 16\n"
     "cache_bytes 8388608\nindexable "
     "no\nfma yes\nf16 yes\nbf16 yes\nhalf_casts no\nlane_ops yes\nprobe 0\nop_ns 0 0.16 1.6 "
     "5\nbyte_ns "
     "0.001\ncache_byte_ns 0.0004\nnear_byte_ns 0.0001\nlatency_ns 400\nturn_ns 0.64\nbarrier_ns "
     "20\nlaunch_ns 4000\nlane_round_ns 16\ngroup_ns 200\ntrip_ns 5\n"},
    {"simt4",
     "caps simt4\nfamily simt\nisa none\nvector_bytes 4\nregisters 64\nlane 4\nsub 4\nworkers "
     "16\nshared 16384\nbanks 4\nslots 256\nunits 4\nunit_workers 64\nunit_groups "
     "8\nunit_registers 4096\nunit_shared 32768\naccess_bytes 16\nasync_bytes 16\n"
     "cache_bytes 1048576\nindexable "
     "no\nfma yes\nf16 no\nbf16 no\nhalf_casts no\nlane_ops yes\nprobe 0\nop_ns 0 0.64 6.4 "
     "20\nbyte_ns "
     "0.01\ncache_byte_ns 0.004\nnear_byte_ns 0.001\nlatency_ns 400\nturn_ns 1\nbarrier_ns "
     "20\nlaunch_ns 4000\nlane_round_ns 16\ngroup_ns 200\ntrip_ns 5\n"},
    {"sm_80",
     "caps sm_80\nfamily simt\nisa none\nvector_bytes 4\nregisters 255\nlane 32\nsub 32\nworkers "
     "1024\nshared 166912\nprivate_bytes 65536\nbanks 32\nslots 64\nunits 108\nunit_workers "
     "2048\nunit_groups "
     "32\nunit_registers 65536\nunit_shared 167936\naccess_bytes 16\nasync_bytes 16\n"
     "cache_bytes "
     "41943040\nindexable yes\nfma yes\nf16 no\nbf16 no\nhalf_casts yes\nlane_ops yes\nprobe "
     "0\nop_ns 0 0.18 1.8 "
     "5\nbyte_ns 0.00049\ncache_byte_ns 0.00025\nnear_byte_ns 0.00006\nlatency_ns 400\nturn_ns "
     "0.71\nbarrier_ns 25\nlaunch_ns 600\nlane_round_ns 18\ngroup_ns 200\ntrip_ns 6\n"},
    {"sm_90a",
     "caps sm_90a\nfamily simt\nisa none\nvector_bytes 4\nregisters 255\nlane 32\nsub 32\nworkers "
     "1024\nshared 232448\nprivate_bytes 65536\nbanks 32\nslots 64\nunits 132\nunit_workers "
     "2048\nunit_groups "
     "32\nunit_registers 65536\nunit_shared 233472\naccess_bytes 16\nasync_bytes 16\n"
     "cache_bytes "
     "52428800\nindexable yes\nfma yes\nf16 no\nbf16 no\nhalf_casts yes\nlane_ops yes\nprobe "
     "0\nop_ns 0 0.134 1.4 "
     "4\nbyte_ns 0.00021\ncache_byte_ns 0.00016\nnear_byte_ns 0.00004\nlatency_ns 350\nturn_ns "
     "0.53\nbarrier_ns 20\nlaunch_ns 500\nlane_round_ns 15\ngroup_ns 200\ntrip_ns 5\n"},
    {"sm_100",
     "caps sm_100\nfamily simt\nisa none\nvector_bytes 4\nregisters 255\nlane 32\nsub 32\nworkers "
     "1024\nshared 232448\nprivate_bytes 65536\nbanks 32\nslots 64\nunits 148\nunit_workers "
     "2048\nunit_groups "
     "32\nunit_registers 65536\nunit_shared 233472\naccess_bytes 16\nasync_bytes 16\n"
     "cache_bytes "
     "132120576\nindexable yes\nfma yes\nf16 no\nbf16 no\nhalf_casts yes\nlane_ops yes\nprobe "
     "0\nop_ns 0 0.134 1.4 "
     "4\nbyte_ns 0.000125\ncache_byte_ns 0.0001\nnear_byte_ns 0.00004\nlatency_ns 400\nturn_ns "
     "0.53\nbarrier_ns 20\nlaunch_ns 500\nlane_round_ns 15\ngroup_ns 200\ntrip_ns 5\n"},
    {"opencl-a770",
     "caps opencl-a770\nfamily simt\nisa none\nvector_bytes 4\nregisters 64\nlane 16\nsub "
     "64\nworkers 1024\nshared 65536\nbanks 32\nslots 64\nunits 32\nunit_workers 2048\nunit_groups "
     "32\n"
     "unit_registers 131072\nunit_shared 131072\naccess_bytes 16\ncache_bytes 16777216\nindexable "
     "yes\nfma yes\nf16 no\nbf16 no\nhalf_casts no\nlane_ops yes\nprobe 0\nop_ns 0 0.06 0.6 "
     "3\nbyte_ns 0.0018\n"
     "cache_byte_ns 0.0006\nnear_byte_ns 0.0001\nlatency_ns 400\nturn_ns 0.48\nbarrier_ns "
     "30\nlaunch_ns 4000\nlane_round_ns 15\ngroup_ns 300\ntrip_ns 6\n"},
    {"simt1",
     "caps simt1\nfamily simt\nisa none\nvector_bytes 4\nregisters 64\nlane 1\nsub 32\nworkers "
     "32\nshared 16384\nbanks 4\nslots 256\nunits 4\nunit_workers 64\nunit_groups "
     "8\nunit_registers 4096\nunit_shared 32768\naccess_bytes 16\ncache_bytes 1048576\nindexable "
     "no\nfma yes\nf16 no\nbf16 no\nhalf_casts no\nlane_ops no\nprobe 0\nop_ns 0 0.64 6.4 "
     "20\nbyte_ns "
     "0.01\ncache_byte_ns 0.004\nnear_byte_ns 0.001\nlatency_ns 400\nturn_ns 1\nbarrier_ns "
     "20\nlaunch_ns 4000\nlane_round_ns 16\ngroup_ns 200\ntrip_ns 5\n"},
};

bool twi_caps_named(tw_context *ctx, const char *name, twi_caps *caps) {
    for (unsigned i = 0; i < sizeof records / sizeof records[0]; i++)
        if (strcmp(records[i].name, name) == 0)
            return twi_caps_parse(ctx, records[i].name, records[i].text, strlen(records[i].text),
                                  caps);
    return false;
}
