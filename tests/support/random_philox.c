/* SPDX-License-Identifier: Apache-2.0
 * Philox4x32-10 from its definition (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC'11): what clf_rand must give. */
#include "tests/support/random_make.h"

void rp_philox(uint64_t counter, uint64_t key, uint32_t out[4]) {
    uint32_t c[4] = {(uint32_t)counter, (uint32_t)(counter >> 32), 0, 0}, k[2] = {(uint32_t)key, (uint32_t)(key >> 32)};
    for (int round = 0; round < 10; round++) {
        uint64_t a = UINT64_C(0xD2511F53) * c[0], b = UINT64_C(0xCD9E8D57) * c[2];
        uint32_t n[4] = {(uint32_t)(b >> 32) ^ c[1] ^ k[0], (uint32_t)b, (uint32_t)(a >> 32) ^ c[3] ^ k[1], (uint32_t)a};
        for (int i = 0; i < 4; i++) c[i] = n[i];
        k[0] += 0x9E3779B9u;
        k[1] += 0xBB67AE85u;
    }
    for (int i = 0; i < 4; i++) out[i] = c[i];
}
