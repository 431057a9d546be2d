/* SPDX-License-Identifier: MIT-0 */
/* An arena inside memory that the caller gives; what the parsers of the runtime allocate from. */
#ifndef TENON_MICRO_ARENA_H
#define TENON_MICRO_ARENA_H

#include "../../common/arena.h"

/** Begins an arena in `memory`, which is aligned to 16 bytes; -1 when it is too small. */
int tenon_micro_arena_begin(tenon_arena* arena, void* memory, size_t bytes);
/** As tenon_arena_alloc for one item aligned to 16 bytes. */
void* tenon_micro_arena_tensor(tenon_arena* arena, size_t bytes);
/** The bytes in use now; later allocations go with tenon_micro_arena_rewind. */
size_t tenon_micro_arena_mark(const tenon_arena* arena);
void tenon_micro_arena_rewind(tenon_arena* arena, size_t mark);
/** The most that was ever in use. */
size_t tenon_micro_arena_peak(const tenon_arena* arena);

#endif
