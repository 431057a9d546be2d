// SPDX-License-Identifier: Apache-2.0
// From an expression to a tape: one register per node, affine integer subtrees as one step.
#include "compiler/evaluate/tape.h"
#include "core/ir/tir/simplify.h"

namespace tenon::compiler {

using tir::Expr;
using tir::ExprKind;

int64_t AxisForm::at(std::span<const int64_t> position) const
{
    int64_t sum = constant;
    for (size_t a = 0; a < coefficients.size(); ++a) sum += coefficients[a] * position[a];
    return sum;
}

std::optional<AxisForm> axisForm(const Expr& index, const std::vector<NestAxis>& axes)
{
    const auto linear = tir::linearForm(index);
    if (!linear) return std::nullopt;
    AxisForm form{linear->constant, std::vector<int64_t>(axes.size(), 0)};
    size_t known = 0;
    for (size_t a = 0; a < axes.size(); ++a) {
        const auto found = linear->coefficients.find(axes[a].var);
        if (found == linear->coefficients.end()) continue;
        form.coefficients[a] = found->second;
        ++known;
    }
    if (known != linear->coefficients.size()) return std::nullopt;
    return form;
}

std::optional<std::vector<int64_t>> stridesOf(const tir::BufferNode& buffer)
{
    if (!buffer.strides.empty()) return std::nullopt;
    std::vector<int64_t> strides(buffer.shape.size(), 1);
    for (size_t d = buffer.shape.size(); d-- > 0;) {
        if (buffer.shape[d]->kind != ExprKind::IntImm) return std::nullopt;
        if (d > 0) strides[d - 1] = strides[d] * buffer.shape[d]->integer;
    }
    return strides;
}

std::optional<AxisForm> flatForm(const tir::Buffer& buffer, const std::vector<Expr>& indices,
                                 const std::vector<NestAxis>& axes)
{
    const auto strides = stridesOf(*buffer);
    if (!strides || strides->size() != indices.size()) return std::nullopt;
    AxisForm flat{0, std::vector<int64_t>(axes.size(), 0)};
    for (size_t d = 0; d < indices.size(); ++d) {
        const auto form = axisForm(indices[d], axes);
        if (!form) return std::nullopt;
        flat.constant += form->constant * (*strides)[d];
        for (size_t a = 0; a < axes.size(); ++a)
            flat.coefficients[a] += form->coefficients[a] * (*strides)[d];
    }
    return flat;
}

class TapeCompiler
{
public:
    TapeCompiler(const std::vector<NestAxis>& axes, size_t row, const BufferBytes& buffers,
                 const tir::BufferNode* accumulator)
        : m_axes(axes)
        , m_buffers(buffers)
        , m_accumulator(accumulator)
    {
        m_tape.m_row = row;
    }

    std::optional<Tape> compile(const Expr& value)
    {
        m_tape.m_result = emit(value);
        if (m_failed) return std::nullopt;
        m_tape.m_resultType = value->dtype;
        return std::move(m_tape);
    }

private:
    using Op = Tape::Op;
    using Step = Tape::Step;

    int fail()
    {
        m_failed = true;
        return 0;
    }

    int add(Step step)
    {
        step.out = m_tape.m_registers++;
        step.mask = m_mask;
        m_tape.m_steps.push_back(std::move(step));
        return m_tape.m_registers - 1;
    }

    int emit(const Expr& expr)
    {
        const tir::ExprNode& node = *expr;
        if (node.dtype.lanes != 1 || m_failed) return fail();
        if (node.kind == ExprKind::IntImm)
            return add({.op = Op::Integer, .dtype = node.dtype, .integer = node.integer});
        if (node.kind == ExprKind::FloatImm)
            return add({.op = Op::Number, .dtype = node.dtype, .number = node.number});
        if (node.dtype == kInt64 && node.kind != ExprKind::Load) {
            if (auto form = axisForm(expr, m_axes))
                return add({.op = Op::Affine, .dtype = node.dtype, .form = std::move(*form)});
        }
        switch (node.kind) {
        case ExprKind::Load: return emitLoad(node);
        case ExprKind::Not:
            return add({.op = Op::Not, .a = emit(node.args[0]), .dtype = node.dtype});
        case ExprKind::Cast:
            return add({.op = Op::Cast,
                        .a = emit(node.args[0]),
                        .dtype = node.dtype,
                        .from = node.args[0]->dtype});
        case ExprKind::Select: {
            const int c = emit(node.args[0]), t = emit(node.args[1]), f = emit(node.args[2]);
            return add({.op = Op::Select, .a = c, .b = t, .c = f, .dtype = node.dtype});
        }
        case ExprKind::Intrinsic: return emitIntrinsic(node);
        case ExprKind::VarRef:
        case ExprKind::Ramp:
        case ExprKind::Broadcast: return fail();
        default: {
            const int a = emit(node.args[0]), b = emit(node.args[1]);
            return add({.op = Op::Binary,
                        .a = a,
                        .b = b,
                        .dtype = node.dtype,
                        .from = node.args[0]->dtype,
                        .kind = node.kind});
        }
        }
    }

    int emitIntrinsic(const tir::ExprNode& node)
    {
        if (node.intrinsic == tir::Intrinsic::Likely) return emit(node.args[0]);
        if (node.intrinsic == tir::Intrinsic::Reinterpret) return fail();
        if (node.intrinsic == tir::Intrinsic::IfThenElse) {
            const int condition = emit(node.args[0]);
            const int outer = m_mask;
            m_mask = outer < 0
                         ? condition
                         : add({.op = Op::MaskAnd, .a = outer, .b = condition, .dtype = kBool});
            const int ifTrue = emit(node.args[1]);
            m_mask = outer;
            m_mask = add({.op = Op::MaskAndNot, .a = outer, .b = condition, .dtype = kBool});
            const int ifFalse = emit(node.args[2]);
            m_mask = outer;
            return add(
                {.op = Op::Select, .a = condition, .b = ifTrue, .c = ifFalse, .dtype = node.dtype});
        }
        Step step{.op = Op::Intrinsic,
                  .dtype = node.dtype,
                  .from = node.args[0]->dtype,
                  .intrinsic = node.intrinsic};
        step.a = emit(node.args[0]);
        if (node.args.size() > 1) step.b = emit(node.args[1]);
        if (node.args.size() > 2) step.c = emit(node.args[2]);
        return add(std::move(step));
    }

    int emitLoad(const tir::ExprNode& node)
    {
        if (node.buffer.get() ==
            m_accumulator) { // the caller checked that it is read where it is written
            if (m_tape.m_accumulator < 0) m_tape.m_accumulator = m_tape.m_registers++;
            return m_tape.m_accumulator;
        }
        const auto bytes = m_buffers.find(node.buffer.get());
        if (bytes == m_buffers.end()) return fail();
        TapeAccess access{node.buffer, bytes->second, -1, flatForm(node.buffer, node.args, m_axes),
                          -1};
        if (!access.affine) {
            const auto strides = stridesOf(*node.buffer);
            if (!strides) return fail();
            Step index{.op = Op::AccessIndex, .dtype = kInt64};
            for (size_t d = 0; d < node.args.size(); ++d)
                index.indexParts.emplace_back(emit(node.args[d]), (*strides)[d]);
            access.indexRegister = add(std::move(index));
        }
        m_tape.m_accesses.push_back(std::move(access));
        return add({.op = Op::Load,
                    .dtype = node.dtype,
                    .access = static_cast<int>(m_tape.m_accesses.size()) - 1});
    }

    const std::vector<NestAxis>& m_axes;
    const BufferBytes& m_buffers;
    const tir::BufferNode* m_accumulator;
    Tape m_tape;
    int m_mask = -1;
    bool m_failed = false;
};

std::optional<Tape> Tape::compile(const Expr& value, const std::vector<NestAxis>& axes, size_t row,
                                  const BufferBytes& buffers, const tir::BufferNode* accumulator)
{
    return TapeCompiler(axes, row, buffers, accumulator).compile(value);
}

const TapeAccess* Tape::plainLoad() const
{
    if (m_steps.size() != 1 || m_steps[0].op != Op::Load || !m_accesses[0].affine) return nullptr;
    return &m_accesses[0];
}

} // namespace tenon::compiler
