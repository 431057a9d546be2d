// SPDX-License-Identifier: Apache-2.0
// Vectors of the loop IR as intrinsics of Helium (Arm's MVE), four lanes of 32 bits at a time.
#pragma once

#include "compiler/codegen/c/c_expr.h"
#include "core/ir/tir/stmt.h"

#include <set>
#include <string>
#include <vector>

namespace tenon::compiler {

/// Whose loads, stores and arithmetic are vectors. Bytes and half words are widened as they are
/// loaded and cut off as they are stored.
class CVectors
{
public:
    /// Without `isOn` no statement has a vector form.
    CVectors(CExpressions& names, bool isOn)
        : m_names(names)
        , m_isOn(isOn)
    {
    }

    bool isOn() const { return m_isOn; }
    /// Statements for the store of a vector, or none where some part of it has no vector form.
    std::vector<std::string> store(const tir::StmtNode& node);
    /// True where every access to the array in `body` is one of whole vectors: it becomes an array
    /// of them, which compilers keep in registers.
    bool becomesVectors(const tir::Stmt& body, const tir::Buffer& buffer) const;
    /// "int32x4_t sums[2];"
    std::string declareVectors(const tir::Buffer& buffer, int64_t count);
    /// An array of single numbers on the stack.
    void declareNumbers(const tir::Buffer& buffer) { m_numbers.insert(buffer.get()); }
    bool isOfNumbers(const tir::Buffer& buffer) const { return m_numbers.contains(buffer.get()); }

private:
    std::string text(const tir::Expr& four);
    std::string address(const tir::Buffer& buffer, const tir::Expr& index);
    std::string loaded(const tir::Expr& load);
    std::string ofLanes(const tir::Expr& vector);
    std::string converted(const tir::ExprNode& cast);
    std::string sum(const tir::ExprNode& node);
    std::string product(const tir::ExprNode& node);
    std::string extremum(const tir::ExprNode& node);
    std::string chosen(const tir::ExprNode& node);
    std::string intrinsic(const tir::ExprNode& node);
    std::string withNumber(const std::string& name, const tir::Expr& vector,
                           const tir::Expr& number);
    std::string stored(const tir::Buffer& buffer, const tir::Expr& index, const tir::Expr& value);
    std::string copiedBytes(const tir::StmtNode& node);
    std::string refused();

    CExpressions& m_names;
    bool m_isOn;
    bool m_isRefused = false;
    std::set<const tir::BufferNode*> m_numbers;
};

} // namespace tenon::compiler
