#!/bin/bash
# ./setup says on a system that it does not know what to install there, and touches nothing.
set -uo pipefail
setup=$1
other=$TEST_TMPDIR/os-release
printf 'ID=fedora\nVERSION_ID=41\n' >"$other"
said=$(FIRN_OS_RELEASE=$other "$setup" 2>&1) && { echo "it went on: $said"; exit 1; }
for word in "fedora 41" "Debian 12 and 13" libabsl-dev; do
  grep -qF -- "$word" <<<"$said" || { echo "it does not say '$word': $said"; exit 1; }
done
said=$("$setup" --unknown 2>&1) && { echo "it took an unknown option"; exit 1; }
grep -qF "usage" <<<"$said" || { echo "it does not say how it is used: $said"; exit 1; }
