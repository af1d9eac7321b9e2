#!/usr/bin/env bash
# Coverage-guided fuzzing (libFuzzer, AddressSanitizer, UBSan) of every reader and of the configuration.
#
#   scripts/fuzz.sh MINUTES [READER ...]
#
# Each reader runs for MINUTES (0.1: six seconds). It starts with the inputs in tests/fuzz/corpus/READER and with
# seeds that motes writes. New inputs are added to build/fuzz/corpus. Findings are in build/fuzz/found, and the
# script then exits with 1; minimise a finding (`READER=... fuzz_reader -minimize_crash=1 -runs=100000 FILE`) and add
# it to tests/fuzz/corpus together with the fix. Limits: 10 s and 2 GB per input, 64 kB of input. Environment: RUNS
# (stop after that many inputs instead), JOBS (readers at a time, default all processors), IN_PROCESS=1 (read HDF5
# and VTP without their child process, see fuzz_reader.cpp).
MOTES_PRESET=fuzz
source "$(dirname "$0")/common.sh"
packages+=(clang libclang-rt-dev libomp-dev)
minutes=${1:?usage: scripts/fuzz.sh MINUTES [READER ...]}
shift
install_missing
readers=("$@")
[ ${#readers[@]} -gt 0 ] || readers=(tracks_h5 detections_h5 vtkhdf bdv_h5 imaris problem_h5 tiff tiff_description png png_series
  image_folder bdv_xml zarr n5 matrix_market points_csv tracks_csv tables picasso mtrackj challenge_xml trackmate_xml geff ctc vtp checkpoint config)
build_targets fuzz_seeds fuzz_reader
work=$build/corpus found=$build/found
mkdir -p "$work" "$found"
"$build/bin/fuzz_seeds" "$work/seeds"

# LeakSanitizer: libhdf5 and VTK leak small blocks when they reject a damaged file.
echo 'interceptor_via_lib:libhdf5' >"$build/asan.supp" # which is why it runs in a child process
export ASAN_OPTIONS="suppressions=$root/$build/asan.supp detect_leaks=0 allocator_may_return_null=1 max_allocation_size_mb=2048 ${ASAN_OPTIONS:-}" OMP_NUM_THREADS=1
export UBSAN_OPTIONS="print_stacktrace=1 halt_on_error=1 ${UBSAN_OPTIONS:-}"
[ ! -w /dev/shm ] || export TMPDIR=/dev/shm # each input becomes a temporary file

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
