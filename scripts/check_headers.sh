#!/usr/bin/env bash
# Compiles every public header alone and twice, without nvcc. First argument: the compiler (default c++).
# CUDA headers (.cuh) are compiled by nvcc with the sources that use them.
set -uo pipefail
cd "$(dirname "$0")/.."
compiler=${1:-c++}
folders=(base matching tracking io sim)
check_one() {
  local includes=()
  for folder in base matching tracking io sim; do includes+=(-I"$folder/include"); done
  local name=$2
  case $name in
    */include/*) name="<${name#*/include/}>" ;;
    *) name="\"$name\"" ;;
  esac
  printf '#include %s\n#include %s\n' "$name" "$name" |
    "$1" -std=c++20 -fsyntax-only -fopenmp -Wall -Wextra -Werror "${includes[@]}" -I. -x c++ - ||
    { echo "not self-contained: $2"; return 1; }
}
export -f check_one
{ for folder in "${folders[@]}"; do find "$folder/include" -name '*.h'; done; find app -name '*.h'; } | sort |
  xargs -P "$(nproc)" -I{} bash -c 'check_one "$0" {}' "$compiler"
