// SPDX-License-Identifier: Apache-2.0
// Resize of axes that are not both last ones of a picture, and with antialiasing, against the
// formulas of ONNX's operator Resize one axis at a time.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/frontend/onnx/load_onnx.h"
#include "core/base/text.h"
#include "tests/compiler/frontend/model_text.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>

namespace tenon::test {
namespace {

using namespace tenon::compiler;
using Numbers = std::vector<double>;
using Extents = std::vector<int64_t>;

/// What is resized: `output` follows from the scales.
struct Case
{
    Extents input;
    Numbers scales;
    bool isAntialiased;
    const char* dtype = "float32";

    Extents output() const
    {
        Extents out;
        for (size_t i = 0; i < input.size(); ++i)
            out.push_back(
                static_cast<int64_t>(std::floor(static_cast<double>(input[i]) * scales[i])));
        return out;
    }
};

double elementAt(int64_t i) { return static_cast<double>(i * 7919 % 101); }

/// One output of a line of `count` elements `step` apart, by a tent as wide as two input pixels, or
/// as two output pixels where antialiasing makes it wider.
double tent(const Numbers& x, size_t first, size_t step, int64_t count, int64_t at, double scale,
            bool isAntialiased)
{
    const double source = (static_cast<double>(at) + 0.5) / scale - 0.5;
    const double narrow = isAntialiased ? std::min(scale, 1.0) : 1.0;
    const auto reach = static_cast<int64_t>(std::ceil(1 / narrow)) + 1;
    double sum = 0, weights = 0;
    for (int64_t i = static_cast<int64_t>(std::floor(source)) - reach;
         i <= static_cast<int64_t>(std::ceil(source)) + reach; ++i) {
        const double weight =
            std::max(0.0, 1 - std::fabs(static_cast<double>(i) - source) * narrow);
        const auto pixel = static_cast<size_t>(std::clamp<int64_t>(i, 0, count - 1));
        sum += weight * x[first + pixel * step];
        weights += weight;
    }
    return sum / weights;
}

/// All axes, one after the other.
Numbers expected(const Case& c, Numbers x)
{
    Extents shape = c.input;
    const Extents output = c.output();
    for (size_t axis = 0; axis < shape.size(); ++axis) {
        if (c.scales[axis] == 1) continue;
        size_t before = 1, step = 1;
        for (size_t i = 0; i < axis; ++i) before *= static_cast<size_t>(shape[i]);
        for (size_t i = axis + 1; i < shape.size(); ++i) step *= static_cast<size_t>(shape[i]);
        const auto count = static_cast<size_t>(shape[axis]);
        Numbers out;
        for (size_t b = 0; b < before; ++b)
            for (int64_t o = 0; o < output[axis]; ++o)
                for (size_t s = 0; s < step; ++s)
                    out.push_back(tent(x, b * count * step + s, step, shape[axis], o,
                                       c.scales[axis], c.isAntialiased));
        x = std::move(out);
        shape[axis] = output[axis];
    }
    return x;
}

Tensor resized(const Case& c)
{
    std::string scales;
    for (const double scale : c.scales) scales += (scales.empty() ? "" : ",") + exact(scale);
    const std::string type = std::string(c.dtype) + " ";
    const std::string text = "opset 18\ninput x " + type + join(c.input, ",") +
                             "\nfloats scales float32 " + std::to_string(c.scales.size()) + " = " +
                             scales + "\nnode Resize r x,_,scales -> y mode=\"linear\" antialias=" +
                             (c.isAntialiased ? "1" : "0") + "\noutput y " + type +
                             join(c.output(), ",") + "\n";
    const std::string bytes = modelOf(text).SerializeAsString();
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", {});
    CHECK(loaded) << loaded.error().text();
    const NodeRecord& node = loaded->module.node(loaded->module.main().params[0]);
    const DataType dtype = node.types[0].dtype;
    Tensor x = Tensor::make(dtype, c.input, [&](std::span<std::byte> to) {
        for (int64_t i = 0; i < elementCount(c.input); ++i) storeNumber(dtype, to, i, elementAt(i));
    });
    auto results = evaluateGraph(loaded->module, {{node.name, x}}, JobContext());
    CHECK(results) << results.error().text();
    return results->at(0);
}

class ResizeAxes : public testing::TestWithParam<Case>
{
};

TEST_P(ResizeAxes, FollowsTheFormula)
{
    const Case& c = GetParam();
    Numbers x;
    for (int64_t i = 0; i < elementCount(c.input); ++i) x.push_back(elementAt(i));
    const Numbers wanted = expected(c, std::move(x));
    const Tensor got = resized(c);
    ASSERT_EQ(got.size(), static_cast<int64_t>(wanted.size()));
    const bool isFloat = got.dtype().isFloat();
    for (int64_t i = 0; i < got.size(); ++i) {
        const double value = wanted[static_cast<size_t>(i)];
        EXPECT_NEAR(got.number(i), isFloat ? value : std::floor(value + 1e-4), isFloat ? 2e-4 : 0)
            << i;
    }
}

INSTANTIATE_TEST_SUITE_P(
    , ResizeAxes,
    testing::Values(Case{{1, 6, 5, 3}, {1, 1.5, 2, 1}, false},    // pixels
                    Case{{7, 6, 3}, {2, 1.5, 1}, false, "uint8"}, // of bytes
                    Case{{1, 2, 9, 8}, {1, 1, 1.5, 1.25}, false, "uint8"},
                    Case{{1, 2, 3, 4, 5}, {1, 1, 2, 2, 2}, false}, // volumes
                    Case{{2, 5, 3, 4}, {1, 2, 1, 1}, false},       // one axis that is not the last
                    Case{{6, 5}, {1.5, 2}, false}, Case{{7}, {3}, false},
                    Case{{1, 2, 40, 48}, {1, 1, 0.5, 0.25}, true}, // few of many neighbours
                    Case{{40, 48, 3}, {0.25, 0.5, 1}, true},
                    Case{{1, 40, 5, 2}, {1, 0.3, 1, 1}, true}, Case{{3, 64}, {1, 0.375}, true},
                    Case{{3, 8}, {1, 0.5}, true}));

} // namespace
} // namespace tenon::test
