// SPDX-License-Identifier: Apache-2.0
// A film [N, C, D, H, W] is N*D images [N*D, C, H, W]; N may be open. A convolution over three axes
// is one over two of images that have the frames it reaches as channels, or, where it has groups, a
// sum of convolutions, one per frame that it reaches; what is elementwise, maxima of windows and
// reductions of whole films stand between them on images.
#include "compiler/passes/layout/film_images.h"

#include "compiler/ops/ops.h"
#include "compiler/ops/quads.h"
#include "compiler/ops/shape_attrs.h"
#include "compiler/passes/layout/film_filters.h"
#include "compiler/passes/layout/spread_film.h"
#include "compiler/passes/rewrite.h"
#include "compiler/passes/use_index.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace tenon::compiler {
namespace {

constexpr size_t kRank = 5;

/// Shape of films; how many may be open.
struct Film
{
    Dim items;
    int64_t channels, frames, rows, columns;

    Shape images() const { return {items * Dim(frames), channels, rows, columns}; }
    bool operator==(const Film&) const = default;
};

/// How a window goes along the frames.
struct FrameWindow
{
    int64_t kernel, stride, dilation, before, after;

    bool isOneFrame() const { return kernel == 1 && stride == 1 && before == 0 && after == 0; }
    /// Of its tap `k` alone, for so many results.
    FrameWindow tap(int64_t k, int64_t frames, int64_t results) const
    {
        const int64_t first = before - k * dilation;
        return {1, stride, 1, first, (results - 1) * stride + 1 - frames - first};
    }
};

class FilmRewriter
{
public:
    FilmRewriter(const Module& module, const GraphFunction& function)
        : m_module(module)
        , m_function(function)
        , m_uses(module, function)
    {
    }

    Patches run()
    {
        for (const NodeId id : m_function.order) {
            const NodeRecord& node = m_module.node(id);
            if (node.kind != NodeKind::Op || node.types.size() != 1 || !isOnFilms(node)) continue;
            PatchWriter patch(m_module, m_function.id, "film-to-images",
                              nodeLabel(m_module, node) + " works on frames one by one", {id});
            m_patch = &patch;
            m_made.clear();
            const std::optional<ValueRef> other = replacement(node);
            if (!other) {
                for (const ValueRef value : m_made) m_images.erase(value); // its patch is no more
                continue;
            }
            patch.replaceAndErase(id, *other);
            m_patches.push_back(patch.take());
        }
        return std::move(m_patches);
    }

private:
    std::optional<Film> filmOf(ValueRef value) const
    {
        const auto shape = shapeOf(value);
        if (!shape || shape->size() != kRank) return std::nullopt;
        const DataType dtype = m_module.type(value).dtype;
        if (dtype != kFloat32 && !isByte(dtype)) return std::nullopt;
        const auto frame = constantShape({shape->begin() + 1, shape->end()});
        if (!frame || std::find(frame->begin(), frame->end(), 0) != frame->end() ||
            shape->front() == Dim(0))
            return std::nullopt;
        return Film{shape->front(), (*frame)[0], (*frame)[1], (*frame)[2], (*frame)[3]};
    }

    std::optional<Shape> shapeOf(ValueRef value) const
    {
        if (!value.node.isValid()) return std::nullopt;
        const NodePtr& node = m_module.findNode(value.node);
        if (!node || value.index >= node->types.size()) return std::nullopt;
        return node->types[value.index].shape;
    }

    /// Makes a film, or reads first one that has become images.
    bool isOnFilms(const NodeRecord& node) const
    {
        return filmOf({node.id, 0}) ||
               (!node.operands.empty() && m_images.count(node.operands[0]) > 0);
    }

    ValueRef reshape(ValueRef value, const Shape& shape)
    {
        return m_patch->op(reshapeOp, {value}, shapeAttrs(shape));
    }

    /// Channels and frames change places where there are several of both.
    ValueRef exchanged(ValueRef value, const Film& film)
    {
        if (film.channels == 1 || film.frames == 1) return value;
        return m_patch->op(transposeOp, {value}, {{"axes", std::vector<int64_t>{0, 2, 1, 3, 4}}});
    }

    ValueRef images(ValueRef value)
    {
        const auto found = m_images.find(value);
        if (found != m_images.end()) return found->second;
        const Film film = *filmOf(value);
        const ValueRef made = reshape(exchanged(value, film), film.images());
        m_images[value] = made;
        m_made.push_back(value);
        return made;
    }

    ValueRef filmAgain(ValueRef images, const Film& film)
    {
        if (film.channels == 1 || film.frames == 1)
            return reshape(images,
                           {film.items, film.channels, film.frames, film.rows, film.columns});
        return exchanged(
            reshape(images, {film.items, film.frames, film.channels, film.rows, film.columns}),
            film);
    }

    /// The node's result again, computed on images.
    std::optional<ValueRef> replacement(const NodeRecord& node)
    {
        if (const auto reduced = reduction(node)) return reduced;
        const auto result = filmOf({node.id, 0});
        if (!result) return std::nullopt;
        const std::optional<ValueRef> images = imagesOf(node, *result);
        if (!images) return std::nullopt;
        m_images[{node.id, 0}] = *images;
        return filmAgain(*images, *result);
    }

    std::optional<ValueRef> imagesOf(const NodeRecord& node, const Film& result)
    {
        if (isOp(node, convOp)) return convolution(node, result);
        if (isOp(node, maxOp)) return maximum(node, result);
        const bool isKnown =
            std::any_of(node.operands.begin(), node.operands.end(),
                        [&](ValueRef operand) { return m_images.count(operand) > 0; });
        if (!isKnown) return std::nullopt;
        if (isOp(node, concatenateOp)) return concatenation(node);
        if (isOp(node, biasAddOp))
            return normalizedAxis(node.attrs.integer("axis", 1), kRank) == 1
                       ? std::optional(m_patch->op(
                             biasAddOp, {images(node.operands[0]), node.operands[1]}, node.attrs))
                       : std::nullopt;
        return elementwise(node, result);
    }

    /// The images of `data` as the window reaches them.
    ValueRef stacked(ValueRef data, const Film& film, const FrameWindow& window)
    {
        if (window.isOneFrame()) return images(data);
        return m_patch->op(stackFramesOp, {images(data)},
                           {{"frames", film.frames},
                            {"kernel", window.kernel},
                            {"stride", window.stride},
                            {"dilation", window.dilation},
                            {"padding", std::vector<int64_t>{window.before, window.after}}});
    }

    ValueRef filtersOfTaps(const FilmFilters& filters, int64_t first, int64_t taps)
    {
        const ValueRef constant = m_patch->constant(filtersOfFrames(*filters.weight, first, taps),
                                                    filters.constant->name);
        return filters.dequantize ? m_patch->opOn(*filters.dequantize, constant) : constant;
    }

    std::optional<ValueRef> convolution(const NodeRecord& node, const Film& result)
    {
        const auto filters = readFilmFilters(m_module, node.operands[1]);
        const auto film = filmOf(node.operands[0]);
        if (!filters || !film) return std::nullopt;
        const Tensor& weight = *filters->weight;
        if (const auto spread = spreadFilmOf(m_module, node))
            if (const auto images = transposedConvolution(*spread, weight, result, node.types[0]))
                return images;
        const std::vector<int64_t> strides = node.attrs.integers("strides", {}),
                                   padding = node.attrs.integers("padding", {}),
                                   dilation = node.attrs.integers("dilation", {});
        const int64_t groups = node.attrs.integer("groups", 1), taps = weight.shape()[2];
        const FrameWindow window{taps, strides[0], dilation[0], padding[0], padding[3]};
        const Attrs attrs{
            {"strides", std::vector<int64_t>{strides[1], strides[2]}},
            {"padding", std::vector<int64_t>{padding[1], padding[2], padding[4], padding[5]}},
            {"dilation", std::vector<int64_t>{dilation[1], dilation[2]}},
            {"groups", groups}};
        const auto convolved = [&](ValueRef data, int64_t first, int64_t count) {
            return m_patch->op(conv2dOp, {data, filtersOfTaps(*filters, first, count)}, attrs);
        };
        if (groups == 1 || taps == 1)
            return convolved(stacked(node.operands[0], *film, window), 0, taps);
        if (filters->dequantize) return std::nullopt; // no sum of its own rounds once
        ValueRef sum;
        for (int64_t k = 0; k < taps; ++k) {
            const FrameWindow tap = window.tap(k, film->frames, result.frames);
            if (tap.before <= -film->frames || tap.after <= -film->frames) return std::nullopt;
            const ValueRef part = convolved(stacked(node.operands[0], *film, tap), k, 1);
            sum = k == 0 ? part : m_patch->op(addOp, {sum, part});
        }
        return sum;
    }

    /// Of a transposed convolution: each phase of the result's frames is one of images.
    std::optional<ValueRef> transposedConvolution(const SpreadFilm& spread, const Tensor& weight,
                                                  const Film& result, const TensorType& type)
    {
        const TransposedAxis& axis = spread.axes[0];
        const auto attrs = spread.planeAttrs();
        const auto film = filmOf(spread.data);
        if (!attrs || !film) return std::nullopt;
        const int64_t frames = (result.frames + axis.stride - 1) / axis.stride;
        std::vector<std::pair<AxisPhase, FrameWindow>> phases;
        for (int64_t i = 0; i < axis.stride; ++i) {
            const AxisPhase phase = axis.phase(i);
            const int64_t after = phase.after + frames - phase.results; // as many of each phase
            if (phase.taps > 0 && (phase.before <= -film->frames || after <= -film->frames))
                return std::nullopt;
            phases.push_back({phase, {phase.taps, 1, 1, phase.before, after}});
        }
        std::vector<ValueRef> parts;
        for (const auto& [phase, window] : phases)
            parts.push_back(
                phase.taps < 1
                    ? zeroImages(type, frames)
                    : m_patch->op(conv2dTransposeOp,
                                  {stacked(spread.data, *film, window),
                                   m_patch->constant(spread.filtersOf(weight, phase), "")},
                                  *attrs));
        if (parts.size() == 1) return parts[0];
        return m_patch->op(joinFramesOp, parts, {{"frames", result.frames}});
    }

    /// Of a film of this type, that no tap reaches.
    ValueRef zeroImages(const TensorType& film, int64_t frames)
    {
        const Shape& shape = film.shape;
        return m_patch->filled(0, {shape[0] * Dim(frames), shape[1], shape[3], shape[4]});
    }

    /// Of windows over frames, rows and columns: of windows of each image, then over the frames.
    std::optional<ValueRef> maximum(const NodeRecord& node, const Film& result)
    {
        const NodeRecord& windows = m_module.node(node.operands[0].node);
        if (windows.kind != NodeKind::Op || !isOp(windows, slidingWindowOp) ||
            normalizedAxis(windows.attrs.integer("axis", 0), kRank) != 2 ||
            m_images.count(windows.operands[0]) == 0 ||
            node.attrs.integers("axis", {}) != std::vector<int64_t>{5, 6, 7} ||
            node.attrs.integer("exclude", 0) != 0 || node.attrs.integer("keepdims", 0) != 0)
            return std::nullopt;
        const auto film = filmOf(windows.operands[0]);
        const std::vector<int64_t> kernel = windows.attrs.integers("window_shape", {}),
                                   strides = windows.attrs.integers("strides", {}),
                                   dilation = windows.attrs.integers("dilation", {});
        const ValueRef pooled =
            m_patch->op(maxPool2dOp, {images(windows.operands[0])},
                        {{"pool_size", std::vector<int64_t>{kernel[1], kernel[2]}},
                         {"strides", std::vector<int64_t>{strides[1], strides[2]}},
                         {"dilation", std::vector<int64_t>{dilation[1], dilation[2]}}});
        const FrameWindow window{kernel[0], strides[0], dilation[0], 0, 0};
        if (window.isOneFrame()) return pooled;
        ValueRef most;
        for (int64_t k = 0; k < kernel[0]; ++k) {
            const FrameWindow tap = window.tap(k, film->frames, result.frames);
            const ValueRef part =
                m_patch->op(stackFramesOp, {pooled},
                            {{"frames", film->frames},
                             {"kernel", int64_t{1}},
                             {"stride", tap.stride},
                             {"padding", std::vector<int64_t>{tap.before, tap.after}}});
            most = k == 0 ? part : m_patch->op(maximumOp, {most, part});
        }
        return most;
    }

    /// Over frames, rows and columns: of each image, then over the frames.
    std::optional<ValueRef> reduction(const NodeRecord& node)
    {
        if (!isOneOf(node, meanOp, maxOp, minOp, sumOp) || m_images.count(node.operands[0]) == 0)
            return std::nullopt;
        const Film film = *filmOf(node.operands[0]);
        std::vector<int64_t> axes = node.attrs.integers("axis", {});
        for (int64_t& axis : axes) axis = normalizedAxis(axis, kRank);
        std::sort(axes.begin(), axes.end());
        if (axes != std::vector<int64_t>{2, 3, 4} || node.attrs.integer("exclude", 0) != 0)
            return std::nullopt;
        const OpDef& op = factsOf(node);
        const ValueRef frames = m_patch->op(
            op, {images(node.operands[0])},
            {{"axis", std::vector<int64_t>{2, 3}}, {"keepdims", int64_t{1}}}); // [N*D, C, 1, 1]
        const ValueRef rows = reshape(frames, {film.items, film.frames, film.channels});
        return reshape(m_patch->op(op, {rows}, {{"axis", std::vector<int64_t>{1}}}),
                       node.types[0].shape);
    }

    /// Side by side as channels, films stay films.
    std::optional<ValueRef> concatenation(const NodeRecord& node)
    {
        if (normalizedAxis(node.attrs.integer("axis", 0), kRank) != 1) return std::nullopt;
        std::vector<ValueRef> parts;
        for (const ValueRef operand : node.operands) parts.push_back(images(operand));
        return m_patch->op(concatenateOp, parts, {{"axis", int64_t{1}}});
    }

    std::optional<ValueRef> elementwise(const NodeRecord& node, const Film& result)
    {
        if (convertsByOneScale(m_module, node))
            return m_patch->opOn(node, images(node.operands[0]));
        const OpDef& op = factsOf(node);
        if (!isElementwise(op)) return std::nullopt;
        std::vector<ValueRef> operands;
        for (const ValueRef operand : node.operands) {
            const auto beside = operandOf(operand, result);
            if (!beside) return std::nullopt;
            operands.push_back(*beside);
        }
        return m_patch->op(op, operands, node.attrs);
    }

    /// One number per film and channel, [N, C or 1, 1, 1, 1], for each of its frames.
    ValueRef perImage(ValueRef value, const Film& film, int64_t channels)
    {
        const ValueRef films = reshape(value, {film.items, 1, channels});
        const Shape all{film.items, film.frames, channels};
        Attrs shape{{"shape", constantShape(all).value_or(std::vector<int64_t>())}};
        if (!film.items.isConst())
            shape.set("sizes",
                      std::vector<std::string>{all[0].text(), all[1].text(), all[2].text()});
        const ValueRef frames = m_patch->op(broadcastToOp, {films}, shape);
        return reshape(frames, {film.items * Dim(film.frames), channels, 1, 1});
    }

    /// An operand of something elementwise: a film of the same shape, a number, or one number per
    /// channel or per channel of each film.
    std::optional<ValueRef> operandOf(ValueRef value, const Film& result)
    {
        if (!value.node.isValid()) return std::nullopt;
        auto shape = shapeOf(value);
        if (!shape || shape->size() > kRank) return std::nullopt;
        if (filmOf(value) == result) return images(value);
        const Dim one(1);
        shape->insert(shape->begin(), kRank - shape->size(), one);
        const auto [items, channels, frames, rows, columns] =
            std::tie((*shape)[0], (*shape)[1], (*shape)[2], (*shape)[3], (*shape)[4]);
        if (frames != one || rows != one || columns != one ||
            !(channels == Dim(result.channels) || channels == one))
            return std::nullopt;
        if (items == result.items && items != one) return perImage(value, result, channels.value());
        if (items != one) return std::nullopt;
        if (constantOf(m_module, value)) // as it is, for the passes that fold scales
            return m_patch->reshapedConstant(value, {1, channels.value(), 1, 1}, m_uses);
        return reshape(value, {1, channels, 1, 1});
    }

    const Module& m_module;
    const GraphFunction& m_function;
    UseIndex m_uses;
    std::map<ValueRef, ValueRef> m_images; ///< of films that were rewritten, and of those they read
    std::vector<ValueRef> m_made;          ///< of those, what the patch in hand read
    PatchWriter* m_patch = nullptr;
    Patches m_patches;
};

} // namespace

Patches filmsAsImages(const Module& module, const GraphFunction& function)
{
    return FilmRewriter(module, function).run();
}

} // namespace tenon::compiler
