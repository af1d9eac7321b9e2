#!/usr/bin/env bash
# Data races: builds the tests with clang and ThreadSanitizer and runs them.
#
#   scripts/tsan.sh [TEST ...] [-- FILTER ...]      (default: test_matching test_tracking test_sim; FILTER: as the test executables take it)
#
# ThreadSanitizer does not see how OpenMP's threads wait for each other; Archer, a part of LLVM's OpenMP library, tells it. GCC's library has
# no such part, and every loop seems a race there. A report is printed and ends in exit code 66. THREADS (4): OMP_NUM_THREADS, for what does not
# set its own. LIMIT (1200): seconds a test executable may take. MOTES_MATCHING_ONLY=ON: the matching library alone, which needs no large libraries.
MOTES_PRESET=tsan
source "$(dirname "$0")/common.sh"
packages+=(clang libomp-dev)
install_missing

tests=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do tests+=("$1") && shift; done
[ $# -eq 0 ] || shift
only=${MOTES_MATCHING_ONLY:-OFF}
if [ ${#tests[@]} -eq 0 ]; then
  tests=(test_matching)
  [ "$only" = ON ] || tests+=(test_tracking test_sim)
fi
MOTES_CMAKE_ARGS="-DMOTES_MATCHING_ONLY=$only ${MOTES_CMAKE_ARGS:-}"
build_targets "${tests[@]}"

# Beside the OpenMP library that the tests load.
openmp=$(readlink -f "$(ldd "$build/bin/${tests[0]}" | awk '/libomp/ { print $3 }')")
archer=$(dirname "$openmp")/libarcher.so
[ -e "$archer" ] || {
  echo "scripts/tsan.sh: no Archer at $archer: install LLVM's OpenMP library with its tools (Debian: libomp-dev)" >&2
  exit 2
}
export OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=${THREADS:-4}
# Libraries that are not instrumented would be blamed for what their threads do under locks that are not seen.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 history_size=5 ${TSAN_OPTIONS:-}"
failed=0
for test in "${tests[@]}"; do
  code=0
  timeout "${LIMIT:-1200}" "$build/bin/$test" "$@" || code=$?
  case $code in
    0 | 77) echo "$test: no races" ;; # 77: some tests were skipped, and said so
    124) echo "$test: stopped after ${LIMIT:-1200} s without a report" && failed=1 ;;
    *) echo "$test: exit $code" && failed=1 ;;
  esac
done
exit $failed
