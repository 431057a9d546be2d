// SPDX-License-Identifier: Apache-2.0
// Tensors are matched to inputs by name, else by position.
#include "app/runs/data_bindings.h"

#include "core/base/text.h"
#include "core/ir/size_bounds.h"

#include <algorithm>

namespace tenon::runs {

void bindShapes(const compiler::Loaded& loaded, const GivenTensors& given,
                compiler::ImportOptions& options)
{
    const SizeBounds bounds = boundsOf(loaded.module.main());
    for (size_t i = 0; i < loaded.facts.inputs.size(); ++i) {
        const compiler::ValueFacts& input = loaded.facts.inputs[i];
        if ((input.hasShape && constantShape(input.shape)) || options.bounds.contains(input.name))
            continue;
        const auto named = std::find_if(given.begin(), given.end(),
                                        [&](const auto& g) { return g.first == input.name; });
        const Tensor* data = named != given.end() ? &named->second
                             : i < given.size()   ? &given[i].second
                                                  : nullptr;
        if (!data) continue;
        const bool isBounded =
            std::any_of(input.shape.begin(), input.shape.end(),
                        [&](const Dim& dim) { return bounds.contains(dim.text()); });
        if (!isBounded) {
            options.shapes[input.name] = data->shape();
            continue;
        }
        for (size_t d = 0; d < input.shape.size() && d < data->shape().size(); ++d)
            if (!input.shape[d].isConst() && !bounds.contains(input.shape[d].text()))
                options.dims[input.shape[d].text()] = data->shape()[d];
    }
}

bool fixValues(const compiler::Loaded& loaded, const std::vector<std::string>& names,
               const GivenTensors& given, compiler::ImportOptions& options)
{
    constexpr int64_t kMaxValues = 64;
    bool hasFixed = false;
    for (const std::string& name : names) {
        const auto& inputs = loaded.facts.inputs;
        const auto input = std::find_if(inputs.begin(), inputs.end(),
                                        [&](const auto& i) { return i.name == name; });
        const auto at = static_cast<size_t>(input - inputs.begin());
        const auto named = std::find_if(given.begin(), given.end(),
                                        [&](const auto& g) { return g.first == name; });
        const Tensor* value = named != given.end() ? &named->second
                              : at < given.size()  ? &given[at].second
                                                   : nullptr;
        const bool isShort = value && value->shape().size() <= 1 && value->size() <= kMaxValues;
        if (isShort && options.values.emplace(name, *value).second) hasFixed = true;
    }
    return hasFixed;
}

std::vector<std::string> integerInputs(const compiler::ModelFacts& facts)
{
    std::vector<std::string> names;
    for (const auto& input : facts.inputs)
        if (input.dtype.find("int") != std::string::npos) names.push_back(input.name);
    return names;
}

std::vector<std::string> bindingsText(const compiler::ImportOptions& options)
{
    std::vector<std::string> out;
    const auto add = [&](const char* option, const std::string& name, const std::string& value) {
        out.insert(out.end(), {option, name + "=" + value});
    };
    for (const auto& [name, sizes] : options.shapes) add("--shape", name, join(sizes, ","));
    for (const auto& [name, size] : options.dims) add("--shape", name, std::to_string(size));
    for (const auto& [name, ranges] : options.bounds) {
        std::vector<std::string> texts;
        for (const DimBounds& range : ranges) texts.push_back(boundsText(range));
        add("--shape", name, join(texts, ","));
    }
    for (const auto& [name, value] : options.values) {
        std::vector<std::string> numbers;
        for (int64_t i = 0; i < value.size(); ++i)
            numbers.push_back(value.dtype().isFloat() ? exact(value.number(i))
                                                      : std::to_string(value.integer(i)));
        add("--value", name, join(numbers, ","));
    }
    return out;
}

GivenTensors withoutFixed(const compiler::ModelFacts& facts, const GivenTensors& given,
                          const compiler::ImportOptions& options)
{
    GivenTensors out;
    for (size_t i = 0; i < given.size(); ++i) {
        const bool isNamed =
            std::any_of(facts.inputs.begin(), facts.inputs.end(),
                        [&](const auto& input) { return input.name == given[i].first; });
        const std::string& name =
            isNamed || i >= facts.inputs.size() ? given[i].first : facts.inputs[i].name;
        if (!options.values.contains(name)) out.push_back(given[i]);
    }
    return out;
}

} // namespace tenon::runs
