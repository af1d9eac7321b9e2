#!/usr/bin/env bash
# Builds the executable twice, in two folders with different names, without a compiler cache, and compares the bytes.
#
#   scripts/check_reproducible.sh [TARGET]     (default motes; motes_base takes a minute, motes_matching a few)
#
# Exits with 1 if they differ. Takes as long as two full builds.
source "$(dirname "$0")/common.sh"
install_missing
target=${1:-motes}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
sums=()
for name in one another-and-longer; do
  mkdir -p "$work/$name"
  git archive HEAD | tar -x -C "$work/$name"
  cmake -S "$work/$name" -B "$work/$name/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DMOTES_CUDA=OFF -DMOTES_TESTS=OFF -DMOTES_BENCH=OFF \
    -DCMAKE_CXX_COMPILER_LAUNCHER="$(command -v env)" >"$work/log" || { cat "$work/log" >&2; exit 2; }
  cmake --build "$work/$name/build" -j "$jobs" --target "$target" >"$work/log" || { tail -50 "$work/log" >&2; exit 2; }
  built=$(find "$work/$name/build" -type f '(' -name "$target" -o -name "lib$target.a" ')' | head -1)
  sums+=("$(sha256sum <"$built")")
  echo "$target in $name: ${sums[-1]}"
done
[ "${sums[0]}" = "${sums[1]}" ] && echo "$target: the same bytes" || { echo "$target: the bytes differ" >&2; exit 1; }
