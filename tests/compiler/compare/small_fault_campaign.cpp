// SPDX-License-Identifier: Apache-2.0
// Plants small faults in the constants and kernels of models on this computer, one after the other,
// and prints whether a comparison finds each and whom it blames.
//
// usage: small_fault_campaign [--loose] MODEL ...
//        (nothing changes) stands where the results of all kernels are as without the fault
//        --loose: by tolerances alone, not by what rounding is expected to do
// One line per fault: found (some tensor is outside), blamed (the first outside is the call's),
// own (its kernel alone is), first (it ranks first), alone (no other kernel is outside on its own).
#include "app/runs/compared_model.h"
#include "core/base/hash.h"
#include "core/ir/tir/text.h"
#include "tests/compiler/compare/faults.h"
#include "tests/compiler/compare/small_faults.h"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <set>

namespace tenon::test {
namespace {

/// Remembers the answers of a reference: every fault is compared with the same.
ReferenceSource remembered(ReferenceSource source)
{
    auto known = std::make_shared<std::map<size_t, ReferenceValues>>();
    return [source = std::move(source), known](const std::vector<ValueRef>& wanted,
                                               const NamedValues& inputs,
                                               JobContext& job) -> Result<ReferenceValues> {
        if (const auto found = known->find(wanted.size()); found != known->end())
            return found->second;
        auto out = source(wanted, inputs, job);
        if (out) (*known)[wanted.size()] = *out;
        return out;
    };
}

/// Calls that compute much, whose kernel nobody else calls: in the middle and at the end.
std::vector<size_t> victims(const CompileResult& built)
{
    const auto& calls = built.program.calls;
    std::map<int, int> users;
    for (const KernelCall& call : calls) ++users[call.kernel];
    std::vector<size_t> fit;
    for (size_t c = 0; c < calls.size(); ++c)
        if (calls[c].macs > 0 && users[calls[c].kernel] == 1) fit.push_back(c);
    if (fit.empty()) return {};
    return fit.size() == 1 ? fit : std::vector<size_t>{fit[fit.size() / 2 - 1], fit.back()};
}

class Campaign
{
public:
    explicit Campaign(bool isLoose)
        : m_isLoose(isLoose)
    {
    }

    void plantIn(const std::string& path)
    {
        const auto model = runs::openCompared({.model = path});
        if (!model || model->sets.empty()) {
            std::printf("%s cannot be opened\n", path.c_str());
            return;
        }
        m_model = std::filesystem::path(path).filename();
        std::vector<NamedValues> sets = model->sets;
        sets.resize(1);
        m_request = requestFor(model->loaded, std::move(sets));
        m_request.limits.holdsToRounding = !m_isLoose;
        m_request.reference = remembered(m_request.reference);
        m_request.options.cacheFolder = std::filesystem::temp_directory_path() / "small_faults";
        JobContext job(2);
        const auto built = compile(m_request.loaded, m_request.options, job);
        CHECK(built) << built.error().text();
        row("none", m_request, {}, {});
        for (const size_t victim : victims(**built)) {
            plantInConstants(**built, victim);
            plantInKernel(**built, victim);
        }
    }

private:
    void plantInConstants(const CompileResult& built, size_t victim)
    {
        for (const SmallFault& fault : smallFaults(built, victim)) {
            CompareRequest request = m_request;
            size_t count = 0;
            request.device = runHere(planted(fault, count));
            row(fault.name, request, victim, &count);
        }
    }

    void plantInKernel(const CompileResult& built, size_t victim)
    {
        const auto kernel = static_cast<size_t>(built.program.calls[victim].kernel);
        CompareRequest request = m_request;
        request.options.cacheFolder.clear();
        request.options.service =
            faultyService(built.kernels[kernel].tirHash, KernelFault::SlightlyLarge);
        row("kernel 2^-10 large", request, victim, {});
    }

    void row(const std::string& fault, const CompareRequest& request, std::optional<size_t> victim,
             const size_t* count)
    {
        JobContext job(2);
        const auto out = compareTensors(request, job);
        std::string found = out ? "" : out.error().text();
        if (out) {
            const auto first = out->first();
            std::set<size_t> own;
            for (const ComparedTensor& tensor : out->tensors)
                if (tensor.isolated && tensor.isolated->isOutside) own.insert(tensor.call);
            const size_t leader = out->tensors[out->ranked().front()].call;
            found =
                std::string(first ? "found" : "-----") +
                (first && out->tensors[*first].call == victim ? " blamed" : " ------") +
                (victim && own.contains(*victim) ? " own" : " ---") +
                (leader == victim ? " first" : " -----") +
                (own.size() <= (victim ? 1U : 0U) ? " alone" : " +" + std::to_string(own.size()));
            if (first && !victim) found += " " + out->tensors[*first].name;
        }
        const std::vector<double> errors = out ? errorsOf(*out) : std::vector<double>();
        if (!victim) m_errors = errors;
        if (victim && errors == m_errors) found += " (nothing changes)";
        const bool isLost = count && *count == 0;
        std::printf("%-30s %4d %-22s %s%s\n", m_model.c_str(),
                    victim ? static_cast<int>(*victim) : -1, fault.c_str(), found.c_str(),
                    isLost ? " (not planted)" : "");
        std::fflush(stdout);
    }

    /// Of every tensor.
    static std::vector<double> errorsOf(const Comparison& comparison)
    {
        std::vector<double> out;
        for (const ComparedTensor& tensor : comparison.tensors)
            out.insert(out.end(), {tensor.cumulative.rms, tensor.cumulative.maxAbs,
                                   tensor.isolated ? tensor.isolated->rms : 0});
        return out;
    }

    bool m_isLoose;
    std::vector<double> m_errors; ///< of the model without a fault
    std::string m_model;
    CompareRequest m_request;
};

} // namespace
} // namespace tenon::test

int main(int argc, char** argv)
{
    const bool isLoose = argc > 1 && std::string(argv[1]) == "--loose";
    if (argc < (isLoose ? 3 : 2) || (argv[1][0] == '-' && !isLoose)) {
        std::fprintf(stderr, "usage: small_fault_campaign [--loose] MODEL ...\n");
        return 2;
    }
    tenon::test::Campaign campaign(isLoose);
    for (int i = isLoose ? 2 : 1; i < argc; ++i) campaign.plantIn(argv[i]);
    return 0;
}
