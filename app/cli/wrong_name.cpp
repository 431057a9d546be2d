// SPDX-License-Identifier: Apache-2.0
// Walks down the commands as the words name them, then looks the options up.
#include "app/cli/wrong_name.h"

#include "core/base/text.h"

#include <CLI/CLI.hpp>

#include <algorithm>

namespace tenon::cli {
namespace {

constexpr size_t kNearest = 3;

/// What one may name: commands without a group are not for people.
std::vector<std::string> commandsOf(const CLI::App& app)
{
    std::vector<std::string> out;
    for (const CLI::App* command : app.get_subcommands(nullptr))
        if (!command->get_group().empty()) out.push_back(command->get_name());
    return out;
}

std::vector<std::string> optionsOf(const CLI::App& command)
{
    std::vector<std::string> out;
    for (const CLI::Option* option : command.get_options())
        for (const std::string& name : option->get_lnames()) out.push_back("--" + name);
    return out;
}

std::string nearestText(const std::string& word, const std::vector<std::string>& known)
{
    std::string text;
    for (const std::string& name : core::nearestNames(word, known, kNearest))
        text += (text.empty() ? "; nearest are " : ", ") + core::quoted(name);
    return text;
}

/// "tenon project create" of the words that name commands.
std::string calledCommand(const CLI::App& app, const std::vector<std::string>& arguments)
{
    const CLI::App* command = &app;
    std::string path = app.get_name();
    for (const std::string& word : arguments) {
        const std::vector<std::string> known = commandsOf(*command);
        if (std::find(known.begin(), known.end(), word) == known.end()) break;
        command = command->get_subcommand(word);
        path += " " + word;
    }
    return path;
}

} // namespace

std::string wrongUseText(const CLI::App& app, const std::vector<std::string>& arguments,
                         const std::string& what)
{
    return what + "; " + core::quoted(calledCommand(app, arguments) + " --help") + " lists all";
}

std::string wrongNameText(const CLI::App& app, const std::vector<std::string>& arguments)
{
    const CLI::App* command = &app;
    std::string path = app.get_name();
    for (const std::string& word : arguments) {
        if (word == "--") break; // names nothing from here on
        if (word.starts_with("--")) {
            const std::string name = word.substr(0, word.find('='));
            const std::vector<std::string> known = optionsOf(*command);
            if (std::find(known.begin(), known.end(), name) == known.end())
                return core::quoted(path) + " has no option " + core::quoted(name) +
                       nearestText(name, known);
            continue;
        }
        const std::vector<std::string> known = commandsOf(*command);
        if (known.empty() || word.starts_with('-')) continue; // an operand or a short option
        if (std::find(known.begin(), known.end(), word) == known.end())
            return core::quoted(path) + " has no command " + core::quoted(word) +
                   nearestText(word, known);
        command = command->get_subcommand(word);
        path += " " + word;
    }
    return {};
}

} // namespace tenon::cli
