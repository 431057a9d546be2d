// SPDX-License-Identifier: Apache-2.0
// VmWriter: registers, instructions and sizes of a VM program under construction.
#pragma once

#include "compiler/executor/vm_code.h"
#include "core/tensor/dim.h"

#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

class VmWriter
{
public:
    int64_t newTensor() { return m_code.tensorRegisters++; }
    int64_t newList() { return m_code.lists++; }
    /// A scalar register that starts as `value` and is written to later.
    int64_t newScalar(int64_t value = 0);
    /// The scalar register that always holds `value`.
    int64_t constantScalar(int64_t value);
    int64_t text(const std::string& text);

    void emit(std::vector<int64_t> words);
    /// An instruction whose last word is a target that is not known yet; the result names it.
    size_t emitJump(std::vector<int64_t> words);
    void land(size_t jump); ///< the jump goes to here
    /// Changes a word that was emitted.
    void patch(size_t word, int64_t value) { m_code.words.at(word) = value; }
    int64_t here() const { return static_cast<int64_t>(m_code.words.size()); }
    /// What follows belongs to this node; empty: to none.
    void node(const std::string& name);
    int64_t arithmetic(int64_t operation, int64_t a, int64_t b);

    bool knows(const Dim& dim) const;
    void define(const std::string& symbol, int64_t scalar) { m_symbols[symbol] = scalar; }
    /// The scalar register that holds a size whose symbols are known.
    int64_t size(const Dim& dim);
    /// The word count and registers of a shape, as instructions take them.
    void appendShape(std::vector<int64_t>& words, const Shape& shape);

    /// What bodies learn about sizes does not hold outside.
    using Symbols = std::map<std::string, int64_t>;
    Symbols symbols() const { return m_symbols; }
    void restore(Symbols symbols) { m_symbols = std::move(symbols); }

    VmCode& code() { return m_code; }

private:
    int64_t sizeOfSymbol(const std::string& symbol);

    VmCode m_code;
    std::map<int64_t, int64_t> m_constants;
    std::map<std::string, int64_t> m_texts;
    Symbols m_symbols; ///< text of a symbol or size -> scalar register
};

} // namespace tenon::compiler
