// SPDX-License-Identifier: Apache-2.0
// Quantized layers of odd shapes on emulated cores: plain C, pairs of products, Helium. All give
// the integers of a convolution that is written out here, near ties as well.
#include "compiler/driver/compile.h"
#include "compiler/frontend/text/graph_text_model.h"
#include "remote/deploy/deployer.h"
#include "remote/virtual/virtual_board.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

namespace tenon::remote {
namespace {

struct Layer
{
    int64_t channels, filters, rows, columns;
    int64_t kernelRows = 1, kernelColumns = 1;
    int64_t stride = 1, padding = 0, dilation = 1, groups = 1;

    int64_t outputs(int64_t size, int64_t kernel) const
    {
        return (size + 2 * padding - (kernel - 1) * dilation - 1) / stride + 1;
    }
};

constexpr int kZero = 5, kResultZero = -3;
/// Quarters and eighths of sums lie halfway between integers often.
constexpr float kScales[] = {1.0f / 64, 1.0f / 128, 1.0f / 512, 0.0117f};

std::vector<int> someBytes(int64_t count, int low)
{
    std::mt19937 random(static_cast<unsigned>(count));
    std::vector<int> out(static_cast<size_t>(count));
    for (int& each : out)
        each = low + static_cast<int>(random() % static_cast<unsigned>(128 - low));
    return out;
}

struct Values
{
    std::vector<int> data, weight;
    int bias(int64_t filter) const { return static_cast<int>(filter * 37 - 100); }
    float scale(int64_t filter) const { return kScales[filter % 4]; }
};

Values valuesOf(const Layer& l)
{
    return {someBytes(l.channels * l.rows * l.columns, -128),
            someBytes(l.filters * (l.channels / l.groups) * l.kernelRows * l.kernelColumns, -127)};
}

template <class Of>
std::string listOf(int64_t count, Of of)
{
    std::string out;
    for (int64_t i = 0; i < count; ++i) out += (i ? ", " : "") + of(i);
    return "[" + out + "]";
}

std::string textOf(const Layer& l, const Values& v)
{
    const auto number = [](int64_t value) { return std::to_string(value); };
    const std::string perFilter = "(" + number(l.filters) + ", 1, 1)";
    char scale[64];
    return "def @main(%x: Tensor[(1, " + number(l.channels) + ", " + number(l.rows) + ", " +
           number(l.columns) + "), int8]) {\n  %w = const(" +
           listOf(static_cast<int64_t>(v.weight.size()),
                  [&](int64_t i) { return number(v.weight[static_cast<size_t>(i)]); }) +
           ") : Tensor[(" + number(l.filters) + ", " + number(l.channels / l.groups) + ", " +
           number(l.kernelRows) + ", " + number(l.kernelColumns) + "), int8]\n  %z = const(" +
           number(kZero) + ") : Tensor[(), int8]\n  %b = const(" +
           listOf(l.filters, [&](int64_t f) { return number(v.bias(f)); }) + ") : Tensor[" +
           perFilter + ", int32]\n  %s = const(" +
           listOf(l.filters,
                  [&](int64_t f) {
                      std::snprintf(scale, sizeof scale, "%.9gf", static_cast<double>(v.scale(f)));
                      return std::string(scale);
                  }) +
           ") : Tensor[" + perFilter + ", float32]\n  %r = const(" + number(kResultZero) +
           ") : Tensor[(), int8]\n  %0 = qnn.conv2d(%x, %w, %z, strides=[" + number(l.stride) +
           ", " + number(l.stride) + "], padding=[" +
           listOf(4, [&](int64_t) { return number(l.padding); }).substr(1) + ", dilation=[" +
           number(l.dilation) + ", " + number(l.dilation) + "], groups=" + number(l.groups) +
           ")\n  %1 = add(%0, %b)\n  %2 = qnn.requantize(%1, %s, %r, out_dtype=T.int8)\n"
           "  return %2\n}\n";
}

std::vector<double> wantedOf(const Layer& l, const Values& v)
{
    const int64_t perGroup = l.channels / l.groups;
    std::vector<double> out;
    const auto sumAt = [&](int64_t f, int64_t y, int64_t x) {
        int32_t sum = v.bias(f);
        for (int64_t c = 0; c < perGroup; ++c)
            for (int64_t ky = 0; ky < l.kernelRows; ++ky)
                for (int64_t kx = 0; kx < l.kernelColumns; ++kx) {
                    const int64_t row = y * l.stride - l.padding + ky * l.dilation;
                    const int64_t column = x * l.stride - l.padding + kx * l.dilation;
                    if (row < 0 || row >= l.rows || column < 0 || column >= l.columns) continue;
                    const int64_t channel = f / (l.filters / l.groups) * perGroup + c;
                    const int64_t at = (channel * l.rows + row) * l.columns + column;
                    const int64_t tap =
                        ((f * perGroup + c) * l.kernelRows + ky) * l.kernelColumns + kx;
                    sum += (v.data[static_cast<size_t>(at)] - kZero) *
                           v.weight[static_cast<size_t>(tap)];
                }
        return sum;
    };
    for (int64_t f = 0; f < l.filters; ++f)
        for (int64_t y = 0; y < l.outputs(l.rows, l.kernelRows); ++y)
            for (int64_t x = 0; x < l.outputs(l.columns, l.kernelColumns); ++x) {
                const float product = static_cast<float>(sumAt(f, y, x)) * v.scale(f);
                out.push_back(std::clamp(std::nearbyint(product) + kResultZero, -128.0f, 127.0f));
            }
    return out;
}

class MicroKernels : public testing::TestWithParam<const char*>
{
protected:
    void SetUp() override
    {
        TENON_NEED_TOOL("arm-none-eabi-gcc");
        TENON_NEED_TOOL("qemu-system-arm");
    }

    std::vector<double> run(const Layer& layer, const Values& values)
    {
        auto loaded = compiler::loadedFromText(textOf(layer, values));
        EXPECT_TRUE(loaded) << loaded.error().text();
        if (!loaded) return {};
        const auto model = std::make_shared<const compiler::Loaded>(std::move(*loaded));
        DeployRequest request;
        request.build = [&](const std::string& target, core::JobContext& job) {
            return build(model, target, job);
        };
        request.inputs = [&](const core::Manifest&) -> core::Result<NamedTensors> {
            const std::vector<int8_t> bytes(values.data.begin(), values.data.end());
            return NamedTensors{
                {"x", core::Tensor::of(core::kInt8, {1, layer.channels, layer.rows, layer.columns},
                                       bytes)}};
        };
        core::JobContext job;
        const auto board = makeVirtualBoard("board", *findProfile(GetParam()), "", job);
        EXPECT_TRUE(board) << board.error().text();
        const DeployReportPtr report = Deployer(*board, {}).deploy(request, job);
        EXPECT_FALSE(report->error) << report->error->text();
        if (report->error || report->outputs.empty()) return {};
        return report->outputs[0].numbers();
    }

    core::Result<BuiltModel> build(const std::shared_ptr<const compiler::Loaded>& model,
                                   const std::string& target, core::JobContext& job)
    {
        compiler::CompileOptions options;
        options.target = target;
        options.executor = compiler::ExecutorKind::Aot;
        const auto result = compiler::compile(model, options, job);
        if (!result) return result.error();
        const std::string path = m_folder.file("model.elf");
        const auto report = compiler::writeProgram(**result, compiler::CInterface::Structs, path);
        if (!report) return report.error();
        return BuiltModel{.path = path, .manifest = report->manifest};
    }

    void expectAsWritten(const Layer& layer)
    {
        const Values values = valuesOf(layer);
        EXPECT_EQ(run(layer, values), wantedOf(layer, values))
            << GetParam() << ": " << layer.channels << " to " << layer.filters << " channels";
    }

    test::TemporaryFolder m_folder;
};

TEST_P(MicroKernels, ConvolveChannelsInRuns)
{
    expectAsWritten({.channels = 16, .filters = 20, .rows = 5, .columns = 7});
    expectAsWritten({.channels = 24,
                     .filters = 8,
                     .rows = 6,
                     .columns = 5,
                     .kernelRows = 3,
                     .kernelColumns = 3,
                     .stride = 2,
                     .padding = 1});
    expectAsWritten({.channels = 4,
                     .filters = 16,
                     .rows = 7,
                     .columns = 6,
                     .kernelRows = 3,
                     .kernelColumns = 2,
                     .padding = 1,
                     .dilation = 2});
}

TEST_P(MicroKernels, ConvolveFewOrOddChannels)
{
    expectAsWritten({.channels = 1,
                     .filters = 8,
                     .rows = 9,
                     .columns = 8,
                     .kernelRows = 5,
                     .kernelColumns = 4,
                     .stride = 2,
                     .padding = 1});
    expectAsWritten({.channels = 3,
                     .filters = 5,
                     .rows = 6,
                     .columns = 9,
                     .kernelRows = 3,
                     .kernelColumns = 3,
                     .padding = 1});
    expectAsWritten({.channels = 17, .filters = 12, .rows = 4, .columns = 5});
}

TEST_P(MicroKernels, ConvolveRowsOfAnyChannels)
{
    expectAsWritten({.channels = 5,
                     .filters = 6,
                     .rows = 5,
                     .columns = 7,
                     .kernelRows = 3,
                     .kernelColumns = 3,
                     .padding = 1});
    expectAsWritten({.channels = 7,
                     .filters = 13,
                     .rows = 7,
                     .columns = 9,
                     .kernelRows = 2,
                     .kernelColumns = 5,
                     .stride = 2,
                     .padding = 2});
    expectAsWritten({.channels = 2,
                     .filters = 3,
                     .rows = 6,
                     .columns = 6,
                     .kernelRows = 3,
                     .kernelColumns = 3});
    expectAsWritten({.channels = 10, .filters = 6, .rows = 4, .columns = 5});
    expectAsWritten({.channels = 6,
                     .filters = 1,
                     .rows = 4,
                     .columns = 5,
                     .kernelRows = 3,
                     .kernelColumns = 3,
                     .padding = 1});
}

TEST_P(MicroKernels, ConvolveDepthwise)
{
    expectAsWritten({.channels = 6,
                     .filters = 6,
                     .rows = 5,
                     .columns = 6,
                     .kernelRows = 3,
                     .kernelColumns = 3,
                     .padding = 1,
                     .groups = 6});
    expectAsWritten({.channels = 16,
                     .filters = 16,
                     .rows = 7,
                     .columns = 6,
                     .kernelRows = 3,
                     .kernelColumns = 3,
                     .padding = 1,
                     .groups = 16});
    expectAsWritten({.channels = 24,
                     .filters = 24,
                     .rows = 9,
                     .columns = 5,
                     .kernelRows = 5,
                     .kernelColumns = 3,
                     .stride = 2,
                     .padding = 2,
                     .groups = 24});
    expectAsWritten({.channels = 5,
                     .filters = 15,
                     .rows = 5,
                     .columns = 5,
                     .kernelRows = 3,
                     .kernelColumns = 3,
                     .padding = 1,
                     .groups = 5});
}

INSTANTIATE_TEST_SUITE_P(Boards, MicroKernels,
                         testing::Values("mps2-an385", "mps2-an386", "mps3-an547"),
                         [](const auto& each) {
                             std::string name = each.param;
                             name.erase(name.find('-'), 1);
                             return name;
                         });

} // namespace
} // namespace tenon::remote
