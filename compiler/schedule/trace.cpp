// SPDX-License-Identifier: Apache-2.0
// Traces as text: printing a step, reading steps back and applying them.
#include "compiler/schedule/tree.h"
#include "core/base/text.h"
#include "core/ir/tir/parse_expr.h"

namespace tenon::compiler {
namespace {

using Operands = std::vector<std::string>;

tir::Scope scopeNamed(const std::string& text)
{
    for (const tir::Scope scope : {tir::Scope::Local, tir::Scope::Register, tir::Scope::Shared})
        if (text == tir::scopeText(scope)) return scope;
    return tir::Scope::Global;
}

/// Steps that make names return them; the others return none.
using Made = Result<Operands>;

Made none(const Status& status)
{
    if (!status) return status.error();
    return Operands{};
}
Made one(const Result<std::string>& name)
{
    if (!name) return name.error();
    return Operands{*name};
}

struct Primitive
{
    std::string_view name;
    size_t operands; ///< least number
    Made (*apply)(Primitives&, const Operands&, const Attrs&);
};

constexpr Primitive kPrimitives[] = {
    {"bind", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return none(s.bind(o[0], a.string("thread", "")));
     }},
    {"cache_read", 2,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return one(s.cacheRead(o[0], o[1], scopeNamed(a.string("scope", ""))));
     }},
    {"cache_words", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return one(
             s.cacheWords(o[0], scopeNamed(a.string("scope", "")), a.integer("sums_last", 0) != 0));
     }},
    {"cache_write", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return one(s.cacheWrite(o[0], scopeNamed(a.string("scope", ""))));
     }},
    {"compute_at", 2,
     [](Primitives& s, const Operands& o, const Attrs&) { return none(s.computeAt(o[0], o[1])); }},
    {"compute_inline", 1,
     [](Primitives& s, const Operands& o, const Attrs&) { return none(s.computeInline(o[0])); }},
    {"decompose_reduction", 2,
     [](Primitives& s, const Operands& o, const Attrs&) {
         return one(s.decomposeReduction(o[0], o[1]));
     }},
    {"fuse", 1, [](Primitives& s, const Operands& o, const Attrs&) { return one(s.fuse(o)); }},
    {"fuse_axes", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return one(s.fuseAxes(o[0], a.integer("axis", 0)));
     }},
    {"fuse_dims", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return none(s.fuseDims(o[0], a.integer("dim", 0)));
     }},
    {"init_with_addends", 1,
     [](Primitives& s, const Operands& o, const Attrs&) { return none(s.initWithAddends(o[0])); }},
    {"pad", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return none(s.pad(o[0], a.integers("multiples", {})));
     }},
    {"parallel", 1,
     [](Primitives& s, const Operands& o, const Attrs&) { return none(s.parallel(o[0])); }},
    {"peel", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return one(s.peel(o[0], a.integer("count", 0)));
     }},
    {"permute_dims", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return none(s.permuteDims(o[0], a.integers("order", {})));
     }},
    {"reorder", 1,
     [](Primitives& s, const Operands& o, const Attrs&) { return none(s.reorder(o)); }},
    {"reverse_compute_at", 2,
     [](Primitives& s, const Operands& o, const Attrs&) {
         return none(s.reverseComputeAt(o[0], o[1]));
     }},
    {"reverse_compute_inline", 1,
     [](Primitives& s, const Operands& o, const Attrs&) {
         return none(s.reverseComputeInline(o[0]));
     }},
    {"rfactor", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return one(s.rfactor(o[0], a.integer("axis", 0)));
     }},
    {"set_scope", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return none(s.setScope(o[0], scopeNamed(a.string("scope", ""))));
     }},
    {"skip_zero_terms", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return none(s.skipZeroTerms(o[0], a.integer("axis", 0)));
     }},
    {"split", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return s.split(o[0], a.integers("factors", {}));
     }},
    {"split_overlap", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return s.splitOverlap(o[0], a.integer("factor", 0));
     }},
    {"storage_align", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return none(s.storageAlign(o[0], a.integer("axis", 0), a.integer("factor", 1),
                                    a.integer("offset", 0)));
     }},
    {"stream", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return none(s.stream(o[0], a.integer("bytes", 0)));
     }},
    {"stream_result", 1,
     [](Primitives& s, const Operands& o, const Attrs&) { return none(s.streamResult(o[0])); }},
    {"stream_rows", 1,
     [](Primitives& s, const Operands& o, const Attrs&) { return none(s.streamRows(o[0])); }},
    {"tensorize", 1,
     [](Primitives& s, const Operands& o, const Attrs& a) {
         return none(s.tensorize(o[0], a.string("intrinsic", "")));
     }},
    {"unroll", 1,
     [](Primitives& s, const Operands& o, const Attrs&) { return none(s.unroll(o[0])); }},
    {"vectorize", 1,
     [](Primitives& s, const Operands& o, const Attrs&) { return none(s.vectorize(o[0])); }},
};

/// `a, b = name("x", "y", key=value)`
class TraceParser : public tir::ExprParser
{
public:
    using ExprParser::ExprParser;

    std::vector<TraceStep> steps()
    {
        std::vector<TraceStep> out;
        while (acceptKind(tir::TokenKind::Newline)) {}
        while (!failed() && peek().kind != tir::TokenKind::End) {
            out.push_back(step());
            if (!acceptKind(tir::TokenKind::Newline)) fail("expected the end of the line");
        }
        return out;
    }

private:
    TraceStep step()
    {
        TraceStep step;
        std::vector<std::string> names{name()};
        while (accept(",")) names.push_back(name());
        if (accept("=")) {
            step.results = names;
            step.primitive = name();
        } else {
            step.primitive = names[0];
        }
        expect("(");
        while (!failed() && !at(")")) {
            if (peek().kind == tir::TokenKind::String) {
                step.operands.push_back(stringLiteral());
            } else {
                const std::string key = name();
                expect("=");
                step.attrs.set(key, attrValue());
            }
            if (!accept(",")) break;
        }
        expect(")");
        return step;
    }
};

} // namespace

std::string TraceStep::text() const
{
    std::vector<std::string> args;
    for (const std::string& operand : operands) args.push_back("\"" + operand + "\"");
    for (const auto& [key, value] : attrs.entries()) args.push_back(key + "=" + attrText(value));
    const std::string made = results.empty() ? "" : join(results, ", ") + " = ";
    return made + primitive + "(" + join(args, ", ") + ")";
}

Status Primitives::apply(const TraceStep& step)
{
    for (const Primitive& primitive : kPrimitives) {
        if (primitive.name != step.primitive) continue;
        if (step.operands.size() < primitive.operands)
            return badSchedule(step.primitive,
                               "needs " + std::to_string(primitive.operands) + " operands");
        const Primitives before = *this;
        const Made made = primitive.apply(*this, step.operands, step.attrs);
        if (!made) return made.error();
        if (!step.results.empty() && *made != step.results) {
            *this = before;
            return badSchedule(step.primitive, "makes " + quoted(join(*made, ", ")) + ", not " +
                                                   quoted(join(step.results, ", ")));
        }
        return kDone;
    }
    return makeError(DiagnosticCode::BadSchedule,
                     "there is no schedule primitive " + quoted(step.primitive));
}

Status Primitives::replay(std::string_view traceText)
{
    TraceParser parser(tir::tokenize(traceText));
    const std::vector<TraceStep> steps = parser.steps();
    if (parser.failed()) return parser.error();
    for (const TraceStep& step : steps)
        if (Status status = apply(step); !status) return status;
    return kDone;
}

} // namespace tenon::compiler
