// SPDX-License-Identifier: Apache-2.0
// TensorFlow Lite as the table of importers has it.
#include "compiler/frontend/importer.h"

#include "compiler/frontend/tflite/load_tflite.h"

namespace tenon::compiler {
namespace {

bool looksLikeTflite(std::string_view bytes)
{
    return bytes.size() >= 8 && bytes.substr(4, 4) == "TFL3";
}

} // namespace

extern const Importer tfliteImporter;
const Importer tfliteImporter{
    .format = "tflite",
    .title = "TensorFlow Lite",
    .suffix = ".tflite",
    .files = ".tflite file",
    .isMine = looksLikeTflite,
    .load = loadTfliteFile,
    .outputNames = tfliteOutputNames,
};

} // namespace tenon::compiler
