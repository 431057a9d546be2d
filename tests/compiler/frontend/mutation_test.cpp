// SPDX-License-Identifier: Apache-2.0
// Every operator with operands and attributes that no exporter writes: the import must say what is
// wrong, where, and never fail a check of its own.
#include "compiler/frontend/onnx/load_onnx.h"
#include "core/base/text.h"
#include "tests/compiler/frontend/operator_example.h"
#include "tests/support/environment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>

namespace tenon::test {
namespace {

using namespace tenon::compiler;
using tenon_onnx::AttributeProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;
using tenon_onnx::TensorProto;

const std::vector<OperatorExample>& examples()
{
    static const auto all =
        readOperatorExamples(sourcePath("tests/compiler/frontend/operator_examples.txt"));
    return all;
}

Loaded imported(const ModelProto& model)
{
    const std::string bytes = model.SerializeAsString();
    auto loaded = loadOnnxBytes(std::as_bytes(std::span(bytes)), nullptr, ".", "model.onnx", {});
    return loaded ? *std::move(loaded) : Loaded{.diagnostics = {loaded.error()}};
}

NodeProto& nodeOf(ModelProto& model) { return *model.mutable_graph()->mutable_node(0); }

std::string errorsOf(const Loaded& loaded)
{
    std::string out;
    for (const Diagnostic& d : loaded.diagnostics)
        if (d.severity == Severity::Error) out += d.text() + "\n";
    return out;
}

/// What one mutant showed: an error must name the node.
void check(const ModelProto& mutant, const std::string& what, bool mustFail,
           const std::string& attribute = {})
{
    const std::string errors = errorsOf(imported(mutant));
    EXPECT_TRUE(!mustFail || !errors.empty()) << what << " was accepted";
    if (errors.empty()) return;
    const bool isLocated = errors.find("at node 'n'") != std::string::npos ||
                           errors.find("names no operator") != std::string::npos ||
                           errors.find("output `") != std::string::npos;
    EXPECT_TRUE(isLocated) << what << ": " << errors;
    const bool isAboutType = errors.find("must be") != std::string::npos;
    EXPECT_TRUE(attribute.empty() || !isAboutType || errors.find(attribute) != std::string::npos)
        << what << ": " << errors;
}

class EveryConverter : public ::testing::TestWithParam<const Converter*>
{
protected:
    ModelProto model() const
    {
        return exampleModel(exampleFor(examples(), *GetParam()), *GetParam(), TensorProto::FLOAT);
    }
    std::string name() const { return std::string(GetParam()->op); }
};

TEST_P(EveryConverter, ReportsMissingOperands)
{
    if (name() == "OptionalHasElement") return; // asks exactly that
    const int count = nodeOf(*std::make_unique<ModelProto>(model())).input_size();
    for (int kept = 0; kept < count; ++kept) {
        ModelProto mutant = model();
        auto& inputs = *nodeOf(mutant).mutable_input();
        inputs.DeleteSubrange(kept, count - kept);
        check(mutant, name() + " with " + std::to_string(kept) + " operands", kept == 0);
    }
    for (int i = 0; i < count; ++i) {
        ModelProto mutant = model();
        nodeOf(mutant).set_input(i, "");
        check(mutant, name() + " without operand " + std::to_string(i), i == 0 && count == 1);
    }
}

TEST_P(EveryConverter, ReportsSurplusOperands)
{
    ModelProto mutant = model();
    if (nodeOf(mutant).input_size() == 0) return;
    for (int i = 0; i < 64; ++i) {
        const std::string first = nodeOf(mutant).input(0);
        nodeOf(mutant).add_input(first);
    }
    check(mutant, name() + " with 64 more operands", false);
    mutant = model();
    for (int i = 0; i < 8; ++i) nodeOf(mutant).add_output("more" + std::to_string(i));
    check(mutant, name() + " with 8 more results", false);
}

TEST_P(EveryConverter, ReportsDuplicateResults)
{
    ModelProto mutant = model();
    nodeOf(mutant).add_output(nodeOf(mutant).output(0));
    check(mutant, name() + " with a duplicate result", false);
    mutant = model();
    if (nodeOf(mutant).input_size() == 0) return;
    nodeOf(mutant).set_output(0, nodeOf(mutant).input(0));
    check(mutant, name() + " writing its own operand", true);
}

TEST_P(EveryConverter, SurvivesForeignShapesAndTypes)
{
    const std::vector<std::vector<int64_t>> shapes{
        {}, {0}, {1}, {0, 0, 0, 0}, {1, 1, 1, 1, 1, 1, 1, 1, 1}, {1LL << 40, 1LL << 40}, {-1}};
    for (const auto& shape : shapes) {
        ModelProto mutant = model();
        for (auto& input : *mutant.mutable_graph()->mutable_input()) {
            auto& dims = *input.mutable_type()->mutable_tensor_type()->mutable_shape();
            dims.clear_dim();
            for (const int64_t dim : shape) dims.add_dim()->set_dim_value(dim);
        }
        const Loaded loaded = imported(mutant);
        (void)loaded;
    }
    for (int type = 0; type <= 27; ++type) {
        ModelProto mutant = model();
        for (auto& input : *mutant.mutable_graph()->mutable_input())
            input.mutable_type()->mutable_tensor_type()->set_elem_type(type);
        const Loaded loaded = imported(mutant);
        (void)loaded;
    }
    for (auto& value : {INT64_MIN, int64_t{-1}, int64_t{0}, INT64_MAX}) {
        ModelProto mutant = model();
        for (auto& tensor : *mutant.mutable_graph()->mutable_initializer())
            for (int64_t& element : *tensor.mutable_int64_data()) element = value;
        check(mutant, name() + " with constants " + std::to_string(value), false);
    }
}

/// Attributes that converters know, whatever operator they belong to.
constexpr const char* kNames[] = {"activation",
                                  "activations",
                                  "align_corners",
                                  "allowzero",
                                  "alpha",
                                  "auto_pad",
                                  "axes",
                                  "axis",
                                  "batch_axis",
                                  "batch_dims",
                                  "beta",
                                  "bias",
                                  "block_size",
                                  "blocksize",
                                  "broadcast",
                                  "ceil_mode",
                                  "clip",
                                  "cubic_coeff_a",
                                  "depth",
                                  "detect_negative",
                                  "dilations",
                                  "direction",
                                  "dtype",
                                  "end",
                                  "ends",
                                  "epsilon",
                                  "equation",
                                  "exclusive",
                                  "fmod",
                                  "gamma",
                                  "group",
                                  "hidden_size",
                                  "ignore_index",
                                  "is_causal",
                                  "k",
                                  "keepdims",
                                  "kernel_shape",
                                  "kv_num_heads",
                                  "lambd",
                                  "layout",
                                  "max",
                                  "min",
                                  "mode",
                                  "momentum",
                                  "nearest_mode",
                                  "num_groups",
                                  "num_outputs",
                                  "offset_group",
                                  "output_padding",
                                  "output_height",
                                  "output_shape",
                                  "p",
                                  "pads",
                                  "perm",
                                  "pooled_shape",
                                  "q_num_heads",
                                  "reduction",
                                  "reverse",
                                  "rotary_embedding_dim",
                                  "sampling_ratio",
                                  "scale",
                                  "scales",
                                  "shape",
                                  "size",
                                  "softcap",
                                  "spatial_scale",
                                  "split",
                                  "start",
                                  "starts",
                                  "stash_type",
                                  "storage_order",
                                  "strides",
                                  "time_axis",
                                  "to",
                                  "training_mode",
                                  "transA",
                                  "value",
                                  "value_ints"};

using Hostile = std::pair<const char*, std::function<void(AttributeProto&)>>;

std::vector<Hostile> hostileValues()
{
    const auto integer = [](int64_t value) {
        return [value](AttributeProto& a) {
            a.set_type(AttributeProto::INT);
            a.set_i(value);
        };
    };
    const auto integers = [](std::vector<int64_t> values) {
        return [values](AttributeProto& a) {
            a.set_type(AttributeProto::INTS);
            for (const int64_t value : values) a.add_ints(value);
        };
    };
    const auto number = [](float value) {
        return [value](AttributeProto& a) {
            a.set_type(AttributeProto::FLOAT);
            a.set_f(value);
        };
    };
    return {{"-1", integer(-1)},
            {"INT64_MIN", integer(INT64_MIN)},
            {"INT64_MAX", integer(INT64_MAX)},
            {"[]", integers({})},
            {"[0, 0]", integers({0, 0})},
            {"[-1, INT64_MIN]", integers({-1, INT64_MIN})},
            {"[INT64_MAX x 4]", integers({INT64_MAX, INT64_MAX, INT64_MAX, INT64_MAX})},
            {"NaN", number(std::nanf(""))},
            {"infinity", number(std::numeric_limits<float>::infinity())},
            {"a string",
             [](AttributeProto& a) {
                 a.set_type(AttributeProto::STRING);
                 a.set_s("%s%n<b>\x1b[31m");
             }},
            {"a graph", [](AttributeProto& a) {
                 a.set_type(AttributeProto::GRAPH);
                 a.mutable_g();
             }}};
}

TEST_P(EveryConverter, SurvivesHostileAttributes)
{
    for (const char* attribute : kNames)
        for (const auto& [text, set] : hostileValues()) {
            ModelProto mutant = model();
            NodeProto& node = nodeOf(mutant);
            for (int i = node.attribute_size() - 1; i >= 0; --i)
                if (node.attribute(i).name() == attribute)
                    node.mutable_attribute()->DeleteSubrange(i, 1);
            AttributeProto& added = *node.add_attribute();
            added.set_name(attribute);
            set(added);
            check(mutant, name() + " with " + attribute + " = " + text, false, attribute);
        }
}

TEST_P(EveryConverter, AcceptsItsExample)
{
    const Loaded loaded = imported(model());
    const std::string errors = errorsOf(loaded);
    const bool takesNoFloats = errors.find("unsupported-dtype") != std::string::npos ||
                               errors.find("LEFT and RIGHT shift") != std::string::npos ||
                               errors.find("cannot read the bits") != std::string::npos;
    EXPECT_TRUE(errors.empty() || takesNoFloats) << errors;
}

std::vector<const Converter*> rows()
{
    std::vector<const Converter*> out;
    for (const Converter& row : allConverters()) out.push_back(&row);
    return out;
}

INSTANTIATE_TEST_SUITE_P(Onnx, EveryConverter, ::testing::ValuesIn(rows()), [](const auto& param) {
    std::string name(param.param->op);
    std::replace(name.begin(), name.end(), '.', '_');
    return name + "_" + std::to_string(param.param->sinceVersion);
});

} // namespace
} // namespace tenon::test
