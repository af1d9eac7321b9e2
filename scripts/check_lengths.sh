#!/usr/bin/env bash
# Checks that no function is longer than 80 lines and no source file longer than 500. Prints every one that
# is; exit 1 if there is one. Functions are found by clang-format's layout: a body ends with a brace at the
# indentation of its first line.
set -uo pipefail
cd "$(dirname "$0")/.."

find app base bench examples io matching python sim tests tracking -type f \
  '(' -name '*.cpp' -o -name '*.h' -o -name '*.cu' -o -name '*.cuh' -o -name '*.py' ')' \
  -print0 | sort -z | xargs -0 awk -v most_lines=500 -v longest=80 '
  function indent(line) { match(line, /^ */); return RLENGTH }
  function close_file() {
    if (file != "" && lines > most_lines) {
      printf "%s: %d lines, more than %d\n", file, lines, most_lines
      bad = 1
    }
  }
  FNR == 1 { close_file(); file = FILENAME; inside = 0; head = 0 }
  { lines = FNR }
  file ~ /\.py$/ { next }
  inside {
    if (indent($0) == depth && $0 ~ /^ *}/) {
      if (FNR - start + 1 > longest) {
        printf "%s:%d: a function of %d lines, more than %d\n", file, start, FNR - start + 1, longest
        bad = 1
      }
      inside = 0
      head = 0
    }
    next
  }
  /^ *$/ || /^ *\/\// || /^ *#/ { head = 0; next }
  { if (!head) { head = FNR; text = ""; first_indent = indent($0) } text = text $0 " " }
  /\{ *$/ {
    sub(/^ */, "", text)
    named = text ~ /^(template <[^(]*> )?(inline )?(namespace|struct|class|enum|union|extern)[ {]/
    if (!named && text ~ /\(/ && text !~ /^(if|for|while|else|switch|do|return|case|default|try|})/) {
      depth = first_indent
      start = head
      inside = 1
    }
    head = 0
    next
  }
  /[;}:] *$/ { head = 0 }
  END { close_file(); exit bad }
'
