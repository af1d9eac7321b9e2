# Common functions of the scripts: the project's folders, its packages and its build.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
cd "$root"
preset=${MOTES_PRESET:-release}
build=build/$preset
jobs=${MOTES_JOBS:-$(nproc)}

# Debian's (and Ubuntu's) packages; nothing else is needed.
packages=(g++ cmake ninja-build libvtk9-dev libhdf5-dev libtiff-dev libpng-dev libpugixml-dev zlib1g-dev libblosc-dev
  libzstd-dev liblz4-dev libyaml-cpp-dev libcli11-dev libfmt-dev libeigen3-dev libnanoflann-dev nlohmann-json3-dev
  libopenmpi-dev openmpi-bin libx11-dev libjs-chart.js libjs-three catch2 xvfb xauth ffmpeg)

install_missing() {
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    echo "This is not Debian or Ubuntu. If the next step fails, install what these packages contain:"
    printf '  %s\n' "${packages[@]}"
    return
  fi
  local missing=() package
  for package in "${packages[@]}"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
  done
  [ ${#missing[@]} -eq 0 ] && return
  echo "Installing ${missing[*]}"
  local sudo=()
  [ "$(id -u)" -eq 0 ] || sudo=(sudo)
  export DEBIAN_FRONTEND=noninteractive
  "${sudo[@]}" apt-get update -qq
  "${sudo[@]}" apt-get install -y -qq --no-install-recommends "${missing[@]}" >/dev/null
}

# build_targets TARGET...: configures if needed, and builds.
build_targets() {
  cmake --preset "$preset" ${MOTES_CMAKE_ARGS:-} >"$build.configure.log" 2>&1 || {
    cat "$build.configure.log" >&2
    exit 1
  }
  grep -E '^-- motes:' "$build.configure.log" || true
  cmake --build "$build" -j "$jobs" --target "$@"
}
mkdir -p build
