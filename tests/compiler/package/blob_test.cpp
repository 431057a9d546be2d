// SPDX-License-Identifier: Apache-2.0
// The module stream that loaders read out of a library.
#include "compiler/package/device_blob.h"

#include <gtest/gtest.h>

namespace tenon::compiler {
namespace {

std::string word(uint64_t value)
{
    ByteStream out;
    return out.number(value).bytes();
}

std::string text(std::string_view value) { return word(value.size()) + std::string(value); }

TEST(DeviceBlob, GraphFactoryIsTheRootAndTheLibraryItsImport)
{
    const std::string payload = graphFactoryPayload("{json}", {}, "default");
    EXPECT_EQ(payload, text("{json}") + word(0) + word(0) + text("default"));
    const std::string stream = word(3) + text("GraphExecutorFactory") + payload + text("_lib") +
                               text("_import_tree") + word(3) + word(0) + word(1) + word(1) +
                               word(1) + word(1);
    EXPECT_EQ(graphDeviceBlob(payload), word(stream.size()) + stream);
}

TEST(DeviceBlob, AotFactoryImportsMetadataAndLibrary)
{
    const std::string payload = aotFactoryPayload({}, "default");
    EXPECT_EQ(payload, word(0) + word(0) + text("default"));
    const std::string stream = word(4) + text("AotExecutorFactory") + payload +
                               text("metadata_module") + text("_lib") + text("_import_tree") +
                               word(4) + word(0) + word(1) + word(2) + word(2) + word(2) + word(1) +
                               word(2);
    EXPECT_EQ(aotDeviceBlob(payload), word(stream.size()) + stream);
}

TEST(DeviceBlob, FactoryCarriesParamsWithBothCounts)
{
    const core::Tensor tensor = core::Tensor::of<float>(core::kFloat32, {1}, {3});
    ByteStream array;
    writeNdArray(array, tensor);
    EXPECT_EQ(graphFactoryPayload("{}", {{"p0", tensor}}, "default"),
              text("{}") + word(1) + word(1) + text("p0") + array.bytes() + text("default"));
}

} // namespace
} // namespace tenon::compiler
