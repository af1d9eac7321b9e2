#!/usr/bin/env bash
# Checks the links of all Markdown files: the file that a relative link names must exist, and so must
# the heading after '#'. With --sources also the pages docs/*.md that sources, scripts, configurations
# and benchmark results mention, and the source files that comments mention. Prints every broken link;
# exit 1 if there is one.
set -uo pipefail
cd "$(dirname "$0")/.."
bad=0
report() {
  echo "$1"
  bad=1
}

# The Markdown files, without those of builds and package managers.
markdown() { find . -name '*.md' -not -path './build*' -not -path './.*' -not -path './out/*' | sort; }
# A file's text without fenced code.
prose() { awk '/^[[:space:]]*```/ { fenced = !fenced; print ""; next } { print fenced ? "" : $0 }' "$1"; }
# The anchors of a file's headings, one per line, as on GitHub.
anchors() {
  prose "$1" | grep -E '^#{1,6} ' | sed -E 's/^#+ +//; s/ +#*$//' | tr '[:upper:]' '[:lower:]' |
    sed -E 's/[^[:alnum:]_ -]//g; s/ /-/g'
}

while read -r page; do
  while IFS=: read -r line link; do
    [ -z "$link" ] && continue
    target=${link#']('}
    target=${target%')'}
    case $target in
      http://* | https://* | mailto:*) continue ;;
      /*) report "$page:$line: $target is absolute; make it relative" && continue ;;
    esac
    path=${target%%#*}
    file=$page
    [ -n "$path" ] && file=$(dirname "$page")/$path
    if [ ! -e "$file" ]; then
      report "$page:$line: $target does not exist"
    elif [ "$target" != "$path" ] && ! anchors "$file" | grep -qxF -- "${target#*#}"; then
      report "$page:$line: $file has no heading '${target#*#}'"
    fi
  done < <(prose "$page" | grep -noE '\]\([^)[:space:]]+\)')
done < <(markdown)

if [ "${1:-}" = --sources ]; then
  while IFS=: read -r file line mention; do
    [ -e "$mention" ] || report "$file:$line: $mention does not exist"
  done < <(grep -rnoE '\bdocs/[a-z_/-]+\.md' app base matching tracking io sim tests bench configs scripts cmake)
  # Source files that comments mention, by name or by the end of their path.
  folders=(app base matching tracking io sim python tests bench examples)
  known=$(find "${folders[@]}" scripts docs -type f)
  while IFS=: read -r file line mention; do
    grep -qE "(^|/)${mention//./\\.}$" <<< "$known" || report "$file:$line: $mention does not exist"
  done < <(find "${folders[@]}" -name '*.h' -o -name '*.cpp' -o -name '*.cu' -o -name '*.cuh' | sort | xargs awk '
    { rest = (i = index($0, "// ")) ? substr($0, i) : "" }
    { while (match(rest, /[A-Za-z0-9_\/]+\.(h|cuh|cpp|cu|py|sh)/)) {
        name = substr(rest, RSTART, RLENGTH)
        rest = substr(rest, RSTART + RLENGTH)
        if (rest !~ /^[A-Za-z0-9_]/) print FILENAME ":" FNR ":" name
      } }')
fi
exit $bad
