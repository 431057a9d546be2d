// SPDX-License-Identifier: GPL-3.0-or-later
// Titles, details and families of nodes.
#include "views/models/node_text.h"

#include "core/ir/kernel_title.h"
#include "core/ir/source_place.h"
#include "core/ir/user_operator.h"
#include "views/models/format.h"

#include <QStringList>

#include <array>
#include <string_view>

namespace tenon::views {

namespace {

struct FamilyWord
{
    std::string_view word;
    OpFamily family;
};

/// For names that no table has. First match wins: a name is looked through for these words.
constexpr std::array kWords = {FamilyWord{"conv", OpFamily::Convolution},
                               FamilyWord{"dense", OpFamily::Dense},
                               FamilyWord{"matmul", OpFamily::Dense},
                               FamilyWord{"gemm", OpFamily::Dense},
                               FamilyWord{"batch_norm", OpFamily::Normalization},
                               FamilyWord{"layer_norm", OpFamily::Normalization},
                               FamilyWord{"instance_norm", OpFamily::Normalization},
                               FamilyWord{"group_norm", OpFamily::Normalization},
                               FamilyWord{"lrn", OpFamily::Normalization},
                               FamilyWord{"l2_normalize", OpFamily::Normalization},
                               FamilyWord{"softmax", OpFamily::Normalization},
                               FamilyWord{"pool", OpFamily::Pooling},
                               FamilyWord{"arg", OpFamily::Pooling},
                               FamilyWord{"reduce", OpFamily::Pooling},
                               FamilyWord{"layout_transform", OpFamily::Movement},
                               FamilyWord{"reshape", OpFamily::Movement},
                               FamilyWord{"transpose", OpFamily::Movement},
                               FamilyWord{"concat", OpFamily::Movement},
                               FamilyWord{"strided_slice", OpFamily::Movement},
                               FamilyWord{"slice", OpFamily::Movement},
                               FamilyWord{"split", OpFamily::Movement},
                               FamilyWord{"squeeze", OpFamily::Movement},
                               FamilyWord{"flatten", OpFamily::Movement},
                               FamilyWord{"expand_dims", OpFamily::Movement},
                               FamilyWord{"broadcast_to", OpFamily::Movement},
                               FamilyWord{"pad", OpFamily::Movement},
                               FamilyWord{"take", OpFamily::Movement},
                               FamilyWord{"gather", OpFamily::Movement},
                               FamilyWord{"resize", OpFamily::Movement},
                               FamilyWord{"tile", OpFamily::Movement},
                               FamilyWord{"shape_of", OpFamily::Movement},
                               FamilyWord{"copy", OpFamily::Movement}};

constexpr std::array<std::string_view, 6> kReductions = {"sum", "mean", "max",
                                                         "min", "prod", "all"};

OpFamilies& knownFamilies()
{
    static OpFamilies families;
    return families;
}

const core::TensorType* operandType(const core::Module& module, const core::NodeRecord& node,
                                    size_t index)
{
    if (index >= node.operands.size() || !node.operands[index].node.isValid()) return nullptr;
    const core::NodePtr& source = module.findNode(node.operands[index].node);
    if (!source || source->types.size() <= node.operands[index].index) return nullptr;
    return &source->types[node.operands[index].index];
}

QString integersText(const core::Attrs& attrs, const char* name, const QString& separator)
{
    const core::AttrValue* value = attrs.find(name);
    const auto* list = value ? std::get_if<std::vector<int64_t>>(value) : nullptr;
    if (!list) return {};
    QStringList parts;
    for (const int64_t number : *list) parts << QString::number(number);
    return parts.join(separator);
}

bool isAllOnes(const QString& text)
{
    for (const QChar c : text)
        if (c.isDigit() && c != QLatin1Char('1')) return false;
    return true;
}

/// Channel counts by the layouts' convention: weights are O, I, ... for dense and convolution.
QString convolutionDetail(const core::Module& module, const core::NodeRecord& node)
{
    QStringList parts;
    const core::TensorType* data = operandType(module, node, 0);
    const bool isNchw = data && data->shape.size() >= 4;
    if (isNchw && !node.types.empty() && node.types[0].shape.size() == data->shape.size()) {
        const auto channels = [&](const core::TensorType& type) {
            const core::Dim blocked =
                type.shape.size() == 5 ? type.shape[1] * type.shape[4] : type.shape[1];
            return QString::fromStdString(blocked.text());
        };
        parts << channels(*data) + QStringLiteral(" → ") + channels(node.types[0]) +
                     QStringLiteral(" ch");
    }
    QString kernel = integersText(node.attrs, "kernel_size", QStringLiteral("×"));
    if (node.attrs.has("tile_size")) { // its weights are transformed ones
        kernel = QStringLiteral("%1, Winograd F(%2)")
                     .arg(kernel.isEmpty() ? QStringLiteral("3×3") : kernel,
                          integersText(node.attrs, "tile_size", QStringLiteral("×")));
    } else if (kernel.isEmpty()) {
        const core::TensorType* weight = operandType(module, node, 1);
        if (weight && weight->shape.size() >= 4)
            kernel = QString::fromStdString(weight->shape[2].text()) + QStringLiteral("×") +
                     QString::fromStdString(weight->shape[3].text());
    }
    if (!kernel.isEmpty()) parts << kernel;
    const QString strides = integersText(node.attrs, "strides", QStringLiteral("×"));
    if (!strides.isEmpty() && !isAllOnes(strides))
        parts << QStringLiteral("s") + strides.section(QStringLiteral("×"), 0, 0);
    const core::AttrValue* groups = node.attrs.find("groups");
    if (groups && std::holds_alternative<int64_t>(*groups) && std::get<int64_t>(*groups) > 1)
        parts << QStringLiteral("groups ") + QString::number(std::get<int64_t>(*groups));
    return parts.join(QStringLiteral(", "));
}

QString poolDetail(const core::NodeRecord& node)
{
    QStringList parts;
    for (const char* name : {"pool_size", "kernel_size"}) {
        const QString text = integersText(node.attrs, name, QStringLiteral("×"));
        if (!text.isEmpty()) parts << text;
    }
    const QString strides = integersText(node.attrs, "strides", QStringLiteral("×"));
    if (!strides.isEmpty() && !isAllOnes(strides))
        parts << QStringLiteral("s") + strides.section(QStringLiteral("×"), 0, 0);
    return parts.join(QStringLiteral(", "));
}

/// Attributes as "axis 1, keepdims 0"; long lists are left to the inspector.
QString attrsDetail(const core::NodeRecord& node)
{
    QStringList parts;
    for (const auto& [name, value] : node.attrs.entries()) {
        const QString text = QString::fromStdString(core::attrText(value));
        if (text.size() <= 18 && name != core::kOperatorAttr)
            parts << QString::fromStdString(name) + QLatin1Char(' ') + text;
    }
    return parts.mid(0, 3).join(QStringLiteral(", "));
}

QString clipDetail(const core::NodeRecord& node)
{
    const auto bound = [&](const char* a, const char* b) {
        const double value = node.attrs.has(a) ? node.attrs.number(a, 0) : node.attrs.number(b, 0);
        return QString::number(value, 'g', 4);
    };
    return bound("a_min", "min") + QStringLiteral(" … ") + bound("a_max", "max");
}

/// The member of a fused call that does the work: its first convolution or dense, else the first.
const core::NodeRecord* anchorOf(const core::Module& module, const core::NodeRecord& call)
{
    const auto function = module.functions().find(call.callee);
    if (function == module.functions().end()) return nullptr;
    const core::NodeRecord* first = nullptr;
    for (const core::NodeId id : function->second->order) {
        const core::NodeRecord& member = module.node(id);
        if (member.kind != core::NodeKind::Op) continue;
        const OpFamily family = familyOfOp(member.op);
        if (family == OpFamily::Convolution || family == OpFamily::Dense) return &member;
        if (!first) first = &member;
    }
    return first;
}

/// "features.0-1 · 3 → 32 ch, 3×3" of a fused call or kernel.
QString callDetail(const core::Module& module, const core::NodeRecord& call)
{
    QStringList parts{QString::fromStdString(core::sourcePlace(module.sources(), call.origin))};
    if (const core::NodeRecord* anchor = anchorOf(module, call)) parts << detailOf(module, *anchor);
    parts.removeAll(QString());
    return parts.join(QStringLiteral(" · "));
}

} // namespace

void setOpFamilies(OpFamilies families) { knownFamilies() = std::move(families); }

OpFamily familyOfOp(const std::string& op)
{
    const auto known = knownFamilies().find(op);
    if (known != knownFamilies().end()) return known->second;
    for (const FamilyWord& entry : kWords)
        if (op.find(entry.word) != std::string::npos) return entry.family;
    for (const std::string_view name : kReductions)
        if (op == name) return OpFamily::Pooling;
    return OpFamily::Elementwise;
}

OpFamily familyOf(const core::Module& module, const core::NodeRecord& node)
{
    switch (node.kind) {
    case core::NodeKind::Parameter:
    case core::NodeKind::Constant: return OpFamily::Boundary;
    case core::NodeKind::Op: return familyOfOp(node.op);
    case core::NodeKind::CallTir: // keeps the function that it was lowered from
    case core::NodeKind::Call: break;
    }
    const core::NodeRecord* anchor = anchorOf(module, node);
    return anchor ? familyOfOp(anchor->op) : familyOfOp(node.kernel);
}

QString familyText(OpFamily family)
{
    constexpr std::array<const char*, kOpFamilyCount> kTexts = {
        "convolution",      "dense",        "elementwise", "normalization", "pooling, reduction",
        "layout, movement", "input, output"};
    return QLatin1String(kTexts[static_cast<size_t>(family)]);
}

QString titleOf(const core::Module& module, const core::NodeRecord& node)
{
    switch (node.kind) {
    case core::NodeKind::Op: return QString::fromStdString(core::shownOperator(node));
    case core::NodeKind::CallTir:
    case core::NodeKind::Call:
        if (const std::string work = core::kernelTitle(module, node).work; !work.empty())
            return QString::fromStdString(work);
        break;
    case core::NodeKind::Parameter:
    case core::NodeKind::Constant: break;
    }
    return node.name.empty() ? QStringLiteral("%%1").arg(node.id.value)
                             : QString::fromStdString(node.name);
}

QString detailOf(const core::Module& module, const core::NodeRecord& node)
{
    if (node.kind == core::NodeKind::Parameter)
        return node.types.empty() ? QStringLiteral("input") : typeText(node.types[0]);
    if (node.kind == core::NodeKind::Call || node.kind == core::NodeKind::CallTir)
        return callDetail(module, node);
    const OpFamily family = familyOfOp(node.op);
    QString detail;
    if (family == OpFamily::Convolution)
        detail = convolutionDetail(module, node);
    else if (node.op.find("pool") != std::string::npos)
        detail = poolDetail(node);
    else if (node.op == "clip")
        detail = clipDetail(node);
    else if (family == OpFamily::Dense) {
        const core::TensorType* data = operandType(module, node, 0);
        if (data && !data->shape.empty() && !node.types.empty() && !node.types[0].shape.empty())
            detail = QString::fromStdString(data->shape.back().text()) + QStringLiteral(" → ") +
                     QString::fromStdString(node.types[0].shape.back().text());
    }
    if (detail.isEmpty()) detail = attrsDetail(node);
    return detail.isEmpty() ? QString::fromStdString(node.name) : detail;
}

QString changeText(const core::Module& before, const core::NodeRecord& was,
                   const core::NodeRecord& is, const QString& otherwise)
{
    const QString arrow = QStringLiteral(" → ");
    if (was.kind == is.kind && was.op != is.op)
        return QStringLiteral("was ") + titleOf(before, was);
    for (const auto& [name, value] : is.attrs.entries()) {
        const core::AttrValue* old = was.attrs.find(name);
        if (old && *old == value) continue;
        const QString now = QString::fromStdString(core::attrText(value));
        return QString::fromStdString(name) + QLatin1Char(' ') +
               (old ? QString::fromStdString(core::attrText(*old)) + arrow : QStringLiteral("= ")) +
               now;
    }
    if (!was.types.empty() && !is.types.empty() && !(was.types[0] == is.types[0]))
        return shapeLabel(was.types[0]) + arrow + shapeLabel(is.types[0]);
    return otherwise;
}

QString valueText(const core::Module& module, core::ValueRef value)
{
    if (!value.node.isValid()) return QStringLiteral("absent");
    const core::NodePtr& node = module.findNode(value.node);
    if (!node) return QStringLiteral("gone");
    // Of a kernel call the name is its symbol.
    const bool isCall = node->kind == core::NodeKind::Call || node->kind == core::NodeKind::CallTir;
    QString text =
        node->name.empty() || isCall ? titleOf(module, *node) : QString::fromStdString(node->name);
    if (node->resultCount() > 1) text += QLatin1Char('.') + QString::number(value.index);
    return text;
}

QString spokenText(const core::Module& module, const core::NodeRecord& node)
{
    QStringList parts{titleOf(module, node)};
    const QString detail = detailOf(module, node);
    if (!detail.isEmpty()) parts << detail;
    for (const core::ValueRef operand : node.operands) {
        if (!operand.node.isValid()) continue;
        const core::NodePtr& source = module.findNode(operand.node);
        if (source && source->kind != core::NodeKind::Constant) {
            parts << QStringLiteral("input from ") + valueText(module, operand);
            break;
        }
    }
    return parts.join(QStringLiteral(", "));
}

} // namespace tenon::views
