// SPDX-License-Identifier: Apache-2.0
// Tolerances of test cases: two forms of meta.json, and the default.
#include "app/cli/verify_tolerance.h"

#include "core/base/file.h"

#include <algorithm>
#include <cmath>

namespace tenon::cli {
namespace {

Tolerance defaultTolerance(const Tensor& wanted, bool isSingleOperator)
{
    double largest = 0;
    if (wanted.dtype().isFloat())
        for (const double value : wanted.numbers())
            if (std::isfinite(value)) largest = std::max(largest, std::fabs(value));
    const bool isHalf = wanted.dtype().isFloat() && wanted.dtype().bits == 16;
    Tolerance out{1e-3, (isHalf ? 4e-3 : 1e-5) * largest};
    if (isSingleOperator && !isHalf) out.absolute = 1e-5;
    return out;
}

/// "sets": [{"outputs": [{"suggested_rtol", "suggested_atol"}]}].
void readSuggested(const Json& meta, const OutputPlace& place, Tolerance& out)
{
    if (!meta.contains("sets") || !meta["sets"].is_array() || place.set >= meta["sets"].size())
        return;
    const Json& outputs = meta["sets"][place.set].value("outputs", Json::array());
    if (place.index >= outputs.size() || !outputs[place.index].is_object()) return;
    out.relative = outputs[place.index].value("suggested_rtol", out.relative);
    out.absolute = outputs[place.index].value("suggested_atol", out.absolute);
}

/// True when an interpreter of its own, with the rounding that we have too, met every integer.
bool isRoundingExact(const Json& meta)
{
    const Json check = meta.value("rounding_check", Json::object());
    if (!check.is_object()) return false;
    const Json counts = check.value("float_half_even_as_xnnpack", Json::object());
    return counts.is_object() && counts.size() == 1 && counts.contains("0");
}

/// "tolerance": [{"output", "kind", ..}], where a kind is steps, exact or one of floats.
void readStated(const Json& meta, const OutputPlace& place, Tolerance& out)
{
    const Json stated = meta.value("tolerance", Json::array());
    if (!stated.is_array()) return;
    for (const Json& entry : stated) {
        if (!entry.is_object() || entry.value("output", size_t{0}) != place.index) continue;
        const std::string kind = entry.value("kind", "");
        out = {};
        out.isStated = true;
        if (kind == "steps" && !isRoundingExact(meta)) out.steps = entry.value("max_steps", 0);
        out.mayDiffer = entry.value("may_differ_fraction", 0.0);
        out.relative = entry.value("rtol", 0.0);
        out.absolute = entry.value("atol", 0.0);
        if (entry.contains("mean_abs")) out.meanAbsolute = entry.value("mean_abs", 0.0);
    }
}

} // namespace

Json readMeta(const std::string& folder)
{
    auto text = readFile(folder + "/meta.json");
    if (!text) return Json::object();
    Json meta = Json::parse(*text, nullptr, false);
    return meta.is_object() ? meta : Json::object();
}

Tolerance toleranceFor(const Json& meta, const OutputPlace& place, const Tensor& wanted,
                       const std::optional<double>& relative, const std::optional<double>& absolute)
{
    Tolerance out = defaultTolerance(wanted, place.isSingleOperator);
    readSuggested(meta, place, out);
    readStated(meta, place, out);
    if (relative) out.relative = *relative;
    if (absolute) out.absolute = *absolute;
    return out;
}

} // namespace tenon::cli
