// SPDX-License-Identifier: Apache-2.0
// tenon completion: the script that makes a shell ask tenon itself what may come next.
#include "app/cli/command.h"

#include <CLI/CLI.hpp>

namespace tenon::cli {
namespace {

constexpr const char* kBash = R"(# Completion of tenon for bash: source <(tenon completion bash)
_tenon()
{
    local line
    COMPREPLY=()
    while IFS= read -r line; do
        COMPREPLY+=("$line")
    done < <("$1" __complete bash "${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)
    if [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]]; then compopt -o nospace; fi
}
complete -o default -F _tenon tenon
)";

constexpr const char* kZsh = R"(#compdef tenon
# Completion of tenon for zsh: source <(tenon completion zsh), behind compinit
_tenon()
{
    local line
    local -a found
    for line in "${(@f)$("${words[1]}" __complete zsh "${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
        [[ -n $line ]] || continue
        if [[ $line == *$'\t'* ]]; then
            found+=("${${line%%$'\t'*}//:/\\:}:${line#*$'\t'}")
        else
            found+=("${line//:/\\:}")
        fi
    done
    if (( $#found )); then _describe tenon found; else _files; fi
}
if [[ ${funcstack[1]} == _tenon ]]; then _tenon "$@"; else compdef _tenon tenon; fi
)";

constexpr const char* kFish = R"(# Completion of tenon for fish: tenon completion fish | source
function __tenon_complete
    set -l words (commandline -opc)
    set -l current (commandline -ct)
    $words[1] __complete fish $words[2..-1] "$current" 2>/dev/null
end
complete -c tenon -a '(__tenon_complete)'
)";

} // namespace

void addCompletion(CLI::App& app, Action& action)
{
    auto shell = std::make_shared<std::string>();
    CLI::App* command = app.add_subcommand(
        "completion",
        "print a script that completes commands, options, targets, passes and boards");
    command->add_option("SHELL", *shell, "which one is to complete")
        ->check(CLI::IsMember({"bash", "fish", "zsh"}))
        ->required();
    command->callback([shell, &action] {
        action = [shell](JobContext&) {
            print(*shell == "bash" ? kBash : *shell == "zsh" ? kZsh : kFish);
            return int(kSuccess);
        };
    });
}

} // namespace tenon::cli
