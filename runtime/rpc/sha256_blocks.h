/* SPDX-License-Identifier: Apache-2.0 */
/* The inner function of SHA-256, as the processor does it best. */
#ifndef TENON_RUNTIME_RPC_SHA256_BLOCKS_H
#define TENON_RUNTIME_RPC_SHA256_BLOCKS_H

#include <stddef.h>
#include <stdint.h>

/** Takes `count` blocks of 64 bytes into `state`. */
typedef void (*tenon_sha256_blocks)(uint32_t state[8], const uint8_t* data, size_t count);

extern const uint32_t tenon_sha256_constants[64];

/** With instructions of its own for this, which x86 and ARMv8 may have; NULL when this one does
 * not. */
tenon_sha256_blocks tenon_sha256_hardware(void);

#endif
