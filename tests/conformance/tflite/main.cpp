// SPDX-License-Identifier: Apache-2.0
// Single operators of .tflite files against TensorFlow Lite: `./dev conformance --tflite`.
//
// usage: tflite_cases write FOLDER
//        tflite_cases check FOLDER [--only TEXT] [--every N] [--levels 0,3]
//                     [--executors graph,aot,vm] [--target TARGET] [--definition] [--verbose]
// `write` makes a folder for each case; run_reference.cjs adds what TensorFlow Lite gives. `check`
// runs them here in every setting and prints a table by operator and type. What TensorFlow Lite
// refuses is held to the definitions of our operators. Fails for what is refused here, and for what
// is further off than known_steps.h allows.
#include "core/base/text.h"
#include "tests/conformance/tflite/outcome_table.h"

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tenon::test {
namespace {

struct Arguments
{
    std::string word, folder, only, target = compiler::CompileOptions().target;
    std::string levels = "0,3", executors = "graph,aot,vm";
    size_t every = 1;
    bool isDefinition = false, isVerbose = false;
};

bool readArguments(int argc, char** argv, Arguments& out)
{
    if (argc < 3) return false;
    out.word = argv[1];
    out.folder = argv[2];
    const std::pair<const char*, std::string*> texts[] = {{"--only", &out.only},
                                                          {"--target", &out.target},
                                                          {"--levels", &out.levels},
                                                          {"--executors", &out.executors}};
    for (int i = 3; i < argc; ++i) {
        const std::string word = argv[i];
        bool isKnown = word == "--definition" || word == "--verbose";
        out.isDefinition = out.isDefinition || word == "--definition";
        out.isVerbose = out.isVerbose || word == "--verbose";
        for (const auto& [flag, text] : texts)
            if (!isKnown && word == flag && i + 1 < argc) {
                *text = argv[++i];
                isKnown = true;
            }
        if (!isKnown && word == "--every" && i + 1 < argc) {
            out.every = std::strtoull(argv[++i], nullptr, 10);
            isKnown = out.every > 0;
        }
        if (!isKnown) return false;
    }
    return out.word == "write" || out.word == "check";
}

std::vector<compiler::CompileOptions> settingsOf(const Arguments& arguments)
{
    std::vector<compiler::CompileOptions> out;
    for (const std::string& level : core::split(arguments.levels, ','))
        for (const std::string& name : core::split(arguments.executors, ',')) {
            compiler::CompileOptions options;
            options.target = arguments.target;
            options.optLevel = std::atoi(level.c_str());
            for (const auto kind : {compiler::ExecutorKind::Graph, compiler::ExecutorKind::Aot,
                                    compiler::ExecutorKind::Vm})
                if (compiler::executorName(kind) == name) options.executor = kind;
            options.cacheFolder = arguments.folder + "/cache";
            out.push_back(std::move(options));
        }
    return out;
}

int write(const Arguments& arguments, const TfliteCases& all)
{
    const std::vector<std::string> names = foldersOf(all);
    for (size_t i = 0; i < all.size(); ++i)
        if (const auto done = writeCase(all[i], arguments.folder + "/" + names[i]); !done) {
            std::fprintf(stderr, "%s\n", done.error().text().c_str());
            return 1;
        }
    std::printf("%zu cases\n", all.size());
    return 0;
}

/// The worst of all settings.
Outcome checkOne(const Arguments& arguments, const TfliteCase& one, const Reference& reference,
                 core::JobContext& job)
{
    if (arguments.isDefinition) return checkDefinition(one, reference, job);
    Outcome worst;
    for (const compiler::CompileOptions& options : settingsOf(arguments)) {
        Outcome out = checkCompiled(one, reference, options, job);
        const std::string setting = std::string(compiler::executorName(options.executor)) +
                                    " at level " + std::to_string(options.optLevel) + ": ";
        for (std::string* text : {&out.refusal, &out.fault})
            if (!text->empty()) *text = setting + *text;
        worst.add(out);
    }
    return worst;
}

int check(const Arguments& arguments, const TfliteCases& all)
{
    core::JobContext job;
    OutcomeTable table;
    const std::vector<std::string> names = foldersOf(all);
    for (size_t i = 0; i < all.size(); i += arguments.every) {
        if (names[i].find(arguments.only) == std::string::npos) continue;
        const auto reference = readReference(all[i], arguments.folder + "/" + names[i]);
        if (!reference) {
            std::fprintf(stderr, "%s: %s\n", names[i].c_str(), reference.error().text().c_str());
            return 1;
        }
        const Outcome outcome = checkOne(arguments, all[i], *reference, job);
        const std::string remark = table.add(all[i], *reference, outcome);
        if (!remark.empty() && (arguments.isVerbose || table.isWrong()))
            std::printf("%s (%s): %s\n", names[i].c_str(), all[i].what.c_str(), remark.c_str());
        std::fflush(stdout);
    }
    std::printf("%s", table.text().c_str());
    return table.failures() == 0 ? 0 : 1;
}

} // namespace
} // namespace tenon::test

int main(int argc, char** argv)
{
    tenon::test::Arguments arguments;
    if (!tenon::test::readArguments(argc, argv, arguments)) {
        std::fprintf(stderr,
                     "usage: tflite_cases write FOLDER\n"
                     "       tflite_cases check FOLDER [--only TEXT] [--every N] [--levels 0,3] "
                     "[--executors graph,aot,vm] [--target TARGET] [--definition] [--verbose]\n");
        return 2;
    }
    const tenon::test::TfliteCases all = tenon::test::allTfliteCases();
    return arguments.word == "write" ? tenon::test::write(arguments, all)
                                     : tenon::test::check(arguments, all);
}
