// SPDX-License-Identifier: Apache-2.0
// FoldConstant: computes what depends on constants only. Connected expressions are computed in one
// go, so only the values that others read become constants. Stands after every pass that writes
// arithmetic on weights.
#include "compiler/evaluate/evaluate_graph.h"
#include "compiler/ops/op.h"
#include "compiler/passes/constant_growth.h"
#include "compiler/passes/control.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"
#include "core/base/text.h"

#include <map>
#include <numeric>
#include <unordered_map>
#include <unordered_set>

namespace tenon::compiler {
namespace {

/// Groups of nodes whose results take this much are worth all threads.
constexpr int64_t kLargeBytes = int64_t{2} << 20;

bool staysSmall(const Module& module, const NodeRecord& node)
{
    int64_t in = 0;
    int64_t out = 0;
    for (const ValueRef& operand : node.operands)
        if (operand.node.isValid()) in += module.type(operand).bytes();
    for (const TensorType& type : node.types) {
        if (!constantShape(type.shape)) return false;
        out += type.bytes();
    }
    return growsLittle(out, in);
}

/// Foldable nodes of one function, grouped by the values they pass to each other.
class Folding
{
public:
    /// `bytesLeft`: of results, for all functions together.
    Folding(const Module& module, const GraphFunction& function, const PassContext& context,
            int64_t& bytesLeft)
        : m_module(module)
        , m_function(function)
        , m_context(context)
        , m_uses(module, function)
        , m_bytesLeft(bytesLeft)
    {
    }

    Result<Patches> run()
    {
        for (const NodeId id : m_function.order)
            if (isFoldable(m_module.node(id)) && takeBytes(m_module.node(id))) join(id);
        std::map<size_t, Group> groups;
        for (const NodeId id : m_nodes) groups[root(m_index.at(id))].nodes.push_back(id);
        if (const Status done = computeAll(groups); !done) return done.error();
        Patches patches;
        for (const auto& [first, group] : groups)
            if (!group.nodes.empty()) patches.push_back(patchOf(group));
        return patches;
    }

private:
    /// Nodes in order, what others read of their values, and what was in the way of that.
    struct Group
    {
        std::vector<NodeId> nodes;
        std::map<ValueRef, Tensor> values;
        Status done = kDone;
    };

    bool isFoldable(const NodeRecord& node) const
    {
        if (node.kind != NodeKind::Op || isControl(node)) return false;
        const OpDef* op = findOp(node.op);
        if (!op || op->accuracy == Accuracy::Random || node.types.empty()) return false;
        for (const TensorType& type : node.types)
            if (!constantShape(type.shape)) return false;
        bool any = false;
        for (const ValueRef& operand : node.operands) {
            if (!operand.node.isValid()) continue;
            any = true;
            if (!constantOf(m_module, operand) && !m_index.count(operand.node)) return false;
        }
        return any && staysSmall(m_module, node);
    }

    /// Results of all nodes lie in memory at once; what no longer fits is computed in every run.
    bool takeBytes(const NodeRecord& node)
    {
        int64_t bytes = 0;
        for (const TensorType& type : node.types) bytes += type.bytes();
        if (bytes > m_bytesLeft) return false;
        m_bytesLeft -= bytes;
        return true;
    }

    void join(NodeId id)
    {
        m_index[id] = m_nodes.size();
        m_nodes.push_back(id);
        m_parent.push_back(m_parent.size());
        for (const ValueRef& operand : m_module.node(id).operands) {
            const auto found = m_index.find(operand.node);
            if (found != m_index.end()) m_parent[root(found->second)] = root(m_parent.size() - 1);
        }
    }

    size_t root(size_t i)
    {
        while (m_parent[i] != i) i = m_parent[i] = m_parent[m_parent[i]];
        return i;
    }

    bool isNeededOutside(NodeId id) const
    {
        if (m_uses.isResult(id)) return true;
        for (const NodeId user : m_uses.users(id))
            if (!m_index.count(user)) return true;
        return false;
    }

    int64_t bytesOf(const Group& group) const
    {
        int64_t bytes = 0;
        for (const NodeId id : group.nodes)
            for (const TensorType& type : m_module.node(id).types) bytes += type.bytes();
        return bytes;
    }

    /// Large groups take all threads, one after the other; of the others each takes one.
    Status computeAll(std::map<size_t, Group>& groups) const
    {
        std::vector<Group*> small;
        for (auto& [first, group] : groups) {
            if (bytesOf(group) < kLargeBytes) {
                small.push_back(&group);
                continue;
            }
            if (const Status go = m_context.job->checkStop(); !go) return go;
            group.done = compute(group, *m_context.job);
        }
        const JobContext alone(1);
        const Status done = m_context.job->parallelFor(small.size(), [&](size_t i) {
            small[i]->done = compute(*small[i], alone);
            return Status(kDone);
        });
        if (!done) return done;
        for (const auto& [first, group] : groups) // the first in the graph, whoever was first
            if (!group.done) return group.done;
        return kDone;
    }

    Status compute(Group& group, const JobContext& job) const
    {
        for (const NodeId id : group.nodes) {
            const NodeRecord& node = m_module.node(id);
            std::vector<Tensor> inputs;
            for (const ValueRef& operand : node.operands) {
                const Tensor* constant = constantOf(m_module, operand);
                inputs.push_back(!operand.node.isValid() ? Tensor()
                                 : constant              ? *constant
                                                         : group.values.at(operand));
            }
            if (dividesByZero(node, inputs)) {
                // The run says so, if it comes there.
                group.nodes.clear();
                return kDone;
            }
            Result<std::vector<Tensor>> results = evaluateNode(m_module, node, inputs, job);
            if (!results) return results.error();
            for (size_t i = 0; i < results->size(); ++i)
                group.values[{id, static_cast<uint32_t>(i)}] = std::move((*results)[i]);
        }
        std::erase_if(group.values,
                      [&](const auto& value) { return !isNeededOutside(value.first.node); });
        return kDone;
    }

    Patch patchOf(const Group& group) const
    {
        std::vector<std::string> ops;
        int64_t bytes = 0;
        for (const NodeId id : group.nodes) {
            const NodeRecord& node = m_module.node(id);
            if (ops.size() < 4 && (ops.empty() || ops.back() != node.op)) ops.push_back(node.op);
            if (!isNeededOutside(id)) continue;
            const Tensor& value = group.values.at({id, 0});
            bytes += value.dtype().bytes() * value.size();
        }
        const std::vector<NodeId> operands = privateConstants(group.nodes);
        std::vector<NodeId> from = operands;
        from.insert(from.end(), group.nodes.begin(), group.nodes.end());
        PatchWriter patch(
            m_module, m_function.id, "fold-constant",
            join(ops) + " of constants gives " + bytesText(static_cast<uint64_t>(bytes)), from);
        const std::string name = nameFor(group.nodes);
        for (const NodeId id : group.nodes)
            if (isNeededOutside(id)) keep(patch, m_module.node(id), group.values, name);
        for (auto id = group.nodes.rbegin(); id != group.nodes.rend(); ++id)
            if (!isNeededOutside(*id) || m_module.node(*id).resultCount() != 1) patch.erase(*id);
        for (const NodeId id : operands) patch.erase(id);
        return patch.take();
    }

    /// A node of one result becomes the constant itself, so that its readers stay as they are.
    static void keep(PatchWriter& patch, const NodeRecord& node,
                     const std::map<ValueRef, Tensor>& values, const std::string& name)
    {
        if (node.resultCount() != 1) {
            for (uint32_t i = 0; i < node.resultCount(); ++i)
                patch.replace({node.id, i}, patch.constant(values.at({node.id, i}), name));
            return;
        }
        NodeRecord constant;
        constant.id = node.id;
        constant.kind = NodeKind::Constant;
        constant.types = node.types;
        constant.constant = std::make_shared<const Tensor>(values.at({node.id, 0}));
        constant.origin = node.origin;
        constant.name = name;
        patch.change(std::move(constant));
    }

    static std::string join(const std::vector<std::string>& ops)
    {
        return core::join(ops, ", ") + (ops.size() == 4 ? ", ..." : "");
    }

    /// A weight keeps its name through every rewrite.
    std::string nameFor(const std::vector<NodeId>& group) const
    {
        for (const NodeId id : group)
            for (const ValueRef& operand : m_module.node(id).operands)
                if (constantOf(m_module, operand) && !m_module.node(operand.node).name.empty())
                    return m_module.node(operand.node).name;
        return {};
    }

    /// Constants that nobody reads any more once the group is gone.
    std::vector<NodeId> privateConstants(const std::vector<NodeId>& group) const
    {
        std::vector<NodeId> out;
        const std::unordered_set<NodeId> members(group.begin(), group.end());
        std::unordered_set<NodeId> seen;
        for (const NodeId id : group) {
            for (const ValueRef& operand : m_module.node(id).operands) {
                if (!constantOf(m_module, operand) || !seen.insert(operand.node).second) continue;
                bool isPrivate = !m_uses.isResult(operand.node);
                for (const NodeId user : m_uses.users(operand.node))
                    isPrivate &= members.count(user) > 0;
                if (isPrivate) out.push_back(operand.node);
            }
        }
        return out;
    }

    const Module& m_module;
    const GraphFunction& m_function;
    const PassContext& m_context;
    UseIndex m_uses;
    int64_t& m_bytesLeft;
    std::vector<NodeId> m_nodes;
    std::unordered_map<NodeId, size_t> m_index;
    std::vector<size_t> m_parent;
};

} // namespace

Result<Patches> runFoldConstant(const Module& module, const PassContext& context)
{
    Patches patches;
    int64_t bytesLeft = foldedBytesAllowed(constantBytes(module));
    for (const GraphFunction* function : openFunctions(module)) {
        Result<Patches> mine = Folding(module, *function, context, bytesLeft).run();
        if (!mine) return mine.error();
        for (Patch& patch : *mine) patches.push_back(std::move(patch));
    }
    return patches;
}

} // namespace tenon::compiler
