// SPDX-License-Identifier: Apache-2.0
// The same picture under two names: with channels last, as TensorFlow Lite's files have it, and
// with channels first, as ONNX and our operators want it.
#pragma once

#include "core/tensor/tensor.h"

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace tenon::compiler {

using namespace core;

/// The name of the same picture with its channels at the other place, and the axes that bring that
/// into the layout of `name`.
struct OtherLayout
{
    std::string name;
    std::vector<int64_t> axes;
};
OtherLayout otherLayoutOf(const std::string& name);

/// The tensor with its axes in that order, which is as it is where there is none; nothing of one
/// that has no such axes.
std::optional<Tensor> inLayout(const Tensor& tensor, const std::vector<int64_t>& axes);

/// Where one of the names is, and the axes that bring what is there into the layout of the names.
template <typename T>
struct NamedCounterpart
{
    typename std::map<std::string, T>::const_iterator at;
    std::vector<int64_t> axes = {};
};

/// The first of the names that is there as such, else the first that is in the other layout.
template <typename T>
std::optional<NamedCounterpart<T>> counterpartOf(const std::vector<std::string>& names,
                                                 const std::map<std::string, T>& there)
{
    for (const std::string& name : names)
        if (const auto found = there.find(name); found != there.end())
            return NamedCounterpart<T>{found};
    for (const std::string& name : names) {
        OtherLayout other = otherLayoutOf(name);
        if (const auto found = there.find(other.name); found != there.end())
            return NamedCounterpart<T>{found, std::move(other.axes)};
    }
    return std::nullopt;
}

} // namespace tenon::compiler
