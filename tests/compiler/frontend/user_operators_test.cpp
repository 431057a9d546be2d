// SPDX-License-Identifier: Apache-2.0
// Operators that a file declares: imported, evaluated against loops written by hand, fused, and
// refused with a reason.
#include "compiler/driver/compile.h"
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/import_report.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/frontend/operator_table.h"
#include "core/base/file.h"
#include "core/ir/graph_text.h"
#include "tests/compiler/frontend/model_text.h"
#include "tests/support/environment.h"
#include "tests/support/golden.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tenon::compiler {
namespace {

Result<Loaded> load(const std::string& model, const std::string& definitions)
{
    const test::TemporaryFolder folder;
    const std::string path = folder.file("own.ops");
    EXPECT_TRUE(writeFileAtomically(path, definitions));
    auto table = readOperatorFiles({path});
    if (!table) {
        table.error().location.file = "own.ops";
        return table.error();
    }
    ImportOptions options;
    options.operators = std::make_shared<const OperatorTable>(std::move(*table));
    const auto bytes = std::make_shared<std::string>(test::modelOf(model).SerializeAsString());
    return loadOnnxBytes(std::as_bytes(std::span(*bytes)), bytes, "", "model.onnx", options);
}

std::vector<float> ramp(size_t count)
{
    std::vector<float> out;
    for (size_t i = 0; i < count; ++i) out.push_back(std::sin(static_cast<float>(i)) * 2);
    return out;
}

/// Results of main for `x` of the given shape.
std::vector<std::vector<float>> resultsOf(const std::string& model, const std::string& definitions,
                                          const std::map<std::string, Tensor>& inputs)
{
    const auto loaded = load(model, definitions);
    if (!loaded || hasErrors(loaded->diagnostics)) {
        ADD_FAILURE() << (loaded ? loaded->diagnostics[0].text() : loaded.error().text());
        return {};
    }
    const JobContext job(1);
    const auto results = evaluateGraph(loaded->module, inputs, job);
    if (!results) {
        ADD_FAILURE() << results.error().text();
        return {};
    }
    std::vector<std::vector<float>> out;
    for (const Tensor& tensor : *results)
        out.emplace_back(tensor.as<float>().begin(), tensor.as<float>().end());
    return out;
}

void expectNear(const std::vector<float>& got, const std::vector<float>& wanted)
{
    ASSERT_EQ(got.size(), wanted.size());
    for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], wanted[i], 1e-5f) << i;
}

const char* const kSwish = "# x * sigmoid(alpha * x)\n"
                           "operator com.example.Swish(x: T[S...], alpha: float = 1.0) -> (y: "
                           "T[S...]):\n"
                           "    T: float16, float32\n"
                           "    y[s...] = x[s...] / (1 + exp(-alpha * x[s...]))\n";

TEST(UserOperators, ComputeElementwise)
{
    const std::vector<float> x = ramp(24);
    const auto got = resultsOf("input x float32 2,3,4\n"
                               "node Swish s x -> y alpha=1.5f domain:com.example\n"
                               "output y float32 2,3,4\n",
                               kSwish, {{"x", Tensor::of<float>(kFloat32, {2, 3, 4}, x)}});
    std::vector<float> wanted;
    for (const float v : x) wanted.push_back(v / (1 + std::exp(-1.5f * v)));
    ASSERT_EQ(got.size(), 1u);
    expectNear(got[0], wanted);
}

TEST(UserOperators, FuseLikeBuiltInOnes)
{
    auto loaded = load("input x float32 1,8,6,6\ninit w float32 8,8,1,1\n"
                       "node Conv c x,w -> t\n"
                       "node Swish s t -> u domain:com.example\n"
                       "node Relu r u -> y\noutput y float32 1,8,6,6\n",
                       kSwish);
    ASSERT_TRUE(loaded && !hasErrors(loaded->diagnostics));
    JobContext job(1);
    const auto result = compile(std::make_shared<const Loaded>(std::move(*loaded)), {}, job);
    ASSERT_TRUE(result) << result.error().text();
    ASSERT_EQ((*result)->program.calls.size(), 1u);
    EXPECT_EQ((*result)->program.calls[0].name, "fused_nn_conv2d_com_example_Swish_nn_relu");
}

TEST(UserOperators, ComputeSumsInsideValues)
{
    const char* const definition = "operator my.Softmax(x: float32[S..., K]) -> (y: float32[S..., "
                                   "K]):\n"
                                   "    e: float32[S..., K]\n"
                                   "    e[s..., k] = exp(x[s..., k] - max(j < K, x[s..., j]))\n"
                                   "    y[s..., k] = e[s..., k] / sum(j < K, e[s..., j])\n";
    const std::vector<float> x = ramp(12);
    const auto got = resultsOf("input x float32 1,3,4\nnode Softmax s x -> y domain:my\n"
                               "output y float32 1,3,4\n",
                               definition, {{"x", Tensor::of<float>(kFloat32, {1, 3, 4}, x)}});
    std::vector<float> wanted;
    for (size_t row = 0; row < 3; ++row) {
        float sum = 0;
        for (size_t k = 0; k < 4; ++k) sum += std::exp(x[row * 4 + k]);
        for (size_t k = 0; k < 4; ++k) wanted.push_back(std::exp(x[row * 4 + k]) / sum);
    }
    ASSERT_EQ(got.size(), 1u);
    expectNear(got[0], wanted);
}

TEST(UserOperators, ComputeWindowsWithAttributes)
{
    const char* const definition =
        "operator my.Blur(x: float32[N, W], w: float32[K], pads: ints = [0, 0],\n"
        "        stride: int = 1) -> (y: float32[N, (W + pads[0] + pads[1] - K) // stride + 1]):\n"
        "    require stride > 0\n"
        "    y[n, o] = sum(k < K, w[k] * (x[n, o * stride + k - pads[0]]\n"
        "        if o * stride + k >= pads[0] and o * stride + k - pads[0] < W else 0))\n";
    const std::vector<float> x = ramp(14), w{0.5f, 1, 0.25f};
    const auto got =
        resultsOf("input x float32 2,7\ninput w float32 3\n"
                  "node Blur b x,w -> y pads=[1,2] stride=2 domain:my\noutput y float32 2,4\n",
                  definition,
                  {{"x", Tensor::of<float>(kFloat32, {2, 7}, x)},
                   {"w", Tensor::of<float>(kFloat32, {3}, w)}});
    std::vector<float> wanted;
    for (int n = 0; n < 2; ++n)
        for (int o = 0; o < 4; ++o) {
            float sum = 0;
            for (int k = 0; k < 3; ++k) {
                const int at = o * 2 + k - 1;
                if (at >= 0 && at < 7)
                    sum += w[static_cast<size_t>(k)] * x[static_cast<size_t>(n * 7 + at)];
            }
            wanted.push_back(sum);
        }
    ASSERT_EQ(got.size(), 1u);
    expectNear(got[0], wanted);
}

TEST(UserOperators, GiveSeveralResultsAndReadByData)
{
    const char* const definition =
        "operator my.Pick(x: float32[N], at: int64[K]) -> (least: float32[], y: float32[K]):\n"
        "    least[] = min(n < N, x[n])\n"
        "    y[k] = x[clamp(at[k], 0, N - 1)] - least[]\n";
    const std::vector<float> x{3, 1, 2};
    const std::vector<int64_t> at{2, 9, -4, 0};
    const auto got = resultsOf(
        "input x float32 3\ninput at int64 4\nnode Pick p x,at -> l,y domain:my\n"
        "output l float32 \noutput y float32 4\n",
        definition,
        {{"x", Tensor::of<float>(kFloat32, {3}, x)}, {"at", Tensor::of<int64_t>(kInt64, {4}, at)}});
    ASSERT_EQ(got.size(), 2u);
    expectNear(got[0], {1});
    expectNear(got[1], {1, 1, 2, 2});
}

TEST(UserOperators, AreReadFromTheFileBesideTheModel)
{
    const test::TemporaryFolder folder;
    const std::string model = folder.file("net.onnx");
    ASSERT_TRUE(writeFileAtomically(
        model, test::modelOf("input x float32 4\nnode Swish s x -> y domain:com.example\n"
                             "output y float32 4\n")
                   .SerializeAsString()));
    auto loaded = loadModel(model, {});
    ASSERT_TRUE(loaded);
    ASSERT_TRUE(hasErrors(loaded->diagnostics));
    EXPECT_NE(loaded->diagnostics[0].message.find("com.example::Swish"), std::string::npos);
    ASSERT_TRUE(writeFileAtomically(folder.file("net.ops"), kSwish));
    loaded = loadModel(model, {});
    ASSERT_TRUE(loaded);
    EXPECT_FALSE(hasErrors(loaded->diagnostics)) << loaded->diagnostics[0].text();
    // What cannot be read is said with its place, not passed over.
    ASSERT_TRUE(writeFileAtomically(folder.file("net.ops"), "operator Swish(x"));
    loaded = loadModel(model, {});
    ASSERT_FALSE(loaded);
    EXPECT_EQ(loaded.error().location.file, folder.file("net.ops"));
}

TEST(UserOperators, SurviveTextOfTheGraph)
{
    const auto loaded = load("input x float32 2,2\nnode Swish s x -> y domain:com.example\n"
                             "output y float32 2,2\n",
                             kSwish);
    ASSERT_TRUE(loaded && !hasErrors(loaded->diagnostics));
    const std::string text = printModule(loaded->module);
    const auto again = parseModule(text);
    ASSERT_TRUE(again) << again.error().text();
    EXPECT_EQ(printModule(*again), text);
}

TEST(UserOperators, BadDefinitions)
{
    test::expectGolden(
        "tests/compiler/frontend/bad_definitions.txt", [](const test::GoldenCase& c) {
            const auto loaded = load("input x float32 2,4\ninput n int32 4\n"
                                     "node Op op x,n -> y domain:my\noutput y float32 2,4\n",
                                     c.input);
            if (!loaded) return loaded.error().text() + "\n";
            std::string out;
            for (const Diagnostic& d : loaded->diagnostics) out += d.text() + "\n";
            return out.empty() ? "no error\n" : out;
        });
}

TEST(UserOperators, DeepAndLongTextIsRefused)
{
    const std::string head = "operator my.Op(x: float32[N]) -> (y: float32[N]):\n    y[i] = ";
    for (const std::string& value :
         {std::string(100000, '(') + "x[i]", std::string(100000, '-') + "x[i]",
          "x[i]" + std::string(5000, ' ')}) {
        const auto parsed = parseDefinitions(head + value + "\n");
        EXPECT_EQ(parsed.operator bool(), value.starts_with("x")) << value.substr(0, 10);
    }
    std::string sum = "x[i]";
    for (int i = 0; i < 50000; ++i) sum += " + x[i]";
    EXPECT_FALSE(parseDefinitions(head + sum + "\n"));
}

TEST(UserOperators, AreNotReachedBehindAnUnsupportedNode)
{
    const auto loaded = load("opset 13\nopset com.example 1\ninput x float32 1,4\n"
                             "node ImageDecoder odd x -> a\n"
                             "node Swish after a -> b domain:com.example\noutput b float32 1,4\n",
                             kSwish);
    ASSERT_TRUE(loaded) << loaded.error().text();
    const ImportReport report = importReport(*loaded);
    ASSERT_EQ(report.nodes.size(), 2u);
    EXPECT_EQ(report.nodes[0].verdict, NodeVerdict::Unsupported);
    EXPECT_EQ(report.nodes[1].verdict, NodeVerdict::Unreached);
}

} // namespace
} // namespace tenon::compiler
