// SPDX-License-Identifier: Apache-2.0
// Einsum and Det.
#include "compiler/frontend/onnx/converters.h"
#include "core/base/text.h"

#include <algorithm>
#include <map>

namespace tenon::compiler {
namespace {

/// Replaces "..." by the last `count` of the letters that the equation does not use.
std::string withoutEllipsis(const std::string& term, const std::string& spare, size_t count)
{
    const size_t at = term.find("...");
    if (at == std::string::npos) return term;
    return term.substr(0, at) + spare.substr(spare.size() - count) + term.substr(at + 3);
}

size_t lettersOf(const std::string& term)
{
    return static_cast<size_t>(
        std::count_if(term.begin(), term.end(), [](char c) { return c != '.'; }));
}

/// The equation with every dimension named and its result spelled out.
std::string explicitEquation(NodeImport& node, std::string text)
{
    std::erase(text, ' ');
    const size_t arrow = text.find("->");
    std::vector<std::string> terms = split(text.substr(0, arrow), ',');
    std::string unused;
    for (char c = 'A'; c <= 'Z'; ++c)
        if (text.find(c) == std::string::npos) unused += c;
    if (terms.size() != node.inputCount()) {
        node.fail(DiagnosticCode::BadAttribute,
                  "the equation has " + std::to_string(terms.size()) + " terms for " +
                      std::to_string(node.inputCount()) + " inputs",
                  "equation");
        return {};
    }
    size_t most = 0; ///< dimensions an ellipsis stands for
    for (size_t t = 0; t < terms.size(); ++t) {
        if (terms[t].find("...") == std::string::npos) continue;
        const auto rank = static_cast<size_t>(node.rank(t));
        const size_t named = lettersOf(terms[t]);
        if (rank < named || rank - named > unused.size()) {
            node.fail(DiagnosticCode::BadAttribute,
                      "the term " + quoted(terms[t]) + " does not fit an input of rank " +
                          std::to_string(rank),
                      "equation");
            return {};
        }
        terms[t] = withoutEllipsis(terms[t], unused, rank - named);
        most = std::max(most, rank - named);
    }
    std::string result;
    if (arrow != std::string::npos) {
        result = withoutEllipsis(text.substr(arrow + 2), unused, most);
    } else { // letters that occur once, in alphabetical order, after those of the ellipsis
        result = unused.substr(unused.size() - most);
        std::map<char, int> counts;
        for (const char c : text)
            if (c != ',' && c != '.') ++counts[c];
        for (const auto& [letter, count] : counts)
            if (count == 1) result += letter;
    }
    return join(terms, ",") + "->" + result;
}

} // namespace

void convertEinsum(NodeImport& node)
{
    const std::string equation = explicitEquation(node, node.string("equation", ""));
    std::vector<ValueRef> operands;
    for (size_t i = 0; i < node.inputCount(); ++i) operands.push_back(node.input(i));
    node.output(0, node.emit("einsum", operands, {{"equation", equation}}));
}

void convertDet(NodeImport& node) { node.output(0, node.emit("det", {node.input(0)})); }

} // namespace tenon::compiler
