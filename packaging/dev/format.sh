#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Formats every C and C++ file with clang-format 14, or only checks.
# usage: format.sh [--check]      --check: exit 1 if a file differs, 77 without clang-format 14
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
tool=$(command -v clang-format-14 || command -v clang-format || true)
if [ -z "$tool" ] || ! "$tool" --version | grep -q 'version 14\.'; then
    echo "SKIP: clang-format 14 is not installed"
    case ",${TENON_REQUIRE:-}," in *,clang-format,*) exit 1 ;; esac
    exit 77
fi
mapfile -t files < <(python3 packaging/dev/source_tree.py .cpp .h .c)
if [ "${1:-}" = --check ]; then
    problems=$("$tool" --dry-run --Werror "${files[@]}" 2>&1) && exit 0
    grep -E 'error:' <<<"$problems" | cut -d: -f1 | sort | uniq -c
    exit 1
fi
"$tool" -i "${files[@]}"
