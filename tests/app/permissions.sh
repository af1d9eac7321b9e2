#!/usr/bin/env bash
# Files and folders that may not be read or written, links to nothing, devices and odd names: one line, the exit code,
# and no file left. Arguments: the executable. The superuser may read everything, so the test gives up its rights.
set -uo pipefail
motes=$(realpath "$1")
root=$(realpath "$(dirname "$0")/../..")
if [ "$(id -u)" = 0 ]; then
  without=(setpriv --reuid=65534 --regid=65534 --clear-groups)
  "${without[@]}" "$motes" --version >/dev/null 2>&1 || { echo "skipped: another user cannot run $motes"; exit 77; }
  exec "${without[@]}" env HOME=/tmp bash "$(realpath "$0")" "$motes"
fi
work=$(mktemp -d)
trap 'chmod -R u+rwx "$work"; rm -rf "$work"' EXIT
cd "$work"
failed=0
fail() { echo "FAILED: $*"; failed=1; }

# Arguments: exit code, words of the error, arguments of motes. Nothing new is left beside the input.
refused() {
  local code=$1 words=$2 before after
  shift 2
  before=$(ls -AR out series store 2>/dev/null)
  timeout 60 "$motes" "$@" >said 2>errors
  local got=$?
  [ $got = "$code" ] && [ "$(grep -c 'motes: error: ' errors)" = 1 ] && [ "$(tail -1 errors | grep -c "error: .*$words")" = 1 ] ||
    fail "motes $*: code $got, not $code; $(cat errors)"
  after=$(ls -AR out series store 2>/dev/null)
  [ "$before" = "$after" ] || fail "motes $*: leaves files: $(diff <(echo "$before") <(echo "$after"))"
}
awk 'BEGIN { print "frame,x_um,y_um,z_um"
             for (t = 0; t < 4; t++) for (i = 0; i < 6; i++) print t "," 10 * i + t / 10 "," i "," i }' >points.csv
mkdir closed locked store series out
"$motes" track points.csv -o run --quiet --set output.preview=false || fail "a table"
"$motes" simulate "$root/configs/demo.yaml" --set simulation.frames=1 --set simulation.particles=3 -o sim --quiet \
  --set 'simulation.box_um=[1, 4, 4]' || fail "simulate"
frame=$(find sim -name '*.ome.tif' | head -1)
cp points.csv unread.csv && cp "$frame" unread.tif && cp run/tracks.h5 unread.h5
cp "$frame" closed/t0.tif && cp points.csv locked/points.csv
chmod 000 unread.* && chmod 600 closed && chmod 300 locked

# Input
for name in unread.csv unread.tif; do
  refused 3 "$name: .*Permission denied; check its permissions" track $name -o out/new
  refused 3 "$name: .*Permission denied; check its permissions" info $name
done
refused 3 'unread.h5: .*Permission denied' convert unread.h5 out/new.csv
refused 3 'closed.*Permission denied; check' track closed/t0.tif -o out/new
refused 3 'locked: .*Permission denied; check' track locked -o out/new
refused 3 'locked: .*Permission denied; check' info locked
chmod 000 locked
refused 3 'locked: .*no tracks.h5, or it may not be read' merge locked -o out/new
ln -s nowhere broken.tif && ln -s loop loop
refused 3 'broken.tif: .*check the path' track broken.tif -o out/new
refused 3 'loop: .*symbolic links; check the path' track loop -o out/new
for t in 0 1 2; do cp "$frame" series/t$t.tif; done
ln -s nowhere series/t3.tif
refused 3 't3.tif: cannot open: No such file' track series -o out/new # and not a shorter series
rm series/t3.tif && chmod 000 series/t1.tif
refused 3 't1.tif: cannot open: Permission denied' track series -o out/new
mkfifo pipe pipe.csv
for odd in pipe pipe.csv /dev/zero /dev/null; do refused 3 "$odd: this is not a regular file" track $odd -o out/new; done

# A chunk that may not be read is no chunk of zeros.
printf '{"zarr_format": 2, "shape": [2, 4, 4], "chunks": [1, 4, 4], "dtype": "|u1", "compressor": null, "fill_value": 0,
  "order": "C", "filters": null, "dimension_separator": "/"}' >store/.zarray
mkdir -p store/0/0 store/1/0 && head -c 16 /dev/zero >store/0/0/0 && cp store/0/0/0 store/1/0/0
zarr=(store --set input.axes=TYX --voxel 1 --dt 1)
chmod 000 store/1/0
refused 3 'store/1/0/0: .*Permission denied' track "${zarr[@]}" -o zarr-out
chmod 700 store/1/0 && rm store/1/0/0 && ln -s ../nowhere store/1/0/0
refused 3 'store/1/0/0: .*No such file' track "${zarr[@]}" -o zarr-out

# Output
chmod 500 out
refused 4 'out/new: cannot write to this output folder: Permission denied' track points.csv -o out/new
refused 4 'out: .*not writable: Permission denied' convert run/tracks.h5 out/tracks.csv
refused 4 '.*json: out/a.json: cannot write' track points.csv -o before --json out/a.json
[ ! -e before ] || fail "tracked before --json was checked"
refused 4 'points.csv is a file, not a folder' track points.csv -o points.csv
refused 4 'points.csv/sub: cannot write.*Not a directory' track points.csv -o points.csv/sub
ln -s nowhere/at/all link
refused 4 'link is a broken link' track points.csv -o link
refused 4 '/dev/full: cannot write: No space' match 'gen:uniform?rows=3&high=9' --json /dev/full
[ "$(ls -A out | wc -l)" = 0 ] || fail "left in out: $(ls -A out)"

# Names
odd=$'new\nline \e[31mµ漢'
for name in "$odd" '-dash' 'a b'; do
  cp points.csv "./$name.csv"
  "$motes" track -o "./$name" --quiet --set output.preview=false -- "$name.csv" >said 2>errors || fail "'$name': $(cat errors)"
  [ -s "./$name/tracks.h5" ] || fail "'$name' has no tracks"
  ! grep -q $'\e' said errors || fail "'$name': escape sequences are printed"
done
"$motes" track points.csv -o=equals --quiet --set output.preview=false && [ -s equals/tracks.h5 ] || fail "-o=equals"
refused 2 "'-o' is one argument too many" track -- points.csv -o other || true
[ $failed = 0 ] && echo "all refused in one line"
exit $failed
