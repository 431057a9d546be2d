/* SPDX-License-Identifier: Apache-2.0 */
/* The loops that measure.c times, with the widest vectors that the processor has. */
#ifndef TENON_RUNTIME_RPC_MEASURE_LOOPS_H
#define TENON_RUNTIME_RPC_MEASURE_LOOPS_H

#include <stddef.h>

enum
{
    kTenonReadStep = 512 /* bytes */
};

/** A multiple of kTenonReadStep bytes, at the beginning of a line. */
typedef struct
{
    void* data;
    size_t bytes;
    size_t at; /* where the next step reads */
    unsigned long long sum;
} tenon_block;

/** Reads as many steps, again from the beginning where the block ends. */
void tenon_read_block(void* block, long steps);

typedef struct
{
    float seed;
    float sum;
} tenon_sums;

/** Bytes of a vector of NEON or of RISC-V that the processor has and C does not use unasked; 0: it
 *  has none, or C's vectors are its own. */
int tenon_unasked_vector_bytes(void);

/** Multiplies and adds float32 to as many sums as hide their latency. */
void tenon_multiply_add(void* sums, long steps);
double tenon_macs_per_step(void);

/** The same for bytes and sums of 32 bits, with the best instructions for it that the processor
 *  has. */
void tenon_multiply_add_bytes(void* sums, long steps);
double tenon_byte_macs_per_step(void);

#endif
