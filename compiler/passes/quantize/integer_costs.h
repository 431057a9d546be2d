// SPDX-License-Identifier: Apache-2.0
// What a layer between dequantization and quantization costs on the target, in integers and in
// floats.
#pragma once

#include "compiler/passes/layout/winograd_choice.h"
#include "compiler/passes/pass.h"

namespace tenon::compiler {

/// Of one function.
class IntegerCosts
{
public:
    IntegerCosts(const Module& module, const GraphFunction& function, const PassContext& context);

    /// True for a convolution or dense layer that takes clearly longer in integers than in floats
    /// with the conversions around it.
    bool isDearer(const NodeRecord& layer) const;

private:
    const Module& m_module;
    bool m_hasProducts; ///< of bytes, that layouts are made for
    bool m_savesMemory;
    LayoutMachine m_machine;
};

} // namespace tenon::compiler
