// SPDX-License-Identifier: Apache-2.0
// Reading makes the whole message already; here it is written.
#include "compiler/quantize/convert_model.h"

#include "compiler/quantize/onnx_document.h"
#include "compiler/quantize/other_file.h"
#include "core/base/file.h"
#include "core/base/written_path.h"

#include <climits>

namespace tenon::compiler {

Result<ConvertedModel> convertToOnnx(const std::string& path, const ImportOptions& options,
                                     const std::string& output)
{
    if (Status other = needOtherFile(path, output); !other) return other.error();
    if (Status exists = needFolderOf(output); !exists) return exists.error();
    const auto model = readOnnxDocument(path, options);
    if (!model) return model.error();
    std::string bytes;
    if (model->ByteSizeLong() > INT_MAX || !model->SerializeToString(&bytes))
        return makeError(DiagnosticCode::UnsupportedFeature,
                         "with its weights inside the model is larger than 2 GiB, which one ONNX "
                         "file cannot be",
                         {.file = path});
    if (Status written = writeFileAtomically(output, bytes); !written) return written.error();
    ConvertedModel out{
        .bytes = bytes.size(), .nodes = model->graph().node_size(), .opset = opsetOf(*model)};
    for (const auto& node : model->graph().node()) out.operators.insert(node.op_type());
    return out;
}

} // namespace tenon::compiler
