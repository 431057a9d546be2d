// SPDX-License-Identifier: Apache-2.0
// PoolWindows: the windows of a pooling over any number of axes, and what is made of each.
#pragma once

#include "compiler/frontend/import/formula.h"
#include "compiler/frontend/onnx/converters/kernel_window.h"

#include <optional>

namespace tenon::compiler {

/// Reads and checks all pooling attributes of the node; after a failure every result is invalid.
class PoolWindows
{
public:
    explicit PoolWindows(OnnxNode& node);

    ValueRef maximum();
    /// Flat index of every maximum in the whole input, in the order `storage_order` says.
    ValueRef indicesOfMaxima();
    ValueRef average(bool countsPadding);
    /// (sum of |x|^p)^(1/p).
    ValueRef norm(double p);

private:
    size_t axes() const { return m_shape.size() - 2; }
    int64_t reach(size_t i) const { return (m_window.kernel[i] - 1) * m_window.dilations[i] + 1; }
    /// Elements along an axis from the first window's begin to the last one's end.
    int64_t needed(size_t i) const { return (m_outputs[i] - 1) * m_window.strides[i] + reach(i); }
    std::vector<int64_t> planes() const; ///< shape of the result
    /// [N, C, outputs.., kernel..], `fill` where a window leaves the data.
    ValueRef windows(ValueRef data, double fill);
    ValueRef reduced(const char* op, ValueRef windows);
    /// The result by two planar poolings; invalid where it is none of theirs. (pool_volumes.cpp)
    ValueRef ofVolume(const char* op, bool countsPadding);
    /// Elements that windows reach behind the data; nothing where some of them must not count.
    std::optional<std::vector<int64_t>> paddingBehind(bool countsPadding) const;

    OnnxNode& m_node;
    Formula f;
    std::vector<int64_t> m_shape;
    KernelWindow m_window;
    std::vector<int64_t> m_outputs;
};

} // namespace tenon::compiler
