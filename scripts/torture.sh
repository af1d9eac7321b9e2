#!/usr/bin/env bash
# Tests motes with kills, resumed runs, failing allocations, and limits on memory, file size, files, processes and
# disk. In all cases motes must exit with 0 or 4, print at most one line of error, not end by a signal, and leave no
# temporary files. A killed run that is resumed must give the same bytes. A killed run that rewrites an output must
# leave the previous output, none, or the complete new one.
#
#   scripts/torture.sh [--short] [kills|outputs|memory|allocations|files|processes|disk ...]
#
# Environment: MOTES (executable, build/<preset>/bin/motes); numbers of trials: KILLS (200), OUTPUTS (200),
# ALLOCATIONS (1000), MEMORY (40 limits per command). --short: a few trials of each, for the test suite, at points
# that depend on SEED (1). Prints a summary at the end; exits with 1 if a trial fails.
set -uo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
short=0
[ "${1:-}" = --short ] && short=1 && shift
if [ $short = 1 ]; then
  RANDOM=${SEED:-1}
  kills=${KILLS:-4} outputs=${OUTPUTS:-9} allocations=${ALLOCATIONS:-20} memory=${MEMORY:-3}
else
  kills=${KILLS:-200} outputs=${OUTPUTS:-200} allocations=${ALLOCATIONS:-1000} memory=${MEMORY:-40}
fi
motes=${MOTES:-$root/build/${MOTES_PRESET:-release}/bin/motes}
[ -x "$motes" ] || { echo "scripts/torture.sh: no executable $motes: build it, or set MOTES" >&2; exit 2; }
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(kills outputs memory allocations files processes disk)

work=$(mktemp -d)
chmod 755 "$work"
trap 'umount "$work/disk" 2>/dev/null; rm -rf "$work"' EXIT
failed=0 trials=0 ended_0=0 ended_4=0
export OMP_WAIT_POLICY=passive

complain() { echo "torture: $*" >&2; failed=1; }
temporaries() { find "$1" \( -name '.*.tmp-*' -o -name '.*.old-*' \) -prune -print 2>/dev/null; }
# Hashes of the results, without the report, which contains times.
fingerprint() { (cd "$1" && find . -type f ! -name report.json ! -name preview.png | sort | xargs sha256sum); }

# check NAME CODE FOLDER: checks a run with this exit code, whose standard error is $work/err.
check() {
  local name=$1 code=$2 folder=$3 lines
  trials=$((trials + 1))
  case $code in
    0) ended_0=$((ended_0 + 1)) ;;
    4) ended_4=$((ended_4 + 1)) ;;
    *) complain "$name: exit $code: $(tail -c 300 "$work/err")" ;;
  esac
  lines=$(grep -c 'motes: error: ' "$work/err")
  if [ "$code" = 4 ] && [ "$lines" != 1 ]; then complain "$name: $lines lines of error: $(tail -c 300 "$work/err")"; fi
  [ -z "$(temporaries "$folder")" ] || { complain "$name: left $(temporaries "$folder")"; temporaries "$folder" | xargs rm -rf; }
}

simulation=$work/simulation
"$motes" simulate "$root/configs/demo.yaml" -o "$simulation" --quiet --set simulation.frames=6 --set simulation.particles=24 \
  --set 'simulation.box_um=[4, 12, 12]' >"$work/log" 2>&1 || { cat "$work/log" >&2; exit 2; }
stack=$(find "$simulation/frames" -name '*.ome.tif' | head -1)
points=$simulation/detections.csv
[ -f "$points" ] || points=$simulation/detections.h5
tracks=$(ls "$simulation"/truth.* | head -1)

# The commands for the trials with limits: a name, then the words; OUT is replaced by a new folder.
commands=("track-stack track $stack -o OUT/t" "track-points track $points -o OUT/t" "detect detect $stack -o OUT/d.h5"
  "simulate simulate $root/configs/demo.yaml -o OUT/s --set simulation.frames=3 --set simulation.particles=24 --set imaging.write_frames=false"
  "convert convert $tracks OUT/c.vtp" "match match gen:points?n=2000&sigma=0.3&gate=1.2&seed=1 --solver auto")

# Commands with one output: a name, then the words; OUT is replaced by a folder. Their output is reproducible.
single=("csv convert $tracks OUT/o.csv" "h5 convert $tracks OUT/o.h5" "vtp convert $tracks OUT/o.vtp" "ctc convert $tracks OUT/o.ctc --like $stack"
  "geff convert $tracks OUT/o.geff" "detections detect $stack -o OUT/o.h5" "picture render $tracks -o OUT/o.png --size 320x240"
  "movie render $tracks --movie OUT/o.gif --size 160x120" "merge merge $work/part0.h5 $work/part1.h5 --config $work/plan.yaml -o OUT/o")

# Makes the parts for merge, and in $work/single/NAME the undisturbed output of each of these commands.
declare -A took=()
write_whole() {
  local command words name begin
  [ ${#took[@]} = 0 ] || return 0
  "$motes" plan "$stack" -o "$work/plan.yaml" --quiet && "$motes" detect "$work/plan.yaml" --frames 0:3 -o "$work/part0.h5" --quiet &&
    "$motes" detect "$work/plan.yaml" --frames 3:6 -o "$work/part1.h5" --quiet || complain "the parts: exit $?"
  for command in "${single[@]}"; do
    name=${command%% *}
    mkdir -p "$work/single/$name"
    read -ra words <<<"${command//OUT/$work/single/$name}"
    begin=$(date +%s%N)
    "$motes" "${words[@]:1}" --quiet >"$work/log" 2>"$work/err" || complain "$name, whole: exit $?: $(tail -c 300 "$work/err")"
    took[$name]=$((($(date +%s%N) - begin) / 1000000))
    fingerprint "$work/single/$name" >"$work/$name.sums"
  done
}

# check_whole NAME OUTPUT FOLDER: checks that this output is complete or absent; of a merged folder, each file.
check_whole() {
  local odd
  (cd "$3" && find . \( -name '.*.tmp-*' -o -name '.*.old-*' \) -prune -o -type f ! -name report.json ! -name preview.png -print) | sort >"$work/there"
  [ -s "$work/there" ] || return 0
  (cd "$3" && xargs sha256sum <"$work/there") >"$work/there.sums"
  if [ "$2" = merge ]; then
    odd=$(grep -vxFf "$work/$2.sums" "$work/there.sums" | grep -v checkpoint)
  else
    odd=$(diff "$work/$2.sums" "$work/there.sums")
  fi
  [ -z "$odd" ] || complain "$1: what is there is not whole: $odd"
}

# The commands for trials with limits and full disks; --short skips those with single outputs.
limited_commands=("${commands[@]}")
[ $short = 1 ] || limited_commands+=("${single[@]}")

# under_limits NAME FOLDER LIMITS [AS...]: runs each of them as `AS... motes` under these limits ("ulimit -v 200000" ...).
under_limits() {
  local name=$1 folder=$2 limits=$3 command words code
  shift 3
  [ $short = 1 ] || write_whole
  for command in "${limited_commands[@]}"; do
    rm -rf "$folder" && mkdir -m 777 "$folder"
    read -ra words <<<"${command//OUT/$folder}"
    # Through a pipe, since a limit on files would also apply to the file of the messages.
    (eval "$limits" && exec "$@" "$motes" "${words[@]:1}" --quiet) 2>&1 >/dev/null | cat >"$work/err"
    code=${PIPESTATUS[0]}
    check "$name, ${words[0]}" $code "$folder"
    [ -z "${took[${words[0]}]:-}" ] || check_whole "$name, ${words[0]}" "${words[0]}" "$folder"
    if [ "$code" = 0 ] && [ -n "${took[${words[0]}]:-}" ]; then
      fingerprint "$folder" | cmp -s - "$work/${words[0]}.sums" || complain "$name, ${words[0]}: exit 0 and another result"
    fi
  done
}
limited() { under_limits "$1" "$work/out" "$2"; }

run_kills() {
  local i code
  "$motes" track "$stack" -o "$work/whole" --quiet || complain "the whole run: exit $?"
  fingerprint "$work/whole" >"$work/whole.sums"
  for ((i = 0; i < kills; ++i)); do
    rm -rf "$work/killed"
    "$motes" track "$stack" -o "$work/killed" --quiet 2>"$work/err" &
    sleep "$(awk -v r=$RANDOM 'BEGIN { print 0.005 + r / 32768 * 0.6 }')"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    "$motes" track "$stack" -o "$work/killed" --quiet --resume >"$work/log" 2>"$work/err"
    code=$?
    check "resumed after kill $i" $code "$work/killed"
    fingerprint "$work/killed" | cmp -s - "$work/whole.sums" || complain "kill $i: resumed results differ"
  done
}

# In every second trial the output exists before.
run_outputs() {
  local i words name code whole
  write_whole
  for ((i = 0; i < outputs; ++i)); do
    read -ra words <<<"${single[$((i % ${#single[@]}))]}"
    name=${words[0]} whole=$work/single/${words[0]}
    rm -rf "$work/out" && mkdir "$work/out"
    [ $((i / ${#single[@]} % 2)) = 0 ] || cp -a "$whole/." "$work/out/"
    words=("${words[@]//OUT/$work/out}")
    "$motes" "${words[@]:1}" --quiet >"$work/log" 2>"$work/err" &
    sleep "$(awk -v r=$RANDOM -v ms="${took[$name]}" 'BEGIN { print r / 32768 * ms / 1000 }')"
    kill -9 $! 2>/dev/null
    wait $! 2>/dev/null
    check_whole "$name, kill $i" "$name" "$work/out"
    [ -s "$work/there" ] || [ $((i / ${#single[@]} % 2)) = 0 ] || complain "$name, kill $i: the output before is gone"
    "$motes" "${words[@]:1}" --quiet >"$work/log" 2>"$work/err"
    code=$?
    check "$name after kill $i" $code "$work/out"
    fingerprint "$work/out" | cmp -s - "$work/$name.sums" || complain "$name, kill $i: another result: exit $code: $(tail -c 300 "$work/err")"
  done
}

run_memory() {
  local i limit
  for ((i = 0; i < memory; ++i)); do
    limit=$((200000 + i * 1000000 / memory))  # KiB of address space; the libraries take about half of that
    limited "ulimit -v $limit" "ulimit -v $limit"
  done
}

run_allocations() {
  local i command words code at shim=$work/failing.so
  ${CC:-cc} -shared -fPIC -O1 -o "$shim" "$root/tests/torture/failing_allocations.c" -ldl || { complain "no shim"; return; }
  for ((i = 0; i < allocations; ++i)); do
    command=${commands[$((i % ${#commands[@]}))]}
    rm -rf "$work/out" && mkdir "$work/out"
    read -ra words <<<"${command//OUT/$work/out}"
    at=$((1 + RANDOM * RANDOM % (i % 3 == 0 ? 300 : i % 3 == 1 ? 5000 : 100000)))
    MOTES_FAIL_AT=$at MOTES_FAIL_ON=$([ $((i % 2)) = 0 ] && echo once || echo all) LD_PRELOAD=$shim \
      "$motes" "${words[@]:1}" --quiet >"$work/log" 2>"$work/err"
    code=$?
    check "allocation $at fails ($([ $((i % 2)) = 0 ] && echo once || echo all)), ${words[0]}" $code "$work/out"
  done
}

run_files() {
  local n
  for n in 0 1 8 64 1024; do limited "ulimit -f $n" "ulimit -f $n"; done
  for n in 12 16 24 48; do limited "ulimit -n $n" "ulimit -n $n"; done
}

# Limits on processes do not apply to root, so root runs as another user.
run_processes() {
  local n as=()
  [ $short = 1 ] || write_whole
  if [ "$(id -u)" = 0 ]; then
    command -v setpriv >/dev/null || { echo "torture: processes: skipped, root without setpriv"; return; }
    chmod -R a+rX "$work"
    as=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  fi
  for n in 1 2 3 6 40; do under_limits "ulimit -u $n" "$work/out" "cd / && ulimit -u $n" "${as[@]}"; done
}

run_disk() {
  local size command words code
  mkdir -p "$work/disk"
  mount -t tmpfs -o size=4k tmpfs "$work/disk" 2>/dev/null || { echo "torture: disk: skipped, no small file system can be mounted"; return; }
  umount "$work/disk"
  for size in 8k 64k 256k 1m; do
    mount -t tmpfs -o "size=$size" tmpfs "$work/disk"
    under_limits "disk of $size" "$work/disk/out" true
    umount "$work/disk"
  done
}

for part in "${parts[@]}"; do "run_$part"; done
echo "torture: $trials trials of ${parts[*]}: $ended_0 ended in 0, $ended_4 in 4, $((trials - ended_0 - ended_4)) otherwise"
exit $failed
