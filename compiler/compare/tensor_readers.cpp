// SPDX-License-Identifier: Apache-2.0
// Follows uses to calls; what is no compared tensor, such as a branch of control flow, is another
// reader, and those of its results read the tensor, too.
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

class ReaderSearch
{
public:
    ReaderSearch(const Module& lowered, const std::vector<ValueRef>& tensors)
        : m_lowered(lowered)
        , m_uses(lowered, lowered.main())
    {
        for (size_t i = 0; i < tensors.size(); ++i) m_indexOf[tensors[i]] = i;
    }

    TensorReaders of(ValueRef tensor) const
    {
        TensorReaders out;
        add(tensor, out);
        return out;
    }

private:
    void add(ValueRef value, TensorReaders& out) const
    {
        out.isResult |= holds(m_lowered.main().results, value);
        for (const NodeId id : m_uses.users(value.node)) {
            const NodeRecord& user = m_lowered.node(id);
            const std::vector<ValueRef> read(user.operands.begin(), user.operands.end());
            if (!holds(read, value)) continue;
            if (user.kind == NodeKind::CallTir && user.kernel == kNopKernel)
                add({id, 0}, out); // the same tensor in another shape
            else
                addResults(user, out);
        }
    }

    void addResults(const NodeRecord& user, TensorReaders& out) const
    {
        for (uint32_t k = 0; k < user.types.size(); ++k) {
            const auto reader = m_indexOf.find({user.id, k});
            if (reader != m_indexOf.end()) {
                out.tensors.push_back(reader->second);
                continue;
            }
            out.hasOthers = true;
            add({user.id, k}, out); // as of parts that are written where they are joined
        }
    }

    const Module& m_lowered;
    UseIndex m_uses;
    std::unordered_map<ValueRef, size_t> m_indexOf;
};

} // namespace

std::vector<TensorReaders> readersOf(const Module& lowered, const std::vector<ValueRef>& tensors)
{
    ReaderSearch search(lowered, tensors);
    std::vector<TensorReaders> out;
    for (const ValueRef tensor : tensors) out.push_back(search.of(tensor));
    return out;
}

} // namespace tenon::compiler
