#!/usr/bin/env bash
# motes track and detect on several ranks of mpirun: the bytes of one process, one line and the exit code for
# errors, interrupted and killed runs that --resume finishes to the same bytes. Arguments: the executable, and
# the number of ranks to kill [2]. Exit code 77: mpirun or the module is missing.
set -uo pipefail
motes=$1 kills=${2:-2}
root=$(cd "$(dirname "$0")/../.." && pwd)
module=$(dirname "$motes")/libmotes_mpi.so
command -v mpirun >/dev/null || { echo "skipped: mpirun is missing (openmpi-bin)"; exit 77; }
[ -e "$module" ] || { echo "skipped: this build has no MPI (MOTES_MPI)"; exit 77; }
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
export OMP_WAIT_POLICY=passive
failed=0
fail() { echo "FAILED: $*"; failed=1; }
# Tests may run as root in a container, and on fewer cores than ranks.
on() { timeout 300 mpirun -n "$1" --oversubscribe --bind-to none --allow-run-as-root "$motes" "${@:2}"; }
# same A B WHAT: the same results, except for the reports, which have times.
same() {
  diff -rq -x report.json -x report.html "$1" "$2" >"$work/diff" 2>&1 || fail "$3: $(cat "$work/diff")"
}
one_line() {
  [ "$(grep -c '^motes: error: ' "$work/err")" = 1 ] || fail "$1: not one line: $(cat "$work/err")"
}

"$motes" simulate "$root/configs/demo.yaml" -o "$work/sim" --quiet --set simulation.frames=9 \
  --set simulation.particles=24 --set 'simulation.box_um=[4, 12, 12]' >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
stack=$(find "$work/sim/frames" -name '*.ome.tif' | head -1)
"$motes" track "$stack" -o "$work/one" --quiet || fail "track alone"
"$motes" detect "$stack" -o "$work/one.h5" --quiet || fail "detect alone"

for ranks in 2 3 5; do
  on $ranks track "$stack" -o "$work/many" --json "$work/report" >"$work/out" 2>"$work/err" ||
    fail "$ranks ranks: $(cat "$work/err")"
  same "$work/one" "$work/many" "track on $ranks ranks"
  [ "$(wc -l <"$work/out")" = 1 ] || fail "$ranks ranks speak: $(cat "$work/out")"
  grep -q "\"ranks\": $ranks" "$work/report" || fail "the report does not tell of $ranks ranks"
  rm -rf "$work/many"
  on $ranks detect "$stack" -o "$work/many.h5" --quiet || fail "detect on $ranks ranks"
  cmp -s "$work/one.h5" "$work/many.h5" || fail "detect on $ranks ranks: other bytes"
done
on 2 track "$work/one/tracks.csv" -o "$work/points" --quiet || fail "a table on 2 ranks"

# refused CODE PATTERN ARGUMENT...: expects one line of motes that matches, and that exit code.
refused() {
  local code=$1 pattern=$2
  shift 2
  on 3 "$@" >"$work/out" 2>"$work/err"
  local got=$?
  [ $got = "$code" ] || fail "exit code $got, not $code, for $*"
  one_line "$*"
  grep -q "^motes: error: .*$pattern" "$work/err" || fail "another line for $*: $(cat "$work/err")"
}
refused 3 'No such file' track "$work/absent.tif" -o "$work/absent"
refused 2 'unknown option' track "$stack" --oputput x
refused 2 'detection.threshold' track "$stack" -o "$work/x" --set detection.threshold=high
touch "$work/file"
refused 4 "$work/file" track "$stack" -o "$work/file"
refused 4 "$work/file" detect "$stack" -o "$work/file/x.csv"
# A damaged frame that only a later rank reads.
cp "$stack" "$work/hurt.ome.tif"
perl -0777 -i -pe 'substr($_, length($_) * 0.84, length($_) * 0.02) =~ s/x\x01/\xff\xff/g' "$work/hurt.ome.tif"
refused 3 'rank [12]: .*hurt.ome.tif: page' track "$work/hurt.ome.tif" -o "$work/hurt" --threads 1

# A full disk, on rank 0, which writes the results.
mkdir "$work/disk"
if mount -t tmpfs -o size=8k tmpfs "$work/disk" 2>/dev/null; then
  refused 4 "$work/disk" track "$stack" -o "$work/disk/x"
  umount "$work/disk"
fi

# A run of $1 ranks in the background.
begin() {
  rm -rf "$work/killed"
  on "$1" track "$stack" -o "$work/killed" --threads 1 --set detection.refine=fit >"$work/out" 2>"$work/err" &
  launcher=$!
}
resume() {
  on "$1" track "$stack" -o "$work/killed" --quiet --resume --set detection.refine=fit 2>"$work/err" ||
    fail "resume after $2: $(cat "$work/err")"
  same "$work/fit" "$work/killed" "resumed after $2"
}
"$motes" track "$stack" -o "$work/fit" --quiet --set detection.refine=fit || fail "track with fits"

# The processes that work: children of those started by the launcher.
workers_of() {
  ps -eo pid=,ppid=,comm=,args= | awk -v run="track $stack -o $work/killed" '
    { name[$1] = $3 }
    $3 == "motes" && index($0, run) { parent[$1] = $2 }
    END { for (pid in parent) if (name[parent[pid]] == "motes") print pid }'
}

hits=0
for ((i = 0; i < kills; ++i)); do
  begin 3
  for ((wait = 0; wait < 100; ++wait)); do
    mapfile -t workers < <(workers_of)
    [ ${#workers[@]} -ge 3 ] && break
    sleep 0.02
  done
  sleep "$(awk -v r=$RANDOM 'BEGIN { print r / 32768 * 0.2 }')"
  victim=${workers[$((RANDOM % (${#workers[@]} > 0 ? ${#workers[@]} : 1)))]:-}
  start=$(date +%s)
  [ -n "$victim" ] && kill -9 "$victim" 2>/dev/null
  wait $launcher
  code=$?
  [ $(($(date +%s) - start)) -le 30 ] || fail "kill $i: ranks lived on for over 30 s"
  pgrep -f "$work/killed" >/dev/null && sleep 2 && pgrep -f "$motes track $stack -o $work/killed" >/dev/null && fail "kill $i: a rank is left"
  if [ $code != 0 ]; then  # 0: it ended before
    hits=$((hits + 1))
    [ $code = 4 ] || fail "kill $i: exit code $code: $(cat "$work/err")"
    # The killed rank's line; the launcher may then interrupt rank 0 at work, which prints a line.
    sed -i '/^motes: error: rank 0: interrupted/d' "$work/err"
    one_line "kill $i"
    grep -q 'was killed' "$work/err" || fail "kill $i: another line: $(cat "$work/err")"
  fi
  echo "kill $i: process ${victim:-none}, exit code $code"
  resume $((1 + i % 3)) "kill $i"
done
echo "$hits of $kills kills met a rank at work"

# SIGTERM: the launcher gives its ranks a second.
begin 2
sleep 0.8
kill -TERM $(pgrep -P $launcher) 2>/dev/null || kill -TERM $launcher
wait $launcher
resume 3 "SIGTERM"
exit $failed
