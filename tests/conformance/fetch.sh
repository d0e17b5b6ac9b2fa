#!/bin/sh
# usage: fetch.sh FOLDER
# Puts ONNX's node tests into FOLDER, a folder each, and the list of its operators, operator_sets.h. They come in the wheel of
# ONNX 1.17, which is not installed.
set -eu
[ $# -eq 1 ] || { echo "usage: $0 FOLDER" >&2; exit 2; }
mkdir -p "$1"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip download --quiet --no-deps --only-binary :all: --dest "$work" onnx==1.17.0
python3 - "$work" "$1" <<'END'
import pathlib, sys, zipfile
wheel, = pathlib.Path(sys.argv[1]).glob("*.whl")
inside = "onnx/backend/test/data/node/"
with zipfile.ZipFile(wheel) as z:
    for name in z.namelist():
        if name.startswith(inside) and not name.endswith("/"):
            to = pathlib.Path(sys.argv[2]) / name[len(inside):]
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_bytes(z.read(name))
    pathlib.Path(sys.argv[2], "operator_sets.h").write_bytes(z.read("onnx/defs/operator_sets.h"))
END
echo "$(ls -d "$1"/*/ | wc -l) tests in $1"
