// SPDX-License-Identifier: Apache-2.0
// Reading a whole ONNX message and its attributes.
#include "compiler/quantize/onnx_document.h"

#include "compiler/frontend/importer.h"
#include "compiler/frontend/onnx/file/inline_functions.h"
#include "compiler/frontend/onnx/file/tensor_reader.h"
#include "compiler/frontend/onnx/file/wire_scan.h"
#include "compiler/quantize/bind_sizes.h"
#include "compiler/quantize/tflite_document.h"
#include "core/base/text.h"

#include <climits>
#include <filesystem>
#include <set>

namespace tenon::compiler {
namespace {

using tenon_onnx::AttributeProto;
using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;
using tenon_onnx::TensorProto;

constexpr std::string_view kOnnxFormat = "onnx", kTfliteFormat = "tflite";

/// Puts bytes that the scan left in the file, or that lie in other files, into the messages.
class Filler
{
public:
    Filler(std::span<const std::byte> file, const std::string& folder)
        : m_file(file)
        , m_external(folder)
    {
    }

    Status fill(GraphProto& graph)
    {
        for (TensorProto& tensor : *graph.mutable_initializer())
            if (Status done = fill(tensor); !done) return done;
        for (NodeProto& node : *graph.mutable_node())
            for (AttributeProto& attr : *node.mutable_attribute())
                if (Status done = fill(attr); !done) return done;
        return kDone;
    }

private:
    Status fill(AttributeProto& attr)
    {
        if (attr.has_t())
            if (Status done = fill(*attr.mutable_t()); !done) return done;
        for (TensorProto& tensor : *attr.mutable_tensors())
            if (Status done = fill(tensor); !done) return done;
        if (attr.has_g())
            if (Status done = fill(*attr.mutable_g()); !done) return done;
        for (GraphProto& graph : *attr.mutable_graphs())
            if (Status done = fill(graph); !done) return done;
        return kDone;
    }

    Status fill(TensorProto& tensor)
    {
        if (tensor.data_location() == TensorProto::EXTERNAL) {
            std::vector<Diagnostic> notes;
            auto value = readTensor(tensor, {m_file, nullptr, &m_external}, notes);
            if (!value) return value.error();
            const auto bytes = value->bytes();
            tensor.clear_external_data();
            tensor.clear_data_location();
            tensor.set_raw_data(bytes.data(), bytes.size());
        } else if (tensor.has_mapped_length()) {
            const auto bytes = m_file.subspan(tensor.mapped_offset(), tensor.mapped_length());
            tensor.set_raw_data(bytes.data(), bytes.size());
        }
        tensor.clear_mapped_offset();
        tensor.clear_mapped_length();
        return kDone;
    }

    std::span<const std::byte> m_file;
    ExternalFiles m_external;
};

/// Nodes without a name get one that nobody has.
void nameNodes(GraphProto& graph)
{
    std::set<std::string> names;
    for (const NodeProto& node : graph.node()) names.insert(node.name());
    for (int i = 0; i < graph.node_size(); ++i) {
        NodeProto& node = *graph.mutable_node(i);
        if (!node.name().empty()) continue;
        std::string name = node.op_type() + "_" + std::to_string(i);
        while (!names.insert(name).second) name += "_";
        node.set_name(name);
    }
}

/// Nodes of functions become nodes of the graph; all of one version of the operators.
Status inlineCalls(ModelProto& model, const std::string& path)
{
    const std::vector<Diagnostic> problems = inlineFunctions(model);
    for (const Diagnostic& problem : problems)
        if (problem.severity == Severity::Error) return problem;
    const int64_t version = opsetOf(model);
    for (NodeProto& node : *model.mutable_graph()->mutable_node()) {
        if (node.has_opset() && node.opset() != 0 && node.opset() != version)
            return makeError(DiagnosticCode::UnsupportedFeature,
                             "the node comes from a function of opset " +
                                 std::to_string(node.opset()) + " in a model of opset " +
                                 std::to_string(version) + "; export it with one opset",
                             {.file = path, .node = node.name(), .op = node.op_type()});
        node.clear_opset();
    }
    model.clear_functions();
    return kDone;
}

} // namespace

Result<ModelProto> readOnnxDocument(const std::string& path, const ImportOptions& sizes)
{
    const auto file = MappedFile::open(path);
    if (!file) return file.error();
    if ((*file)->bytes().empty())
        return makeError(DiagnosticCode::BadModel, "the file is empty", {.file = path});
    for (const Importer* importer : allImporters()) {
        if (importer->format == kTfliteFormat && importer->isMine((*file)->text())) {
            auto model = readTfliteDocument((*file)->bytes(), path, sizes);
            if (!model) return model;
            if (Status bound = bindValues(*model->mutable_graph(), sizes); !bound)
                return bound.error();
            return model;
        }
        if (importer->format != kOnnxFormat && importer->isMine((*file)->text()))
            return makeError(DiagnosticCode::UnsupportedFeature,
                             "this is a model in the format " + std::string(importer->title) +
                                 "; ONNX and TensorFlow Lite models are taken",
                             {.file = path});
    }
    const auto thin = thinModel((*file)->bytes(), path);
    if (!thin) return thin.error();
    ModelProto model;
    const bool isParsed = thin->size() <= INT_MAX &&
                          model.ParseFromArray(thin->data(), static_cast<int>(thin->size()));
    if (!isParsed || !model.has_graph())
        return makeError(DiagnosticCode::BadModel, "the file is damaged or no ONNX model",
                         {.file = path});
    std::string folder = std::filesystem::path(path).parent_path().string();
    if (folder.empty()) folder = ".";
    if (Status done = Filler((*file)->bytes(), folder).fill(*model.mutable_graph()); !done)
        return done.error();
    if (Status done = inlineCalls(model, path); !done) return done.error();
    nameNodes(*model.mutable_graph());
    bindSizes(*model.mutable_graph(), sizes);
    if (Status bound = bindValues(*model.mutable_graph(), sizes); !bound) return bound.error();
    return model;
}

int64_t opsetOf(const ModelProto& model)
{
    for (const auto& opset : model.opset_import())
        if (opset.domain().empty() || opset.domain() == "ai.onnx") return opset.version();
    return 1;
}

void setOpset(ModelProto& model, int64_t version)
{
    for (auto& opset : *model.mutable_opset_import())
        if (opset.domain().empty() || opset.domain() == "ai.onnx") {
            opset.set_version(version);
            return;
        }
    model.add_opset_import()->set_version(version);
}

Result<Tensor> tensorOf(const TensorProto& proto)
{
    std::vector<Diagnostic> notes;
    auto value = readTensor(proto, {}, notes);
    return value;
}

void storeTensor(const Tensor& tensor, const std::string& name, TensorProto& proto)
{
    proto.Clear();
    proto.set_name(name);
    proto.set_data_type(onnxTypeOf(tensor.dtype()));
    for (const int64_t dim : tensor.shape()) proto.add_dims(dim);
    proto.set_raw_data(tensor.bytes().data(), tensor.bytes().size());
}

const AttributeProto* attributeOf(const NodeProto& node, std::string_view name)
{
    for (const AttributeProto& attr : node.attribute())
        if (attr.name() == name) return &attr;
    return nullptr;
}

int64_t integerOf(const NodeProto& node, std::string_view name, int64_t otherwise)
{
    const AttributeProto* attr = attributeOf(node, name);
    return attr ? attr->i() : otherwise;
}

float floatOf(const NodeProto& node, std::string_view name, float otherwise)
{
    const AttributeProto* attr = attributeOf(node, name);
    return attr ? attr->f() : otherwise;
}

std::vector<int64_t> integersOf(const NodeProto& node, std::string_view name)
{
    const AttributeProto* attr = attributeOf(node, name);
    return attr ? std::vector<int64_t>(attr->ints().begin(), attr->ints().end())
                : std::vector<int64_t>();
}

void eraseAttribute(NodeProto& node, std::string_view name)
{
    auto& attrs = *node.mutable_attribute();
    for (int i = attrs.size(); i-- > 0;)
        if (attrs[i].name() == name) attrs.DeleteSubrange(i, 1);
}

void setIntegers(NodeProto& node, const std::string& name, const std::vector<int64_t>& values)
{
    eraseAttribute(node, name);
    tenon_onnx::AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(tenon_onnx::AttributeProto::INTS);
    for (const int64_t value : values) attr.add_ints(value);
}

void setString(NodeProto& node, const std::string& name, const std::string& value)
{
    eraseAttribute(node, name);
    tenon_onnx::AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(tenon_onnx::AttributeProto::STRING);
    attr.set_s(value);
}

void setStrings(NodeProto& node, const std::string& name, const std::vector<std::string>& values)
{
    eraseAttribute(node, name);
    AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(AttributeProto::STRINGS);
    for (const std::string& value : values) attr.add_strings(value);
}

void setFloats(NodeProto& node, const std::string& name, const std::vector<float>& values)
{
    eraseAttribute(node, name);
    AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(AttributeProto::FLOATS);
    for (const float value : values) attr.add_floats(value);
}

void setFloat(NodeProto& node, const std::string& name, float value)
{
    eraseAttribute(node, name);
    tenon_onnx::AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(tenon_onnx::AttributeProto::FLOAT);
    attr.set_f(value);
}

void setInteger(NodeProto& node, const std::string& name, int64_t value)
{
    eraseAttribute(node, name);
    AttributeProto& attr = *node.add_attribute();
    attr.set_name(name);
    attr.set_type(AttributeProto::INT);
    attr.set_i(value);
}

} // namespace tenon::compiler
