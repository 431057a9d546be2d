// SPDX-License-Identifier: Apache-2.0
// OutcomeTable: what came of all cases, by operator and type.
#pragma once

#include "tests/conformance/tflite/check_case.h"

#include <map>

namespace tenon::test {

class OutcomeTable
{
public:
    /// Counts it; what is to be said of it, "" for an exact one.
    std::string add(const TfliteCase& one, const Reference& reference, const Outcome& outcome);
    /// Whether the last one failed.
    bool isWrong() const { return m_isWrong; }
    int failures() const { return m_failures; }
    /// As Markdown.
    std::string text() const;

private:
    struct Row
    {
        int cases = 0, exact = 0, close = 0, wrong = 0, refused = 0, alone = 0;
        double steps = 0, error = 0;
        int64_t elements = 0, off = 0;
        void add(const Row& other);
    };

    std::map<std::pair<std::string, std::string>, Row> m_rows;
    int m_failures = 0;
    bool m_isWrong = false;
};

} // namespace tenon::test
