// SPDX-License-Identifier: Apache-2.0
// Stages out of the members of a fused function: what does the work begins one, what is done to
// each of its elements joins it, and what only moves or labels values is left out.
#include "core/ir/kernel_title.h"

#include "core/base/text.h"
#include "core/ir/source_place.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace tenon::core {
namespace {

constexpr size_t kShownParts = 3;  ///< of what is done to the results of a stage
constexpr size_t kShownStages = 4; ///< the first ones and the last

struct Word
{
    std::string_view op;
    std::string_view word;
};

/// Where the operator's own name, without its namespace and with blanks, is not the usual one.
constexpr std::array kWords = {Word{"multiply", "mul"},
                               Word{"subtract", "sub"},
                               Word{"divide", "div"},
                               Word{"concatenate", "concat"},
                               Word{"strided_slice", "slice"},
                               Word{"resize2d", "resize"},
                               Word{"bias_add", "bias"},
                               Word{"global_avg_pool2d", "global avg pool"},
                               Word{"global_max_pool2d", "global max pool"},
                               Word{"avg_pool2d", "avg pool"},
                               Word{"max_pool2d", "max pool"},
                               Word{"contrib_dense_pack", "dense"},
                               Word{"contrib_conv2d_winograd_weight_transform", "weight transform"},
                               Word{"conv2d_transpose", "deconv"},
                               Word{"pack_channels", "pack"},
                               Word{"pack_columns", "pack"}};

/// What begins a stage, beside convolutions and pools.
constexpr std::array<std::string_view, 20> kStages = {"attention",   "linear_attention",
                                                      "dense",       "contrib_dense_pack",
                                                      "matmul",      "einsum",
                                                      "lstm",        "gru",
                                                      "rnn",         "softmax",
                                                      "log_softmax", "mean",
                                                      "sum",         "max",
                                                      "min",         "prod",
                                                      "argmax",      "argmin",
                                                      "topk",        "layer_norm"};

/// What only moves values, changes how they are written, or gives them another shape.
constexpr std::array<std::string_view, 8> kQuiet = {"layout_transform", "reshape",     "squeeze",
                                                    "expand_dims",      "quantize",    "dequantize",
                                                    "requantize",       "broadcast_to"};

template <size_t n>
bool isIn(const std::array<std::string_view, n>& words, std::string_view word)
{
    return std::find(words.begin(), words.end(), word) != words.end();
}

/// "contrib_conv2d_NCHWc" of "nn.contrib_conv2d_NCHWc".
std::string_view localName(std::string_view op) { return op.substr(op.rfind('.') + 1); }

bool isQuantized(std::string_view op) { return op.starts_with("qnn."); }

bool isTransform(std::string_view op) { return op.find("weight_transform") != std::string::npos; }

bool isConvolution(std::string_view op)
{
    const std::string_view name = localName(op);
    return !isTransform(name) && name != "conv2d_transpose" &&
           (name.starts_with("conv") || name.find("_conv2d") != std::string_view::npos);
}

bool beginsStage(const std::string& op)
{
    const std::string_view name = localName(op);
    return isConvolution(op) || name == "conv2d_transpose" ||
           name.find("pool2d") != std::string_view::npos || isIn(kStages, name);
}

const TensorType* operandType(const Module& module, const NodeRecord& node, size_t index)
{
    if (index >= node.operands.size() || !node.operands[index].node.isValid()) return nullptr;
    const NodePtr& source = module.findNode(node.operands[index].node);
    const uint32_t result = node.operands[index].index;
    return source && result < source->types.size() ? &source->types[result] : nullptr;
}

std::vector<int64_t> integersOf(const NodeRecord& node, const char* name)
{
    const AttrValue* value = node.attrs.find(name);
    const auto* list = value ? std::get_if<std::vector<int64_t>>(value) : nullptr;
    return list ? *list : std::vector<int64_t>();
}

/// " s2", " s2x1"; "" where every step is one.
std::string stepText(const NodeRecord& node, const char* attr, const char* letter)
{
    const std::vector<int64_t> steps = integersOf(node, attr);
    const bool isPlain =
        std::all_of(steps.begin(), steps.end(), [](int64_t step) { return step == 1; });
    if (isPlain) return {};
    const bool isEven =
        std::all_of(steps.begin(), steps.end(), [&](int64_t step) { return step == steps[0]; });
    return std::string(" ") + letter + (isEven ? std::to_string(steps[0]) : join(steps, "x"));
}

/// Extents of the window, "3x3"; "" where the weight's type does not tell.
std::string windowText(const Module& module, const NodeRecord& node)
{
    if (const std::vector<int64_t> size = integersOf(node, "kernel_size"); !size.empty())
        return join(size, "x");
    if (node.attrs.has("tile_size")) return "3x3"; // its weights are transformed ones
    const TensorType* weight = operandType(module, node, 1);
    if (!weight || weight->shape.size() < 3) return {};
    // Blocks of channels stand behind the extents of a two-dimensional window.
    const size_t end =
        node.op == "nn.conv" ? weight->shape.size() : std::min<size_t>(4, weight->shape.size());
    std::vector<std::string> extents;
    for (size_t i = 2; i < end; ++i) extents.push_back(weight->shape[i].text());
    const int64_t rows = node.attrs.has("kernel_rows") ? node.attrs.integer("kernel_rows", 0) : 0;
    if (rows > 0 && !extents.empty()) // several rows of bytes are packed into one integer
        extents = {std::to_string(rows), weight->shape[2].text()};
    return join(extents, "x");
}

std::string convolutionTitle(const Module& module, const NodeRecord& node)
{
    const int64_t groups = node.attrs.has("groups") ? node.attrs.integer("groups", 1) : 1;
    const TensorType* data = operandType(module, node, 0);
    const bool isPerChannel = groups > 1 && data && data->shape.size() > 1 &&
                              data->shape.size() < 5 && data->shape[1] == Dim(groups);
    const bool isDepthwise = isPerChannel || node.op.find("depthwise") != std::string::npos;
    std::string out = isDepthwise                             ? "dw"
                      : node.op.ends_with("conv2d_transpose") ? "deconv"
                                                              : "conv";
    if (const std::string window = windowText(module, node); !window.empty()) out += " " + window;
    out += stepText(node, "strides", "s") + stepText(node, "dilation", "d");
    if (groups > 1 && !isDepthwise) out += " g" + std::to_string(groups);
    return out;
}

std::string clipTitle(const NodeRecord& node)
{
    const double low = node.attrs.number("a_min", 0), high = node.attrs.number("a_max", 0);
    return low == 0 && high == 6 ? "relu6" : "clip";
}

/// A sum with something smaller is the stage's bias.
bool isBias(const Module& module, const NodeRecord& node)
{
    if (node.op == "nn.bias_add") return true;
    if (node.op != "add" || node.types.empty() || !constantShape(node.types[0].shape)) return false;
    for (size_t i = 0; i < node.operands.size(); ++i) {
        const TensorType* type = operandType(module, node, i);
        if (type && constantShape(type->shape) && type->bytes() < node.types[0].bytes())
            return true;
    }
    return false;
}

struct Stage
{
    std::string head;
    std::vector<std::string> rest;

    std::string text() const
    {
        std::string out = head;
        for (size_t i = 0; i < rest.size();) {
            size_t end = i;
            while (end < rest.size() && rest[end] == rest[i]) ++end;
            out += " + " + rest[i] + (end - i > 1 ? " x" + std::to_string(end - i) : "");
            i = end;
        }
        return out;
    }

    /// Long tails are counted, not listed.
    void cut()
    {
        if (rest.size() <= kShownParts + 1) return;
        const size_t more = rest.size() - kShownParts;
        rest.resize(kShownParts);
        rest.push_back(std::to_string(more) + " more");
    }
};

std::string stagesText(std::vector<Stage> stages)
{
    std::vector<std::string> parts;
    for (Stage& stage : stages) {
        stage.cut();
        parts.push_back(stage.text());
    }
    if (parts.size() > kShownStages + 1) {
        const size_t more = parts.size() - kShownStages;
        parts.erase(parts.begin() + kShownStages - 1, parts.end() - 1);
        parts.insert(parts.end() - 1, std::to_string(more) + " more");
    }
    return join(parts, " -> ");
}

/// The operators of a primitive function in their order.
std::string membersTitle(const Module& module, const GraphFunction& function)
{
    std::vector<Stage> stages;
    bool hasHead = false; // of the last stage: one that begins stages
    const NodeRecord* quiet = nullptr;
    for (const NodeId id : function.order) {
        const NodeRecord& node = module.node(id);
        if (node.kind != NodeKind::Op) continue;
        if (isIn(kQuiet, localName(node.op))) {
            quiet = quiet ? quiet : &node;
            continue;
        }
        const bool isAfterHead = hasHead && stages.back().rest.empty();
        if (isAfterHead && isBias(module, node)) continue;
        if (stages.empty() || beginsStage(node.op)) {
            hasHead = beginsStage(node.op);
            stages.push_back({operatorTitle(module, node), {}});
        } else {
            stages.back().rest.push_back(operatorTitle(module, node));
        }
    }
    if (stages.empty() && quiet) return operatorTitle(module, *quiet);
    return stagesText(std::move(stages));
}

} // namespace

std::string operatorTitle(const Module& module, const NodeRecord& node)
{
    const std::string shown = shownOperator(node);
    if (shown != node.op) return shown; // of the user's: called as its definition does
    if (node.op == "clip") return clipTitle(node);
    const std::string_view name = localName(node.op);
    const std::string bytes = isQuantized(node.op) && !isIn(kQuiet, name) ? " int8" : "";
    if (isConvolution(node.op) || name == "conv2d_transpose")
        return convolutionTitle(module, node) + bytes;
    const auto known = std::find_if(kWords.begin(), kWords.end(),
                                    [&](const Word& word) { return word.op == name; });
    std::string out =
        known != kWords.end() ? std::string(known->word) : replaced(std::string(name), "_", " ");
    if (const auto size = integersOf(node, "pool_size"); !size.empty())
        out += " " + join(size, "x") + stepText(node, "strides", "s");
    if (name == "layout_transform")
        out = "layout " + node.attrs.string("src_layout", "") + " to " +
              node.attrs.string("dst_layout", "");
    return out + bytes;
}

KernelTitle kernelTitle(const Module& module, const NodeRecord& node)
{
    KernelTitle out;
    const auto callee = module.functions().find(node.callee);
    if (node.kind == NodeKind::Op)
        out.work = operatorTitle(module, node);
    else if (node.callee.isValid() && callee != module.functions().end())
        out.work = membersTitle(module, *callee->second);
    if (out.work.empty()) out.work = node.kind == NodeKind::CallTir ? node.kernel : node.name;
    out.place = sourcePlace(module.sources(), node.origin);
    return out;
}

std::string KernelTitle::text() const
{
    return work.empty() || place.empty() ? work + place : work + " · " + place;
}

} // namespace tenon::core
