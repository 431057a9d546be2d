// SPDX-License-Identifier: Apache-2.0
// Random nests: the fast evaluator and the interpreter give the same values.
#include "compiler/evaluate/evaluate.h"
#include "compiler/evaluate/interpreter.h"
#include "compiler/te/te.h"
#include "core/ir/tir/text.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace tenon::compiler {
namespace {

using te::Expr;
using Exprs = std::vector<Expr>;

class Generator
{
public:
    explicit Generator(unsigned seed)
        : m_random(seed)
    {
    }
    int64_t below(int64_t n) { return static_cast<int64_t>(m_random() % static_cast<uint64_t>(n)); }

    te::TensorRef input(DataType dtype)
    {
        Exprs shape;
        std::vector<int64_t> dims;
        for (int64_t rank = 1 + below(3); rank > 0; --rank) dims.push_back(1 + below(6));
        if (below(4) == 0) dims.back() += 300; // longer than one row of the fast evaluator
        for (const int64_t d : dims) shape.emplace_back(d);
        const auto tensor = te::placeholder("x", shape, dtype);
        inputs.push_back(tensor);
        values.push_back(Tensor::make(dtype, dims, [&](std::span<std::byte> bytes) {
            for (int64_t i = 0; i < elementCount(dims); ++i)
                if (dtype.isFloat())
                    storeNumber(dtype, bytes, i, static_cast<double>(below(2001) - 1000) / 250);
                else
                    storeInteger(dtype, bytes, i, below(200) - 100);
        }));
        return tensor;
    }

    /// Some element of the tensor, in bounds whatever the axes are.
    Expr element(const te::TensorRef& tensor, const Exprs& axes, const Exprs& extents)
    {
        Exprs at;
        for (const Expr& extent : tensor->shape()) {
            const auto a = static_cast<size_t>(below(static_cast<int64_t>(axes.size())));
            const bool fits = extents[a]->integer <= extent->integer;
            const Expr index = axes[a] * Expr(1 + below(3)) + Expr(below(4));
            switch (below(4)) {
            case 0: at.push_back(fits ? axes[a] : floorMod(index, extent)); break;
            case 1: at.push_back(floorMod(index, extent)); break;
            case 2: at.push_back(minimum(floorDiv(index, Expr(1 + below(3))), extent - 1)); break;
            default: at.push_back(fits ? extents[a] - 1 - axes[a] : Expr(0)); break;
            }
        }
        return te::at(tensor, at);
    }

    Expr value(int depth, DataType dtype, const Exprs& axes, const Exprs& extents)
    {
        const auto next = [&] { return value(depth - 1, dtype, axes, extents); };
        if (depth == 0) {
            for (const auto& tensor : inputs)
                if (tensor->dtype() == dtype && below(2)) return element(tensor, axes, extents);
            return dtype.isFloat() ? tir::floatImm(static_cast<double>(below(9)) / 4, dtype)
                                   : tir::intImm(below(9), dtype);
        }
        switch (below(8)) {
        case 0: return next() + next();
        case 1: return next() - next();
        case 2: return next() * next();
        case 3: return maximum(next(), next());
        case 4: return tir::select(next() < next(), next(), next());
        case 5: {
            const auto a = static_cast<size_t>(below(static_cast<int64_t>(axes.size())));
            return tir::call(tir::Intrinsic::IfThenElse, dtype,
                             {axes[a] < Expr(below(5)), next(), next()});
        }
        case 6: return tir::call(tir::Intrinsic::Abs, next());
        default:
            return dtype.isFloat() ? tir::cast(dtype, tir::cast(kInt32, next()))
                                   : next() / (tir::intImm(3, dtype));
        }
    }

    te::TensorRef nest(DataType dtype)
    {
        Exprs shape;
        for (int64_t rank = 1 + below(3); rank > 0; --rank) shape.emplace_back(1 + below(7));
        if (below(5) == 0) shape.back() = Expr(290 + below(100));
        if (below(2) == 0)
            return te::compute("c", shape, [&](const Exprs& i) {
                return value(static_cast<int>(below(4)), dtype, i, shape);
            });
        Exprs over;
        for (int64_t rank = 1 + below(2); rank > 0; --rank) over.emplace_back(1 + below(5));
        const te::Combiner combiners[] = {te::Combiner::Sum, te::Combiner::Max, te::Combiner::Min};
        return te::reduce("r", shape, over, combiners[below(3)],
                          [&](const Exprs& i, const Exprs& k) {
                              Exprs axes = i, extents = shape;
                              axes.insert(axes.end(), k.begin(), k.end());
                              extents.insert(extents.end(), over.begin(), over.end());
                              return value(static_cast<int>(below(3)), dtype, axes, extents);
                          });
    }

    te::Tensors inputs;
    std::vector<Tensor> values;

private:
    std::mt19937_64 m_random;
};

void compareEvaluators(DataType dtype, double tolerance)
{
    for (unsigned seed = 1; seed <= 150; ++seed) {
        Generator generator(seed);
        generator.input(dtype);
        generator.input(dtype);
        const te::TensorRef first = generator.nest(dtype);
        const auto function = te::createPrimFunc("main", generator.inputs, {first});
        ASSERT_TRUE(function) << function.error().text();
        const auto slow = interpret(*function, generator.values);
        const JobContext job(seed % 2 + 1);
        const auto fast = evaluate(*function, generator.values, job);
        ASSERT_TRUE(slow) << slow.error().text() << tir::print(*function);
        ASSERT_TRUE(fast) << fast.error().text() << tir::print(*function);
        for (int64_t i = 0; i < (*slow)[0].size(); ++i) {
            const double a = (*slow)[0].number(i), b = (*fast)[0].number(i);
            ASSERT_LE(std::abs(a - b), tolerance * std::max(1.0, std::abs(a)))
                << "seed " << seed << " element " << i << "\n"
                << tir::print(*function);
        }
    }
}

// Sums are rounded at every step by the interpreter and once by the evaluator.
TEST(EvaluateRandom, Floats) { compareEvaluators(kFloat32, 1e-6); }
TEST(EvaluateRandom, Doubles) { compareEvaluators(kFloat64, 1e-14); }
TEST(EvaluateRandom, Integers) { compareEvaluators(kInt32, 0); }
TEST(EvaluateRandom, Bytes) { compareEvaluators(kInt8, 0); }

} // namespace
} // namespace tenon::compiler
