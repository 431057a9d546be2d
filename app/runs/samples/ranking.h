// SPDX-License-Identifier: Apache-2.0
// Rankings: the largest results of a classifier, with the names of its classes.
#pragma once

#include "core/base/result.h"
#include "core/tensor/tensor.h"

#include <string>
#include <vector>

namespace tenon::runs {

using namespace core;

struct RankedClass
{
    int64_t index = 0;
    double value = 0; ///< as the model gave it
    double probability = 0;
    std::string label; ///< empty: there is none
};

/// Of one example.
struct Ranking
{
    std::vector<RankedClass> classes; ///< the largest first
    bool isSoftmax = false;           ///< the model gave scores; probabilities are their softmax
};

/// A line for each class. Errors: IoFailure, BadArgument for what is no text.
Result<std::vector<std::string>> readLabels(const std::string& path);

/// Whether an output holds scores of classes: examples and classes, other sizes are 1.
bool isScores(const Tensor& output);

/// The `count` largest of each example. Labels that are one fewer than the classes begin with the
/// second: the first is the background.
std::vector<Ranking> rankingsOf(const Tensor& output, const std::vector<std::string>& labels,
                                int64_t count);

} // namespace tenon::runs
