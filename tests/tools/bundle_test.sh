#!/bin/bash
# A bundled program runs from an empty environment and takes every library but glibc's from its
# folder; wrong calls are refused.
set -uo pipefail
bundle=$1 program=$2 emulator=${3:-} # of a program for another processor, such as qemu-aarch64
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT
failed=0
expect() { # NAME: the last command's status is 0
  local status=$?
  ((status == 0)) && return
  echo "FAILED: $1"
  failed=1
}
refused() { # TEXT COMMAND...: it fails and says so
  local text=$1 said
  shift
  if said=$("$@" 2>&1); then
    echo "FAILED: not refused: $*"
    failed=1
  elif ! grep -qF "$text" <<<"$said"; then
    echo "FAILED: said '$said', not '$text'"
    failed=1
  fi
}

name=$(basename "$program")
"$bundle" --binary="$program" "$out/app" ${emulator:+"$emulator"}
expect "bundling"
moved=$out/moved
mv "$out/app" "$moved"
if [[ -z $emulator ]]; then
  launch=(env -i "$moved/$name")
else # it would have to run what the launcher starts
  launch=("$emulator" -E "LD_LIBRARY_PATH=$moved/lib" "$moved/bin/$name")
fi
(cd / && "${launch[@]}") | grep -q "loss"
expect "the program trains from an empty environment"
loader=$(readelf --program-headers "$moved/bin/$name" | sed -nE 's/.*program interpreter: (.*)\]/\1/p')
listed=$(${emulator:+"$emulator"} "$loader" --library-path "$moved/lib" --list "$moved/bin/$name")
grep -q "libc.so" <<<"$listed"
expect "libraries are listed: $listed"
outside=$(grep -oE '=> /\S+' <<<"$listed" |
  grep -vE "$moved/lib|/(ld-linux[^/]*|libc|libm|libdl|librt|libpthread|libresolv|libutil|libanl)\.so")
[[ -z $outside ]]
expect "libraries from outside: $outside"

# A program named without a folder is the one here.
bundle_path=$(realpath "$bundle")
(cd "$(dirname "$program")" && "$bundle_path" --binary="$name" "$out/here" ${emulator:+"$emulator"})
expect "bundling a program by its name alone"

refused "exists and is not empty" "$bundle" --binary="$program" "$moved"
refused "there is no program" "$bundle" --binary=/nonexistent "$out/b"
refused "is no target" "$bundle" examples "$out/b"
refused "cannot read /nonexistent" "$bundle" --graph=/nonexistent "$out/b"
refused "usage" "$bundle" onlyone
((failed == 0)) && echo "PASSED"
exit "$failed"
