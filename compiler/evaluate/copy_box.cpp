// SPDX-License-Identifier: Apache-2.0
// Writes in the order of the target, so that what is read from several places at once is a few
// lines of cache.
#include "compiler/evaluate/copy_box.h"

#include "core/base/check.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <span>
#include <tuple>

namespace tenon::compiler {
namespace {

/// Places that are read from in turns; more would not stay in the first-level cache when they lie
/// a power of two apart.
constexpr int64_t kPlaces = 16;

/// Outermost first; one axis where two go on from each other on both sides.
std::vector<BoxAxis> inOrderOfTarget(std::vector<BoxAxis> axes)
{
    std::erase_if(axes, [](const BoxAxis& axis) { return axis.extent == 1; });
    std::sort(axes.begin(), axes.end(), [](const BoxAxis& a, const BoxAxis& b) {
        return std::tuple(std::abs(a.to), std::abs(a.from)) >
               std::tuple(std::abs(b.to), std::abs(b.from));
    });
    std::vector<BoxAxis> out;
    for (const BoxAxis& axis : axes) {
        if (!out.empty() && out.back().from == axis.from * axis.extent &&
            out.back().to == axis.to * axis.extent)
            out.back() = {out.back().extent * axis.extent, axis.from, axis.to};
        else
            out.push_back(axis);
    }
    return out;
}

/// A long innermost axis that jumps in the source goes in short stretches around the axis that
/// reads neighbours there: a line of cache is then read from until it is used up.
void cutIntoStretches(std::vector<BoxAxis>& axes)
{
    if (axes.size() < 2) return;
    const BoxAxis last = axes.back();
    if (last.extent <= kPlaces || last.extent % kPlaces != 0 || std::abs(last.from) < kPlaces)
        return;
    const auto near =
        std::min_element(axes.begin(), axes.end() - 1, [](const BoxAxis& a, const BoxAxis& b) {
            return std::abs(a.from) < std::abs(b.from);
        });
    if (std::abs(near->from) >= kPlaces) return;
    axes.back().extent = kPlaces;
    axes.insert(near, {last.extent / kPlaces, kPlaces * last.from, kPlaces * last.to});
}

template <class T>
void copyRow(const BoxAxis& axis, const T* from, T* to)
{
    if (axis.from == 1 && axis.to == 1) {
        std::memcpy(to, from, static_cast<size_t>(axis.extent) * sizeof(T));
        return;
    }
    for (int64_t i = 0; i < axis.extent; ++i) to[i * axis.to] = from[i * axis.from];
}

template <class T>
void copyAxes(std::span<const BoxAxis> axes, const T* from, T* to)
{
    if (axes.empty()) {
        *to = *from;
        return;
    }
    if (axes.size() == 1) return copyRow(axes[0], from, to);
    for (int64_t i = 0; i < axes[0].extent; ++i)
        copyAxes(axes.subspan(1), from + i * axes[0].from, to + i * axes[0].to);
}

template <class T>
void copyAs(std::span<const BoxAxis> axes, const std::byte* from, std::byte* to)
{
    copyAxes(axes, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
}

} // namespace

void copyBox(std::vector<BoxAxis> axes, const std::byte* from, std::byte* to, int64_t bytes)
{
    axes = inOrderOfTarget(std::move(axes));
    cutIntoStretches(axes);
    switch (bytes) {
    case 1: return copyAs<uint8_t>(axes, from, to);
    case 2: return copyAs<uint16_t>(axes, from, to);
    case 4: return copyAs<uint32_t>(axes, from, to);
    case 8: return copyAs<uint64_t>(axes, from, to);
    default: CHECK(false) << bytes << " bytes per element";
    }
}

} // namespace tenon::compiler
