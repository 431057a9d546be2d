// SPDX-License-Identifier: Apache-2.0
// The types of values in definitions: what adapts to what, and what operators and functions give.
#pragma once

#include "compiler/ops/defined/functions.h"
#include "compiler/ops/defined/meaning.h"

#include <optional>
#include <vector>

namespace tenon::compiler {

/// A value; what was written as a number, a size or an attribute takes the type of what it meets.
struct DefinedValue
{
    tir::Expr expr;
    bool adapts = false;
};

/// The first failure sticks; values made after it are placeholders.
class ValueRules
{
protected:
    using Value = DefinedValue;

    ValueRules(const Definition& definition, const DefinedBindings& bindings)
        : m_definition(definition)
        , m_bindings(bindings)
    {
    }

    bool failed() const { return m_error.has_value(); }
    Value fail(const Term& term, const std::string& what);
    Diagnostic badValue(const Term& term, const std::string& what) const;

    /// `value` in another type, where it was written without one.
    Value as(DataType dtype, Value value, const Term& term);
    /// Both in one type; two that adapt are integers or float64.
    void unify(Value& a, Value& b, const Term& term);
    /// Operators between or before values.
    Value operation(const Term& term, std::vector<Value> values);
    /// Functions, and types as conversions.
    Value call(const Term& term, std::vector<Value> values);

    const Definition& m_definition;
    const DefinedBindings& m_bindings;
    std::optional<Diagnostic> m_error;

private:
    void unifyAll(std::vector<Value>& values, const Term& term);
    Value conversion(DataType dtype, const Value& value, const Term& term);
    Value division(const Term& term, Value a, Value b);
    Value logic(const Term& term, const std::vector<Value>& values);
    bool hasCount(const Term& term, size_t count);
    Value intrinsic(const Term& term, const DefinedFunction& function, std::vector<Value> values);
};

} // namespace tenon::compiler
