// SPDX-License-Identifier: Apache-2.0
// Poolings of volumes as two of planes: rows and columns of every plane first, then the planes
// behind one another. A maximum of maxima is the maximum, and as many elements count in each row
// of a window, so that an average of averages is the average.
#include "compiler/frontend/onnx/converters/pool_windows.h"

#include <algorithm>

namespace tenon::compiler {

std::optional<std::vector<int64_t>> PoolWindows::paddingBehind(bool countsPadding) const
{
    std::vector<int64_t> out;
    for (size_t i = 0; i < axes(); ++i) {
        out.push_back(std::max<int64_t>(0, needed(i) - m_shape[2 + i] - m_window.padBegin[i]));
        // Rounding up lets windows leave the padding, too; what lies there never counts.
        if (countsPadding && out.back() > m_window.padEnd[i]) return std::nullopt;
    }
    return out;
}

ValueRef PoolWindows::ofVolume(const char* op, bool countsPadding)
{
    constexpr size_t kVolume = 3;
    if (axes() != kVolume) return {};
    const auto behind = paddingBehind(countsPadding);
    if (!behind) return {};
    const auto pooled = [&](ValueRef data, size_t begin, size_t end) {
        std::vector<int64_t> size, stride, dilation, padding;
        for (size_t i = begin; i < end; ++i) {
            size.push_back(m_window.kernel[i]);
            stride.push_back(m_window.strides[i]);
            dilation.push_back(m_window.dilations[i]);
            padding.push_back(m_window.padBegin[i]);
        }
        padding.insert(padding.end(), behind->begin() + static_cast<std::ptrdiff_t>(begin),
                       behind->begin() + static_cast<std::ptrdiff_t>(end));
        if (end - begin == 1) { // columns of one element beside the planes
            for (std::vector<int64_t>* each : {&size, &stride, &dilation}) each->push_back(1);
            padding = {padding[0], 0, padding[1], 0};
        }
        Attrs attrs{{"pool_size", size},
                    {"strides", stride},
                    {"padding", padding},
                    {"dilation", dilation},
                    {"ceil_mode", int64_t{0}}};
        if (std::string_view(op) == "nn.avg_pool2d")
            attrs.set("count_include_pad", int64_t{countsPadding});
        return f.call(op, {data}, std::move(attrs));
    };
    const int64_t n = m_shape[0], c = m_shape[1], d = m_shape[2];
    ValueRef out = f.reshape(m_node.input(0), {n, c * d, m_shape[3], m_shape[4]});
    out = pooled(out, 1, kVolume);
    out = pooled(f.reshape(out, {n, c, d, m_outputs[1] * m_outputs[2]}), 0, 1);
    return f.reshape(out, planes());
}

} // namespace tenon::compiler
