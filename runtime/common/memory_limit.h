/* SPDX-License-Identifier: Apache-2.0 */
/* How much memory a run may take for values whose sizes only the run knows. */
#ifndef TENON_RUNTIME_MEMORY_LIMIT_H
#define TENON_RUNTIME_MEMORY_LIMIT_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/** Bytes for a run whose inputs and constants have `given` bytes: 256 times those, at least 256 MiB
 * and at most half of the machine's memory; or what the environment's TENON_MEMORY_LIMIT says, a
 * number of bytes with K, M or G behind it. */
size_t tenon_memory_limit(size_t given);

#ifdef __cplusplus
}
#endif

#endif
