#!/bin/bash
# compile_errors_test.sh COMPILER FILE...: the compiler tells mistakes in one sentence. Each file compiles without a
# warning. With -DMISTAKE it gives one error with the text of the file's first line ("// error: TEXT"), or compiles with
# that one warning ("// warning: TEXT"), also without -Wall.
set -uo pipefail
compiler=$1
shift
failed=0
# Where each package has the links to its headers (tools/bazel/includes.bzl).
mapfile -t includes < <(find -L . -type d -name _include | sed 's/^/-I/')
compile() { LC_ALL=C "$compiler" -std=c++20 -fsyntax-only "${includes[@]}" "$@" 2>&1; }
for file in "$@"; do
  kind=$(sed -n '1s,^// \(error\|warning\): .*,\1,p' "$file")
  want=$(sed -n "1s,^// $kind: ,,p" "$file")
  if ! said=$(compile "$file") || [[ -n $said ]]; then
    printf 'FAILED: %s does not compile without its mistake:\n%s\n' "$file" "$said"
    failed=1
    continue
  fi
  if said=$(compile -DMISTAKE "$file"); then compiles=warning; else compiles=error; fi
  if [[ $compiles != "$kind" ]]; then
    printf 'FAILED: with its mistake %s should give an %s, but gives:\n%s\n' "$file" "$kind" "$said"
    failed=1
  elif lines=$(grep "$kind:" <<<"$said"); [[ $(wc -l <<<"$lines") != 1 ]] ||
    [[ -z $want || $lines != *"$want"* ]]; then
    printf 'FAILED: %s should give one %s, "%s", but gives:\n%s\n' "$file" "$kind" "$want" "$said"
    failed=1
  fi
done
exit $failed
