/* SPDX-License-Identifier: Apache-2.0 */
/* SHA-256 as in FIPS 180-4. */
#include "sha256.h"

#include <string.h>

#include "sha256_blocks.h"

const uint32_t tenon_sha256_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2,
};

static uint32_t turn(uint32_t x, unsigned by) { return x >> by | x << (32 - by); }

static uint32_t word(const uint8_t* at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* One round; instead of moving eight values on, the caller turns their names. */
static inline void mix(const uint32_t abc[3], uint32_t* d, const uint32_t efg[3], uint32_t* h,
                       uint32_t input)
{
    uint32_t a = abc[0], e = efg[0];
    uint32_t first =
        *h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & efg[1]) ^ (~e & efg[2])) + input;
    *d += first;
    *h = first + (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) +
         ((a & abc[1]) ^ (a & abc[2]) ^ (abc[1] & abc[2]));
}

/* One block of 64 bytes. */
static void absorb(uint32_t state[8], const uint8_t* block)
{
    uint32_t w[64];
    uint32_t s[8];
    for (int i = 0; i < 16; ++i) w[i] = word(block + 4 * i);
    for (int i = 16; i < 64; ++i) {
        uint32_t low = turn(w[i - 15], 7) ^ turn(w[i - 15], 18) ^ w[i - 15] >> 3;
        uint32_t high = turn(w[i - 2], 17) ^ turn(w[i - 2], 19) ^ w[i - 2] >> 10;
        w[i] = w[i - 16] + low + w[i - 7] + high;
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i += 8)
        for (int k = 0; k < 8; ++k) {
            uint32_t abc[3] = {s[(8 - k) & 7], s[(9 - k) & 7], s[(10 - k) & 7]};
            uint32_t efg[3] = {s[(12 - k) & 7], s[(13 - k) & 7], s[(14 - k) & 7]};
            mix(abc, &s[(11 - k) & 7], efg, &s[(15 - k) & 7],
                tenon_sha256_constants[i + k] + w[i + k]);
        }
    for (int i = 0; i < 8; ++i) state[i] += s[i];
}

static void absorb_all(uint32_t state[8], const uint8_t* data, size_t count)
{
    for (; count > 0; --count, data += 64) absorb(state, data);
}

void tenon_sha256_start(tenon_sha256* hash)
{
    static const uint32_t kStart[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                       0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(hash->state, kStart, sizeof kStart);
    hash->size = 0;
    hash->blocks = tenon_sha256_hardware();
    if (!hash->blocks) hash->blocks = absorb_all;
}

void tenon_sha256_add(tenon_sha256* hash, const void* data, size_t size)
{
    const uint8_t* at = data;
    size_t filled = (size_t)(hash->size % 64);
    hash->size += size;
    while (size > 0) {
        if (filled == 0 && size >= 64) {
            hash->blocks(hash->state, at, size / 64);
            at += size / 64 * 64;
            size %= 64;
            continue;
        }
        size_t part = 64 - filled < size ? 64 - filled : size;
        memcpy(hash->block + filled, at, part);
        at += part;
        size -= part;
        filled += part;
        if (filled < 64) return;
        hash->blocks(hash->state, hash->block, 1);
        filled = 0;
    }
}

void tenon_sha256_finish(tenon_sha256* hash, char hex[TENON_SHA256_HEX])
{
    static const uint8_t kPad[64] = {0x80};
    uint64_t bits = hash->size * 8;
    size_t filled = (size_t)(hash->size % 64);
    uint8_t length[8];
    for (int i = 0; i < 8; ++i) length[i] = (uint8_t)(bits >> (56 - 8 * i));
    tenon_sha256_add(hash, kPad, filled < 56 ? 56 - filled : 120 - filled);
    tenon_sha256_add(hash, length, sizeof length);
    for (int i = 0; i < 64; ++i)
        hex[i] = "0123456789abcdef"[hash->state[i / 8] >> (28 - 4 * (i % 8)) & 15];
    hex[64] = 0;
}

void tenon_sha256_hex(const void* data, size_t size, char hex[TENON_SHA256_HEX])
{
    tenon_sha256 hash;
    tenon_sha256_start(&hash);
    tenon_sha256_add(&hash, data, size);
    tenon_sha256_finish(&hash, hex);
}
