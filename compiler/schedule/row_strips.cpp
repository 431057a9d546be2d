// SPDX-License-Identifier: Apache-2.0
// Strips by what fits the second-level cache beside the data and the weights.
#include "compiler/schedule/row_strips.h"

#include <algorithm>

namespace tenon::compiler {

int64_t rowsPerStrip(int64_t rows, int64_t rowBytes, const TargetFacts& facts)
{
    const int64_t room = std::min(rows / 2, facts.l2Bytes / 2 / std::max<int64_t>(1, rowBytes));
    const int64_t threads = std::max<int64_t>(1, facts.threads);
    if (room < 2) return 1;
    int64_t most = 1, even = 1;
    for (int64_t count = 2; count <= room; ++count) {
        if (rows % count != 0) continue;
        most = count;
        if (rows / count % threads == 0) even = count;
    }
    // An uneven share costs more than computing a few more rows twice.
    const int64_t divisor = 2 * even >= most ? even : most;
    const int64_t strips = ((rows + room - 1) / room + threads - 1) / threads * threads;
    const int64_t any = (rows + strips - 1) / strips; // the last strip is shorter
    const bool isEven = rows / divisor % threads == 0;
    return any >= 2 && (3 * divisor < 2 * any || !isEven) ? any : divisor;
}

} // namespace tenon::compiler
