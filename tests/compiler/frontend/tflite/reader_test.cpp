// SPDX-License-Identifier: Apache-2.0
// The reader of .tflite files: what it says of good ones, and that nothing breaks it.
#include "compiler/frontend/import_report.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tflite/file/flat_table.h"
#include "compiler/frontend/tflite/load_tflite.h"
#include "tests/support/environment.h"
#include "tests/support/tflite_writer.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>

namespace tenon::test {
namespace {

using namespace tenon::compiler;
using Type = TfliteType;

Result<Loaded> loaded(const std::vector<std::byte>& bytes)
{
    return loadTfliteBytes(bytes, nullptr, "model.tflite", {});
}

std::string errorsOf(const std::vector<std::byte>& bytes)
{
    const auto model = loaded(bytes);
    if (!model) return model.error().text();
    std::string out;
    for (const Diagnostic& d : model->diagnostics)
        if (d.severity == Severity::Error) out += d.text() + "\n";
    return out;
}

/// A quantized convolution, a constant, an activation: every kind of table.
TfliteWriter smallModel()
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {1, 4, 4, 2}, {{0.5F}, {3}});
    const int k =
        w.constant<int8_t>("k", Type::Int8, {2, 1, 1, 2}, {1, 2, 3, 4}, {{0.25F, 0.5F}, {0, 0}, 0});
    const int b = w.constant<int32_t>("b", Type::Int32, {2}, {4, -4}, {{0.125F, 0.25F}, {0, 0}, 0});
    const int y = w.output("y", Type::Int8, {1, 4, 4, 2}, {{1.0F}, {-5}});
    w.op("CONV_2D", {x, k, b}, {y},
         FlatOut().number(0, int8_t{0}).number(1, int32_t{1}).number(2, int32_t{1}));
    return w;
}

TEST(TfliteReader, TellsWhatTheFileSays)
{
    const auto model = loaded(smallModel().file());
    ASSERT_TRUE(model) << model.error().text();
    EXPECT_EQ(model->facts.format, "tflite");
    EXPECT_EQ(model->facts.irVersion, 3);
    EXPECT_EQ(model->facts.doc, "a test");
    EXPECT_EQ(model->facts.nodeCount, 1u);
    EXPECT_EQ(model->facts.parameterCount, 6);
    EXPECT_EQ(model->facts.opCounts.at("CONV_2D"), 1u);
    ASSERT_EQ(model->facts.inputs.size(), 1u);
    // What whoever feeds it needs to know.
    const std::pair<std::string, std::string> reals[] = {{"real value of x", "(integer - 3) * 0.5"},
                                                         {"real value of y", "(integer + 5) * 1"}};
    for (const auto& real : reals)
        EXPECT_EQ(std::count(model->facts.metadata.begin(), model->facts.metadata.end(), real), 1)
            << real.first;
    EXPECT_EQ(model->facts.inputs[0].name, "x");
    EXPECT_EQ(model->facts.inputs[0].dtype, "int8");
    EXPECT_TRUE(model->diagnostics.empty());
}

TEST(TfliteReader, IsFoundByContent)
{
    const TemporaryFolder folder;
    const std::string path = folder.file("model.bin");
    const std::vector<std::byte> bytes = smallModel().file();
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
    const auto model = loadModel(path, {});
    ASSERT_TRUE(model) << model.error().text();
    EXPECT_EQ(model->facts.format, "tflite");
    EXPECT_EQ(model->name, "model");
}

TEST(TfliteReader, SharesTheFilesBytes)
{
    const auto bytes = std::make_shared<std::vector<std::byte>>(smallModel().file());
    const auto model = loadTfliteBytes(*bytes, bytes, "model.tflite", {});
    ASSERT_TRUE(model);
    bool isShared = false;
    for (const NodeId id : model->module.main().order)
        if (const auto& constant = model->module.node(id).constant;
            constant && constant->shape().size() == 4)
            isShared = constant->bytes().data() >= bytes->data() &&
                       constant->bytes().data() < bytes->data() + bytes->size();
    EXPECT_TRUE(isShared);
}

TEST(TfliteReader, ListsAllUnknownOperatorsAndStillShowsTheModel)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 4});
    const int a = w.tensor("a", Type::Float32, {1, 4});
    const int b = w.tensor("b", Type::Float32, {1, 4});
    const int y = w.output("y", Type::Float32, {1, 4});
    w.op("CALL", {x}, {a});
    w.op("MyOwn", {a}, {b});
    w.op("RELU", {b}, {y});
    const auto model = loaded(w.file());
    ASSERT_TRUE(model) << model.error().text();
    const std::string errors = errorsOf(w.file());
    EXPECT_NE(errors.find("`CALL` is not supported"), std::string::npos) << errors;
    EXPECT_NE(errors.find("`MyOwn` is a custom operator"), std::string::npos) << errors;
    EXPECT_EQ(importReport(*model).nodes.size(), 3u);
}

TEST(TfliteReader, ShowsProgramsOfAcceleratorsAndTheMemoryTheyAreLent)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Int8, {1, 4});
    const int scratch = w.tensor("scratch", Type::UInt8, {64});
    const int y = w.output("y", Type::Int8, {1, 4});
    w.op("ethos-u", {x, scratch}, {y});
    const auto model = loaded(w.file());
    ASSERT_TRUE(model) << model.error().text();
    ASSERT_EQ(model->diagnostics.size(), 1U) << errorsOf(w.file());
    EXPECT_NE(model->diagnostics[0].message.find("`ethos-u` is a program for an Ethos-U"),
              std::string::npos)
        << model->diagnostics[0].message;
    EXPECT_EQ(importReport(*model).nodes.size(), 1U);
}

TEST(TfliteReader, SaysWhatIsDamaged)
{
    const std::vector<std::byte> whole = smallModel().file();
    for (size_t size = 0; size < whole.size(); ++size) {
        const std::string errors =
            errorsOf({whole.begin(), whole.begin() + static_cast<long>(size)});
        EXPECT_FALSE(errors.empty()) << "cut off at " << size;
    }
    EXPECT_NE(errorsOf({}).find("outside"), std::string::npos);
}

TEST(TfliteReader, SurvivesMutation)
{
    const std::vector<std::byte> whole = smallModel().file();
    std::mt19937 random(7);
    for (int round = 0; round < 3000; ++round) {
        std::vector<std::byte> bytes = whole;
        const auto changes = 1 + random() % 4;
        for (uint32_t i = 0; i < changes; ++i) {
            const size_t at = random() % bytes.size();
            bytes[at] = static_cast<std::byte>(random() % 3 == 0 ? 0xff : random() % 256);
        }
        errorsOf(bytes); // whatever it says: it comes back
    }
}

TEST(TfliteReader, SurvivesEveryFlippedBit)
{
    const std::vector<std::byte> whole = smallModel().file();
    for (size_t bit = 0; bit < 8 * whole.size(); ++bit) {
        std::vector<std::byte> bytes = whole;
        bytes[bit / 8] ^= std::byte{1} << (bit % 8);
        errorsOf(bytes); // whatever it says: it comes back
    }
}

TEST(TfliteReader, RefusesBuffersLargerThanTheFile)
{
    // A model: a version, and one buffer that begins inside of the file and says how large it is.
    for (const uint64_t size : {uint64_t{1} << 31, UINT64_MAX - 8}) {
        const FlatOut buffer = FlatOut().number(1, uint64_t{8}).number(2, size);
        const std::vector<std::byte> bytes =
            FlatOut().number(0, uint32_t{3}).tables(4, {buffer}).file("TFL3");
        EXPECT_NE(errorsOf(bytes).find("outside of the file"), std::string::npos)
            << errorsOf(bytes);
    }
}

TEST(TfliteReader, RefusesNumbersOutside)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 4});
    w.output("y", Type::Float32, {1, 4});
    w.op("RELU", {x}, {77});
    EXPECT_NE(errorsOf(w.file()).find("tensor 77 is named"), std::string::npos)
        << errorsOf(w.file());
}

TEST(TfliteReader, RefusesZeroPointsThatTheTypeDoesNotHold)
{
    const auto errors = [](Type type, int64_t zero) {
        TfliteWriter w;
        const int x = w.input("x", type, {1, 4}, {{0.5F}, {zero}});
        w.op("DEQUANTIZE", {x}, {w.output("y", Type::Float32, {1, 4})});
        return errorsOf(w.file());
    };
    EXPECT_EQ(errors(Type::Int8, -128), "");
    EXPECT_EQ(errors(Type::UInt8, 255), "");
    for (const int64_t zero : {int64_t{-129}, int64_t{300}, int64_t{1} << 40})
        EXPECT_NE(errors(Type::Int8, zero)
                      .find("tensor `x` has the zero point " + std::to_string(zero) +
                            ", which int8 does not hold"),
                  std::string::npos)
            << errors(Type::Int8, zero);
}

TEST(TfliteReader, RefusesDataThatDoesNotFitItsShape)
{
    TfliteWriter w;
    const int x = w.input("x", Type::Float32, {1, 4});
    const int k = w.constant<float>("k", Type::Float32, {1 << 20, 1 << 20, 4}, {1, 2});
    const int y = w.output("y", Type::Float32, {1, 4});
    w.op("ADD", {x, k}, {y});
    EXPECT_NE(errorsOf(w.file()).find("impossible shape"), std::string::npos) << errorsOf(w.file());
}

TEST(TfliteReader, NamesACycle)
{
    TfliteWriter w;
    const int a = w.tensor("a", Type::Float32, {4});
    const int y = w.output("y", Type::Float32, {4});
    w.op("RELU", {y}, {a});
    w.op("ABS", {a}, {y});
    EXPECT_NE(errorsOf(w.file()).find("cycle"), std::string::npos) << errorsOf(w.file());
}

TEST(TfliteReader, StopsAtGraphsThatNameThemselves)
{
    TfliteWriter w;
    const int c = w.input("c", Type::Bool, {});
    const int x = w.input("x", Type::Float32, {4});
    const int y = w.output("y", Type::Float32, {4});
    w.op("IF", {c, x}, {y}, FlatOut().number(0, int32_t{1}).number(1, int32_t{1}));
    w.graph();
    const int inside = w.input("inside", Type::Float32, {4});
    const int d = w.constant<uint8_t>("d", Type::Bool, {}, {1});
    const int out = w.output("out", Type::Float32, {4});
    w.op("IF", {d, inside}, {out}, FlatOut().number(0, int32_t{1}).number(1, int32_t{1}));
    EXPECT_NE(errorsOf(w.file()).find("nested too deeply"), std::string::npos)
        << errorsOf(w.file());
}

TEST(TfliteReader, LimitsWhatSharedTablesCost)
{
    const std::vector<std::byte> bytes(1024);
    const FlatBytes file(bytes);
    EXPECT_TRUE(file.spend(1 << 16));
    EXPECT_FALSE(file.spend(1 << 16));
    EXPECT_NE(file.error().find("refer to one another"), std::string::npos);
}

TEST(TfliteReader, SaysWhichSizesAreOpenWhereAModelDoesNotFit)
{
    TfliteWriter w;
    const int x = w.input("x", TfliteType::Float32, {1, 1, 1, 2});
    const int weight =
        w.constant<float>("w", TfliteType::Float32, {1, 1, 3, 2}, {1, 2, 3, 4, 5, 6});
    const int y = w.output("y", TfliteType::Float32, {1, 1, 1, 1});
    w.op("CONV_2D", {x, weight}, {y},
         FlatOut().number(0, int8_t{1}).number(1, int32_t{1}).number(2, int32_t{1}));
    w.sign(x, {1, 1, -1, 2});
    const std::vector<std::byte> bytes = w.file();
    const auto loaded = compiler::loadTfliteBytes(bytes, nullptr, "m.tflite", {});
    ASSERT_TRUE(loaded) << loaded.error().text();
    ASSERT_EQ(loaded->diagnostics.size(), 2u);
    EXPECT_NE(loaded->diagnostics[1].text().find(
                  "input `x` may have any size (1, 1, -1, 2) and is taken as (1, 1, 1, 2); "
                  "`--shape x=..` gives another size"),
              std::string::npos)
        << loaded->diagnostics[1].text();
    compiler::ImportOptions options;
    options.shapes["x"] = {1, 1, 5, 2};
    const auto bound = compiler::loadTfliteBytes(bytes, nullptr, "m.tflite", options);
    ASSERT_TRUE(bound) << bound.error().text();
    EXPECT_TRUE(bound->diagnostics.empty()) << bound->diagnostics[0].text();
}

} // namespace
} // namespace tenon::test
