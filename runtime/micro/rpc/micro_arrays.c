/* SPDX-License-Identifier: MIT-0 */
/* Memory of the client: first fit among a few blocks. */
#include <string.h>

#include "micro_answer.h"

static micro_block* free_block(micro_server* self)
{
    for (int i = 0; i < kMicroMostArrays; ++i)
        if (self->blocks[i].size == 0) return &self->blocks[i];
    return NULL;
}

/* The end of the block that stands in the way of [at, at + size), or `at`. */
static uint32_t behind_obstacle(const micro_server* self, uint32_t at, uint32_t size)
{
    for (int i = 0; i < kMicroMostArrays; ++i) {
        const micro_block* block = &self->blocks[i];
        if (block->size > 0 && at < block->offset + block->size && block->offset < at + size)
            return block->offset + block->size;
    }
    return at;
}

uint64_t micro_allocate(micro_server* self, uint64_t bytes)
{
    micro_block* block = free_block(self);
    const uint32_t room = self->subject->array_bytes;
    if (!block || bytes > room) return 0;
    const uint32_t size = bytes == 0 ? 16 : ((uint32_t)bytes + 15u) & ~15u;
    uint32_t at = 0, next = 0;
    do {
        at = next;
        if (size > room || at > room - size) return 0;
        next = behind_obstacle(self, at, size);
    } while (next != at);
    block->offset = at;
    block->size = size;
    if (at + size > self->counters.array_peak) self->counters.array_peak = at + size;
    return (uintptr_t)(self->subject->arrays + at);
}

int micro_release(micro_server* self, uint64_t address)
{
    for (int i = 0; i < kMicroMostArrays; ++i) {
        micro_block* block = &self->blocks[i];
        if (block->size == 0 || address != (uintptr_t)(self->subject->arrays + block->offset))
            continue;
        block->size = 0;
        return 1;
    }
    return 0;
}

void micro_release_all(micro_server* self) { memset(self->blocks, 0, sizeof self->blocks); }

size_t micro_port_bytes(const micro_port* port)
{
    size_t bytes = (port->dtype.bits * (uint32_t)port->dtype.lanes + 7u) / 8u;
    for (int32_t i = 0; i < port->ndim; ++i) bytes *= (size_t)port->shape[i];
    return bytes;
}

static int lies_within(uint64_t address, size_t bytes, const void* start, size_t size)
{
    const uint64_t begin = (uintptr_t)start;
    return start && address >= begin && address - begin <= size &&
           bytes <= size - (address - begin);
}

void* micro_memory_of(const micro_server* self, uint64_t address, size_t bytes)
{
    const micro_subject* subject = self->subject;
    int found = 0;
    for (int i = 0; i < kMicroMostArrays; ++i)
        found |= self->blocks[i].size > 0 &&
                 lies_within(address, bytes, subject->arrays + self->blocks[i].offset,
                             self->blocks[i].size);
    for (uint32_t i = 0; i < subject->input_count; ++i)
        found |=
            lies_within(address, bytes, subject->input(i), micro_port_bytes(&subject->inputs[i]));
    for (uint32_t i = 0; i < subject->output_count; ++i)
        found |=
            lies_within(address, bytes, subject->output(i), micro_port_bytes(&subject->outputs[i]));
    return found ? (void*)(uintptr_t)address : NULL;
}
