#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Installs the git hook that runs the format check and the quick lints before each commit.
# usage: install_hooks.sh
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/../.."
hook=$(git rev-parse --git-path hooks)/pre-commit
printf '#!/usr/bin/env bash\nexec packaging/dev/check.sh --quick\n' > "$hook"
chmod +x "$hook"
echo "installed $hook"
