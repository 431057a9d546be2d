/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 as in FIPS 180-4: the name and the check of everything that is sent to a board. */
#ifndef TENON_RUNTIME_RPC_SHA256_H
#define TENON_RUNTIME_RPC_SHA256_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum
{
    TENON_SHA256_HEX = 65 /* 64 digits and the end */
};

typedef struct
{
    uint32_t state[8];
    uint64_t size;
    uint8_t block[64];
    void (*blocks)(uint32_t state[8], const uint8_t* data,
                   size_t count); /* as this processor can */
} tenon_sha256;

void tenon_sha256_start(tenon_sha256* hash);
void tenon_sha256_add(tenon_sha256* hash, const void* data, size_t size);
/** Lower-case digits; the hash is used up. */
void tenon_sha256_finish(tenon_sha256* hash, char hex[TENON_SHA256_HEX]);

void tenon_sha256_hex(const void* data, size_t size, char hex[TENON_SHA256_HEX]);

#ifdef __cplusplus
}
#endif

#endif
