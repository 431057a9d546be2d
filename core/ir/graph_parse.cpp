// SPDX-License-Identifier: Apache-2.0
// Reads graph text into a module.
#include "core/base/text.h"
#include "core/ir/graph_lex.h"
#include "core/ir/graph_text.h"
#include "core/ir/tir/text.h"

#include <charconv>
#include <unordered_map>

namespace tenon::core {
namespace {

constexpr double kMostConstantElements = 1 << 26;

class Parser
{
public:
    Parser(std::string_view text, const ConstantPool& pool)
        : m_text(text)
        , m_lexer(text)
        , m_pool(pool)
    {
    }

    Result<Module> run()
    {
        declareFunctions();
        while (m_lexer.ok() && !m_lexer.atEnd()) {
            if (m_lexer.accept("kernel"))
                parseKernel();
            else
                parseFunction();
        }
        if (m_lexer.ok()) chooseMain();
        if (!m_lexer.ok()) return m_lexer.error();
        m_module.setSources(std::make_shared<const std::vector<SourceNode>>(std::move(m_sources)));
        return std::move(m_module);
    }

private:
    /// Ids in the order of the definitions, so that calls may precede them.
    void declareFunctions()
    {
        for (size_t at = 0; at < m_text.size(); at = m_text.find('\n', at)) {
            if (m_text[at] == '\n') ++at;
            GraphLexer line(m_text.substr(at, m_text.find('(', at) - at));
            if (line.accept("def") && line.accept("@")) {
                const std::string name = line.word();
                if (!m_functions.count(name)) m_functions[name] = m_module.ids().nextFunction();
            }
            if (m_text.find('\n', at) == std::string_view::npos) break;
        }
    }

    void chooseMain()
    {
        const auto main = m_functions.find("main");
        if (main == m_functions.end()) return m_lexer.fail("no function `@main`");
        m_module.setMain(main->second);
    }

    FunctionId functionId()
    {
        m_lexer.expect("@");
        const std::string name = m_lexer.word();
        const auto found = m_functions.find(name);
        if (m_lexer.ok() && found == m_functions.end())
            m_lexer.fail("no function " + quoted("@" + name));
        return m_lexer.ok() ? found->second : FunctionId();
    }

    void parseKernel()
    {
        const std::string name = m_lexer.word();
        m_lexer.expect("{\n");
        const std::string_view raw = m_lexer.rawUntilLine("}");
        if (!m_lexer.ok()) return;
        Result<tir::PrimFunc> kernel = tir::parsePrimFunc(raw);
        if (!kernel) return m_lexer.fail("kernel " + quoted(name) + ": " + kernel.error().message);
        m_module.setKernel(name, std::make_shared<const tir::PrimFunc>(std::move(*kernel)));
    }

    void parseFunction()
    {
        m_lexer.expect("def");
        m_lexer.expect("@");
        GraphFunction function;
        function.name = m_lexer.word();
        m_values.clear();
        m_lexer.expect("(");
        while (m_lexer.ok() && !m_lexer.accept(")")) {
            if (!function.params.empty()) m_lexer.expect(",");
            parseParameter(function);
        }
        if (m_lexer.accept("->")) parseTypeList();
        if (m_lexer.accept("[")) parseFunctionAttrs(function.attrs);
        m_lexer.expect("{");
        while (m_lexer.ok() && m_lexer.peek() == '%') parseNode(function);
        parseReturn(function);
        m_lexer.expect("}");
        if (!m_lexer.ok()) return;
        function.id = m_functions.at(function.name);
        if (m_module.functions().count(function.id))
            return m_lexer.fail("function " + quoted("@" + function.name) + " is defined twice");
        m_module.setFunction(std::move(function));
    }

    void parseTypeList()
    {
        if (!m_lexer.accept("(")) {
            m_lexer.tensorType();
            return;
        }
        for (bool first = true; m_lexer.ok() && !m_lexer.accept(")"); first = false) {
            if (!first) m_lexer.expect(",");
            m_lexer.tensorType();
        }
    }

    void parseFunctionAttrs(Attrs& attrs)
    {
        for (bool first = true; m_lexer.ok() && !m_lexer.accept("]"); first = false) {
            if (!first) m_lexer.expect(",");
            std::string name = m_lexer.word();
            m_lexer.expect("=");
            attrs.set(std::move(name), m_lexer.attrValue());
        }
    }

    void define(const std::string& name, NodeRecord& node)
    {
        node.id = m_module.ids().nextNode();
        if (!m_values.emplace(name, node.id).second)
            m_lexer.fail("value " + quoted("%" + name) + " is defined twice");
    }

    void parseParameter(GraphFunction& function)
    {
        NodeRecord node;
        node.kind = NodeKind::Parameter;
        node.name = m_lexer.valueName();
        m_lexer.expect(":"); // nothing else says what it is
        node.types = {m_lexer.tensorType()};
        define(node.name, node);
        if (!m_lexer.ok()) return;
        function.params.push_back(node.id);
        m_module.setNode(std::move(node));
    }

    ValueRef value()
    {
        if (m_lexer.accept("_")) return {};
        const std::string name = m_lexer.valueName();
        const auto found = m_values.find(name);
        if (m_lexer.ok() && found == m_values.end()) m_lexer.fail("no value " + quoted("%" + name));
        if (!m_lexer.ok()) return {};
        ValueRef out{found->second, 0};
        if (m_lexer.accept(".")) out.index = static_cast<uint32_t>(m_lexer.integer());
        return out;
    }

    void parseReturn(GraphFunction& function)
    {
        m_lexer.expect("return");
        while (m_lexer.ok() && m_lexer.peek() != '}') {
            if (!function.results.empty()) m_lexer.expect(",");
            function.results.push_back(value());
            function.resultNames.push_back(m_lexer.accept("as") ? m_lexer.quotedString() : "");
        }
        bool isNamed = false;
        for (const std::string& name : function.resultNames) isNamed |= !name.empty();
        if (!isNamed) function.resultNames.clear();
    }

    void parseNode(GraphFunction& function)
    {
        NodeRecord node;
        const std::string name = m_lexer.valueName();
        if (name.find_first_not_of("0123456789") != std::string::npos) node.name = name;
        int64_t count = 1;
        if (m_lexer.accept(":")) count = m_lexer.integer();
        m_lexer.expect("=");
        std::vector<std::string> literal;
        std::string hash;
        parseApplication(node, literal, hash);
        if (m_lexer.accept(":")) {
            Types types;
            do types.push_back(m_lexer.tensorType());
            while (m_lexer.ok() && m_lexer.accept(","));
            node.types = std::move(types);
            if (static_cast<int64_t>(node.types.size()) != count)
                m_lexer.fail("value " + quoted("%" + name) + " has " + std::to_string(count) +
                             " results but " + std::to_string(node.types.size()) + " types");
        }
        if (node.kind == NodeKind::Constant) fillConstant(node, literal, hash);
        define(name, node);
        if (!m_lexer.ok()) return;
        if (node.kind == NodeKind::Op) {
            node.origin = {SourceId(static_cast<uint32_t>(m_sources.size()))};
            m_sources.push_back({node.name.empty() ? "%" + name : name, node.op, "", {}});
        }
        function.order.push_back(node.id);
        m_module.setNode(std::move(node));
    }

    void parseApplication(NodeRecord& node, std::vector<std::string>& literal, std::string& hash)
    {
        if (m_lexer.peek() == '@') {
            node.kind = NodeKind::Call;
            node.callee = functionId();
        } else {
            const std::string callee = m_lexer.word();
            if (callee == "const" || callee == "rand") {
                node.kind = NodeKind::Constant;
                return parseConstant(callee == "rand", literal, hash);
            }
            node.kind = callee == "R.call_tir" ? NodeKind::CallTir : NodeKind::Op;
            if (node.kind == NodeKind::Op) node.op = callee;
        }
        m_lexer.expect("(");
        bool first = true;
        if (node.kind == NodeKind::CallTir) {
            node.kernel = m_lexer.word();
            first = false;
        }
        for (; m_lexer.ok() && !m_lexer.accept(")"); first = false) {
            if (!first) m_lexer.expect(",");
            if (m_lexer.ok()) parseArgument(node);
        }
    }

    void parseArgument(NodeRecord& node)
    {
        if (m_lexer.peek() == '%' || m_lexer.accept("_")) {
            node.operands.push_back(m_lexer.peek() == '%' ? value() : ValueRef());
            return;
        }
        if (m_lexer.peek() == '@') {
            node.callee = functionId();
            return;
        }
        std::string name = m_lexer.word();
        m_lexer.expect("=");
        if (name != "bodies") {
            node.attrs.set(std::move(name), m_lexer.attrValue());
            return;
        }
        m_lexer.expect("[");
        while (m_lexer.ok() && !m_lexer.accept("]")) {
            if (!node.bodies.empty()) m_lexer.expect(",");
            if (m_lexer.ok()) node.bodies.push_back(functionId());
        }
    }

    /// `literal` receives the elements; for rand(...) `hash` is "rand" and they are its arguments.
    void parseConstant(bool isRandom, std::vector<std::string>& literal, std::string& hash)
    {
        m_lexer.expect("(");
        if (isRandom) hash = "rand";
        const auto element = [&] {
            literal.push_back(m_lexer.numberToken());
            m_lexer.accept("f");
        };
        if (m_lexer.accept("#")) {
            hash = m_lexer.word();
        } else if (m_lexer.accept("[")) {
            while (m_lexer.ok() && !m_lexer.accept("]")) {
                if (!literal.empty()) m_lexer.expect(",");
                element();
            }
        } else {
            do element();
            while (m_lexer.ok() && m_lexer.accept(","));
        }
        m_lexer.expect(")");
    }

    void fillConstant(NodeRecord& node, const std::vector<std::string>& literal,
                      const std::string& hash)
    {
        if (!m_lexer.ok()) return;
        const auto dims = node.types.size() == 1 ? constantShape(node.types[0].shape)
                                                 : std::optional<std::vector<int64_t>>();
        if (!dims) return m_lexer.fail("a constant needs one type of known shape");
        const DataType dtype = node.types[0].dtype;
        double elements = 1; // a double cannot overflow
        for (const int64_t d : *dims) elements *= static_cast<double>(d);
        if ((hash.empty() || hash == "rand") && elements > kMostConstantElements)
            return m_lexer.fail("a constant has at most 2^26 elements in text");
        if (hash == "rand") {
            node.constant = std::make_shared<const Tensor>(randomTensor(dtype, *dims, literal));
        } else if (!hash.empty()) {
            const auto found = m_pool.find(hash);
            if (found == m_pool.end())
                return m_lexer.fail("the text names the constant " + quoted("#" + hash) +
                                    " but does not hold its values; open the model that it was "
                                    "printed of, or write rand(1) or numbers in its place");
            node.constant = found->second;
        } else {
            const int64_t count = elementCount(*dims);
            if (count != static_cast<int64_t>(literal.size()))
                return m_lexer.fail("a constant of " + std::to_string(count) + " elements has " +
                                    std::to_string(literal.size()) + " values");
            node.constant = std::make_shared<const Tensor>(literalTensor(dtype, *dims, literal));
        }
        if (node.constant->dtype() != dtype || node.constant->shape() != *dims)
            m_lexer.fail("the constant is a " + node.constant->typeText());
    }

    static Tensor literalTensor(DataType dtype, const std::vector<int64_t>& dims,
                                const std::vector<std::string>& literal)
    {
        return Tensor::make(dtype, dims, [&](std::span<std::byte> bytes) {
            for (size_t i = 0; i < literal.size(); ++i) {
                const char* begin = literal[i].data();
                const char* end = begin + literal[i].size();
                const int64_t at = static_cast<int64_t>(i);
                double number = 0;
                float real = 0;
                int64_t integer = 0;
                if (dtype == kFloat64) {
                    std::from_chars(begin, end, number);
                    storeNumber(dtype, bytes, at, number);
                } else if (dtype.isFloat()) {
                    std::from_chars(begin, end, real);
                    storeNumber(dtype, bytes, at, static_cast<double>(real));
                } else {
                    std::from_chars(begin, end, integer);
                    storeInteger(dtype, bytes, at, integer);
                }
            }
        });
    }

    static Tensor randomTensor(DataType dtype, const std::vector<int64_t>& dims,
                               const std::vector<std::string>& arguments)
    {
        const auto argument = [&](size_t i, double fallback) {
            if (i >= arguments.size()) return fallback;
            const std::string& text = arguments[i];
            std::from_chars(text.data(), text.data() + text.size(), fallback);
            return fallback;
        };
        const double low = argument(1, dtype.isFloat() ? -1 : 0);
        const double high = argument(2, dtype.isFloat() ? 1 : dtype.isBool() ? 2 : 10);
        uint64_t state = static_cast<uint64_t>(argument(0, 0)) * 0x9e3779b97f4a7c15ull;
        return Tensor::make(dtype, dims, [&](std::span<std::byte> bytes) {
            for (int64_t i = 0; i < elementCount(dims); ++i) {
                state += 0x9e3779b97f4a7c15ull; // splitmix64
                uint64_t z = state;
                z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
                z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
                z ^= z >> 31;
                const double unit = static_cast<double>(z >> 11) * 0x1p-53;
                storeNumber(dtype, bytes, i, low + unit * (high - low));
            }
        });
    }

    std::string_view m_text;
    GraphLexer m_lexer;
    const ConstantPool& m_pool;
    Module m_module;
    std::vector<SourceNode> m_sources;
    std::map<std::string, FunctionId> m_functions;
    std::unordered_map<std::string, NodeId> m_values; ///< of the function being read
};

} // namespace

Result<Module> parseModule(std::string_view text, const ConstantPool& pool)
{
    return Parser(text, pool).run();
}

} // namespace tenon::core
