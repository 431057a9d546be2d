// SPDX-License-Identifier: Apache-2.0
// Which values exist plain [N, C, H, W], blocked [N, C/b, H, W, b], or both, and the
// transformations between.
#include "compiler/passes/layout/layout_values.h"

#include "compiler/ops/ops.h"
#include "compiler/passes/layout/channel_block.h"

namespace tenon::compiler {

void LayoutValues::begin(PatchWriter& patch)
{
    m_patch = &patch;
    m_rule.clear();
    m_reason.clear();
    m_isTouched = false;
}

void LayoutValues::explain(std::string rule, std::string reason)
{
    m_isTouched = true;
    if (!m_rule.empty()) return;
    m_rule = std::move(rule);
    m_reason = std::move(reason);
}

int64_t LayoutValues::blockOf(ValueRef value) const
{
    const auto found = m_forms.find(value);
    return found != m_forms.end() && found->second.block > 1 ? found->second.block : 0;
}

bool LayoutValues::isOnlyBlocked(ValueRef value) const
{
    const auto found = m_forms.find(value);
    return found != m_forms.end() && !found->second.plain.node.isValid();
}

ValueRef LayoutValues::transform(ValueRef value, const std::string& from, const std::string& to)
{
    explain("insert-layout", from + " to " + to + " for one reader or more");
    return m_patch->op(layoutTransformOp, {value}, {{"src_layout", from}, {"dst_layout", to}});
}

ValueRef LayoutValues::plain(ValueRef value)
{
    const auto found = m_forms.find(value);
    if (found == m_forms.end()) return value;
    Forms& forms = found->second;
    if (!forms.plain.node.isValid())
        forms.plain = transform(forms.blocked, blockedLayout(forms.block), "NCHW");
    return forms.plain;
}

ValueRef LayoutValues::blocked(ValueRef value, int64_t block)
{
    Forms& forms = m_forms.try_emplace(value, Forms{value, {}, 0}).first->second;
    if (forms.block == block) return forms.blocked;
    if (forms.block != 0) return transform(plain(value), "NCHW", blockedLayout(block));
    forms.blocked = transform(forms.plain, "NCHW", blockedLayout(block));
    forms.block = block;
    return forms.blocked;
}

ValueRef LayoutValues::packedWeight(ValueRef weight, const std::string& from, const std::string& to)
{
    ValueRef& packed = m_weights[{weight, to}];
    if (!packed.node.isValid()) packed = transform(weight, from, to);
    return packed;
}

ValueRef LayoutValues::winogradWeight(ValueRef weight, const WinogradForm& form,
                                      const std::array<int64_t, 2>& strides,
                                      const std::string& layout)
{
    if (form.isTransformedInKernel) return packedWeight(weight, "OIHW", layout);
    const std::vector<int64_t> tile{form.tile.rows, form.tile.columns};
    const std::vector<int64_t> steps{strides[0], strides[1]};
    ValueRef& packed =
        m_weights[{weight, layout + ", " + tilesText(form.tile) + " at stride " +
                               std::to_string(steps[0]) + " x " + std::to_string(steps[1])}];
    if (packed.node.isValid()) return packed;
    Attrs attrs{{"tile_size", tile}, {"kernel_layout", layout}};
    if (strides[0] * strides[1] > 1) attrs.set("strides", steps);
    packed = m_patch->op(winogradWeightTransformOp, {weight}, std::move(attrs));
    return packed;
}

ValueRef LayoutValues::halvedWeight(ValueRef weight, const std::string& layout)
{
    ValueRef& packed = m_weights[{weight, layout + ", halves"}];
    if (!packed.node.isValid())
        packed = m_patch->op(strassenWeightTransformOp, {weight}, {{"kernel_layout", layout}});
    return packed;
}

ValueRef LayoutValues::reshaped(ValueRef value, std::vector<int64_t> shape)
{
    if (constantOf(m_module, value))
        return m_patch->reshapedConstant(value, std::move(shape), m_uses);
    return m_patch->op(reshapeOp, {value}, {{"newshape", std::move(shape)}});
}

void LayoutValues::produce(const NodeRecord& node, NodeRecord record, int64_t block)
{
    record.types = {blockedType(node.types[0], block)};
    const ValueRef value{node.id, 0};
    Forms forms{{}, value, block};
    if (m_uses.isResult(node.id)) {
        record.id = m_module.ids().nextNode();
        forms = {value, {record.id, 0}, block};
        NodeRecord back = node;
        back.op = layoutTransformOp.name;
        back.operands = {forms.blocked};
        back.attrs = {{"src_layout", blockedLayout(block)}, {"dst_layout", "NCHW"}};
        m_patch->change(std::move(record));
        m_patch->change(std::move(back));
    } else {
        m_patch->change(std::move(record));
    }
    m_isTouched = true;
    m_forms[value] = forms;
}

} // namespace tenon::compiler
