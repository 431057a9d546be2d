// SPDX-License-Identifier: Apache-2.0
// ONNX as the table of importers has it.
#include "compiler/frontend/importer.h"

#include "compiler/frontend/onnx/load_onnx.h"

namespace tenon::compiler {

extern const Importer onnxImporter;
const Importer onnxImporter{
    .format = "onnx",
    .title = "ONNX",
    .suffix = ".onnx",
    .files = ".onnx file",
    .isMine = [](std::string_view) { return true; },
    .load = loadOnnxFile,
    .outputNames = onnxOutputNames,
};

} // namespace tenon::compiler
