// SPDX-License-Identifier: Apache-2.0
// Shape arithmetic by rows: operator and what it makes of lists of dimensions.
#include "compiler/frontend/onnx/fold_dims.h"

#include "compiler/frontend/onnx/converters.h"
#include "core/tensor/dim_products.h"

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

Folded foldConcat(NodeImport&, const Lists& in)
{
    FoldedDims out;
    for (const Dims* part : in) out.dims.insert(out.dims.end(), part->begin(), part->end());
    return out;
}

Folded foldCast(NodeImport& node, const Lists& in)
{
    return FoldedDims{*in[0], node.type(0).shape.empty()};
}

Folded foldSqueeze(NodeImport&, const Lists& in)
{
    if (in[0]->size() != 1) return std::nullopt;
    return FoldedDims{*in[0], true};
}

Folded foldUnsqueeze(NodeImport& node, const Lists& in)
{
    if (!node.type(0).shape.empty()) return std::nullopt;
    return FoldedDims{*in[0], false};
}

/// To a list or a scalar of the same elements.
Folded foldReshape(NodeImport&, const Lists& in)
{
    if (in.size() != 2 || in[1]->size() > 1) return std::nullopt;
    const bool isScalar = in[1]->empty();
    const auto count = static_cast<int64_t>(in[0]->size());
    const bool fits = isScalar ? count == 1 : (*in[1])[0] == Dim(-1) || (*in[1])[0] == Dim(count);
    if (!fits) return std::nullopt;
    return FoldedDims{*in[0], isScalar};
}

Folded foldGather(NodeImport& node, const Lists& in)
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

Folded foldSlice(NodeImport& node, const Lists& in)
{
    if (node.opset() < 10 || in.size() < 3) return std::nullopt;
    for (size_t i = 1; i < in.size(); ++i)
        if (in[i]->size() != 1 || !(*in[i])[0].isConst()) return std::nullopt;
    if (in.size() > 4 && (*in[4])[0].value() != 1) return std::nullopt;
    const auto extent = static_cast<int64_t>(in[0]->size());
    const auto clamp = [&](int64_t at) {
        return std::clamp<int64_t>(at < 0 ? at + extent : at, 0, extent);
    };
    const int64_t begin = clamp((*in[1])[0].value());
    const int64_t end = std::max(begin, clamp((*in[2])[0].value()));
    return FoldedDims{{in[0]->begin() + begin, in[0]->begin() + end}, false};
}

Folded foldProduct(NodeImport& node, const Lists& in)
{
    Dim product(1);
    for (const Dim& dim : *in[0]) product = product * dim;
    return FoldedDims{{product}, node.integer("keepdims", 1) == 0};
}

/// The range of sizes that nobody bounded: what fits into memory.
std::optional<DimBounds> rangeOfSize(const NodeImport& node, const Dim& dim)
{
    SizeBounds bounds = node.bounds();
    for (const DimProduct& product : productsOf(dim))
        for (const std::string& symbol : product.symbols)
            if (!operationOf(symbol)) bounds.emplace(symbol, DimBounds{0, int64_t{1} << 40});
    return rangeOf(dim, bounds);
}

/// 1 or 0 where it is certain whether two sizes are equal.
std::optional<Dim> areEqual(const NodeImport& node, const Dim& a, const Dim& b)
{
    const Dim gap = a - b;
    if (gap.isConst()) return Dim(gap.value() == 0);
    const auto range = rangeOfSize(node, gap);
    if (range && (range->low > 0 || range->high < 0)) return Dim(0);
    return std::nullopt;
}

std::optional<Dim> arithmetic(const NodeImport& node, const Dim& a, const Dim& b)
{
    const std::string& op = node.op();
    if (op == "Add") return a + b;
    if (op == "Sub") return a - b;
    if (op == "Mul") return a * b;
    if (op == "Equal") return areEqual(node, a, b);
    if (op == "Min" || op == "Max") {
        const auto gap = rangeOf(a - b, node.bounds());
        const bool wantsSmaller = op == "Min";
        if (gap && gap->high <= 0) return wantsSmaller ? a : b;
        if (gap && gap->low >= 0) return wantsSmaller ? b : a;
        return wantsSmaller ? minimum(a, b) : maximum(a, b);
    }
    // Where both are known to be positive, truncating and flooring are the same.
    const auto range = rangeOfSize(node, a), divisor = rangeOfSize(node, b);
    const bool isPlain = range && divisor && range->low >= 0 && divisor->low >= 0;
    if (!isPlain || b == Dim(0)) return std::nullopt;
    if (op == "Div") return floorDiv(a, b);
    return a - b * floorDiv(a, b); // Mod
}

Folded foldPair(NodeImport& node, const Lists& in)
{
    if (in.size() != 2) return std::nullopt;
    const size_t count = in[0]->size() == 1 ? in[1]->size() : in[0]->size();
    if (in[1]->size() != 1 && in[1]->size() != count) return std::nullopt;
    FoldedDims out{{}, node.type(0).shape.empty() && node.type(1).shape.empty()};
    for (size_t i = 0; i < count; ++i) {
        const auto result = arithmetic(node, (*in[0])[in[0]->size() == 1 ? 0 : i],
                                       (*in[1])[in[1]->size() == 1 ? 0 : i]);
        if (!result) return std::nullopt;
        out.dims.push_back(*result);
    }
    return out;
}

Folded foldWhere(NodeImport& node, const Lists& in)
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
    Folded (*fold)(NodeImport&, const Lists&);
};

constexpr std::array<Row, 17> kRows{{
    {"Add", foldPair},
    {"Cast", foldCast},
    {"Concat", foldConcat},
    {"Div", foldPair},
    {"Equal", foldPair},
    {"Gather", foldGather},
    {"Max", foldPair},
    {"Min", foldPair},
    {"Mod", foldPair},
    {"Mul", foldPair},
    {"ReduceProd", foldProduct},
    {"Reshape", foldReshape},
    {"Slice", foldSlice},
    {"Squeeze", foldSqueeze},
    {"Sub", foldPair},
    {"Unsqueeze", foldUnsqueeze},
    {"Where", foldWhere},
}};

/// The type of the elements; nothing for casts to what is no integer.
std::optional<DataType> typeOf(NodeImport& node)
{
    if (node.op() == "Equal") return kBool;
    if (node.op() == "Where") return node.type(1).dtype;
    if (node.op() != "Cast") return node.type(0).dtype;
    const auto dtype = dataTypeOf(static_cast<int32_t>(node.integer("to", 0)));
    return dtype && (*dtype == kInt64 || *dtype == kInt32) ? dtype : std::nullopt;
}

} // namespace

bool foldDims(NodeImport& node)
{
    const auto row =
        std::find_if(kRows.begin(), kRows.end(), [&](const Row& r) { return r.op == node.op(); });
    if (row == kRows.end()) return false;
    Lists in;
    for (size_t i = 0; i < node.inputCount(); ++i) {
        const auto* dims = node.dims(i);
        if (!dims || !*dims || node.narrowType(i) != 0) return false;
        in.push_back(&**dims);
    }
    if (in.empty() || !node.isTyped(0)) return false;
    const auto dtype = typeOf(node);
    auto folded = dtype ? row->fold(node, in) : std::nullopt;
    if (!folded || node.hasFailed()) return false;
    const bool isKnown = std::all_of(folded->dims.begin(), folded->dims.end(),
                                     [](const Dim& dim) { return dim.isConst(); });
    const Shape shape =
        folded->isScalar ? Shape{} : Shape{Dim(static_cast<int64_t>(folded->dims.size()))};
    if (isKnown) {
        node.outputConstant(0, Tensor::make(*dtype, *constantShape(shape), [&](auto bytes) {
                                for (size_t i = 0; i < folded->dims.size(); ++i)
                                    storeInteger(*dtype, bytes, static_cast<int64_t>(i),
                                                 folded->dims[i].value());
                            }));
        return !node.hasFailed();
    }
    ImportedValue out{.type = {*dtype, shape}, .origin = {node.source()}};
    out.dims = std::move(folded->dims);
    node.outputValue(0, std::move(out));
    return !node.hasFailed();
}

} // namespace tenon::compiler
