#!/bin/bash
# Counts are repeatable, grow with the work, and what fails has none. A step may take 0.1 ms, so
# what is counted here does little.
set -u
count=$1

fail() { echo "$1" && exit 1; }

little=$("$count" /bin/true)
status=$?
[[ $status == 126 ]] && echo "not tested: this machine forbids tracing" && exit 0
[[ $status == 0 && $little -gt 1000 ]] || fail "no count"
[[ $little == "$("$count" /bin/true)" ]] || fail "$little once, and not again"
(($("$count" /bin/sh -c :) - little >= 1000)) || fail "a shell is too cheap"
"$count" /bin/false 2>/dev/null && fail "a program that fails was counted"
"$count" /no/such/program 2>/dev/null && fail "no program was counted"
"$count" 2>/dev/null
[[ $? == 2 ]] || fail "no program was given"
