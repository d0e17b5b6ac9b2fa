#!/usr/bin/env bash
# A model's recorded answers are reproduced, every kernel checked: exit code 0, and the last line says so.
# usage: example_test.sh PLUMB MODEL_FOLDER TARGET
set -euo pipefail
output=$("$1" run "$2" --target "$3" --check kernel) || { code=$?; echo "$output"; exit "$code"; }
echo "$output"
last=$(tail -n 1 <<<"$output")
[[ $last == "RESULT pass "* ]] || { echo "the last line is not 'RESULT pass …': $last" >&2; exit 1; }
