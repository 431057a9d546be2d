// SPDX-License-Identifier: Apache-2.0
// Tensor files in numeric order; names go before positions.
#include "app/runs/given_tensors.h"

#include "compiler/frontend/tensor_file.h"
#include "core/base/text.h"
#include "remote/measure/made_up_inputs.h"

#include <algorithm>
#include <filesystem>

namespace tenon::runs {

namespace {

namespace fs = std::filesystem;

/// The number in "input_12.pb"; files without one sort behind, by name.
std::pair<int64_t, std::string> numericOrder(const fs::path& path)
{
    const std::string stem = path.stem().string();
    const size_t digits = stem.find_last_not_of("0123456789");
    const std::string number = stem.substr(digits == std::string::npos ? 0 : digits + 1);
    if (number.empty() || number.size() > 9) return {INT64_MAX, stem};
    return {std::stoll(number), stem};
}

Result<std::vector<std::string>> tensorFilesIn(const std::string& folder)
{
    std::vector<fs::path> files;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed)) {
        const std::string extension = entry.path().extension().string();
        const bool isOutput = entry.path().filename().string().starts_with("output");
        if ((extension == ".pb" || extension == ".npy" || extension == ".npz") && !isOutput)
            files.push_back(entry.path());
    }
    if (files.empty())
        return makeError(DiagnosticCode::BadArgument,
                         "the folder holds no .pb, .npy or .npz inputs", {.file = folder});
    std::sort(files.begin(), files.end(), [](const fs::path& a, const fs::path& b) {
        return numericOrder(a) < numericOrder(b);
    });
    std::vector<std::string> out;
    for (const fs::path& file : files) out.push_back(file.string());
    return out;
}

/// True when a tensor of these sizes fits the declared ones, of which -1 is any.
bool fitsShape(const std::vector<int64_t>& declared, const std::vector<int64_t>& shape)
{
    return std::equal(declared.begin(), declared.end(), shape.begin(), shape.end(),
                      [](int64_t any, int64_t size) { return any == -1 || any == size; });
}

/// Numbers that NumPy made of float64 by itself are of the right sizes.
std::string conversionHint(const ManifestTensor& input, const Tensor& given)
{
    if (!fitsShape(input.shape, given.shape())) return {};
    return "; convert it, in NumPy by .astype(\"" + input.dtype + "\")";
}

} // namespace

Result<GivenTensors> readTensors(const std::vector<std::string>& paths)
{
    std::vector<std::string> files;
    for (const std::string& path : paths) {
        if (!fs::is_directory(path)) {
            files.push_back(path);
            continue;
        }
        auto inside = tensorFilesIn(path);
        if (!inside) return inside.error();
        files.insert(files.end(), inside->begin(), inside->end());
    }
    GivenTensors out;
    for (const std::string& file : files) {
        auto tensors = compiler::readTensorFiles(file);
        if (!tensors) return tensors.error();
        for (compiler::NamedTensor& named : *tensors)
            out.emplace_back(std::move(named.name), std::move(named.tensor));
    }
    return out;
}

Tensor sameBits(const Tensor& tensor, DataType dtype)
{
    return Tensor::make(dtype, tensor.shape(), [&](std::span<std::byte> out) {
        std::copy(tensor.bytes().begin(), tensor.bytes().end(), out.begin());
    });
}

Result<remote::NamedTensors> assignInputs(const std::vector<ManifestTensor>& inputs,
                                          const GivenTensors& given)
{
    std::vector<const Tensor*> chosen(inputs.size(), nullptr);
    std::vector<const Tensor*> unnamed;
    for (const auto& [name, tensor] : given) {
        const auto named = std::find_if(inputs.begin(), inputs.end(),
                                        [&](const ManifestTensor& i) { return i.name == name; });
        if (named == inputs.end())
            unnamed.push_back(&tensor);
        else
            chosen[static_cast<size_t>(named - inputs.begin())] = &tensor;
    }
    size_t next = 0;
    for (const Tensor*& tensor : chosen)
        if (!tensor && next < unnamed.size()) tensor = unnamed[next++];
    if (next < unnamed.size())
        return makeError(DiagnosticCode::BadArgument,
                         "the model has " + std::to_string(inputs.size()) + " inputs but " +
                             std::to_string(given.size()) + " tensors were given");
    remote::NamedTensors out;
    for (size_t i = 0; i < inputs.size(); ++i) {
        if (!chosen[i])
            return makeError(DiagnosticCode::BadArgument, "input " + core::quoted(inputs[i].name) +
                                                              " was not given; it is " +
                                                              remote::tensorText(inputs[i]));
        // NumPy and old data sets hold bfloat16 as its bits.
        if (inputs[i].dtype == "bfloat16" && chosen[i]->dtype() == kUInt16 &&
            fitsShape(inputs[i].shape, chosen[i]->shape())) {
            out.emplace_back(inputs[i].name, sameBits(*chosen[i], kBfloat16));
            continue;
        }
        const bool fits = fitsShape(inputs[i].shape, chosen[i]->shape()) &&
                          chosen[i]->dtype().text() == inputs[i].dtype;
        if (!fits)
            return makeError(DiagnosticCode::ShapeMismatch,
                             "input " + core::quoted(inputs[i].name) + " is " +
                                 remote::tensorText(inputs[i]) + " but was given " +
                                 chosen[i]->typeText() + conversionHint(inputs[i], *chosen[i]));
        out.emplace_back(inputs[i].name, *chosen[i]);
    }
    return out;
}

} // namespace tenon::runs
