// SPDX-License-Identifier: Apache-2.0
// Tensor files: what is written reads back, what is damaged is refused.
#include "compiler/frontend/tensor_file.h"
#include "core/base/file.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

using namespace core;

TEST(TensorFile, ReadsBackWhatItWrote)
{
    const test::TemporaryFolder folder;
    const std::vector<Tensor> tensors{
        Tensor::of<float>(kFloat32, {2, 3}, {1, 2, 3, 4, 5, 6}),
        Tensor::of<int64_t>(kInt64, {}, {-7}),
        Tensor::of<uint8_t>(kUInt8, {3}, {1, 2, 255}),
        Tensor::of<uint8_t>(kBool, {2}, {0, 1}),
        Tensor::of<double>(kFloat64, {0, 4}, {}),
        Tensor::of<uint16_t>(kFloat16, {1}, {0x3c00}),
    };
    for (const Tensor& tensor : tensors)
        for (const char* name : {"t.npy", "t.pb"}) {
            ASSERT_TRUE(writeTensorFile(folder.file(name), tensor, "t"));
            const auto back = readTensorFile(folder.file(name));
            ASSERT_TRUE(back) << back.error().text();
            EXPECT_EQ(back->tensor.typeText(), tensor.typeText());
            EXPECT_EQ(back->tensor.hash().hex(), tensor.hash().hex());
        }
}

TEST(TensorFile, ReadsColumnMajorArrays)
{
    std::string text = npyText(Tensor::of<int32_t>(kInt32, {2, 3}, {1, 4, 2, 5, 3, 6}));
    text.replace(text.find("False"), 5, "True ");
    const auto tensor = parseNpy(text);
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->integers(), (std::vector<int64_t>{1, 2, 3, 4, 5, 6}));
}

TEST(TensorFile, RefusesEveryPrefix)
{
    const std::string npy = npyText(Tensor::of<float>(kFloat32, {2}, {1, 2}));
    for (size_t length = 0; length < npy.size(); ++length)
        EXPECT_FALSE(parseNpy(npy.substr(0, length)));
}

TEST(TensorFile, RefusesHostileHeaders)
{
    const std::string good = npyText(Tensor::of<float>(kFloat32, {2}, {1, 2}));
    const auto with = [&](const std::string& from, const std::string& to) {
        std::string text = good;
        text.replace(text.find(from), from.size(), to);
        return text;
    };
    EXPECT_FALSE(parseNpy(with("<f4", ">f4")));
    EXPECT_FALSE(parseNpy(with("<f4", "|O8")));
    EXPECT_FALSE(parseNpy(with("(2,)", "(3,)")));
    EXPECT_FALSE(parseNpy(with("(2,)", "(-2,")));
    EXPECT_FALSE(parseNpy(with("'shape'", "'shapx'")));
    EXPECT_FALSE(parseTensorProto("not a tensor"));
    EXPECT_FALSE(parseTensorProto(""));
}

} // namespace
} // namespace tenon::compiler
