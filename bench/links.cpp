// What linkers get right: motes' linkers on simulated series with faults, scored with gap links.
//
//   bench_links [--case "r3p5 miss10 ..."] [--n 2000] [--frames 20] [--seeds 1] [--models "pairs static
//   velocity"]
//               [--gap 3] [--exclusion auto] [--threads 0] [--most-to-choose 200000] [--most-in-block
//               2000000]
//
// Particles on a correlated walk in a cube of unit mean spacing: a step goes along persistence x the last
// direction + (1 - persistence) x a random one, and is .5 to 1.5 times the ratio long; walls reflect. A true
// link joins a particle's consecutive detected positions, gap links included; a link of or to a false
// detection is wrong. Case names say ratio (displacement a frame over spacing) and persistence in tenths,
// then missed (m), false (f), blinking (b: for 2 frames on average, d: for 1 to 3) and replaced (t) in
// percent: r2p8m10f10; s: false detections around each particle, with a quality column; c: particles that
// follow another one closely, all of them true. One CSV row a case, model and seed.
//
//   bench_links --truth truth.csv [--table detections.csv] --step "1 2 5 10" ...
//
// Real tables with columns particle, frame, x, y, z and parent: every step-th frame, rows shuffled (their
// order can tell the truth), exact repetitions dropped. A detection of the table is a true one where it lies
// exactly on a true position. As in docs/method/scoring.md links from mother to daughter are ignored, and so
// are links between two false detections; `strict` is F1 with the latter counted as wrong, `direct` F1 of
// links to the next frame alone.
//
//   bench_links --tables "a.csv b.csv" --models "auto pairs auto@0.5" ...
//
// Tables with columns particle (-1: a false detection), frame, x, y, z, as sparse_tables.py writes them, as
// they are. Detections at one place in one frame are one. `@G` bounds links by G spacings.

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <initializer_list>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <motes/sim/faults.h>
#include <motes/sim/simulation.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/linker.h>
#include <motes/tracking/series_links.h>

#include "bench/arguments.h"

using namespace motes;

namespace {

using Pair = std::pair<std::int64_t, std::int64_t>;

double value_of(const std::string& name, char letter, double otherwise = 0) {
  const auto place = name.find(letter);
  return place == std::string::npos ? otherwise : std::atof(name.c_str() + place + 1);
}

struct Series {
  std::vector<Detections> frames;
  std::vector<std::int64_t> particle;  ///< [pooled detections] of real tables, -1 false; empty: simulated
  std::map<std::int64_t, std::int64_t> parent;
  std::vector<std::int64_t> next;        ///< [pooled detections] the true successor, -1 none
  std::vector<std::int64_t> stands_for;  ///< [pooled detections] the first at its place, or empty
  std::int64_t particles = 0;
  double ratio = 0;
};

Vec3 direction(std::mt19937_64& rng) {
  std::normal_distribution<> normal;
  const Vec3 v{normal(rng), normal(rng), normal(rng)};
  const double length = std::sqrt(v.x * v.x + v.y * v.y + v.z * v.z);
  return {v.x / length, v.y / length, v.z / length};
}

/// The walks as true tracks; `turnover`: the chance that a particle is replaced by a new one, each frame;
/// `companions`: share of particles that stay .1 to .3 beside another particle.
TrackSet walks(double n, std::int32_t frames, double side, double ratio, double persistence, double turnover,
               double companions, std::uint64_t seed) {
  std::mt19937_64 rng(seed);
  std::uniform_real_distribution<> uniform;
  TrackSet out;
  std::vector<Vec3> leader(static_cast<std::size_t>(frames));
  for (int walker = 0; walker < static_cast<int>(n); ++walker) {
    Vec3 x, u;
    const bool follows = walker > 0 && companions > 0 && uniform(rng) < companions;
    const Vec3 beside = follows ? direction(rng) : Vec3{};
    const double distance = follows ? 0.1 + 0.2 * uniform(rng) : 0;
    for (std::int32_t t = 0; t < frames; ++t) {
      if (t == 0 || uniform(rng) < turnover) {
        if (t > 0) out.track_offsets.push_back(static_cast<std::int64_t>(out.frame.size()));
        out.track_id.push_back(static_cast<std::int64_t>(out.track_id.size()));
        x = {side * uniform(rng), side * uniform(rng), side * uniform(rng)};
        u = direction(rng);
      } else {
        const Vec3 r = direction(rng);
        u = {persistence * u.x + (1 - persistence) * r.x, persistence * u.y + (1 - persistence) * r.y,
             persistence * u.z + (1 - persistence) * r.z};
        const double length = std::sqrt(u.x * u.x + u.y * u.y + u.z * u.z);
        const double step = ratio * (0.5 + uniform(rng));
        const auto move = [&](double& at, double& way) {
          way /= length;
          at += step * way;
          if (at < 0) at = -at, way = -way;
          if (at > side) at = 2 * side - at, way = -way;
        };
        move(x.x, u.x), move(x.y, u.y), move(x.z, u.z);
      }
      Vec3& led = leader[static_cast<std::size_t>(t)];
      if (follows) {
        const auto near = [&](double of, double way) {
          return std::clamp(of + distance * way + 0.04 * (uniform(rng) - 0.5), 0.0, side);
        };
        x = {near(led.x, beside.x), near(led.y, beside.y), near(led.z, beside.z)};
      } else {
        led = x;
      }
      out.frame.push_back(t);
      out.time_s.push_back(t);
      out.detection.push_back(-1);
      out.x_um.push_back(x.x), out.y_um.push_back(x.y), out.z_um.push_back(x.z);
    }
    out.track_offsets.push_back(static_cast<std::int64_t>(out.frame.size()));
  }
  return out;
}

/// Takes points out of the tracks in runs of 1 to 3 frames, this share of all points.
void go_dark(double share, std::uint64_t seed, TrackSet& truth) {
  if (!(share > 0)) return;
  std::mt19937_64 rng(seed ^ 0xDA2C);
  std::uniform_real_distribution<> uniform;
  TrackSet out;
  out.track_id = truth.track_id;
  const double start = share / (2 * (1 - share));
  for (std::size_t track = 0; track + 1 < truth.track_offsets.size(); ++track) {
    int dark = uniform(rng) < share ? 1 + static_cast<int>(2 * uniform(rng)) : 0;
    bool was_dark = false;
    for (auto k = static_cast<std::size_t>(truth.track_offsets[track]);
         k < static_cast<std::size_t>(truth.track_offsets[track + 1]); ++k) {
      if (dark == 0 && !was_dark && uniform(rng) < start) dark = 1 + static_cast<int>(3 * uniform(rng));
      was_dark = dark > 0;
      if (dark > 0) {
        --dark;
        continue;
      }
      out.frame.push_back(truth.frame[k]);
      out.time_s.push_back(truth.time_s[k]);
      out.detection.push_back(-1);
      out.x_um.push_back(truth.x_um[k]), out.y_um.push_back(truth.y_um[k]), out.z_um.push_back(truth.z_um[k]);
    }
    out.track_offsets.push_back(static_cast<std::int64_t>(out.frame.size()));
  }
  truth = std::move(out);
}

/// Around each detection false ones, .05 to .17 spacings away, as many on average as `share`; half of them
/// come back near the particle in its next frame.
void add_satellites(double share, double side, std::uint64_t seed, sim::Observation& seen) {
  std::mt19937_64 rng(seed ^ 0x5A7E1117);
  std::uniform_real_distribution<> uniform;
  std::map<std::int64_t, std::vector<Vec3>> around;
  for (std::size_t t = 0; share > 0 && t < seen.frames.size(); ++t) {
    Detections& d = seen.frames[t];
    std::map<std::int64_t, std::vector<Vec3>> now;
    const std::size_t real = d.size();
    d.quality.resize(real);
    for (std::size_t k = 0; k < real; ++k) d.quality[k] = 2 + std::normal_distribution<>()(rng);
    for (const sim::Origin& origin : seen.origins[t]) {
      if (origin.track < 0) continue;
      const auto k = static_cast<std::size_t>(origin.detection);
      std::vector<Vec3>& mine = now[origin.track];
      for (const Vec3& offset : around[origin.track])
        if (uniform(rng) < 0.5) mine.push_back(offset);
      while (uniform(rng) < share / 2) {
        const Vec3 u = direction(rng);
        const double r = 0.05 + 0.12 * uniform(rng);
        mine.push_back({r * u.x, r * u.y, r * u.z});
      }
      for (const Vec3& offset : mine) {
        const auto inside = [&](double x) { return std::clamp(x, 0.0, side); };
        d.x_um.push_back(inside(d.x_um[k] + offset.x + 0.01 * (uniform(rng) - 0.5)));
        d.y_um.push_back(inside(d.y_um[k] + offset.y + 0.01 * (uniform(rng) - 0.5)));
        d.z_um.push_back(inside(d.z_um[k] + offset.z + 0.01 * (uniform(rng) - 0.5)));
        d.quality.push_back(std::normal_distribution<>()(rng));
      }
    }
    around = std::move(now);
    for (auto* column : {&d.radius_um, &d.intensity})
      if (!column->empty()) column->resize(d.size(), std::nan(""));
    for (PropertyColumn& column : d.properties) column.values.resize(d.size(), std::nan(""));
  }
}

Series series_of(const std::string& name, double n, std::int32_t frames, std::uint64_t seed) {
  Series out;
  sim::MotionOptions motion;
  out.ratio = value_of(name, 'r', 3) / 10;
  motion.particles = static_cast<std::int64_t>(n);
  motion.frames = frames;
  const double side = std::cbrt(n);
  motion.box_um = {side, side, side};
  motion.seed = seed;
  sim::FaultOptions faults;
  faults.miss = value_of(name, 'm') / 100;
  faults.false_per_frame = value_of(name, 'f') / 100 * n;
  if (const double dark = value_of(name, 'b') / 100; dark > 0) {
    faults.blink_off_s = 2;
    faults.blink_on_s = 2 * (1 - dark) / dark;
  }
  TrackSet truth = walks(n, frames, side, out.ratio, value_of(name, 'p') / 10, value_of(name, 't') / 100,
                         value_of(name, 'c') / 100, seed);
  go_dark(value_of(name, 'd') / 100, seed, truth);
  sim::Observation seen = sim::observe({}, truth, motion, faults);
  add_satellites(value_of(name, 's') / 100, side, seed, seen);
  out.frames = std::move(seen.frames);
  std::map<std::int64_t, std::int64_t> last;
  std::int64_t pooled = 0;
  for (std::size_t t = 0; t < out.frames.size(); ++t) {
    out.next.resize(out.next.size() + out.frames[t].size(), -1);
    for (const sim::Origin& origin : seen.origins[t]) {
      if (origin.track < 0) continue;
      const std::int64_t at = pooled + origin.detection;
      const auto before = last.find(origin.track);
      if (before != last.end()) out.next[static_cast<std::size_t>(before->second)] = at;
      last[origin.track] = at;
    }
    pooled += static_cast<std::int64_t>(out.frames[t].size());
  }
  return out;
}

/// Columns of a CSV table by name, among them the wanted ones.
std::map<std::string, std::vector<double>> read_csv(const std::string& file,
                                                    std::initializer_list<const char*> wanted) {
  std::ifstream in(file);
  if (!in) bench::fail(file + ": cannot be read");
  std::map<std::string, std::vector<double>> out;
  std::vector<std::string> names;
  std::string line, cell;
  for (bool head = true; std::getline(in, line); head = false) {
    std::stringstream row(line);
    for (std::size_t k = 0; std::getline(row, cell, ','); ++k) {
      if (head)
        out[names.emplace_back(cell)];
      else if (k < names.size())
        out[names[k]].push_back(std::atof(cell.c_str()));
    }
  }
  for (const char* name : wanted)
    if (out.count(name) == 0) bench::fail(file + ": no column '" + name + "'");
  for (const auto& [name, values] : out)
    if (values.size() != out.at(wanted.begin()[0]).size()) bench::fail(file + ": rows differ in length");
  return out;
}

/// Every step-th frame of a table, shuffled, without exact repetitions.
Series real_series(const std::string& truth_file, const std::string& table_file, int step) {
  using Key = std::tuple<double, double, double, double>;
  const auto truth = read_csv(truth_file, {"particle", "frame", "x", "y", "z", "parent"});
  const auto table = read_csv(table_file, {"frame", "x", "y", "z"});
  std::map<Key, std::int64_t> particle_at;
  Series out;
  for (std::size_t k = 0; k < truth.at("frame").size(); ++k) {
    const auto particle = static_cast<std::int64_t>(truth.at("particle")[k]);
    particle_at.emplace(Key{truth.at("frame")[k], truth.at("x")[k], truth.at("y")[k], truth.at("z")[k]},
                        particle);
    out.parent[particle] = static_cast<std::int64_t>(truth.at("parent")[k]);
  }
  // Of repetitions the largest diameter: their order could tell the truth.
  std::map<Key, double> rows;
  const bool with_diameter = table.count("diameter") > 0;
  double last = 0;
  for (std::size_t k = 0; k < table.at("frame").size(); ++k) {
    const double frame = table.at("frame")[k];
    if (std::fmod(frame, step) != 0) continue;
    double& diameter = rows[{frame, table.at("x")[k], table.at("y")[k], table.at("z")[k]}];
    if (with_diameter) diameter = std::max(diameter, table.at("diameter")[k]);
    last = std::max(last, frame);
  }
  std::vector<Key> order;
  for (const auto& [key, diameter] : rows) order.push_back(key);
  std::mt19937_64 rng(7);
  std::shuffle(order.begin(), order.end(), rng);
  std::stable_sort(order.begin(), order.end(),
                   [](const Key& a, const Key& b) { return std::get<0>(a) < std::get<0>(b); });
  out.frames.resize(static_cast<std::size_t>(last) / static_cast<std::size_t>(step) + 1);
  std::map<std::int64_t, std::int64_t> before;
  for (std::size_t t = 0; t < out.frames.size(); ++t) out.frames[t].frame = static_cast<std::int32_t>(t);
  for (const Key& row : order) {
    Detections& d = out.frames[static_cast<std::size_t>(std::get<0>(row)) / static_cast<std::size_t>(step)];
    d.x_um.push_back(std::get<1>(row)), d.y_um.push_back(std::get<2>(row)),
        d.z_um.push_back(std::get<3>(row));
    if (with_diameter) {
      if (d.properties.empty()) d.properties.push_back({"diameter", {}});
      d.properties[0].values.push_back(rows.at(row));
    }
    const auto pooled = static_cast<std::int64_t>(out.particle.size());
    const auto found = particle_at.find(row);
    out.particle.push_back(found == particle_at.end() ? -1 : found->second);
    out.next.push_back(-1);
    if (out.particle.back() < 0) continue;
    const auto previous = before.find(out.particle.back());
    if (previous != before.end()) out.next[static_cast<std::size_t>(previous->second)] = pooled;
    before[out.particle.back()] = pooled;
  }
  return out;
}

/// Adds the values of the columns that are neither places nor the truth.
void add_properties(const std::map<std::string, std::vector<double>>& table, std::size_t row, Detections& d) {
  std::size_t k = 0;
  for (const auto& [name, values] : table) {
    if (name == "particle" || name == "frame" || name == "x" || name == "y" || name == "z") continue;
    if (k == d.properties.size()) d.properties.push_back({name, {}});
    d.properties[k++].values.push_back(values[row]);
  }
}

/// A table as it is, other columns as properties; of detections at one place the first stands for all.
Series table_series(const std::string& file) {
  const auto table = read_csv(file, {"particle", "frame", "x", "y", "z"});
  const auto column = [&](const char* name, std::size_t k) { return table.at(name)[k]; };
  const std::size_t rows = table.at("frame").size();
  Series out;
  for (std::size_t k = 0; k < rows; ++k)
    while (static_cast<double>(out.frames.size()) <= column("frame", k)) {
      out.frames.emplace_back();
      out.frames.back().frame = static_cast<std::int32_t>(out.frames.size()) - 1;
    }
  std::map<std::tuple<double, double, double, double>, std::int64_t> first;
  std::map<std::int64_t, std::int64_t> before;
  for (std::size_t k = 0; k < rows; ++k) {
    Detections& d = out.frames[static_cast<std::size_t>(column("frame", k))];
    d.x_um.push_back(column("x", k)), d.y_um.push_back(column("y", k)), d.z_um.push_back(column("z", k));
    add_properties(table, k, d);
    const auto pooled = static_cast<std::int64_t>(k);
    const auto particle = static_cast<std::int64_t>(column("particle", k));
    const auto [place, fresh] =
        first.emplace(std::tuple{column("frame", k), column("x", k), column("y", k), column("z", k)}, pooled);
    out.stands_for.push_back(place->second);
    out.particle.push_back(particle);
    out.next.push_back(-1);
    if (particle >= 0 && particle >= out.particles) out.particles = particle + 1;
    if (particle < 0 || !fresh) continue;
    if (const auto last = before.find(particle); last != before.end())
      out.next[static_cast<std::size_t>(last->second)] = pooled;
    before[particle] = pooled;
  }
  for (std::int64_t p = 0; p < out.particles; ++p) out.parent[p] = -1;
  return out;
}

/// Links between the detections that stand for others.
std::vector<std::int64_t> merged(const Series& series, const std::vector<std::int64_t>& found) {
  if (series.stands_for.empty()) return found;
  std::vector<std::int64_t> out(found.size(), -1);
  for (std::size_t i = 0; i < found.size(); ++i) {
    if (found[i] < 0) continue;
    std::int64_t& to = out[static_cast<std::size_t>(series.stands_for[i])];
    const std::int64_t here = series.stands_for[static_cast<std::size_t>(found[i])];
    if (to < 0 || to != series.next[static_cast<std::size_t>(series.stands_for[i])]) to = here;
  }
  return out;
}

struct Score {
  double precision = 0, recall = 0, f1 = 0, strict = 0;
  double direct = 0;  ///< F1 of links to the next frame alone
};
Score score(const Series& series, const std::vector<std::int64_t>& found) {
  double right = 0, links = 0, truths = 0, ignored = 0, direct_right = 0, direct_links = 0;
  std::vector<std::int32_t> slot;
  for (std::size_t t = 0; t < series.frames.size(); ++t)
    slot.resize(slot.size() + series.frames[t].size(), static_cast<std::int32_t>(t));
  const auto direct = [&](std::size_t i, std::int64_t j) {
    return j >= 0 && slot[static_cast<std::size_t>(j)] == slot[i] + 1 ? 1.0 : 0.0;
  };
  for (std::size_t i = 0; i < found.size(); ++i) {
    truths += series.next[i] >= 0;
    direct_links += direct(i, series.next[i]) + direct(i, found[i]);
    if (found[i] == series.next[i]) direct_right += direct(i, found[i]);
    if (found[i] < 0) continue;
    if (!series.particle.empty()) {
      const std::int64_t from = series.particle[i], to = series.particle[static_cast<std::size_t>(found[i])];
      if (from >= 0 && to >= 0 && from != to && series.parent.at(to) == from) continue;
      ignored += from < 0 && to < 0;
    }
    links += 1;
    right += found[i] == series.next[i];
  }
  const double judged = links - ignored;
  return {right / std::max(judged, 1.0), right / std::max(truths, 1.0),
          2 * right / std::max(judged + truths, 1.0), 2 * right / std::max(links + truths, 1.0),
          2 * direct_right / std::max(direct_links, 1.0)};
}

std::vector<std::int64_t> link_pairs(const Execution& execution, const Series& series, double gate_um) {
  const auto estimate = tracking::estimate_gate(execution, series.frames);
  tracking::LinkOptions options;
  options.candidates.gate = gate_um > 0 ? gate_um : estimate ? estimate->gate_um : 1;
  const auto links = tracking::link_frames(execution, series.frames, options);
  std::vector<std::int64_t> next;
  std::int64_t offset = 0;
  for (std::size_t t = 0; t < series.frames.size(); ++t) {
    offset += static_cast<std::int64_t>(series.frames[t].size());
    for (std::size_t k = 0; k < series.frames[t].size(); ++k)
      next.push_back(t < links.size() && links[t].next[k] >= 0 ? offset + links[t].next[k] : -1);
  }
  return next;
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const double n = arguments.number("n", 2000);
  const auto frames = static_cast<std::int32_t>(arguments.number("frames", 20));
  Execution execution;
  execution.threads = static_cast<int>(arguments.number("threads", 0));
  const std::map<std::string, tracking::MotionModel> models{{"static", tracking::MotionModel::standing},
                                                            {"velocity", tracking::MotionModel::velocity},
                                                            {"field", tracking::MotionModel::field},
                                                            {"joint", tracking::MotionModel::joint},
                                                            {"auto", tracking::MotionModel::automatic}};
  std::puts(
      "case,n,seed,model,f1,strict,direct,precision,recall,chosen,beta,end,lone,elapsed1,rounds,candidates,"
      "edges,"
      "seconds");
  const auto run = [&](const std::string& name, int seed, const Series& series) {
    const double spacing = tracking::pool_points(series.frames).spacing_um;
    for (const std::string& model : arguments.words("models", "pairs static velocity")) {
      const std::string kind = model.substr(0, model.find('@'));
      const double bound = value_of(model, '@') * spacing;
      tracking::SeriesLinks links;
      std::vector<std::int64_t> next;
      const double seconds = bench::timed([&] {
        if (kind == "pairs" || kind == "known") {
          next = link_pairs(execution, series, kind == "known" ? 1.5 * series.ratio : bound);
          return;
        }
        tracking::SeriesOptions options;
        options.model = models.at(kind);
        if (bound > 0) options.gate = bound;
        options.max_gap = static_cast<int>(arguments.number("gap", 3));
        if (arguments.text("exclusion")) options.exclusion_um = arguments.number("exclusion", 0);
        if (arguments.text("most-to-choose"))
          options.most_to_choose = static_cast<std::int64_t>(arguments.number("most-to-choose", 0));
        if (arguments.text("most-in-block"))
          options.most_in_block = static_cast<std::int64_t>(arguments.number("most-in-block", 0));
        options.verify = arguments.number("verify", 1) != 0;
        links = tracking::link_series(execution, series.frames, options);
        next.assign(links.linking.next.begin(), links.linking.next.end());
      });
      const Score s = score(series, merged(series, next));
      std::printf("%s,%zu,%d,%s,%.4f,%.4f,%.4f,%.4f,%.4f,%d,%.3f,%.4f,%.4f,%.4f,%d,%lld,%lld,%.2f\n",
                  name.c_str(), series.next.size(), seed, model.c_str(), s.f1, s.strict, s.direct,
                  s.precision, s.recall, static_cast<int>(links.chosen), links.velocity.beta(),
                  links.model.end, links.model.clutter,
                  links.model.elapsed.empty() ? 0 : links.model.elapsed[0], links.rounds,
                  static_cast<long long>(links.candidates), static_cast<long long>(links.edges), seconds);
      if (!links.reason.empty()) std::printf("# %s\n", links.reason.c_str());
      if (links.blocks > 1)
        std::printf("# %d blocks, %lld links conflicting\n", links.blocks,
                    static_cast<long long>(links.conflicting));
      std::fflush(stdout);
    }
  };
  if (arguments.text("tables")) {
    for (const std::string& file : arguments.words("tables", "")) run(file, 0, table_series(file));
    return 0;
  }
  if (const auto truth = arguments.text("truth")) {
    for (const std::string& step : arguments.words("step", "1 2 5 10"))
      run("k" + step, 0,
          real_series(*truth, arguments.text("table").value_or(*truth), std::atoi(step.c_str())));
    return 0;
  }
  for (const std::string& name :
       arguments.words("case", "r3p5 r3p9 r6p5 r6p9 r2p8m10 r2p8m30 r2p8b30 r2p8m10f10"))
    for (int seed = 1; seed <= static_cast<int>(arguments.number("seeds", 1)); ++seed)
      run(name, seed, series_of(name, n, frames, static_cast<std::uint64_t>(seed)));
}
