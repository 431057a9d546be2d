/* SPDX-License-Identifier: Apache-2.0 */
/* Device, rank, element type and shape of a tensor: the same in parameter files and in packets. */
#ifndef TENON_RUNTIME_TENSOR_HEAD_H
#define TENON_RUNTIME_TENSOR_HEAD_H

#include "../include/tenon/dlpack.h"
#include "arena.h"
#include "bytes.h"

/** Into a cleared tensor; the shape is in the arena. 0 or -1. */
int tenon_read_tensor_head(tenon_reader* reader, tenon_arena* arena, DLTensor* out);
void tenon_write_tensor_head(tenon_writer* writer, DLDevice device, const DLTensor* tensor);

#endif
