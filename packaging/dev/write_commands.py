#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes the manual's page of all commands and options from what the programs themselves say.

usage: write_commands.py TENON      prints Markdown
"""
import re
import subprocess
import sys

HEAD = """# Commands

Generated from `tenon COMMAND --help` by `packaging/dev/gen_docs.sh`; do not edit.

Exit status: 0 when all went well; 1 when the operation failed or a check did not hold; 2 for options that make no sense; 4 when
the model, the target string or the data is at fault. Errors go to stderr, results to stdout.

`source <(tenon completion bash)` in `~/.bashrc` (`zsh` in `~/.zshrc` behind `compinit`; `tenon completion fish | source` for fish) puts
commands, options, targets, passes, planners, profiles and boards behind the tab key. The script asks `tenon` itself each time.
"""
# An option that so many commands have, word for word, is listed once for all of them.
SHARED = 3


def sections(tenon, words):
    """{"": description and usage, "Options": [(name, text)], ...} of a command's help."""
    text = subprocess.run([tenon, *words, "--help"], capture_output=True, text=True,
                          check=True).stdout
    out, rows = {"": []}, None
    for line in text.splitlines():
        title = re.fullmatch(r"(\w+):", line)
        row = re.fullmatch(r"  (\S.*?)(?:(?:  +|(?<= REQUIRED) |(?<==\d\d\d) )(\S.*))?", line)
        if title:
            rows = out.setdefault(title.group(1), [])
        elif rows is not None and row:
            rows.append((row.group(1), row.group(2) or ""))
        elif rows and line.startswith("      "):
            rows[-1] = (rows[-1][0], f"{rows[-1][1]} {line.strip()}".strip())
        elif rows is None and line:
            out[""].append(line)
    return out


def commands(tenon, words=()):
    """(name, sections) of every command that does something, in the order of --help."""
    found = sections(tenon, words)
    if "Subcommands" not in found:
        yield " ".join(words), found
    for name, _ in found.get("Subcommands", []):
        yield from commands(tenon, (*words, name))


def plain_name(name):
    """As CLI11 2.3 writes an option: later ones put the default in brackets, not behind `=`."""
    name = re.sub(r"^((?:-\w,)?--[\w-]+) \[0\] ?$", r"\1", name)  # a flag's count
    name = re.sub(r"(?<! in)(?<!SIZE) \[([^\]]*)\] ?$", r"=\1", name)
    return re.sub(r"^(-\w),", r"\1, ", name).replace("INT:INT in", "INT in")


def table(rows):
    cells = [(plain_name(name), text)
             for name, text in rows]
    lines = [f"| `{name}` | {text} |" for name, text in
             ((name.replace("|", r"\|"), text.replace("|", r"\|")) for name, text in cells)]
    return "\n".join(["| | |", "|---|---|", *lines]) + "\n"


def shared_options(pages):
    """[(names of commands, rows)]: options that many commands have, by who has them."""
    users = {}
    for name, page in pages:
        for row in page["Options"]:
            users.setdefault(row, []).append(name)
    groups = {}
    for row, names in users.items():
        if len(names) >= SHARED:
            groups.setdefault(tuple(names), []).append(row)
    return sorted(groups.items(), key=lambda group: -len(group[0]))


def group_title(names, pages):
    everybody = [name for name, _ in pages]
    without = [f"`{name}`" for name in everybody if name not in names]
    if len(without) <= 2:
        return "All commands" + (" but " + " and ".join(without) if without else "")
    return ", ".join(f"`{name}`" for name in names)


def main():
    pages = list(commands(sys.argv[1]))
    groups = shared_options(pages)
    shared = {row for _, rows in groups for row in rows}
    print(HEAD)
    for name, page in pages:
        usage = page[""][-1].removeprefix("Usage: ")
        print(f"## tenon {name}\n\n{' '.join(page[''][:-1])}: `{usage}`\n")
        rows = page.get("Positionals", []) + [row for row in page["Options"] if row not in shared]
        if rows:
            print(table(rows))
        if examples := page.get("Examples"):
            print("\n".join(["```sh", *(f"{line}  {text}" for line, text in examples), "```\n"]))
    print("## Options of several commands\n")
    print("\n".join(f"{group_title(names, pages)}:\n\n{table(rows)}" for names, rows in groups),
          end="")


if __name__ == "__main__":
    main()
