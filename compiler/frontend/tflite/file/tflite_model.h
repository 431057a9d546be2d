// SPDX-License-Identifier: Apache-2.0
// TfliteModel: a .tflite file as plain records; buffers stay where they are mapped.
#pragma once

#include "compiler/frontend/tflite/file/flat_table.h"
#include "compiler/frontend/tflite/file/sparse_tensor.h"
#include "core/base/result.h"

#include <map>
#include <memory>

namespace tenon::compiler {

using namespace core;

/// Real values as integers: (integer - zero point) * scale.
struct TfliteQuantization
{
    std::vector<double> scales; ///< empty: none; one, or one per element of `axis`
    std::vector<int64_t> zeros; ///< as scales
    int64_t axis = 0;
};

struct TfliteTensor
{
    std::string name; ///< unique in its graph
    int type = 0;     ///< see element_types.h
    std::vector<int64_t> shape;
    std::vector<int64_t> signature; ///< -1 where a size is open; empty: as `shape`
    bool hasRank = true;
    uint32_t buffer = 0;
    bool isVariable = false;
    std::optional<TfliteSparsity> sparsity; ///< of a tensor whose zeros are left out
    TfliteQuantization quantization;
};

struct TfliteOperator
{
    std::string name; ///< "CONV_2D"; a custom operator's own
    bool isCustom = false;
    int64_t version = 1;
    std::vector<int64_t> inputs, outputs, intermediates; ///< tensors; -1 is absent
    FlatTable options;
    std::span<const std::byte> customOptions;
};

struct TfliteSubgraph
{
    std::string name;
    std::vector<TfliteTensor> tensors;
    std::vector<int64_t> inputs, outputs;
    std::vector<TfliteOperator> operators;
};

/// A name that callers use for a graph and for its inputs and outputs.
struct TfliteSignature
{
    std::string key;
    int64_t subgraph = 0;
    std::vector<std::pair<std::string, int64_t>> inputs, outputs;
};

struct TfliteModel
{
    std::shared_ptr<const FlatBytes> file; ///< what options and buffers lie in
    std::shared_ptr<const void> owner;     ///< keeps its bytes
    int64_t version = 0;
    std::string description;
    std::vector<std::pair<std::string, int64_t>> operatorVersions; ///< of the operator codes
    std::vector<TfliteSubgraph> subgraphs;
    std::vector<std::span<const std::byte>> buffers;
    std::vector<std::pair<std::string, std::span<const std::byte>>> metadata;
    std::vector<TfliteSignature> signatures;
};

/// Errors when the file is damaged: it is cut off, or something in it lies or counts outside.
Result<TfliteModel> readTfliteModel(std::span<const std::byte> bytes,
                                    std::shared_ptr<const void> owner, const std::string& name);

/// "CONV_2D"; "operator 300" for what the schema does not know.
std::string builtinName(int64_t code);

} // namespace tenon::compiler
