// SPDX-License-Identifier: Apache-2.0
// Faults too small for tolerances of whole tensors: rounding alone does not explain them.
#include "core/base/text.h"
#include "tests/compiler/compare/faults.h"
#include "tests/compiler/compare/small_faults.h"
#include "tests/compiler/frontend/model_text.h"

#include <gtest/gtest.h>

#include <algorithm>

namespace tenon::compiler {
namespace {

using test::SmallFault;

Comparison comparedFaulty(const CompareRequest& request)
{
    JobContext job(2);
    auto out = compareTensors(request, job);
    CHECK(out) << out.error().text();
    return std::move(*out);
}

CompileResultPtr shippedFaulty(const CompareRequest& request)
{
    JobContext job(2);
    auto out = compile(request.loaded, request.options, job);
    CHECK(out) << out.error().text();
    return *out;
}

CompareRequest digitsRequest()
{
    CompareRequest request = test::requestFor(test::digits(), test::digitsData());
    request.sets.resize(1);
    return request;
}

/// Three convolutions of int8, the second with weights of its own. None of its results is at the
/// end of its range, where a step of a weight changes nothing: processors take another weight each.
CompareRequest integersRequest()
{
    const std::string shared = "init w float32 4,4,3,3\n", reads = "node Conv c1 f0,fw ";
    std::string text = test::convolutions({0.02, 0.05, 0.05});
    CHECK(text.find(shared) != std::string::npos && text.find(reads) != std::string::npos) << text;
    text = core::replaced(text, shared,
                          shared + "init v float32 4,4,3,3\nfloats sv float32 1 = 0.02\n");
    text = core::replaced(text, reads,
                          "node QuantizeLinear qv v,sv,z -> ev\n"
                          "node DequantizeLinear dv ev,sv,z -> fv\nnode Conv c1 f0,fv ");
    const auto loaded = test::modelFrom(test::modelOf(text).SerializeAsString());
    return test::requestFor(loaded, test::seeded(*loaded));
}

void expectFaultBlamed(const Comparison& out, size_t call)
{
    ASSERT_TRUE(out.first());
    const size_t first = *out.first();
    EXPECT_EQ(out.tensors[first].call, call) << out.tensors[first].name;
    EXPECT_EQ(out.ranked().front(), first);
    for (size_t i = 0; i < out.tensors.size(); ++i)
        EXPECT_EQ(out.tensors[i].isolated && out.tensors[i].isolated->isOutside, i == first)
            << out.tensors[i].name;
}

/// The call that computes a node of the model.
size_t callOf(const CompileResult& built, const std::string& node)
{
    const auto& calls = built.program.calls;
    const auto found = std::find_if(calls.begin(), calls.end(), [&](const KernelCall& call) {
        return std::find(call.fromNodes.begin(), call.fromNodes.end(), node) !=
               call.fromNodes.end();
    });
    CHECK(found != calls.end()) << "no call computes " << node;
    return static_cast<size_t>(found - calls.begin());
}

/// The faults by name of the call that computes `node`, or of one in the middle, each of which must
/// be found; how many there were.
size_t plantAll(CompareRequest request, const std::vector<std::string>& names,
                const std::string& node = {})
{
    const CompileResultPtr built = shippedFaulty(request);
    const size_t victim = node.empty() ? test::victimOf(*built) : callOf(*built, node);
    size_t count = 0;
    for (const SmallFault& fault : test::smallFaults(*built, victim)) {
        if (std::find(names.begin(), names.end(), fault.name) == names.end()) continue;
        SCOPED_TRACE(fault.name);
        size_t planted = 0;
        request.device = test::runHere(test::planted(fault, planted));
        expectFaultBlamed(comparedFaulty(request), victim);
        EXPECT_EQ(planted, 2U) << "in the program with taps and in that of single calls";
        ++count;
    }
    return count;
}

TEST(SmallFault, InFloatsRanksFirst)
{
    EXPECT_EQ(plantAll(digitsRequest(), {"sign", "exponent bit", "mantissa 2^-8 x1000"}), 3U);
}

TEST(SmallFault, InIntegersRanksFirst)
{
    EXPECT_EQ(plantAll(integersRequest(), {"integer +1", "integer -1", "integer +64"}, "c1"), 3U);
}

TEST(SmallFault, OfAKernelRanksFirst)
{
    CompareRequest request = digitsRequest();
    const CompileResultPtr built = shippedFaulty(request);
    const size_t victim = test::victimOf(*built);
    const auto kernel = static_cast<size_t>(built->program.calls[victim].kernel);
    request.options.service =
        test::faultyService(built->kernels[kernel].tirHash, test::KernelFault::SlightlyLarge);
    expectFaultBlamed(comparedFaulty(request), victim);
    request.limits.holdsToRounding = false; // a 1024th is less than a thousandth
    for (const ComparedTensor& tensor : comparedFaulty(request).tensors)
        EXPECT_FALSE(tensor.isolated && tensor.isolated->isOutside) << tensor.name;
}

TEST(SmallFault, IsNoneInWhatNobodyChanged)
{
    for (const CompareRequest& request : {digitsRequest(), integersRequest()}) {
        const Comparison out = comparedFaulty(request);
        EXPECT_FALSE(out.first());
        for (const ComparedTensor& tensor : out.tensors)
            EXPECT_FALSE(tensor.isolated && tensor.isolated->isOutside) << tensor.name;
    }
}

} // namespace
} // namespace tenon::compiler
