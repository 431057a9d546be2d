// SPDX-License-Identifier: Apache-2.0
// Manifest: what is inside a compiled model, carried in the artifact itself (section
// .tenon.manifest, symbol __tenon_manifest) as JSON.
#pragma once

#include "core/artifact/call_method.h"
#include "core/base/result.h"
#include "core/tensor/dim_bounds.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::core {

struct ManifestTensor
{
    std::string name;
    std::string dtype;                  ///< "float32"
    std::vector<int64_t> shape;         ///< -1: known at run time only
    std::vector<std::string> dims = {}; ///< the sizes as text, such as "batch"; empty: all known
};

struct ManifestKernel
{
    std::string symbol;   ///< hash-named symbol of the machine code
    std::string function; ///< readable name
    std::string tirHash;
    int64_t codeBytes = 0; ///< of its object; 0 when unknown
};

/// One kernel call, in execution order: what a measured time belongs to.
struct ManifestCall
{
    std::string name;                   ///< unique label
    int kernel = -1;                    ///< index into kernels
    std::vector<std::string> fromNodes; ///< names of the model's nodes it computes
    std::vector<ManifestTensor> outputs;
    double flops = 0;       ///< 0 when unknown
    double leastFlops = 0;  ///< of those, what no kernel can leave out
    double movedBytes = 0;  ///< what is read and written, each tensor once
    double weightBytes = 0; ///< of those, constants
    int64_t macs = -1;      ///< of the model's multiply-adds, what it does; -1: not said
    CallMethod method =
        {}; ///< how it does its heaviest operator; with the refusal one text in files
    std::string refusal = {}; ///< why a schedule rule could not be applied to it; "" where it was
    std::string title = {};   ///< for people; "" in files of earlier versions
    const std::string& shownTitle() const { return title.empty() ? name : title; }
    std::string plainReason = {}; ///< why its convolution has no blocked form; "" where it has one
};

struct ManifestBuffer
{
    std::string name;
    int64_t sizeBytes = 0;
    int64_t offsetBytes = 0;
    int first = 0; ///< first and last call, inclusive
    int last = 0;
};

struct ManifestMemory
{
    std::string algorithm; ///< planner; empty for the graph executor
    int64_t workspaceBytes = 0;
    int64_t kernelWorkspaceBytes = 0; ///< largest scratch of one kernel, beside the workspace
    int64_t constantBytes = 0;
    int64_t ioBytes = 0;
    int64_t lowerBoundBytes = 0;
    std::vector<ManifestBuffer> buffers;
};

struct Manifest
{
    static constexpr int kVersion = 1;

    std::string toolVersion;
    std::string modelName;
    std::string modelHash;
    std::string moduleName = "default";
    std::string target;
    std::string executor; ///< "graph", "aot" or "vm"
    int optLevel = 3;
    unsigned threads = 0; ///< that the kernels are shaped for; 0: not told
    std::vector<ManifestTensor> inputs;
    std::vector<ManifestTensor> outputs;
    std::vector<ManifestKernel> kernels;
    std::vector<ManifestCall> calls;
    ManifestMemory memory;
    SizeBounds bounds = {}; ///< of the sizes that inputs leave open
};

/// Deterministic JSON text.
std::string writeManifest(const Manifest& manifest);

/// Error BadArtifact names the key that is missing or of the wrong type.
Result<Manifest> parseManifest(std::string_view json);

/// Reads the manifest out of a .so, .o, .tar or .wasm; nothing is loaded or run.
Result<Manifest> readManifest(const std::string& artifactPath);

} // namespace tenon::core
