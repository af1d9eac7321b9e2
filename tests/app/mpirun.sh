#!/usr/bin/env bash
# motes match on 2 and 3 ranks of mpirun: the pairs and duals of one process, one line and the exit code for
# errors, no rank left waiting. Arguments: the executable. Exit code 77: mpirun or the module is missing.
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

# refused CODE PATTERN ARGUMENT...: one line of ours that matches, and that exit code.
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
refused 2 'no form for several ranks' 'gen:uniform?rows=5&high=9' --solver jv
refused 2 'unknown option' 'gen:uniform?rows=5&high=9' --slover jv
refused 2 'assignment problems only' 'gen:rgg?n=50&degree=3' --problem cardinality
touch "$work/file"
refused 4 "$work/file" 'gen:uniform?rows=5&high=9' --certificate "$work/file/x"

# Alone, whatever a launcher of other programs may have left in the environment.
OMPI_COMM_WORLD_SIZE=1 OMPI_COMM_WORLD_RANK=0 "$motes" match 'gen:uniform?rows=5&high=9' >/dev/null ||
  fail "one rank of a launcher"
exit $failed
