// SPDX-License-Identifier: Apache-2.0
// Scalar (and short vector) expressions of the loop IR: immutable shared trees.
#pragma once

#include "core/base/check.h"
#include "core/tensor/dtype.h"

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace tenon::tir {

using namespace core;

/// A loop or scalar variable; identity is the object, the name is only for people.
struct VarNode
{
    std::string name;
    DataType dtype;
};
using Var = std::shared_ptr<const VarNode>;
Var makeVar(std::string name, DataType dtype = kInt64);

struct ExprNode;
struct BufferNode;
using Buffer = std::shared_ptr<const BufferNode>;

enum class ExprKind : uint8_t
{
    IntImm,   ///< `integer`; also bool (0/1)
    FloatImm, ///< `number`
    VarRef,   ///< `var`
    Add,
    Sub,
    Mul,
    Div, ///< floats: IEEE; integers: truncates towards zero
    Mod, ///< integers: C remainder; floats: fmod
    FloorDiv,
    FloorMod, ///< integers; rounds to minus infinity (index arithmetic)
    Min,
    Max, ///< floats: a NaN operand gives NaN
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    And,
    Or,
    Not,       ///< bool
    Select,    ///< args: condition, then, else; both evaluated
    Cast,      ///< to `dtype`; float -> int truncates (out of range: undefined)
    Load,      ///< `buffer`[args]
    Intrinsic, ///< `intrinsic`(args)
    Ramp,      ///< base, stride -> lanes of dtype
    Broadcast, ///< value -> lanes of dtype
};

enum class Intrinsic : uint8_t
{
#define INTRINSIC(name, text, arity) name,
#include "core/ir/tir/intrinsics.def"
#undef INTRINSIC
};
const char* intrinsicText(Intrinsic intrinsic);
int intrinsicArity(Intrinsic intrinsic);
bool isLongFunction(Intrinsic intrinsic); ///< computed by tens of instructions

/// Handle to an immutable expression; never null once used.
class Expr
{
public:
    Expr() = default;
    Expr(int64_t value); ///< int64 immediate
    Expr(int value)
        : Expr(int64_t{value})
    {
    }
    Expr(const Var& var);
    explicit Expr(std::shared_ptr<const ExprNode> node)
        : m_node(std::move(node))
    {
    }

    const ExprNode* operator->() const { return m_node.get(); }
    const ExprNode& operator*() const { return *m_node; }
    const ExprNode* get() const { return m_node.get(); }
    explicit operator bool() const { return m_node != nullptr; }
    bool isConstInt(int64_t value) const;

private:
    std::shared_ptr<const ExprNode> m_node;
};

struct ExprNode
{
    ExprKind kind;
    DataType dtype;
    std::vector<Expr> args;
    int64_t integer = 0;
    double number = 0;
    Var var;
    Buffer buffer;
    Intrinsic intrinsic = Intrinsic::Abs;
};

// Builders. Binary builders CHECK equal dtypes after promoting int immediates, fold constants and
// drop x+0, x*1, x*0 (ints).
Expr intImm(int64_t value, DataType dtype = kInt64);
Expr floatImm(double value, DataType dtype = kFloat32);
Expr zeroOf(DataType dtype);
Expr oneOf(DataType dtype);
Expr binary(ExprKind kind, Expr a, Expr b);
Expr operator+(Expr a, Expr b);
Expr operator-(Expr a, Expr b);
Expr operator*(Expr a, Expr b);
Expr operator/(Expr a, Expr b); ///< Div
Expr floorDiv(Expr a, Expr b);
Expr floorMod(Expr a, Expr b);
Expr minimum(Expr a, Expr b);
Expr maximum(Expr a, Expr b);
Expr operator<(Expr a, Expr b);
Expr operator<=(Expr a, Expr b);
Expr operator>(Expr a, Expr b);
Expr operator>=(Expr a, Expr b);
Expr equal(Expr a, Expr b);
Expr notEqual(Expr a, Expr b);
Expr operator&&(Expr a, Expr b);
Expr operator||(Expr a, Expr b);
Expr operator!(Expr a);
Expr select(Expr condition, Expr ifTrue, Expr ifFalse);
Expr cast(DataType dtype, Expr value);
Expr load(const Buffer& buffer, std::vector<Expr> indices);
Expr call(Intrinsic intrinsic, DataType dtype, std::vector<Expr> args);
Expr call(Intrinsic intrinsic, Expr arg); ///< unary, dtype of the argument
Expr ramp(Expr base, Expr stride, int lanes);
Expr broadcast(Expr value, int lanes);

/// Largest / smallest finite-or-infinite value, the identity of min / max reductions.
Expr lowestOf(DataType dtype);
Expr highestOf(DataType dtype);

} // namespace tenon::tir
