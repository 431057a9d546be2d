// SPDX-License-Identifier: Apache-2.0
// Evaluates one operator in both ways that there are.
#include "tests/compiler/ops/naive_sample.h"

#include "compiler/evaluate/evaluate.h"
#include "compiler/evaluate/interpreter.h"
#include "tests/compiler/ops/op_case.h"

#include <cmath>

namespace tenon::compiler {

std::string typeOf(const Dims& shape)
{
    std::string out = "Tensor[(";
    for (const int64_t d : shape) out += std::to_string(d) + ", ";
    return out.substr(0, out.size() - 2) + "), float32]";
}

Sample run(const std::string& example)
{
    const auto module = test::exampleModule(example);
    CHECK(module) << example << "\n" << module.error().text();
    const auto function = test::lowered(*module, module->node(module->main().order[0]));
    CHECK(function) << function.error().text();
    Sample out{test::randomInputs(*module, 3), {}};
    auto result = interpret(**function, out.inputs);
    CHECK(result) << example << "\n" << result.error().text();
    out.output = (*result)[0];
    const JobContext job;
    const auto fast = evaluate(**function, out.inputs, job);
    CHECK(fast) << example << "\n" << fast.error().text();
    for (int64_t i = 0; i < out.output.size(); ++i)
        CHECK(std::abs(out.output.number(i) - (*fast)[0].number(i)) < 1e-5) << example;
    return out;
}

} // namespace tenon::compiler
