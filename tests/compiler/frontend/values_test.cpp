// SPDX-License-Identifier: Apache-2.0
// Inputs whose values are fixed at import, and elements that are held as codes.
#include "compiler/frontend/onnx/file/element_types.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/passes/pass.h"
#include "core/ir/graph_text.h"
#include "tests/compiler/frontend/model_text.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::test {
namespace {

using namespace tenon::compiler;

constexpr const char* kCumSum = "opset 13\ninput x float32 2,3\ninput at int64 ()\n"
                                "node CumSum n x,at -> y\noutput y float32 2,3\n";

Loaded imported(const std::string& text, const ImportOptions& options = {})
{
    const std::string bytes = modelOf(text).SerializeAsString();
    auto loaded =
        loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", options);
    return loaded ? *std::move(loaded) : Loaded{.diagnostics = {loaded.error()}};
}

std::string errorsOf(const Loaded& loaded)
{
    std::string out;
    for (const Diagnostic& d : loaded.diagnostics) out += d.text() + "\n";
    return out;
}

TEST(FixedValues, AreAskedForByName)
{
    const Loaded loaded = imported("opset 18\ninput x float32 ()\ninput at int64 ()\n"
                                   "node CumSum n x,at -> y\noutput y float32 ()\n");
    EXPECT_EQ(loaded.neededValues, std::vector<std::string>{"at"});
    EXPECT_NE(errorsOf(loaded).find("--value"), std::string::npos) << errorsOf(loaded);
}

TEST(FixedValues, AreAskedForBehindWhatIsComputedFromThem)
{
    const Loaded loaded =
        imported("opset 18\ninput x float32 ()\ninput at float32 ()\nnode Cast c at -> whole to=7\n"
                 "node CumSum n x,whole -> y\noutput y float32 ()\n");
    EXPECT_EQ(loaded.neededValues, std::vector<std::string>{"at"});
}

TEST(FixedValues, BecomeConstants)
{
    ImportOptions options;
    options.values["at"] = Tensor::of<int64_t>(kInt64, {1}, {1}); // of the input's type, reshaped
    const Loaded loaded = imported(kCumSum, options);
    EXPECT_EQ(errorsOf(loaded), "");
    EXPECT_EQ(loaded.module.main().params.size(), 1u);
    const std::string text = printModule(loaded.module, {.hashes = false});
    EXPECT_NE(text.find("cumsum(%x, axis=1"), std::string::npos) << text;
}

TEST(FixedValues, ThatDoNotFitAreRefused)
{
    ImportOptions options;
    options.values["at"] = Tensor::of<int64_t>(kInt64, {2}, {0, 1});
    EXPECT_NE(errorsOf(imported(kCumSum, options)).find("cannot be fixed to"), std::string::npos);
    options.values = {{"nowhere", Tensor::of<int64_t>(kInt64, {1}, {0})}};
    EXPECT_NE(errorsOf(imported(kCumSum, options)).find("no input `nowhere`"), std::string::npos);
}

TEST(NarrowTypes, AreMovedAndCastButNotComputedWith)
{
    const std::string head = "opset 21\ninput x int4 2,3\n";
    EXPECT_EQ(errorsOf(imported(head + "node Transpose t x -> t\nnode Cast c t -> y to=1\n"
                                       "output y float32 3,2\n")),
              "");
    const std::string errors =
        errorsOf(imported(head + "node Add a x,x -> y\noutput y int4 2,3\n"));
    EXPECT_NE(errors.find("computing with int4 is not supported; cast"), std::string::npos)
        << errors;
}

/// How often the simplified model casts to float16.
size_t roundingsOf(const std::string& text)
{
    const Loaded loaded = imported(text);
    JobContext job;
    PassContext context;
    context.job = &job;
    const auto trace = runPasses(loaded.module, context, {.stopAfter = "DeadCodeElimination"});
    if (!trace) return SIZE_MAX;
    const std::string printed = printModule(trace->last(), {.hashes = false});
    size_t count = 0;
    for (size_t at = printed.find("T.float16"); at != std::string::npos;
         at = printed.find("T.float16", at + 1))
        ++count;
    return count;
}

TEST(Halves, AreRoundedToWhereTheModelCastsOnly)
{
    EXPECT_EQ(roundingsOf("opset 13\ninput x float32 4\nnode Cast a x -> h to=10\n"
                          "node Cast b h -> u to=1\nnode Neg n u -> y\noutput y float32 4\n"),
              1u);
    EXPECT_EQ(roundingsOf("opset 13\ninput x float32 4\nnode Cast a x -> h to=10\n"
                          "node Relu r h -> s\nnode Exp e s -> t\nnode Cast b t -> u to=1\n"
                          "node Neg n u -> y\noutput y float32 4\n"),
              1u);
}

TEST(NarrowTypes, DecodeTheLimitsOfEachFormat)
{
    using tenon_onnx::TensorProto;
    const auto of = [](int32_t type) { return *narrowTypeOf(type); };
    EXPECT_EQ(of(TensorProto::FLOAT8E4M3FN).decode(0x7e), 448);
    EXPECT_TRUE(std::isnan(of(TensorProto::FLOAT8E4M3FN).decode(0x7f)));
    EXPECT_EQ(of(TensorProto::FLOAT8E4M3FN).decode(0x01), std::ldexp(1, -9));
    EXPECT_EQ(of(TensorProto::FLOAT8E5M2).decode(0x7b), 57344);
    EXPECT_TRUE(std::isinf(of(TensorProto::FLOAT8E5M2).decode(0xfc)));
    EXPECT_EQ(of(TensorProto::FLOAT8E4M3FNUZ).decode(0x7f), 240);
    EXPECT_TRUE(std::isnan(of(TensorProto::FLOAT8E4M3FNUZ).decode(0x80)));
    EXPECT_EQ(of(TensorProto::FLOAT8E5M2FNUZ).decode(0x01), std::ldexp(1, -17));
    EXPECT_EQ(of(TensorProto::FLOAT8E8M0).decode(127), 1);
    EXPECT_TRUE(std::isnan(of(TensorProto::FLOAT8E8M0).decode(255)));
    EXPECT_EQ(of(TensorProto::FLOAT4E2M1).decode(0x7), 6);
    EXPECT_EQ(of(TensorProto::FLOAT4E2M1).decode(0x9), -0.5);
}

TEST(NarrowTypes, UnpackTheLowestBitsFirst)
{
    const std::vector<std::byte> packed{std::byte{0x7f}, std::byte{0x08}};
    const auto codes = unpackedCodes(*narrowTypeOf(tenon_onnx::TensorProto::INT4), packed, 3);
    EXPECT_EQ(codes, (std::vector<uint8_t>{0xff, 7, 0xf8}));
    const auto pairs = unpackedCodes(*narrowTypeOf(tenon_onnx::TensorProto::UINT2), packed, 5);
    EXPECT_EQ(pairs, (std::vector<uint8_t>{3, 3, 3, 1, 0}));
}

} // namespace
} // namespace tenon::test
