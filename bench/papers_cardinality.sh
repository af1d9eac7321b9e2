#!/usr/bin/env bash
# Regenerates the figures of the cardinality paper of Azad, Buluc & Pothen (2015) and Table 1 of Deveci et al.
# (2013), on generated graphs of the three classes. Writes CSV files into FOLDER; bench/plots/papers_cardinality.py
# draws them.
#
#   bench/papers_cardinality.sh FOLDER [fig1] [sweep] [fig8] [table1]      (default: all except table1, which needs a GPU)
#
#   fig1    edges traversed, phases and mean path length of five algorithms on one thread (columns edges_traversed,
#           phases, mean_path_edges)
#   sweep   seconds of ms-bfs-graft, the form in its paper (finish=0), pf and push-relabel for every number of THREADS,
#           and an ablation (ms-bfs, with direction, with grafting) with all threads: Figs 3, 5, 6, 7; the column mteps
#           is Fig. 4, the column sensitivity_percent the parallel sensitivity of Section V-B
#   fig8    rows in the frontier of every level, with and without grafting (file fig8_frontiers.csv)
#   table1  Table 1 of Deveci, Kaya, Ucar & Catalyurek (2013), with its profiles: the eight GPU variants, and CPU
#           solvers on 1 and 8 threads, from the same cheap start, which is not timed, on all graphs as they are
#           (table1.csv) and permuted (table1_rcp.csv); geometric means in table1_means.csv
#
# Environment: BENCH (path of bench_cardinality, default build/release/bin/bench_cardinality), N (approximate rows of
# a graph, 1000000), N1 (the same for fig1, default N), THREADS ("all cores,...,2,1"), RUNS (10, as in the paper),
# LIMIT (60: a solver that takes more seconds is not run again on that graph), ENOUGH (seconds after which a solver
# is not repeated; 0: no limit), TIMEOUT (600 s for one graph and part: the running solver is then skipped on that
# graph, with a message, and the others continue), ONLY (a pattern of the graphs to run, default all), VERIFY=0 (no
# certificates), PERMUTE=1 (permutes rows and columns). On gated graphs the forms in the papers (finish=0, ms-bfs)
# and pf search most of the graph dozens of times, so sweep uses gated graphs of N / 10 rows.
set -euo pipefail
folder=${1:?usage: bench/papers_cardinality.sh FOLDER [fig1] [sweep] [fig8] [table1]}
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(fig1 sweep fig8)
bench=${BENCH:-build/release/bin/bench_cardinality}
rows=${N:-1000000}
most=$(nproc)
counts=$most
while [ "$most" -gt 1 ]; do most=$((most / 2)); counts=$counts,$most; done
threads=${THREADS:-$counts}
most=${threads%%,*}
runs=${RUNS:-10}
limit=${LIMIT:-60}
mkdir -p "$folder"

# Sets all and one_each to the graphs with about $1 rows.
graphs() {
  local n=$1 more="" side scale
  [ -z "${PERMUTE:-}" ] || more="&permute=1"
  side=$(awk "BEGIN { print int(sqrt($n / 0.9)) }")
  scale=$(awk "BEGIN { print int(log($n) / log(2) + 0.5) }")
  gated="gen:gated?n=$((n / 10))&degree=8$more"
  large_gated="gen:gated?n=$n&degree=8$more"
  rmat="gen:rmat?scale=$scale&edges=16&a=0.45&b=0.15&c=0.15$more"
  dense_rmat="gen:rmat?scale=$scale&edges=28&a=0.45&b=0.15&c=0.15$more"
  meshes=("gen:delaunay?n=$n$more" "gen:delaunay?n=$((n / 2))&dual=1$more" "gen:rgg?n=$n&degree=15.8$more" "gen:grid?nx=$side$more" "gen:hexagonal?nx=$side$more")
  others=("$rmat" "gen:erdos-renyi?rows=$n&degree=6$more" "gen:road?n=$n$more" "gen:web?n=$n$more")
  one_each=("gen:grid?nx=$side$more" "$rmat" "gen:web?n=$n$more")
}

# do_graph GRAPH: whether ONLY selects it.
do_graph() { [[ $1 =~ ${ONLY:-.} ]]; }

# on FILE GRAPH SOLVERS THREADS REPEATS [CPU SOLVERS] [ARGUMENTS...]: appends rows, with a header the first time.
# # If a run is stopped, its rows tell the solver at work: each solver has a row per number of threads (with CPU
# # SOLVERS the others run on the GPU and have one row each), or fewer if the last one passed the limit. The solvers
# # after it get another run.
on() {
  local file=$folder/$1.csv graph=$2 header k code each
  local solvers=() gpu cpu counts repeats=$5
  read -ra solvers <<<"$3"
  read -ra cpu <<<"${6:-}"
  IFS=, read -ra counts <<<"$4"
  shift $(($# < 6 ? $# : 6))
  gpu=${#solvers[@]}
  [ ${#cpu[@]} -gt 0 ] || gpu=0
  solvers+=(${cpu[@]+"${cpu[@]}"})
  while [ ${#solvers[@]} -gt 0 ]; do
    header=0
    [ -s "$file" ] || header=1
    local asked=(--solver "${solvers[*]:0:gpu}" --cpu-solver "${solvers[*]:gpu}" --backend cuda --space device)
    [ ${#cpu[@]} -gt 0 ] || asked=(--solver "${solvers[*]}")
    code=0
    timeout "${TIMEOUT:-600}" "$bench" --header $header --verify "${VERIFY:-1}" --same-start 1 --limit "$limit" --enough "${ENOUGH:-0}" --instance "$graph" --threads "$(IFS=,; echo "${counts[*]}")" \
      --repeats "$repeats" "${asked[@]}" "$@" >>"$file" || code=$?
    [ $code -eq 124 ] || { [ $code -eq 0 ] || echo "$graph: ${solvers[*]}: exit $code" >&2; return 0; }
    for ((k = 0; k < ${#solvers[@]}; ++k)); do
      each=${#counts[@]}
      [ $k -ge $gpu ] || each=1
      awk -F, -v g="$graph" -v s="${solvers[k]}" -v each="$each" -v limit="$limit" '$1 == g && $2 == s { n++; last = $13 } END { exit !(n >= each || last > limit) }' "$file" || break
    done
    echo "$graph: ${solvers[k]:-certificates}: skipped, no answer in ${TIMEOUT:-600} s" >&2
    solvers=("${solvers[@]:k + 1}")
    gpu=$((gpu > k + 1 ? gpu - k - 1 : 0))
  done
}

# means FILE NAME: the geometric mean of the median seconds of each solver, back end and number of threads, over the
# # graphs that all of them solved.
means() {
  awk -F, -v set="$2" 'NR > 1 { id = $2 "," $NF "," $4; seen[$1]++; time[$1, id] = $13; if (!(id in at)) { at[id] = ++n; name[n] = id } }
    END {
      for (g in seen) if (seen[g] == n) { graphs++; for (k = 1; k <= n; ++k) sum[k] += log(time[g, name[k]]) }
      for (k = 1; k <= n; ++k) if (graphs) printf "%s,%s,%.6f,%d\n", set, name[k], exp(sum[k] / graphs), graphs
    }' "$1"
}

for part in "${parts[@]}"; do
  graphs "$rows"
  rm -f "$folder/$part.csv"
  case $part in
    fig1)
      graphs "${N1:-$rows}"
      for i in "${one_each[@]}"; do
        ! do_graph "$i" || on fig1 "$i" 'ss-dfs ss-bfs pf ms-bfs hk' 1 1
      done ;;
    sweep)
      for i in "${meshes[@]}" "$gated" "${others[@]}"; do
        do_graph "$i" || continue
        on sweep "$i" 'ms-bfs-graft push-relabel pf ms-bfs-graft?finish=0' "$threads" "$runs"
        on sweep "$i" 'ms-bfs?direction=0 ms-bfs?direction=1 ms-bfs-graft?direction=0&finish=0' "$most" "$runs"
      done ;;
    fig8)
      on fig8 "$dense_rmat" 'ms-bfs ms-bfs-graft?finish=0' "$most" 1 '' --frontiers 1
      { echo "instance,solver,phase,level,rows"; sed -n 's/^#frontier,//p' "$folder/fig8.csv"; } >"$folder/fig8_frontiers.csv"
      sed -i '/^#frontier,/d' "$folder/fig8.csv" ;;
    table1)
      variants=""
      for s in apfb apsb; do for k in bfs bfs-wr; do for t in mt ct; do variants="$variants $s?kernel=$k&threads=$t&start=none"; done; done; done
      rm -f "$folder/table1_rcp.csv"
      for set in table1 table1_rcp; do
        for i in "${meshes[@]}" "$large_gated" "${others[@]}"; do
          do_graph "$i" || continue
          [ $set = table1 ] || case $i in *permute=1*) ;; *) i="$i&permute=1" ;; esac
          on $set "$i" "$variants" 8,1 "$runs" 'hk p-dbfs' --init cheap
        done
      done
      { echo "set,solver,backend,threads,geometric_mean_s,graphs"; means "$folder/table1.csv" original; means "$folder/table1_rcp.csv" permuted; } >"$folder/table1_means.csv" ;;
    *) echo "no part '$part'" >&2; exit 2 ;;
  esac
done
