// SPDX-License-Identifier: Apache-2.0
// Files are compared by what they are: links lead to the same one.
#include "compiler/quantize/other_file.h"

#include "compiler/frontend/onnx/file/wire_scan.h"
#include "compiler/frontend/onnx/onnx.pb.h"
#include "core/base/file.h"
#include "core/base/written_path.h"

#include <climits>
#include <filesystem>
#include <set>

namespace tenon::compiler {
namespace {

using tenon_onnx::GraphProto;
using tenon_onnx::TensorProto;

bool areSame(const std::string& a, const std::string& b)
{
    std::error_code none;
    return std::filesystem::equivalent(a, b, none);
}

/// Calls `look` with each tensor of the graph and of the bodies inside.
template <class Look>
void eachTensor(const GraphProto& graph, const Look& look)
{
    for (const TensorProto& tensor : graph.initializer()) look(tensor);
    for (const auto& node : graph.node())
        for (const auto& attr : node.attribute()) {
            if (attr.has_t()) look(attr.t());
            for (const TensorProto& tensor : attr.tensors()) look(tensor);
            if (attr.has_g()) eachTensor(attr.g(), look);
            for (const GraphProto& inner : attr.graphs()) eachTensor(inner, look);
        }
}

/// Files beside the model that hold its weights; none of other formats and of damaged files.
std::set<std::string> weightFilesOf(const std::string& path)
{
    std::set<std::string> out;
    const auto file = MappedFile::open(path);
    if (!file || (*file)->bytes().empty()) return out;
    const auto thin = thinModel((*file)->bytes(), path);
    tenon_onnx::ModelProto model;
    if (!thin || thin->size() > INT_MAX ||
        !model.ParseFromArray(thin->data(), static_cast<int>(thin->size())))
        return out;
    eachTensor(model.graph(), [&](const TensorProto& tensor) {
        for (const auto& entry : tensor.external_data())
            if (entry.key() == "location") out.insert(folderOf(path) + "/" + entry.value());
    });
    return out;
}

} // namespace

Status needOtherFile(const std::string& model, const std::string& output)
{
    if (areSame(output, model))
        return makeError(DiagnosticCode::BadArgument,
                         "the file to write is the model itself; name another", {.file = output});
    if (!std::filesystem::exists(output)) return kDone;
    for (const std::string& weights : weightFilesOf(model))
        if (areSame(output, weights))
            return makeError(DiagnosticCode::BadArgument,
                             "the file to write holds weights of the model; name another",
                             {.file = output});
    return kDone;
}

} // namespace tenon::compiler
