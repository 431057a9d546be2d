// SPDX-License-Identifier: Apache-2.0
// Tables that bytes choose from: what a function of one 8-bit tensor becomes.
#pragma once

#include "core/ir/tir/stmt.h"

namespace tenon::tir {

inline constexpr int kByteTableEntries = 256;

/// True for a buffer of one byte for each byte.
inline bool isByteTable(const BufferNode& buffer)
{
    return buffer.dtype.bytes() == 1 && buffer.shape.size() == 1 &&
           buffer.shape[0].isConstInt(kByteTableEntries);
}

} // namespace tenon::tir
