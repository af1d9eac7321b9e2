#!/usr/bin/env bash
# The program starts in a folder with files named like the libraries that it needs.
# Arguments: the executable.
set -euo pipefail
motes=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for library in $(ldd "$motes" | awk '{print $1}' | grep '^lib'); do echo "not a library" >"$library"; done
"$motes" --version
