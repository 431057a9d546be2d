/* SPDX-License-Identifier: Apache-2.0 */
/* A new file from an old one. */
#include "patch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "../common/error.h"
#include "files.h"
#include "sha256.h"

enum
{
    kBlock = 1 << 16
};

typedef struct
{
    int base;
    int out;
    tenon_sha256 hash;
} patch;

static int put(patch* state, const void* data, size_t size)
{
    const uint8_t* at = data;
    tenon_sha256_add(&state->hash, data, size);
    while (size > 0) {
        ssize_t written = write(state->out, at, size);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return tenon_fail("cannot write: %s", strerror(errno));
        at += written;
        size -= (size_t)written;
    }
    return 0;
}

static int copy(patch* state, uint64_t offset, uint64_t size)
{
    uint8_t block[kBlock];
    if (offset > INT64_MAX || size > INT64_MAX) return tenon_fail("an impossible piece");
    while (size > 0) {
        size_t part = size < sizeof block ? (size_t)size : sizeof block;
        ssize_t got = pread(state->base, block, part, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return tenon_fail("the old file is shorter than the patch says");
        if (put(state, block, (size_t)got) != 0) return -1;
        offset += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return 0;
}

static int apply(patch* state, tenon_reader* ops)
{
    while (tenon_reader_left(ops) > 0) {
        uint8_t kind = tenon_read_u8(ops);
        uint64_t first = tenon_read_u64(ops);
        if (kind == kTenonPatchCopy) {
            uint64_t size = tenon_read_u64(ops);
            if (ops->failed || copy(state, first, size) != 0)
                return ops->failed ? tenon_fail("a patch is cut off") : -1;
        } else {
            const uint8_t* data = kind == kTenonPatchLiteral ? tenon_read_bytes(ops, first) : NULL;
            if (!data) return tenon_fail("a patch is damaged");
            if (put(state, data, (size_t)first) != 0) return -1;
        }
    }
    return 0;
}

int tenon_patch_apply(const char* base, const char* path, tenon_reader* ops, const char* expected)
{
    char part[kTenonPathCapacity + 8];
    char digest[TENON_SHA256_HEX];
    patch state;
    snprintf(part, sizeof part, "%s.part", path);
    tenon_sha256_start(&state.hash);
    state.base = open(base, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    if (state.base < 0) return tenon_fail("cannot read `%s`: %s", base, strerror(errno));
    state.out = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int status = state.out < 0 ? tenon_fail("cannot write `%s`: %s", path, strerror(errno))
                               : apply(&state, ops);
    close(state.base);
    if (state.out >= 0 && close(state.out) != 0 && status == 0)
        status = tenon_fail("cannot write `%s`: %s", path, strerror(errno));
    tenon_sha256_finish(&state.hash, digest);
    if (status == 0 && strcmp(digest, expected) != 0)
        status = tenon_fail("`%s` came out damaged", path);
    if (status == 0 && rename(part, path) != 0)
        status = tenon_fail("cannot write `%s`: %s", path, strerror(errno));
    if (status != 0) unlink(part);
    return status;
}
