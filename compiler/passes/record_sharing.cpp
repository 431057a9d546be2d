// SPDX-License-Identifier: Apache-2.0
// Finds equal types and attributes by their text.
#include "compiler/passes/record_sharing.h"

namespace tenon::compiler {
namespace {

std::string keyOf(const SharedTypes& types)
{
    std::string key;
    for (const TensorType& type : types) key += type.text();
    return key;
}

std::string keyOf(const Attrs& attrs)
{
    std::string key;
    for (const auto& [name, value] : attrs.entries()) key += name + "=" + attrText(value) + ",";
    return key;
}

} // namespace

void RecordSharing::adopt(const Module& module)
{
    for (const auto& [id, function] : module.functions()) {
        for (const std::vector<NodeId>* list : {&function->params, &function->order}) {
            for (const NodeId nodeId : *list) {
                const NodeRecord& node = module.node(nodeId);
                if (!node.types.empty() && m_known.insert(node.types.begin()).second)
                    m_types.emplace(keyOf(node.types), node.types);
                if (!node.attrs.entries().empty() &&
                    m_known.insert(node.attrs.entries().data()).second)
                    m_attrs.emplace(keyOf(node.attrs), node.attrs);
            }
        }
    }
}

bool RecordSharing::shareTypes(NodeRecord& record, const NodeRecord& old)
{
    if (old.types.empty() || m_known.count(old.types.begin())) return false;
    const auto [found, isNew] = m_types.emplace(keyOf(old.types), old.types);
    if (isNew) m_known.insert(old.types.begin());
    if (!isNew) record.types = found->second;
    return !isNew;
}

bool RecordSharing::shareAttrs(NodeRecord& record, const NodeRecord& old)
{
    if (old.attrs.entries().empty() || m_known.count(old.attrs.entries().data())) return false;
    const auto [found, isNew] = m_attrs.emplace(keyOf(old.attrs), old.attrs);
    if (isNew) m_known.insert(old.attrs.entries().data());
    if (!isNew) record.attrs = found->second;
    return !isNew;
}

void RecordSharing::share(Module& module)
{
    for (const auto& [id, function] : module.functions()) {
        for (const std::vector<NodeId>* list : {&function->params, &function->order}) {
            for (const NodeId nodeId : *list) {
                const NodeRecord& old = module.node(nodeId);
                const bool isKnown =
                    (old.types.empty() || m_known.count(old.types.begin())) &&
                    (old.attrs.entries().empty() || m_known.count(old.attrs.entries().data()));
                if (isKnown) continue;
                NodeRecord record = old;
                const bool isTyped = shareTypes(record, old);
                const bool isAttributed = shareAttrs(record, old);
                if (isTyped || isAttributed) module.setNode(std::move(record));
            }
        }
    }
}

} // namespace tenon::compiler
