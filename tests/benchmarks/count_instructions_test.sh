#!/bin/bash
# Counts are repeatable, each turn of a loop adds the same few instructions, and what fails has no
# count.
set -u
count=$1
turns=$2

fail() { echo "$1" && exit 1; }

once=$("$count" "$turns" 100)
status=$?
[[ $status == 126 ]] && echo "not tested: this machine forbids tracing" && exit 0
[[ $status == 0 ]] || fail "no count"
[[ $once == "$("$count" "$turns" 100)" ]] || fail "$once once, and not again"
twice=$("$count" "$turns" 200) || fail "no count"
thrice=$("$count" "$turns" 300) || fail "no count"
((thrice - twice == twice - once)) || fail "$once, $twice and $thrice grow unevenly"
((twice - once >= 2 * 100 && twice - once <= 4 * 100)) || fail "100 turns: $((twice - once))"
"$count" /bin/false 2>/dev/null && fail "a program that fails was counted"
"$count" /no/such/program 2>/dev/null && fail "no program was counted"
"$count" 2>/dev/null
[[ $? == 2 ]] || fail "no program was given"
