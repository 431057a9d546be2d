// SPDX-License-Identifier: GPL-3.0-or-later
// Comparisons made in code.
#include "tests/views/comparisons.h"

#include "tests/views/fixtures.h"

namespace tenon::tests {

using namespace core;

namespace {

TensorError errorOf(double sqnrDb, bool isOutside)
{
    TensorError error;
    error.elements = 12;
    error.sqnrDb = sqnrDb;
    error.maxAbs = isOutside ? 1 : 1e-6;
    error.maxUlps = isOutside ? 4e6 : 2;
    error.cosine = isOutside ? 0.8 : 1;
    error.worst = 11;
    error.worstGot = 12;
    error.worstWanted = 11;
    error.outside = isOutside ? 1 : 0;
    error.isOutside = isOutside;
    return error;
}

ComparedTensor tensorOf(size_t block, bool isOutside)
{
    const std::string name = "block" + std::to_string(block) + ".";
    const auto first = static_cast<uint32_t>(3 * block);
    ComparedTensor out{.name = name + "Relu",
                       .type = "Tensor[(2, 2, 3), float32]",
                       .call = block,
                       .function = "fused_conv2d_multiply_add_relu",
                       .title = {"conv 3x3 + relu", "block" + std::to_string(block)},
                       .nodes = {name + "Conv", name + "BatchNormalization", name + "Relu"},
                       .sources = {SourceId(first), SourceId(first + 1), SourceId(first + 2)}};
    out.cumulative = errorOf(isOutside ? 12 : 100, isOutside);
    out.isolated = errorOf(isOutside ? 11 : 110, isOutside);
    return out;
}

} // namespace

Comparison smallComparison(bool isFaulty)
{
    Comparison out;
    out.model = "small.onnx";
    out.target = "llvm -mcpu=native";
    out.executor = "aot";
    out.optLevel = 3;
    out.place = "this computer";
    out.reference = "level 0 on this computer";
    out.sets = 1;
    out.tensors = {tensorOf(0, false), tensorOf(1, isFaulty)};
    out.absorbed = {{"block0.Conv", "conv 3x3 + relu", "fuse", "elementwise after conv"}};
    return out;
}

views::Engine comparingEngine(const std::shared_ptr<FakeComparing>& fake)
{
    views::Engine engine = fakeEngine();
    engine.comparing.run = [fake](const views::CompareQuestion& question, const views::BoardAsk&,
                                  JobContext& job) -> Result<views::CompareOutcome> {
        job.progress(0.5, "data set 1 of 1: every tensor");
        fake->asked = question;
        ++fake->runs;
        if (fake->error) return *fake->error;
        views::CompareOutcome out;
        out.comparison = std::make_shared<const Comparison>(smallComparison(fake->isFaulty));
        out.notes = QStringList{QStringLiteral("the inputs are made up")};
        return out;
    };
    engine.comparing.values = [](const views::CompareOutcome&, size_t tensor,
                                 JobContext&) -> Result<views::TensorValues> {
        std::vector<float> reference, device;
        for (int i = 0; i < 12; ++i) reference.push_back(static_cast<float>(i));
        device = reference;
        if (tensor == 1) device.back() += 1;
        return views::TensorValues{Tensor::of<float>(kFloat32, {2, 2, 3}, reference),
                                   Tensor::of<float>(kFloat32, {2, 2, 3}, device)};
    };
    return engine;
}

} // namespace tenon::tests
