// SPDX-License-Identifier: Apache-2.0
// Sums in the order of the operator's definition: channels, rows, columns; element by element.
#include "tests/fuzz/steps/step_model.h"

#include <cmath>

namespace tenon::test {
namespace {

using core::kFloat32;
using Floats = std::vector<float>;

Floats randomFloats(StepModel& m, int64_t count)
{
    Floats out;
    for (int64_t i = 0; i < count; ++i) out.push_back(static_cast<float>(m.uniform(-2, 2)));
    return out;
}

Tensor floats(Dims shape, const Floats& values)
{
    return Tensor::of(kFloat32, std::move(shape), values);
}

/// a is [rows, depth], b is [depth, columns].
Floats product(const Floats& a, const Floats& b, int64_t rows, int64_t depth, int64_t columns)
{
    Floats out;
    for (int64_t r = 0; r < rows; ++r)
        for (int64_t c = 0; c < columns; ++c) {
            float sum = 0;
            for (int64_t k = 0; k < depth; ++k) {
                const float term =
                    a[static_cast<size_t>(r * depth + k)] * b[static_cast<size_t>(k * columns + c)];
                sum = sum + term;
            }
            out.push_back(sum);
        }
    return out;
}

void matmul(StepModel& m)
{
    const int64_t rows = m.pick(1, 9), depth = m.pick(1, 70), columns = m.pick(1, 40);
    const Floats a = randomFloats(m, rows * depth), b = randomFloats(m, depth * columns);
    Floats out = product(a, b, rows, depth, columns);
    const StepValue x = m.input(floats({rows, depth}, a));
    const StepValue y = m.constant(floats({depth, columns}, b));
    if (m.chance(50)) {
        m.how = "MatMul";
        m.node("MatMul", {x, y}, {floats({rows, columns}, out)});
        return m.output(m.last());
    }
    m.how = "Gemm";
    const Floats bias = randomFloats(m, columns);
    for (size_t i = 0; i < out.size(); ++i)
        out[i] = out[i] + bias[i % static_cast<size_t>(columns)];
    m.node("Gemm", {x, y, m.constant(floats({columns}, bias))}, {floats({rows, columns}, out)});
    m.output(m.last());
}

void convolution(StepModel& m)
{
    const int64_t in = m.pick(1, 5), filters = m.pick(1, 6), size = m.pick(4, 19);
    const Floats x = randomFloats(m, in * size * size), w = randomFloats(m, filters * in * 9);
    const Floats bias = randomFloats(m, filters);
    const auto at = [&](int64_t c, int64_t row, int64_t column) {
        const bool isInside = row >= 0 && row < size && column >= 0 && column < size;
        return isInside ? x[static_cast<size_t>((c * size + row) * size + column)] : 0.0f;
    };
    Floats out;
    for (int64_t f = 0; f < filters; ++f)
        for (int64_t row = 0; row < size; ++row)
            for (int64_t column = 0; column < size; ++column) {
                float sum = 0;
                for (int64_t k = 0; k < in * 9; ++k) {
                    const float term = at(k / 9, row + k / 3 % 3 - 1, column + k % 3 - 1) *
                                       w[static_cast<size_t>(f * in * 9 + k)];
                    sum = sum + term;
                }
                out.push_back(sum + bias[static_cast<size_t>(f)]);
            }
    m.how = "Conv";
    setInts(
        m.node("Conv",
               {m.input(floats({1, in, size, size}, x)), m.constant(floats({filters, in, 3, 3}, w)),
                m.constant(floats({filters}, bias))},
               {floats({1, filters, size, size}, out)}),
        "pads", {1, 1, 1, 1});
    m.output(m.last());
}

void reduction(StepModel& m)
{
    static constexpr const char* kOps[] = {"ReduceSum", "ReduceMean", "ReduceSumSquare",
                                           "ReduceL1"};
    const std::string op = kOps[m.pick(0, 3)];
    const int64_t rows = m.pick(1, 9), columns = m.pick(2, 130);
    const bool isInner = m.chance(70);
    const Floats x = randomFloats(m, rows * columns);
    Floats out;
    for (int64_t o = 0; o < (isInner ? rows : columns); ++o) {
        float sum = 0;
        for (int64_t k = 0; k < (isInner ? columns : rows); ++k) {
            const float value = x[static_cast<size_t>(isInner ? o * columns + k : k * columns + o)];
            const float term = op == "ReduceSumSquare" ? value * value
                               : op == "ReduceL1"      ? std::fabs(value)
                                                       : value;
            sum = sum + term;
        }
        out.push_back(op == "ReduceMean" ? sum / static_cast<float>(isInner ? columns : rows)
                                         : sum);
    }
    m.how = op;
    const StepValue axes = m.constant(tensorOf(core::kInt64, {1}, {isInner ? 1.0 : 0.0}));
    const auto count = static_cast<int64_t>(out.size());
    setInt(m.node(op, {m.input(floats({rows, columns}, x)), axes}, {floats({count}, out)}),
           "keepdims", 0);
    m.output(m.last());
}

void pooling(StepModel& m)
{
    const int64_t channels = m.pick(1, 5), size = m.pick(4, 12);
    const Floats x = randomFloats(m, channels * size * size);
    Floats out;
    for (int64_t c = 0; c < channels; ++c)
        for (int64_t row = 0; row + 3 <= size; ++row)
            for (int64_t column = 0; column + 3 <= size; ++column) {
                float sum = 0;
                for (int64_t k = 0; k < 9; ++k)
                    sum = sum +
                          x[static_cast<size_t>((c * size + row + k / 3) * size + column + k % 3)];
                out.push_back(sum / 9);
            }
    m.how = "AveragePool";
    setInts(m.node("AveragePool", {m.input(floats({1, channels, size, size}, x))},
                   {floats({1, channels, size - 2, size - 2}, out)}),
            "kernel_shape", {3, 3});
    m.output(m.last());
}

void runningSum(StepModel& m)
{
    const int64_t count = m.pick(2, 90);
    const Floats x = randomFloats(m, count);
    Floats out;
    float sum = 0;
    for (const float value : x) {
        sum = sum + value;
        out.push_back(sum);
    }
    m.how = "CumSum";
    m.node("CumSum", {m.input(floats({count}, x)), m.scalar(core::kInt64, 0)},
           {floats({count}, out)});
    m.output(m.last());
}

void batchNormalization(StepModel& m)
{
    const int64_t channels = m.pick(1, 9), width = m.pick(1, 40);
    const Floats x = randomFloats(m, channels * width), scale = randomFloats(m, channels);
    const Floats shift = randomFloats(m, channels), mean = randomFloats(m, channels);
    Floats variance = randomFloats(m, channels), out;
    for (float& value : variance) value = std::fabs(value);
    constexpr float kEpsilon = 1e-5f;
    for (size_t i = 0; i < x.size(); ++i) {
        const size_t c = i / static_cast<size_t>(width);
        const float deviation = std::sqrt(variance[c] + kEpsilon);
        const float normal = (x[i] - mean[c]) / deviation;
        const float scaled = normal * scale[c];
        out.push_back(scaled + shift[c]);
    }
    m.how = "BatchNormalization";
    const auto of = [&](const Floats& values) { return m.constant(floats({channels}, values)); };
    m.node("BatchNormalization",
           {m.input(floats({1, channels, width}, x)), of(scale), of(shift), of(mean), of(variance)},
           {floats({1, channels, width}, out)});
    m.output(m.last());
}

} // namespace

void addSum(StepModel& m)
{
    using Sum = void (*)(StepModel&);
    static constexpr Sum kSums[] = {matmul,  convolution, reduction,
                                    pooling, runningSum,  batchNormalization};
    kSums[m.pick(0, std::size(kSums) - 1)](m);
}

} // namespace tenon::test
