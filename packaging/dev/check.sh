#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Format check and lints, then build and tests: the same locally, in the git hook and in CI.
# usage: check.sh [--quick]      --quick: no build and no tests
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
status=0
for lint in diagnostics documents functions includes licences marks signals sizes tests twins; do
    output=$("packaging/dev/check_$lint.py") || { status=1; printf '%s:\n%s\n' "$lint" "$output"; }
done
packaging/dev/format.sh --check || [ $? -eq 77 ] || status=1
[ "$status" -eq 0 ] || exit "$status"
[ "${1:-}" = --quick ] || exec ./dev test
