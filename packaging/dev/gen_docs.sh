#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes resources/manual/{commands,onnx,operators,passes}.md from the programs' own tables, or
# checks them.
# usage: gen_docs.sh [--check] [FOLDER]      FOLDER: of the programs of a build (build/release/bin)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
check=0
[ "${1:-}" = --check ] && { check=1; shift; }
programs=${1:-build/release/bin}
status=0

write() {
    case "$1" in
        commands) packaging/dev/write_commands.py "$programs/tenon" ;;
        *) "$programs/write_manual" "$1" ;;
    esac
}

for part in commands onnx operators passes; do
    page=resources/manual/$part.md
    if [ "$check" -eq 0 ]; then
        text=$(write "$part") # a program that fails leaves the page as it is
        printf '%s\n' "$text" > "$page"
    elif ! write "$part" | diff -u "$page" - | head -40; then
        echo "$page is stale; run packaging/dev/gen_docs.sh"
        status=1
    fi
done
exit "$status"
