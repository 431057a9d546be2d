// SPDX-License-Identifier: Apache-2.0
// Nests that only move values: boxes of them are copied without a tape.
#include "compiler/evaluate/copy_box.h"
#include "compiler/evaluate/vector_nest_worker.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

namespace tenon::compiler {
namespace {

/// Values of a box at most: both sides of one stay in a usual second-level cache.
constexpr int64_t kMostValues = int64_t{1} << 17;
/// Boxes that keep the threads of a usual machine busy to the end, unless they would become small.
constexpr int64_t kLeastBoxes = 16;
constexpr int64_t kLeastValues = int64_t{1} << 12;

} // namespace

bool VectorNest::isPlainCopy() const
{
    const TapeAccess* load = m_value->plainLoad();
    if (m_init || !load || load->buffer == m_buffer || m_buffer->dtype != m_value->resultType())
        return false;
    const int64_t size = static_cast<int64_t>(load->bytes.size()) / m_buffer->dtype.bytes();
    int64_t low = load->affine->constant, high = low;
    for (size_t a = 0; a < m_axes.size(); ++a) {
        const int64_t reach = load->affine->coefficients[a] * (m_axes[a].extent - 1);
        (reach < 0 ? low : high) += reach;
    }
    return low >= 0 && high < size;
}

void VectorNest::chooseBox()
{
    m_box.resize(m_axes.size());
    std::iota(m_box.begin(), m_box.end(), size_t{0});
    std::sort(m_box.begin(), m_box.end(), [&](size_t a, size_t b) {
        return std::abs(m_store.coefficients[a]) < std::abs(m_store.coefficients[b]);
    });
    m_outer.clear();
    while (m_box.size() > 1) {
        const int64_t values = pointsOf(m_box);
        if (values <= kLeastValues) return;
        if (values <= kMostValues && pointsOf(m_outer) >= kLeastBoxes) return;
        m_outer.insert(m_outer.end(), m_box.back());
        m_box.pop_back();
    }
}

void VectorNest::copyAtPosition(Worker& w) const
{
    const TapeAccess& load = *m_value->plainLoad();
    std::vector<BoxAxis> axes;
    for (const size_t a : m_box) {
        w.position[a] = w.begin[a];
        axes.push_back(
            {w.end[a] - w.begin[a], load.affine->coefficients[a], m_store.coefficients[a]});
    }
    const int64_t bytes = m_buffer->dtype.bytes();
    const auto [source, from] = w.source(load);
    const auto [target, to] = w.target();
    copyBox(std::move(axes), source.data() + from * bytes, target.data() + to * bytes, bytes);
}

} // namespace tenon::compiler
