// SPDX-License-Identifier: Apache-2.0
// One process for each data set: the peer reads its inputs when it starts.
#include "app/runs/ort_reference.h"

#include "compiler/frontend/onnx/load_onnx.h"
#include "compiler/frontend/tensor_file.h"
#include "core/base/temporary_folder.h"
#include "remote/peer/peer.h"

#include <algorithm>

namespace tenon::runs {
namespace {

/// The tensors of one run by their names.
Result<compiler::NamedValues> tensorsOf(remote::Peer& peer, const std::vector<std::string>& names,
                                        const JobContext& job)
{
    const auto folder = TemporaryFolder::make("tenon-ort-");
    if (!folder) return folder.error();
    if (Status done = peer.writeOutputs(folder->path(), job); !done) return done.error();
    compiler::NamedValues out;
    for (size_t i = 0; i < names.size(); ++i) {
        auto tensor = compiler::readTensorFile(folder->file("output_" + std::to_string(i) + ".pb"));
        if (!tensor) return tensor.error();
        out.emplace_back(names[i], std::move(tensor->tensor));
    }
    return out;
}

/// The names of the wanted values that are the file's own.
std::vector<std::string> ownNames(const compiler::TensorNames& names,
                                  const std::vector<ValueRef>& wanted)
{
    std::vector<std::string> out;
    for (const ValueRef value : wanted)
        if (const auto known = names.find(value); known != names.end() && !known->second.empty())
            out.push_back(known->second.front());
    return out;
}

} // namespace

Result<compiler::ReferenceSource> ortReference(compiler::TensorNames names, const std::string& path,
                                               const std::string& library)
{
    if (!path.ends_with(".onnx"))
        return makeError(DiagnosticCode::BadArgument, "ONNX Runtime runs .onnx files only",
                         {.file = path});
    if (library.empty())
        return makeError(DiagnosticCode::BadArgument,
                         "ONNX Runtime is not known here; set TENON_ONNXRUNTIME to "
                         "libonnxruntime.so");
    return compiler::ReferenceSource([names = std::move(names), path, library](
                                         const std::vector<ValueRef>& wanted,
                                         const compiler::NamedValues& inputs,
                                         JobContext& job) -> Result<compiler::ReferenceValues> {
        const auto folder = TemporaryFolder::make("tenon-ort-");
        if (!folder) return folder.error();
        const std::string model = folder->file("model.onnx");
        const auto outputs = compiler::writeOnnxWithOutputs(path, ownNames(names, wanted), model);
        if (!outputs) return outputs.error();
        auto peer = remote::Peer::start(
            {.library = library, .model = model, .inputs = inputs, .isOptimised = false}, job);
        if (!peer) return peer.error();
        const auto tensors = tensorsOf(**peer, *outputs, job);
        if (!tensors) return tensors.error();
        return compiler::namedReference(names, *tensors)(wanted, inputs, job);
    });
}

} // namespace tenon::runs
