// SPDX-License-Identifier: Apache-2.0
// The functions compute what they give for evenly spread values of the range, all in one model.
#include "compiler/quantize/flat_ends.h"

#include <algorithm>
#include <set>

namespace tenon::compiler {
namespace {

/// Sixteen for each integer that there could be.
constexpr int64_t kPoints = 4096;

/// A tensor, and what is computed of it alone and rounded.
struct Source
{
    const PlannedTensor* tensor;
    LinearRange range;
    std::vector<const PlannedTensor*> results;

    std::string key() const
    {
        std::string out = tensor->name + (tensor->isWide ? " 16" : " 8");
        for (const PlannedTensor* result : results)
            out += "\n" + result->name + (result->isWide ? " 16" : " 8");
        return out;
    }
};

class FlatEndsReader
{
public:
    FlatEndsReader(const FlatEndsSite& site, CarriedLimits& carried)
        : m_site(site)
    {
        for (const PlannedTensor& tensor : site.plan.tensors)
            if (carried.canHave(tensor)) m_sources.push_back({&tensor, site.rangeOf(tensor), {}});
        for (Source& source : m_sources)
            for (const PlannedTensor& result : site.plan.tensors)
                if (const auto of = site.plan.functions.find(result.name);
                    of != site.plan.functions.end() && of->second == source.tensor->name)
                    source.results.push_back(&result);
        std::erase_if(m_sources, [](const Source& source) { return source.results.empty(); });
    }

    const std::vector<Source>& sources() const { return m_sources; }
    /// Those that are not known yet.
    void keep(const std::map<std::string, ValueLimits>& known)
    {
        std::erase_if(m_sources,
                      [&](const Source& source) { return known.contains(source.key()); });
    }

    /// The functions alone, of vectors.
    tenon_onnx::ModelProto model() const
    {
        tenon_onnx::ModelProto out;
        out.set_ir_version(m_site.model.ir_version());
        *out.mutable_opset_import() = m_site.model.opset_import();
        tenon_onnx::GraphProto& graph = *out.mutable_graph();
        graph.set_name("functions");
        std::set<std::string> sources, read;
        for (const Source& source : m_sources) {
            sources.insert(source.tensor->name);
            addFloats(*graph.add_input(), source.tensor->name)
                .mutable_shape()
                ->add_dim()
                ->set_dim_value(kPoints);
            for (const PlannedTensor* result : source.results)
                addFloats(*graph.add_output(), result->name);
        }
        const auto isOurs = [&](const tenon_onnx::NodeProto& node) {
            if (node.output_size() == 0) return false;
            const auto of = m_site.plan.functions.find(node.output(0));
            return of != m_site.plan.functions.end() && sources.contains(of->second);
        };
        for (const auto& node : m_site.graph.proto().node())
            if (isOurs(node)) read.insert(node.input().begin(), node.input().end());
        for (const auto& node : m_site.graph.proto().node())
            if (isOurs(node) || (node.op_type() == "Constant" && read.contains(node.output(0))))
                *graph.add_node() = node;
        for (const auto& constant : m_site.graph.proto().initializer())
            if (read.contains(constant.name())) *graph.add_initializer() = constant;
        return out;
    }

    DataSet points() const
    {
        DataSet out{.source = "values of functions", .inputs = {}};
        for (const Source& source : m_sources) {
            std::vector<float> values;
            for (int64_t i = 0; i < kPoints; ++i)
                values.push_back(static_cast<float>(valueAt(source.range, i)));
            out.inputs.emplace_back(source.tensor->name, Tensor::of(kFloat32, {kPoints}, values));
        }
        return out;
    }

    ValueLimits limitsOf(const Source& source, const std::map<std::string, Tensor>& values) const
    {
        int64_t first = 0, last = kPoints - 1;
        while (first < last && isSame(source, values, first + 1, 0)) ++first;
        while (last > first && isSame(source, values, last - 1, kPoints - 1)) --last;
        // Zero is always an integer, and rounding the ends takes half a step.
        const double step = source.range.scale;
        return {std::min(valueAt(source.range, first) - step, 0.0),
                std::max(valueAt(source.range, last) + step, 0.0)};
    }

private:
    static tenon_onnx::TypeProto::Tensor& addFloats(tenon_onnx::ValueInfoProto& value,
                                                    const std::string& name)
    {
        value.set_name(name);
        auto& type = *value.mutable_type()->mutable_tensor_type();
        type.set_elem_type(tenon_onnx::TensorProto::FLOAT);
        return type;
    }

    static double valueAt(const LinearRange& range, int64_t point)
    {
        const double share = static_cast<double>(point) / (kPoints - 1);
        return range.least() + share * (range.greatest() - range.least());
    }

    /// Every result rounds to the same integer at both points.
    bool isSame(const Source& source, const std::map<std::string, Tensor>& values, int64_t a,
                int64_t b) const
    {
        return std::all_of(source.results.begin(), source.results.end(),
                           [&](const PlannedTensor* result) {
                               const LinearRange range = m_site.rangeOf(*result);
                               const Tensor& of = values.at(result->name);
                               return range.integer(of.number(a)) == range.integer(of.number(b));
                           });
    }

    const FlatEndsSite& m_site;
    std::vector<Source> m_sources;
};

} // namespace

Result<std::map<std::string, ValueLimits>> FlatEnds::of(const FlatEndsSite& site,
                                                        const OpenRunner& open, JobContext& job)
{
    CarriedLimits carried(site);
    FlatEndsReader reader(site, carried);
    const std::vector<Source> sources = reader.sources();
    reader.keep(m_known);
    if (!reader.sources().empty()) {
        const DataSet points = reader.points();
        auto functions = Observed::open(reader.model(), {}, {points}, open, job);
        if (!functions) return functions.error();
        const auto values = functions->run(points);
        if (!values) return values.error();
        for (const Source& source : reader.sources())
            m_known[source.key()] = reader.limitsOf(source, *values);
    }
    std::map<std::string, ValueLimits> limits;
    for (const Source& source : sources) limits[source.tensor->name] = m_known.at(source.key());
    return carried.of(limits);
}

} // namespace tenon::compiler
