#!/usr/bin/env bash
# The figures of the cardinality paper of Azad, Buluc & Pothen (2015) and Table 1 of Deveci et al. (2013), regenerated on generated graphs of its three classes.
# One CSV file each into FOLDER, every algorithm of a figure in one run; bench/plots/papers_cardinality.py draws them.
#
#   bench/papers_cardinality.sh FOLDER [fig1] [fig3] [fig6] [fig7] [fig8] [table1]      (default: the figures)
#
#   fig1  edges traversed, phases, mean path length of five algorithms on one thread (columns edges_traversed, phases, mean_path_edges)
#   fig3  seconds of ms-bfs-graft, pf and push-relabel on one thread and on THREADS; Fig. 4 is its column mteps, Section V-B's
#         parallel sensitivity its column sensitivity_percent
#   fig6  seconds of each step of ms-bfs-graft (column counters)
#   fig7  ms-bfs, with direction, with grafting: the ablation
#   table1  Table 1 of Deveci, Kaya, Ucar & Catalyurek (2013): geometric means of the eight GPU variants over all graphs, as they
#           are (table1.csv) and permuted (table1_rcp.csv), and the speed-ups over push-relabel on one thread; needs a GPU, and is
#           made only when asked for by name. As in the paper a cheap start is common to all and not timed
#   fig8  rows in the frontier of every level, with and without grafting (file fig8_frontiers.csv)
#
# BENCH: the bench_cardinality to run (default: build/release/bin/bench_cardinality). N: rows of a graph, about (1000000). THREADS
# (all cores), RUNS (10, as the paper has it), LIMIT: seconds for one graph and solver (600); what takes longer is left out, aloud.
# PERMUTE=1 permutes rows and columns. ms-bfs-graft?finish=0 is the paper's, without what finishes the last rows here.
set -euo pipefail
folder=${1:?usage: bench/papers_cardinality.sh FOLDER [fig1] [fig3] [fig6] [fig7] [fig8] [table1]}
shift
parts=("$@")
[ ${#parts[@]} -gt 0 ] || parts=(fig1 fig3 fig6 fig7 fig8)
bench=${BENCH:-build/release/bin/bench_cardinality}
n=${N:-1000000}
threads=${THREADS:-$(nproc)}
runs=${RUNS:-10}
side=$(awk "BEGIN { print int(sqrt($n / 0.9)) }")
scale=$(awk "BEGIN { print int(log($n) / log(2) + 0.5) }")
more=""
[ -z "${PERMUTE:-}" ] || more="&permute=1"
mkdir -p "$folder"

scientific=("gen:delaunay?n=$n$more" "gen:delaunay?n=$((n / 2))&dual=1$more" "gen:rgg?n=$n&degree=15.8$more"
  "gen:grid?nx=$side$more" "gen:hexagonal?nx=$side$more" "gen:gated?n=$n&degree=8$more")
scale_free=("gen:rmat?scale=$scale&edges=16&a=0.45&b=0.15&c=0.15$more" "gen:erdos-renyi?rows=$n&degree=6$more")
networks=("gen:road?n=$n$more" "gen:web?n=$n$more")
all=("${scientific[@]}" "${scale_free[@]}" "${networks[@]}")
one_each=("gen:grid?nx=$side$more" "gen:rmat?scale=$scale&edges=16&a=0.45&b=0.15&c=0.15$more" "gen:web?n=$n$more")

# on FILE INSTANCE SOLVER ARGUMENTS...: appends rows, the header once.
on() {
  local file=$folder/$1.csv instance=$2 solver=$3 header=0
  shift 3
  [ -s "$file" ] || header=1
  timeout "${LIMIT:-600}" "$bench" --header $header --instance "$instance" --solver "$solver" "$@" >>"$file" ||
    echo "$instance, $solver: left out (exit $?)" >&2
}

# means FILE: the geometric mean of the median seconds of each solver, over the graphs that all of them did.
means() {
  awk -F, 'NR > 1 { seen[$1]++; time[$1, $2] = $13; solvers[$2] = 1; if (!($2 in at)) { at[$2] = ++n; name[n] = $2 } }
    END {
      for (g in seen) if (seen[g] == n) { graphs++; for (s in solvers) sum[s] += log(time[g, s]) }
      for (k = 1; k <= n; ++k) if (graphs) printf "%s,%.6f,%d\n", name[k], exp(sum[name[k]] / graphs), graphs
    }' "$1"
}

for part in "${parts[@]}"; do
  rm -f "$folder/$part.csv"
  case $part in
    fig1)
      for i in "${one_each[@]}"; do
        for s in ss-dfs ss-bfs pf ms-bfs hk; do on fig1 "$i" $s --threads 1 --repeats 1; done
      done ;;
    fig3)
      for i in "${all[@]}"; do
        for s in ms-bfs-graft 'ms-bfs-graft?finish=0' pf push-relabel; do
          on fig3 "$i" "$s" --threads "1,$threads" --repeats "$runs"
        done
      done ;;
    fig6)
      for i in "${all[@]}"; do on fig6 "$i" 'ms-bfs-graft?finish=0' --threads "$threads" --repeats "$runs"; done ;;
    fig7)
      for i in "${all[@]}"; do
        for s in 'ms-bfs?direction=0' 'ms-bfs?direction=1' 'ms-bfs-graft?direction=0&finish=0' 'ms-bfs-graft?finish=0' ms-bfs-graft; do
          on fig7 "$i" "$s" --threads "$threads" --repeats "$runs"
        done
      done ;;
    fig8)
      for s in ms-bfs 'ms-bfs-graft?finish=0'; do
        on fig8 "gen:rmat?scale=$scale&edges=28&a=0.45&b=0.15&c=0.15$more" "$s" --threads "$threads" --repeats 1 --frontiers 1
      done
      { echo "instance,solver,phase,level,rows"; sed -n 's/^#frontier,//p' "$folder/fig8.csv"; } >"$folder/fig8_frontiers.csv"
      sed -i '/^#frontier,/d' "$folder/fig8.csv" ;;
    table1)
      rm -f "$folder/table1_rcp.csv"
      for set in table1 table1_rcp; do
        for i in "${all[@]}"; do
          [ $set = table1 ] || case $i in *permute=1*) ;; *) i="$i&permute=1" ;; esac
          for s in apfb apsb; do for k in bfs bfs-wr; do for t in mt ct; do
            on $set "$i" "$s?kernel=$k&threads=$t&start=none" --init cheap --backend cuda --space device --repeats "$runs"
          done; done; done
          on $set "$i" push-relabel --init cheap --threads 1 --repeats 1
        done
        { echo "solver,geometric_mean_s,graphs"; means "$folder/$set.csv"; } >"$folder/${set}_means.csv"
      done ;;
    *) echo "no part '$part'" >&2; exit 2 ;;
  esac
done
