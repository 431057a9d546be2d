// SPDX-License-Identifier: Apache-2.0
// ExecutorProgram: what a compiled model does at run time, before it is written for one executor.
//
// The lowered module becomes a straight line of kernel calls over tensors. Graph JSON, AOT entry
// point and manifest are all written from this one value, so they cannot disagree.
#pragma once

#include "core/artifact/call_method.h"
#include "core/ir/kernel_title.h"
#include "core/ir/node.h"
#include "core/tensor/dim_bounds.h"
#include "core/tensor/tensor.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon::compiler {

enum class TensorRole : uint8_t
{
    Input,       ///< given by the caller
    Constant,    ///< in the artifact; `constant` holds the value
    Intermediate ///< written by exactly one call; an output of the model too when listed there
};

/// What kernels assume of their parameters, in bytes.
inline constexpr int64_t kKernelAlignment = 64;

/// A value that calls read or write.
struct ProgramTensor
{
    std::string name; ///< unique in the program; input names are the model's
    core::DataType dtype;
    std::vector<int64_t> shape; ///< -1: known at run time only (VM)
    TensorRole role = TensorRole::Intermediate;
    core::Tensor constant = {};
    /// Shares the memory of that tensor (reshape, placement in a concatenation), else -1. A view
    /// has no call that writes it unless it is a placed part, which its call writes through.
    int viewOf = -1;
    int64_t viewOffsetBytes = 0;        ///< non-zero only for executors that can alias freely (AOT)
    std::vector<std::string> dims = {}; ///< the sizes as text where one is not known
    int64_t mostBytes = 0;              ///< of the largest such tensor; 0 when nobody knows

    bool isStatic() const { return std::find(shape.begin(), shape.end(), -1) == shape.end(); }
    /// Where the shape is not known, of the largest; 0 when that is not known either.
    int64_t bytes() const
    {
        return isStatic() ? core::elementCount(shape) * dtype.bytes() : mostBytes;
    }
};

/// A compiled kernel: int32_t symbol(void* p0, ..., void* pn, int64_t s0, ...), one pointer per
/// tensor parameter, then the symbolic sizes.
struct ProgramKernel
{
    std::string symbol; ///< symbol in the kernel object, hash-named
    std::string
        function; ///< readable packed function, e.g. "tvmgen_default_fused_nn_conv2d_nn_relu"
    int parameterCount = 0;
    int64_t workspaceBytes = 0; ///< what it takes from TVMBackendAllocWorkspace at its peak
    std::string textHash = {};  ///< hash of the TIR it was compiled from
    int64_t scratchBytes = 0;   ///< what its caller lends it from the workspace pool (C source)
    int sizeCount = 0;          ///< symbolic sizes; only the VM passes any
};

/// One call of a kernel. Several calls may share a kernel; times and provenance are per call.
struct KernelCall
{
    std::string name; ///< unique label, e.g. "fused_nn_conv2d_nn_relu_3"
    int kernel = -1;
    std::vector<int> arguments;          ///< tensors in parameter order: inputs, constants, outputs
    int outputCount = 1;                 ///< that many of the last arguments are written
    std::vector<core::SourceId> sources; ///< nodes of the model file it computes
    std::vector<std::string> fromNodes;  ///< their readable names, for the manifest
    double flops = 0;                    ///< 0 when unknown
    double leastFlops = 0;               ///< of those, what no kernel can leave out
    double movedBytes = 0;               ///< what is read and written, each tensor once
    double weightBytes = 0;              ///< of those, constants
    int64_t macs = 0;                    ///< of the model's, what it does
    core::NodeId node = {};              ///< of the lowered module
    core::CallMethod method = {};        ///< how it does its heaviest operator, see methodOf()
    std::string refusal = {};            ///< why a rule could not be applied to it; "" where it was
    std::string plainReason = {};        ///< see plainReason(); "" where it has a faster form
    std::vector<std::string> dividers = {}; ///< nodes whose data may divide an integer by zero
    core::KernelTitle title = {};           ///< what people call it
};

/// "node `Div_3`", and ": integer division by zero" behind it.
std::string dividerLabel(const std::vector<std::string>& dividers);
std::string divisionFault(const std::vector<std::string>& dividers);

struct VmCode;

struct ExecutorProgram
{
    std::string moduleName = "default"; ///< lower case; part of every exported symbol
    std::vector<ProgramTensor> tensors;
    std::vector<int> inputs;  ///< tensors with role Input, in the caller's order
    std::vector<int> outputs; ///< any tensors; one may be listed twice, or be an input or constant
    std::vector<std::string> outputNames; ///< as many as outputs
    std::vector<ProgramKernel> kernels;
    std::vector<KernelCall> calls; ///< in execution order; for the VM, in the order of its code
    core::SizeBounds bounds = {};  ///< of the sizes that the inputs leave open
    /// VM only: how the calls are strung together; tensors are then values, not memory.
    std::shared_ptr<const VmCode> vm = {};

    /// The tensor whose memory `tensor` lies in (itself unless it is a view), and where.
    int memoryOwner(int tensor) const;
    int64_t memoryOffset(int tensor) const;
};

/// The title of the kernel's call; of several the work and how many there are.
std::string titleOfKernel(const ExecutorProgram& program, int kernel);

/// The dividers of all calls that share the kernel.
std::vector<std::string> dividersOf(const ExecutorProgram& program, int kernel);

/// Hidden symbol under which the artifact holds a constant.
std::string constantSymbol(int tensor);

/// Checks the program's own rules (ranges, roles, written before read, unique names); our bugs
/// only, so a failure CHECKs with the call's name.
void verifyProgram(const ExecutorProgram& program);

} // namespace tenon::compiler
