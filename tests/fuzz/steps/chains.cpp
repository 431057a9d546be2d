// SPDX-License-Identifier: Apache-2.0
// Chains of arithmetic that come out at, one unit above or one unit below a whole number, where a
// reciprocal, a fused or a reordered operation is seen by the step behind it.
#include "tests/fuzz/steps/step_model.h"

#include <algorithm>
#include <cmath>
#include <functional>

namespace tenon::test {
namespace {

/// Odd, so that vectors have a rest.
constexpr int64_t kCount = 67;

/// `value` moved by so many units in the last place of its type.
double moved(DataType dtype, double value, int64_t units)
{
    const int digits = dtype == core::kFloat64   ? 53
                       : dtype.bits == 32        ? 24
                       : dtype == core::kFloat16 ? 11
                                                 : 8;
    int exponent = 0;
    (void)std::frexp(value, &exponent);
    return inType(dtype, value + std::ldexp(static_cast<double>(units), exponent - digits));
}

/// Numbers that people write: 0.02, 1.7, 3, 255.
double constantLike(StepModel& m, DataType dtype)
{
    static constexpr double kUsual[] = {0.02, 0.1, 0.3, 0.007, 3, 7, 49, 255, 1.7, 0.0078125, 1e-3};
    const double value = m.chance(70) ? kUsual[m.pick(0, 10)] : m.uniform(0.001, 20);
    return inType(dtype, value);
}

class Chain
{
public:
    Chain(StepModel& model, DataType dtype)
        : m(model)
        , m_dtype(dtype)
    {
        m_shape = m.chance(50) ? Dims{kCount} : Dims{3, kCount};
    }

    StepValue make()
    {
        struct Kind
        {
            const char* name;
            StepValue (Chain::*make)();
        };
        static constexpr Kind kKinds[] = {
            {"x / c", &Chain::quotient},
            {"x / y", &Chain::quotientOfData},
            {"x * c", &Chain::product},
            {"x * y + z", &Chain::productAndSum},
            {"z - x * y", &Chain::productTakenOff},
            {"x * y - u * v", &Chain::twoProducts},
            {"(x + a) + b", &Chain::sums},
            {"(x * a) * b", &Chain::products},
            {"(x / a) * b", &Chain::quotientAndProduct},
            {"x / a / b", &Chain::quotients},
            {"(x - a) * b + c", &Chain::normalized},
            {"sqrt(x) / c", &Chain::root},
            {"(1 / x) * y", &Chain::reciprocal},
            {"x^2 * c", &Chain::square},
            {"x * a + y * b", &Chain::blend},
            {"LeakyRelu(x)", &Chain::leaky},
        };
        const Kind& kind = kKinds[m.pick(0, std::size(kKinds) - 1)];
        m.how = std::string(kind.name) + " of " + m_dtype.text();
        return (this->*kind.make)();
    }

private:
    /// A value whose element for whole number k is near of(k). Beside zero are subnormal numbers,
    /// which ARMv7's vectors do not know, and what has no root.
    StepValue near(const std::function<double(double)>& of)
    {
        Numbers values;
        const double half = m.chance(30) ? 0.5 : 0;
        for (int64_t i = 0; i < core::elementCount(m_shape); ++i) {
            const double k = static_cast<double>(m.pick(-300, 300)) + half;
            const double value = inType(m_dtype, of(k));
            const int64_t units = m.pick(-2, 2);
            values.push_back(value == 0 ? value : moved(m_dtype, value, units));
        }
        return m.input(tensorOf(m_dtype, m_shape, values));
    }
    /// Numbers without a pattern, away from zero.
    StepValue any(double low = 0.5, double high = 9)
    {
        Numbers values;
        for (int64_t i = 0; i < core::elementCount(m_shape); ++i)
            values.push_back(inType(m_dtype, m.uniform(low, high)));
        return m.input(tensorOf(m_dtype, m_shape, values));
    }
    StepValue number(double value) { return m.scalar(m_dtype, value); }
    StepValue a(const char* op, const StepValue& x, const StepValue& y)
    {
        return apply(m, op, x, y);
    }
    /// An input that takes `x` to zero or a whole number, when both were rounded by themselves.
    StepValue opposite(const StepValue& x, double sign)
    {
        Numbers values = x.tensor.numbers();
        for (double& value : values)
            value = inType(m_dtype,
                           sign * value + static_cast<double>(m.chance(50) ? 0 : m.pick(-9, 9)));
        return m.input(tensorOf(m_dtype, x.shape(), values));
    }

    StepValue quotient()
    {
        const double c = constantLike(m, m_dtype);
        return a("Div", near([&](double k) { return k * c; }), number(c));
    }
    StepValue quotientOfData()
    {
        const StepValue y = any();
        int64_t i = 0;
        return a("Div", near([&](double k) { return k * y.tensor.number(i++); }), y);
    }
    StepValue product()
    {
        const double c = constantLike(m, m_dtype);
        return a("Mul", near([&](double k) { return k / c; }), number(c));
    }
    StepValue productAndSum()
    {
        const StepValue product = a("Mul", any(), any());
        const StepValue z = opposite(product, -1);
        return m.chance(50) ? a("Add", product, z) : a("Add", z, product);
    }
    StepValue productTakenOff()
    {
        const StepValue product = a("Mul", any(), any());
        return a("Sub", opposite(product, 1), product);
    }
    StepValue twoProducts()
    {
        const StepValue x = any(), y = any();
        return a("Sub", a("Mul", x, y), a("Mul", y, x));
    }
    StepValue sums()
    {
        const double c = constantLike(m, m_dtype), d = constantLike(m, m_dtype);
        return a("Add", a("Add", near([&](double k) { return k - c - d; }), number(c)), number(d));
    }
    StepValue products()
    {
        const double c = constantLike(m, m_dtype), d = constantLike(m, m_dtype);
        return a("Mul", a("Mul", near([&](double k) { return k / c / d; }), number(c)), number(d));
    }
    StepValue quotientAndProduct()
    {
        const double c = constantLike(m, m_dtype), d = constantLike(m, m_dtype);
        return a("Mul", a("Div", near([&](double k) { return k * c / d; }), number(c)), number(d));
    }
    StepValue quotients()
    {
        const double c = constantLike(m, m_dtype), d = constantLike(m, m_dtype);
        return a("Div", a("Div", near([&](double k) { return k * c * d; }), number(c)), number(d));
    }
    StepValue normalized()
    {
        const double c = constantLike(m, m_dtype), d = constantLike(m, m_dtype);
        const double e = constantLike(m, m_dtype);
        const StepValue x = near([&](double k) { return (k - e) / d + c; });
        return a("Add", a("Mul", a("Sub", x, number(c)), number(d)), number(e));
    }
    StepValue root()
    {
        const double c = constantLike(m, m_dtype);
        return a("Div", apply(m, "Sqrt", near([&](double k) { return k * k * c * c; })), number(c));
    }
    StepValue reciprocal()
    {
        const StepValue x = any();
        int64_t i = 0;
        const StepValue y = near([&](double k) { return k * x.tensor.number(i++); });
        return a("Mul", apply(m, "Reciprocal", x), y);
    }
    StepValue square()
    {
        const double c = constantLike(m, m_dtype);
        const StepValue x = near([&](double k) { return std::sqrt(std::fabs(k) / c); });
        return a("Mul", a("Pow", x, number(2)), number(c));
    }
    StepValue blend()
    {
        const double c = constantLike(m, m_dtype), d = constantLike(m, m_dtype);
        const StepValue x = any();
        int64_t i = 0;
        const StepValue y = near([&](double k) { return (k - x.tensor.number(i++) * c) / d; });
        return a("Add", a("Mul", x, number(c)), a("Mul", y, number(d)));
    }

    /// By an attribute, which is of binary32 whatever the tensor is.
    StepValue leaky()
    {
        const double alpha = constantLike(m, core::kFloat32);
        const StepValue x = near([&](double k) { return k < 0 ? k / alpha : k; });
        // Halves are computed in binary32, attributes included.
        const DataType computed = m_dtype.bits == 16 ? core::kFloat32 : m_dtype;
        Numbers out;
        for (const double value : x.tensor.numbers())
            out.push_back(value < 0 ? inType(m_dtype, inType(computed, value * alpha)) : value);
        setFloat(m.node("LeakyRelu", {x}, {tensorOf(m_dtype, x.shape(), out)}), "alpha", alpha);
        return m.last();
    }

    StepModel& m;
    DataType m_dtype;
    Dims m_shape;
};

/// Other views of the same numbers, which kernels read through.
StepValue viewed(StepModel& m, const StepValue& x)
{
    if (x.shape().size() != 2 || m.chance(50)) return x;
    m.how += ", transposed";
    const int64_t rows = x.shape()[0], columns = x.shape()[1];
    Numbers out;
    for (int64_t c = 0; c < columns; ++c)
        for (int64_t r = 0; r < rows; ++r) out.push_back(x.tensor.number(r * columns + c));
    setInts(m.node("Transpose", {x}, {tensorOf(x.dtype(), {columns, rows}, out)}), "perm", {1, 0});
    return m.last();
}

/// What leaves the numbers of a half says nothing about rounding.
StepValue finiteChain(StepModel& m, DataType dtype)
{
    for (;;) {
        const StepValue x = Chain(m, dtype).make();
        const Numbers numbers = x.tensor.numbers();
        if (std::all_of(numbers.begin(), numbers.end(), [](double n) { return std::isfinite(n); }))
            return x;
    }
}

} // namespace

StepValue addChain(StepModel& m, DataType dtype)
{
    StepValue x = viewed(m, finiteChain(m, dtype));
    static constexpr const char* kAfter[] = {"Neg", "Abs", "Relu"};
    if (m.chance(20)) {
        const char* op = kAfter[m.pick(0, 2)];
        m.how += std::string(", ") + op;
        x = apply(m, op, x);
    }
    if (m.chance(15)) {
        m.how += ", Max";
        x = apply(m, "Max", x, m.scalar(dtype, 0.5));
    }
    return x;
}

} // namespace tenon::test
