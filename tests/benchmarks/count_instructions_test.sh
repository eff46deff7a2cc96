#!/bin/bash
# Counts are repeatable, grow with the work, and what fails has none.
set -u
count=$1

work() { "$count" /bin/sh -c "i=0; while [ \$i -lt $1 ]; do i=\$((i + 1)); done"; }

fail() { echo "$1" && exit 1; }

"$count" /bin/true >/dev/null
[[ $? == 126 ]] && echo "not tested: this machine forbids tracing" && exit 0
few=$(work 10) || fail "no count"
[[ $few -gt 1000 && $few == "$(work 10)" ]] || fail "$few once, and not again"
(($(work 110) - few >= 100 * 10)) || fail "a hundred turns are too cheap"
"$count" /bin/false && fail "a program that fails was counted"
"$count" /no/such/program 2>/dev/null && fail "no program was counted"
"$count" 2>/dev/null
[[ $? == 2 ]] || fail "no program was given"
