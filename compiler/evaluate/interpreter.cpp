// SPDX-License-Identifier: Apache-2.0
// The oracle: walks any loop IR tree, computes floats in double, checks every access.
#include "compiler/evaluate/interpreter.h"

#include "compiler/evaluate/scalar_math.h"
#include "core/base/text.h"

#include <cmath>
#include <cstring>
#include <limits>
#include <unordered_map>

namespace tenon::compiler {
namespace {

using tir::Expr;
using tir::ExprKind;
using tir::ExprNode;
using tir::Intrinsic;
using tir::Stmt;
using tir::StmtKind;

struct Storage
{
    std::vector<int64_t> shape;
    std::span<std::byte> writable; ///< empty for inputs
    Tensor view;
};

/// Bytes that make a read before the first write visible: NaN for floats, garbage for integers.
void poison(DataType dtype, std::span<std::byte> bytes)
{
    std::memset(bytes.data(), 0x5a, bytes.size());
    if (dtype.isFloat())
        for (int64_t i = 0; i < static_cast<int64_t>(bytes.size()) / dtype.bytes(); ++i)
            storeNumber(dtype, bytes, i, std::numeric_limits<double>::quiet_NaN());
}

class Interpreter
{
public:
    void bind(const tir::Buffer& buffer, Storage storage)
    {
        m_storage[buffer.get()] = std::move(storage);
    }
    void set(const tir::Var& var, int64_t value) { m_vars[var.get()] = value; }
    void allocate(const tir::Buffer& buffer)
    {
        Storage storage;
        for (const Expr& extent : buffer->shape) storage.shape.push_back(integer(*extent, 0));
        if (m_error) return;
        for (const int64_t extent : storage.shape)
            if (extent < 0)
                return fail("buffer " + quoted(buffer->name) + " has a negative extent");
        const Tensor made =
            Tensor::make(buffer->dtype.scalar(), storage.shape, [&](std::span<std::byte> bytes) {
                poison(buffer->dtype, bytes);
                storage.writable = bytes;
            });
        storage.view = made;
        bind(buffer, std::move(storage));
    }
    const Tensor& tensor(const tir::Buffer& buffer) const
    {
        return m_storage.at(buffer.get()).view;
    }
    const std::optional<Diagnostic>& error() const { return m_error; }

    void run(const Stmt& s)
    {
        if (!s || m_error) return;
        switch (s->kind) {
        case StmtKind::Seq:
            for (const Stmt& inner : s->stmts) run(inner);
            return;
        case StmtKind::For: return loop(*s);
        case StmtKind::Block: return block(*s);
        case StmtKind::Store: return store(*s);
        case StmtKind::If: return run(integer(*s->condition, 0) ? s->body : s->orElse);
        case StmtKind::While:
            while (!m_error && integer(*s->condition, 0)) run(s->body);
            return;
        case StmtKind::Let: return letValue(*s);
        case StmtKind::Allocate:
            allocate(s->buffer);
            run(s->body);
            return;
        case StmtKind::Evaluate: {
            if (s->value->kind == ExprKind::Load) return; // a request, maybe beyond the end
            if (s->value->dtype.isFloat())
                number(*s->value, 0);
            else
                integer(*s->value, 0);
            return;
        }
        }
    }

    int64_t integer(const ExprNode& e, int lane)
    {
        const auto arg = [&](size_t i) { return integer(*e.args[i], lane); };
        const DataType dtype = e.dtype.scalar();
        switch (e.kind) {
        case ExprKind::IntImm: return e.integer;
        case ExprKind::VarRef: return variable(e);
        case ExprKind::Ramp: return integer(*e.args[0], 0) + lane * integer(*e.args[1], 0);
        case ExprKind::Broadcast: return integer(*e.args[0], 0);
        case ExprKind::Not: return !arg(0);
        case ExprKind::Load:
            return read(e, lane, [](const Tensor& t, int64_t i) { return t.integer(i); });
        case ExprKind::Select: {
            const int64_t condition = arg(0), a = arg(1), b = arg(2);
            return condition ? a : b;
        }
        case ExprKind::Cast:
            return e.args[0]->dtype.isFloat() ? truncated(dtype, number(*e.args[0], lane))
                                              : wrapped(dtype, arg(0));
        case ExprKind::Intrinsic: return intrinsicInt(e, lane);
        default: break;
        }
        if (e.args[0]->dtype.isFloat()) {
            const double a = number(*e.args[0], lane), b = number(*e.args[1], lane);
            return floatBinary(e.kind, a, b) != 0;
        }
        const int64_t a = arg(0), b = arg(1);
        const auto value = intBinary(e.kind, e.args[0]->dtype.scalar(), a, b);
        if (!value) fail("division by zero");
        return value.value_or(0);
    }

    double number(const ExprNode& e, int lane)
    {
        const auto arg = [&](size_t i) { return number(*e.args[i], lane); };
        switch (e.kind) {
        case ExprKind::FloatImm: return rounded(e.dtype.scalar(), e.number);
        case ExprKind::VarRef: return floatVariable(e);
        case ExprKind::Ramp: return number(*e.args[0], 0) + lane * number(*e.args[1], 0);
        case ExprKind::Broadcast: return number(*e.args[0], 0);
        case ExprKind::Load:
            return read(e, lane, [](const Tensor& t, int64_t i) { return t.number(i); });
        case ExprKind::Select: {
            const int64_t condition = integer(*e.args[0], lane);
            const double a = arg(1), b = arg(2);
            return condition ? a : b;
        }
        case ExprKind::Cast: {
            const DataType from = e.args[0]->dtype.scalar();
            if (from.isFloat()) return rounded(e.dtype.scalar(), arg(0));
            const int64_t value = integer(*e.args[0], lane);
            return rounded(e.dtype.scalar(), from == kUInt64
                                                 ? static_cast<double>(static_cast<uint64_t>(value))
                                                 : static_cast<double>(value));
        }
        case ExprKind::Intrinsic: return intrinsicFloat(e, lane);
        default: return floatBinary(e.kind, arg(0), arg(1));
        }
    }

private:
    void fail(const std::string& message)
    {
        if (!m_error) m_error = makeError(DiagnosticCode::InvalidIr, message);
    }

    int64_t variable(const ExprNode& e)
    {
        const auto found = m_vars.find(e.var.get());
        if (found == m_vars.end()) fail("variable " + quoted(e.var->name) + " has no value");
        return found == m_vars.end() ? 0 : found->second;
    }

    double floatVariable(const ExprNode& e)
    {
        const auto found = m_floatVars.find(e.var.get());
        if (found == m_floatVars.end()) fail("variable " + quoted(e.var->name) + " has no value");
        return found == m_floatVars.end() ? 0 : found->second;
    }

    double intrinsicFloat(const ExprNode& e, int lane)
    {
        if (e.intrinsic == Intrinsic::IfThenElse)
            return number(*e.args[integer(*e.args[0], lane) ? 1 : 2], lane);
        if (e.intrinsic == Intrinsic::Reinterpret && !e.args[0]->dtype.isFloat()) {
            const auto value = reinterpretToFloat(e.args[0]->dtype.scalar(), e.dtype.scalar(),
                                                  integer(*e.args[0], lane));
            if (!value) fail("reinterpret between types of different size");
            return value.value_or(0);
        }
        double args[3] = {0, 0, 0};
        for (size_t i = 0; i < e.args.size() && i < 3; ++i) args[i] = number(*e.args[i], lane);
        const auto value = floatIntrinsic(e.intrinsic, args);
        if (!value)
            fail(std::string("the interpreter cannot evaluate ") + intrinsicText(e.intrinsic));
        return value.value_or(0);
    }

    int64_t intrinsicInt(const ExprNode& e, int lane)
    {
        if (e.intrinsic == Intrinsic::IfThenElse)
            return integer(*e.args[integer(*e.args[0], lane) ? 1 : 2], lane);
        if (e.args[0]->dtype.isFloat()) {
            const double x = number(*e.args[0], lane);
            if (e.intrinsic == Intrinsic::IsNan) return std::isnan(x);
            if (e.intrinsic == Intrinsic::IsInf) return std::isinf(x);
            if (e.intrinsic == Intrinsic::Reinterpret)
                if (const auto bits =
                        reinterpretToInt(e.args[0]->dtype.scalar(), e.dtype.scalar(), x))
                    return *bits;
            fail(std::string("the interpreter cannot evaluate ") + intrinsicText(e.intrinsic));
            return 0;
        }
        int64_t args[3] = {0, 0, 0};
        for (size_t i = 0; i < e.args.size() && i < 3; ++i) args[i] = integer(*e.args[i], lane);
        const auto value = intIntrinsic(e.intrinsic, e.dtype.scalar(), args);
        if (!value)
            fail(std::string("the interpreter cannot evaluate ") + intrinsicText(e.intrinsic));
        return value.value_or(0);
    }

    /// Row-major position, or -1 after a failure.
    int64_t position(const tir::Buffer& buffer, const Storage& storage,
                     const std::vector<Expr>& indices, int lane)
    {
        if (indices.size() != storage.shape.size()) {
            fail("buffer " + quoted(buffer->name) + " of rank " +
                 std::to_string(storage.shape.size()) + " is accessed with " +
                 std::to_string(indices.size()) + " indices");
            return -1;
        }
        int64_t flat = 0;
        for (size_t i = 0; i < indices.size(); ++i) {
            const int64_t index = integer(*indices[i], lane);
            if (m_error) return -1;
            if (index < 0 || index >= storage.shape[i]) {
                fail("index " + std::to_string(index) + " of dimension " + std::to_string(i) +
                     " is outside buffer " + quoted(buffer->name) + " of shape (" +
                     join(storage.shape, ", ") + ")");
                return -1;
            }
            flat = flat * storage.shape[i] + index;
        }
        return flat;
    }

    template <class Get>
    auto read(const ExprNode& e, int lane, Get get) -> decltype(get(Tensor(), 0))
    {
        const auto found = m_storage.find(e.buffer.get());
        if (found == m_storage.end()) {
            fail("buffer " + quoted(e.buffer->name) + " is not allocated");
            return 0;
        }
        const int64_t at = position(e.buffer, found->second, e.args, lane);
        return at < 0 ? 0 : get(found->second.view, at);
    }

    void store(const tir::StmtNode& s)
    {
        const auto found = m_storage.find(s.buffer.get());
        if (found == m_storage.end() || found->second.writable.empty()) {
            if (found == m_storage.end() || found->second.view.size() > 0)
                fail("buffer " + quoted(s.buffer->name) + " cannot be written");
            return;
        }
        Storage& storage = found->second;
        int lanes = s.value->dtype.lanes;
        for (const Expr& index : s.indices) lanes = std::max<int>(lanes, index->dtype.lanes);
        const DataType dtype = s.buffer->dtype.scalar();
        // All lanes are read before the first one is written.
        std::vector<double> numbers;
        std::vector<int64_t> integers;
        for (int lane = 0; lane < lanes; ++lane)
            if (dtype.isFloat())
                numbers.push_back(number(*s.value, lane));
            else
                integers.push_back(integer(*s.value, lane));
        for (int lane = 0; lane < lanes && !m_error; ++lane) {
            const int64_t at = position(s.buffer, storage, s.indices, lane);
            if (at < 0) return;
            if (dtype.isFloat())
                storeNumber(dtype, storage.writable, at, numbers[static_cast<size_t>(lane)]);
            else
                storeInteger(dtype, storage.writable, at, integers[static_cast<size_t>(lane)]);
        }
    }

    void loop(const tir::StmtNode& s)
    {
        const int64_t min = integer(*s.loop.min, 0);
        const int64_t extent = integer(*s.loop.extent, 0);
        for (int64_t i = 0; i < extent && !m_error; ++i) {
            set(s.loop.var, min + i);
            run(s.body);
        }
    }

    void block(const tir::StmtNode& s)
    {
        bool isFirstStep = true;
        for (const tir::IterVar& iter : s.block.iters) {
            const int64_t value = integer(*iter.binding, 0);
            set(iter.var, value);
            isFirstStep = isFirstStep && (iter.kind == tir::IterKind::Spatial || value == 0);
        }
        if (s.block.predicate.get() && !integer(*s.block.predicate, 0)) return;
        for (const tir::Buffer& buffer : s.block.allocs) allocate(buffer);
        if (s.init && isFirstStep) run(s.init);
        run(s.body);
    }

    void letValue(const tir::StmtNode& s)
    {
        if (s.value->dtype.isFloat())
            m_floatVars[s.var.get()] = number(*s.value, 0);
        else
            set(s.var, integer(*s.value, 0));
        run(s.body);
    }

    std::unordered_map<const tir::VarNode*, int64_t> m_vars;
    std::unordered_map<const tir::VarNode*, double> m_floatVars;
    std::unordered_map<const tir::BufferNode*, Storage> m_storage;
    std::optional<Diagnostic> m_error;
};

} // namespace

Result<std::vector<Tensor>> interpret(const tir::PrimFunc& function,
                                      const std::vector<Tensor>& inputs)
{
    const size_t inputCount = function.params.size() - function.outputCount;
    if (inputs.size() != inputCount)
        return makeError(DiagnosticCode::BadArgument,
                         quoted(function.name) + " takes " + std::to_string(inputCount) +
                             " inputs but got " + std::to_string(inputs.size()));
    Interpreter interpreter;
    for (size_t i = 0; i < inputCount; ++i) {
        const tir::Buffer& param = function.params[i];
        for (size_t d = 0; d < param->shape.size() && d < inputs[i].shape().size(); ++d)
            if (param->shape[d]->kind == ExprKind::VarRef)
                interpreter.set(param->shape[d]->var, inputs[i].shape()[d]);
    }
    for (size_t i = 0; i < function.params.size(); ++i) {
        const tir::Buffer& param = function.params[i];
        interpreter.allocate(param);
        if (interpreter.error()) return *interpreter.error();
        if (i >= inputCount) continue;
        const Tensor& wanted = interpreter.tensor(param);
        if (inputs[i].dtype() != wanted.dtype() || inputs[i].size() != wanted.size())
            return makeError(DiagnosticCode::BadArgument, "input " + quoted(param->name) +
                                                              " must be " + wanted.typeText() +
                                                              " but is " + inputs[i].typeText());
        interpreter.bind(param, {wanted.shape(), {}, inputs[i].reshaped(wanted.shape())});
    }
    interpreter.run(function.body);
    if (interpreter.error()) return *interpreter.error();
    std::vector<Tensor> outputs;
    for (size_t i = inputCount; i < function.params.size(); ++i)
        outputs.push_back(interpreter.tensor(function.params[i]));
    return outputs;
}

} // namespace tenon::compiler
