// SPDX-License-Identifier: Apache-2.0
// Finding data sets in folders, and examples in tensors.
#include "compiler/quantize/calibration_files.h"

#include "compiler/frontend/tensor_file.h"
#include "compiler/quantize/float_graph.h"
#include "core/base/text.h"
#include "core/tensor/onnx_types.h"

#include <algorithm>
#include <filesystem>
#include <optional>

namespace tenon::compiler {
namespace {

namespace fs = std::filesystem;
using Named = std::vector<std::pair<std::string, Tensor>>;

struct ModelInput
{
    std::string name;
    std::optional<DataType> dtype; ///< none for types that Tenon does not know
    bool hasShape = false;
    std::vector<int64_t> dims; ///< -1: open
};

/// The number at the end of a name orders before the rest of the name.
std::pair<int64_t, std::string> numericOrder(const fs::path& path)
{
    const std::string stem = path.stem().string();
    const size_t last = stem.find_last_not_of("0123456789");
    const std::string digits = stem.substr(last == std::string::npos ? 0 : last + 1);
    if (digits.empty() || digits.size() > 9) return {INT64_MAX, stem};
    return {std::stoll(digits), stem};
}

bool isTensorFile(const fs::path& path)
{
    const std::string extension = path.extension().string();
    return (extension == ".pb" || extension == ".npy" || extension == ".npz") &&
           !path.filename().string().starts_with("output");
}

std::vector<fs::path> entriesOf(const fs::path& folder, bool wantsFolders)
{
    std::vector<fs::path> out;
    std::error_code failed;
    for (const auto& entry : fs::directory_iterator(folder, failed))
        if (entry.is_directory() ? wantsFolders : !wantsFolders && isTensorFile(entry.path()))
            out.push_back(entry.path());
    std::sort(out.begin(), out.end(), [](const fs::path& a, const fs::path& b) {
        return numericOrder(a) < numericOrder(b);
    });
    return out;
}

Result<std::vector<ModelInput>> inputsOfModel(const std::string& path, const ImportOptions& sizes)
{
    const auto model = readOnnxDocument(path, sizes);
    if (!model) return model.error();
    const FloatGraph graph(model->graph());
    std::vector<ModelInput> out;
    for (const auto& input : model->graph().input()) {
        if (!graph.isInput(input.name())) continue;
        const auto& type = input.type().tensor_type();
        ModelInput found{.name = input.name(),
                         .dtype = dataTypeOf(type.elem_type()),
                         .hasShape = type.has_shape(),
                         .dims = {}};
        for (const auto& dim : type.shape().dim())
            found.dims.push_back(isFixed(dim) ? dim.dim_value() : -1);
        out.push_back(std::move(found));
    }
    return out;
}

/// numpy makes doubles where nobody asks for another type; a model of floats takes them rounded.
Tensor inTypeOf(const ModelInput& input, Tensor tensor)
{
    if (input.dtype != kFloat32 || tensor.dtype() != kFloat64) return tensor;
    const std::vector<double> values = tensor.numbers();
    return Tensor::of(kFloat32, tensor.shape(), std::vector<float>(values.begin(), values.end()));
}

/// How many examples a tensor holds for the input; 1 where it does not divide.
int64_t examplesIn(const ModelInput& input, const Tensor& tensor)
{
    const std::vector<int64_t>& shape = tensor.shape();
    if (!input.hasShape || shape.empty()) return 1;
    if (shape.size() == input.dims.size() + 1) return shape[0];
    if (shape.size() != input.dims.size()) return 1;
    const int64_t each = input.dims[0] < 0 ? 1 : input.dims[0];
    return each > 0 && shape[0] > each && shape[0] % each == 0 ? shape[0] / each : 1;
}

/// Example `index` of `count`, without the axis that counts them where the input has none.
Tensor exampleOf(const ModelInput& input, const Tensor& tensor, int64_t index, int64_t count)
{
    const bool hasCountingAxis = tensor.shape().size() > input.dims.size();
    if (count == 1 && (!hasCountingAxis || tensor.shape()[0] != 1)) return tensor;
    std::vector<int64_t> shape = tensor.shape();
    if (hasCountingAxis)
        shape.erase(shape.begin());
    else
        shape[0] /= count;
    const size_t bytes = tensor.bytes().size() / static_cast<size_t>(count);
    const auto part = tensor.bytes().subspan(static_cast<size_t>(index) * bytes, bytes);
    return Tensor::make(tensor.dtype(), std::move(shape), [&](std::span<std::byte> out) {
        std::copy(part.begin(), part.end(), out.begin());
    });
}

class Reader
{
public:
    Reader(std::vector<ModelInput> inputs, size_t mostSets)
        : m_inputs(std::move(inputs))
        , m_mostSets(mostSets)
    {
    }

    Status read(const fs::path& path)
    {
        if (!fs::is_directory(path)) return addFiles(path.string(), {path});
        for (const fs::path& folder : entriesOf(path, true)) {
            const std::vector<fs::path> files = entriesOf(folder, false);
            if (files.empty() || isFull()) continue;
            if (Status done = addFiles(folder.string(), files); !done) return done;
        }
        const std::vector<fs::path> files = entriesOf(path, false);
        if (files.empty()) return kDone;
        const bool isOneSet = m_inputs.size() > 1 && files.front().extension() != ".npz";
        if (isOneSet) return addFiles(path.string(), files);
        for (const fs::path& file : files) {
            if (isFull()) break;
            if (Status done = addFiles(file.string(), {file}); !done) return done;
        }
        return kDone;
    }

    CalibrationData take() { return std::move(m_data); }

private:
    bool isFull() const { return m_data.size() >= m_mostSets; }

    /// Tensors go to the input of their name, the others to those that are left, in order.
    Status addFiles(const std::string& source, const std::vector<fs::path>& files)
    {
        std::vector<Tensor> chosen(m_inputs.size());
        std::vector<Tensor> unnamed;
        for (const fs::path& file : files) {
            auto tensors = readTensorFiles(file.string());
            if (!tensors) return tensors.error();
            for (NamedTensor& named : *tensors) {
                const auto input =
                    std::find_if(m_inputs.begin(), m_inputs.end(),
                                 [&](const ModelInput& i) { return i.name == named.name; });
                if (input == m_inputs.end())
                    unnamed.push_back(std::move(named.tensor));
                else
                    chosen[static_cast<size_t>(input - m_inputs.begin())] = std::move(named.tensor);
            }
        }
        size_t next = 0;
        for (Tensor& tensor : chosen)
            if (tensor.isNull() && next < unnamed.size()) tensor = unnamed[next++];
        if (next < unnamed.size())
            return makeError(DiagnosticCode::BadArgument,
                             "the data set has more tensors than the model has inputs, " +
                                 std::to_string(m_inputs.size()),
                             {.file = source});
        return addExamples(source, chosen);
    }

    Status addExamples(const std::string& source, std::vector<Tensor>& tensors)
    {
        int64_t count = -1;
        for (size_t i = 0; i < tensors.size(); ++i) {
            if (tensors[i].isNull())
                return makeError(DiagnosticCode::BadArgument,
                                 "the data set has nothing for input " +
                                     core::quoted(m_inputs[i].name),
                                 {.file = source});
            tensors[i] = inTypeOf(m_inputs[i], std::move(tensors[i]));
            const int64_t found = examplesIn(m_inputs[i], tensors[i]);
            if (count >= 0 && found != count)
                count = 1;
            else
                count = found;
        }
        for (int64_t example = 0; example < count && !isFull(); ++example) {
            DataSet set{.source = source, .inputs = {}};
            if (count > 1) set.source += ", example " + std::to_string(example);
            for (size_t i = 0; i < tensors.size(); ++i)
                set.inputs.emplace_back(m_inputs[i].name,
                                        exampleOf(m_inputs[i], tensors[i], example, count));
            m_data.push_back(std::move(set));
        }
        return kDone;
    }

    std::vector<ModelInput> m_inputs;
    size_t m_mostSets;
    CalibrationData m_data;
};

} // namespace

Result<CalibrationData> readCalibration(const std::string& modelPath, const std::string& dataPath,
                                        size_t mostSets, const ImportOptions& sizes)
{
    std::error_code failed;
    if (!fs::exists(dataPath, failed))
        return makeError(DiagnosticCode::IoFailure, "there is no such file or folder",
                         {.file = dataPath});
    auto inputs = inputsOfModel(modelPath, sizes);
    if (!inputs) return inputs.error();
    Reader reader(*std::move(inputs), mostSets);
    if (Status done = reader.read(dataPath); !done) return done.error();
    CalibrationData data = reader.take();
    if (data.empty())
        return makeError(DiagnosticCode::BadArgument,
                         "the folder holds no .npy, .npz or .pb data, nor folders of them",
                         {.file = dataPath});
    return data;
}

} // namespace tenon::compiler
