// SPDX-License-Identifier: Apache-2.0
// Reading and writing .pb, .npy and .npz.
#include "compiler/frontend/tensor_file.h"

#include "compiler/frontend/onnx/file/tensor_reader.h"
#include "core/base/file.h"
#include "core/base/text.h"
#include "core/tensor/onnx_tensor.h"

#include <archive.h>
#include <archive_entry.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace tenon::compiler {

using namespace core;

namespace {

constexpr std::string_view kMagic{"\x93NUMPY", 6};
constexpr size_t kMaxArchiveBytes = size_t{4} << 30;

struct NpyType
{
    std::string_view text; ///< without the byte order mark
    DataType dtype;
};

constexpr std::array<NpyType, 12> kNpyTypes{{
    {"f4", kFloat32},
    {"f8", kFloat64},
    {"f2", kFloat16},
    {"i1", kInt8},
    {"i2", kInt16},
    {"i4", kInt32},
    {"i8", kInt64},
    {"u1", kUInt8},
    {"u2", kUInt16},
    {"u4", kUInt32},
    {"u8", kUInt64},
    {"b1", kBool},
}};

Diagnostic badFile(const std::string& what) { return makeError(DiagnosticCode::BadArgument, what); }

/// The text after `'key':` in the header's dictionary.
std::string_view headerValue(std::string_view header, std::string_view key)
{
    const std::string quotedKey = "'" + std::string(key) + "'";
    const size_t at = header.find(quotedKey);
    if (at == std::string_view::npos) return {};
    const size_t colon = header.find(':', at + quotedKey.size());
    if (colon == std::string_view::npos) return {};
    return trimmed(header.substr(colon + 1));
}

std::optional<DataType> npyDtype(std::string_view descr)
{
    if (descr.size() < 4 || descr[0] != '\'') return std::nullopt;
    const size_t end = descr.find('\'', 1);
    if (end == std::string_view::npos || end < 3) return std::nullopt;
    const char order = descr[1];
    const std::string_view text = descr.substr(2, end - 2);
    for (const NpyType& type : kNpyTypes)
        if (type.text == text && (order == '<' || order == '|' || order == '=')) return type.dtype;
    return std::nullopt;
}

std::optional<std::vector<int64_t>> npyShape(std::string_view text)
{
    const size_t open = text.find('(');
    const size_t close = text.find(')');
    if (open != 0 || close == std::string_view::npos) return std::nullopt;
    std::vector<int64_t> shape;
    for (const std::string& part : split(text.substr(1, close - 1), ',')) {
        const std::string_view digits = trimmed(part);
        if (digits.empty()) continue;
        int64_t value = 0;
        const auto [end, failure] =
            std::from_chars(digits.data(), digits.data() + digits.size(), value);
        if (failure != std::errc() || end != digits.data() + digits.size() || value < 0)
            return std::nullopt;
        shape.push_back(value);
    }
    return shape;
}

/// Row-major copy of a column-major array.
Tensor rowMajor(const Tensor& columns, const std::vector<int64_t>& shape)
{
    const auto size = static_cast<size_t>(columns.dtype().bytes());
    return Tensor::make(columns.dtype(), shape, [&](std::span<std::byte> out) {
        for (int64_t i = 0; i < columns.size(); ++i) {
            int64_t rest = i;
            int64_t from = 0;
            int64_t stride = columns.size();
            for (size_t k = shape.size(); k-- > 0;) {
                stride /= shape[k];
                from += rest % shape[k] * stride;
                rest /= shape[k];
            }
            std::memcpy(out.data() + static_cast<size_t>(i) * size,
                        columns.bytes().data() + static_cast<size_t>(from) * size, size);
        }
    });
}

Diagnostic inFile(Diagnostic error, const std::string& path)
{
    error.location.file = path;
    return error;
}

Result<std::vector<NamedTensor>> readNpz(const std::string& path)
{
    const std::unique_ptr<archive, int (*)(archive*)> reader(archive_read_new(), archive_read_free);
    archive_read_support_format_zip(reader.get());
    if (archive_read_open_filename(reader.get(), path.c_str(), 1 << 16) != ARCHIVE_OK)
        return inFile(badFile("cannot read the archive"), path);
    std::vector<NamedTensor> out;
    archive_entry* entry = nullptr;
    while (archive_read_next_header(reader.get(), &entry) == ARCHIVE_OK) {
        const char* entryName = archive_entry_pathname(entry);
        std::string content;
        std::array<char, 1 << 16> block;
        la_ssize_t got = 0;
        while ((got = archive_read_data(reader.get(), block.data(), block.size())) > 0) {
            content.append(block.data(), static_cast<size_t>(got));
            if (content.size() > kMaxArchiveBytes)
                return inFile(badFile("an array in the archive is larger than 4 GiB"), path);
        }
        if (got < 0) return inFile(badFile("the archive is damaged"), path);
        auto tensor = parseNpy(content);
        if (!tensor) return inFile(tensor.error(), path);
        std::string name = entryName ? entryName : "";
        if (name.ends_with(".npy")) name.resize(name.size() - 4);
        out.push_back({std::move(name), std::move(*tensor)});
    }
    if (out.empty()) return inFile(badFile("the archive holds no arrays"), path);
    return out;
}

} // namespace

Result<Tensor> parseNpy(std::string_view bytes)
{
    if (!bytes.starts_with(kMagic) || bytes.size() < 12)
        return badFile("the file is no .npy array");
    const int version = bytes[6];
    const size_t lengthBytes = version == 1 ? 2 : 4;
    size_t headerLength = 0;
    for (size_t i = 0; i < lengthBytes; ++i)
        headerLength |= size_t{static_cast<uint8_t>(bytes[8 + i])} << (8 * i);
    const size_t start = 8 + lengthBytes;
    if (headerLength > bytes.size() - start) return badFile("the .npy header is cut off");
    const std::string_view header = bytes.substr(start, headerLength);
    const std::string_view data = bytes.substr(start + headerLength);

    const auto dtype = npyDtype(headerValue(header, "descr"));
    const auto shape = npyShape(headerValue(header, "shape"));
    if (!dtype || !shape)
        return makeError(DiagnosticCode::UnsupportedDtype,
                         "the .npy array is of no little-endian number type: " +
                             std::string(trimmed(header.substr(0, 200))));
    int64_t size = dtype->bytes();
    for (const int64_t dim : *shape)
        if (__builtin_mul_overflow(size, dim, &size)) return badFile("the .npy shape is too large");
    if (static_cast<uint64_t>(size) != data.size())
        return badFile("the .npy array needs " + std::to_string(size) + " bytes and has " +
                       std::to_string(data.size()));
    const Tensor stored = Tensor::make(*dtype, *shape, [&](std::span<std::byte> out) {
        std::memcpy(out.data(), data.data(), data.size());
    });
    if (headerValue(header, "fortran_order").starts_with("True") && size > 0)
        return rowMajor(stored, *shape);
    return stored;
}

Result<NamedTensor> parseTensorProto(std::string_view bytes)
{
    auto stored = parseOnnxTensor(bytes);
    if (!stored) return stored.error();
    // In the importer's form: it knows narrow types and which ones cannot be computed with.
    tenon_onnx::TensorProto proto;
    for (const int64_t dim : stored->dims) proto.add_dims(dim);
    proto.set_data_type(stored->elementType);
    proto.set_name(stored->name);
    proto.set_raw_data(std::move(stored->raw));
    std::vector<Diagnostic> notes;
    auto tensor = readTensor(proto, {}, notes);
    if (!tensor) return tensor.error();
    return NamedTensor{std::move(stored->name), std::move(*tensor)};
}

std::string npyText(const Tensor& tensor)
{
    std::string descr;
    for (const NpyType& type : kNpyTypes)
        if (type.dtype == tensor.dtype())
            descr = (tensor.dtype().bytes() == 1 ? "|" : "<") + std::string(type.text);
    // NumPy has no bfloat16; its bits are kept as 16-bit words.
    if (descr.empty()) descr = "<u2";
    std::string shape = join(tensor.shape(), ", ");
    if (tensor.shape().size() == 1) shape += ",";
    std::string header =
        "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" + shape + "), }";
    while ((10 + header.size() + 1) % 64 != 0) header += ' ';
    header += '\n';
    std::string out(kMagic);
    out += '\x01';
    out += '\0';
    out += static_cast<char>(header.size() & 0xff);
    out += static_cast<char>(header.size() >> 8);
    out += header;
    out.append(reinterpret_cast<const char*>(tensor.bytes().data()), tensor.bytes().size());
    return out;
}

Result<NamedTensor> readTensorFile(const std::string& path)
{
    auto content = readFile(path);
    if (!content) return content.error();
    if (content->starts_with(kMagic)) {
        auto tensor = parseNpy(*content);
        if (!tensor) return inFile(tensor.error(), path);
        return NamedTensor{"", std::move(*tensor)};
    }
    if (path.ends_with(".npy"))
        return makeError(DiagnosticCode::BadModel,
                         "the file is no NumPy array: it does not begin with its mark",
                         {.file = path});
    auto named = parseTensorProto(*content);
    if (!named) return inFile(named.error(), path);
    return named;
}

Result<std::vector<NamedTensor>> readTensorFiles(const std::string& path)
{
    if (path.ends_with(".npz")) return readNpz(path);
    auto one = readTensorFile(path);
    if (!one) return one.error();
    return std::vector<NamedTensor>{std::move(*one)};
}

Status writeTensorFile(const std::string& path, const Tensor& tensor, const std::string& name)
{
    if (path.ends_with(".pb"))
        return writeFileAtomically(path, onnxTensorBytes(onnxTensorOf(tensor, name)));
    return writeFileAtomically(path, npyText(tensor));
}

} // namespace tenon::compiler
