#!/usr/bin/env bash
# Compiles every public header alone and twice, without nvcc. First argument: the compiler (default c++).
set -uo pipefail
cd "$(dirname "$0")/.."
compiler=${1:-c++}
check_one() {
  printf '#include "%s"\n#include "%s"\n' "$2" "$2" |
    "$1" -std=c++20 -fsyntax-only -fopenmp -Wall -Wextra -Werror -I. -x c++ - || { echo "not self-contained: $2"; return 1; }
}
export -f check_one
find app tracking matching io sim -name '*.h' -not -path '*/detail/*' | sort |
  xargs -P "$(nproc)" -I{} bash -c 'check_one "$0" {}' "$compiler"
