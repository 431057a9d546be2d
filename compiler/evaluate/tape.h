// SPDX-License-Identifier: Apache-2.0
// Tape: an expression compiled to operations over rows of up to kRow values along one axis.
#pragma once

#include "compiler/evaluate/registers.h"
#include "core/base/result.h"
#include "core/ir/tir/stmt.h"

#include <cstddef>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Bytes of the buffers a nest touches.
using BufferBytes = std::unordered_map<const tir::BufferNode*, std::span<std::byte>>;

/// One dimension of a nest's iteration space.
struct NestAxis
{
    const tir::VarNode* var;
    int64_t extent;
    bool isReduce;
};

/// constant + sum of coefficient[a] * axis a.
struct AxisForm
{
    int64_t constant = 0;
    std::vector<int64_t> coefficients;
    int64_t at(std::span<const int64_t> position) const;
};

/// Buffers of which each worker has a stretch of its own, and their numbers.
using LocalIds = std::unordered_map<const tir::BufferNode*, int>;

/// Flat position of an access in elements: affine, or held in an integer register.
struct TapeAccess
{
    tir::Buffer buffer;
    std::span<std::byte> bytes; ///< of the whole buffer; not used when it is local
    int local = -1;             ///< number among the local buffers
    std::optional<AxisForm> affine;
    int indexRegister = -1;
};

/// What one run evaluates: rows of `count` values, kRow values at most in all.
struct RowLines
{
    int64_t count;
    int64_t lines = 1;
    int64_t values() const { return count * lines; }
};

class Tape
{
public:
    /// `row` is the axis along which rows run. Returns nothing when the expression is of a kind the
    /// tape does not know.
    static std::optional<Tape> compile(const tir::Expr& value, const std::vector<NestAxis>& axes,
                                       size_t row, const BufferBytes& buffers,
                                       const tir::BufferNode* accumulator);

    /// Writes whole rows of constants, once for all runs: every step has registers of its own.
    void fillConstants(Registers& registers) const;

    /// Short rows are run several at once, side by side in the registers: those that lie one after
    /// the other along this axis.
    void layLinesAlong(size_t axis) { m_line = axis; }
    /// Evaluates the values starting at `position` into result(), in registers that went through
    /// fillConstants. Errors: an access outside its buffer.
    Status run(Registers& registers, std::span<const int64_t> position, RowLines rows) const;

    size_t registerCount() const { return static_cast<size_t>(m_registers); }
    int result() const { return m_result; }
    DataType resultType() const { return m_resultType; }
    int accumulatorRegister() const
    {
        return m_accumulator;
    } ///< -1: the expression does not read the accumulator
    /// The tape is one unmasked affine load and nothing else.
    const TapeAccess* plainLoad() const;

    std::span<TapeAccess> accesses() { return m_accesses; }

private:
    friend class TapeCompiler;
    enum class Op : uint8_t
    {
        Number,
        Integer,
        Affine,
        Load,
        Binary,
        Not,
        Select,
        Cast,
        Intrinsic,
        AccessIndex,
        MaskAnd,
        MaskAndNot
    };
    struct Step
    {
        Op op;
        int out = -1, a = -1, b = -1, c = -1;
        int mask = -1;
        DataType dtype;
        DataType from;
        tir::ExprKind kind = tir::ExprKind::Add;
        tir::Intrinsic intrinsic = tir::Intrinsic::Abs;
        double number = 0;
        int64_t integer = 0;
        AxisForm form;
        int access = -1;
        std::vector<std::pair<int, int64_t>> indexParts; ///< AccessIndex: register, stride
    };
    static void accessIndex(const Step& step, Registers& registers, int64_t count);
    static void cast(const Step& step, Registers& registers, int64_t count);
    static void intrinsic(const Step& step, Registers& registers, int64_t count);
    static void maskAndNot(const Step& step, Registers& registers, int64_t count);
    static void select(const Step& step, Registers& registers, int64_t count);
    void affine(const Step& step, Registers& registers, std::span<const int64_t> position,
                RowLines rows) const;
    Status load(const Step& step, Registers& registers, std::span<const int64_t> position,
                RowLines rows) const;

    std::vector<Step> m_steps;
    std::vector<TapeAccess> m_accesses;
    size_t m_row = 0;
    size_t m_line = 0;
    int m_registers = 0;
    int m_result = -1;
    int m_accumulator = -1;
    DataType m_resultType;
};

/// Affine form of an index over the axes, if it has one.
std::optional<AxisForm> axisForm(const tir::Expr& index, const std::vector<NestAxis>& axes);
/// Row-major element strides of a buffer with constant shape.
std::optional<std::vector<int64_t>> stridesOf(const tir::BufferNode& buffer);
std::optional<AxisForm> flatForm(const tir::Buffer& buffer, const std::vector<tir::Expr>& indices,
                                 const std::vector<NestAxis>& axes);

} // namespace tenon::compiler
