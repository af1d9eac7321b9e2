#!/usr/bin/env bash
# Installs what is missing, builds everything and passes the tests. Arguments go to ctest, for instance -R io.
# The Python package is built and tested with the rest where Python 3.10 and its packages are to be had.
source "$(dirname "$0")/common.sh"
source "$root/scripts/python_env.sh"
install_missing
python_env
if [ -n "$python_bin" ]; then
  MOTES_CMAKE_ARGS="-DMOTES_PYTHON=ON -DPython_EXECUTABLE=$python_bin ${MOTES_CMAKE_ARGS:-}"
fi
build_targets all
# Two tests at a time share the cores: threads that wait for work must not spin.
export GOMP_SPINCOUNT="${GOMP_SPINCOUNT:-1000}"
ctest --test-dir "$build" --output-on-failure -j "$jobs" "$@"
