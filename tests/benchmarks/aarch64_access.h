/* SPDX-License-Identifier: Apache-2.0 */
/* Which A64 instructions load and which store, by the groups of their encoding ("Loads and Stores"
 * and "SVE encodings" in Arm's manual of the architecture). */
#pragma once

#include <stdint.h>

enum
{
    kNoAccess,
    kLoad,
    kStore,
    kAccessKinds
};

static inline uint32_t bits_of(uint32_t word, int high, int low)
{
    return word >> low & ((1u << (high - low + 1)) - 1);
}

/* Of one register: bits 23 and 22 say which way; those of single numbers have a prefetch among
 * them. */
static inline int access_of_register(uint32_t word)
{
    const uint32_t way = bits_of(word, 23, 22);
    const int is_vector = bits_of(word, 26, 26) != 0;
    if (is_vector) return way & 1 ? kLoad : kStore;
    if (bits_of(word, 31, 30) == 3 && way == 2) return kNoAccess;
    return way == 0 ? kStore : kLoad;
}

static inline int aarch64_access(uint32_t word)
{
    if (bits_of(word, 28, 25) == 2 && bits_of(word, 31, 31)) /* scalable vectors */
        return bits_of(word, 31, 29) == 7 ? kStore : kLoad;
    if (!bits_of(word, 27, 27) || bits_of(word, 25, 25)) return kNoAccess;
    switch (bits_of(word, 29, 28)) {
    case 1: /* of a place beside the code, except where bit 24 is set */
        if (bits_of(word, 24, 24)) return bits_of(word, 23, 22) == 0 ? kStore : kLoad;
        return bits_of(word, 31, 30) == 3 && !bits_of(word, 26, 26) ? kNoAccess : kLoad;
    case 3: return access_of_register(word);
    default: return bits_of(word, 22, 22) ? kLoad : kStore; /* pairs, several, exclusive ones */
    }
}
