// SPDX-License-Identifier: Apache-2.0
// Checks a module version structurally.
#include "core/ir/graph_verify.h"

#include "core/base/text.h"
#include "core/ir/graph_text.h"
#include "core/ir/tir/stmt.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>

namespace tenon::core {
namespace {

class Verifier
{
public:
    Verifier(const Module& module, const VerifyOptions& options)
        : m_module(module)
        , m_options(options)
    {
    }

    std::vector<Diagnostic> run()
    {
        if (!m_module.mainId().isValid() || !m_module.functions().count(m_module.mainId())) {
            m_errors.push_back(makeError(DiagnosticCode::InvalidIr, "the module has no main"));
            return std::move(m_errors);
        }
        for (const auto& [id, function] : m_module.functions()) checkFunction(*function);
        if (m_errors.empty()) checkCalls();
        return std::move(m_errors);
    }

private:
    void fail(const std::string& message, const NodeRecord* node = nullptr)
    {
        Location location;
        if (m_function) location.graphPath = m_function->name;
        if (node) {
            location.node = node->name;
            location.op = node->op;
        }
        const std::string shown = node ? ": " + printNode(m_module, *node) : "";
        m_errors.push_back(makeError(DiagnosticCode::InvalidIr, message + shown, location));
    }

    void checkFunction(const GraphFunction& function)
    {
        m_function = &function;
        m_defined.clear();
        for (const NodeId id : function.params) {
            const NodeRecord* node = define(id);
            if (!node) continue;
            if (node->kind != NodeKind::Parameter)
                fail("a parameter is another kind of node", node);
            if (node->types.size() != 1) fail("a parameter needs one type", node);
        }
        for (const NodeId id : function.order) {
            const NodePtr& node = m_module.findNode(id);
            if (node) checkNode(function, *node);
            define(id);
        }
        for (const ValueRef& result : function.results)
            if (!isDefined(result)) fail("a result of the function is not defined in it");
        if (!function.resultNames.empty() && function.resultNames.size() != function.results.size())
            fail("the function names some of its results only");
        m_function = nullptr;
    }

    const NodeRecord* define(NodeId id)
    {
        const NodePtr& node = m_module.findNode(id);
        if (!node) {
            fail("node " + std::to_string(id.value) + " has no record");
            return nullptr;
        }
        if (node->id != id) fail("the record is stored under another id", node.get());
        m_defined.insert(id);
        if (!m_owner.emplace(id, m_function->id).second)
            fail("the node stands in two places", node.get());
        return node.get();
    }

    bool isDefined(ValueRef value) const
    {
        return m_defined.count(value.node) && value.index < m_module.node(value.node).resultCount();
    }

    void checkNode(const GraphFunction& function, const NodeRecord& node)
    {
        for (const ValueRef& operand : node.operands)
            if (operand.node.isValid() && !isDefined(operand))
                fail("operand " + std::to_string(operand.node.value) + "." +
                         std::to_string(operand.index) + " is not defined before its use in " +
                         quoted(function.name),
                     &node);
        if (m_options.types && node.types.empty()) fail("the node has no type", &node);
        if (!std::is_sorted(node.origin.begin(), node.origin.end()) ||
            std::adjacent_find(node.origin.begin(), node.origin.end()) != node.origin.end())
            fail("the origin is not sorted and unique", &node);
        if (!node.origin.empty() && node.origin.back().value >= m_module.sources().size())
            fail("the origin names a source that does not exist", &node);
        if (node.kind == NodeKind::Parameter) fail("a parameter stands between the nodes", &node);
        if (node.kind == NodeKind::Op && node.op.empty()) fail("the node has no operator", &node);
        if (node.kind == NodeKind::Constant) checkConstant(node);
    }

    void checkConstant(const NodeRecord& node)
    {
        if (!node.constant) return fail("a constant without a value", &node);
        const TensorType type{node.constant->dtype(), makeShape(node.constant->shape())};
        if (!node.types.empty() && (node.types.size() != 1 || !(node.types[0] == type)))
            fail("the value is a " + node.constant->typeText(), &node);
    }

    void checkCalls()
    {
        std::unordered_set<FunctionId> done;
        std::vector<FunctionId> path;
        visit(m_module.mainId(), path, done);
        if (!m_options.allReachable) return;
        for (const auto& [id, function] : m_module.functions())
            if (!done.count(id)) fail("function " + quoted(function->name) + " is never used");
    }

    void visit(FunctionId id, std::vector<FunctionId>& path, std::unordered_set<FunctionId>& done)
    {
        if (std::find(path.begin(), path.end(), id) != path.end())
            return fail("function " + quoted(m_module.function(id).name) + " calls itself");
        if (!done.insert(id).second) return;
        path.push_back(id);
        for (const NodeId nodeId : m_module.function(id).order) {
            const NodeRecord& node = m_module.node(nodeId);
            std::vector<FunctionId> callees = node.bodies;
            if (node.callee.isValid()) callees.push_back(node.callee);
            if (node.kind == NodeKind::Call && !node.callee.isValid())
                fail("a call without callee", &node);
            for (const FunctionId callee : callees) {
                if (m_module.functions().count(callee))
                    visit(callee, path, done);
                else
                    fail("function " + std::to_string(callee.value) + " does not exist", &node);
            }
            if (node.callee.isValid() && m_module.functions().count(node.callee))
                checkSignature(node, m_module.function(node.callee));
            if (node.kind == NodeKind::CallTir) checkKernel(node);
        }
        path.pop_back();
    }

    void checkSignature(const NodeRecord& node, const GraphFunction& callee)
    {
        if (node.operands.size() != callee.params.size())
            return fail(quoted(callee.name) + " takes " + std::to_string(callee.params.size()) +
                            " operands",
                        &node);
        for (size_t i = 0; i < callee.params.size(); ++i)
            checkSame("operand " + std::to_string(i), node, node.operands[i],
                      {callee.params[i], 0});
        if (node.types.empty()) return;
        if (node.types.size() != callee.results.size())
            return fail(quoted(callee.name) + " has " + std::to_string(callee.results.size()) +
                            " results",
                        &node);
        for (size_t i = 0; i < callee.results.size(); ++i)
            checkSame("result " + std::to_string(i), node, {node.id, static_cast<uint32_t>(i)},
                      callee.results[i]);
    }

    void checkSame(const std::string& what, const NodeRecord& node, ValueRef a, ValueRef b)
    {
        if (!a.node.isValid()) return fail(what + " of a call is absent", &node);
        const Types& mine = m_module.node(a.node).types;
        const Types& theirs = m_module.node(b.node).types;
        if (a.index >= mine.size() || b.index >= theirs.size()) return;
        if (!(mine[a.index] == theirs[b.index]))
            fail(what + " is a " + mine[a.index].text() + " but the function has a " +
                     theirs[b.index].text(),
                 &node);
    }

    void checkKernel(const NodeRecord& node)
    {
        if (node.kernel == kNopKernel) return;
        const auto found = m_module.kernels().find(node.kernel);
        if (found == m_module.kernels().end())
            return fail("kernel " + quoted(node.kernel) + " does not exist", &node);
        const tir::PrimFunc& kernel = *found->second;
        if (kernel.params.size() != node.operands.size() + node.resultCount() ||
            kernel.outputCount != node.resultCount())
            return fail("kernel " + quoted(node.kernel) + " has " +
                            std::to_string(kernel.params.size()) + " parameters, " +
                            std::to_string(kernel.outputCount) + " of them written",
                        &node);
        for (size_t i = 0; i < kernel.params.size(); ++i) {
            const size_t operands = node.operands.size();
            const ValueRef value = i < operands
                                       ? node.operands[i]
                                       : ValueRef{node.id, static_cast<uint32_t>(i - operands)};
            const Types& types = m_module.node(value.node).types;
            if (value.index < types.size() &&
                (types[value.index].dtype != kernel.params[i]->dtype ||
                 types[value.index].shape.size() != kernel.params[i]->shape.size()))
                fail("parameter " + std::to_string(i) + " of kernel " + quoted(node.kernel) +
                         " does not fit " + types[value.index].text(),
                     &node);
        }
    }

    const Module& m_module;
    const VerifyOptions& m_options;
    const GraphFunction* m_function = nullptr;
    std::unordered_set<NodeId> m_defined;
    std::unordered_map<NodeId, FunctionId> m_owner;
    std::vector<Diagnostic> m_errors;
};

} // namespace

std::vector<Diagnostic> verifyModule(const Module& module, const VerifyOptions& options)
{
    return Verifier(module, options).run();
}

} // namespace tenon::core
