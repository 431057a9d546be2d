// SPDX-License-Identifier: Apache-2.0
// Tries every size within the bounds on what typing took to fit. Checks of several sizes at once
// are left to the run.
#include "compiler/frontend/fitting_sizes.h"

#include "compiler/ops/size_checks.h"
#include "core/base/text.h"
#include "core/ir/size_bounds.h"
#include "core/tensor/dim_products.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <tuple>

namespace tenon::compiler {
namespace {

constexpr int64_t kMostSizes = int64_t{1} << 20;

/// The names that a dimension is computed from.
void collectNames(const Dim& dim, std::set<std::string>& names)
{
    for (const std::string& symbol : dim.symbols()) {
        const auto operation = operationOf(symbol);
        if (!operation) {
            names.insert(symbol);
            continue;
        }
        collectNames(operation->a, names);
        collectNames(operation->b, names);
    }
}

using Value = std::optional<int64_t>;

/// A dimension of one name, read once and computed for many of its values.
class SizeOf
{
public:
    explicit SizeOf(const Dim& dim)
    {
        for (DimProduct& product : productsOf(dim)) {
            Part part{product.coefficient, {}};
            for (const std::string& symbol : product.symbols) {
                const auto operation = operationOf(symbol);
                part.factors.push_back({});
                if (!operation) continue;
                part.factors.back().kind = operation->kind;
                part.factors.back().sides = {SizeOf(operation->a), SizeOf(operation->b)};
            }
            m_parts.push_back(std::move(part));
        }
    }

    /// Nothing where it divides by what is not positive or leaves 64 bits.
    Value at(int64_t name) const
    {
        int64_t sum = 0;
        for (const Part& part : m_parts) {
            int64_t value = part.coefficient;
            for (const Factor& factor : part.factors) {
                const Value one = factor.at(name);
                if (!one || __builtin_mul_overflow(value, *one, &value)) return std::nullopt;
            }
            if (__builtin_add_overflow(sum, value, &sum)) return std::nullopt;
        }
        return sum;
    }

private:
    struct Factor
    {
        DimOperation::Kind kind = DimOperation::FloorDivide;
        std::vector<SizeOf> sides; ///< none: the name

        Value at(int64_t name) const
        {
            if (sides.empty()) return name;
            const Value a = sides[0].at(name), b = sides[1].at(name);
            if (!a || !b) return std::nullopt;
            if (kind == DimOperation::Minimum) return std::min(*a, *b);
            if (kind == DimOperation::Maximum) return std::max(*a, *b);
            if (*b < 1) return std::nullopt;
            return *a / *b - (*a % *b != 0 && *a < 0);
        }
    };
    struct Part
    {
        int64_t coefficient;
        std::vector<Factor> factors;
    };
    std::vector<Part> m_parts;
};

bool holds(SizeCheck::Relation relation, Value a, Value b)
{
    if (!a || !b) return true; // nobody knows
    return relation == SizeCheck::AtMost
               ? *a <= *b
               : *a == *b || (relation == SizeCheck::OneOrEqual && *a == 1);
}

/// What is left of one name's bounds.
struct Fit
{
    std::vector<bool> sizes; ///< from the lower bound on
    size_t fewest = 0;       ///< that a single check leaves
    SizeCheck check;         ///< which leaves them
    NodeId node;
};

class Fits
{
public:
    explicit Fits(const Module& module)
        : m_module(module)
        , m_bounds(boundsOf(module.main()))
    {
    }

    std::map<std::string, Fit> all()
    {
        if (m_bounds.empty()) return {};
        for (const NodeId id : m_module.main().order)
            for (const SizeCheck& check : sizeChecks(m_module, m_module.node(id))) add(id, check);
        return std::move(m_fits);
    }

private:
    void add(NodeId node, const SizeCheck& check)
    {
        const bool isNew = m_seen.insert({check.relation, check.a.text(), check.b.text()}).second;
        if (!isNew || check.relation == SizeCheck::AtMostOf) return;
        std::set<std::string> names;
        collectNames(check.a, names);
        collectNames(check.b, names);
        const auto bounds = names.size() == 1 ? m_bounds.find(*names.begin()) : m_bounds.end();
        if (bounds == m_bounds.end()) return;
        const auto [low, high] = bounds->second;
        if (high - low >= kMostSizes) return;
        const SizeOf a(check.a), b(check.b);
        std::vector<bool> sizes;
        for (int64_t size = low; size <= high; ++size)
            sizes.push_back(holds(check.relation, a.at(size), b.at(size)));
        const auto count = static_cast<size_t>(std::count(sizes.begin(), sizes.end(), true));
        if (count == sizes.size()) return;
        Fit& fit = m_fits[bounds->first];
        if (fit.sizes.empty() || count < fit.fewest) {
            fit.fewest = count;
            fit.check = check;
            fit.node = node;
        }
        fit.sizes.resize(sizes.size(), true);
        for (size_t i = 0; i < sizes.size(); ++i) fit.sizes[i] = fit.sizes[i] && sizes[i];
    }

    const Module& m_module;
    const SizeBounds m_bounds;
    std::map<std::string, Fit> m_fits;
    std::set<std::tuple<int, std::string, std::string>> m_seen;
};

/// "can be 233 to 240 of 64..512 only", "can be 64 to 512 in steps of 32 only".
std::string fittingText(const std::vector<int64_t>& sizes, const DimBounds& bounds)
{
    int64_t step = 0;
    for (const int64_t size : sizes) step = std::gcd(step, size - sizes[0]);
    const int64_t first = sizes.front(), last = sizes.back();
    const std::string all = std::to_string(first) + " to " + std::to_string(last);
    const bool isRegular =
        step > 0 && (last - first) / step + 1 == static_cast<int64_t>(sizes.size());
    const std::string what = sizes.size() == 1        ? std::to_string(first)
                             : isRegular && step == 1 ? all
                             : isRegular              ? all + " in steps of " + std::to_string(step)
                                         : std::to_string(sizes.size()) + " sizes from " + all;
    return "can be " + what + " of " + boundsText(bounds) + " only";
}

std::string reasonText(const SizeCheck& check)
{
    const std::string axis = check.axis < 0 ? "" : " of axis " + std::to_string(check.axis);
    const std::string sizes = check.a.text() + " and " + check.b.text() + axis;
    return check.relation == SizeCheck::AtMost ? sizes + " must be in this order"
                                               : sizes + " must be equal";
}

} // namespace

void narrowBounds(Loaded& loaded)
{
    if (hasErrors(loaded.diagnostics)) return;
    GraphFunction main = loaded.module.main();
    SizeBounds bounds = boundsOf(main);
    for (const auto& [name, fit] : Fits(loaded.module).all()) {
        const NodeRecord& node = loaded.module.node(fit.node);
        const Location where{.node = node.name, .op = node.op};
        DimBounds& range = bounds.at(name);
        std::vector<int64_t> sizes;
        for (size_t i = 0; i < fit.sizes.size(); ++i)
            if (fit.sizes[i]) sizes.push_back(range.low + static_cast<int64_t>(i));
        if (sizes.empty()) {
            loaded.diagnostics.push_back(
                makeError(DiagnosticCode::ShapeMismatch,
                          "no size of " + quoted(name) + " within " + boundsText(range) +
                              " fits: " + reasonText(fit.check) + "; give other bounds",
                          where));
            continue;
        }
        const DimBounds hull{sizes.front(), sizes.back()};
        loaded.diagnostics.push_back(makeWarning(
            DiagnosticCode::DynamicShape,
            quoted(name) + " " + fittingText(sizes, range) + ", as " + reasonText(fit.check) +
                (hull == range ? std::string("; other sizes end the run")
                               : "; --shape " + name + "=" + boundsText(hull) + " says so"),
            where));
        range = hull;
    }
    if (hasErrors(loaded.diagnostics)) return;
    setBounds(main, bounds);
    loaded.module.setFunction(std::move(main));
}

} // namespace tenon::compiler
