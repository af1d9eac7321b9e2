#!/usr/bin/env bash
# execution.memory_gb: the same bytes as a run in memory, with less resident memory; full disks and killed runs.
# Arguments: the executable.
set -uo pipefail
motes=$1
root=$(cd "$(dirname "$0")/../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
failed=0
fail() { echo "FAILED: $*"; failed=1; }
[ "$(stat -f -c %T "$work")" != tmpfs ] || { echo "skipped: $work is memory"; exit 77; }
export TMPDIR=$work/files  # the folder of the arrays
mkdir "$TMPDIR"
nothing_left() { [ -z "$(ls -A "$TMPDIR")" ] || fail "$1: a file is left"; }

# Arguments: a name, options of simulate. With so little memory, frames are searched in files.
simulate() {
  local name=$1
  shift
  "$motes" simulate "$root/configs/demo.yaml" -o "$work/$name" --quiet "$@" \
    >"$work/out" 2>&1 || { cat "$work/out"; exit 1; }
  find "$work/$name/frames" -name '*.ome.tif' -o -name '*.h5' | head -1
}
compare() {
  local name=$1 stack=$2
  "$motes" track "$stack" -o "$work/$name-whole" --quiet 2>"$work/err" || fail "$name: $(cat "$work/err")"
  for threads in 1 2; do
    "$motes" track "$stack" -o "$work/$name-$threads" --set execution.memory_gb=0.0001 --threads $threads \
      >"$work/out" 2>&1 || fail "$name, $threads threads: $(cat "$work/out")"
    grep -q 'in files in' "$work/out" || fail "$name: not in files: $(cat "$work/out")"
    diff -rq -x report.json -x report.html -x config.yaml "$work/$name-whole" "$work/$name-$threads" ||
      fail "$name, $threads threads: other results"
  done
  [ "$(grep -c . "$work/$name-whole/tracks.csv")" -gt 20 ] || fail "$name: few tracks"
  nothing_left "$name"
}
small=(--set simulation.frames=3 --set simulation.particles=60 --set 'simulation.box_um=[6, 14, 14]')
tiff=$(simulate tiff "${small[@]}")
compare tiff "$tiff"
compare hdf5 "$(simulate hdf5 "${small[@]}" --set imaging.format=bdv-h5)"
compare bytes "$(simulate bytes "${small[@]}" --set imaging.bit_depth=8)"
compare plane "$(simulate plane --set simulation.frames=3 --set simulation.particles=60 --set 'simulation.box_um=[0.2, 20, 20]')"
"$motes" detect "$tiff" -o "$work/whole.h5" --quiet && "$motes" detect "$tiff" -o "$work/files.h5" --quiet \
  --set execution.memory_gb=0.0001 && cmp "$work/whole.h5" "$work/files.h5" || fail "detect"

# The peak of resident memory is smaller.
peak() { grep -o '"peak_memory_mb": [0-9]*' "$1/report.json" | grep -o '[0-9]*$'; }
large=$(simulate large --set simulation.frames=2 --set simulation.particles=400 --set 'simulation.box_um=[12, 42, 42]')
"$motes" track "$large" -o "$work/whole" --quiet || fail "large, in memory"
"$motes" track "$large" -o "$work/bounded" --quiet --set execution.memory_gb=0.2 || fail "large, in files"
cmp "$work/whole/tracks.h5" "$work/bounded/tracks.h5" || fail "large: other results"
whole=$(peak "$work/whole") bounded=$(peak "$work/bounded")
echo "peak: $whole MB in memory, $bounded MB in files"
[ "$bounded" -lt $((whole * 7 / 10)) ] || fail "$bounded MB in files, $whole MB in memory"

# The same for tables, with rows in any order: arrays that together exceed the bound are files.
"$motes" simulate "$root/configs/demo.yaml" -o "$work/table" --quiet --set simulation.particles=120000 \
  --set simulation.frames=6 --set 'simulation.box_um=[49, 49, 49]' --set simulation.speed_um_s=0.1 \
  --set 'simulation.detections=[csv]' --set simulation.min_distance_um=0.01 --set imaging.write_frames=false || fail "a table"
table=$work/table/detections.csv
awk 'NR == 1 { print; next } { print | "sort -t, -k3,3" }' "$table" >"$work/table/shuffled.csv"
for name in detections shuffled; do
  options=("$work/table/$name.csv" --set linking.scope=pairs --set output.vtk=false --set output.preview=false --quiet)
  "$motes" track "${options[@]}" -o "$work/$name-whole" || fail "$name, in memory"
  for gb in 0.0001 0.1; do
    "$motes" track "${options[@]}" -o "$work/$name-$gb" --set execution.memory_gb=$gb || fail "$name, $gb GB"
    for file in tracks.h5 tracks.csv; do
      cmp "$work/$name-whole/$file" "$work/$name-$gb/$file" || fail "$name, $gb GB: another $file"
    done
    echo "$name, $gb GB: $(peak "$work/$name-$gb") MB, in memory $(peak "$work/$name-whole") MB"
  done
  [ "$(peak "$work/$name-0.0001")" -lt $(($(peak "$work/$name-whole") * 8 / 10)) ] || fail "$name: much is resident"
done
nothing_left "tables"
"$motes" track "$table" -o "$work/refused" --set execution.memory_gb=0.06 --quiet >"$work/out" 2>"$work/err"
[ $? = 2 ] && grep -q 'motes: error: output.vtk: .*execution.memory_gb' "$work/err" || fail "VTK: $(cat "$work/err")"
(
  ulimit -f 2000
  trap '' XFSZ
  "$motes" track "${options[@]}" -o "$work/refused" --set execution.memory_gb=0.01 >"$work/out" 2>"$work/err"
  [ $? = 4 ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q "motes: error: .*no array of.*TMPDIR" "$work/err" ||
    fail "a table on a full disk: $(cat "$work/err")"
  exit $failed
) || failed=1

# A killed run leaves no file.
"$motes" track "$large" -o "$work/killed" --quiet --set execution.memory_gb=0.2 &
run=$!
for _ in $(seq 100); do
  grep -q '(deleted)' "/proc/$run/maps" 2>/dev/null && break
  sleep 0.05
done
grep -q "$TMPDIR.*(deleted)" "/proc/$run/maps" || fail "no arrays in files"
kill -9 $run
wait $run 2>/dev/null
nothing_left "killed"

# Folders that cannot have arrays are named: in memory, missing, on a full disk.
refused() {
  local code=$1 words=$2
  shift 2
  "$@" track "$large" -o "$work/refused" --set execution.memory_gb=0.2 --quiet >"$work/out" 2>"$work/err"
  [ $? = "$code" ] && [ "$(wc -l <"$work/err")" = 1 ] && grep -q "motes: error: .*$words.*TMPDIR" "$work/err" ||
    fail "$words: $(cat "$work/err")"
}
[ "$(stat -f -c %T /dev/shm 2>/dev/null)" = tmpfs ] && refused 2 'is memory' env TMPDIR=/dev/shm "$motes"
refused 4 'no-such-folder' env TMPDIR="$work/no-such-folder" "$motes"
mkdir "$work/disk" && truncate -s 24M "$work/image"
if mkfs.ext4 -q "$work/image" 2>/dev/null && mount -o loop "$work/image" "$work/disk" 2>/dev/null; then
  refused 4 'has room for' env TMPDIR="$work/disk" "$motes"
  nothing_left "a full disk"
  umount "$work/disk"
else
  echo "a full disk: skipped, no file system can be mounted"
fi
# A disk that becomes full later: a file may not be as large as the frame.
(ulimit -f 2000; trap '' XFSZ; refused 4 'no array of' "$motes"; exit $failed) || failed=1
nothing_left "a limit of file sizes"
exit $failed
