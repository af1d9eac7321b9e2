#!/usr/bin/env python3
"""Plants faults in solvers, verifiers, readers and the linker, one at a time, and expects the tests to fail.

    scripts/mutation_check.py [BUILD]      BUILD: a configured build folder (default build/release)
    scripts/mutation_check.py --stale      only checks that every fault still has its place in the sources

Each fault is one replacement in one source file; the test executable beside it is built and the named test cases
run. A fault that no test sees is reported, and the exit code is 1. Sources are restored afterwards. Sources with
changes that are not committed are refused.
"""

import argparse
import pathlib
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent

# file, original text, planted fault, test executable, test cases
FAULTS = [
    ("matching/pair_faults.h", "if (u + matching.duals.v[at(first_col + j)] > c)",
     "if (u + matching.duals.v[at(first_col + j)] > c + 1)", "test_matching", "*verifier*"),
    ("matching/verify.cpp", "(*mates)[at(k)] == -1 && dual[at(k)] != limit", "(*mates)[at(k)] == -1 && dual[at(k)] > limit",
     "test_matching", "*verifier*"),
    ("matching/cardinality/koenig.cpp", "if (marked[at(k)] != 0)", "if (false && marked[at(k)] != 0)", "test_matching",
     "*cover*"),
    ("matching/greedy/verify_greedy.cpp", "> held_[at(i)] &&", "> held_[at(i)] + (Word{1} << 40) &&", "test_matching",
     "*greedy*"),
    ("matching/assignment/sparse/sparse_augmenting_paths.cpp", "base + exit < end_distance_", "base + exit < end_distance_ - 1",
     "test_matching", "every solver agrees with brute force*"),
    ("matching/papers/hopcroft_karp.cpp", "mate == -1 ? level == last_ :", "mate == -1 ? level + 1 == last_ :", "test_matching",
     "*cardinality solver agrees*"),
    ("tracking/candidates/link_cost.h", "if (squared <= kGateSteps * kGateSteps", "if (squared < kGateSteps * kGateSteps",
     "test_tracking", "*candidate*,*link*"),
    ("tracking/link/tracks.cpp", "if (!has_previous[first(f) + d]) {", "if (f < 2 || !has_previous[first(f) + d]) {",
     "test_tracking", "*link*,*track*"),
    ("io/images/tiff/file.cpp", "if (directories.big_endian && bits_of", "if (!directories.big_endian && bits_of", "test_io", "*"),
    ("io/tracks/checkpoint.cpp", "record_checksum(run, body) != checksum ||", "record_checksum(run, body) == 0 * checksum ||",
     "test_io", "*checkpoint*"),
    ("io/images/units.cpp", 'Unit{"nm", 1e-3}', 'Unit{"nm", 1e-2}', "test_io", "*"),
    ("tracking/score/link_score.cpp", "return to == from + 1 ? Verdict::true_link", "return to > from ? Verdict::true_link",
     "test_tracking", "*score*,*link*"),
    ("tracking/types/gate.cpp", "gate.um >= kLeastGate && gate.um <= kMostGate", "gate.um <= kMostGate", "test_tracking",
     "Gates that are not lengths*"),
    ("matching/assignment/dense/dense_augmenting_paths.cpp", "const Integers nearer = distance < before;",
     "const Integers nearer = distance + 1 < before;", "test_matching", "every solver agrees with brute force*"),
    ("tracking/detect/maxima/maxima.cpp", "(v.z * shape.ny + v.y) * shape.nx + v.x",
     "(v.z * shape.nx + v.y) * shape.ny + v.x", "test_tracking", "a mask leaves out*"),
    ("tracking/detect/fit/refine_rules.h", "fit.slope[a] += 0.5 * d[a] * others;", "fit.slope[a] += 0.45 * d[a] * others;",
     "test_tracking", "one spot is found to .05 voxel*"),
    ("tracking/detect/fit/fit_result_rules.h", "std::sqrt(s.variance[a]) * s.error_factor[a]",
     "s.variance[a] * s.error_factor[a]", "test_tracking", "*isolated spots reach*"),
    ("tracking/link/series/link_jumps.cpp", "<= gate.um * lag;", "<= gate.um * (lag > 0 ? 1 : 2);", "test_tracking",
     "a given gate grows*"),
    ("tracking/link/confidence/confidence_steps.cpp", "links.gap_links -= links.points.slot[at(next)] - links.points.slot[i] > 1;",
     "links.gap_links -= 0;", "test_tracking", "a link that is cut*"),
    ("tracking/score/challenge_score.cpp", "std::upper_bound(begin, end, within.last)",
     "std::lower_bound(begin, end, within.last)", "test_tracking", "*score*"),
    ("io/zarr/array.cpp", "const std::int64_t low = std::max(a.start[i], b.start[i]);",
     "const std::int64_t low = a.start[i];", "test_io", "*arr*"),
    ("io/tracks/lineages/ctc_write.cpp", "tracks.frame[from.end - 1] < tracks.frame[pieces[piece->second].begin]",
     "tracks.frame[from.end - 1] <= tracks.frame[pieces[piece->second].begin]", "test_io", "CTC*"),
    ("io/tracks/vtk/tracks.cpp", "duration.push_back(tracks.time_s[end - 1] - tracks.time_s[first]);",
     "duration.push_back(static_cast<double>(end - 1 - first));", "test_io", "tracks.vtp*"),
    ("io/tracks/lineages/track_graph.cpp", "links.edges.emplace_back(end_of(from) - 1, first_of(to));",
     "links.edges.emplace_back(first_of(to), end_of(from) - 1);",
     "test_io", "links of written graphs*"),
    ("io/tracks/xml/trackmate_xml.cpp", 'attribute("VISIBILITY").value()).value_or(1) <= 0',
     'attribute("VISIBILITY").value()).value_or(1) < 0', "test_io", "spots that TrackMate's filters hide*"),
    ("tracking/link/events/division_chance.cpp", "count - chance > (sure ? kCountsIfSure : kCounts) * std::sqrt(count + chance)", "kCountsIfSure < kCounts", "test_tracking",
     "divisions are significant if*"),
    ("app/commands/merge.cpp", "if (part.range().first < before.range().end)", "if (part.range().first < before.range().end - 1)",
     "test_app", "merge refuses parts*"),
]


def run(*command, **options):
    return subprocess.run(command, cwd=ROOT, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, **options).returncode


def stale():
    """The faults whose original text does not occur exactly once in their file."""
    return [f"{name}: '{found}'" for name, found, *_ in FAULTS if (ROOT / name).read_text().count(found) != 1]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", metavar="BUILD", nargs="?", default="build/release")
    parser.add_argument("--stale", action="store_true")
    options = parser.parse_args()
    if options.stale:
        print("\n".join(stale()), end="")
        return 1 if stale() else 0
    build = ROOT / options.build
    if not (build / "CMakeCache.txt").is_file():
        sys.exit(f"mutation_check.py: {build} is not a configured build folder")
    if run("git", "diff", "--quiet", "HEAD") != 0:
        sys.exit("mutation_check.py: commit or stash changes first, since sources are rewritten")
    survivors = 0
    for name, found, planted, test, cases in FAULTS:
        source = ROOT / name
        before = source.read_text()
        if before.count(found) != 1:
            print(f"{name}: '{found}' is there {before.count(found)} times, expected once")
            survivors += 1
            continue
        try:
            source.write_text(before.replace(found, planted))
            if run("cmake", "--build", str(build), "-j", "2", "--target", test) != 0:
                verdict = "does not compile"
            else:
                try:
                    verdict = "seen" if run(str(build / "bin" / test), cases, timeout=300) not in (0, 77) else "NOT SEEN"
                except subprocess.TimeoutExpired:
                    verdict = "seen (the tests do not end)"
        finally:
            source.write_text(before)
        survivors += not verdict.startswith("seen")
        print(f"{verdict}: {name}: {found} -> {planted or '(nothing)'}", flush=True)
    return 1 if survivors else 0


if __name__ == "__main__":
    sys.exit(main())
