#!/usr/bin/env python3
"""Pictures from the CSV files of bench/papers_cardinality.sh (needs python3-matplotlib).

    bench/plots/papers_cardinality.py FOLDER [-o PICTURES]

Writes azad_fig1.svg, azad_fig3.svg (with Fig. 4's search rates), azad_fig6.svg, azad_fig7.svg and azad_fig8.svg after
Azad, Buluc & Pothen 2015, for the files that are there. Solvers that were left out leave a gap.
"""
import argparse
import pathlib

from results import rows_of
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


def fig3(rows, path):
    threads = distinct(r["threads"] for r in rows)
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


def fig6(rows, path):
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
    axes.set_xlabel("level, phase after phase")
    axes.set_ylabel("rows in the frontier")
    axes.legend(fontsize=8)
    save(figure, path)


def save(figure, path):
    figure.tight_layout()
    figure.savefig(path, metadata={"Date": None})
    print(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=pathlib.Path)
    parser.add_argument("-o", dest="pictures", type=pathlib.Path)
    arguments = parser.parse_args()
    pictures = arguments.pictures or arguments.folder
    pictures.mkdir(parents=True, exist_ok=True)
    for name, draw in [("fig1", fig1), ("fig3", fig3), ("fig6", fig6), ("fig7", fig7), ("fig8_frontiers", fig8)]:
        path = arguments.folder / f"{name}.csv"
        if path.exists():
            draw(rows_of(path), pictures / f"azad_{name.removesuffix('_frontiers')}.svg")


if __name__ == "__main__":
    main()
