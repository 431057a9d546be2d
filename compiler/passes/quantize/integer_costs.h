// SPDX-License-Identifier: Apache-2.0
// What a layer between dequantization and quantization costs on the target, in integers and in
// floats.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"
#include "compiler/passes/pass.h"

#include <optional>
#include <string>

namespace tenon::compiler {

/// Of one function.
class IntegerCosts
{
public:
    IntegerCosts(const Module& module, const GraphFunction& function, const PassContext& context);

    /// Why a convolution or dense layer should stay in floats, which take clearly less with the
    /// conversions around them; nothing where integers are as cheap. `rounded` is the share of its
    /// results that become integers again.
    std::optional<std::string> whyFloats(const NodeRecord& layer, double rounded = 1) const;
    /// Whether a function of bytes that takes so many instructions for a vector of floats, and what
    /// converts them around it, takes fewer than looking its results up.
    bool isBelowTable(double perVector) const;
    /// Whether the target looks up vectors of bytes, which is cheaper than any arithmetic on them.
    bool looksUpVectors() const { return !m_savesMemory && m_hasByteTables; }

private:
    const Module& m_module;
    bool m_hasProducts; ///< of bytes, that layouts are made for
    bool m_savesMemory, m_hasByteTables;
    LayoutMachine m_machine;
};

} // namespace tenon::compiler
