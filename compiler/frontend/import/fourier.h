// SPDX-License-Identifier: Apache-2.0
// Fourier: the discrete transform as products with cosine and sine matrices.
#pragma once

#include "compiler/frontend/import/formula.h"

namespace tenon::compiler {

/// Transforms the last but one axis of [.., n, 1 or 2]. The matrices are constants where the sizes
/// are known at import, and computed by the graph where they are not.
class Fourier
{
public:
    enum class Direction : uint8_t
    {
        Forward,
        Inverse
    };
    Fourier(NodeImport& node, Dim length, Direction direction, bool isOneSided);

    ValueRef transform(ValueRef x);

private:
    ValueRef matrix(const Dim& rows, bool isSine);
    ValueRef constantMatrix(int64_t rows, int64_t columns, bool isSine);
    ValueRef computedMatrix(const Dim& rows, const Dim& columns, bool isSine);

    NodeImport& m_node;
    Formula f;
    Dim m_length;
    bool m_isInverse;
    bool m_isOneSided;
};

} // namespace tenon::compiler
