/* SPDX-License-Identifier: Apache-2.0 */
/* A new file from an old one: pieces to copy and bytes that are new. */
#ifndef TENON_RUNTIME_RPC_PATCH_H
#define TENON_RUNTIME_RPC_PATCH_H

#include <stddef.h>

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

typedef struct
{
    const char* base;   /* the old file; "" when there is none */
    const char* path;   /* the new file */
    const char* digest; /* its SHA-256 */
} tenon_patch_files;

/** Applies a patch, writing aside. The new file appears only when the whole has the digest; -1 with
 * an error, and no file, otherwise. */
int tenon_patch_apply(const tenon_patch_files* files, tenon_patch_source source);

#ifdef __cplusplus
}
#endif

#endif
