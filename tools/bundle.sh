#!/usr/bin/env bash
# usage: bundle.sh OUT_DIR [PLUMB]
# The plumb command (build/release/bin/plumb) with the shared libraries that it needs, LLVM's included, for an x86-64 Linux machine that has
# none of them: all but the C library's own, of which that machine needs this one's version or a later one.
#   OUT_DIR/bin/plumb      sets the library path and runs libexec/plumb
#   OUT_DIR/lib            the libraries, stripped
#   OUT_DIR.tar.xz         all of it
set -euo pipefail

[ $# -ge 1 ] && [ $# -le 2 ] || { sed -n '2,7s/^# \?//p' "$0" >&2; exit 2; }
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
out=${1%/} program=${2:-$root/build/release/bin/plumb}
[ -x "$program" ] || { echo "bundle: no program at $program: build it first" >&2; exit 2; }
if [ -e "$out" ] && [ -n "$(ls -A "$out")" ]; then
  echo "bundle: $out is not empty" >&2
  exit 2
fi
mkdir -p "$out/bin" "$out/libexec" "$out/lib"
strip -o "$out/libexec/plumb" "$program"

missing=$(ldd "$program" | grep 'not found' || true)
[ -z "$missing" ] || { echo "bundle: $missing" >&2; exit 2; }
# A line with a path: NAME => PATH (ADDRESS). The loader and the C library come with the machine.
ldd "$program" | awk '$2 == "=>" { print $1, $3 }' | while read -r name path; do
  case $name in
    libc.so.* | libm.so.* | libpthread.so.* | libdl.so.* | librt.so.* | ld-linux*) continue ;;
  esac
  strip --strip-unneeded -o "$out/lib/$name" "$(readlink -f "$path")"
done

cat > "$out/bin/plumb" <<'LAUNCHER'
#!/bin/sh
# Runs the bundled plumb on the bundled libraries.
here=$(dirname "$(readlink -f "$0")")/..
LD_LIBRARY_PATH=$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export LD_LIBRARY_PATH
exec "$here/libexec/plumb" "$@"
LAUNCHER
chmod +x "$out/bin/plumb"
"$out/bin/plumb" targets > /dev/null

tar -C "$(dirname "$out")" --owner=0 --group=0 -cf - "$(basename "$out")" | xz --x86 --lzma2=preset=6,dict=64MiB > "$out.tar.xz"
du -sh "$out" | cut -f1 | xargs -I{} echo "$out: {}"
du -sh "$out.tar.xz" | cut -f1 | xargs -I{} echo "$out.tar.xz: {}"
