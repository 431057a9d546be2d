// SPDX-License-Identifier: Apache-2.0
// The params blob byte for byte, and its reader against cut and corrupted bytes.
#include "compiler/executor/params.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

std::string hex(std::string_view bytes)
{
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string out;
    for (const char c : bytes) {
        out += kDigits[static_cast<unsigned char>(c) >> 4];
        out += kDigits[static_cast<unsigned char>(c) & 15];
    }
    return out;
}

NamedTensors sampleParams()
{
    return {{"p0", core::Tensor::of<float>(core::kFloat32, {2}, {1.0f, -2.0f})},
            {"p1", core::Tensor::of<int8_t>(core::kInt8, {}, {7})}};
}

TEST(Params, WritesTheBytesOfTheField)
{
    EXPECT_EQ(hex(paramsBlob(sampleParams())),
              "b79c04054f8de5f7"
              "0000000000000000"
              "0200000000000000"
              "0200000000000000"
              "7030"
              "0200000000000000"
              "7031"
              "0200000000000000"
              "3fa1b496f0405edd" // array 0
              "0000000000000000"
              "0100000000000000" // CPU 0
              "01000000"         // rank 1
              "02200100"         // float, 32 bits, 1 lane
              "0200000000000000"
              "0800000000000000"
              "0000803f000000c0"
              "3fa1b496f0405edd" // array 1
              "0000000000000000"
              "0100000000000000"
              "00000000" // rank 0
              "00080100" // int, 8 bits
              "0100000000000000"
              "07");
}

TEST(Params, ReadsWhatItWrites)
{
    const std::string blob = paramsBlob(sampleParams());
    const NamedTensors read = *readParamsBlob(blob);
    ASSERT_EQ(read.size(), 2u);
    EXPECT_EQ(read[0].first, "p0");
    EXPECT_EQ(read[0].second.numbers(), (std::vector<double>{1, -2}));
    EXPECT_TRUE(read[1].second.shape().empty());
    EXPECT_EQ(paramsBlob(read), blob);
    EXPECT_TRUE(readParamsBlob(paramsBlob({}))->empty());
}

TEST(Params, RefusesEveryCutAndEveryFlippedLength)
{
    const std::string blob = paramsBlob(sampleParams());
    for (size_t size = 0; size < blob.size(); ++size)
        EXPECT_FALSE(readParamsBlob(std::string_view(blob).substr(0, size))) << size;
    for (size_t at = 0; at < blob.size(); ++at) {
        std::string broken = blob;
        broken[at] = static_cast<char>(broken[at] ^ 0x80);
        readParamsBlob(broken).operator bool(); // must neither crash nor hang
    }
    const core::Result<NamedTensors> none = readParamsBlob("not params at all");
    ASSERT_FALSE(none);
    EXPECT_EQ(none.error().message, "params blob: this is no params blob at byte 8");
}

} // namespace
} // namespace tenon::compiler
