#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Runs the keyword spotter of MLPerf Tiny (int8) on an emulated microcontroller and compares it.
# usage: verify_micro.sh TENON PROCESSOR      77: no outside data, or no emulator
set -euo pipefail
tenon=$1 processor=$2
required() { case ",${TENON_REQUIRE:-}," in *,$1,*) exit 1 ;; esac; }
for tool in qemu-system-arm arm-none-eabi-gcc; do
    command -v "$tool" >/dev/null && continue
    echo "SKIP: $tool is not installed"
    required "$tool"
    exit 77
done
if [ -z "${TENON_TEST_DATA:-}" ]; then
    echo "SKIP: TENON_TEST_DATA is not set"
    required data
    exit 77
fi
exec "$tenon" verify "$TENON_TEST_DATA/models/mlperftiny-kws-int8" --target "c -mcpu=$processor"
