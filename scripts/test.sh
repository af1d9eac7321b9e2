#!/usr/bin/env bash
# Installs missing packages, builds everything and runs the tests. Arguments go to ctest, for example -R io.
# # The Python package is included if Python 3.10 and its packages are available.
source "$(dirname "$0")/common.sh"
source "$root/scripts/python_env.sh"
install_missing
python_env
if [ -n "$python_bin" ]; then
  MOTES_CMAKE_ARGS="-DMOTES_PYTHON=ON -DPython_EXECUTABLE=$python_bin ${MOTES_CMAKE_ARGS:-}"
fi
build_targets all
# Two tests run at a time, so threads that wait for work must not spin.
export GOMP_SPINCOUNT="${GOMP_SPINCOUNT:-1000}"
ctest --test-dir "$build" --output-on-failure -j "$jobs" "$@"
