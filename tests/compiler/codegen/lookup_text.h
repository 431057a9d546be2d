// SPDX-License-Identifier: Apache-2.0
// The loop IR of a table of bytes that bytes choose from.
#pragma once

#include <string>

namespace tenon::test {

/// y = table[x] for 256 elements, so many lanes at a time.
inline std::string lookupText(int lanes)
{
    const std::string count = std::to_string(lanes);
    return "@T.prim_func\ndef main(x: T.Buffer((256,), \"uint8\"), table: T.Buffer((256,), "
           "\"int8\"), y: T.Buffer((256,), \"int8\")):\n    for i in T.serial(" +
           std::to_string(256 / lanes) + "):\n        for lane in T.vectorized(" + count +
           "):\n            y[i * " + count + " + lane] = table[T.Cast(\"int64\", x[i * " + count +
           " + lane])]\n";
}

} // namespace tenon::test
