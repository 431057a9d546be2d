// SPDX-License-Identifier: Apache-2.0
// Loaded: what any frontend hands over: the module, what is wrong with it, and the facts of the
// file.
#pragma once

#include "core/base/diagnostic.h"
#include "core/ir/change_set.h"
#include "core/ir/module.h"
#include "core/tensor/dim_bounds.h"
#include "core/tensor/tensor.h"

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tenon::compiler {

using namespace core;

struct OperatorTable;

struct ImportOptions
{
    std::map<std::string, std::vector<int64_t>> shapes; ///< whole shape by input name
    std::map<std::string, int64_t> dims;                ///< value by name of a symbolic dimension
    /// Bounds of what stays open: of every dimension by input name, or of one by its own name.
    std::map<std::string, std::vector<DimBounds>> bounds;
    /// Values of inputs that become constants of the compiled model, by input name; of the input's
    /// type and shape, or convertible to them.
    std::map<std::string, Tensor> values;
    /// Files with definitions of operators that are not built in; loadModel() reads them.
    std::vector<std::string> operatorFiles;
    std::shared_ptr<const OperatorTable> operators; ///< what was read of them; null: nothing
};

/// An input or output as the file declares it.
struct ValueFacts
{
    std::string name;
    std::string dtype; ///< "float32"; "sequence", "map", ... for what is no tensor
    Shape shape;
    bool hasShape = true; ///< false: the rank is unknown
};

/// What the file says about itself, for inspection.
struct ModelFacts
{
    std::string format;    ///< of the importer: "onnx", "tenon"
    bool isOpen = true;    ///< sizes and values of it can be bound (Importer::takesOptions)
    int64_t irVersion = 0; ///< of the format; 0 where it has none
    std::vector<std::pair<std::string, int64_t>> opsets; ///< domain ("ai.onnx"), version
    std::string producer;
    std::string producerVersion;
    std::string domain;
    int64_t modelVersion = 0;
    std::string doc;
    std::string graphName;
    std::vector<std::pair<std::string, std::string>> metadata;
    std::vector<std::string> functions; ///< names of model-local functions
    std::vector<ValueFacts> inputs;     ///< without those that have an initializer
    std::vector<ValueFacts> outputs;
    size_t nodeCount = 0;
    int64_t parameterCount = 0; ///< elements of all initializers
    int64_t parameterBytes = 0;
    std::map<std::string, size_t> opCounts; ///< foreign operator (with its domain) -> nodes
};

/// A model as far as it could be read; with errors in `diagnostics` it can be shown but not
/// compiled.
struct Loaded
{
    std::string name; ///< of the file without folder and suffix: what artifacts call the model
    Module module;
    std::vector<Diagnostic> diagnostics;
    ModelFacts facts;
    /// Inputs of the model whose values must be known to compile it (see ImportOptions::values);
    /// the diagnostics name the nodes that need them.
    std::vector<std::string> neededValues;
    std::vector<Change> changes; ///< the import's share of the folding ledger, rule "import-fold"
};

/// One error per input whose shape is not constant, saying how to bind it.
std::vector<Diagnostic> dynamicInputErrors(const Module& module);

} // namespace tenon::compiler
