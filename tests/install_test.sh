#!/usr/bin/env bash
# Installs the build to a fresh prefix, then configures, builds and runs the C++ example against it with find_package.
# usage: install_test.sh BUILD_FOLDER SOURCE_FOLDER
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$1" --prefix "$work/prefix" >/dev/null
cmake -S "$2/examples/cpp" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release >/dev/null
cmake --build "$work/build"
"$work/build/quick"
