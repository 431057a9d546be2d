// SPDX-License-Identifier: Apache-2.0
// SPACE_TO_BATCH_ND and BATCH_TO_SPACE_ND: what they make of a convolution between them is one with
// gaps; alone they move elements.
#include "compiler/quantize/tflite_operators.h"

#include <algorithm>
#include <utility>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

constexpr int kSame = 0;

/// Numbers by axis of the picture, `each` of them: a sequence, or one block, has those of one axis.
std::vector<int64_t> byPicture(const std::vector<int64_t>& given, const BlockChain& chain,
                               size_t each)
{
    std::vector<int64_t> out(2 * each, each == 1 ? 1 : 0);
    const size_t from = given.size() == out.size() ? 0 : chain.axis * each;
    std::copy(given.begin(), given.end(), out.begin() + static_cast<ptrdiff_t>(from));
    return out;
}

/// Those of one axis.
std::vector<int64_t> along(size_t axis, const std::vector<int64_t>& numbers)
{
    std::vector<int64_t> out;
    for (size_t i = axis; i < numbers.size(); i += 2) out.push_back(numbers[i]);
    return out;
}

} // namespace

/// What is padded in front and cut off behind is one border; SAME adds elements of the blocks.
bool TfliteOperators::setGaps(Dilation& joined, const std::vector<int64_t>& edges)
{
    const std::vector<int64_t> blocks = joined.dilations, crops = integersAt(2);
    if (m_problem || blocks != integersAt(1) || edges.size() != 2 * blocks.size() ||
        crops.size() != edges.size() || blocks.empty() ||
        blocks.size() > (joined.chain.isSequence ? 1U : 2U))
        return false;
    m_op = joined.chain.conv;
    const Fields fields = fieldsOf(*m_op);
    if (size(fields.strideH) != 1 || size(fields.strideW) != 1) return false;
    // The weight itself may be spread behind the first operator only.
    const std::vector<int64_t>& kernel = tensor(input(1)).shape;
    const std::vector<int64_t> gaps{size(fields.dilationH), size(fields.dilationW)},
        padded = byPicture(edges, joined.chain, 2), cut = byPicture(crops, joined.chain, 2);
    joined.dilations = byPicture(blocks, joined.chain, 1);
    joined.pads.assign(4, 0);
    for (size_t i = 0; i < 2; ++i) {
        const int64_t reach = (kernel.at(1 + i) - 1) * gaps[i];
        const int64_t same = option(fields.padding) == kSame ? reach : 0;
        joined.pads[i] = padded[2 * i] - cut[2 * i] + same / 2 * joined.dilations[i];
        joined.pads[2 + i] =
            padded[2 * i + 1] - cut[2 * i + 1] + (same - same / 2) * joined.dilations[i];
        joined.dilations[i] *= gaps[i];
        if (joined.pads[i] < 0 || joined.pads[2 + i] < 0) return false;
    }
    // A sequence is one in ONNX, too.
    return !joined.chain.isSequence || kernel[2 - joined.chain.axis] == 1;
}

bool TfliteOperators::joinBlocks()
{
    auto chain = blockChainFrom(m_graph, *m_op);
    if (!chain) return false;
    const TfliteOperator* const first = m_op;
    Dilation joined{.chain = *std::move(chain), .data = input(0), .dilations = integersAt(1)};
    const std::vector<int64_t> edges = integersAt(2);
    m_op = joined.chain.last;
    const bool isFit = setGaps(joined, edges);
    m_op = first;
    if (!isFit) return false;
    m_joined.insert(joined.chain.between.begin(), joined.chain.between.end());
    m_dilations.emplace(joined.chain.last, std::move(joined));
    return true;
}

void TfliteOperators::convolveDilated(const Dilation& joined)
{
    const TfliteOperator* const last = std::exchange(m_op, joined.chain.conv);
    Filters by = filters();
    std::vector<int64_t> shape = by.weight.shape(), kernel{shape.at(2), shape.at(3)},
                         pads = joined.pads, dilations = joined.dilations;
    std::string data;
    if (joined.chain.isSequence) {
        kernel = along(joined.chain.axis, kernel);
        pads = along(joined.chain.axis, pads);
        dilations = along(joined.chain.axis, dilations);
        by.weight = by.weight.reshaped({shape[0], shape[1], kernel[0]});
        data = nameOf(output()) + "/sequence";
        turn(asGiven(joined.data), data, {0, 2, 1});
    } else {
        data = asPlanes(joined.data);
    }
    NodeProto& made = convolution(data, by);
    setIntegers(made, "kernel_shape", kernel);
    setIntegers(made, "pads", pads);
    setIntegers(made, "dilations", dilations);
    const int activation = option(by.fields.activation);
    m_op = last;
    if (!joined.chain.isSequence) return finish(made, true, activation);
    const std::string turned = nameOf(output()) + "/turned";
    activate(made, turned, activation);
    turn(turned, resultName(false), {0, 2, 1});
}

std::string TfliteOperators::moved(const std::string& from, const Move& how,
                                   const std::string& result)
{
    const std::string base = nameOf(output());
    node("Reshape", {from, integers("apart_shape", how.apart)}, base + "/apart", base + "/apart");
    turn(base + "/apart", base + "/moved", how.order);
    node("Reshape", {base + "/moved", integers("joined_shape", how.joined)}, result, result);
    return result;
}

/// The place within a block counts in front of the batch.
void TfliteOperators::spaceToBatch()
{
    if (joinBlocks()) return;
    const std::vector<int64_t> blocks = integersAt(1), edges = integersAt(2),
                               &shape = tensor(input(0)).shape;
    if (m_problem || edges.size() != 2 * blocks.size() || shape.size() <= blocks.size())
        return fail("its blocks do not fit the declared shape");
    const size_t rank = shape.size(), count = blocks.size();
    std::vector<int64_t> pads(2 * rank, 0);
    Move how{{shape[0]}, {}, {shape[0]}};
    std::vector<int64_t> inner;
    for (size_t i = 1; i < rank; ++i) {
        const bool hasBlock = i <= count;
        if (hasBlock) pads[i] = edges[2 * i - 2];
        if (hasBlock) pads[rank + i] = edges[2 * i - 1];
        const int64_t block = hasBlock ? std::max<int64_t>(blocks[i - 1], 1) : 1;
        how.apart.push_back((shape[i] + pads[i] + pads[rank + i]) / block);
        how.joined.push_back(how.apart.back());
        how.joined[0] *= block;
        inner.push_back(static_cast<int64_t>(how.apart.size()) - 1);
        if (!hasBlock) continue;
        how.order.push_back(static_cast<int64_t>(how.apart.size()));
        how.apart.push_back(block);
    }
    how.order.push_back(0);
    how.order.insert(how.order.end(), inner.begin(), inner.end());
    std::string data = asGiven(input(0));
    if (std::any_of(pads.begin(), pads.end(), [](int64_t each) { return each != 0; })) {
        const std::string padded = nameOf(output()) + "/padded";
        node("Pad", {data, integers("pads", pads)}, padded, padded);
        data = padded;
    }
    moved(data, how, resultName(false));
}

void TfliteOperators::batchToSpace()
{
    if (const auto joined = m_dilations.find(m_op); joined != m_dilations.end())
        return convolveDilated(joined->second);
    const std::vector<int64_t> blocks = integersAt(1), crops = integersAt(2),
                               &shape = tensor(input(0)).shape;
    if (m_problem || crops.size() != 2 * blocks.size() || shape.size() <= blocks.size())
        return fail("its blocks do not fit the declared shape");
    const size_t count = blocks.size();
    int64_t all = 1;
    for (const int64_t block : blocks) all *= std::max<int64_t>(block, 1);
    Move how{blocks, {static_cast<int64_t>(count)}, {shape[0] / all}};
    how.apart.push_back(shape[0] / all);
    how.apart.insert(how.apart.end(), shape.begin() + 1, shape.end());
    std::vector<int64_t> begin(shape.size(), 0), end = shape;
    end[0] = how.joined[0];
    for (size_t i = 1; i < shape.size(); ++i) {
        how.joined.push_back(shape[i]);
        how.order.push_back(static_cast<int64_t>(count + i));
        if (i > count) continue;
        how.order.push_back(static_cast<int64_t>(i - 1));
        how.joined[i] *= blocks[i - 1];
        begin[i] = crops[2 * i - 2];
        end[i] = how.joined[i] - crops[2 * i - 1];
    }
    const std::vector<int64_t> steps(shape.size(), 1);
    const std::string data = asGiven(input(0));
    if (end == how.joined &&
        std::all_of(begin.begin(), begin.end(), [](int64_t at) { return at == 0; }))
        moved(data, how, resultName(false));
    else
        shaped(slice(moved(data, how, nameOf(output()) + "/joined"), begin, end, steps, "cut"),
               output());
}

} // namespace tenon::compiler
