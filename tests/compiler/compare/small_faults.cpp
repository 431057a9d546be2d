// SPDX-License-Identifier: Apache-2.0
// Takes typical elements, those of the median magnitude: no outliers that anything would show.
#include "tests/compiler/compare/small_faults.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace tenon::test {
namespace {

using compiler::CompileResult;
using compiler::ProgramTensor;
using compiler::TensorRole;
using core::Tensor;

std::string bytesOf(const Tensor& tensor)
{
    const auto bytes = tensor.bytes();
    return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

/// Constants of 16 bytes at least, which are found again in a file, the largest first.
std::vector<Tensor> constantsOf(const CompileResult& built, size_t call)
{
    std::vector<Tensor> out;
    for (const int argument : built.program.calls[call].arguments) {
        const ProgramTensor& tensor = built.program.tensors[static_cast<size_t>(argument)];
        if (tensor.role == TensorRole::Constant && tensor.constant.bytes().size() >= 16)
            out.push_back(tensor.constant);
    }
    std::stable_sort(out.begin(), out.end(), [](const Tensor& a, const Tensor& b) {
        return a.bytes().size() > b.bytes().size();
    });
    return out;
}

/// The element whose magnitude is the median of those that are not 0.
size_t typicalElement(const Tensor& tensor)
{
    const std::vector<double> values = tensor.numbers();
    std::vector<size_t> order;
    for (size_t i = 0; i < values.size(); ++i)
        if (values[i] != 0) order.push_back(i);
    if (order.empty()) return 0;
    const auto middle = order.begin() + static_cast<std::ptrdiff_t>(order.size() / 2);
    std::nth_element(order.begin(), middle, order.end(), [&](size_t a, size_t b) {
        return std::pair(std::fabs(values[a]), a) < std::pair(std::fabs(values[b]), b);
    });
    return *middle;
}

double largestOf(const Tensor& tensor)
{
    double out = 0;
    for (const double value : tensor.numbers()) out = std::max(out, std::fabs(value));
    return out;
}

class Faults
{
public:
    std::vector<SmallFault> take() { return std::move(m_out); }

    void add(const std::string& name, const Tensor& tensor,
             const std::function<void(std::string& bytes)>& change)
    {
        SmallFault fault{name, bytesOf(tensor), bytesOf(tensor)};
        change(fault.after);
        if (fault.after != fault.before) m_out.push_back(std::move(fault));
    }

    void addFloatBits(const Tensor& weight)
    {
        const size_t at = typicalElement(weight) * 4;
        add("sign", weight, [&](std::string& bytes) { bytes[at + 3] ^= '\x80'; });
        add("exponent bit", weight, [&](std::string& bytes) { bytes[at + 2] ^= '\x80'; });
        const size_t count = std::min<size_t>(static_cast<size_t>(weight.size()), 1000);
        add("mantissa 2^-8 x1000", weight, [&](std::string& bytes) {
            for (size_t i = 0; i < count; ++i) bytes[i * 4 + 1] ^= '\x80';
        });
        add("mantissa 2^-23 x1000", weight, [&](std::string& bytes) {
            for (size_t i = 0; i < count; ++i) bytes[i * 4] ^= '\x01';
        });
    }

    /// Of weights of 8 bits, also where 16 bits or a word of four hold them.
    void addSteps(const Tensor& weight)
    {
        const auto width = static_cast<size_t>(weight.dtype().bytes());
        const size_t at = typicalElement(weight) * width;
        for (const int step : {1, -1, 64})
            add("integer " + std::string(step > 0 ? "+" : "") + std::to_string(step), weight,
                [&](std::string& bytes) {
                    const int old = static_cast<int8_t>(bytes[at]);
                    const int value = old + step > 127 ? old - step : old + step;
                    bytes[at] = static_cast<char>(value);
                    if (width == 2) bytes[at + 1] = static_cast<char>(value < 0 ? -1 : 0);
                });
    }

    void addSwap(const Tensor& weight)
    {
        if (weight.shape().empty() || weight.shape()[0] < 2) return;
        const size_t length = weight.bytes().size() / static_cast<size_t>(weight.shape()[0]);
        add("channels swapped", weight, [&](std::string& bytes) {
            const auto first = bytes.begin();
            const auto shift = static_cast<std::ptrdiff_t>(length);
            std::swap_ranges(first, first + shift, first + shift);
        });
    }

    /// Of each channel, as biases and scales are.
    void addVector(const Tensor& vector)
    {
        const size_t at = typicalElement(vector) * 4;
        if (vector.dtype() == core::kFloat32) {
            const auto largest = static_cast<float>(largestOf(vector));
            add("bias 1 %", vector, [&](std::string& bytes) {
                float value = 0;
                std::memcpy(&value, &bytes[at], 4);
                value += 0.01F * largest;
                std::memcpy(&bytes[at], &value, 4);
            });
            add("scales 2 %", vector, [&](std::string& bytes) {
                for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
                    float value = 0;
                    std::memcpy(&value, &bytes[i], 4);
                    value *= 1.02F;
                    std::memcpy(&bytes[i], &value, 4);
                }
            });
        } else if (vector.dtype() == core::kInt32)
            add("bias 1 %", vector, [&](std::string& bytes) {
                int32_t value = 0;
                std::memcpy(&value, &bytes[at], 4);
                value += 1 + static_cast<int32_t>(0.01 * largestOf(vector));
                std::memcpy(&bytes[at], &value, 4);
            });
    }

private:
    std::vector<SmallFault> m_out;
};

} // namespace

std::vector<SmallFault> smallFaults(const CompileResult& built, size_t call)
{
    Faults out;
    const std::vector<Tensor> constants = constantsOf(built, call);
    for (size_t i = 0; i < constants.size(); ++i) {
        const Tensor& constant = constants[i];
        if (i > 0)
            out.addVector(constant);
        else {
            if (constant.dtype() == core::kFloat32)
                out.addFloatBits(constant);
            else
                out.addSteps(constant);
            out.addSwap(constant);
        }
    }
    return out.take();
}

std::function<void(std::string& bytes)> planted(const SmallFault& fault, size_t& planted)
{
    return [fault, &planted](std::string& file) {
        const size_t at = file.find(fault.before);
        if (at == std::string::npos) return;
        ++planted;
        file.replace(at, fault.after.size(), fault.after);
    };
}

} // namespace tenon::test
