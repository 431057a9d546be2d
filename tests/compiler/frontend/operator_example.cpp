// SPDX-License-Identifier: Apache-2.0
// The reader of operator_examples.txt.
#include "tests/compiler/frontend/operator_example.h"

#include "core/base/file.h"
#include "core/base/text.h"
#include "tests/compiler/frontend/model_text.h"

#include <algorithm>
#include <sstream>
#include <stdexcept>

namespace tenon::test {
namespace {

/// The statement that declares operand `index`, and its name.
std::string operandOf(const std::string& word, size_t index, std::string& statements)
{
    if (word == "_") return "_";
    const std::string name = "i" + std::to_string(index);
    const size_t colon = word.find(':'), equals = word.find('=');
    const std::string type = word.substr(0, colon);
    const std::string dims = word.substr(colon + 1, equals - colon - 1);
    if (equals == std::string::npos)
        statements += "input " + name + " " + (type == "T" ? "float32" : type) + " " + dims + "\n";
    else
        statements += (type == "float32" ? "floats " : "ints ") + name + " " + type + " " + dims +
                      " = " + word.substr(equals + 1) + "\n";
    return name;
}

bool isOperand(const std::string& word)
{
    const size_t colon = word.find(':'), equals = word.find('=');
    return word == "_" || (colon != std::string::npos && colon < equals);
}

} // namespace

std::vector<OperatorExample> readOperatorExamples(const std::string& path)
{
    const auto text = core::readFile(path);
    if (!text) throw std::runtime_error(text.error().text());
    std::vector<OperatorExample> out;
    for (const std::string& line : core::split(*text, '\n')) {
        std::istringstream stream(line);
        OperatorExample example;
        if (!(stream >> example.op) || example.op[0] == '#') continue;
        if (const size_t at = example.op.find('@'); at != std::string::npos) {
            example.since = std::stoi(example.op.substr(at + 1));
            example.op.resize(at);
        }
        for (std::string word; stream >> word;) example.words.push_back(word);
        out.push_back(std::move(example));
    }
    return out;
}

const OperatorExample& exampleFor(const std::vector<OperatorExample>& all,
                                  const compiler::Converter& row)
{
    const OperatorExample* found = nullptr;
    for (const OperatorExample& example : all)
        if (example.op == row.op && example.since <= row.sinceVersion) found = &example;
    if (!found)
        throw std::runtime_error("operator_examples.txt has no line for " + std::string(row.op));
    return *found;
}

tenon_onnx::ModelProto exampleModel(const OperatorExample& example, const compiler::Converter& row,
                                    int32_t onnxType)
{
    std::string statements, operands, attributes;
    size_t outputs = 1;
    std::vector<size_t> typed;
    for (const std::string& word : example.words) {
        if (word.starts_with("->")) {
            outputs = std::stoul(word.substr(2));
        } else if (isOperand(word)) {
            const size_t index =
                static_cast<size_t>(std::count(operands.begin(), operands.end(), ','));
            if (word.starts_with("T:")) typed.push_back(index);
            operands += operandOf(word, index, statements) + ",";
        } else {
            attributes += " " + word;
        }
    }
    std::string results;
    for (size_t i = 0; i < outputs; ++i) results += "o" + std::to_string(i) + ",";
    const size_t dot = example.op.rfind('.');
    const bool isForeign = dot != std::string::npos;
    const std::string op = isForeign ? example.op.substr(dot + 1) : example.op;
    if (!operands.empty()) operands.pop_back();
    results.pop_back();
    std::string text = "opset " + std::to_string(isForeign ? 17 : row.sinceVersion) + "\n";
    if (isForeign)
        text +=
            "opset " + example.op.substr(0, dot) + " " + std::to_string(row.sinceVersion) + "\n";
    text += statements + "node " + op + " n " + (operands.empty() ? "()" : operands) + " -> " +
            results + attributes;
    if (isForeign) text += " domain:" + example.op.substr(0, dot);
    for (size_t i = 0; i < outputs; ++i) text += "\noutput o" + std::to_string(i) + " float32 *";
    tenon_onnx::ModelProto model = modelOf(text);
    for (auto& input : *model.mutable_graph()->mutable_input())
        for (const size_t index : typed)
            if (input.name() == "i" + std::to_string(index))
                input.mutable_type()->mutable_tensor_type()->set_elem_type(onnxType);
    return model;
}

} // namespace tenon::test
