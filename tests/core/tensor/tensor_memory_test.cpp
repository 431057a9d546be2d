// SPDX-License-Identifier: Apache-2.0
// The memory of a new tensor: zeroed, aligned, as long as asked for.
#include "core/tensor/tensor.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tenon::core {
namespace {

TEST(TensorMemory, isZeroedAndAlignedWhateverTheSize)
{
    constexpr int64_t kMega = int64_t{1} << 20;
    for (const int64_t size :
         {int64_t{1}, kMega - 1, kMega, 2 * kMega, 2 * kMega + 1, 5 * kMega - 4097, 8 * kMega}) {
        std::vector<Tensor> kept;
        for (int round = 0; round < 3; ++round)
            kept.push_back(Tensor::make(kUInt8, {size}, [&](std::span<std::byte> out) {
                ASSERT_EQ(static_cast<int64_t>(out.size()), size);
                const uint64_t alignment = size >= 2 * kMega ? 2 * kMega : 64;
                EXPECT_EQ(reinterpret_cast<uintptr_t>(out.data()) % alignment, 0u) << size;
                EXPECT_TRUE(std::all_of(out.begin(), out.end(), [](std::byte b) {
                    return b == std::byte{0};
                })) << size;
                std::fill(out.begin(), out.end(), std::byte{7});
            }));
        kept.erase(kept.begin() + 1); // what was given back lies beside what is in use
        for (const Tensor& tensor : kept) EXPECT_EQ(tensor.integer(size - 1), 7) << size;
    }
}

} // namespace
} // namespace tenon::core
