#!/bin/bash
# compile_errors_test.sh COMPILER FILE...: mistakes that the compiler finds are told in one sentence.
# Each file compiles as it is; with -DMISTAKE it gives one error, which has the text of the file's
# first line ("// error: TEXT").
set -uo pipefail
compiler=$1
shift
failed=0
# Where each package has the links to its headers (tools/includes.bzl).
mapfile -t includes < <(find -L . -type d -name _include | sed 's/^/-I/')
compile() { LC_ALL=C "$compiler" -std=c++20 -fsyntax-only "${includes[@]}" "$@" 2>&1; }
for file in "$@"; do
  want=$(sed -n '1s,^// error: ,,p' "$file")
  if ! said=$(compile "$file"); then
    printf 'FAILED: %s does not compile without its mistake:\n%s\n' "$file" "$said"
    failed=1
    continue
  fi
  if said=$(compile -DMISTAKE "$file"); then
    echo "FAILED: $file compiles with its mistake"
    failed=1
  elif errors=$(grep 'error:' <<<"$said"); [[ $(wc -l <<<"$errors") != 1 ]] ||
    [[ -z $want || $errors != *"$want"* ]]; then
    printf 'FAILED: %s should give one error, "%s", but gives:\n%s\n' "$file" "$want" "$said"
    failed=1
  fi
done
exit $failed
