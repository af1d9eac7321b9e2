#!/usr/bin/env bash
# Finds data races: builds tests and benchmark drivers with clang and ThreadSanitizer, and runs them.
#
#   scripts/tsan.sh [NAME ...] [-- FILTER ...]
#
# NAME: a test executable, or `drivers`; default: test_matching test_tracking test_sim drivers. FILTER is passed to
# all test executables. `drivers` are the benchmark drivers, at sizes at which all work is divided among threads; in
# the small tests some of it runs on one thread. ThreadSanitizer does not see how OpenMP's threads wait for each
# other. Archer, a part of LLVM's OpenMP library, reports it. GCC's library has no such part, so that every loop
# looks like a race. The script prints the races found, and exits with 1. Environment: THREADS (4: OMP_NUM_THREADS,
# where a test does not set its own, and the drivers' threads), LIMIT (seconds per executable, 3000),
# MOTES_MATCHING_ONLY=ON (only the matching library's tests, which need no large libraries).
MOTES_PRESET=tsan
source "$(dirname "$0")/common.sh"
packages+=(clang libomp-dev)
install_missing

names=()
while [ $# -gt 0 ] && [ "$1" != -- ]; do names+=("$1") && shift; done
[ $# -eq 0 ] || shift
only=${MOTES_MATCHING_ONLY:-OFF}
if [ ${#names[@]} -eq 0 ]; then
  names=(test_matching)
  [ "$only" = ON ] || names+=(test_tracking test_sim drivers)
fi
drivers=(bench_cardinality bench_greedy bench_assignment bench_linking bench_simulate bench_render bench_detect)
targets=()
for name in "${names[@]}"; do
  if [ "$name" = drivers ]; then targets+=("${drivers[@]}"); else targets+=("$name"); fi
done
MOTES_CMAKE_ARGS="-DMOTES_MATCHING_ONLY=$only ${MOTES_CMAKE_ARGS:-}"
build_targets "${targets[@]}"

# In the folder of the OpenMP library that the executables load.
openmp=$(readlink -f "$(ldd "$build/bin/${targets[0]}" | awk '/libomp/ { print $3 }')")
archer=$(dirname "$openmp")/libarcher.so
[ -e "$archer" ] || {
  echo "scripts/tsan.sh: no Archer at $archer: install LLVM's OpenMP library with its tools (Debian: libomp-dev)" >&2
  exit 2
}
threads=${THREADS:-4}
export OMP_TOOL_LIBRARIES=$archer OMP_NUM_THREADS=$threads
# Nested parallel regions: LLVM 14's library reports the waits to Archer only if inner threads stay in their team, and it
# # locks mutexes whose creation ThreadSanitizer has not seen. (race_top, since races in our code have frames of that
# # library below them and must be reported.)
export KMP_HOT_TEAMS_MAX_LEVEL=2
echo 'race_top:pthread_mutex_lock' >"$build/tsan.supp"
# Libraries without instrumentation would be reported for accesses under locks that ThreadSanitizer does not see; and the
# # OpenMP library does not join its threads of inner regions when the process ends, which is not a race. Readers in child
# # processes are forked while threads exist, and VTK requests as much memory as a damaged file states.
export TSAN_OPTIONS="ignore_noninstrumented_modules=1 report_thread_leaks=0 die_after_fork=0 history_size=5 allocator_may_return_null=1 suppressions=$root/$build/tsan.supp ${TSAN_OPTIONS:-}"
failed=0

# check EXECUTABLE ARGUMENTS...
check() {
  local name=$1 code=0
  shift
  timeout "${LIMIT:-3000}" "$build/bin/$name" "$@" || code=$?
  case $code in
    0 | 77) echo "$name: no races" ;; # 77: some tests were skipped, with a message
    66) echo "$name: RACES" && failed=1 ;;
    124) echo "$name: stopped after ${LIMIT:-3000} s" && failed=1 ;;
    *) echo "$name: exit $code" && failed=1 ;;
  esac
}

# A test of the setup: it must find a race, in a plain and in a nested region, and none in code without one.
cat >"$build/race.cpp" <<'EOT'
#include <omp.h>
static void once(long* sum, int n, bool race) {
  long all[64], good = 0;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < n; ++i) all[i] = i;
#pragma omp parallel for num_threads(2) reduction(+ : good)
  for (int i = 0; i < n; ++i) good += all[n - 1 - i];
  *sum += good;
  if (!race) return;
#pragma omp parallel for num_threads(2)
  for (int i = 0; i < n; ++i) *sum += all[i];
}
int main(int argc, char**) {
  long sum[8] = {};
  if (argc <= 2) once(sum, 64, argc == 2);
  omp_set_max_active_levels(2);
  for (int round = 0; argc != 2 && round < 50; ++round) {
#pragma omp parallel for num_threads(2)
    for (int k = 0; k < 8; ++k) once(sum + k, 64, argc == 3);
  }
  return sum[0] == 0;
}
EOT
clang++ -O1 -g -fopenmp=libomp -fsanitize=thread "$build/race.cpp" -o "$build/race"
if ! "$build/race" || "$build/race" alone 2>/dev/null || "$build/race" within region 2>/dev/null; then
  echo "scripts/tsan.sh: ThreadSanitizer and Archer do not work together here: see $build/race.cpp" >&2
  exit 2
fi

run_drivers() {
  check bench_cardinality --threads "$threads" --repeats 1 --init 'cheap karp-sipser min-degree' --limit 120 \
    --solver 'hk hkdw pf p-dbfs ss-bfs ss-dfs push-relabel ms-bfs ms-bfs-graft' \
    --instance 'gen:gated?n=10000&degree=8 gen:rmat?scale=14&edges=8 gen:delaunay?n=20000 gen:road?n=20000'
  check bench_cardinality --threads "$threads" --repeats 1 --init cheap --solver 'push-relabel ms-bfs-graft pf' \
    --instance 'gen:gated?n=60000&degree=8 gen:rgg?n=60000&degree=15.8'
  check bench_greedy --threads "$threads" --repeats 1 --coarsen 1 --solver 'greedy-suitor greedy-proposal greedy-sorted' \
    --instance 'gen:rgg?n=200000&degree=13&general=1 gen:rmat?scale=15&edges=8&undirected=1'
  check bench_greedy --threads "$threads" --repeats 1 --solver 'greedy-suitor greedy-proposal greedy-sorted' --instance 'gen:gated?n=100000&degree=8'
  local solver
  for solver in jv hungarian-tree hungarian auction auction-scaled; do
    check bench_assignment --threads "$threads" --repeats 1 --solver $solver --instance 'gen:uniform?rows=1500&high=1500'
  done
  check bench_assignment --threads "$threads" --repeats 1 --solver jv --instance \
    'gen:points?n=60000&sigma=0.1&gate=0.5&unmatched=0.5 gen:points?n=4000&sigma=0.3 gen:points?n=1000&sigma=0.3&dense=1'
  check bench_linking --threads "$threads" --repeats 1 --n 60000 --ratio 0.1,0.3 --frames 4
  check bench_simulate --threads "$threads" --repeats 1 --particles 20000 --frames 4 --backend cpu
  check bench_render --threads "$threads" --repeats 1 --size 16,256,256 --spots 3000 --read-noise 2 --backend cpu
  check bench_detect --threads "$threads" --repeats 1 --seeds 1
}

for name in "${names[@]}"; do
  if [ "$name" = drivers ]; then run_drivers; else check "$name" "$@"; fi
done
exit $failed
