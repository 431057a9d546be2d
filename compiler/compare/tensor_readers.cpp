// SPDX-License-Identifier: Apache-2.0
// Follows uses to calls; what is no compared tensor, such as a branch of control flow, is another
// reader.
#include "compiler/compare/tensor_readers.h"

#include "compiler/passes/use_index.h"

#include <algorithm>
#include <unordered_map>

namespace tenon::compiler {
namespace {

bool holds(const std::vector<ValueRef>& values, ValueRef value)
{
    return std::find(values.begin(), values.end(), value) != values.end();
}

} // namespace

std::vector<TensorReaders> readersOf(const Module& lowered, const std::vector<ValueRef>& tensors)
{
    std::unordered_map<ValueRef, size_t> indexOf;
    for (size_t i = 0; i < tensors.size(); ++i) indexOf[tensors[i]] = i;
    const UseIndex uses(lowered, lowered.main());
    std::vector<TensorReaders> out(tensors.size());
    for (size_t i = 0; i < tensors.size(); ++i) {
        out[i].isResult = holds(lowered.main().results, tensors[i]);
        for (const NodeId id : uses.users(tensors[i].node)) {
            const NodeRecord& user = lowered.node(id);
            const std::vector<ValueRef> read(user.operands.begin(), user.operands.end());
            if (!holds(read, tensors[i])) continue;
            for (uint32_t k = 0; k < user.types.size(); ++k) {
                const auto reader = indexOf.find({id, k});
                if (reader == indexOf.end())
                    out[i].hasOthers = true;
                else
                    out[i].tensors.push_back(reader->second);
            }
        }
    }
    return out;
}

} // namespace tenon::compiler
