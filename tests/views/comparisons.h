// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons of smallDocument(2) made in code, and an engine that answers with them.
#pragma once

#include "core/compare/comparison.h"
#include "views/presenters/compare_question.h"
#include "views/presenters/engine.h"

#include <memory>

namespace tenon::tests {

/// One tensor for each block, the result of its Relu. The first is within tolerance; the second is
/// too, or it and its own kernel are far off.
core::Comparison smallComparison(bool isFaulty);

/// What comparing engines are asked for last, and what they do.
struct FakeComparing
{
    views::CompareQuestion asked;
    int runs = 0;
    bool isFaulty = true;
    std::optional<core::Diagnostic> error; ///< instead of an answer
};

/// fakeEngine() that compares; the values of each tensor are 2 x 2 x 3 numbers, of which the device
/// has the last one off by 1 in the second tensor.
views::Engine comparingEngine(const std::shared_ptr<FakeComparing>& fake);

} // namespace tenon::tests
