#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Writes resources/manual/{onnx,operators,passes}.md from the compiler's own tables, or checks them.
# usage: gen_docs.sh [--check] [PROGRAM]      PROGRAM: write_manual of a build (build/release/bin)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
check=0
[ "${1:-}" = --check ] && { check=1; shift; }
program=${1:-build/release/bin/write_manual}
status=0
for part in onnx operators passes; do
    page=resources/manual/$part.md
    if [ "$check" -eq 0 ]; then
        text=$("$program" "$part") # a program that fails leaves the page as it is
        printf '%s\n' "$text" > "$page"
    elif ! "$program" "$part" | diff -u "$page" - | head -40; then
        echo "$page is stale; run packaging/dev/gen_docs.sh"
        status=1
    fi
done
exit "$status"
