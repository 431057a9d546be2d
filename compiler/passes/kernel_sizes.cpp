// SPDX-License-Identifier: Apache-2.0
// Collects the symbols of a primitive function.
#include "compiler/passes/kernel_sizes.h"

#include <algorithm>

namespace tenon::compiler {

std::vector<std::string> kernelSizes(const Module& module, const GraphFunction& function)
{
    std::vector<std::string> sizes;
    for (const std::vector<NodeId>& nodes : {function.params, function.order})
        for (const NodeId id : nodes)
            for (const TensorType& type : module.node(id).types)
                for (const Dim& dim : type.shape)
                    for (std::string& symbol : dim.symbols())
                        if (std::find(sizes.begin(), sizes.end(), symbol) == sizes.end())
                            sizes.push_back(std::move(symbol));
    return sizes;
}

} // namespace tenon::compiler
