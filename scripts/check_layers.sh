#!/usr/bin/env bash
# Checks that dependencies point one way, that private headers stay in their folder, and that third-party code
# stays behind its fences. Prints every offending line; exit 1 if there is one.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0

# forbid NAME PATTERN PATH...: reports every #include in these paths that matches.
forbid() {
  local name=$1 pattern=$2
  shift 2
  local hits
  hits=$(grep -rnE --include='*.h' --include='*.cpp' --include='*.cu' --include='*.cuh' \
    "^[[:space:]]*#[[:space:]]*include[[:space:]]*($pattern)" "$@" 2>/dev/null)
  if [ -n "$hits" ]; then
    printf '%s:\n%s\n' "$name" "$hits"
    bad=1
  fi
}
# forbid_files NAME PATTERN FILE...: as forbid, for a list of files that may be empty.
forbid_files() { [ $# -gt 2 ] && forbid "$@"; }

folders=(base matching tracking io sim app python)
files() { find "${folders[@]}" bench examples -type f "$@" 2>/dev/null | sort; }
readarray -t no_yaml < <(files -name '*.[hc]*' -not -path app/options/config.cpp)
readarray -t not_system < <(find base matching tracking io sim app python -type f -name '*.[hc]*' \
  -not -path 'base/system/*' | sort)
readarray -t not_io < <(files -name '*.[hc]*' -not -path 'io/*')
readarray -t no_pictures < <(files -name '*.[hc]*' -not -path 'io/*' -not -path app/render/scene.cpp)
readarray -t no_display < <(files -name '*.[hc]*' -not -path app/render/display.cpp)
readarray -t host < <(files '(' -name '*.h' -o -name '*.cpp' ')')
readarray -t device < <(files '(' -name '*.cu' -o -name '*.cuh' ')')
readarray -t headers < <(find base/include matching/include tracking/include io/include sim/include -name '*.h')

# Dependencies: base <- matching <- tracking <- {io, sim} <- app.
others() { printf '(<motes|")/?(%s)/' "$1"; }
forbid 'base depends on a folder above it' "$(others 'matching|tracking|io|sim|app')" base
forbid 'matching depends on a folder above it' "$(others 'tracking|io|sim|app')" matching
forbid 'tracking depends on a folder above it' "$(others 'io|sim|app')" tracking
forbid 'io depends on a folder beside or above it' "$(others 'sim|app')" io
forbid 'sim depends on a folder beside or above it' "$(others 'io|app')" sim

# Private headers are included as "folder/...": by their own folder only. Tests may look inside.
for folder in base matching tracking io sim; do
  for other in "${folders[@]}" bench examples; do
    [ "$other" = "$folder" ] && continue
    forbid "$other includes a private header of $folder" "\"$folder/" "$other"
  done
done
forbid_files 'a public header includes a private one' '"' "${headers[@]}"

# Inside matching: solvers that `auto` chooses do not depend on the other solvers of papers.
forbid 'a solver of auto depends on papers' '"matching/papers/' matching/assignment matching/cardinality \
  matching/greedy matching/points matching/init
forbid 'a solver depends on the registry' '<motes/matching/registry' matching/assignment matching/cardinality \
  matching/greedy matching/papers matching/init matching/points

# POSIX functions are called in base/system only.
forbid_files 'POSIX outside base/system' '<(sys/|unistd|fcntl|poll|signal|semaphore|pthread|dlfcn|time)\.h|<sys/' \
  "${not_system[@]}"

# Third-party code.
forbid_files 'yaml-cpp outside app/options/config.cpp' '[<"]yaml-cpp/' "${no_yaml[@]}"
forbid_files 'HDF5, TIFF, XML or codecs outside io/' '[<"](H5|hdf5|tiff|pugixml|zlib|blosc|zstd|lz4|highfive)' "${not_io[@]}"
forbid_files 'VTK outside io/ and app/render/scene.cpp' '[<"]vtk' "${no_pictures[@]}"
forbid_files 'X11 outside app/render/display.cpp' '[<"]X11/' "${no_display[@]}"
forbid_files 'CUDA outside .cu and .cuh' '[<"](cuda|cub/|thrust/|nccl|device_launch)' "${host[@]}"
forbid_files 'Eigen in CUDA code' '[<"]Eigen/' "${device[@]}"
forbid_files 'third-party code in public headers' '[<"](Eigen|nanoflann|fmt|spdlog|nlohmann|CLI|vtk|H5|hdf5|tiff)' "${headers[@]}"
forbid 'third-party code in base or matching' '[<"](Eigen|nanoflann|fmt|spdlog|nlohmann|CLI)' base matching
forbid 'nanoflann outside tracking' '[<"]nanoflann' app io sim
forbid 'Eigen outside tracking' '[<"]Eigen/' app io sim

exit $bad
