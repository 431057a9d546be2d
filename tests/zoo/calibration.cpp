// SPDX-License-Identifier: Apache-2.0
// Photograph-like images, and the statistics they leave.
#include "tests/zoo/calibration.h"

#include "core/base/check.h"

#include <cmath>
#include <random>

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;

/// [0, 1), equal on every platform.
class Uniform
{
public:
    explicit Uniform(uint64_t seed)
        : m_engine(seed)
    {
    }
    double operator()() { return static_cast<double>(m_engine() >> 11) * 0x1p-53; }

private:
    std::mt19937_64 m_engine;
};

struct Disc
{
    double row, column, radius;
    double colours[3];
    double shade; ///< brightness gained from left to right
};

/// Radii fall with the cube: every scale covers as much of the image.
Disc nextDisc(Uniform& uniform, double size)
{
    constexpr double kSmallest = 0.02, kLargest = 0.6;
    const double a = 1 / (kSmallest * kSmallest), b = 1 / (kLargest * kLargest);
    Disc disc{.row = uniform() * size,
              .column = uniform() * size,
              .radius = size / std::sqrt(a + uniform() * (b - a)),
              .colours = {},
              .shade = 0.4 * (uniform() - 0.5)};
    const double brightness = uniform();
    for (double& colour : disc.colours) colour = 0.8 * brightness + 0.2 * uniform();
    return disc;
}

void paint(const Disc& disc, int64_t size, double* image)
{
    for (int64_t y = 0; y < size; ++y)
        for (int64_t x = 0; x < size; ++x) {
            const double dy = static_cast<double>(y) - disc.row;
            const double dx = static_cast<double>(x) - disc.column;
            if (dy * dy + dx * dx > disc.radius * disc.radius) continue;
            for (int64_t c = 0; c < 3; ++c)
                image[(c * size + y) * size + x] = disc.colours[c] + disc.shade * dx / disc.radius;
        }
}

TensorProto* initializerOf(tenon_onnx::ModelProto& model, const std::string& name)
{
    for (TensorProto& tensor : *model.mutable_graph()->mutable_initializer())
        if (tensor.name() == name) return &tensor;
    return nullptr;
}

void store(TensorProto* tensor, const std::vector<double>& values)
{
    CHECK(tensor) << "statistics are initializers";
    const std::vector<float> floats(values.begin(), values.end());
    tensor->set_raw_data(floats.data(), floats.size() * sizeof(float));
}

/// Means and variances per channel.
std::pair<std::vector<double>, std::vector<double>> statisticsOf(const Values& values)
{
    const auto channels = static_cast<size_t>(values.shape[1]);
    const auto pixels = static_cast<size_t>(values.shape[2] * values.shape[3]);
    std::vector<double> means(channels, 0), variances(channels, 0);
    const auto count = static_cast<double>(values.items.size() / channels);
    for (size_t i = 0; i < values.items.size(); ++i)
        means[i / pixels % channels] += values.items[i] / count;
    for (size_t i = 0; i < values.items.size(); ++i) {
        const double difference = values.items[i] - means[i / pixels % channels];
        variances[i / pixels % channels] += difference * difference / count;
    }
    return {means, variances};
}

} // namespace

Values photographs(int64_t count, int64_t size, uint64_t seed)
{
    constexpr int kDiscs = 400;
    constexpr double kMean = 0.45, kDeviation = 0.225, kGrain = 0.02;
    Uniform uniform(seed);
    const int64_t plane = 3 * size * size;
    Values images{{count, 3, size, size},
                  std::vector<double>(static_cast<size_t>(count * plane), 0.5)};
    for (int64_t i = 0; i < count; ++i)
        for (int disc = 0; disc < kDiscs; ++disc)
            paint(nextDisc(uniform, static_cast<double>(size)), size,
                  &images.items[static_cast<size_t>(i * plane)]);
    for (double& item : images.items) {
        const double value = (item + kGrain * (uniform() - 0.5) - kMean) / kDeviation;
        item = static_cast<double>(static_cast<float>(value)); // as a model takes it
    }
    return images;
}

std::string calibrated(const std::string& modelBytes, const Values& images)
{
    tenon_onnx::ModelProto model;
    CHECK(model.ParseFromString(modelBytes)) << "the zoo writes ONNX";
    evaluatePlainly(model, images, [&](const auto& node, const auto& values) {
        if (node.op_type() != "BatchNormalization") return;
        const auto [means, variances] = statisticsOf(values.at(node.input(0)));
        store(initializerOf(model, node.input(3)), means);
        store(initializerOf(model, node.input(4)), variances);
    });
    return model.SerializeAsString();
}

} // namespace tenon::test
