# Functions for the stages of continuous integration; .ci/run sources this file, after setting
# `logs`, a folder.

passed=0
failed=0
skipped_stages=0
failures=()

# When a disk is full, commands fail with messages that do not say so.
gigabytes_free() { df --output=avail --block-size=1G "$HOME" | tail -1 | tr -d ' '; }

say() { printf '\n=== %s (%dm%02ds, %d GB free)\n' "$1" $((SECONDS / 60)) $((SECONDS % 60)) "$(gigabytes_free)"; }

fail() {
  failed=$((failed + $2))
  failures+=("$1")
}

# check NAME COMMAND...: one stage that passes or fails as a whole.
check() {
  local name=$1
  shift
  say "$name: $*"
  if "$@"; then passed=$((passed + 1)); else fail "$name" 1; fi
}

skip() {
  say "$1: skipped, $2"
  skipped_stages=$((skipped_stages + 1))
}

# A run may take ninety minutes. If a slow or busy machine has no time for a stage, the stage is
# reported and counted as skipped. The time of the first build tells how fast the machine is.
minutes=72
slowness=100  # in percent of two cores that do nothing else

first_build() {
  echo "the first build took $1 s"
  (($1 > 70)) && slowness=$(($1 * 100 / 70))
  return 0
}

# in_time NAME MINUTES: whether a stage that takes MINUTES on two such cores ends in time here and has enough disk
# space.
in_time() {
  local takes=$(($2 * slowness / 100)) room=10
  if (($(gigabytes_free) < room)); then
    skip "$1" "it may need $room GB of the disk"
    return 1
  fi
  ((SECONDS / 60 + takes <= minutes)) && return
  skip "$1" "it would take $takes minutes here, and all of it more than $minutes"
  return 1
}

# twice COMMAND...: for commands that may fail for a moment because of a network or another machine.
twice() { "$@" || { sleep 10; "$@"; }; }

# forget ARGUMENTS...: deletes what was built with them. They have an output folder of their own that no later stage
# reads.
forget() {
  local bin
  bin=$(bazel info --config=ci "$@" bazel-bin 2>/dev/null)
  [[ $bin == */bazel-out/*/bin && -d $bin && $bin != "$(bazel info --config=ci bazel-bin 2>/dev/null)" ]] || return 0
  du -sh "${bin%/bin}"
  chmod -R u+w "$bin" && rm -rf "${bin%/bin}"
}

# sum_attribute NAME FILE...: adds up an attribute of the outermost element of test.xml files.
sum_attribute() {
  local name=$1
  shift
  grep -hm1 -E '<testsuites? [^>]*tests=' "$@" | sed -nE "s/.* $name=\"([0-9]+)\".*/\1/p" |
    awk '{ sum += $1 } END { print sum + 0 }'
}

# count_skipped FILE...: test cases that GTEST_SKIP left out.
count_skipped() { cat "$@" | grep -c '<testcase .*result="skipped"'; }

# The minute at which tests that have not ended are left out. A slow machine may not finish all of them, and the tests
# that it did finish should count.
tests_end=83
out_of_time=0

# left_out NAME LOG: says that the tests of LOG were interrupted. A target that failed to build before that counts as a
# failure.
left_out() {
  local all
  all=$(sed -nE 's/.* ([0-9]+) test targets?\.\.\.$/\1/p' "$2" | tail -1)
  skip "$1: $((${all:-0} - $(grep -cE '^//[^ ]+ .*(PASSED|FAILED in|TIMEOUT|FLAKY)' "$2"))) of ${all:-all} test targets" \
    "this machine has no time for them"
  out_of_time=1
  if grep -E '^ERROR: .* failed: ' "$2"; then fail "$1: something does not build" 1; fi
}

# bazel_tests NAME ARGUMENTS...: `bazel test`, counted by test case.
bazel_tests() {
  local name=$1 log="$logs/${1//\//_}" targets=0 bad cases skipped xml target status
  local failures_before=${#failures[@]} testlogs configs seconds=$((60 * tests_end - SECONDS))
  shift
  say "$name: bazel test $*"
  timeout --signal=INT $((seconds > 60 ? seconds : 60)) bazel test --config=ci "$@" 2>&1 | tee "$log"
  local rc=${PIPESTATUS[0]}
  ((rc == 124)) && left_out "$name" "$log"
  # Configurations have output folders of their own.
  mapfile -t configs < <(printf '%s\n' "$@" | grep -E '^--(config|define|platform_suffix)=')
  testlogs=$(bazel info --config=ci "${configs[@]}" bazel-testlogs 2>/dev/null)
  while read -r target status; do
    targets=$((targets + 1))
    ((rc == 124)) && [[ $status == NO\ STATUS* ]] && continue
    case "$status" in
      PASSED* | FLAKY* | FAILED\ in* | TIMEOUT*) ;;
      *) fail "$name $target: $status" 1; continue ;;  # not built or not run: no fresh test.xml
    esac
    mapfile -t xml < <(find -L "$testlogs/$(sed 's|^//||; s|:|/|' <<<"$target")" -name test.xml)
    ((${#xml[@]})) || { fail "$name $target: no test.xml" 1; continue; }
    cases=$(sum_attribute tests "${xml[@]}")
    bad=$(($(sum_attribute failures "${xml[@]}") + $(sum_attribute errors "${xml[@]}")))
    skipped=$(($(count_skipped "${xml[@]}") + $(sum_attribute disabled "${xml[@]}")))
    ((skipped)) && echo "$name $target: $skipped test cases skipped"
    # A crash can leave a file without a failure in it.
    [[ $status == PASSED* || $status == FLAKY* ]] || ((bad)) || bad=1
    ((bad)) && fail "$name $target: $status" "$bad"
    ((cases > bad + skipped)) && passed=$((passed + cases - bad - skipped))
  done < <(sed -nE 's/^(\/\/[^ ]+) +(\(cached\) )?([A-Z]{2}.*)/\1 \3/p' "$log")
  # Bazel can fail without a test: on a broken BUILD file, or a binary that does not compile.
  if ((rc != 0 && rc != 124 && ${#failures[@]} == failures_before)); then fail "$name: bazel's status $rc" 1; fi
  if ((rc == 0 && targets == 0)); then fail "$name: no test ran" 1; fi
}

