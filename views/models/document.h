// SPDX-License-Identifier: GPL-3.0-or-later
// Document: everything the window knows about one opened model, as one immutable value.
#pragma once

#include "core/artifact/call_method.h"
#include "core/base/diagnostic.h"
#include "core/ir/model_counts.h"
#include "core/ir/module.h"
#include "views/models/measurement.h"
#include "views/models/memory_plan.h"
#include "views/models/pass_step.h"

#include <QString>
#include <QStringList>

#include <map>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

namespace tenon::core {
struct Comparison;
}

namespace tenon::views {

struct QuantizationLosses;

/// A compiled kernel with its texts; line links are 0 where nothing is known.
struct KernelListing
{
    QString symbol;
    QString rule;         ///< schedule rule that was chosen
    QStringList schedule; ///< trace, one primitive per line
    QString tir;          ///< scheduled loop IR, the source of the line links
    QString llvm;
    QString assembly;
    std::vector<int> llvmToTir;     ///< per line of `llvm`: 1-based line of `tir`
    std::vector<int> assemblyToTir; ///< per line of `assembly`
    qint64 codeBytes = 0;
    qint64 workspaceBytes = 0;
    bool isFromCache = false;
};

/// One call of a kernel in the compiled program, in execution order.
struct KernelCall
{
    core::NodeId node; ///< in the last module version
    QString name;
    QString kernel; ///< key into Document::kernels
    std::vector<core::SourceId> sources;
    double flops = 0;
    double leastFlops = 0;   ///< of those, what no kernel can leave out
    double movedBytes = 0;   ///< inputs, weights and outputs
    double writtenBytes = 0; ///< of those, the outputs
    double weightBytes = 0;  ///< of those, constants
    qint64 macs = 0;         ///< of the operators that it computes
    core::CallMethod method; ///< how it does its heaviest operator
    QString refusal;         ///< why a schedule rule could not be applied; "" where it was
    double sumError = 0;     ///< expected of its sums, relative to their terms; 0: none known
    double errorShare = 0;   ///< what that adds to the results' error, relative to the largest
    QString refusedForm;     ///< a faster form that the error budget has no room for, and why
};

struct PhaseTime
{
    QString name;
    double ms = 0;
};

struct Document
{
    int revision = 0;
    QString path;
    QString name;
    QString producer;
    QString opset;
    core::ModelCounts counts;
    std::unordered_map<core::NodeId, qint64> macs; ///< of each node of any version that has some
    QString target;
    double expectedError = 0; ///< of the results by rounding, relative to the largest; 0: unknown
    QStringList openDims;     ///< symbolic dimensions of the inputs as the file has them
    core::Module imported;
    std::vector<PassStep> passes;
    std::optional<SteppedPass> stepped; ///< none: each step is a whole pass
    bool areNumbersChecked = false;     ///< behind every pass
    QString numbersProblem;             ///< which pass changes the results too much; empty: none
    int brokenPass = -1;                ///< its index
    std::map<QString, KernelListing> kernels;
    std::vector<KernelCall> calls;
    std::vector<core::Diagnostic> issues;
    std::vector<PhaseTime> phases;
    std::optional<MemoryPlan> memory;
    std::optional<Measurement> measurement;
    std::shared_ptr<const core::Comparison> comparison; ///< with a reference; null: none was made
    std::shared_ptr<const QuantizationLosses> quantization; ///< null: nothing was quantized
    std::shared_ptr<const void> backing; ///< the engine's own result, for running it

    bool isCompiled() const { return !calls.empty(); }
    /// Version 0 is the imported module, version i the module after pass i.
    size_t versionCount() const { return passes.size() + 1; }
    /// Passes, and those of them that changed something; rewrites of one count as one.
    std::pair<int, int> passCounts() const;
    const core::Module& version(size_t index) const
    {
        return index == 0 ? imported : passes[index - 1].after;
    }
    /// Of the passes behind version `before` up to version `after`.
    std::vector<const std::vector<core::Change>*> changesBetween(size_t before, size_t after) const;
    double compileMs() const;
    int cachedKernelCount() const;
    /// Index into `calls` of the call that serves `node` of the last version, or -1.
    int callOfNode(core::NodeId node) const;
    /// Multiply-accumulates of a node; of a call those of its operators, which are the kernel's.
    qint64 macsOf(const core::Module& module, const core::NodeRecord& node) const;
    qint64 fileNodes() const;
};

using DocumentPtr = std::shared_ptr<const Document>;

/// "300 nodes · 3.50 M parameters · 300 M MACs · opset 13".
QString factsText(const Document& document);

/// "Winograd F(4x4,3x3)"; "" where there is one way only.
QString methodText(const KernelCall& call);
/// Why the layout pass let the call do its convolution or product that way; "" when it did not.
QString methodReason(const Document& document, const KernelCall& call);
/// The node of `to` that stands where `node` stands in `from`: another run of the same passes gives
/// the same program with new ids. Invalid when there is none.
core::NodeId counterpart(const Document& from, core::NodeId node, const Document& to);
/// "2.0e-05 of the largest result expected by rounding"; empty where it is not known.
QString expectedErrorText(const Document& document);
/// What the file says about itself, inputs and outputs, and the expected error, one per line.
QString modelText(const Document& document);
/// The sizes that are known at run time only, with their bounds: "batch=1..8, seq"; empty: none.
QString openSizesText(const Document& document);

} // namespace tenon::views
