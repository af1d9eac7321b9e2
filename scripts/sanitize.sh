#!/usr/bin/env bash
# Runs every test executable with AddressSanitizer and UBSan (preset `asan`), one after another.
#
#   scripts/sanitize.sh [TEST ...] [-- FILTER ...]
#   MOTES_PRESET=fuzz MOTES_CMAKE_ARGS=-DMOTES_TESTS=ON scripts/sanitize.sh    with clang, in the build of scripts/fuzz.sh
#
# TEST: for example test_io; default: all. FILTER: test cases, passed to each executable in Catch2's syntax. RESULTS
# (bench/results/sanitizers.csv) gets one line per executable: commit, executable, test cases, result. Exits with 1
# if an error is found.
MOTES_PRESET=${MOTES_PRESET:-asan}
source "$(dirname "$0")/common.sh"
install_missing
tests=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do tests+=("$1") && shift; done
[ $# -eq 0 ] || shift
[ ${#tests[@]} -gt 0 ] || tests=(test_base test_matching test_tracking test_sim test_io test_app)
build_targets motes "${tests[@]}"
results=${RESULTS:-bench/results/sanitizers.csv}
mkdir -p "$(dirname "$results")"
[ -s "$results" ] || echo 'date,commit,sanitizers,executable,test_cases,seconds,result' >"$results"
commit=$(git rev-parse --short=12 HEAD 2>/dev/null || echo unknown)
[ -z "$(git status --porcelain --untracked-files=no 2>/dev/null)" ] || commit+=+
compiler=$(sed -nE 's/^CMAKE_CXX_COMPILER:[A-Z]+=(.*\/)?//p' "$build/CMakeCache.txt")
export UBSAN_OPTIONS="print_stacktrace=1 ${UBSAN_OPTIONS:-}"
echo 'leak:libomp' >"$build/lsan.supp" # LLVM's OpenMP library never frees two blocks
export LSAN_OPTIONS="suppressions=$root/$build/lsan.supp ${LSAN_OPTIONS:-}"
# libhdf5 reads past its memory in damaged files, which is why it runs in a child process. VTK requests as much memory
# # as a damaged file states; the request fails, as without sanitizers.
echo 'interceptor_via_lib:libhdf5' >"$build/asan.supp"
export ASAN_OPTIONS="suppressions=$root/$build/asan.supp allocator_may_return_null=1 ${ASAN_OPTIONS:-}"
asan_options=$ASAN_OPTIONS ubsan_options=$UBSAN_OPTIONS
failed=0
for test in "${tests[@]}"; do
  log=$build/$test.log code=0
  rm -f "$log".report.*
  # Reports go to files, since the reader of VTK files captures standard error.
  ASAN_OPTIONS="$asan_options log_path=$root/$log.report" UBSAN_OPTIONS="$ubsan_options log_path=$root/$log.report"
  begin=$(date +%s)
  timeout "${LIMIT:-5400}" "$build/bin/$test" "$@" >"$log" 2>&1 || code=$?
  cat "$log".report.* >>"$log" 2>/dev/null || true
  cases=$(sed -nE 's/.*in ([0-9]+) test cases?\).*/\1/p; s/^test cases: +([0-9]+).*/\1/p' "$log" | tail -1)
  result=clean
  [ $code = 0 ] || [ $code = 77 ] || result="exit $code"
  ! grep -qE 'ERROR: (Address|Leak)Sanitizer|runtime error:' "$log" || result=found
  echo "$(date +%F),$commit,address+undefined $compiler,$test,${cases:-0},$(($(date +%s) - begin)),$result" | tee -a "$results"
  [ "$result" = clean ] || { failed=1; grep -nE -A12 'ERROR: (Address|Leak)Sanitizer|runtime error:' "$log" | head -60 >&2; tail -30 "$log" >&2; }
done
exit $failed
