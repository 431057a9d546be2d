// SPDX-License-Identifier: Apache-2.0
// AlterOpLayout: [N, C, H, W] becomes [N, C/b, H, W, b], with b as LayoutPlan chose for the whole
// function. A transformation stands only where a plain value meets a blocked reader or the other
// way round, and is shared. All patches belong together: a reader relies on the layout its producer
// got.
#include "compiler/ops/ops.h"
#include "compiler/passes/error/error_budget.h"
#include "compiler/passes/layout/broadcast_operand.h"
#include "compiler/passes/layout/channel_block.h"
#include "compiler/passes/layout/channel_classes.h"
#include "compiler/passes/layout/float_convolution_layout.h"
#include "compiler/passes/layout/layout_machine.h"
#include "compiler/passes/layout/layout_plan.h"
#include "compiler/passes/layout/layout_values.h"
#include "compiler/passes/layout/quantized_layout.h"
#include "compiler/passes/layout/recurrent_weights.h"
#include "compiler/passes/passes.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/rewrite_functions.h"
#include "compiler/passes/slice_ranges.h"
#include "compiler/passes/use_index.h"

#include <algorithm>

namespace tenon::compiler {
namespace {

/// Bytes that are multiplied at once.
constexpr int64_t kWordBytes = 4;

class LayoutRewriter
{
public:
    LayoutRewriter(const Module& module, const GraphFunction& function, const PassContext& context)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
        , m_lanes(blockLanes(context.facts))
        , m_hasRuns(multipliesRuns(context))
        , m_mayTransform(context.number("winograd.max_error", kWinogradMaxError) > 0)
        , m_dotValues(context.code.byteProducts)
        , m_machine(layoutMachine(module, function, context))
        , m_budget(module, function, m_machine,
                   context.number("winograd.output_error", kOutputError))
        , m_plan(module, function, m_machine, m_budget)
        , m_values(module, m_uses)
    {
    }

    Patches run()
    {
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            if (node.kind == NodeKind::Constant) continue;
            PatchWriter patch(m_module, m_function.id, "", "", {id});
            m_patch = &patch;
            m_values.begin(patch);
            if (!alter(node)) readPlain(node);
            if (!m_values.isTouched()) continue;
            Patch done = patch.take();
            done.rule = m_values.rule();
            done.reason = m_values.reason();
            m_patches.push_back(std::move(done));
        }
        return std::move(m_patches);
    }

private:
    bool alter(const NodeRecord& node)
    {
        if (node.kind != NodeKind::Op) return false;
        if (isOp(node, conv2dOp))
            return alterFloatConvolution(
                {m_module, node, m_values, m_machine, m_budget, m_plan, m_uses});
        if (isOp(node, denseOp)) return alterDense(node);
        if (m_dotValues &&
            alterQuantizedLayer({m_module, node, m_values, *m_patch, m_machine.byteLanes,
                                 *m_dotValues, std::max(1, m_lanes), m_hasRuns, m_mayTransform,
                                 m_machine.facts}))
            return true;
        if (isOp(node, concatenateOp)) return alterConcatenation(node);
        if (isOneOf(node, cutPatchesOp, joinPatchesOp, joinPhasesOp, joinFramesOp, stackFramesOp,
                    stackPhasesOp, unstackPhasesOp))
            return alterImages(node);
        if (isOp(node, reshapeOp)) return alterReshape(node);
        if (factsOf(node).isRecurrent)
            return packRecurrentWeight(m_module, node, m_values, *m_patch, m_machine.facts);
        if (node.operands.empty() || node.types.size() != 1) return false;
        switch (factsOf(node).blockedForm) {
        case BlockedForm::ByLayout: return alterByLayout(node);
        case BlockedForm::ByAxes: return alterSpatial(node);
        case BlockedForm::ByReduction:
            if (reducesRowsOrColumns(node, m_module.type(node.operands[0]).shape.size()))
                return alterReduction(node);
            break;
        case BlockedForm::None: break;
        }
        return alterElementwise(node);
    }

    /// Operators without a blocked form read plain values.
    void readPlain(const NodeRecord& node)
    {
        NodeRecord record = node;
        for (ValueRef& operand : record.operands) operand = m_values.plain(operand);
        if (record.operands == node.operands) return;
        m_values.explain("read-plain-layout", nodeLabel(m_module, node) + " has no blocked form");
        m_patch->change(std::move(record));
    }

    /// A dense layer whose float weight is known, and that weight.
    struct WeightedLayer
    {
        const Tensor* weight;
        DenseLayer layer;
    };

    std::optional<WeightedLayer> weightedLayer(const NodeRecord& node) const
    {
        const Tensor* weight = constantOf(m_module, node.operands[1]);
        if (!weight || weight->dtype() != kFloat32 || weight->shape().size() != 2)
            return std::nullopt;
        return WeightedLayer{weight, denseLayer(m_module.type(node.operands[0]).shape, *weight)};
    }

    void noteDenseLayers()
    {
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            const auto found = isOp(node, denseOp) ? weightedLayer(node) : std::nullopt;
            if (found) m_denseLayers.push_back(*found);
        }
    }

    /// Of those that share a weight, which is packed once for all of them: two would leave a cache
    /// that holds one. Each may have a constant of its own, by what came before.
    DenseLayer layerOfMostRows(WeightedLayer most)
    {
        if (m_denseLayers.empty()) noteDenseLayers();
        for (const WeightedLayer& other : m_denseLayers)
            if (other.layer.rows > most.layer.rows &&
                other.weight->shape() == most.weight->shape() &&
                std::ranges::equal(other.weight->bytes(), most.weight->bytes()))
                most = other;
        return most.layer;
    }

    bool alterDense(const NodeRecord& node)
    {
        const auto own = weightedLayer(node);
        if (!own) return false;
        const DenseLayer& layer = own->layer;
        int64_t block = denseBlock(layer, m_lanes, m_machine.facts);
        if (block == 0) return false;
        // One step of a register tile reads its weights side by side.
        if (block == m_lanes)
            block =
                denseWeightBlock(hasFewRows(layer, m_machine.facts) ? layer : layerOfMostRows(*own),
                                 block, m_machine.facts);
        const std::string layout = "NK" + std::to_string(block) + "n";
        m_values.explain("pack-dense", std::to_string(layer.outputs) + " outputs in " + layout);
        NodeRecord record = node;
        record.op = densePackOp.name;
        record.operands = {m_values.plain(node.operands[0]),
                           m_values.packedWeight(node.operands[1], "NK", layout)};
        record.attrs.set("weight_layout", layout);
        m_patch->change(std::move(record));
        return true;
    }

    /// Pools and resizing name their layout in an attribute.
    bool alterByLayout(const NodeRecord& node)
    {
        const int64_t block = m_values.blockOf(node.operands[0]);
        if (block == 0 || node.attrs.string("layout", "NCHW") != "NCHW") return false;
        NodeRecord record = node;
        record.attrs.set("layout", blockedLayout(block));
        const TensorType in = blockedType(m_module.type(node.operands[0]), block);
        const OpDef* op = findOp(node.op);
        const Result<Types> types = op->infer({node.op, record.attrs, {&in, 1}, {}});
        if (!types || *types != Types{blockedType(node.types[0], block)}) return false;
        record.operands[0] = m_values.blockedForm(node.operands[0]);
        m_values.explain("keep-blocked", "reads and writes " + blockedLayout(block));
        m_values.produce(node, std::move(record), block);
        return true;
    }

    /// newshape of a reshape that keeps a first dimension of unknown size.
    static std::optional<std::vector<int64_t>> reshapeTo(Shape shape)
    {
        const bool keepsFirst = !shape.empty() && !shape[0].isConst();
        if (keepsFirst) shape[0] = Dim(0);
        return constantShape(shape);
    }

    bool alterReduction(const NodeRecord& node)
    {
        const int64_t block = m_values.blockOf(node.operands[0]);
        if (block == 0) return false;
        NodeRecord record = node;
        std::vector<int64_t> axes = node.attrs.integers("axis", {});
        for (int64_t& axis : axes) axis = normalizedAxis(axis, 4);
        record.attrs.set("axis", axes);
        record.operands[0] = m_values.blockedForm(node.operands[0]);
        if (node.attrs.integer("keepdims", 0) != 0) {
            m_values.explain("keep-blocked", "reduces rows and columns of " + blockedLayout(block));
            m_values.produce(node, std::move(record), block);
            return true;
        }
        // Without the reduced dimensions the blocked result is the plain one under another shape.
        const auto shape = reshapeTo(node.types[0].shape);
        if (!shape || axes.size() != 2) return false;
        m_values.explain("keep-blocked", "reduces rows and columns of " + blockedLayout(block));
        record.attrs.set("keepdims", int64_t{1});
        const ValueRef reduced = m_patch->op(factsOf(record), record.operands, record.attrs);
        NodeRecord reshape = node;
        reshape.op = reshapeOp.name;
        reshape.operands = {reduced};
        reshape.attrs = {{"newshape", *shape}};
        m_patch->change(std::move(reshape));
        return true;
    }

    /// Of whole blocks.
    bool alterChannelSlice(const NodeRecord& node, const SliceRange& slice, int64_t block)
    {
        const int64_t begin = slice.begin / block, end = begin + slice.extent / block;
        NodeRecord record = node;
        record.operands[0] = m_values.blockedForm(node.operands[0]);
        record.attrs = channelSliceAttrs(begin, end);
        m_values.explain("keep-blocked", "takes whole blocks of " + blockedLayout(block));
        m_values.produce(node, std::move(record), block);
        return true;
    }

    bool alterSpatial(const NodeRecord& node)
    {
        const int64_t block = m_values.blockOf(node.operands[0]);
        if (block == 0 || node.types[0].shape.size() != 4) return false;
        if (const auto slice = channelSliceOf(m_module, node))
            return isOfWholeBlocks(*slice, block) && alterChannelSlice(node, *slice, block);
        NodeRecord record = node;
        if (isOp(node, padOp)) {
            // Whole blocks of one number may stand beside those that are there.
            std::vector<int64_t> width = node.attrs.integers("pad_width", {});
            if (width.size() != 8 || width[2] % block != 0 || width[3] % block != 0) return false;
            const bool mayGrow = node.attrs.string("pad_mode", "constant") == "constant" &&
                                 m_plan.block({node.id, 0}) == block;
            if (!mayGrow && (width[2] != 0 || width[3] != 0)) return false;
            width[2] /= block;
            width[3] /= block;
            width.insert(width.end(), {0, 0});
            record.attrs.set("pad_width", std::move(width));
        } else {
            if (node.types[0].shape[1] != m_module.type(node.operands[0]).shape[1]) return false;
            std::vector<int64_t> axes = node.attrs.integers("axes", {});
            for (int64_t& axis : axes)
                if ((axis = normalizedAxis(axis, 4)) == 1) return false;
            if (axes.empty()) return false;
            record.attrs.set("axes", std::move(axes));
        }
        for (size_t i = 1; i < node.operands.size(); ++i)
            if (node.operands[i].node.isValid()) return false;
        record.operands[0] = m_values.blockedForm(node.operands[0]);
        m_values.explain("keep-blocked",
                         "leaves the channels of " + blockedLayout(block) + " alone");
        m_values.produce(node, std::move(record), block);
        return true;
    }

    /// True for values that lie in whole blocks of channels or may be brought into them.
    bool isBlockable(ValueRef value, int64_t block) const
    {
        const TensorType& type = m_module.type(value);
        return type.shape.size() == 4 && type.shape[1].isConst() &&
               type.shape[1].value() % block == 0;
    }

    bool alterConcatenation(const NodeRecord& node)
    {
        const int64_t axis =
            normalizedAxis(node.attrs.integer("axis", 0), node.types.at(0).shape.size());
        int64_t block = m_plan.block({node.id, 0});
        const auto isAllBlockable = [&] {
            return std::all_of(node.operands.begin(), node.operands.end(),
                               [&](ValueRef operand) { return isBlockable(operand, block); });
        };
        // Bytes are read in any blocks of whole words.
        const bool isFloat = node.types[0].dtype.isFloat();
        while (!isFloat && block > kWordBytes && !isAllBlockable()) block /= 2;
        bool any = false;
        for (const ValueRef& operand : node.operands) {
            any |= m_values.blockOf(operand) != 0;
            if (block == 0 || !isBlockable(operand, block)) return false;
        }
        if (!any) return false;
        NodeRecord record = node;
        record.attrs.set("axis", axis);
        m_values.explain("keep-blocked", "every part has blocks of " + std::to_string(block));
        for (ValueRef& operand : record.operands) operand = m_values.blocked(operand, block);
        m_values.produce(node, std::move(record), block);
        return true;
    }

    /// Images, or rows and columns of them, come together whatever their channels' layout.
    bool alterImages(const NodeRecord& node)
    {
        const int64_t block = m_values.blockOf(node.operands[0]);
        if (block == 0) return false;
        NodeRecord record = node;
        for (ValueRef& operand : record.operands) operand = m_values.blocked(operand, block);
        m_values.explain("keep-blocked", "joins images of " + blockedLayout(block));
        m_values.produce(node, std::move(record), block);
        return true;
    }

    /// Without rows and columns, blocked and plain values have the same bytes.
    bool alterReshape(const NodeRecord& node)
    {
        const TensorType& type = m_module.type(node.operands[0]);
        if (!m_values.isOnlyBlocked(node.operands[0]) || type.shape.size() != 4 ||
            !isOne(type.shape[2]) || !isOne(type.shape[3]))
            return false;
        m_values.explain("keep-blocked", "one pixel has the same bytes in either layout");
        NodeRecord record = node;
        record.operands[0] = m_values.blockedForm(node.operands[0]);
        m_patch->change(std::move(record));
        return true;
    }

    bool alterElementwise(const NodeRecord& node)
    {
        const OpDef* op = findOp(node.op);
        if (!op || op->pattern > Pattern::Broadcast || node.types[0].shape.size() != 4 ||
            !node.types[0].shape[1].isConst())
            return false;
        const bool isScaled = isOneOf(node, qnnQuantizeOp, qnnDequantizeOp);
        for (const AttrSpec& attr : op->attrs)
            if (attr.name == "axis" && !(isScaled && hasOneScale(m_module, node))) return false;
        int64_t block = 0;
        for (const ValueRef& operand : node.operands) {
            if (operand.node.isValid() && m_values.blockOf(operand) != 0 &&
                m_module.type(operand).shape[1] == node.types[0].shape[1])
                block = m_values.blockOf(operand);
        }
        if (block == 0) return false;
        // Nothing is moved while it has four bytes that could be moved while it has one.
        if (isScaled && m_plan.block({node.id, 0}) != block) return false;
        for (const ValueRef& operand : node.operands)
            if (operand.node.isValid() &&
                !canStandBeside(m_module, m_values, operand, node.types[0].shape[1]))
                return false;
        m_values.explain("keep-blocked", "elementwise on " + blockedLayout(block));
        NodeRecord record = node;
        noteScales(m_module, record);
        for (ValueRef& operand : record.operands)
            if (operand.node.isValid())
                operand =
                    broadcastOperand(m_module, m_values, operand, {node.types[0].shape[1], block});
        m_values.produce(node, std::move(record), block);
        return true;
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
    int m_lanes;
    bool m_hasRuns;                      ///< bytes side by side are multiplied for one sum
    bool m_mayTransform;                 ///< filters, for Winograd convolutions of bytes
    std::optional<DataType> m_dotValues; ///< of quantized layers; none: they stay as they are
    LayoutMachine m_machine;
    ErrorBudget m_budget;
    LayoutPlan m_plan;
    LayoutValues m_values;
    std::vector<WeightedLayer> m_denseLayers; ///< of the function; empty before one is asked for
    PatchWriter* m_patch = nullptr;
    Patches m_patches;
};

} // namespace

Result<Patches> runAlterOpLayout(const Module& module, const PassContext& context)
{
    return rewriteFunctions<LayoutRewriter>(module, context);
}

} // namespace tenon::compiler
