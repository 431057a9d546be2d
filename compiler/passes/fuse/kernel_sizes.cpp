// SPDX-License-Identifier: Apache-2.0
// Collects the symbols of a primitive function.
#include "compiler/passes/fuse/kernel_sizes.h"

#include <algorithm>

namespace tenon::compiler {

std::vector<std::string> kernelSizes(const Module& module, const GraphFunction& function)
{
    std::vector<std::string> sizes;
    const auto addAll = [&](const Dim& dim) {
        for (std::string& symbol : dim.symbols())
            if (std::find(sizes.begin(), sizes.end(), symbol) == sizes.end())
                sizes.push_back(std::move(symbol));
    };
    for (const std::vector<NodeId>& nodes : {function.params, function.order})
        for (const NodeId id : nodes) {
            const NodeRecord& node = module.node(id);
            for (const TensorType& type : node.types)
                for (const Dim& dim : type.shape) addAll(dim);
            for (const std::string& text : node.attrs.strings("sizes", {}))
                if (const auto dim = parseDim(text)) addAll(*dim);
        }
    return sizes;
}

} // namespace tenon::compiler
