// SPDX-License-Identifier: Apache-2.0
// Registers, jumps and the arithmetic of sizes.
#include "compiler/executor/vm_writer.h"

#include "core/tensor/dim_products.h"
#include "runtime/include/tenon/vm_code.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

int64_t vmOperation(DimOperation::Kind kind)
{
    switch (kind) {
    case DimOperation::Minimum: return kTenonVmMinimum;
    case DimOperation::Maximum: return kTenonVmMaximum;
    default: return kTenonVmFloorDivide;
    }
}

} // namespace

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
        const auto operation = operationOf(symbol);
        return operation && knows(operation->a) && knows(operation->b);
    });
}

int64_t VmWriter::sizeOfSymbol(const std::string& symbol)
{
    if (const auto known = m_symbols.find(symbol); known != m_symbols.end()) return known->second;
    const auto operation = operationOf(symbol);
    CHECK(operation) << "size " << symbol << " is not known";
    const int64_t a = size(operation->a);
    const int64_t b = size(operation->b);
    return m_symbols[symbol] = arithmetic(vmOperation(operation->kind), a, b);
}

int64_t VmWriter::size(const Dim& dim)
{
    if (dim.isConst()) return constantScalar(dim.value());
    const std::string text = dim.text();
    if (const auto known = m_symbols.find(text); known != m_symbols.end()) return known->second;
    int64_t sum = -1;
    for (const DimProduct& product : productsOf(dim)) {
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
