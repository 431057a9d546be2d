// SPDX-License-Identifier: Apache-2.0
// Einsum and Det.
#include "compiler/frontend/onnx/converters/converters.h"
#include "compiler/frontend/onnx/converters/einsum_as_matmul.h"
#include "core/base/text.h"

#include <algorithm>
#include <limits>
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
std::string explicitEquation(OnnxNode& node, std::string text)
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

using Factor = EinsumFactor;

/// Letters of two factors, each once.
std::string unionOf(const std::string& a, const std::string& b)
{
    std::string out;
    for (const char c : a + b)
        if (out.find(c) == std::string::npos) out += c;
    return out;
}

/// A product of factors, two at a time: all at once would take as many steps as all letters have
/// together.
class Contraction
{
public:
    Contraction(OnnxNode& node, std::vector<Factor> factors, std::string result)
        : m_node(node)
        , m_factors(std::move(factors))
        , m_result(std::move(result))
    {
        for (size_t i = 0; i < m_factors.size(); ++i) {
            const Shape& shape = node.type(i).shape;
            for (size_t d = 0; d < std::min(shape.size(), m_factors[i].letters.size()); ++d) {
                double& extent = m_extents.try_emplace(m_factors[i].letters[d], 1).first->second;
                // Sizes that a run decides are taken as large.
                constexpr int64_t kOpen = 256;
                extent = std::max(
                    extent, static_cast<double>(shape[d].isConst() ? shape[d].value() : kOpen));
            }
        }
    }

    ValueRef run()
    {
        while (m_factors.size() > 2) {
            const auto [a, b] = cheapestPair();
            const std::string kept = lettersKept(a, b);
            const ValueRef value = product({m_factors[a], m_factors[b]}, kept);
            m_factors[a] = {kept, value};
            m_factors.erase(m_factors.begin() + static_cast<std::ptrdiff_t>(b));
        }
        return product(m_factors, m_result);
    }

private:
    ValueRef product(const std::vector<Factor>& factors, const std::string& result)
    {
        if (factors.size() == 2)
            if (const auto matrix = einsumAsMatmul(m_node, factors[0], factors[1], result))
                return *matrix;
        std::vector<std::string> terms;
        std::vector<ValueRef> operands;
        for (const Factor& factor : factors) {
            terms.push_back(factor.letters);
            operands.push_back(factor.value);
        }
        return m_node.emit("einsum", operands, {{"equation", join(terms, ",") + "->" + result}});
    }

    /// Letters of a pair that the result or another factor has, too.
    std::string lettersKept(size_t a, size_t b) const
    {
        std::string wanted = m_result, out;
        for (size_t i = 0; i < m_factors.size(); ++i)
            if (i != a && i != b) wanted += m_factors[i].letters;
        for (const char c : unionOf(m_factors[a].letters, m_factors[b].letters))
            if (wanted.find(c) != std::string::npos) out += c;
        return out;
    }

    double sizeOf(const std::string& letters) const
    {
        double size = 1;
        for (const char c : letters) size *= m_extents.at(c);
        return size;
    }

    /// The fewest steps; of equal ones the smaller result.
    std::pair<size_t, size_t> cheapestPair() const
    {
        std::pair<size_t, size_t> best;
        std::pair<double, double> least{std::numeric_limits<double>::infinity(), 0};
        for (size_t a = 0; a < m_factors.size(); ++a)
            for (size_t b = a + 1; b < m_factors.size(); ++b) {
                const std::pair<double, double> cost{
                    sizeOf(unionOf(m_factors[a].letters, m_factors[b].letters)),
                    sizeOf(lettersKept(a, b))};
                if (cost >= least) continue;
                least = cost;
                best = {a, b};
            }
        return best;
    }

    OnnxNode& m_node;
    std::vector<Factor> m_factors;
    std::string m_result;
    std::map<char, double> m_extents;
};

} // namespace

void convertEinsum(OnnxNode& node)
{
    const std::string equation = explicitEquation(node, node.string("equation", ""));
    if (node.hasFailed()) return;
    const size_t arrow = equation.find("->");
    const std::vector<std::string> terms = split(equation.substr(0, arrow), ',');
    std::vector<ValueRef> operands;
    std::vector<Factor> factors;
    bool isValid = true;
    for (size_t i = 0; i < node.inputCount(); ++i) {
        operands.push_back(node.input(i));
        factors.push_back({terms[i], operands.back()});
        isValid &= static_cast<int64_t>(terms[i].size()) == node.rank(i);
    }
    // Of a wrong equation the operator says what is wrong.
    node.output(0, isValid && factors.size() > 1
                       ? Contraction(node, std::move(factors), equation.substr(arrow + 2)).run()
                       : node.emit("einsum", operands, {{"equation", equation}}));
}

void convertDet(OnnxNode& node) { node.output(0, node.emit("det", {node.input(0)})); }

} // namespace tenon::compiler
