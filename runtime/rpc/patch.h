/* SPDX-License-Identifier: Apache-2.0 */
/* A new file from an old one: pieces to copy and bytes that are new. */
#ifndef TENON_RUNTIME_RPC_PATCH_H
#define TENON_RUNTIME_RPC_PATCH_H

#include "../common/bytes.h"

#ifdef __cplusplus
extern "C" {
#endif

enum
{
    kTenonPatchCopy = 0,   /* u64 offset in the old file, u64 size */
    kTenonPatchLiteral = 1 /* u64 size, bytes */
};

/** Applies `ops`, a series of u8 kinds with the fields above, writing aside. `path` appears only
 * when the whole has the SHA-256 `expected`; -1 with an error, and no file, otherwise. */
int tenon_patch_apply(const char* base, const char* path, tenon_reader* ops, const char* expected);

#ifdef __cplusplus
}
#endif

#endif
