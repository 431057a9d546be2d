// SPDX-License-Identifier: Apache-2.0
// Registers, jumps and the arithmetic of sizes.
#include "compiler/driver/vm_writer.h"

#include "runtime/include/tenon/vm_code.h"

#include <algorithm>
#include <charconv>

namespace tenon::compiler {
namespace {

/// "3*batch*seq" and "-batch" as a coefficient and symbols.
struct Product
{
    int64_t coefficient = 1;
    std::vector<std::string> symbols;
};

/// Parts of `text` between the separators that stand outside parentheses.
std::vector<std::string> splitOutside(const std::string& text, const std::string& separator)
{
    std::vector<std::string> parts(1);
    int depth = 0;
    for (size_t i = 0; i < text.size(); ++i) {
        depth += text[i] == '(';
        depth -= text[i] == ')';
        if (depth == 0 && text.compare(i, separator.size(), separator) == 0) {
            parts.emplace_back();
            i += separator.size() - 1;
        } else {
            parts.back() += text[i];
        }
    }
    return parts;
}

Product productOf(std::string text)
{
    Product out;
    if (text.starts_with("-")) {
        out.coefficient = -1;
        text.erase(0, 1);
    }
    for (const std::string& factor : splitOutside(text, "*")) {
        int64_t number = 0;
        const auto [end, failed] =
            std::from_chars(factor.data(), factor.data() + factor.size(), number);
        if (failed == std::errc() && end == factor.data() + factor.size())
            out.coefficient *= number;
        else
            out.symbols.push_back(factor);
    }
    return out;
}

/// The sum that Dim::text() prints.
std::vector<Product> productsOf(const Dim& dim)
{
    std::vector<Product> out;
    for (const std::string& positive : splitOutside(dim.text(), " + ")) {
        const std::vector<std::string> parts = splitOutside(positive, " - ");
        for (size_t i = 0; i < parts.size(); ++i) {
            out.push_back(productOf(parts[i]));
            if (i > 0) out.back().coefficient *= -1;
        }
    }
    return out;
}

} // namespace

std::optional<std::pair<Dim, Dim>> quotientOf(const std::string& symbol)
{
    if (!symbol.starts_with("(") || !symbol.ends_with(")")) return std::nullopt;
    const auto sides = splitOutside(symbol.substr(1, symbol.size() - 2), " // ");
    if (sides.size() != 2) return std::nullopt;
    const auto a = parseDim(sides[0]);
    const auto b = parseDim(sides[1]);
    if (!a || !b) return std::nullopt;
    return std::pair(*a, *b);
}

int64_t VmWriter::newScalar(int64_t value)
{
    m_code.presets.push_back(value);
    return static_cast<int64_t>(m_code.presets.size()) - 1;
}

int64_t VmWriter::constantScalar(int64_t value)
{
    const auto found = m_constants.find(value);
    return found != m_constants.end() ? found->second : m_constants[value] = newScalar(value);
}

int64_t VmWriter::text(const std::string& text)
{
    const auto [found, isNew] = m_texts.emplace(text, static_cast<int64_t>(m_code.texts.size()));
    if (isNew) m_code.texts.push_back(text);
    return found->second;
}

void VmWriter::emit(std::vector<int64_t> words)
{
    m_code.words.insert(m_code.words.end(), words.begin(), words.end());
}

size_t VmWriter::emitJump(std::vector<int64_t> words)
{
    words.push_back(0);
    emit(std::move(words));
    return m_code.words.size() - 1;
}

void VmWriter::land(size_t jump) { m_code.words[jump] = here(); }

void VmWriter::node(const std::string& name)
{
    const int64_t named = text(name);
    if (!m_code.lines.empty() && m_code.lines.back().second == named) return;
    if (!m_code.lines.empty() && m_code.lines.back().first == here())
        m_code.lines.back().second = named;
    else
        m_code.lines.emplace_back(here(), named);
}

int64_t VmWriter::arithmetic(int64_t operation, int64_t a, int64_t b)
{
    const int64_t out = newScalar();
    emit({kTenonVmArithmetic, out, operation, a, b});
    return out;
}

bool VmWriter::knows(const Dim& dim) const
{
    const std::vector<std::string> symbols = dim.symbols();
    return std::all_of(symbols.begin(), symbols.end(), [&](const std::string& symbol) {
        if (m_symbols.contains(symbol)) return true;
        const auto quotient = quotientOf(symbol);
        return quotient && knows(quotient->first) && knows(quotient->second);
    });
}

int64_t VmWriter::sizeOfSymbol(const std::string& symbol)
{
    if (const auto known = m_symbols.find(symbol); known != m_symbols.end()) return known->second;
    const auto quotient = quotientOf(symbol);
    CHECK(quotient) << "size " << symbol << " is not known";
    const int64_t a = size(quotient->first);
    const int64_t b = size(quotient->second);
    return m_symbols[symbol] = arithmetic(kTenonVmFloorDivide, a, b);
}

int64_t VmWriter::size(const Dim& dim)
{
    if (dim.isConst()) return constantScalar(dim.value());
    const std::string text = dim.text();
    if (const auto known = m_symbols.find(text); known != m_symbols.end()) return known->second;
    int64_t sum = -1;
    for (const Product& product : productsOf(dim)) {
        int64_t value = -1;
        for (const std::string& symbol : product.symbols) {
            const int64_t factor = sizeOfSymbol(symbol);
            value = value < 0 ? factor : arithmetic(kTenonVmMultiply, value, factor);
        }
        const bool isNumber = value < 0;
        const int64_t coefficient = constantScalar(product.coefficient);
        if (isNumber)
            value = coefficient;
        else if (product.coefficient != 1)
            value = arithmetic(kTenonVmMultiply, value, coefficient);
        sum = sum < 0 ? value : arithmetic(kTenonVmAdd, sum, value);
    }
    return m_symbols[text] = sum;
}

void VmWriter::appendShape(std::vector<int64_t>& words, const Shape& shape)
{
    words.push_back(static_cast<int64_t>(shape.size()));
    for (const Dim& dim : shape) words.push_back(size(dim));
}

} // namespace tenon::compiler
