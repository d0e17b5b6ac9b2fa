#!/usr/bin/env bash
# Installs the packages that Plumb builds with, where they are missing. Debian 12, Ubuntu 24.04. Sourced or run.
set -euo pipefail

packages=(
  g++ cmake ninja-build ccache mold git python3
  llvm-19-dev clang-19 libonnx-dev libprotobuf-dev protobuf-compiler zlib1g-dev liblapack-dev libblas-dev
  libmpfr-dev libgmp-dev libfmt-dev nlohmann-json3-dev
  libboost-program-options-dev libboost-context-dev libgtest-dev libgmock-dev librapidcheck-dev
)
missing=()
for package in "${packages[@]}"; do
  status=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [ "$status" = installed ] || missing+=("$package")
done
if [ "${#missing[@]}" -gt 0 ]; then
  as_root=()
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || { echo "setup: run as root, or install sudo; missing: ${missing[*]}" >&2; exit 3; }
    as_root=(sudo)
  fi
  echo "setup: installing ${missing[*]}"
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get update -qq
  "${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
fi
