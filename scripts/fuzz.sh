#!/usr/bin/env bash
# Coverage-guided fuzzing (libFuzzer, AddressSanitizer, UBSan) of every reader and of the configuration.
#
#   scripts/fuzz.sh MINUTES [READER ...]
#
# Each reader gets MINUTES (0.1: six seconds) from seeds that motes writes and the inputs kept in tests/fuzz/corpus/READER, which are run first. New
# inputs grow build/fuzz/corpus. What is found lies in build/fuzz/found (put its smallest form, `READER=... fuzz_reader -minimize_crash=1 -runs=100000
# FILE`, into the kept corpus with the fix), and the script ends in 1. Bounds: 10 s and 2 GB an input, 64 kB of input.
# RUNS: end after so many inputs instead. JOBS: readers at a time (all processors). IN_PROCESS=1: HDF5 without its child process (fuzz_reader.cpp).
MOTES_PRESET=fuzz
source "$(dirname "$0")/common.sh"
packages+=(clang libclang-rt-dev libomp-dev)
minutes=${1:?usage: scripts/fuzz.sh MINUTES [READER ...]}
shift
install_missing
readers=("$@")
[ ${#readers[@]} -gt 0 ] || readers=(tracks_h5 detections_h5 vtkhdf bdv_h5 imaris problem_h5 tiff tiff_description image_folder
  bdv_xml zarr n5 matrix_market points_csv tracks_csv tables challenge_xml trackmate_xml geff ctc vtp checkpoint config)
build_targets fuzz_seeds fuzz_reader
work=$build/corpus found=$build/found
mkdir -p "$work" "$found"
"$build/bin/fuzz_seeds" "$work/seeds"

# LeakSanitizer: libhdf5 and VTK lose small blocks where a damaged file makes them give up.
echo 'interceptor_via_lib:libhdf5' >"$build/asan.supp" # its child process is for that
export ASAN_OPTIONS="suppressions=$root/$build/asan.supp detect_leaks=0 allocator_may_return_null=1 max_allocation_size_mb=2048 ${ASAN_OPTIONS:-}" OMP_NUM_THREADS=1
export UBSAN_OPTIONS="print_stacktrace=1 halt_on_error=1 ${UBSAN_OPTIONS:-}"
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # each input is a file for a moment

fuzz() {
  local reader=$1 code=0
  mkdir -p "$work/$reader" "$found/$reader" "$work/seeds/$reader"
  local kept=tests/fuzz/corpus/$reader limit=(-max_total_time="$(awk -v m="$minutes" 'BEGIN { print int(m * 60 + 0.5) }')")
  [ -z "${RUNS:-}" ] || limit=(-runs="$RUNS")
  [ -d "$kept" ] || kept=$work/seeds/$reader
  READER=$reader "$build/bin/fuzz_reader" "${limit[@]}" -timeout=10 -rss_limit_mb=2048 -max_len=65536 -dict=tests/fuzz/dictionary.txt -print_final_stats=1 \
    -artifact_prefix="$found/$reader/" "$work/$reader" "$work/seeds/$reader" "$kept" >"$found/$reader.log" 2>&1 || code=$?
  echo "$reader: $(awk '/stat::number_of_executed_units/ { print $2 }' "$found/$reader.log") inputs, exit $code"
  [ $code = 0 ] || { tail -25 "$found/$reader.log" >&2; return 1; }
}
failed=0 running=0
for reader in "${readers[@]}"; do
  fuzz "$reader" &
  running=$((running + 1))
  if [ $running -ge "${JOBS:-$jobs}" ]; then
    wait -n || failed=1
    running=$((running - 1))
  fi
done
while [ $running -gt 0 ]; do
  wait -n || failed=1
  running=$((running - 1))
done
exit $failed
