/* SPDX-License-Identifier: Apache-2.0
 * Recorded targets that are built in, each in its text form: the bytes of caps/NAME.caps. simt32,
 * simt4 and simt1 are no devices: the loop IR interpreter runs their plans. sm_80 is an A100 of
 * 80 GB, sm_90a an H200, sm_100 a B200; docs/porting.md names the sources of their figures.
 */
#include "caps/caps.h"

static const struct {
    const char *name, *text;
} records[] = {
    {"cpu-baseline",
     "caps cpu-baseline\nfamily cpu\nisa baseline\nvector_bytes 16\nregisters 16\n"
     "lane 4\nsub 1\nworkers 1\nshared 0\nbanks 1\nslots 64\nunits 1\n"
     "access_bytes 16\nindexable yes\nfma no\nf16 no\nbf16 no\nlane_ops yes\nprobe 0\n"
     "op_ns 0 0.25 2 12\nbyte_ns 0.1\nnear_byte_ns 0.02\nbarrier_ns 0\n"
     "launch_ns 1000\nlane_round_ns 0.5\ngroup_ns 5\ntrip_ns 0.5\n"},
    {"cpu-avx2", "caps cpu-avx2\nfamily cpu\nisa avx2\nvector_bytes 32\nregisters 16\nlane 8\n"
                 "sub 1\nworkers 1\nshared 0\nbanks 1\nslots 64\nunits 1\naccess_bytes 32\n"
                 "indexable yes\nfma yes\nf16 no\nbf16 no\nlane_ops yes\nprobe 0\n"
                 "op_ns 0 0.25 2 10\nbyte_ns 0.1\nnear_byte_ns 0.02\nbarrier_ns 0\n"
                 "launch_ns 1000\nlane_round_ns 0.5\ngroup_ns 5\ntrip_ns 0.5\n"},
    {"cpu-avx512", "caps cpu-avx512\nfamily cpu\nisa avx512\nvector_bytes 64\nregisters 32\n"
                   "lane 16\nsub 1\nworkers 1\nshared 0\nbanks 1\nslots 64\nunits 1\n"
                   "access_bytes 64\nindexable yes\nfma yes\nf16 no\nbf16 no\nlane_ops yes\n"
                   "probe 0\nop_ns 0 0.25 3 10\nbyte_ns 0.1\nnear_byte_ns 0.02\nbarrier_ns 0\n"
                   "launch_ns 1000\nlane_round_ns 0.5\ngroup_ns 5\ntrip_ns 0.5\n"},
    {"simt32", "caps simt32\nfamily simt\nisa none\nvector_bytes 4\nregisters 255\nlane 32\n"
               "sub 8\nworkers 256\nshared 49152\nbanks 32\nslots 64\nunits 64\n"
               "access_bytes 16\nindexable no\nfma yes\nf16 yes\nbf16 yes\nlane_ops yes\n"
               "probe 0\nop_ns 0 1 16 20\nbyte_ns 0.0005\nnear_byte_ns 0.0002\nbarrier_ns 20\n"
               "launch_ns 4000\nlane_round_ns 4\ngroup_ns 50\ntrip_ns 4\n"},
    {"simt4", "caps simt4\nfamily simt\nisa none\nvector_bytes 4\nregisters 64\nlane 4\nsub 4\n"
              "workers 16\nshared 16384\nbanks 4\nslots 256\nunits 4\naccess_bytes 16\n"
              "indexable no\nfma yes\nf16 no\nbf16 no\nlane_ops yes\nprobe 0\nop_ns 0 1 16 20\n"
              "byte_ns 0.0005\nnear_byte_ns 0.0002\nbarrier_ns 20\nlaunch_ns 4000\n"
              "lane_round_ns 4\ngroup_ns 50\ntrip_ns 4\n"},
    {"sm_80", "caps sm_80\nfamily simt\nisa none\nvector_bytes 4\nregisters 255\nlane 32\n"
              "sub 32\nworkers 1024\nshared 166912\nbanks 32\nslots 64\nunits 108\n"
              "access_bytes 16\nindexable yes\nfma yes\nf16 no\nbf16 no\nlane_ops yes\n"
              "probe 0\nop_ns 0 1 16 20\nbyte_ns 0.00049\nnear_byte_ns 0.0002\n"
              "barrier_ns 20\nlaunch_ns 4000\nlane_round_ns 4\ngroup_ns 50\ntrip_ns 4\n"},
    {"sm_90a", "caps sm_90a\nfamily simt\nisa none\nvector_bytes 4\nregisters 255\nlane 32\n"
               "sub 32\nworkers 1024\nshared 232448\nbanks 32\nslots 64\nunits 132\n"
               "access_bytes 16\nindexable yes\nfma yes\nf16 no\nbf16 no\nlane_ops yes\n"
               "probe 0\nop_ns 0 1 16 20\nbyte_ns 0.00021\nnear_byte_ns 0.0001\n"
               "barrier_ns 20\nlaunch_ns 4000\nlane_round_ns 4\ngroup_ns 50\ntrip_ns 4\n"},
    {"sm_100", "caps sm_100\nfamily simt\nisa none\nvector_bytes 4\nregisters 255\nlane 32\n"
               "sub 32\nworkers 1024\nshared 232448\nbanks 32\nslots 64\nunits 148\n"
               "access_bytes 16\nindexable yes\nfma yes\nf16 no\nbf16 no\nlane_ops yes\n"
               "probe 0\nop_ns 0 1 16 20\nbyte_ns 0.000125\nnear_byte_ns 0.00006\n"
               "barrier_ns 20\nlaunch_ns 4000\nlane_round_ns 4\ngroup_ns 50\ntrip_ns 4\n"},
    {"simt1", "caps simt1\nfamily simt\nisa none\nvector_bytes 4\nregisters 64\nlane 1\nsub 32\n"
              "workers 32\nshared 16384\nbanks 4\nslots 256\nunits 4\naccess_bytes 16\n"
              "indexable no\nfma yes\nf16 no\nbf16 no\nlane_ops no\nprobe 0\nop_ns 0 1 16 20\n"
              "byte_ns 0.0005\nnear_byte_ns 0.0002\nbarrier_ns 20\nlaunch_ns 4000\n"
              "lane_round_ns 4\ngroup_ns 50\ntrip_ns 4\n"},
};

bool twi_caps_named(tw_context *ctx, const char *name, twi_caps *caps) {
    for (unsigned i = 0; i < sizeof records / sizeof records[0]; i++)
        if (strcmp(records[i].name, name) == 0)
            return twi_caps_parse(ctx, records[i].name, records[i].text, strlen(records[i].text),
                                  caps);
    return false;
}
