#!/usr/bin/env bash
# The main job from end to end on its own data: simulates fluorescence volumes, tracks them and scores the tracks.
# The README's picture shows its tracks:
#   motes render out/demo/tracks/tracks.h5 -o docs/pictures/demo-render.png
#     --frame out/demo/simulated/frames/frames.ome.tif --until 8 --tail 6 --color time --range 3:8
#     --points --background black --size 1000x560 --elevation 32
source "$(dirname "$0")/common.sh"
install_missing
build_targets motes
motes=$build/bin/motes
out=${1:-out/demo}

"$motes" simulate configs/demo.yaml -o "$out/simulated"
"$motes" track "$out/simulated/frames/frames.ome.tif" -o "$out/tracks" --set linking.max_speed_um_s=1.2
echo
"$motes" score --truth "$out/simulated/truth.h5" --tracks "$out/tracks/tracks.h5" --gate 0.5
echo
echo "Outputs in $out:"
(cd "$out" && find . -maxdepth 2 -not -name '.*' | sort)
echo "Look at $out/tracks/preview.png, or open tracks.vtp and frames.pvd there in ParaView."
