// SPDX-License-Identifier: Apache-2.0
// Sampling: values of a field of pixels at positions between them.
#pragma once

#include "compiler/frontend/import/formula.h"

namespace tenon::compiler {

enum class SampleMode : uint8_t
{
    Nearest,
    Linear,
    Cubic
};

/// What lies outside the pixels.
enum class Outside : uint8_t
{
    Zeros,
    Border,
    Reflection
};

/// Samples of pictures [B, C, extents..], all at once; sizes may be open. Positions are in pixels,
/// one tensor [B', P] per axis; `picture` [B', 1] chooses a picture for each row of positions.
class Sampling
{
public:
    Sampling(NodeImport& node, ValueRef pictures);

    /// Reflect about pixel centres (true) or about the pixels' outer edges.
    void reflectAtCentres(bool atCentres) { m_reflectsAtCentres = atCentres; }

    /// The terms, weighted, whose sum is the interpolated value; each [B', P, C].
    std::vector<ValueRef> terms(ValueRef picture, const std::vector<ValueRef>& positions,
                                SampleMode mode, Outside outside);
    ValueRef sum(const std::vector<ValueRef>& terms);

private:
    /// A pixel along one axis for every position, and its weight.
    struct Tap
    {
        ValueRef index;
        ValueRef weight;
    };
    std::vector<Tap> taps(size_t axis, ValueRef position, SampleMode mode, Outside outside);
    Tap tap(size_t axis, ValueRef pixel, ValueRef weight, Outside outside);
    ValueRef reflected(size_t axis, ValueRef position);
    ValueRef inside(size_t axis, ValueRef position);
    ValueRef cubicWeight(int64_t tap, ValueRef fraction);
    ValueRef weighted(ValueRef a, ValueRef b); ///< their product; an invalid one counts as 1

    NodeImport& m_node;
    Formula f;
    Shape m_extents;
    ValueRef m_rows; ///< [B * points, C]
    bool m_reflectsAtCentres = false;
};

} // namespace tenon::compiler
