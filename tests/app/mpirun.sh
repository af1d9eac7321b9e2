#!/usr/bin/env bash
# motes match on ranks of mpirun: the pairs and duals of one process (cardinality: the same number of pairs), one line and the
# exit code for errors, no rank left waiting. Arguments: the executable. Exit code 77: mpirun or the module is missing.
set -uo pipefail
motes=$1
module=$(dirname "$motes")/libmotes_mpi.so
command -v mpirun >/dev/null || { echo "skipped: mpirun is missing (openmpi-bin)"; exit 77; }
[ -e "$module" ] || { echo "skipped: this build has no MPI (MOTES_MPI)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }
# Tests may run as root in a container, and on fewer cores than ranks.
on() { timeout 120 mpirun -n "$1" --oversubscribe --allow-run-as-root "$motes" match "${@:2}"; }

for instance in 'gen:uniform?rows=61&high=600' 'gen:uniform?rows=40&cols=53&high=50&type=float' \
  'gen:points?n=80&sigma=.4&gate=1.5&unmatched=1.5&sparse=1'; do
  for solver in hungarian hungarian-tree; do
    "$motes" match "$instance" --solver $solver --backend cpu --certificate "$work/one" >/dev/null ||
      fail "$solver alone"
    for ranks in 2 3; do
      on $ranks "$instance" --solver $solver --backend cpu --verify --certificate "$work/many" \
        --json "$work/report" >"$work/out" 2>"$work/err" || fail "$solver on $ranks ranks: $(cat "$work/err")"
      cmp -s "$work/one" "$work/many" || fail "$solver on $ranks ranks: another answer for $instance"
      grep -q 'proven by its certificate' "$work/out" || fail "$solver on $ranks ranks: no proof"
      [ "$(wc -l <"$work/out")" = 3 ] || fail "$ranks ranks speak: $(cat "$work/out")"
      grep -q "\"ranks\": $ranks" "$work/report" || fail "the report does not tell of $ranks ranks"
    done
  done
done

# The objective of one process; the optimum may be another one.
for instance in 'gen:uniform?rows=701&high=7010&type=float' 'gen:uniform?rows=900&cols=620&high=300' \
  'gen:low-rank?n=600&rank=3' 'gen:uniform?rows=40&high=90&density=.3&unmatched=20' 'gen:points?n=900&sigma=.6'; do
  "$motes" match "$instance" --solver jv --backend cpu --json "$work/report" >/dev/null || fail "jv alone"
  objective=$(grep '"objective"' "$work/report")
  for ranks in 2 3; do
    on $ranks "$instance" --solver jv --backend cpu --verify --json "$work/report" >"$work/out" 2>"$work/err" ||
      fail "jv on $ranks ranks: $(cat "$work/err")"
    [ "$(grep '"objective"' "$work/report")" = "$objective" ] || fail "jv on $ranks ranks: $instance"
    grep -q 'proven by its certificate' "$work/out" || fail "jv on $ranks ranks: no proof"
    grep -q "\"ranks\": $ranks" "$work/report" || fail "the report does not tell of $ranks ranks"
  done
done

printf '%%%%MatrixMarket matrix coordinate pattern general\n5 4 7\n1 1\n1 2\n2 1\n3 1\n4 4\n5 4\n5 3\n' >"$work/graph.mtx"
for instance in 'gen:gated?n=2000&degree=5' 'gen:road?n=1500' 'gen:rmat?scale=9&permute=1' "$work/graph.mtx"; do
  "$motes" match "$instance" --problem cardinality --backend cpu --matching "$work/one" >/dev/null ||
    fail "cardinality alone"
  for ranks in 2 3 5; do
    on $ranks "$instance" --solver ms-bfs-graft --verify --matching "$work/first" --json "$work/report" \
      >"$work/out" 2>"$work/err" || fail "cardinality on $ranks ranks: $(cat "$work/err")"
    [ "$(wc -l <"$work/one")" = "$(wc -l <"$work/first")" ] || fail "$instance: fewer pairs on $ranks ranks"
    sort -t, -k2,2 -u "$work/first" | wc -l | cmp -s - <(wc -l <"$work/first") || fail "a column has two rows"
    grep -q 'proven by a cover' "$work/out" || fail "cardinality on $ranks ranks: no proof"
    [ "$(wc -l <"$work/out")" = 3 ] || fail "$ranks ranks speak: $(cat "$work/out")"
    grep -q "\"ranks\": $ranks" "$work/report" || fail "the report does not tell of $ranks ranks"
  done
  on 5 "$instance" --problem cardinality --matching "$work/second" >"$work/out" 2>&1 || fail "5 ranks, solver auto"
  cmp -s "$work/first" "$work/second" || fail "$instance: other pairs in the next run on 5 ranks"
done

# refused CODE PATTERN ARGUMENT...: expects one line of motes that matches, and that exit code.
refused() {
  local code=$1 pattern=$2
  shift 2
  on 2 "$@" >"$work/out" 2>"$work/err"
  local got=$?
  [ $got = "$code" ] || fail "exit code $got, not $code, for $*"
  [ "$(grep -c '^motes: error: ' "$work/err")" = 1 ] || fail "not one line for $*: $(cat "$work/err")"
  grep -q "^motes: error: .*$pattern" "$work/err" || fail "another line for $*: $(cat "$work/err")"
}
refused 3 'no such file' "$work/absent.mtx"
refused 2 'no form for several ranks' 'gen:uniform?rows=5&high=9' --solver auction
refused 2 'full matrices' 'gen:points?n=50&sigma=.3&gate=1&sparse=1' --solver jv
refused 2 'unknown option' 'gen:uniform?rows=5&high=9' --slover jv
refused 2 'do not solve greedy problems' 'gen:rgg?n=50&degree=3' --problem greedy
refused 2 'no form for several ranks' 'gen:rgg?n=50&degree=3' --solver hk
refused 2 'has no options' 'gen:rgg?n=50&degree=3' --solver 'ms-bfs-graft?alpha=3'
refused 2 'not available on several ranks' 'gen:rgg?n=50&degree=3' --solver ms-bfs-graft --init cheap
refused 2 'only for assignment problems' 'gen:rgg?n=50&degree=3' --solver ms-bfs-graft --ties hash
refused 2 'unknown parameter' 'gen:rgg?n=50&degree=3&wide=1' --solver ms-bfs-graft
refused 3 'no such file' "$work/absent.mtx" --solver ms-bfs-graft
touch "$work/file"
refused 4 "$work/file" 'gen:uniform?rows=5&high=9' --certificate "$work/file/x"
refused 4 "$work/file" 'gen:rgg?n=50&degree=3' --solver ms-bfs-graft --matching "$work/file/x"
refused 4 'No space left' 'gen:rgg?n=50000&degree=3' --solver ms-bfs-graft --matching /dev/full

# One process, whatever a launcher of other programs has left in the environment.
OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 "$motes" match 'gen:uniform?rows=5&high=9' >/dev/null ||
  fail "one rank of a launcher"
exit $failed
