// SPDX-License-Identifier: Apache-2.0
// Tensors in ONNX's own form: bytes that are known from the format, and bytes that are none.
#include "core/base/file.h"
#include "core/base/varint.h"
#include "core/tensor/onnx_tensor.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <cstring>

namespace tenon::core {
namespace {

std::string bytesOf(std::initializer_list<int> values)
{
    std::string out;
    for (const int value : values) out += static_cast<char>(value);
    return out;
}

std::string errorOf(const std::string& bytes)
{
    const auto tensor = parseOnnxTensor(bytes);
    return tensor ? "" : tensor.error().text();
}

TEST(OnnxTensor, WritesTheFormatsBytes)
{
    const OnnxTensor tensor{{2, 300}, 3, "x", std::string(600, 'a')};
    const std::string bytes = onnxTensorBytes(tensor);
    EXPECT_EQ(bytes,
              bytesOf({0x08, 2, 0x08, 0xac, 2, 0x10, 3, 0x42, 1, 'x', 0x4a, 0xd8, 4}) + tensor.raw);
    const auto back = parseOnnxTensor(bytes);
    ASSERT_TRUE(back) << back.error().text();
    EXPECT_EQ(back->dims, tensor.dims);
    EXPECT_EQ(back->elementType, 3);
    EXPECT_EQ(back->name, "x");
    EXPECT_EQ(back->raw, tensor.raw);
}

TEST(OnnxTensor, ReadsPackedDimensionsAndSkipsOtherFields)
{
    // dims {2, 3} packed, type uint8, doc_string "d", raw data.
    const auto tensor =
        parseOnnxTensor(bytesOf({0x0a, 2, 2, 3, 0x10, 2, 0x62, 1, 'd', 0x4a, 6, 1, 2, 3, 4, 5, 6}));
    ASSERT_TRUE(tensor);
    EXPECT_EQ(tensor->dims, (std::vector<int64_t>{2, 3}));
    EXPECT_EQ(tensor->raw.size(), 6u);
}

TEST(OnnxTensor, BringsTypedFieldsIntoOneForm)
{
    const float one = 1.0f;
    std::string floats = bytesOf({0x08, 1, 0x10, 1, 0x22, 4});
    floats.append(reinterpret_cast<const char*>(&one), 4);
    const auto packed = parseOnnxTensor(floats);
    ASSERT_TRUE(packed);
    EXPECT_EQ(std::memcmp(packed->raw.data(), &one, 4), 0);
    // int8 -1 as a ten-byte number of int32_data, not packed; then 5.
    const auto small = parseOnnxTensor(
        bytesOf({0x08, 2, 0x10, 3, 0x28, 255, 255, 255, 255, 255, 255, 255, 255, 255, 1, 0x28, 5}));
    ASSERT_TRUE(small);
    EXPECT_EQ(small->raw, bytesOf({255, 5}));
    const auto wide = parseOnnxTensor(bytesOf({0x08, 1, 0x10, 7, 0x3a, 2, 0x80, 1}));
    ASSERT_TRUE(wide);
    EXPECT_EQ(wide->raw, bytesOf({128, 0, 0, 0, 0, 0, 0, 0}));
    const auto half = parseOnnxTensor(bytesOf({0x08, 1, 0x10, 10, 0x2a, 2, 0x80, 0x78}));
    ASSERT_TRUE(half);
    EXPECT_EQ(half->raw, bytesOf({0, 0x3c}));
}

TEST(OnnxTensor, KeepsTypesThatAreNotOurs)
{
    const auto narrow = parseOnnxTensor(bytesOf({0x08, 3, 0x10, 22, 0x4a, 2, 0x21, 0x03}));
    ASSERT_TRUE(narrow);
    EXPECT_EQ(narrow->elementType, 22); // int4, two to a byte
    EXPECT_EQ(narrow->raw.size(), 2u);
}

TEST(OnnxTensor, RefusesEveryPrefix)
{
    const std::string whole = onnxTensorBytes({{1, 2}, 2, "name", "ab"});
    for (size_t length = 0; length < whole.size(); ++length)
        EXPECT_FALSE(parseOnnxTensor(whole.substr(0, length))) << length;
}

TEST(OnnxTensor, ComparesTheDataWithTheShape)
{
    EXPECT_NE(errorOf(onnxTensorBytes({{3}, 1, "x", "four"}))
                  .find("it has 4 bytes of data but its type and shape need 12"),
              std::string::npos);
    EXPECT_NE(errorOf(onnxTensorBytes({{-1}, 2, "x", ""})).find("possible shape: (-1)"),
              std::string::npos);
    const OnnxTensor huge{{int64_t{1} << 62, int64_t{1} << 62}, 1, "x", "four"};
    EXPECT_NE(errorOf(onnxTensorBytes(huge)).find("possible shape"), std::string::npos);
    EXPECT_EQ(errorOf(onnxTensorBytes({{2, 0}, 1, "x", ""})), "");
}

TEST(OnnxTensor, RefusesFieldsOfAnotherWireType)
{
    EXPECT_NE(errorOf(bytesOf({0x10, 2, 0x48, 1})), ""); // raw_data as a number
    EXPECT_NE(errorOf(bytesOf({0x12, 1, 2})), "");       // data_type as bytes
    EXPECT_NE(errorOf(bytesOf({0x10, 2, 0x0b})), "");    // a group
    EXPECT_NE(errorOf(bytesOf({0x09, 1, 0, 0, 0, 0, 0, 0, 0, 0x10, 2})), "");
    EXPECT_NE(errorOf("not a tensor"), "");
}

TEST(OnnxTensor, RefusesDataInAnotherFile)
{
    EXPECT_NE(errorOf(bytesOf({0x08, 1, 0x10, 1, 0x70, 1})).find("external data"),
              std::string::npos);
}

TEST(OnnxTensor, NamesTheFileOfAnError)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("x.pb");
    ASSERT_TRUE(writeFileAtomically(path, "not a tensor"));
    const auto tensor = readOnnxTensor(path);
    ASSERT_FALSE(tensor);
    EXPECT_EQ(tensor.error().location.file, path);
    EXPECT_FALSE(readOnnxTensor(folder.file("absent.pb")));
}

TEST(Varint, StopsAtTenBytesAndAtTheEnd)
{
    std::string text;
    appendVarint(text, UINT64_MAX);
    EXPECT_EQ(text.size(), 10u);
    size_t at = 0;
    EXPECT_EQ(readVarint(std::as_bytes(std::span(text)), at), UINT64_MAX);
    EXPECT_EQ(at, 10u);
    EXPECT_FALSE(readVarint(std::as_bytes(std::span(text)), at));
    const std::string endless(11, '\x80');
    at = 0;
    EXPECT_FALSE(readVarint(std::as_bytes(std::span(endless)), at));
}

} // namespace
} // namespace tenon::core
