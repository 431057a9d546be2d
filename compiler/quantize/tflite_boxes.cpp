// SPDX-License-Identifier: Apache-2.0
// Detections and suppressions, all of whose sizes are known but for the rows between.
#include "compiler/quantize/tflite_boxes.h"

#include "compiler/frontend/import/formula.h"
#include "core/tensor/onnx_types.h"

#include <algorithm>
#include <numeric>

namespace tenon::compiler {

using tenon_onnx::NodeProto;

namespace {

// Columns of a row.
constexpr int64_t kClass = 1, kBox = 2;

} // namespace

std::string TfliteBoxes::columns(const std::string& from, int64_t begin, int64_t end,
                                 const std::string& leaf)
{
    return inner("Slice",
                 {from, integers(leaf + "_begin", {begin}), integers(leaf + "_end", {end}),
                  integers(leaf + "_axes", {1})},
                 leaf);
}

std::string TfliteBoxes::column(const std::string& from, int64_t at, const std::string& leaf)
{
    const std::string name = nameOf(output()) + "/" + leaf;
    const std::string place = add(Tensor::of<int64_t>(kInt64, {}, {at}), name + "_place");
    setInteger(node("Gather", {from, place}, name, name), "axis", 1);
    return name;
}

/// Two of their columns, constants where the anchors are.
std::string TfliteBoxes::anchors(int64_t begin, const std::string& leaf)
{
    if (!isConstant(input(2))) return columns(asGiven(input(2)), begin, begin + 2, leaf);
    const Tensor all = constantOf(input(2));
    std::vector<float> values;
    for (int64_t i = 0; i < all.size(); ++i)
        if (i % 4 == begin || i % 4 == begin + 1)
            values.push_back(static_cast<float>(all.number(i)));
    return add(Tensor::of<float>(kFloat32, {all.size() / 4, 2}, values),
               nameOf(output()) + "/" + leaf);
}

/// [boxes, classes] without the background, which comes first.
std::string TfliteBoxes::classScores(const DetectionOptions& options)
{
    const std::vector<int64_t>& shape = tensor(input(1)).shape;
    const std::string flat = inner(
        "Reshape", {asGiven(input(1)), integers("score_shape", {shape[1], shape[2]})}, "flat");
    if (shape[2] == options.classes) return flat;
    return columns(flat, shape[2] - options.classes, shape[2], "class_scores");
}

/// [boxes, 4]: top, left, bottom, right. There are no integer kernels of a quotient, so that
/// everything behind it stays in floats when the model is quantized: corners need their bits.
std::string TfliteBoxes::corners(const DetectionOptions& options)
{
    const std::vector<int64_t>& shape = tensor(input(0)).shape;
    std::string boxes =
        inner("Reshape", {asGiven(input(0)), integers("box_shape", {shape[1], shape[2]})}, "boxes");
    if (shape[2] > 4) boxes = columns(boxes, 0, 4, "places");
    const std::vector<float> scales(options.scales.begin(), options.scales.end());
    const std::string scale =
        add(Tensor::of<float>(kFloat32, {4}, scales), nameOf(output()) + "/scale");
    const std::string scaled = inner("Div", {boxes, scale}, "scaled"),
                      extent = anchors(2, "anchor_extents"), from = anchors(0, "anchor_centres");
    const std::string moved = inner("Mul", {columns(scaled, 0, 2, "moves"), extent}, "moved"),
                      centre = inner("Add", {moved, from}, "centres"),
                      grown = inner("Exp", {columns(scaled, 2, 4, "growth")}, "grown");
    const std::string extents = inner("Mul", {grown, extent}, "extents"),
                      half = inner("Mul", {extents, number("half", 0.5F)}, "halves"),
                      low = inner("Sub", {centre, half}, "low"),
                      high = inner("Add", {centre, half}, "high"),
                      name = nameOf(output()) + "/corners";
    setInteger(node("Concat", {low, high}, name, name), "axis", 1);
    return name;
}

TfliteBoxes::Chosen TfliteBoxes::chosenFrom(const std::vector<std::string>& inputs)
{
    const std::string rows = inner("NonMaxSuppression", inputs, "chosen"),
                      shape = inner("Shape", {rows}, "chosen_shape");
    return {rows, inner("Gather", {shape, integers("first", {0})}, "total")};
}

/// By their numbers, not as a slice: the result has a known size.
std::string TfliteBoxes::firstRows(const Chosen& chosen, int64_t count)
{
    const std::vector<int64_t> zeros(static_cast<size_t>(3 * count), 0);
    const std::string name = nameOf(output()) + "/filled",
                      rest = add(Tensor::of<int64_t>(kInt64, {count, 3}, zeros), name + "_rest");
    setInteger(node("Concat", {chosen.rows, rest}, name, name), "axis", 0);
    std::vector<int64_t> places(static_cast<size_t>(count));
    std::iota(places.begin(), places.end(), 0);
    return inner("Gather", {name, integers("row_places", places)}, "rows");
}

std::string TfliteBoxes::areFound(const std::string& total, int64_t count, const std::string& leaf)
{
    std::vector<int64_t> places(static_cast<size_t>(count));
    std::iota(places.begin(), places.end(), 0);
    return inner("Less", {integers(leaf + "_places", places), total}, leaf);
}

std::vector<std::string> TfliteBoxes::limits(int64_t most, const DetectionOptions& options)
{
    const auto limit = [&](const char* leaf, double value) {
        return add(Tensor::of<float>(kFloat32, {1}, {static_cast<float>(value)}),
                   nameOf(output()) + "/" + leaf);
    };
    return {integers("most", {most}), limit("overlap", options.overlap),
            limit("least_score", options.leastScore)};
}

/// Rows come best first: the first ones are the detections.
TfliteBoxes::Detections TfliteBoxes::firstOf(const DetectionOptions& options,
                                             const std::string& scores, int64_t count)
{
    const std::string base = nameOf(output()), best = base + "/best", cls = base + "/class";
    NodeProto& largest = node("ReduceMax", {scores}, best, best);
    setIntegers(largest, "axes", {1});
    setInteger(largest, "keepdims", 0);
    NodeProto& which = node("ArgMax", {scores}, cls, cls);
    setInteger(which, "axis", 1);
    setInteger(which, "keepdims", 0);
    const std::string all = corners(options);
    std::vector<std::string> inputs{
        inner("Unsqueeze", {all, integers("corner_axes", {0})}, "all_corners"),
        inner("Unsqueeze", {best, integers("score_axes", {0, 1})}, "all_scores")};
    for (std::string& limit : limits(options.most, options)) inputs.push_back(std::move(limit));
    const Chosen chosen = chosenFrom(inputs);
    const std::string box = column(firstRows(chosen, count), kBox, "box");
    return {inner("Gather", {all, box}, "box_corners"), inner("Gather", {cls, box}, "box_classes"),
            inner("Gather", {best, box}, "box_scores"), chosen.total};
}

/// The best rows of all classes.
TfliteBoxes::Detections TfliteBoxes::bestOf(const DetectionOptions& options,
                                            const std::string& scores, int64_t count)
{
    const std::string base = nameOf(output()), turned = base + "/by_class", all = corners(options);
    turn(scores, turned, {1, 0});
    std::vector<std::string> inputs{
        inner("Unsqueeze", {all, integers("corner_axes", {0})}, "all_corners"),
        inner("Unsqueeze", {turned, integers("score_axes", {0})}, "all_scores")};
    for (std::string& limit : limits(options.perClass, options)) inputs.push_back(std::move(limit));
    const Chosen chosen = chosenFrom(inputs);
    const int64_t most = std::min(options.perClass, tensor(input(1)).shape[1]) * options.classes,
                  listed = std::max(most, count);
    if (listed > kMaxMadeUp / 3) fail("it has too many detections of each class");
    if (m_problem) return {};
    const std::string rows = firstRows(chosen, listed), places = base + "/score_places";
    setInteger(node("Gather", {rows, integers("columns", {kBox, kClass})}, places, places), "axis",
               1);
    const std::string ranked =
        inner("Where",
              {areFound(chosen.total, listed, "is_row"),
               inner("GatherND", {scores, places}, "row_scores"), number("no_score", -1)},
              "ranked");
    const std::string shown = integers("count", {count}), best = base + "/best";
    node("TopK", {ranked, shown}, best, best).add_output(base + "/best_rows");
    const std::string shownRows = inner("Gather", {rows, base + "/best_rows"}, "shown_rows"),
                      box = column(shownRows, kBox, "box");
    return {inner("Gather", {all, box}, "box_corners"), column(shownRows, kClass, "box_classes"),
            best, chosen.total};
}

bool TfliteBoxes::areBoxes(const DetectionOptions& options)
{
    if (!needRank(input(0), 3) || !needRank(input(1), 3) || !needRank(input(2), 2)) return false;
    const std::vector<int64_t>&boxes = tensor(input(0)).shape, &scores = tensor(input(1)).shape,
          &around = tensor(input(2)).shape;
    const bool isFit = scores[0] == 1 && boxes[0] == 1 && boxes[1] == scores[1] && boxes[2] >= 4 &&
                       around[0] == scores[1] && around[1] == 4 && scores[1] >= 1 &&
                       scores[2] >= options.classes && options.classes >= 1;
    if (!isFit) fail("its boxes, scores and anchors are declared with shapes that do not fit");
    return isFit;
}

bool TfliteBoxes::areDetections(int64_t most)
{
    const std::vector<std::vector<int64_t>> shapes{{1, most, 4}, {1, most}, {1, most}, {1}};
    bool isFit = m_op->outputs.size() == shapes.size();
    for (size_t i = 0; isFit && i < shapes.size(); ++i)
        isFit = tensor(m_op->outputs[i]).shape == shapes[i];
    if (!isFit) fail("its results are declared with other shapes than its options say");
    return isFit;
}

void TfliteBoxes::detect()
{
    const auto options = readDetectionOptions(m_op->customOptions);
    if (!options) return fail("its options are no map of numbers");
    if (!areBoxes(*options) || !areDetections(options->most)) return;
    const int64_t boxes = tensor(input(1)).shape[1];
    const int64_t rows = options->isRegular ? boxes * options->classes : boxes;
    const int64_t count = std::min(options->most, rows);
    const std::string scores = classScores(*options);
    const Detections found =
        options->isRegular ? bestOf(*options, scores, count) : firstOf(*options, scores, count);
    if (!m_problem) answer(found, count, options->most - count);
}

/// What lies behind the number of detections is zero.
void TfliteBoxes::answer(const Detections& found, int64_t count, int64_t rest)
{
    const std::string base = nameOf(output()), batch = integers("batch", {0});
    const auto floats = [&](const std::string& from, const std::string& result) {
        setInteger(node("Cast", {from}, result, result), "to", onnxTypeOf(kFloat32));
        return result;
    };
    const std::string isFound = floats(areFound(found.total, count, "is_found"), base + "/found");
    const auto row = [&](size_t at, const std::string& value, const std::string& mask) {
        const int64_t result = m_op->outputs[at];
        const std::string name = base + "/result" + std::to_string(at);
        extend(node("Mul", {value, mask}, {}, name), rest, at == 0 ? 2 : 1, name);
        node("Unsqueeze", {name, batch}, given(result), nameOf(result));
    };
    row(0, found.corners, inner("Unsqueeze", {isFound, integers("mask_axes", {1})}, "mask"));
    row(1, floats(found.classes, base + "/float_classes"), isFound);
    row(2, found.scores, isFound);
    // As floats: the least of sizes is a size, which leaves shapes open where it is read.
    const std::string most = number("shown", static_cast<float>(count));
    node("Min", {floats(found.total, base + "/float_total"), most}, given(m_op->outputs[3]),
         nameOf(m_op->outputs[3]));
}

void TfliteBoxes::extend(NodeProto& made, int64_t rest, size_t rank, const std::string& result)
{
    made.set_output(0, rest > 0 ? result + "/known" : result);
    if (rest == 0) return;
    std::vector<int64_t> pads(2 * rank, 0);
    pads[rank] = rest;
    const std::string zeros = add(
        Tensor::of<int64_t>(kInt64, {static_cast<int64_t>(pads.size())}, pads), result + "/pads");
    node("Pad", {made.output(0), zeros}, result, result + "/pad");
}

/// Soft suppression the importer refuses.
void TfliteBoxes::suppress()
{
    const std::vector<int64_t> most = integersAt(2);
    if (m_problem || !needRank(input(0), 2) || !needRank(input(1), 1)) return;
    const int64_t boxes = tensor(input(0)).shape[0];
    const size_t results = m_op->outputs.size(), last = results - 1;
    const int64_t count = most.empty() ? 0 : std::min(boxes, most[0]);
    if (most.size() != 1 || count < 1 || count > kMaxMadeUp / 3 || results < 2 || results > 3)
        return fail("its number of boxes is not usable");
    const int64_t rest = most[0] - count;
    const auto row = [&](size_t at, const std::string& leaf) {
        return inner("Reshape", {asGiven(input(at)), integers(leaf + "_shape", {1})}, leaf);
    };
    const Chosen chosen = chosenFrom(
        {inner("Unsqueeze", {asGiven(input(0)), integers("box_axes", {0})}, "all_boxes"),
         inner("Unsqueeze", {asGiven(input(1)), integers("score_axes", {0, 1})}, "all_scores"),
         integers("most", most), row(3, "overlap"), row(4, "least_score")});
    const std::string box = column(firstRows(chosen, count), kBox, "box"), base = nameOf(output()),
                      all = base + "/boxes";
    extend(node("Identity", {box}, {}, base + "/known"), rest, 1, all);
    setInteger(node("Cast", {all}, given(output()), base), "to", onnxTypeOf(kInt32));
    if (results == 3) { // the fifth version
        const std::string scores = inner("Gather", {asGiven(input(1)), box}, "scores"),
                          name = given(m_op->outputs[1]);
        extend(node("Where", {areFound(chosen.total, count, "is_found"), scores, number("none", 0)},
                    {}, name),
               rest, 1, name);
    }
    const std::string total =
        inner("Squeeze", {chosen.total, integers("total_axes", {0})}, "count");
    setInteger(node("Cast", {total}, given(m_op->outputs[last]), nameOf(m_op->outputs[last])), "to",
               onnxTypeOf(kInt32));
}

} // namespace tenon::compiler
