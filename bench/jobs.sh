#!/usr/bin/env bash
# Times the whole jobs of docs/performance.md: tracking 20 frames of 10^5 points, simulating the demo, and scoring
# 200,000 tracks. With "many" also 20 frames of 10^6 points and 10^6 frames of 3 points (6 GB of disk); with "series"
# 100 frames of 10^6 points in 4 GB of memory (20 GB of disk; python3, or PYTHON, with h5py); with "large" a frame of
# 4 GB in 2 GB of memory, which causes 90 GB of disk traffic.
#
#   bench/jobs.sh FOLDER [many|series|large]
set -euo pipefail
cd "$(dirname "$0")/.."
motes=${MOTES:-build/release/bin/motes}
out=${1:?a folder for the files}
mkdir -p "$out"
timed() { /usr/bin/time -f "%e s, %U + %S s of processors, %M kB: $*" "$@"; }

cat > "$out/big.yaml" <<'YAML'
simulation: {particles: 100000, frames: 20, dt_s: 1, box_um: [46, 46, 46], speed_um_s: 0.1, persistence: 0.5, seed: 3,
  detections: [csv]}
YAML
cat > "$out/huge.yaml" <<'YAML'
simulation: {particles: 200000, frames: 10, dt_s: 1, box_um: [58.48, 58.48, 58.48], speed_um_s: 0.2, persistence: 0.8,
  seed: 3}
YAML
"$motes" simulate "$out/big.yaml" -o "$out/big" --quiet
timed "$motes" track "$out/big/detections.csv" -o "$out/tracks" --set linking.scope=pairs --quiet
timed "$motes" track "$out/big/detections.csv" -o "$out/bare" --set linking.scope=pairs --set output.vtk=false \
  --set output.preview=false --quiet
timed "$motes" simulate configs/demo.yaml -o "$out/demo" --quiet
"$motes" simulate "$out/huge.yaml" -o "$out/huge" --quiet
"$motes" track "$out/huge/detections.csv" -o "$out/huge/tracks" --quiet
timed "$motes" score --truth "$out/huge/truth.h5" --tracks "$out/huge/tracks/tracks.h5" --gate 0.1 --quiet
if [ "${2:-}" = many ]; then
  cat > "$out/many.yaml" <<'YAML'
simulation: {particles: 1000000, frames: 20, dt_s: 1, box_um: [100, 100, 100], speed_um_s: 0.2, persistence: 0.5,
  seed: 4, detections: [csv]}
YAML
  "$motes" simulate "$out/many.yaml" -o "$out/many" --quiet
  timed "$motes" track "$out/many/detections.csv" -o "$out/many/tracks" --set linking.scope=pairs \
    --set output.vtk=false --set output.preview=false --quiet
  awk 'BEGIN { srand(2); print "frame,x_um,y_um,z_um"
    for (i = 0; i < 9; i++) x[i] = 10 * rand()
    for (f = 0; f < 1000000; f++) for (p = 0; p < 9; p += 3) {
      for (a = 0; a < 3; a++) x[p + a] += .04 * (rand() + rand() - 1)
      printf "%d,%.5f,%.5f,%.5f\n", f, x[p], x[p + 1], x[p + 2] } }' > "$out/long.csv"
  timed "$motes" track "$out/long.csv" -o "$out/long" --set linking.scope=pairs --quiet
fi
if [ "${2:-}" = series ]; then
  "${PYTHON:-python3}" bench/large_table.py "$out/series.h5" 100 1000000
  TMPDIR=$out timed "$motes" track "$out/series.h5" -o "$out/series" --set linking.scope=pairs --set output.vtk=false \
    --set output.preview=false --threads 1 --set execution.memory_gb=4 --json "$out/series.json"
fi
if [ "${2:-}" = large ]; then
  "$motes" simulate configs/demo.yaml -o "$out/large" --set simulation.frames=1 --set simulation.particles=20000 \
    --set 'simulation.box_um=[170.2, 116, 205.7]' --set imaging.deflate=false --quiet
  timed "$motes" track "$out/large/frames/frames.ome.tif" -o "$out/large/tracks" --set execution.memory_gb=2 --quiet
fi
