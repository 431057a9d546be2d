/* SPDX-License-Identifier: Apache-2.0 */
/* A new file from an old one: pieces to copy and bytes that are new. */
#ifndef TENON_RUNTIME_RPC_PATCH_H
#define TENON_RUNTIME_RPC_PATCH_H

#include <stddef.h>

#include "sha256.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A patch is a series of u8 kinds with their fields; it may be longer than the memory. */
enum
{
    kTenonPatchCopy = 0,    /* u64 offset in the old file, u64 size */
    kTenonPatchLiteral = 1, /* u64 size, bytes */
    kTenonPatchEnd = 2
};

/** Where a patch comes from: `read` fills `data` with the next bytes, or fails with an error. */
typedef struct
{
    int (*read)(void* self, void* data, size_t size);
    void* self;
} tenon_patch_source;

/** Writes `path` as the patch of `base` ("": of nothing) says, and tells the SHA-256 of it; -1 with
 * an error, and no file, when that fails. */
int tenon_patch_apply(const char* base, const char* path, tenon_patch_source source,
                      char digest[TENON_SHA256_HEX]);

#ifdef __cplusplus
}
#endif

#endif
