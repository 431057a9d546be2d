// SPDX-License-Identifier: Apache-2.0
// KernelWindow: the kernel, strides, dilations and padding that convolutions and poolings share.
#pragma once

#include "compiler/frontend/onnx/graph/onnx_node.h"

namespace tenon::compiler {

/// One entry per spatial axis in each list.
struct KernelWindow
{
    std::vector<int64_t> kernel;
    std::vector<int64_t> strides;
    std::vector<int64_t> dilations;
    std::vector<int64_t> padBegin;
    std::vector<int64_t> padEnd;

    /// Begins then ends: [top, left, bottom, right].
    std::vector<int64_t> padding() const;
    /// The same window over one more leading axis of size 1.
    void lift();
};

/// Reads strides, dilations, pads and auto_pad of a node whose input 0 is N x C x spatial; checks
/// their lengths and values. `kernel` has one entry per spatial axis.
KernelWindow readKernelWindow(OnnxNode& node, std::vector<int64_t> kernel);

/// Input 0 with an axis of size 1 put before its only spatial axis; and back again.
ValueRef liftTo2d(OnnxNode& node, ValueRef value);
ValueRef dropFrom2d(OnnxNode& node, ValueRef value);
/// True for one spatial axis or more; fails otherwise.
bool hasSpatialAxis(OnnxNode& node);

} // namespace tenon::compiler
