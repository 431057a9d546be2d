// SPDX-License-Identifier: Apache-2.0
// Tables of functions and combiners by the names that definitions use.
#include "compiler/ops/defined/functions.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

using tir::Intrinsic;

constexpr DefinedFunction kFunctions[] = {
    {"abs", Intrinsic::Abs, false}, {"acos", Intrinsic::Acos},   {"asin", Intrinsic::Asin},
    {"atan", Intrinsic::Atan},      {"ceil", Intrinsic::Ceil},   {"cos", Intrinsic::Cos},
    {"cosh", Intrinsic::Cosh},      {"erf", Intrinsic::Erf},     {"exp", Intrinsic::Exp},
    {"floor", Intrinsic::Floor},    {"fma", Intrinsic::Fma},     {"isinf", Intrinsic::IsInf},
    {"isnan", Intrinsic::IsNan},    {"log", Intrinsic::Log},     {"pow", Intrinsic::Pow},
    {"round", Intrinsic::Round},    {"rsqrt", Intrinsic::Rsqrt}, {"sigmoid", Intrinsic::Sigmoid},
    {"sin", Intrinsic::Sin},        {"sinh", Intrinsic::Sinh},   {"sqrt", Intrinsic::Sqrt},
    {"tan", Intrinsic::Tan},        {"tanh", Intrinsic::Tanh},   {"trunc", Intrinsic::Trunc},
};

constexpr DefinedCombiner kCombiners[] = {
    {"all", te::Combiner::All}, {"any", te::Combiner::Any},      {"max", te::Combiner::Max},
    {"min", te::Combiner::Min}, {"prod", te::Combiner::Product}, {"sum", te::Combiner::Sum},
};

template <typename Row, size_t count>
const Row* rowNamed(const Row (&rows)[count], std::string_view name)
{
    const Row* found = std::find_if(std::begin(rows), std::end(rows),
                                    [&](const Row& row) { return row.name == name; });
    return found == std::end(rows) ? nullptr : found;
}

} // namespace

const DefinedFunction* findDefinedFunction(std::string_view name)
{
    return rowNamed(kFunctions, name);
}

const DefinedCombiner* findDefinedCombiner(std::string_view name)
{
    return rowNamed(kCombiners, name);
}

} // namespace tenon::compiler
