// SPDX-License-Identifier: Apache-2.0
// Both ways between a program's tensor and the model's, one step after another.
#include "core/compare/value_form.h"

#include "core/base/text.h"

#include <algorithm>
#include <cstring>

namespace tenon::core {
namespace {

size_t at(int64_t index) { return static_cast<size_t>(index); }

/// Result element `indices` is element `axes`-permuted of the operand: out.dim[i] =
/// in.dim[axes[i]].
Tensor transposed(const Tensor& in, const std::vector<int64_t>& axes)
{
    const size_t rank = in.shape().size();
    CHECK(axes.size() == rank) << "a transposition of another rank";
    std::vector<int64_t> inStride(rank, 1), shape(rank), stride(rank);
    for (size_t i = rank; i-- > 1;) inStride[i - 1] = inStride[i] * in.shape()[i];
    for (size_t i = 0; i < rank; ++i) {
        shape[i] = in.shape()[at(axes[i])];
        stride[i] = inStride[at(axes[i])];
    }
    const size_t bytes = at(in.dtype().bytes());
    return Tensor::make(in.dtype(), shape, [&](std::span<std::byte> out) {
        std::vector<int64_t> index(rank, 0);
        int64_t from = 0;
        for (size_t to = 0; to < out.size(); to += bytes) {
            std::memcpy(out.data() + to, in.bytes().data() + at(from) * bytes, bytes);
            for (size_t i = rank; i-- > 0;) {
                from += stride[i];
                if (++index[i] < shape[i]) break;
                from -= stride[i] * shape[i];
                index[i] = 0;
            }
        }
    });
}

Tensor unblocked(const Tensor& in, int64_t block)
{
    const std::vector<int64_t>& s = in.shape();
    CHECK(s.size() == 5 && s[4] == block) << "no blocks of channels in " << in.typeText();
    const Tensor ordered = transposed(in, {0, 1, 4, 2, 3});
    return ordered.reshaped({s[0], s[1] * block, s[2], s[3]});
}

Tensor blocked(const Tensor& in, int64_t block)
{
    const std::vector<int64_t>& s = in.shape();
    CHECK(s.size() == 4 && s[1] % block == 0) << "no whole blocks of channels in " << in.typeText();
    return transposed(in.reshaped({s[0], s[1] / block, block, s[2], s[3]}), {0, 1, 3, 4, 2});
}

/// The first `count` elements along the axis; zeros behind them where there are fewer.
/// Elements that are added are `fill`, of integers.
Tensor resized(const Tensor& in, int64_t axis, int64_t count, int64_t fill = 0)
{
    std::vector<int64_t> shape = in.shape();
    const int64_t had = shape[at(axis)];
    shape[at(axis)] = count;
    int64_t outer = 1, inner = in.dtype().bytes();
    for (int64_t i = 0; i < axis; ++i) outer *= shape[at(i)];
    for (size_t i = at(axis) + 1; i < shape.size(); ++i) inner *= shape[i];
    return Tensor::make(in.dtype(), shape, [&](std::span<std::byte> out) {
        for (int64_t i = 0; fill != 0 && i < outer * count * inner / in.dtype().bytes(); ++i)
            storeInteger(in.dtype(), out, i, fill);
        const size_t run = at(std::min(had, count) * inner);
        for (int64_t o = 0; o < outer; ++o)
            std::memcpy(out.data() + at(o * count * inner), in.bytes().data() + at(o * had * inner),
                        run);
    });
}

Tensor shifted(const Tensor& in, int64_t shift, DataType dtype)
{
    return Tensor::make(dtype, in.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < in.size(); ++i) storeInteger(dtype, out, i, in.integer(i) + shift);
    });
}

Tensor cast(const Tensor& in, DataType dtype)
{
    return Tensor::make(dtype, in.shape(), [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < in.size(); ++i) storeNumber(dtype, out, i, in.number(i));
    });
}

Tensor sameBits(const Tensor& in, DataType dtype)
{
    CHECK(in.dtype().bits == dtype.bits)
        << in.typeText() << " has not the bits of " << dtype.text();
    return Tensor::make(dtype, in.shape(), [&](std::span<std::byte> out) {
        std::copy(in.bytes().begin(), in.bytes().end(), out.begin());
    });
}

std::vector<int64_t> inverse(const std::vector<int64_t>& axes)
{
    std::vector<int64_t> out(axes.size());
    for (size_t i = 0; i < axes.size(); ++i) out[at(axes[i])] = static_cast<int64_t>(i);
    return out;
}

std::string stepText(const FormStep& step)
{
    switch (step.kind) {
    case FormStep::Kind::Reshape: return "as " + shapeText(makeShape(step.before));
    case FormStep::Kind::Transpose: return "axes in another order";
    case FormStep::Kind::Unblock: return "channels in blocks of " + std::to_string(step.block);
    case FormStep::Kind::Leading:
        return std::to_string(step.count) + " of " + std::to_string(step.whole) + " channels";
    case FormStep::Kind::Shift:
        return "zero point moved by " + std::to_string(-step.shift) + ", " + step.stored.text();
    case FormStep::Kind::Cast: return step.stored.text();
    case FormStep::Kind::Bits: return "its bits as " + step.stored.text();
    }
    return {};
}

} // namespace

Tensor toModel(const ValueForm& form, const Tensor& held)
{
    Tensor out = held;
    for (const FormStep& step : form) {
        switch (step.kind) {
        case FormStep::Kind::Reshape: out = out.reshaped(step.shape); break;
        case FormStep::Kind::Transpose: out = transposed(out, step.axes); break;
        case FormStep::Kind::Unblock: out = unblocked(out, step.block); break;
        case FormStep::Kind::Leading: out = resized(out, step.axis, step.count); break;
        case FormStep::Kind::Shift: out = shifted(out, step.shift, step.dtype); break;
        case FormStep::Kind::Cast: out = cast(out, step.dtype); break;
        case FormStep::Kind::Bits: out = sameBits(out, step.dtype); break;
        }
    }
    return out;
}

Tensor toProgram(const ValueForm& form, const Tensor& tensor, int64_t zero)
{
    Tensor out = tensor;
    for (auto step = form.rbegin(); step != form.rend(); ++step) {
        switch (step->kind) {
        case FormStep::Kind::Reshape: out = out.reshaped(step->before); break;
        case FormStep::Kind::Transpose: out = transposed(out, inverse(step->axes)); break;
        case FormStep::Kind::Unblock: out = blocked(out, step->block); break;
        case FormStep::Kind::Leading: out = resized(out, step->axis, step->whole, zero); break;
        case FormStep::Kind::Shift:
            out = shifted(out, -step->shift, step->stored);
            zero -= step->shift;
            break;
        case FormStep::Kind::Cast: out = cast(out, step->stored); break;
        case FormStep::Kind::Bits: out = sameBits(out, step->stored); break;
        }
    }
    return out;
}

std::string formText(const ValueForm& form)
{
    std::vector<std::string> out;
    for (const FormStep& step : form)
        if (const std::string text = stepText(step); out.empty() || out.back() != text)
            out.push_back(text);
    return join(out, ", ");
}

} // namespace tenon::core
