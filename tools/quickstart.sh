#!/usr/bin/env bash
# Set-up, Release build, and the main job: a model compiled and checked, kernel by kernel.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
tools/setup.sh
cmake --preset release >/dev/null
cmake --build --preset release --target plumb
build/release/bin/plumb run examples/models/digits_cnn --check kernel
