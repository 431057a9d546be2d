/* SPDX-License-Identifier: Apache-2.0 */
/* A new file from an old one. */
#include "patch.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

#include "../common/error.h"

enum
{
    kBlock = 1 << 16
};

typedef struct
{
    int base; /* -1: none */
    int out;
    tenon_sha256 hash;
    tenon_patch_source source;
    uint8_t block[kBlock];
} patch;

static int put(patch* state, size_t size)
{
    const uint8_t* at = state->block;
    tenon_sha256_add(&state->hash, at, size);
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
    if (offset > INT64_MAX || size > INT64_MAX) return tenon_fail("an impossible piece");
    while (size > 0) {
        size_t part = size < kBlock ? (size_t)size : kBlock;
        ssize_t got = pread(state->base, state->block, part, (off_t)offset);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0) return tenon_fail("the old file is shorter than the patch says");
        if (put(state, (size_t)got) != 0) return -1;
        offset += (uint64_t)got;
        size -= (uint64_t)got;
    }
    return 0;
}

static int take(patch* state, uint64_t size)
{
    while (size > 0) {
        size_t part = size < kBlock ? (size_t)size : kBlock;
        if (state->source.read(state->source.self, state->block, part) != 0 ||
            put(state, part) != 0)
            return -1;
        size -= part;
    }
    return 0;
}

static int read_number(patch* state, uint64_t* value)
{
    uint8_t bytes[8];
    if (state->source.read(state->source.self, bytes, sizeof bytes) != 0) return -1;
    *value = 0;
    for (int i = 0; i < 8; ++i) *value |= (uint64_t)bytes[i] << (8 * i);
    return 0;
}

/* One operation; `is_over` tells that it was the last. */
static int apply_next(patch* state, bool* is_over)
{
    uint8_t kind;
    uint64_t first, size;
    if (state->source.read(state->source.self, &kind, 1) != 0) return -1;
    *is_over = kind == kTenonPatchEnd;
    if (*is_over) return 0;
    if (kind != kTenonPatchLiteral && (kind != kTenonPatchCopy || state->base < 0))
        return tenon_fail("a patch is damaged");
    if (read_number(state, &first) != 0) return -1;
    if (kind == kTenonPatchLiteral) return take(state, first);
    return read_number(state, &size) == 0 ? copy(state, first, size) : -1;
}

static int apply(patch* state)
{
    for (bool is_over = false; !is_over;)
        if (apply_next(state, &is_over) != 0) return -1;
    return 0;
}

int tenon_patch_apply(const char* base, const char* path, tenon_patch_source source,
                      char digest[TENON_SHA256_HEX])
{
    patch state = {.base = -1, .source = source};
    tenon_sha256_start(&state.hash);
    if (base[0]) {
        state.base = open(base, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
        if (state.base < 0) return tenon_fail("cannot read `%s`: %s", base, strerror(errno));
    }
    state.out = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    int status = state.out < 0 ? tenon_fail("cannot write: %s", strerror(errno)) : apply(&state);
    if (state.base >= 0) close(state.base);
    if (state.out >= 0 && close(state.out) != 0 && status == 0)
        status = tenon_fail("cannot write: %s", strerror(errno));
    tenon_sha256_finish(&state.hash, digest);
    if (status != 0) unlink(path);
    return status;
}
