#!/bin/sh
# Fuzzes every parser under AddressSanitizer and UndefinedBehaviorSanitizer: fuzz/targets/run.sh [SECONDS each] [FOLDER]
# Needs clang++-19 with libFuzzer. Builds into FOLDER (build/fuzz), keeps each target's corpus there, and stops at the first
# finding, whose bytes it leaves in FOLDER.
set -eu
seconds=${1:-600}
cd "$(dirname "$0")/../.."
folder=${2:-build/fuzz}
mkdir -p "$folder"
flags="-std=c++20 -g -O1 -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -DONNX_ML=1 -DONNX_NAMESPACE=onnx -I. -Wno-deprecated-declarations"

build() {  # name, libraries, sources…
  name=$1 libraries=$2
  shift 2
  objects=
  for source in "fuzz/targets/${name}_fuzz.cpp" "$@"; do
    object="$folder/$(echo "$source" | tr / _).o"
    [ "$object" -nt "$source" ] || clang++-19 $flags -c "$source" -o "$object"
    objects="$objects $object"
  done
  clang++-19 $flags $objects $libraries -o "$folder/${name}_fuzz"
}

seed() {  # name, files…
  mkdir -p "$folder/$1.corpus"
  corpus="$folder/$1.corpus"
  shift
  for file in "$@"; do cp "$file" "$corpus/$(basename "$(dirname "$file")")-$(basename "$file")"; done
}

fuzz() {  # name, options…
  name=$1
  shift
  echo "$name: $seconds s"
  "$folder/${name}_fuzz" -max_total_time="$seconds" -artifact_prefix="$folder/" -timeout=20 -rss_limit_mb=4096 -print_final_stats=1 "$@" "$folder/$name.corpus" 2>&1 | tail -n 20
}

build text "-lz -lfmt" ir/scalar/storage.cpp ir/tensor/*.cpp ir/files/*.cpp
build kernel_text "-lmpfr -lgmp -lfmt" ir/scalar/storage.cpp ir/tensor/*.cpp ir/kernel/*.cpp interpreter/domains/number.cpp interpreter/domains/elementary.cpp interpreter/kernel/*.cpp
build onnx "-lonnx_proto -lprotobuf -lfmt" ir/scalar/storage.cpp ir/tensor/*.cpp ir/import/*.cpp
seed text tests/ops/*.plumb tests/reports/*.plumb
seed kernel_text fuzz/targets/kernels/*.kernel
seed onnx examples/models/*/model.onnx
fuzz text -dict=fuzz/targets/text.dict -max_len=4096
fuzz kernel_text -max_len=4096
fuzz onnx -max_len=65536
