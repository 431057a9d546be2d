// SPDX-License-Identifier: Apache-2.0
// A suffix tells the two names apart.
#include "compiler/compare/channel_names.h"

#include "compiler/frontend/tflite/picture_names.h"
#include "core/compare/value_form.h"

namespace tenon::compiler {

OtherLayout otherLayoutOf(const std::string& name)
{
    if (name.ends_with(kChannelsFirst))
        return {name.substr(0, name.size() - kChannelsFirst.size()), {0, 3, 1, 2}};
    return {channelsFirstName(name), {0, 2, 3, 1}};
}

std::optional<Tensor> inLayout(const Tensor& tensor, const std::vector<int64_t>& axes)
{
    if (axes.empty()) return tensor;
    if (tensor.shape().size() != axes.size()) return std::nullopt;
    return toModel({{.kind = FormStep::Kind::Transpose, .axes = axes}}, tensor);
}

} // namespace tenon::compiler
