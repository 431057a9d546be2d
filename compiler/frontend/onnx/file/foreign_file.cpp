// SPDX-License-Identifier: Apache-2.0
// One row per format: its mark, where it stands, what the file is and what helps.
#include "compiler/frontend/onnx/file/foreign_file.h"

#include <string_view>

namespace tenon::compiler {
namespace {

struct ForeignFormat
{
    size_t offset;
    std::string_view mark;
    const char* what;
    const char* advice;
};

constexpr const char* kExport = "export the model as ONNX or TensorFlow Lite";
constexpr ForeignFormat kFormats[] = {
    {0,
     "\x7f"
     "ELF",
     "an ELF file, as `tenon compile` writes,", "`run`, `bench` and `deploy` take those"},
    {0, "PK\x03\x04", "a ZIP archive, as PyTorch, Keras and NumPy write,", kExport},
    {0, "\x89HDF\r\n", "an HDF5 file, as Keras writes,", kExport},
    {0, "\x80\x02", "a pickle, as PyTorch writes,", kExport},
    {0, "\x80\x03", "a pickle, as PyTorch writes,", kExport},
    {0, "\x80\x04", "a pickle, as PyTorch writes,", kExport},
    {0, "\x80\x05", "a pickle, as PyTorch writes,", kExport},
    {0, "\x93NUMPY", "an array of NumPy", "give the model, and this with --inputs or --data"},
    {0, "\x1f\x8b", "compressed by gzip", "unpack it first"},
    {0, "GGUF", "a GGUF file", kExport},
    {4, "ORTM", "in ONNX Runtime's own format", "give the .onnx file that it was made from"},
    {8, "{\"", "a file of weights alone (safetensors)", kExport},
};

} // namespace

std::string foreignFileMessage(std::span<const std::byte> file)
{
    const std::string_view bytes(reinterpret_cast<const char*>(file.data()), file.size());
    for (const ForeignFormat& format : kFormats)
        if (bytes.size() >= format.offset && bytes.substr(format.offset).starts_with(format.mark))
            return std::string("the file is ") + format.what + " and no ONNX model; " +
                   format.advice;
    return {};
}

} // namespace tenon::compiler
