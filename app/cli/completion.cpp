// SPDX-License-Identifier: Apache-2.0
// Completion: the tree of commands knows the options, tables of ours what their values may be.
#include "app/cli/completion.h"

#include "compiler/memory/memory_plan.h"
#include "compiler/passes/pass_config.h"
#include "core/base/printable.h"
#include "core/base/text.h"
#include "core/target/ignored_options.h"
#include "core/target/target.h"
#include "core/target/target_kind.h"
#include "core/target/target_tag.h"
#include "remote/board/board_store.h"
#include "remote/board/profile.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <set>

namespace tenon::cli {
namespace {

using Candidates = std::vector<Candidate>;

Candidates targets()
{
    Candidates out;
    for (const core::TargetKind& kind : core::allTargetKinds())
        if (kind.state == core::KindState::Generates)
            out.push_back({std::string(kind.name), std::string(kind.meaning)});
    for (const std::string& tag : core::targetTagNames()) {
        const auto target = core::parseTarget(tag);
        if (target && core::checkGenerates(*target)) out.push_back({tag, target->text()});
    }
    return out;
}

Candidates boards()
{
    Candidates out;
    if (const auto list = remote::BoardStore().list())
        for (const remote::Board& board : **list) out.push_back({board.name, ""});
    return out;
}

Candidates profiles()
{
    Candidates out;
    if (const auto all = remote::boardProfiles())
        for (const remote::BoardProfile& profile : *all)
            out.push_back({profile.name, profile.title});
    return out;
}

Candidates passes()
{
    Candidates out;
    for (const compiler::PassDef& pass : compiler::allPasses())
        out.push_back({std::string(pass.name), std::string(pass.summary)});
    return out;
}

Candidates passesAndPhases()
{
    Candidates out = passes();
    std::set<std::string_view> phases;
    for (const compiler::PassDef& pass : compiler::allPasses()) phases.insert(pass.phase);
    for (const std::string_view phase : phases) out.push_back({std::string(phase), "a phase"});
    return out;
}

Candidates passesToPrint()
{
    Candidates out = passes();
    out.push_back({"changed", "those that changed something"});
    out.push_back({"all", "every pass"});
    return out;
}

Candidates passConfig()
{
    Candidates out;
    for (const compiler::PassConfigKey& key : compiler::allPassConfigKeys())
        if (key.noEffect.empty()) out.push_back({std::string(key.name) + "=", ""});
    return out;
}

Candidates planners()
{
    Candidates out;
    for (const compiler::PlannerDef& planner : compiler::allPlanners())
        out.push_back({std::string(planner.name), std::string(planner.doc)});
    return out;
}

/// Of options and positional words that are no closed choice.
struct Values
{
    std::string_view name;
    Candidates (*list)();
};
constexpr Values kValues[] = {
    {"--algorithm", planners},
    {"--board", boards},
    {"--diff", passes},
    {"--disable-pass", passes},
    {"--explain", targets},
    {"--pass-config", passConfig},
    {"--print-after", passesToPrint},
    {"--profile", profiles},
    {"--stop-after", passesAndPhases},
    {"--target", targets},
    {"--usmp-algorithm", planners},
    {"--virtual", profiles},
};

/// The words of "TEXT:{graph,aot,vm}".
Candidates choices(const CLI::Option& option)
{
    Candidates out;
    const std::string type = option.get_type_name();
    const size_t begin = type.find('{');
    const size_t end = type.find('}');
    if (begin == std::string::npos || end == std::string::npos) return out;
    for (const std::string& word : core::split(type.substr(begin + 1, end - begin - 1), ','))
        out.push_back({word, ""});
    return out;
}

Candidates valuesOf(const CLI::Option& option)
{
    for (const Values& values : kValues)
        if (option.check_name(std::string(values.name))) return values.list();
    return choices(option);
}

bool takesValue(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

const CLI::App* commandOf(const CLI::App& parent, const std::string& name)
{
    for (const CLI::App* each : parent.get_subcommands(nullptr))
        if (each->get_name() == name) return each;
    return nullptr;
}

/// How far the words before the last lead.
struct WordPlace
{
    const CLI::App* command;
    const CLI::Option* pending = nullptr; ///< its value comes next
    size_t positionals = 0;
};

WordPlace placeBehind(const CLI::App& app, const std::vector<std::string>& words)
{
    WordPlace place{&app};
    for (size_t i = 0; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (place.pending) {
            place.pending = nullptr;
        } else if (word.starts_with("-")) {
            const CLI::Option* option = place.command->get_option_no_throw(word);
            if (option && takesValue(*option)) place.pending = option;
        } else if (const CLI::App* next = commandOf(*place.command, word)) {
            place = {next};
        } else {
            ++place.positionals;
        }
    }
    return place;
}

Candidates optionsOf(const CLI::App& command)
{
    Candidates out;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames())
            out.push_back({"--" + name, option->get_description()});
    return out;
}

Candidates wordsOf(const WordPlace& place)
{
    Candidates out;
    for (const CLI::App* next : place.command->get_subcommands(nullptr))
        if (!next->get_group().empty() && place.positionals == 0)
            out.push_back({next->get_name(), next->get_description()});
    // The one positional word that is no file: `tenon board remove NAME`.
    const CLI::App* parent = place.command->get_parent();
    const bool isOfBoard = parent && parent->get_name() == "board";
    if (isOfBoard && place.command->get_name() != "add" && place.positionals == 0) return boards();
    return out;
}

/// bash takes `--target=llvm` for three words.
void joinAtEquals(std::vector<std::string>& words)
{
    if (words.size() > 1 && words.back() == "=") words.push_back("");
    std::erase(words, "=");
}

} // namespace

std::vector<Candidate> completions(const CLI::App& app, std::vector<std::string> words)
{
    joinAtEquals(words);
    if (words.empty()) words.emplace_back();
    const WordPlace place = placeBehind(app, words);
    const std::string last = words.back();
    const size_t equals = last.starts_with("--") ? last.find('=') : std::string::npos;
    Candidates all;
    if (place.pending) {
        all = valuesOf(*place.pending);
    } else if (equals != std::string::npos) {
        const CLI::Option* option = place.command->get_option_no_throw(last.substr(0, equals));
        if (option && takesValue(*option)) all = valuesOf(*option);
        for (Candidate& each : all) each.word.insert(0, last.substr(0, equals + 1));
    } else {
        all = last.starts_with("-") ? optionsOf(*place.command) : wordsOf(place);
    }
    std::erase_if(all, [&](const Candidate& each) { return !each.word.starts_with(last); });
    std::stable_sort(all.begin(), all.end(), [](const Candidate& one, const Candidate& other) {
        return one.word < other.word;
    });
    return all;
}

std::string completionLines(const CLI::App& app, const std::vector<std::string>& arguments)
{
    if (arguments.empty()) return {};
    const bool showsMeaning = arguments[0] != "bash";
    std::string out;
    for (const Candidate& each : completions(app, {arguments.begin() + 1, arguments.end()})) {
        out += core::printable(each.word, core::LineBreaks::Escape);
        if (showsMeaning && !each.meaning.empty())
            out += "\t" + core::printable(each.meaning, core::LineBreaks::Escape);
        out += "\n";
    }
    return out;
}

} // namespace tenon::cli
