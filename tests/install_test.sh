#!/usr/bin/env bash
# Installs the build to a fresh prefix, then configures, builds and runs the C++ example against it with find_package.
# usage: install_test.sh BUILD_FOLDER SOURCE_FOLDER [CMAKE_OPTION…]
set -euo pipefail
build=$1 source=$2
shift 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cmake --install "$build" --prefix "$work/prefix" >/dev/null
"$work/prefix/bin/plumb" targets >/dev/null
cmake -S "$source/examples/cpp" -B "$work/build" -G Ninja -DCMAKE_PREFIX_PATH="$work/prefix" -DCMAKE_BUILD_TYPE=Release "$@" >/dev/null
cmake --build "$work/build"
"$work/build/quick"
