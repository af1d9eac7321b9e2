#!/usr/bin/env bash
# Collects executables and the shared libraries that they need in bundle/ (ignored by git), stripped, to run on
# another Linux machine with the same or a newer C library and GPU driver.
#
#   scripts/bundle.sh [EXECUTABLE ...]     (default: all executables of the preset)
#
# On the other machine: bundle/run NAME ARGUMENTS
source "$(dirname "$0")/common.sh"
names=("$@")
[ ${#names[@]} -gt 0 ] || readarray -t names < <(cd "$build/bin" && find . -maxdepth 1 -type f -executable -printf '%P\n')
rm -rf bundle
mkdir -p bundle/bin bundle/lib
# The C and C++ run-time libraries and the driver are those of the other machine.
theirs='/(ld-linux|libc|libm|libdl|librt|libpthread|libstdc\+\+|libgcc_s|libgomp|libcuda)[.-]'
for name in "${names[@]}"; do
  cp "$build/bin/$name" bundle/bin/
  ldd "$build/bin/$name" | awk '$3 ~ /^\// {print $3}' | grep -vE "$theirs" | xargs -r -I{} cp -Lu {} bundle/lib/ || true
done
strip --strip-unneeded bundle/bin/* bundle/lib/* 2>/dev/null || true
cat >bundle/run <<'EOT'
#!/bin/sh
here=$(cd "$(dirname "$0")" && pwd)
name=$1
shift
LD_LIBRARY_PATH="$here/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}" exec "$here/bin/$name" "$@"
EOT
chmod +x bundle/run
du -sh bundle
