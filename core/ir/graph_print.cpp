// SPDX-License-Identifier: Apache-2.0
// Prints graph functions and modules canonically.
#include "core/base/text.h"
#include "core/ir/graph_text.h"
#include "core/ir/tir/text.h"

#include <charconv>
#include <cmath>
#include <unordered_map>
#include <unordered_set>

namespace tenon::core {
namespace {

/// Constants up to this many elements are written as literals.
constexpr int64_t kLiteralElements = 8;

bool isPlainName(const std::string& name)
{
    if (name.empty() || (!std::isalpha(static_cast<unsigned char>(name[0])) && name[0] != '_'))
        return false;
    for (const char c : name)
        if (!std::isalnum(static_cast<unsigned char>(c)) && c != '_') return false;
    // "_" alone is an absent operand; "c0" would clash with the numbering of constants.
    return name != "_" && !(name[0] == 'c' && name.size() > 1 &&
                            name.find_first_not_of("0123456789", 1) == std::string::npos);
}

std::string floatText(double value)
{
    if (std::isnan(value)) return "nanf";
    if (std::isinf(value)) return value > 0 ? "inff" : "-inff";
    char buffer[64];
    const auto end = std::to_chars(buffer, buffer + sizeof buffer, static_cast<float>(value));
    return std::string(buffer, end.ptr) + "f";
}

std::string elementText(const Tensor& tensor, int64_t index)
{
    if (!tensor.dtype().isFloat()) return std::to_string(tensor.integer(index));
    const double value = tensor.number(index);
    return tensor.dtype() == kFloat64 ? attrText(value) : floatText(value);
}

std::string constantText(const NodeRecord& node, const GraphTextOptions& options)
{
    if (!node.constant) return "const(...)";
    const Tensor& tensor = *node.constant;
    if (tensor.size() > kLiteralElements)
        return options.hashes ? "const(#" + tensor.hash().hex() + ")" : "const(...)";
    if (tensor.size() == 1) return "const(" + elementText(tensor, 0) + ")";
    std::vector<std::string> parts;
    for (int64_t i = 0; i < tensor.size(); ++i) parts.push_back(elementText(tensor, i));
    return "const([" + join(parts, ", ") + "])";
}

std::string typesText(const Types& types)
{
    std::vector<std::string> parts;
    for (const TensorType& type : types) parts.push_back(type.text());
    return join(parts, ", ");
}

std::string quotedString(const std::string& text) { return attrText(AttrValue(text)); }

using ValueNames = std::unordered_map<NodeId, std::string>;

/// Letters, digits, '_' and '.' stand as they are; anything else is quoted.
std::string wordText(const std::string& word)
{
    bool isPlain = !word.empty() && !std::isdigit(static_cast<unsigned char>(word[0]));
    for (const char c : word)
        isPlain &= std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.';
    return isPlain ? word : quotedString(word);
}

std::string functionText(const Module& module, FunctionId id)
{
    const auto found = module.functions().find(id);
    if (found == module.functions().end()) return "@" + std::to_string(id.value);
    return "@" + wordText(found->second->name);
}

std::string valueText(const Module& module, const ValueNames& names, ValueRef value)
{
    if (!value.node.isValid()) return "_";
    const auto found = names.find(value.node);
    const std::string name =
        found != names.end() ? found->second : "%" + std::to_string(value.node.value);
    const NodePtr& node = module.findNode(value.node);
    const bool several = node && node->resultCount() > 1;
    return several || value.index > 0 ? name + "." + std::to_string(value.index) : name;
}

std::string calleeText(const Module& module, const NodeRecord& node)
{
    switch (node.kind) {
    case NodeKind::Op: return wordText(node.op);
    case NodeKind::Call: return functionText(module, node.callee);
    case NodeKind::CallTir: return "R.call_tir";
    case NodeKind::Parameter: return "param";
    case NodeKind::Constant: return "const";
    }
    return "";
}

std::string bodiesText(const Module& module, const NodeRecord& node)
{
    std::vector<std::string> parts;
    for (const FunctionId id : node.bodies) parts.push_back(functionText(module, id));
    return "bodies=[" + join(parts, ", ") + "]";
}

std::string nodeText(const Module& module, const ValueNames& names, const NodeRecord& node,
                     const GraphTextOptions& options)
{
    const auto named = names.find(node.id);
    std::string head = named != names.end() ? named->second : "%" + std::to_string(node.id.value);
    if (node.resultCount() > 1) head += ":" + std::to_string(node.resultCount());
    std::string text = head + " = ";
    if (node.kind == NodeKind::Constant) {
        text += constantText(node, options);
    } else {
        std::vector<std::string> parts;
        if (node.kind == NodeKind::CallTir) {
            parts.push_back(node.kernel);
            if (node.callee.isValid()) parts.push_back(functionText(module, node.callee));
        }
        for (const ValueRef& operand : node.operands)
            parts.push_back(valueText(module, names, operand));
        for (const auto& [name, value] : node.attrs.entries())
            parts.push_back(name + "=" + attrText(value));
        if (!node.bodies.empty()) parts.push_back(bodiesText(module, node));
        text += calleeText(module, node) + "(" + join(parts, ", ") + ")";
    }
    if (!node.types.empty()) text += " : " + typesText(node.types);
    return text;
}

std::string originText(const Module& module, const NodeRecord& node)
{
    std::vector<std::string> parts;
    for (const SourceId id : node.origin)
        if (id.value < module.sources().size()) parts.push_back(module.sources()[id.value].name);
    return parts.empty() ? "" : "  // from " + join(parts, ", ");
}

ValueNames nameValues(const Module& module, const GraphFunction& function)
{
    ValueNames names;
    std::unordered_set<std::string> taken;
    for (const NodeId id : function.params) {
        const std::string& hint = module.node(id).name;
        std::string name = hint.empty() ? "p" : hint;
        for (int n = 1; !taken.insert(name).second; ++n)
            name = (hint.empty() ? "p" : hint) + "_" + std::to_string(n);
        names[id] = "%" + (isPlainName(name) ? name : quotedString(name));
    }
    size_t constants = 0;
    size_t values = 0;
    for (const NodeId id : function.order) {
        const bool isConstant = module.node(id).kind == NodeKind::Constant;
        names[id] =
            isConstant ? "%c" + std::to_string(constants++) : "%" + std::to_string(values++);
    }
    return names;
}

std::string resultTypesText(const Module& module, const GraphFunction& function)
{
    Types types;
    for (const ValueRef& result : function.results) {
        const NodePtr& node = module.findNode(result.node);
        if (!node || result.index >= node->types.size()) return "";
        types.push_back(node->types[result.index]);
    }
    if (types.size() == 1) return " -> " + types[0].text();
    return " -> (" + typesText(types) + ")";
}

} // namespace

std::string printFunction(const Module& module, const GraphFunction& function,
                          const GraphTextOptions& options)
{
    const ValueNames names = nameValues(module, function);
    std::vector<std::string> params;
    for (const NodeId id : function.params)
        params.push_back(names.at(id) + ": " + typesText(module.node(id).types));
    std::string out = "def @" + wordText(function.name) + "(" + join(params, ", ") + ")" +
                      resultTypesText(module, function);
    if (!function.attrs.entries().empty()) {
        std::vector<std::string> parts;
        for (const auto& [name, value] : function.attrs.entries())
            parts.push_back(name + "=" + attrText(value));
        out += " [" + join(parts, ", ") + "]";
    }
    out += " {\n";
    for (const NodeId id : function.order) {
        const NodeRecord& node = module.node(id);
        out += "  " + nodeText(module, names, node, options);
        if (options.origins) out += originText(module, node);
        out += "\n";
    }
    std::vector<std::string> results;
    for (size_t i = 0; i < function.results.size(); ++i) {
        std::string text = valueText(module, names, function.results[i]);
        if (i < function.resultNames.size() && !function.resultNames[i].empty())
            text += " as " + quotedString(function.resultNames[i]);
        results.push_back(std::move(text));
    }
    out += results.empty() ? "  return\n" : "  return " + join(results, ", ") + "\n";
    return out + "}\n";
}

std::string printModule(const Module& module, const GraphTextOptions& options)
{
    std::string out;
    for (const auto& [id, function] : module.functions()) {
        if (!out.empty()) out += "\n";
        out += printFunction(module, *function, options);
    }
    if (!options.kernels) return out;
    for (const auto& [name, kernel] : module.kernels()) {
        const std::string text = tir::print(*kernel);
        out += "\nkernel " + name + " {\n" + text + (text.ends_with('\n') ? "" : "\n") + "}\n";
    }
    return out;
}

std::string printNode(const Module& module, const NodeRecord& node)
{
    GraphTextOptions options;
    options.hashes = false;
    return nodeText(module, {}, node, options);
}

ConstantPool constantPool(const Module& module)
{
    ConstantPool pool;
    for (const auto& [id, function] : module.functions()) {
        for (const NodeId nodeId : function->order) {
            const NodeRecord& node = module.node(nodeId);
            if (node.kind == NodeKind::Constant && node.constant &&
                node.constant->size() > kLiteralElements)
                pool.emplace(node.constant->hash().hex(), node.constant);
        }
    }
    return pool;
}

} // namespace tenon::core
