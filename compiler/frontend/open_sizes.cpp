// SPDX-License-Identifier: Apache-2.0
// Which sizes are open, the batch that becomes 1, and values to propose for the others.
#include "compiler/frontend/open_sizes.h"

#include "compiler/frontend/fitting_sizes.h"
#include "compiler/frontend/load_model.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/text.h"
#include "core/ir/size_bounds.h"

#include <algorithm>
#include <filesystem>
#include <set>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;

/// The symbol that is the whole dimension; empty for numbers and for arithmetic.
std::string symbolOf(const Dim& dim)
{
    const std::vector<std::string> symbols = dim.symbols();
    return symbols.size() == 1 && Dim::symbol(symbols[0]) == dim ? symbols[0] : std::string();
}

bool isBatchName(std::string_view name)
{
    std::string lower;
    for (const char c : name) lower += static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    return lower == "n" || lower == "b" || lower == "bs" || lower.find("batch") != lower.npos;
}

struct OpenSizes
{
    std::set<std::string> all;
    std::set<std::string> batches; ///< those that count the items of an input
    std::string input;             ///< the first one with a batch
};

OpenSizes openSizesOf(const Module& module)
{
    OpenSizes out;
    const SizeBounds bounds = boundsOf(module.main());
    for (const NodeId id : module.main().params) {
        const NodeRecord& param = module.node(id);
        const Shape& shape = param.types[0].shape;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            for (const std::string& symbol : shape[axis].symbols()) out.all.insert(symbol);
            const std::string symbol = symbolOf(shape[axis]);
            // A list of numbers counts its elements, unless it says otherwise.
            if (axis > 0 || symbol.empty() || (shape.size() < 2 && !isBatchName(symbol))) continue;
            out.batches.insert(symbol);
            if (out.input.empty()) out.input = param.name;
        }
    }
    // Whoever bounds a size wants it to stay open.
    for (const auto& [symbol, range] : bounds) out.all.insert(symbol);
    if (!bounds.empty()) out.batches.clear();
    return out;
}

/// Numbers for a scalar input, written as if they were sizes, become its value.
bool moveValues(const Loaded& loaded, ImportOptions& options)
{
    bool isMoved = false;
    for (const ValueFacts& input : loaded.facts.inputs) {
        const auto given = options.shapes.find(input.name);
        const bool isScalar = input.hasShape && input.shape.empty();
        if (given == options.shapes.end() || !isScalar || given->second.size() != 1) continue;
        options.values[input.name] = Tensor::of<int64_t>(kInt64, {1}, given->second);
        options.shapes.erase(given);
        isMoved = true;
    }
    return isMoved;
}

Diagnostic batchNote(const OpenSizes& open)
{
    std::vector<std::string> names;
    for (const std::string& symbol : open.batches) names.push_back(core::quoted(symbol));
    return Diagnostic{Severity::Note,
                      DiagnosticCode::DynamicShape,
                      "the batch " + join(names, ", ") + " of input " + core::quoted(open.input) +
                          " is open and was taken as 1; --shape " + *open.batches.begin() +
                          "=8 takes another, --shape " + *open.batches.begin() +
                          "=1..8 keeps it open",
                      {},
                      {}};
}

} // namespace

bool hasUnboundSizes(const Module& module)
{
    const SizeBounds bounds = boundsOf(module.main());
    for (const std::string& symbol : openSizesOf(module).all)
        if (!bounds.contains(symbol)) return true;
    return false;
}

namespace {

/// Binds values, and a batch that nobody bound.
Result<Loaded> loadBound(const std::string& path, const ImportOptions& options)
{
    auto loaded = loadModel(path, options);
    if (!loaded) return loaded;
    ImportOptions more = options;
    if (moveValues(*loaded, more)) {
        loaded = loadModel(path, more);
        if (!loaded) return loaded;
    }
    const OpenSizes open = openSizesOf(loaded->module);
    if (open.batches.empty() || open.batches != open.all || !loaded->facts.isOpen) return loaded;
    for (const std::string& symbol : open.batches) more.shapes[symbol] = {1};
    auto bound = loadModel(path, more);
    // A model that cannot be read with one item is shown as it is.
    if (!bound || (hasErrors(bound->diagnostics) && !hasErrors(loaded->diagnostics))) return loaded;
    bound->diagnostics.insert(bound->diagnostics.begin(), batchNote(open));
    return bound;
}

} // namespace

Result<Loaded> loadForBuild(const std::string& path, const ImportOptions& options)
{
    auto loaded = loadBound(path, options);
    if (loaded) narrowBounds(*loaded);
    return loaded;
}

namespace {

/// Proposes bindings for the inputs of one model.
class Proposal
{
public:
    Proposal(const std::string& path, const Loaded& loaded, const ImportOptions& options)
        : m_path(path)
        , m_loaded(loaded)
        , m_options(options)
    {
    }

    std::string text() const
    {
        if (openInputs().empty() && m_loaded.neededValues.empty()) return {};
        ImportOptions bound = m_options;
        if (!bindToData(bound)) bindToGuess(bound);
        return written(bound);
    }

private:
    std::vector<const ValueFacts*> openInputs() const
    {
        std::vector<const ValueFacts*> out;
        for (const ValueFacts& input : m_loaded.facts.inputs)
            if (!m_options.values.contains(input.name) &&
                (!input.hasShape || !constantShape(shapeNow(input))))
                out.push_back(&input);
        return out;
    }

    /// With what the options bind already.
    Shape shapeNow(const ValueFacts& input) const
    {
        for (const NodeId id : m_loaded.module.main().params)
            if (m_loaded.module.node(id).name == input.name)
                return m_loaded.module.node(id).types[0].shape;
        return input.shape;
    }

    /// The first data set beside the model, as conformance tests have it.
    bool bindToData(ImportOptions& bound) const
    {
        const fs::path folder = fs::path(m_path).parent_path() / "test_data_set_0";
        for (size_t i = 0; i < m_loaded.facts.inputs.size(); ++i) {
            const ValueFacts& input = m_loaded.facts.inputs[i];
            const std::string file = (folder / ("input_" + std::to_string(i) + ".pb")).string();
            std::error_code ignored;
            if (!fs::is_regular_file(file, ignored)) return false;
            const auto read = readTensorFile(file);
            if (!read) return false;
            if (input.hasShape && read->tensor.shape().size() != input.shape.size()) return false;
            take(input, read->tensor, bound);
        }
        return canImport(bound);
    }

    void take(const ValueFacts& input, const Tensor& tensor, ImportOptions& bound) const
    {
        const auto& needed = m_loaded.neededValues;
        if (std::find(needed.begin(), needed.end(), input.name) != needed.end())
            bound.values[input.name] = tensor;
        else if (!input.hasShape || !constantShape(shapeNow(input)))
            bound.shapes[input.name] = tensor.shape();
    }

    /// Usual sizes, tried one after another until the model can be imported.
    void bindToGuess(ImportOptions& bound) const
    {
        static constexpr int64_t kPixels[] = {224, 320, 640, 256, 512, 64};
        static constexpr int64_t kSteps[] = {128, 512, 256, 16000, 64, 16};
        static constexpr int64_t kValues[] = {16000, 1, 8000, 0, 2, 8};
        for (size_t round = 0; round < std::size(kPixels); ++round) {
            ImportOptions guess = m_options;
            for (const ValueFacts* input : openInputs())
                guess.shapes[input->name] =
                    guessed(shapeNow(*input), kPixels[round], kSteps[round]);
            for (const std::string& name : m_loaded.neededValues)
                guess.values[name] = valueFor(name, kValues[round]);
            if (round == 0) bound = guess;
            if (!canImport(guess)) continue;
            bound = guess;
            return;
        }
    }

    static std::vector<int64_t> guessed(const Shape& shape, int64_t pixels, int64_t steps)
    {
        std::vector<int64_t> out;
        for (size_t axis = 0; axis < shape.size(); ++axis) {
            const bool isPicture = shape.size() >= 4 && axis + 2 >= shape.size();
            const bool isItems =
                (axis == 0 && shape.size() > 1) || isBatchName(symbolOf(shape[axis]));
            out.push_back(shape[axis].isConst() ? shape[axis].value()
                          : isItems             ? 1
                          : isPicture           ? pixels
                                                : steps);
        }
        return out;
    }

    Tensor valueFor(const std::string& name, int64_t number) const
    {
        for (const ValueFacts& input : m_loaded.facts.inputs)
            if (input.name == name) {
                const auto shape = constantShape(input.shape);
                const int64_t count = shape ? std::clamp<int64_t>(elementCount(*shape), 1, 64) : 1;
                return Tensor::of<int64_t>(
                    kInt64, {count}, std::vector<int64_t>(static_cast<size_t>(count), number));
            }
        return Tensor::of<int64_t>(kInt64, {1}, {number});
    }

    bool canImport(const ImportOptions& bound) const
    {
        const auto loaded = loadModel(m_path, bound);
        return loaded && !hasErrors(loaded->diagnostics);
    }

    /// A word of a command line.
    static std::string word(const std::string& text)
    {
        const bool isPlain = std::all_of(text.begin(), text.end(), [](char c) {
            return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                   std::string_view("_-.,:/=+@%").find(c) != std::string_view::npos;
        });
        if (isPlain) return text;
        std::string out = "'";
        for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
        return out + "'";
    }

    std::string written(const ImportOptions& bound) const
    {
        std::vector<std::string> out;
        for (const ValueFacts* input : openInputs())
            if (const auto shape = bound.shapes.find(input->name); shape != bound.shapes.end())
                out.push_back("--shape " + word(input->name + "=" + join(shape->second, ",")));
        for (const std::string& name : m_loaded.neededValues) {
            const auto value = bound.values.find(name);
            if (value == bound.values.end()) continue;
            std::vector<std::string> numbers;
            for (int64_t i = 0; i < value->second.size(); ++i)
                numbers.push_back(value->second.dtype().isFloat()
                                      ? std::to_string(value->second.number(i))
                                      : std::to_string(value->second.integer(i)));
            out.push_back("--value " + word(name + "=" + join(numbers, ",")));
        }
        return join(out, " ");
    }

    const std::string& m_path;
    const Loaded& m_loaded;
    const ImportOptions& m_options;
};

} // namespace

std::string proposedBindings(const std::string& path, const Loaded& loaded,
                             const ImportOptions& options)
{
    return Proposal(path, loaded, options).text();
}

} // namespace tenon::compiler
