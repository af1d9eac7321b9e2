/// Cuts a graph of points into tracks, with parents.

#include "io/tracks/lineages/track_graph.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <set>
#include <unordered_map>

#include <motes/base/errors.h>

namespace motes::io::detail {
namespace {

constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// The numbers of links into and out of each point, and one of these links each.
struct Degrees {
  std::vector<std::uint32_t> in, out;
  std::vector<std::size_t> before, after;
};

/// Turns every edge from the earlier to the later frame.
void orient(TrackGraph& graph, const std::function<std::string(std::size_t)>& where) {
  const auto& frame = graph.nodes.frame;
  for (auto& [source, target] : graph.edges) {
    if (frame[source] > frame[target]) std::swap(source, target);
    if (frame[source] == frame[target])
      throw InputError(where(source) + ": a link joins two points of frame " + std::to_string(frame[source]) +
                       "; correct the link");
  }
}

Degrees count_links(const TrackGraph& graph) {
  Degrees degrees;
  const std::size_t n = graph.nodes.size();
  degrees.in.assign(n, 0);
  degrees.out.assign(n, 0);
  degrees.before.assign(n, kNone);
  degrees.after.assign(n, kNone);
  for (const auto& [source, target] : graph.edges) {
    ++degrees.out[source];
    ++degrees.in[target];
    degrees.after[source] = target;
    degrees.before[target] = source;
  }
  return degrees;
}

/// The path of every point. Paths are numbered in the order of their first points; kNone: no path.
struct Paths {
  std::vector<std::size_t> of;     ///< [rows]
  std::vector<std::size_t> first;  ///< [paths] its first row
};

Paths find_paths(const TrackGraph& graph, const Degrees& degrees) {
  const auto continues = [&](std::size_t row) {  // the path of the point before it
    const std::size_t before = degrees.before[row];
    return degrees.in[row] == 1 && degrees.out[before] == 1 &&
           (graph.particle.empty() || graph.particle[row] == graph.particle[before]);
  };
  Paths paths;
  paths.of.assign(graph.nodes.size(), kNone);
  for (std::size_t row = 0; row < graph.nodes.size(); ++row) {
    const bool alone = degrees.in[row] == 0 && degrees.out[row] == 0;
    const bool named = !graph.particle.empty() && graph.particle[row] >= 0;
    if ((alone && !graph.single_points && !named) || continues(row)) continue;
    for (std::size_t at = row;;) {
      paths.of[at] = paths.first.size();
      const std::size_t next = degrees.out[at] == 1 ? degrees.after[at] : kNone;
      if (next == kNone || !continues(next)) break;
      at = next;
    }
    paths.first.push_back(row);
  }
  return paths;
}

/// The lineage number of the first point of each path; -1: none.
std::vector<std::int64_t> lineages(const TrackGraph& graph, const Paths& paths) {
  std::vector<std::int64_t> of(paths.first.size(), -1);
  if (graph.lineage.empty()) return of;
  for (std::size_t e = 0; e < graph.edges.size(); ++e) {
    for (const std::size_t row : {graph.edges[e].first, graph.edges[e].second})
      if (paths.of[row] != kNone) of[paths.of[row]] = graph.lineage[e];
  }
  return of;
}

std::vector<std::int64_t> number_paths(const TrackGraph& graph, const Paths& paths) {
  std::vector<std::int64_t> numbers;
  std::set<std::int64_t> taken;
  if (!graph.particle.empty()) {
    for (const std::size_t row : paths.first) {
      numbers.push_back(graph.particle[row]);
      if (graph.particle[row] < 0 || !taken.insert(graph.particle[row]).second) break;
    }
    if (taken.size() == paths.first.size()) return numbers;
    taken.clear();
  }
  numbers.assign(paths.first.size(), -1);
  const std::vector<std::int64_t> stated = lineages(graph, paths);
  for (std::size_t p = 0; p < numbers.size(); ++p) {
    if (stated[p] >= 0 && taken.insert(stated[p]).second) numbers[p] = stated[p];
  }
  std::int64_t next = taken.empty() ? 0 : *taken.rbegin() + 1;
  for (std::int64_t& number : numbers) {
    if (number < 0) number = next++;
  }
  return numbers;
}

/// Keeps only these rows.
void keep_rows(TrackRows& rows, const std::vector<std::size_t>& kept) {
  const auto pick = [&](auto& values) {
    if (values.empty()) return;
    for (std::size_t i = 0; i < kept.size(); ++i) values[i] = values[kept[i]];
    values.resize(kept.size());
  };
  pick(rows.frame);
  pick(rows.x_um);
  pick(rows.y_um);
  pick(rows.z_um);
  pick(rows.time_s);
  for (PropertyColumn& column : rows.properties) pick(column.values);
}

/// The number of the path that each path merges into, -1 none.
std::vector<std::int64_t> merged_into(const Paths& paths, const Degrees& degrees,
                                      const std::vector<std::int64_t>& number) {
  std::vector<std::int64_t> of(paths.first.size(), -1);
  for (std::size_t row = 0; row < degrees.out.size(); ++row)
    if (degrees.out[row] == 1 && degrees.in[degrees.after[row]] > 1)
      of[paths.of[row]] = number[paths.of[degrees.after[row]]];
  return of;
}

std::vector<std::int64_t> mothers(const Paths& paths, const Degrees& degrees,
                                  const std::vector<std::int64_t>& number) {
  std::vector<std::int64_t> of(paths.first.size(), -1);
  for (std::size_t p = 0; p < of.size(); ++p) {
    const std::size_t row = paths.first[p];
    if (degrees.in[row] == 1) of[p] = number[paths.of[degrees.before[row]]];
  }
  return of;
}

}  // namespace

TrackSet tracks_of_graph(TrackGraph graph, const std::function<std::string(std::size_t row)>& where,
                         std::vector<std::string>& notes) {
  orient(graph, where);
  const Degrees degrees = count_links(graph);
  const Paths paths = find_paths(graph, degrees);
  const std::vector<std::int64_t> number = number_paths(graph, paths);
  const std::vector<std::int64_t> mother = mothers(paths, degrees, number);

  const std::vector<std::int64_t> merged = merged_into(paths, degrees, number);

  const auto both = std::count_if(graph.edges.begin(), graph.edges.end(), [&](const auto& edge) {
    return degrees.out[edge.first] > 1 && degrees.in[edge.second] > 1;
  });
  if (both > 0)
    notes.push_back(std::to_string(both) + (both == 1 ? " link is" : " links are") +
                    " part of a division and of a merge, and left out");
  std::vector<std::size_t> kept;
  for (std::size_t row = 0; row < graph.nodes.size(); ++row)
    if (paths.of[row] != kNone) kept.push_back(row);
  if (const std::size_t left = graph.nodes.size() - kept.size(); left > 0)
    notes.push_back(std::to_string(left) + " points belong to no track and are left out");

  const auto any = [](const auto& numbers) {
    return std::any_of(numbers.begin(), numbers.end(), [](auto m) { return m >= 0; });
  };
  const bool divisions = any(mother), merges = any(merged);
  keep_rows(graph.nodes, kept);
  for (const std::size_t row : kept) {
    graph.nodes.track_id.push_back(number[paths.of[row]]);
    if (divisions) graph.nodes.parent.push_back(mother[paths.of[row]]);
    if (merges) graph.nodes.merged_into.push_back(merged[paths.of[row]]);
  }
  return group_tracks(std::move(graph.nodes), [&](std::size_t row) { return where(kept[row]); });
}

TrackLinks links_of(const TrackSet& tracks) {
  TrackLinks links;
  links.lineage.resize(tracks.tracks());
  std::iota(links.lineage.begin(), links.lineage.end(), std::size_t{0});
  const auto root = [&](std::size_t t) {
    while (links.lineage[t] != t) t = links.lineage[t] = links.lineage[links.lineage[t]];
    return t;
  };
  std::unordered_map<std::int64_t, std::size_t> index;
  for (std::size_t t = 0; t < tracks.tracks(); ++t) index.emplace(tracks.track_id[t], t);
  const auto first_of = [&](std::size_t t) { return static_cast<std::size_t>(tracks.track_offsets[t]); };
  const auto end_of = [&](std::size_t t) { return static_cast<std::size_t>(tracks.track_offsets[t + 1]); };
  const auto join = [&](std::size_t from, std::size_t to) {
    const bool points = first_of(from) < end_of(from) && first_of(to) < end_of(to);
    if (!points || tracks.frame[end_of(from) - 1] >= tracks.frame[first_of(to)]) return false;
    links.edges.emplace_back(end_of(from) - 1, first_of(to));
    const std::size_t a = root(from), b = root(to);
    links.lineage[std::max(a, b)] = std::min(a, b);
    return true;
  };
  const auto relative = [&](const std::vector<std::int64_t>& of, std::size_t t) {
    return of.empty() || of[t] < 0 || first_of(t) == end_of(t) ? std::optional<std::int64_t>() : of[t];
  };
  for (std::size_t t = 0; t < tracks.tracks(); ++t) {
    if (const auto id = relative(tracks.parent, t)) {
      const auto mother = index.find(*id);
      links.lost += mother == index.end() || !join(mother->second, t);
    }
    for (std::size_t i = first_of(t); i + 1 < end_of(t); ++i) links.edges.emplace_back(i, i + 1);
    if (const auto id = relative(tracks.merged_into, t)) {
      const auto merged = index.find(*id);
      links.lost_merges += merged == index.end() || !join(t, merged->second);
    }
  }
  for (std::size_t t = 0; t < tracks.tracks(); ++t) links.lineage[t] = root(t);
  return links;
}

}  // namespace motes::io::detail
