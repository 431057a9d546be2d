// SPDX-License-Identifier: Apache-2.0
// Comparing functions by running them.
#include "tests/compiler/schedule/support.h"

#include "compiler/evaluate/interpreter.h"
#include "compiler/schedule/rules.h"
#include "core/ir/tir/simplify.h"
#include "core/ir/tir/visit.h"

#include <cmath>
#include <random>

namespace tenon::test {
namespace {

using core::Tensor;

/// With `firstSize` and up for its sizes.
tir::PrimFunc ofSomeSizes(tir::PrimFunc function, int64_t firstSize)
{
    tir::VarMap values;
    for (const tir::Var& size : function.sizes)
        values[size.get()] = tir::Expr(static_cast<int64_t>(values.size()) + firstSize);
    tir::BufferMap buffers;
    const auto known = [&](const tir::Buffer& buffer) {
        tir::BufferNode made = *buffer;
        for (tir::Expr& extent : made.shape) extent = tir::substitute(extent, values);
        const auto shared = std::make_shared<const tir::BufferNode>(std::move(made));
        buffers[buffer.get()] = shared;
        return shared;
    };
    for (tir::Buffer& param : function.params) param = known(param);
    tir::visitStmts(function.body, [&](const tir::Stmt& stmt) {
        if (stmt->kind == tir::StmtKind::Allocate) known(stmt->buffer);
        for (const tir::Buffer& buffer : stmt->block.allocs) known(buffer);
        return true;
    });
    function.body = tir::substitute(function.body, values, buffers);
    function.sizes.clear();
    return function;
}

std::vector<int64_t> shapeOf(const tir::Buffer& buffer)
{
    std::vector<int64_t> shape;
    for (const tir::Expr& extent : buffer->shape) {
        const tir::Expr simple = tir::simplify(extent);
        CHECK(simple->kind == tir::ExprKind::IntImm) << "symbolic shape";
        shape.push_back(simple->integer);
    }
    return shape;
}

} // namespace

std::vector<Tensor> randomInputs(const tir::PrimFunc& function, unsigned seed)
{
    std::mt19937 engine(seed);
    std::vector<Tensor> inputs;
    for (size_t i = 0; i + function.outputCount < function.params.size(); ++i) {
        const tir::Buffer& param = function.params[i];
        std::vector<int64_t> shape = shapeOf(param);
        const int64_t count = core::elementCount(shape);
        inputs.push_back(Tensor::make(param->dtype, shape, [&](std::span<std::byte> bytes) {
            // Eighths keep sums of products exact, so any order of summation agrees.
            for (int64_t k = 0; k < count; ++k) {
                const int value = static_cast<int>(engine() % 33) - 16;
                if (param->dtype.isFloat())
                    core::storeNumber(param->dtype, bytes, k, value / 8.0);
                else
                    core::storeInteger(param->dtype, bytes, k, std::abs(value) % 3);
            }
        }));
    }
    return inputs;
}

std::string difference(const tir::PrimFunc& before, const tir::PrimFunc& after, int64_t firstSize)
{
    const tir::PrimFunc a = ofSomeSizes(before, firstSize), b = ofSomeSizes(after, firstSize);
    const std::vector<Tensor> inputs = randomInputs(a);
    std::vector<Tensor> inputsOfB;
    for (size_t i = 0; i < inputs.size(); ++i)
        inputsOfB.push_back(inputs[i].reshaped(shapeOf(b.params[i])));
    const auto wanted = compiler::interpret(a, inputs);
    if (!wanted) return "before: " + wanted.error().text();
    const auto got = compiler::interpret(b, inputsOfB);
    if (!got) return "after: " + got.error().text();
    for (size_t output = 0; output < wanted->size(); ++output) {
        const std::vector<double> x = (*wanted)[output].numbers();
        const std::vector<double> y = (*got)[output].numbers();
        if (x.size() != y.size()) return "outputs differ in size";
        for (size_t k = 0; k < x.size(); ++k)
            if (!(std::isnan(x[k]) && std::isnan(y[k])) && x[k] != y[k] &&
                !(std::abs(x[k] - y[k]) <= 1e-4 * (1 + std::abs(x[k]))))
                return "output " + std::to_string(output) + " element " + std::to_string(k) + ": " +
                       std::to_string(x[k]) + " before, " + std::to_string(y[k]) + " after";
    }
    return {};
}

std::string scheduleDifference(const tir::PrimFunc& before, const tir::PrimFunc& scheduled,
                               int64_t firstSize)
{
    const std::string direct = difference(before, scheduled, firstSize);
    if (!direct.empty()) return "scheduled: " + direct;
    const auto lowered = compiler::lowerToLoops(scheduled);
    if (!lowered) return "lowering: " + lowered.error().text();
    const std::string flat = difference(before, *lowered, firstSize);
    return flat.empty() ? "" : "lowered: " + flat;
}

} // namespace tenon::test
