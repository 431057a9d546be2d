// SPDX-License-Identifier: Apache-2.0
// CodeTraits: what the passes should know of the code that will be made, beside the machine's
// facts.
#pragma once

#include "core/tensor/dtype.h"

#include <optional>

namespace tenon::core {

struct CodeTraits
{
    /// The type of the bytes that are multiplied with int8 cheaply enough to lay out data for it:
    /// uint8 or int8; none where there are no such products.
    std::optional<DataType> byteProducts;
    bool savesMemory = false; ///< memory counts for more than time
    /// Vectors of bytes choose from a table of 256 that stays in registers.
    bool hasByteTables = false;
};

} // namespace tenon::core
