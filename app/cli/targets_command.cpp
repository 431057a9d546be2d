// SPDX-License-Identifier: Apache-2.0
// tenon targets: kinds and tags, what a target string means, and what this computer is.
#include "app/cli/board_access.h"
#include "app/cli/machine_sheet.h"
#include "compiler/codegen/back_end.h"
#include "compiler/codegen/llvm/target_machine.h"
#include "compiler/driver/machine_facts.h"
#include "compiler/driver/target_cores.h"
#include "core/base/processors.h"
#include "core/base/text.h"
#include "core/target/ignored_options.h"
#include "core/target/target_kind.h"
#include "core/target/target_tag.h"
#include "core/target/thread_choice.h"
#include "remote/board/unused_features.h"

#include <CLI/CLI.hpp>

#include <optional>

namespace tenon::cli {
namespace {

struct TargetsOptions
{
    CommonOptions common;
    std::string explain;
    std::string board;
    std::string config;
    std::string cpus;
    std::string machine;
    bool detects = false;
};

/// What the board has and the target does not use.
Status addUnused(const TargetsOptions& options, Json& out, std::string& text)
{
    std::string target = "llvm -mcpu=native";
    if (options.board != remote::kThisComputer) {
        const auto board = boardStore(options.config).find(options.board);
        if (!board) return board.error();
        target = board->target;
    }
    if (target.empty())
        return makeError(DiagnosticCode::BadArgument, "nothing is known of the board " +
                                                          core::quoted(options.board) +
                                                          "; look at it with `tenon board probe`");
    const auto unused = remote::unusedFeatures(options.explain, target);
    if (!unused) return unused.error();
    out["unused_features"] = *unused;
    if (!unused->empty())
        text += "  the board has " + join(*unused, ", ") + "; the target does not use " +
                (unused->size() == 1 ? "it" : "them") + "\n";
    return kDone;
}

/// With how many threads code for it runs here; nothing where no code is made.
std::optional<ThreadChoice> threadsFor(const Target& target)
{
    if (!checkGenerates(target)) return std::nullopt;
    return chooseThreads(
        target, {.thisComputer = usableProcessors(), .hasThreads = compiler::hasThreads(target)});
}

int explainTarget(const TargetsOptions& options)
{
    auto target = parseTarget(options.explain);
    if (!target) return failure(target.error());
    Json out{{"target", target->text()}, {"kind", target->kind}, {"explain", target->explain()}};
    std::string text = target->text() + "\n";
    for (const std::string& line : target->explain()) text += "  " + line + "\n";
    const compiler::BackEnd* backEnd = compiler::findBackEnd(*target);
    const auto threads = threadsFor(*target);
    if (threads) out["threads"] = threads->text();
    if (threads) text += "  " + threads->text() + "\n";
    if (backEnd && backEnd->llvm) {
        auto machine = compiler::machineSpec(*target);
        if (!machine) return failure(machine.error());
        out["machine"] = {
            {"triple", machine->triple}, {"cpu", machine->cpu}, {"features", machine->features}};
        text += "  LLVM: " + machine->text() + "\n";
        if (const auto known = compiler::machineFacts(*target, *machine)) {
            TargetFacts facts = known->facts;
            facts.threads = threads.value_or(ThreadChoice{}).count;
            out["facts"] = factsJson(facts);
            out["machine_row"] = known->choice.machine->name;
            text += "  vectors of " + std::to_string(facts.vectorBytes) + " bytes, " +
                    std::to_string(facts.vectorRegisters) + " registers" +
                    (facts.hasFma ? ", fused multiply-add" : "") + "\n  figures of " +
                    std::string(known->choice.machine->title) + ": `tenon targets --machine " +
                    std::string(known->choice.machine->name) + "`\n";
            for (const Diagnostic& remark : known->remarks) text += "  " + remark.message + "\n";
        }
    }
    if (!options.board.empty())
        if (const Status compared = addUnused(options, out, text); !compared)
            return failure(compared.error());
    if (options.common.json)
        printJson(out);
    else
        print(text);
    return kSuccess;
}

int detect(const TargetsOptions& options)
{
    const compiler::MachineSpec machine = compiler::hostMachine();
    auto facts = compiler::targetFacts(machine);
    if (!facts) return failure(facts.error());
    facts->threads = usableProcessors();
    const std::string text = "llvm -mtriple=" + machine.triple + " -mcpu=" + machine.cpu;
    if (options.common.json) {
        printJson({{"target", text},
                   {"triple", machine.triple},
                   {"cpu", machine.cpu},
                   {"features", machine.features},
                   {"facts", factsJson(*facts)}});
        return kSuccess;
    }
    print(text + "\n" +
          table({{"vector", std::to_string(facts->vectorBytes) + " bytes"},
                 {"L1 data", bytesText(static_cast<uint64_t>(facts->l1Bytes))},
                 {"L2", bytesText(static_cast<uint64_t>(facts->l2Bytes))},
                 {"threads", std::to_string(facts->threads)}}));
    return kSuccess;
}

int listCpus(const TargetsOptions& options)
{
    auto tables = compiler::cpuTables(options.cpus == "native" ? std::string() : options.cpus);
    if (!tables) return failure(tables.error());
    if (options.common.json)
        printJson(
            {{"triple", options.cpus}, {"cpus", tables->cpus}, {"features", tables->features}});
    else
        print("CPUs: " + join(tables->cpus, " ") + "\nfeatures: " + join(tables->features, " ") +
              "\n");
    return kSuccess;
}

Json kindJson(const TargetKind& kind)
{
    Json ignored = Json::object();
    for (const std::string& name : targetOptionNames(kind))
        if (const TargetOption* option = findTargetOption(kind, name); !option->noEffect.empty())
            ignored[name] = option->noEffect;
    return {{"name", kind.name},
            {"meaning", kind.meaning},
            {"state", kindStateText(kind.state)},
            {"why", kind.why},
            {"options", targetOptionNames(kind)},
            {"no_effect", std::move(ignored)}};
}

/// Of tags whose targets are (not) compiled for.
std::string tagLines(bool isCompiled)
{
    std::string out;
    for (const std::string& tag : targetTagNames()) {
        const auto target = parseTarget(tag);
        if (target && static_cast<bool>(checkGenerates(*target)) == isCompiled)
            out += "  " + tag + "\n";
    }
    return out;
}

int listKinds(const TargetsOptions& options)
{
    Json kinds = Json::array();
    std::map<KindState, std::vector<std::vector<std::string>>> rows;
    for (const TargetKind& kind : allTargetKinds()) {
        kinds.push_back(kindJson(kind));
        const std::string why = kind.why.empty() ? "" : " (" + std::string(kind.why) + ")";
        rows[kind.state].push_back(
            {"  " + std::string(kind.name), " " + std::string(kind.meaning) + why});
    }
    if (options.common.json) {
        printJson({{"kinds", std::move(kinds)}, {"tags", targetTagNames()}});
        return kSuccess;
    }
    print("kinds that code is generated for\n" + table(rows[KindState::Generates]) +
          "\nkinds that are understood, but not compiled for yet\n" +
          table(rows[KindState::NotYet]) + "\nkinds that are declined for good\n" +
          table(rows[KindState::Declined]) + "\ntags\n" + tagLines(true) +
          "\ntags of kinds that are not compiled for\n" + tagLines(false));
    return kSuccess;
}

int targets(const TargetsOptions& options)
{
    if (!options.explain.empty()) return explainTarget(options);
    if (options.detects) return detect(options);
    if (!options.cpus.empty()) return listCpus(options);
    if (!options.machine.empty()) return showMachine(options.machine, options.common);
    return listKinds(options);
}

} // namespace

void addTargets(CLI::App& app, Action& action)
{
    auto options = std::make_shared<TargetsOptions>();
    CLI::App* command = app.add_subcommand("targets", "target kinds, tags and what LLVM knows");
    addOutputOptions(*command, options->common);
    command->add_option("--explain", options->explain, "say what a target string means");
    command
        ->add_option("--board", options->board,
                     "say, too, what that board has and the explained target does not use")
        ->needs("--explain");
    command->add_option("--config", options->config, "folder of the boards; default: the user's");
    command->add_flag("--detect", options->detects, "the target string of this computer");
    command->add_option("--cpus", options->cpus,
                        "CPUs and features of a triple (`native`: this computer)");
    command->add_option("--machine", options->machine,
                        "figures of a processor, or of that of a target string, with their "
                        "sources; `all` lists the processors");
    command->callback(
        [options, &action] { action = [options](JobContext&) { return targets(*options); }; });
}

} // namespace tenon::cli
