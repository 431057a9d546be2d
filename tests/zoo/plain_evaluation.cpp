// SPDX-License-Identifier: Apache-2.0
// Convolutions by gathered columns, everything else by its definition.
#include "tests/zoo/plain_evaluation.h"

#include "core/base/check.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>

namespace tenon::test {
namespace {

using tenon_onnx::AttributeProto;
using tenon_onnx::NodeProto;
using Operands = std::vector<const Values*>;

size_t index(int64_t i) { return static_cast<size_t>(i); }

int64_t countOf(const std::vector<int64_t>& shape)
{
    return std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<>());
}

Values zeros(std::vector<int64_t> shape)
{
    const auto count = static_cast<size_t>(countOf(shape));
    return {std::move(shape), std::vector<double>(count, 0)};
}

const AttributeProto* attributeOf(const NodeProto& node, const char* name)
{
    for (const AttributeProto& attribute : node.attribute())
        if (attribute.name() == name) return &attribute;
    return nullptr;
}

int64_t integerOf(const NodeProto& node, const char* name, int64_t fallback)
{
    const AttributeProto* attribute = attributeOf(node, name);
    return attribute ? attribute->i() : fallback;
}

std::vector<int64_t> integersOf(const NodeProto& node, const char* name,
                                std::vector<int64_t> fallback)
{
    const AttributeProto* attribute = attributeOf(node, name);
    if (!attribute) return fallback;
    return {attribute->ints().begin(), attribute->ints().end()};
}

/// A window over rows and columns.
struct Sliding
{
    int64_t rows, columns;       ///< of the data
    int64_t height, width;       ///< of the window
    int64_t stride, top, left;   ///< one stride for both
    int64_t outRows, outColumns; ///< of the result
};

Sliding slidingOf(const NodeProto& node, const Values& data)
{
    const std::vector<int64_t> kernel = integersOf(node, "kernel_shape", {1, 1});
    const std::vector<int64_t> pads = integersOf(node, "pads", {0, 0, 0, 0});
    Sliding s{.rows = data.shape[2],
              .columns = data.shape[3],
              .height = kernel[0],
              .width = kernel[1],
              .stride = integersOf(node, "strides", {1, 1})[0],
              .top = pads[0],
              .left = pads[1],
              .outRows = 0,
              .outColumns = 0};
    s.outRows = (s.rows + pads[0] + pads[2] - s.height) / s.stride + 1;
    s.outColumns = (s.columns + pads[1] + pads[3] - s.width) / s.stride + 1;
    return s;
}

/// Calls visit(result index, row, column) for every element of the window that is inside.
template <class Visit>
void slide(const Sliding& s, Visit visit)
{
    for (int64_t y = 0; y < s.outRows; ++y)
        for (int64_t x = 0; x < s.outColumns; ++x)
            for (int64_t i = 0; i < s.height * s.width; ++i) {
                const int64_t row = y * s.stride - s.top + i / s.width;
                const int64_t column = x * s.stride - s.left + i % s.width;
                if (row >= 0 && row < s.rows && column >= 0 && column < s.columns)
                    visit(y * s.outColumns + x, row * s.columns + column);
            }
}

/// One row of the matrix that a convolution multiplies: an element of the window of one channel.
void gatherRow(const Sliding& s, const double* plane, int64_t height, int64_t width, double* row)
{
    for (int64_t y = 0; y < s.outRows; ++y) {
        const int64_t from = y * s.stride - s.top + height;
        for (int64_t x = 0; x < s.outColumns; ++x) {
            const int64_t column = x * s.stride - s.left + width;
            const bool isInside = from >= 0 && from < s.rows && column >= 0 && column < s.columns;
            *row++ = isInside ? plane[from * s.columns + column] : 0;
        }
    }
}

/// Rows and columns of a tile of sums, of constant lengths: the compiler writes vectors.
constexpr int64_t kRows = 2, kColumns = 8;

void addTile(const double* left, int64_t rows, const double* right, double* result, int64_t k,
             int64_t n, int64_t columns)
{
    double sums[kRows][kColumns] = {};
    for (int64_t step = 0; step < k; ++step)
        for (int64_t row = 0; row < kRows; ++row) {
            const double factor = left[(row < rows ? row : 0) * k + step];
            for (int64_t i = 0; i < kColumns; ++i) sums[row][i] += factor * right[step * n + i];
        }
    for (int64_t row = 0; row < rows; ++row)
        for (int64_t i = 0; i < columns; ++i) result[row * n + i] += sums[row][i];
}

/// result[m][n] += left[m][k] * right[k][n]; behind `right` lie kColumns elements to spare.
void multiply(const double* left, const double* right, double* result, int64_t m, int64_t k,
              int64_t n)
{
    for (int64_t column = 0; column < n; column += kColumns)
        for (int64_t row = 0; row < m; row += kRows)
            addTile(left + row * k, std::min(kRows, m - row), right + column,
                    result + row * n + column, k, n, std::min(kColumns, n - column));
}

Values convolution(const NodeProto& node, const Operands& in)
{
    const Values &data = *in[0], &weight = *in[1];
    const Sliding s = slidingOf(node, data);
    const int64_t groups = integerOf(node, "group", 1), outputs = weight.shape[0] / groups;
    const int64_t inputs = weight.shape[1], window = s.height * s.width;
    const int64_t pixels = s.outRows * s.outColumns, depth = inputs * window;
    Values out = zeros({data.shape[0], weight.shape[0], s.outRows, s.outColumns});
    std::vector<double> matrix(index(depth * pixels + kColumns));
    for (int64_t image = 0; image < data.shape[0]; ++image)
        for (int64_t group = 0; group < groups; ++group) {
            for (int64_t i = 0; i < depth; ++i) {
                const int64_t channel = (image * groups + group) * inputs + i / window;
                gatherRow(s, &data.items[index(channel * s.rows * s.columns)], i % window / s.width,
                          i % s.width, &matrix[index(i * pixels)]);
            }
            double* result = &out.items[index((image * groups + group) * outputs * pixels)];
            if (in.size() > 2)
                for (int64_t i = 0; i < outputs * pixels; ++i)
                    result[i] = in[2]->items[index(group * outputs + i / pixels)];
            multiply(&weight.items[index(group * outputs * depth)], matrix.data(), result, outputs,
                     depth, pixels);
        }
    return out;
}

/// Windows side by side: stride and kernel are equal.
Values transposedConvolution(const NodeProto& node, const Operands& in)
{
    const Values &data = *in[0], &weight = *in[1];
    const int64_t step = weight.shape[2], inputs = data.shape[1], outputs = weight.shape[1];
    CHECK(integersOf(node, "strides", {1, 1})[0] == step) << "windows overlap";
    const int64_t rows = data.shape[2], columns = data.shape[3];
    Values out = zeros({data.shape[0], outputs, rows * step, columns * step});
    for (int64_t i = 0; i < std::ssize(out.items); ++i) {
        const int64_t x = i % (columns * step), y = i / (columns * step) % (rows * step);
        const int64_t channel = i / (columns * step * rows * step) % outputs;
        const int64_t image = i / (columns * step * rows * step * outputs);
        double sum = in.size() > 2 ? in[2]->items[index(channel)] : 0;
        for (int64_t k = 0; k < inputs; ++k)
            sum +=
                data.items[index(((image * inputs + k) * rows + y / step) * columns + x / step)] *
                weight.items[index(((k * outputs + channel) * step + y % step) * step + x % step)];
        out.items[index(i)] = sum;
    }
    return out;
}

Values pool(const NodeProto& node, const Values& data)
{
    const Sliding s = slidingOf(node, data);
    const bool isMax = node.op_type() == "MaxPool";
    const bool countsPads = integerOf(node, "count_include_pad", 0) != 0;
    Values out = zeros({data.shape[0], data.shape[1], s.outRows, s.outColumns});
    const int64_t size = s.outRows * s.outColumns;
    for (int64_t plane = 0; plane < data.shape[0] * data.shape[1]; ++plane) {
        const double* from = &data.items[index(plane * s.rows * s.columns)];
        double* to = &out.items[index(plane * size)];
        std::vector<double> counts(index(size), 0);
        if (isMax) std::fill(to, to + size, -std::numeric_limits<double>::infinity());
        slide(s, [&](int64_t result, int64_t element) {
            to[result] = isMax ? std::max(to[result], from[element]) : to[result] + from[element];
            counts[index(result)] += 1;
        });
        for (int64_t i = 0; i < size && !isMax; ++i)
            to[i] /= countsPads ? static_cast<double>(s.height * s.width) : counts[index(i)];
    }
    return out;
}

Values globalAverage(const Values& data)
{
    Values out = zeros({data.shape[0], data.shape[1], 1, 1});
    const int64_t pixels = data.shape[2] * data.shape[3];
    for (int64_t i = 0; i < std::ssize(data.items); ++i)
        out.items[index(i / pixels)] += data.items[index(i)] / static_cast<double>(pixels);
    return out;
}

Values batchNormalization(const NodeProto& node, const Operands& in)
{
    const AttributeProto* attribute = attributeOf(node, "epsilon");
    const double epsilon = attribute ? static_cast<double>(attribute->f()) : 1e-5;
    Values out = *in[0];
    const int64_t channels = out.shape[1], pixels = countOf(out.shape) / out.shape[0] / channels;
    for (int64_t i = 0; i < std::ssize(out.items); ++i) {
        const size_t c = index(i / pixels % channels);
        double& item = out.items[index(i)];
        item = (item - in[3]->items[c]) / std::sqrt(in[4]->items[c] + epsilon) * in[1]->items[c] +
               in[2]->items[c];
    }
    return out;
}

Values concatenation(const Operands& in)
{
    Values out;
    out.shape = in[0]->shape;
    out.shape[1] = 0;
    for (const Values* part : in) out.shape[1] += part->shape[1];
    for (int64_t image = 0; image < out.shape[0]; ++image)
        for (const Values* part : in) {
            const int64_t size = countOf(part->shape) / out.shape[0];
            const auto first = part->items.begin() + image * size;
            out.items.insert(out.items.end(), first, first + size);
        }
    return out;
}

/// x W^T + b, as dense() of the builder writes it.
Values dense(const Operands& in)
{
    const int64_t rows = in[0]->shape[0], depth = in[0]->shape[1], outputs = in[1]->shape[0];
    Values out = zeros({rows, outputs});
    for (int64_t i = 0; i < rows * outputs; ++i) {
        const double* left = &in[0]->items[index(i / outputs * depth)];
        const double* right = &in[1]->items[index(i % outputs * depth)];
        out.items[index(i)] =
            std::inner_product(left, left + depth, right, in[2]->items[index(i % outputs)]);
    }
    return out;
}

template <class Function>
Values eachOf(const Values& data, Function function)
{
    Values out = data;
    for (double& item : out.items) item = function(item);
    return out;
}

Values sumOf(const Values& a, const Values& b)
{
    Values out = a;
    for (size_t i = 0; i < out.items.size(); ++i) out.items[i] += b.items[i];
    return out;
}

} // namespace

Values evaluatePlainly(const NodeProto& node, const Operands& in)
{
    const std::string& op = node.op_type();
    if (op == "Conv") return convolution(node, in);
    if (op == "ConvTranspose") return transposedConvolution(node, in);
    if (op == "BatchNormalization") return batchNormalization(node, in);
    if (op == "MaxPool" || op == "AveragePool") return pool(node, *in[0]);
    if (op == "GlobalAveragePool") return globalAverage(*in[0]);
    if (op == "Concat") return concatenation(in);
    if (op == "Gemm") return dense(in);
    if (op == "Add") return sumOf(*in[0], *in[1]);
    if (op == "Relu") return eachOf(*in[0], [](double x) { return std::max(x, 0.0); });
    if (op == "Sigmoid") return eachOf(*in[0], [](double x) { return 1 / (1 + std::exp(-x)); });
    if (op == "Clip")
        return eachOf(*in[0],
                      [&](double x) { return std::clamp(x, in[1]->items[0], in[2]->items[0]); });
    CHECK(op == "Flatten") << "cannot evaluate " << op;
    Values out = *in[0];
    out.shape = {out.shape[0], countOf(out.shape) / out.shape[0]};
    return out;
}

Values valuesOf(const tenon_onnx::TensorProto& tensor)
{
    Values out;
    out.shape.assign(tensor.dims().begin(), tensor.dims().end());
    std::vector<float> items(index(countOf(out.shape)));
    CHECK(tensor.raw_data().size() == items.size() * sizeof(float)) << tensor.name();
    std::memcpy(items.data(), tensor.raw_data().data(), tensor.raw_data().size());
    out.items.assign(items.begin(), items.end());
    return out;
}

Values evaluatePlainly(const tenon_onnx::ModelProto& model, const Values& input,
                       const BeforeNode& before)
{
    const tenon_onnx::GraphProto& graph = model.graph();
    std::map<std::string, Values> values{{graph.input(0).name(), input}};
    std::map<std::string, int> readers;
    for (const NodeProto& node : graph.node())
        for (const std::string& name : node.input()) ++readers[name];
    for (const NodeProto& node : graph.node()) {
        if (before) before(node, values);
        Operands operands;
        for (const std::string& name : node.input()) {
            const auto found = values.find(name);
            if (found == values.end())
                for (const auto& tensor : graph.initializer())
                    if (tensor.name() == name) values[name] = valuesOf(tensor);
            operands.push_back(&values.at(name));
        }
        values[node.output(0)] = evaluatePlainly(node, operands);
        for (const std::string& name : node.input())
            if (--readers[name] == 0) values.erase(name);
    }
    return values.at(graph.output(0).name());
}

} // namespace tenon::test
