// SPDX-License-Identifier: Apache-2.0
// Boxes between random orders of their axes, element by element against plain loops.
#include "compiler/evaluate/copy_box.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <span>

namespace tenon::compiler {
namespace {

/// Row-major strides of the extents in the order `order`, innermost last.
std::vector<int64_t> stridesIn(const std::vector<size_t>& order, const std::vector<BoxAxis>& axes)
{
    std::vector<int64_t> strides(axes.size());
    int64_t stride = 1;
    for (auto a = order.rbegin(); a != order.rend(); ++a) {
        strides[*a] = stride;
        stride *= axes[*a].extent;
    }
    return strides;
}

void copySlowly(std::span<const BoxAxis> axes, const std::byte* from, std::byte* to, int64_t bytes)
{
    if (axes.empty()) {
        std::memcpy(to, from, static_cast<size_t>(bytes));
        return;
    }
    const BoxAxis& axis = axes[0];
    for (int64_t i = 0; i < axis.extent; ++i)
        copySlowly(axes.subspan(1), from + i * axis.from * bytes, to + i * axis.to * bytes, bytes);
}

class Shuffle
{
public:
    explicit Shuffle(unsigned seed)
        : m_random(seed)
    {
    }

    int64_t below(int64_t bound)
    {
        return std::uniform_int_distribution<int64_t>(0, bound - 1)(m_random);
    }

    std::vector<size_t> order(size_t count)
    {
        std::vector<size_t> out(count);
        std::iota(out.begin(), out.end(), size_t{0});
        std::shuffle(out.begin(), out.end(), m_random);
        return out;
    }

    /// Axes that order all values on either side differently; some go backwards in the source,
    /// some stay where they are.
    std::vector<BoxAxis> axes(int64_t& start)
    {
        static constexpr int64_t kExtents[] = {1, 2, 3, 5, 7, 16, 32, 48};
        std::vector<BoxAxis> out(static_cast<size_t>(below(5)));
        for (size_t a = 0; a < out.size(); ++a) out[a].extent = kExtents[below(a < 2 ? 8 : 5)];
        const auto from = stridesIn(order(out.size()), out), to = stridesIn(order(out.size()), out);
        start = 0;
        for (size_t a = 0; a < out.size(); ++a) {
            out[a].from = below(6) == 0 ? 0 : from[a];
            out[a].to = to[a];
            if (below(4) != 0) continue;
            start += out[a].from * (out[a].extent - 1);
            out[a].from = -out[a].from;
        }
        return out;
    }

private:
    std::mt19937 m_random;
};

TEST(CopyBox, ordersValuesAnew)
{
    for (unsigned seed = 1; seed <= 400; ++seed) {
        Shuffle shuffle(seed);
        int64_t start = 0;
        const std::vector<BoxAxis> axes = shuffle.axes(start);
        const int64_t bytes = int64_t{1} << (seed % 4);
        int64_t count = 1;
        for (const BoxAxis& axis : axes) count *= axis.extent;
        std::vector<uint64_t> from(static_cast<size_t>(count));
        for (uint64_t& word : from) word = static_cast<uint64_t>(shuffle.below(INT64_MAX));
        std::vector<uint64_t> got(from.size(), 7), wanted(from.size(), 7);
        const auto raw = std::as_bytes(std::span(from));
        copyBox(axes, raw.data() + start * bytes, std::as_writable_bytes(std::span(got)).data(),
                bytes);
        copySlowly(axes, raw.data() + start * bytes,
                   std::as_writable_bytes(std::span(wanted)).data(), bytes);
        ASSERT_EQ(got, wanted) << "seed " << seed;
    }
}

} // namespace
} // namespace tenon::compiler
