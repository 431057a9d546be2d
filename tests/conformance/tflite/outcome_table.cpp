// SPDX-License-Identifier: Apache-2.0
// Judging outcomes, and the table of them.
#include "tests/conformance/tflite/outcome_table.h"

#include "tests/conformance/tflite/known_steps.h"

#include <algorithm>
#include <cstdio>

namespace tenon::test {
namespace {

std::string typeOf(const TfliteCase& one) { return one.type.substr(0, one.type.find(',')); }

bool isAllowed(const TfliteCase& one, const Outcome& outcome)
{
    const std::string type = typeOf(one);
    if (outcome.error > (type == "hybrid" ? kCloseHybrids : kCloseFloats)) return false;
    if (outcome.steps == 0) return true;
    return std::any_of(std::begin(kKnownSteps), std::end(kKnownSteps), [&](const KnownSteps& k) {
        return k.op == one.op && k.type == type && outcome.steps <= k.steps;
    });
}

std::string number(double value)
{
    char out[32];
    std::snprintf(out, sizeof out, "%.3g", value);
    return out;
}

} // namespace

void OutcomeTable::Row::add(const Row& other)
{
    cases += other.cases;
    exact += other.exact;
    close += other.close;
    wrong += other.wrong;
    refused += other.refused;
    alone += other.alone;
    steps = std::max(steps, other.steps);
    error = std::max(error, other.error);
    elements += other.elements;
    off += other.off;
}

std::string OutcomeTable::add(const TfliteCase& one, const Reference& reference,
                              const Outcome& outcome)
{
    Row row{.cases = 1,
            .steps = outcome.steps,
            .error = outcome.error,
            .elements = outcome.elements,
            .off = outcome.off};
    const bool isExact = outcome.steps == 0 && outcome.error == 0 && outcome.fault.empty();
    std::string remark =
        isExact ? "" : number(outcome.steps) + " steps, error " + number(outcome.error);
    if (!outcome.fault.empty()) remark = outcome.fault;
    if (!outcome.refusal.empty()) {
        row.refused = 1;
        remark = "refused here: " + outcome.refusal;
    } else if (!outcome.fault.empty() || !isAllowed(one, outcome)) {
        row.wrong = 1;
    } else {
        (isExact ? row.exact : row.close) = 1;
    }
    if (reference.results.empty()) {
        row.alone = 1;
        remark += (remark.empty() ? "" : "; ") + ("no reference: " + reference.refusal);
    }
    m_isWrong = row.wrong + row.refused > 0;
    m_failures += m_isWrong;
    m_rows[{one.op, typeOf(one)}].add(row);
    return remark;
}

std::string OutcomeTable::text() const
{
    std::string out = "| operator | type | cases | exact | close | wrong | refused here | without "
                      "reference | elements off | most steps | largest error "
                      "|\n|---|---|---|---|---|---|---|---|---|---|---|\n";
    Row all;
    const auto line = [&](const std::string& op, const std::string& type, const Row& row) {
        out += "| " + op + " | " + type;
        for (const int count : {row.cases, row.exact, row.close, row.wrong, row.refused, row.alone})
            out += " | " + (count > 0 ? std::to_string(count) : std::string());
        out += " | " + (row.off > 0 ? number(100.0 * static_cast<double>(row.off) /
                                             static_cast<double>(row.elements)) +
                                          " %"
                                    : "");
        out += " | " + (row.steps > 0 ? number(row.steps) : "") + " | " +
               (row.error > 0 ? number(row.error) : "") + " |\n";
    };
    for (const auto& [key, row] : m_rows) {
        line(key.first, key.second, row);
        all.add(row);
    }
    line("all", "", all);
    return out;
}

} // namespace tenon::test
