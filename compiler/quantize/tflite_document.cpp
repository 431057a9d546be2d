// SPDX-License-Identifier: Apache-2.0
// One operator after the other.
#include "compiler/quantize/tflite_document.h"

#include "compiler/frontend/tflite/file/element_types.h"
#include "compiler/quantize/planes.h"
#include "compiler/quantize/tflite_tensors.h"
#include "core/base/text.h"

#include <algorithm>
#include <array>
#include <set>

namespace tenon::compiler {
namespace {

using tenon_onnx::GraphProto;
using tenon_onnx::ModelProto;
using tenon_onnx::NodeProto;

constexpr int kIrVersion = 8, kOpset = 13;
constexpr int kSame = 0;
enum FusedActivation : int
{
    kNone = 0,
    kRelu = 1,
    kReluOne = 2,
    kRelu6 = 3,
    kTanh = 4
};

struct Fields
{
    int padding = 0, strideW = 1, strideH = 2, dilationW = -1, dilationH = -1, activation = -1;
};

class Document : private TfliteTensors
{
public:
    using TfliteTensors::TfliteTensors;

    Result<ModelProto> run()
    {
        m_out.set_ir_version(kIrVersion);
        m_out.set_producer_name("tenon");
        m_out.add_opset_import()->set_version(kOpset);
        GraphProto& graph = *m_out.mutable_graph();
        graph.set_name(m_graph.name.empty() ? "main" : m_graph.name);
        if (Status fits = checkAll(); !fits) return fits.error();
        for (const int64_t input : m_graph.inputs) declare(input, *graph.add_input());
        for (const TfliteOperator& op : m_graph.operators) {
            m_op = &op;
            (this->*handlerOf(op))();
            if (m_problem) return *m_problem;
        }
        for (const int64_t output : m_graph.outputs) {
            asGiven(output);
            declare(output, *graph.add_output());
        }
        return std::move(m_out);
    }

private:
    using Handler = void (Document::*)();
    struct Row
    {
        std::string_view name;
        Handler handler;
    };

    static Handler handlerOf(const TfliteOperator& op)
    {
        static constexpr std::array<Row, 24> kRows{
            {{"ABS", &Document::unary},
             {"ADD", &Document::binary},
             {"AVERAGE_POOL_2D", &Document::pool},
             {"CONCATENATION", &Document::concatenate},
             {"CONV_2D", &Document::convolve},
             {"DEPTHWISE_CONV_2D", &Document::convolveDepthwise},
             {"ELU", &Document::unary},
             {"EXPAND_DIMS", &Document::reshape},
             {"FULLY_CONNECTED", &Document::connect},
             {"HARD_SWISH", &Document::hardSwish},
             {"LEAKY_RELU", &Document::unary},
             {"LOGISTIC", &Document::unary},
             {"MAX_POOL_2D", &Document::pool},
             {"MEAN", &Document::mean},
             {"MUL", &Document::binary},
             {"NEG", &Document::unary},
             {"PAD", &Document::pad},
             {"RELU", &Document::unary},
             {"RELU6", &Document::unary},
             {"RESHAPE", &Document::reshape},
             {"SOFTMAX", &Document::softmax},
             {"SQUEEZE", &Document::reshape},
             {"SUB", &Document::binary},
             {"TANH", &Document::unary}}};
        const auto found = std::find_if(kRows.begin(), kRows.end(),
                                        [&](const Row& row) { return row.name == op.name; });
        return found == kRows.end() || op.isCustom ? nullptr : found->handler;
    }

    /// All that stands against it at once.
    Status checkAll() const
    {
        if (m_model.subgraphs.size() != 1)
            return makeError(DiagnosticCode::UnsupportedOperator,
                             "the model has control flow, which quantizing does not take",
                             {.file = m_path});
        std::set<std::string> unknown;
        for (const TfliteOperator& op : m_graph.operators) {
            const bool isInteger =
                std::any_of(op.inputs.begin(), op.inputs.end(), [&](int64_t input) {
                    return input >= 0 && !tensor(input).quantization.scales.empty() &&
                           tfliteDataType(tensor(input).type) != kFloat32;
                });
            if (isInteger)
                return makeError(DiagnosticCode::BadModel,
                                 "the model is quantized already; give the float model that it was "
                                 "made from",
                                 {.file = m_path, .op = op.name});
            if (!handlerOf(op) || op.outputs.empty()) unknown.insert(op.name);
        }
        if (unknown.empty()) return kDone;
        return makeError(DiagnosticCode::UnsupportedOperator,
                         "quantizing a TensorFlow Lite model does not take these operators: " +
                             join(std::vector<std::string>(unknown.begin(), unknown.end()), ", ") +
                             "; quantize its ONNX form",
                         {.file = m_path});
    }

    /// The result behind the operator's fused activation.
    void finish(NodeProto& made, bool isPlanes, int activation)
    {
        const std::string result = resultName(isPlanes);
        if (activation == kNone) {
            made.set_output(0, result);
            return;
        }
        const std::string inner = result + "/sum", name = made.name() + "/activation";
        made.set_output(0, inner);
        if (activation == kRelu)
            node("Relu", {inner}, result, name);
        else if (activation == kTanh)
            node("Tanh", {inner}, result, name);
        else if (activation == kRelu6)
            clip(inner, result, name, 0, 6);
        else if (activation == kReluOne)
            clip(inner, result, name, -1, 1);
        else
            fail("its fused activation is not known");
    }

    /// strides, dilations and explicit padding.
    void setWindow(NodeProto& made, const std::vector<int64_t>& kernel, const Fields& fields)
    {
        const std::vector<int64_t> strides{size(fields.strideH), size(fields.strideW)};
        std::vector<int64_t> dilations{1, 1};
        if (fields.dilationH >= 0) dilations = {size(fields.dilationH), size(fields.dilationW)};
        std::vector<int64_t> pads(4, 0);
        const std::vector<int64_t>& shape = tensor(input(0)).shape;
        for (size_t axis = 0; axis < 2 && option(fields.padding) == kSame; ++axis) {
            const int64_t data = shape[axis + 1];
            const int64_t reach = (kernel[axis] - 1) * dilations[axis] + 1;
            const int64_t count = (data + strides[axis] - 1) / strides[axis];
            const int64_t missing =
                std::max<int64_t>((count - 1) * strides[axis] + reach - data, 0);
            pads[axis] = missing / 2;
            pads[axis + 2] = missing - missing / 2;
        }
        setIntegers(made, "kernel_shape", kernel);
        setIntegers(made, "strides", strides);
        setIntegers(made, "pads", pads);
        if (fields.dilationH >= 0) setIntegers(made, "dilations", dilations);
    }

    void layer(const Tensor& weight, int64_t groups, const Fields& fields)
    {
        std::vector<std::string> inputs{asPlanes(input(0)),
                                        add(weight, nameOf(output()) + "/weight")};
        if (input(2) >= 0) inputs.push_back(asGiven(input(2)));
        NodeProto& made = node("Conv", inputs, {}, nameOf(output()));
        setInteger(made, "group", groups);
        setWindow(made, {weight.shape()[2], weight.shape()[3]}, fields);
        finish(made, true, option(fields.activation));
    }

    void convolve()
    {
        const Tensor weight = planesOf(constantOf(input(1)));
        if (m_problem) return;
        const int64_t channels = tensor(input(0)).shape.back();
        layer(weight, channels / std::max<int64_t>(weight.shape()[1], 1),
              {.dilationW = 4, .dilationH = 5, .activation = 3});
    }

    void convolveDepthwise()
    {
        const Tensor weight = filtersOf(constantOf(input(1)));
        if (m_problem) return;
        layer(weight, tensor(input(0)).shape.back(),
              {.dilationW = 5, .dilationH = 6, .activation = 4});
    }

    void pool()
    {
        const bool isMax = m_op->name == "MAX_POOL_2D";
        NodeProto& made =
            node(isMax ? "MaxPool" : "AveragePool", {asPlanes(input(0))}, {}, nameOf(output()));
        setWindow(made, {size(4), size(3)}, {.activation = 5});
        finish(made, true, option(5));
    }

    void connect()
    {
        const int64_t inner = tensor(input(1)).shape.back();
        std::string data = asGiven(input(0));
        if (rankOf(input(0)) != 2 || tensor(input(0)).shape.back() != inner) {
            const std::string flat = nameOf(output()) + "/rows";
            node("Reshape", {data, integers("rows_shape", {-1, inner})}, flat, flat);
            data = flat;
        }
        std::vector<std::string> inputs{data, asGiven(input(1))};
        if (input(2) >= 0) inputs.push_back(asGiven(input(2)));
        NodeProto& made = node("Gemm", inputs, {}, nameOf(output()));
        setInteger(made, "transB", 1);
        if (rankOf(output()) != 2) return fail("its result has other than two axes");
        finish(made, false, option(0));
    }

    void binary()
    {
        const bool isPlanes = rankOf(output()) == 4 &&
                              (hasPlanes(input(0)) || hasPlanes(input(1))) &&
                              canBePlanes(input(0)) && canBePlanes(input(1));
        const std::string op = m_op->name == "ADD" ? "Add" : m_op->name == "MUL" ? "Mul" : "Sub";
        std::vector<std::string> inputs;
        for (const size_t at : {0, 1})
            inputs.push_back(isPlanes && rankOf(input(at)) == 4 ? asPlanes(input(at))
                             : isPlanes                         ? channels(input(at))
                                                                : asGiven(input(at)));
        NodeProto& made = node(op, inputs, {}, nameOf(output()));
        finish(made, isPlanes, option(0));
    }

    /// Four axes, or a constant of one number or one per channel.
    bool canBePlanes(int64_t index) const
    {
        return rankOf(index) == 4 || (isConstant(index) && rankOf(index) <= 1);
    }
    std::string channels(int64_t index)
    {
        const Tensor value = constantOf(index);
        if (value.size() == 1) return asGiven(index);
        const auto values = value.as<float>();
        return add(Tensor::of<float>(kFloat32, {value.size(), 1, 1},
                                     std::vector<float>(values.begin(), values.end())),
                   nameOf(output()) + "/" + nameOf(index));
    }

    void unary()
    {
        static const std::map<std::string, std::string> kOps{
            {"ABS", "Abs"},          {"ELU", "Elu"}, {"LEAKY_RELU", "LeakyRelu"},
            {"LOGISTIC", "Sigmoid"}, {"NEG", "Neg"}, {"RELU", "Relu"},
            {"TANH", "Tanh"}};
        const bool isPlanes = hasPlanes(input(0));
        const std::string data = isPlanes ? asPlanes(input(0)) : asGiven(input(0));
        const std::string result = resultName(isPlanes), name = nameOf(output());
        if (m_op->name == "RELU6") return clip(data, result, name, 0, 6);
        NodeProto& made = node(kOps.at(m_op->name), {data}, result, name);
        if (m_op->name == "LEAKY_RELU") setFloat(made, "alpha", m_op->options.number<float>(0));
    }

    void hardSwish()
    {
        const bool isPlanes = hasPlanes(input(0));
        const std::string data = isPlanes ? asPlanes(input(0)) : asGiven(input(0));
        const std::string gate = nameOf(output()) + "/gate";
        NodeProto& inner = node("HardSigmoid", {data}, gate, gate);
        setFloat(inner, "alpha", 1.0f / 6);
        setFloat(inner, "beta", 0.5f);
        node("Mul", {data, gate}, resultName(isPlanes), nameOf(output()));
    }

    void softmax()
    {
        if (m_op->options.number<float>(0, 1) != 1) return fail("its beta is not 1");
        setInteger(node("Softmax", {asGiven(input(0))}, resultName(false), nameOf(output())),
                   "axis", -1);
    }

    void reshape()
    {
        node("Reshape", {asGiven(input(0)), integers("shape", tensor(output()).shape)},
             resultName(false), nameOf(output()));
    }

    void mean()
    {
        std::vector<int64_t> axes;
        for (const double axis : constantOf(input(1)).numbers())
            axes.push_back(static_cast<int64_t>(axis) +
                           (axis < 0 ? static_cast<int64_t>(rankOf(input(0))) : 0));
        std::sort(axes.begin(), axes.end());
        const bool keeps = option(0) != 0;
        const bool isPicture = hasPlanes(input(0)) && axes == std::vector<int64_t>{1, 2};
        NodeProto& made = node("ReduceMean", {isPicture ? asPlanes(input(0)) : asGiven(input(0))},
                               {}, nameOf(output()));
        setIntegers(made, "axes", isPicture ? std::vector<int64_t>{2, 3} : axes);
        setInteger(made, "keepdims", keeps ? 1 : 0);
        finish(made, isPicture && keeps, kNone);
    }

    void pad()
    {
        const std::vector<double> given = constantOf(input(1)).numbers();
        const bool isPlanes = hasPlanes(input(0));
        const size_t rank = rankOf(input(0));
        const std::array<size_t, 4> order{0, 3, 1, 2};
        std::vector<int64_t> pads(rank * 2);
        for (size_t i = 0; i < rank && given.size() == rank * 2; ++i) {
            const size_t from = isPlanes ? order.at(i) : i;
            pads[i] = static_cast<int64_t>(given[from * 2]);
            pads[i + rank] = static_cast<int64_t>(given[from * 2 + 1]);
        }
        node("Pad", {isPlanes ? asPlanes(input(0)) : asGiven(input(0)), integers("pads", pads)},
             resultName(isPlanes), nameOf(output()));
    }

    void concatenate()
    {
        const auto rank = static_cast<int64_t>(rankOf(output()));
        int64_t axis = size(0, 0);
        if (axis < 0) axis += rank;
        const bool isPlanes =
            rank == 4 && std::all_of(m_op->inputs.begin(), m_op->inputs.end(),
                                     [&](int64_t index) { return hasPlanes(index); });
        std::vector<std::string> inputs;
        for (const int64_t index : m_op->inputs)
            inputs.push_back(isPlanes ? asPlanes(index) : asGiven(index));
        NodeProto& made = node("Concat", inputs, {}, nameOf(output()));
        constexpr std::array<int64_t, 4> kPlace{0, 2, 3, 1};
        setInteger(made, "axis", isPlanes ? kPlace.at(static_cast<size_t>(axis)) : axis);
        finish(made, isPlanes, option(1));
    }
};

} // namespace

Result<ModelProto> readTfliteDocument(std::span<const std::byte> bytes, const std::string& path)
{
    const auto model = readTfliteModel(bytes, nullptr, path);
    if (!model) return model.error();
    if (model->subgraphs.empty())
        return makeError(DiagnosticCode::BadModel, "the model has no graph", {.file = path});
    return Document(*model, path).run();
}

} // namespace tenon::compiler
