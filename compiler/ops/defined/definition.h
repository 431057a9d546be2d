// SPDX-License-Identifier: Apache-2.0
// Operators that a user declares in a text file: their syntax trees, and the file's reader.
//
//     operator com.example.Swish(x: T[S...], alpha: float = 1.0) -> (y: T[S...]):
//         T: float16, float32
//         y[s...] = x[s...] / (1 + exp(-alpha * x[s...]))
//
// resources/manual/extend.md describes the language. A definition knows nothing of any model; what
// it means for the types of one node says defined/meaning.h.
#pragma once

#include "core/base/result.h"
#include "core/ir/attr.h"
#include "core/ir/user_operator.h"

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// Attribute of a node that a definition gives its meaning: the definition's text. Its name stands
/// under kOperatorAttr.
inline constexpr std::string_view kDefinitionAttr = "definition";

/// An expression as written.
struct Term
{
    enum class Kind : uint8_t
    {
        Number,   ///< `text`
        Name,     ///< an axis, a dimension or an attribute
        Pack,     ///< `text`...: several axes or dimensions
        Read,     ///< tensor `text` at args; an attribute that is a list, too
        Call,     ///< function or type `text` of args
        Operator, ///< `text` between or before args
        Choice,   ///< args: condition, then, else; only one side is evaluated
        Reduction ///< `text` ("sum") of args[0] over `ranges`
    };
    struct Range
    {
        std::string name;
        std::vector<Term> extent; ///< one
    };
    Kind kind = Kind::Number;
    std::string text;
    std::vector<Term> args = {};
    std::vector<Range> ranges = {};
    int line = 0;
    int column = 0;
};

/// "x: T[N, S...]".
struct DeclaredTensor
{
    std::string name;
    std::string dtype; ///< a data type, or a variable that stands for one
    std::vector<Term> shape;
};

struct DeclaredAttr
{
    std::string name;
    std::string type; ///< "int", "float" or "ints"
    std::optional<AttrValue> fallback;
};

/// "T: float16, float32": what the variable may stand for.
struct TypeVariable
{
    std::string name;
    std::vector<DataType> choices;
};

/// "y[n, s...] = value".
struct Assignment
{
    std::string target;
    std::vector<Term> axes; ///< names and packs
    Term value;
};

/// Which operators of the graph IR fuse and are laid out alike.
enum class DefinedClass : uint8_t
{
    Elementwise, ///< each element of the result by the same one of the operands
    Injective,   ///< each element by some of the operands' elements
    Reduction    ///< with sums over axes
};

/// Of the graph IR.
constexpr std::string_view userOperatorName(DefinedClass kind)
{
    switch (kind) {
    case DefinedClass::Elementwise: return "user.elementwise";
    case DefinedClass::Injective: return "user.injective";
    case DefinedClass::Reduction: break;
    }
    return "user.reduction";
}

struct Definition
{
    std::string name; ///< with its domain: "com.example.Swish"
    std::vector<DeclaredTensor> operands;
    std::vector<DeclaredAttr> attrs;
    std::vector<DeclaredTensor> results;
    std::vector<TypeVariable> types;
    std::vector<Term> requirements;
    std::vector<DeclaredTensor> parts; ///< tensors on the way
    std::vector<Assignment> assignments;
    std::string text; ///< of this definition alone: what nodes carry

    DefinedClass kind() const;
    /// An operand, a result or a part; null when there is none of that name.
    const DeclaredTensor* findTensor(std::string_view called) const;
    /// The same without the operands.
    const DeclaredTensor* findTarget(std::string_view called) const;
    const DeclaredAttr* findAttr(std::string_view called) const;
};

/// All definitions of a file. Errors: BadText with line and column, what is declared twice, never
/// assigned, or used without being declared.
Result<std::vector<Definition>> parseDefinitions(std::string_view text);

} // namespace tenon::compiler
