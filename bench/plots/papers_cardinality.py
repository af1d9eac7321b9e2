#!/usr/bin/env python3
"""Pictures from the CSV files of bench/papers_cardinality.sh (needs python3-matplotlib).

    bench/plots/papers_cardinality.py FOLDER [-o PICTURES]

Writes, for the files that exist, azad_fig1.svg, azad_fig3.svg (with the search rates of Fig. 4), azad_fig5.svg to
azad_fig8.svg after Azad, Buluc & Pothen 2015, and deveci_original.svg and deveci_permuted.svg, the profiles of
Deveci, Kaya, Ucar & Catalyurek 2013. Prints the averages in the first paper's text. Skipped solvers leave a gap.
"""
import math

from results import folders, rows_of, save
from matplotlib import pyplot as plt  # after results, which chooses the drawing back end


def short(instance):
    name, _, parameters = instance.removeprefix("gen:").partition("?")
    return name + (" dual" if "dual=1" in parameters else "")


def distinct(values):
    return list(dict.fromkeys(values))


def bars(axes, rows, value, title, log=False):
    """One group of bars for each graph, one bar for each solver."""
    graphs, solvers = distinct(r["instance"] for r in rows), distinct(r["solver"] for r in rows)
    found = {(r["instance"], r["solver"]): value(r) for r in rows}
    width = 0.8 / len(solvers)
    for k, solver in enumerate(solvers):
        heights = [found.get((g, solver), 0) for g in graphs]
        axes.bar([x + (k - (len(solvers) - 1) / 2) * width for x in range(len(graphs))], heights, width, label=solver)
    axes.set_xticks(range(len(graphs)), [short(g) for g in graphs], rotation=30, ha="right", fontsize=8)
    axes.set_title(title, fontsize=10)
    if log:
        axes.set_yscale("log")


def fig1(rows, path):
    figure, panels = plt.subplots(1, 3, figsize=(13, 4))
    for axes, (column, title) in zip(panels, [("edges_traversed", "edges traversed"), ("phases", "phases"),
                                              ("mean_path_edges", "mean augmenting path, edges")]):
        bars(axes, rows, lambda r: float(r[column]), title, log=True)
    panels[0].legend(fontsize=8)
    save(figure, path)


PAPER = ["ms-bfs-graft?finish=0", "ms-bfs-graft", "push-relabel", "pf"]
CLASSES = {"scientific": ["delaunay", "rgg", "grid", "hexagonal", "gated"], "scale-free": ["rmat", "erdos-renyi"],
           "networks": ["road", "web"]}


def most_threads(rows):
    return max((r["threads"] for r in rows), key=int)


def fig3(rows, path):
    rows = [r for r in rows if r["solver"] in PAPER]
    threads = ["1", most_threads(rows)]
    figure, panels = plt.subplots(2, len(threads), figsize=(7 * len(threads), 8), squeeze=False)
    for column, count in enumerate(threads):
        mine = [r for r in rows if r["threads"] == count]
        slowest = {}
        for r in mine:
            slowest[r["instance"]] = max(slowest.get(r["instance"], 0), float(r["solve_median_s"]))
        title = f"{count} thread" + ("s" if count != "1" else "")
        bars(panels[0][column], mine, lambda r: slowest[r["instance"]] / float(r["solve_median_s"]),
             f"speed against the slowest, {title}", log=True)
        bars(panels[1][column], mine, lambda r: float(r["mteps"]), f"MTEPS, {title}", log=True)
    panels[0][0].legend(fontsize=8)
    save(figure, path)


def fig5(rows, path):
    """Mean speed-up of each class of graphs over one thread."""
    figure, panels = plt.subplots(1, 2, figsize=(11, 4), sharey=True)
    for axes, solver in zip(panels, PAPER[:2]):
        seconds = {(r["instance"], int(r["threads"])): float(r["solve_median_s"]) for r in rows if r["solver"] == solver}
        counts = sorted({count for _, count in seconds})
        for name, families in CLASSES.items():
            graphs = [g for g, count in seconds if count == 1 and short(g).split()[0] in families]
            means = [[seconds[g, 1] / seconds[g, c] for g in graphs if (g, c) in seconds] for c in counts]
            axes.plot(counts, [sum(m) / max(len(m), 1) for m in means], marker="o", label=name)
        axes.plot(counts, counts, color="0.8", zorder=0)
        axes.set_xscale("log", base=2)
        axes.set_yscale("log", base=2)
        axes.set_xlabel("threads")
        axes.set_title(f"{solver}: speed against one thread", fontsize=10)
    panels[0].legend(fontsize=8)
    save(figure, path)


def fig6(rows, path):
    rows = [r for r in rows if r["solver"] == PAPER[0] and r["threads"] == most_threads(rows)]
    steps = [dict(item.split("=") for item in r["counters"].split()) for r in rows]
    names = [n for n in distinct(name for s in steps for name in s)
             if n not in ("pushes", "relabels", "global_relabels", "levels")]
    figure, axes = plt.subplots(figsize=(9, 5))
    below = [0.0] * len(rows)
    for name in names:
        shares = [float(s.get(name, 0)) / max(sum(float(s.get(n, 0)) for n in names), 1e-12) for s in steps]
        axes.bar(range(len(rows)), shares, bottom=below, label=name)
        below = [a + b for a, b in zip(below, shares)]
    axes.set_xticks(range(len(rows)), [short(r["instance"]) for r in rows], rotation=30, ha="right", fontsize=8)
    axes.set_ylabel("share of the time")
    axes.legend(fontsize=8)
    save(figure, path)


def fig7(rows, path):
    rows = [r for r in rows if "bfs" in r["solver"] and r["threads"] == most_threads(rows)]
    plain = {r["instance"]: float(r["solve_median_s"]) for r in rows if r["solver"] == "ms-bfs?direction=0"}
    figure, axes = plt.subplots(figsize=(11, 5))
    bars(axes, [r for r in rows if r["instance"] in plain],
         lambda r: plain[r["instance"]] / float(r["solve_median_s"]), "speed against ms-bfs?direction=0", log=True)
    axes.legend(fontsize=8)
    save(figure, path)


def fig8(rows, path):
    figure, axes = plt.subplots(figsize=(8, 5))
    for solver in distinct(r["solver"] for r in rows):
        mine = [r for r in rows if r["solver"] == solver]
        axes.plot(range(len(mine)), [int(r["rows"]) for r in mine], marker=".", label=solver)
        for x, r in enumerate(mine):
            if r["level"] == "0":
                axes.axvline(x, color="0.9", zorder=0)
    axes.set_yscale("symlog")
    axes.set_ylim(bottom=0)
    axes.set_xlabel("level, phase after phase")
    axes.set_ylabel("rows in the frontier")
    axes.legend(fontsize=8)
    save(figure, path)


def profiles(rows, path):
    """Deveci's Figs 3 and 4: profiles of the best GPU variant and the CPU solvers over the graphs."""
    figure, panels = plt.subplots(1, 2, figsize=(12, 4.5))
    seconds = {}
    for r in rows:
        name = r["solver"] if r["backend"] == "cuda" else f"{r['solver']}, {r['threads']} t"
        if r["backend"] == "cpu" or "bfs-wr&threads=ct" in name:
            seconds.setdefault(name.replace("?kernel=bfs-wr&threads=ct&start=none", ", GPU"), {})[r["instance"]] = float(
                r["solve_median_s"])
    graphs = distinct(r["instance"] for r in rows)
    alone = [name for name in seconds if name.endswith(", 1 t")]
    for name, mine in seconds.items():
        if name not in alone:
            ups = sorted(min(seconds[a].get(g, float("inf")) for a in alone) / mine[g] for g in graphs if g in mine)
            panels[0].step(ups, [1 - k / len(graphs) for k in range(len(ups))], where="pre", label=name)
        worse = sorted(mine[g] / min(s[g] for s in seconds.values() if g in s) for g in graphs if g in mine)
        panels[1].step(worse, [(k + 1) / len(graphs) for k in range(len(worse))], where="post", label=name)
    for axes, title in zip(panels, ["share of graphs with at least this speed-up over the fastest on one thread",
                                    "share of graphs solved in at most this multiple of the best time"]):
        axes.set_xscale("log", base=2)
        axes.set_ylim(0, 1.05)
        axes.set_title(title, fontsize=9)
        axes.legend(fontsize=8)
    save(figure, path)


def mean(values):
    values = list(values)
    return sum(values) / len(values) if values else float("nan")


def geometric(values):
    return math.exp(mean(math.log(v) for v in values))


def summary(rows):
    """The averages in the paper's text about its Figs 3 to 7."""
    seconds = {(r["solver"], int(r["threads"]), r["instance"]): float(r["solve_median_s"]) for r in rows}
    of = {(r["solver"], int(r["threads"]), r["instance"]): r for r in rows}
    most, graphs = int(most_threads(rows)), distinct(r["instance"] for r in rows)
    graft = PAPER[0]

    def ratios(other, threads, solver=graft):
        return [seconds[other, threads, g] / seconds[solver, threads, g] for g in graphs
                if (other, threads, g) in seconds and (solver, threads, g) in seconds]

    for threads in (1, most):
        for other in ("push-relabel", "pf"):
            each = ratios(other, threads)
            print(f"{graft} against {other}, {threads} threads: {mean(each):.2f} times as fast "
                  f"(geometric mean {geometric(each):.2f}, {len(each)} graphs)")
    for solver in PAPER:
        spread = [float(of[k]["sensitivity_percent"]) for k in of if k[:2] == (solver, most) and int(of[k]["repeats"]) > 2]
        rate = [float(of[solver, most, g]["mteps"]) for g in graphs if (solver, most, g) in of]
        scaling = [seconds[solver, 1, g] / seconds[solver, most, g] for g in graphs
                   if (solver, 1, g) in seconds and (solver, most, g) in seconds]
        print(f"{solver}, {most} threads: sensitivity {mean(spread):.0f} %, {mean(rate):.0f} MTEPS, "
              f"{mean(scaling):.1f} times one thread's speed ({len(scaling)} graphs)")
    print(f"direction: {geometric(ratios('ms-bfs?direction=0', most, 'ms-bfs?direction=1')):.2f} times, grafting another "
          f"{geometric(ratios('ms-bfs?direction=1', most)):.2f} (geometric means, {most} threads)")


def main():
    folder, pictures = folders(__doc__)
    for name, picture, draw in [("fig1", "azad_fig1", fig1), ("sweep", "azad_fig3", fig3), ("sweep", "azad_fig5", fig5),
                                ("sweep", "azad_fig6", fig6), ("sweep", "azad_fig7", fig7),
                                ("fig8_frontiers", "azad_fig8", fig8), ("table1", "deveci_original", profiles),
                                ("table1_rcp", "deveci_permuted", profiles)]:
        path = folder / f"{name}.csv"
        if path.exists():
            draw(rows_of(path), pictures / f"{picture}.svg")
    if (folder / "sweep.csv").exists():
        summary(rows_of(folder / "sweep.csv"))


if __name__ == "__main__":
    main()
