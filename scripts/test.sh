#!/usr/bin/env bash
# Installs what is missing, builds everything and passes the tests. Arguments go to ctest, for instance -R io.
source "$(dirname "$0")/common.sh"
install_missing
build_targets all
ctest --test-dir "$build" --output-on-failure -j "$jobs" "$@"
