// SPDX-License-Identifier: Apache-2.0
// HRNet-W18-Small's middle: branches of 18, 36, 72 and 144 channels at four resolutions that add
// one another's images, for 17 heat maps.
#include "tests/zoo/layers.h"

namespace tenon::test {
namespace {

using tenon_onnx::TensorProto;
using Branches = std::vector<std::string>;

std::string basicBlock(ModelBuilder& b, const std::string& scope, const std::string& x,
                       int64_t channels)
{
    const ConvSpec spec = {.inputs = channels, .outputs = channels};
    const std::string y = convBn(b, scope + "/conv1", x, spec, Activation::Relu);
    return b.relu(scope, b.node("Add", scope, {convBn(b, scope + "/conv2", y, spec), x}));
}

/// Branch `from` at the resolution and with the channels of branch `to`.
std::string brought(ModelBuilder& b, const std::string& scope, std::string x, size_t from,
                    size_t to, const Dims& widths)
{
    if (from == to) return x;
    if (from > to) {
        x = convBn(b, scope, x, {.inputs = widths[from], .outputs = widths[to], .kernel = {1, 1}});
        return upsample(b, scope, x, static_cast<float>(1 << (from - to)), "nearest");
    }
    for (size_t step = from; step < to; ++step) {
        const bool isLast = step + 1 == to;
        x = convBn(b, scope + "/" + std::to_string(step), x,
                   {.inputs = widths[from], .outputs = widths[isLast ? to : from], .stride = 2},
                   isLast ? Activation::None : Activation::Relu);
    }
    return x;
}

Branches fused(ModelBuilder& b, const std::string& scope, const Branches& branches,
               const Dims& widths)
{
    Branches sums;
    for (size_t to = 0; to < branches.size(); ++to) {
        const std::string here = scope + "/to" + std::to_string(to);
        std::string sum;
        for (size_t from = 0; from < branches.size(); ++from) {
            const std::string way = here + "/from" + std::to_string(from);
            const std::string x = brought(b, way, branches[from], from, to, widths);
            sum = sum.empty() ? x : b.node("Add", way, {sum, x});
        }
        sums.push_back(b.relu(here, sum));
    }
    return sums;
}

} // namespace

std::string makeHrnet(const ZooOptions& options)
{
    ModelBuilder b("hrnet_w18_small", options);
    const int64_t size = options.imageSize ? options.imageSize : 192;
    const Dims widths = {b.channels(18), b.channels(36), b.channels(72), b.channels(144)};
    std::string x = b.input("input", TensorProto::FLOAT, {options.batch, 3, size, size});
    x = convBn(b, "/stem1", x, {.inputs = 3, .outputs = b.channels(64), .stride = 2},
               Activation::Relu);
    x = convBn(b, "/stem2", x, {.inputs = b.channels(64), .outputs = widths[0], .stride = 2},
               Activation::Relu);
    Branches branches = {basicBlock(b, "/layer1", x, widths[0])};
    for (size_t stage = 1; stage < widths.size(); ++stage) {
        const std::string scope = "/stage" + std::to_string(stage + 1);
        branches.push_back(
            convBn(b, scope + "/down", branches.back(),
                   {.inputs = widths[stage - 1], .outputs = widths[stage], .stride = 2},
                   Activation::Relu));
        for (size_t i = 0; i < branches.size(); ++i)
            for (int unit = 0; unit < 2; ++unit)
                branches[i] = basicBlock(
                    b, scope + "/branch" + std::to_string(i) + "/" + std::to_string(unit),
                    branches[i], widths[i]);
        branches = fused(b, scope + "/fuse", branches, widths);
    }
    x = b.conv("/head", branches[0],
               {.inputs = widths[0], .outputs = 17, .kernel = {1, 1}, .hasBias = true});
    b.output(x, "heat_maps", {options.batch, 17, size / 4, size / 4});
    return b.bytes();
}

} // namespace tenon::test
