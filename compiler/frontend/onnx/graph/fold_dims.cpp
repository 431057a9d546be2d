// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic by rows: operator and what it makes of lists of dimensions.
#include "compiler/frontend/onnx/graph/fold_dims.h"

#include "compiler/frontend/import/fold_dim.h"
#include "compiler/frontend/onnx/converters/converters.h"

#include <algorithm>
#include <array>

namespace tenon::compiler {
namespace {

using Dims = std::vector<Dim>;
using Lists = std::vector<const Dims*>;

/// Elements, and whether they are a scalar.
struct FoldedDims
{
    Dims dims;
    bool isScalar = false;
};
using Folded = std::optional<FoldedDims>;

Folded foldConcat(OnnxNode&, const Lists& in, std::string_view)
{
    FoldedDims out;
    for (const Dims* part : in) out.dims.insert(out.dims.end(), part->begin(), part->end());
    return out;
}

Folded foldCast(OnnxNode& node, const Lists& in, std::string_view)
{
    return FoldedDims{*in[0], node.type(0).shape.empty()};
}

Folded foldSqueeze(OnnxNode&, const Lists& in, std::string_view)
{
    if (in[0]->size() != 1) return std::nullopt;
    return FoldedDims{*in[0], true};
}

Folded foldUnsqueeze(OnnxNode& node, const Lists& in, std::string_view)
{
    if (!node.type(0).shape.empty()) return std::nullopt;
    return FoldedDims{*in[0], false};
}

/// To a list or a scalar of the same elements.
Folded foldReshape(OnnxNode&, const Lists& in, std::string_view)
{
    if (in.size() != 2 || in[1]->size() > 1) return std::nullopt;
    const bool isScalar = in[1]->empty();
    const auto count = static_cast<int64_t>(in[0]->size());
    const bool fits = isScalar ? count == 1 : (*in[1])[0] == Dim(-1) || (*in[1])[0] == Dim(count);
    if (!fits) return std::nullopt;
    return FoldedDims{*in[0], isScalar};
}

Folded foldGather(OnnxNode& node, const Lists& in, std::string_view)
{
    if (in.size() != 2 || node.integer("axis", 0) > 0) return std::nullopt;
    FoldedDims out{{}, node.type(1).shape.empty()};
    const auto extent = static_cast<int64_t>(in[0]->size());
    for (const Dim& at : *in[1]) {
        if (!at.isConst()) return std::nullopt;
        const int64_t index = at.value() < 0 ? at.value() + extent : at.value();
        if (index < 0 || index >= extent) return std::nullopt;
        out.dims.push_back((*in[0])[static_cast<size_t>(index)]);
    }
    return out;
}

/// The only start and end of a slice of step 1, as inputs or, before opset 10, as attributes.
std::optional<std::pair<int64_t, int64_t>> boundsOfSlice(OnnxNode& node, const Lists& in)
{
    if (node.opset() < 10) {
        const std::vector<int64_t> starts = node.integers("starts", {});
        const std::vector<int64_t> ends = node.integers("ends", {});
        if (starts.size() != 1 || ends.size() != 1) return std::nullopt;
        return std::pair{starts[0], ends[0]};
    }
    if (in.size() < 3) return std::nullopt;
    for (size_t i = 1; i < in.size(); ++i)
        if (in[i]->size() != 1 || !(*in[i])[0].isConst()) return std::nullopt;
    if (in.size() > 4 && (*in[4])[0].value() != 1) return std::nullopt;
    return std::pair{(*in[1])[0].value(), (*in[2])[0].value()};
}

Folded foldSlice(OnnxNode& node, const Lists& in, std::string_view)
{
    const auto bounds = boundsOfSlice(node, in);
    if (!bounds) return std::nullopt;
    const auto extent = static_cast<int64_t>(in[0]->size());
    const auto clamp = [&](int64_t at) {
        return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
    };
    const int64_t begin = clamp(bounds->first);
    const int64_t end = std::max(begin, clamp(bounds->second));
    return FoldedDims{{in[0]->begin() + begin, in[0]->begin() + end}, false};
}

Folded foldProduct(OnnxNode& node, const Lists& in, std::string_view)
{
    Dim product(1);
    for (const Dim& dim : *in[0]) product = product * dim;
    return FoldedDims{{product}, node.integer("keepdims", 1) == 0};
}

Folded foldPair(OnnxNode& node, const Lists& in, std::string_view op)
{
    if (in.size() != 2) return std::nullopt;
    const size_t count = in[0]->size() == 1 ? in[1]->size() : in[0]->size();
    if (in[1]->size() != 1 && in[1]->size() != count) return std::nullopt;
    FoldedDims out{{}, node.type(0).shape.empty() && node.type(1).shape.empty()};
    for (size_t i = 0; i < count; ++i) {
        const auto result = foldedDim(op, (*in[0])[in[0]->size() == 1 ? 0 : i],
                                      (*in[1])[in[1]->size() == 1 ? 0 : i], node.bounds());
        if (!result) return std::nullopt;
        out.dims.push_back(*result);
    }
    return out;
}

Folded foldWhere(OnnxNode& node, const Lists& in, std::string_view)
{
    if (in.size() != 3) return std::nullopt;
    size_t count = 1;
    for (const Dims* list : in) count = list->size() == 1 ? count : list->size();
    FoldedDims out;
    out.isScalar = true;
    for (size_t i = 0; i < 3; ++i) out.isScalar = out.isScalar && node.type(i).shape.empty();
    for (size_t i = 0; i < count; ++i) {
        const auto at = [&](size_t list) -> const Dim* {
            if (in[list]->size() != 1 && in[list]->size() != count) return nullptr;
            return &(*in[list])[in[list]->size() == 1 ? 0 : i];
        };
        if (!at(0) || !at(1) || !at(2) || !at(0)->isConst()) return std::nullopt;
        out.dims.push_back(*at(at(0)->value() != 0 ? 1 : 2));
    }
    return out;
}

struct Row
{
    std::string_view op;
    Folded (*fold)(OnnxNode&, const Lists&, std::string_view ours);
    std::string_view ours = {}; ///< our name of what several rows differ in
};

constexpr std::array<Row, 17> kRows{{
    {"Add", foldPair, "add"},
    {"Cast", foldCast},
    {"Concat", foldConcat},
    {"Div", foldPair, "divide"},
    {"Equal", foldPair, "equal"},
    {"Gather", foldGather},
    {"Max", foldPair, "maximum"},
    {"Min", foldPair, "minimum"},
    {"Mod", foldPair, "floor_mod"},
    {"Mul", foldPair, "multiply"},
    {"ReduceProd", foldProduct},
    {"Reshape", foldReshape},
    {"Slice", foldSlice},
    {"Squeeze", foldSqueeze},
    {"Sub", foldPair, "subtract"},
    {"Unsqueeze", foldUnsqueeze},
    {"Where", foldWhere},
}};

/// The type of the elements; nothing for casts to what is no integer.
std::optional<DataType> typeOf(OnnxNode& node)
{
    if (node.op() == "Equal") return kBool;
    if (node.op() == "Where") return node.type(1).dtype;
    if (node.op() != "Cast") return node.type(0).dtype;
    const auto dtype = dataTypeOf(static_cast<int32_t>(node.integer("to", 0)));
    return dtype && (*dtype == kInt64 || *dtype == kInt32) ? dtype : std::nullopt;
}

} // namespace

bool foldDims(OnnxNode& node)
{
    const auto row =
        std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.op == node.op(); });
    if (row == kRows.end()) return false;
    Lists in;
    for (size_t i = 0; i < node.inputCount(); ++i) {
        const auto* dims = node.dims(i);
        if (!dims || !*dims || node.narrowType(i)) return false;
        in.push_back(&**dims);
    }
    if (in.empty() || !node.isTyped(0)) return false;
    const auto dtype = typeOf(node);
    auto folded = dtype ? row->fold(node, in, row->ours) : std::nullopt;
    if (!folded || node.hasFailed()) return false;
    node.outputDims(0, std::move(folded->dims), folded->isScalar, *dtype);
    return !node.hasFailed();
}

} // namespace tenon::compiler
