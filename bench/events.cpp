// Divisions and confidence of a linked series, against truth.
//
//   bench_events [--ratio 0.3] [--persistence 0.8] [--n 1000] [--frames 20] [--miss 0.1] [--false 0.1]
//                [--division 0] [--seeds 1]
//   bench_events --truth TRACKS.csv [--points TABLE.csv] [--step 1,2,5,10] [--same 1e-6]
//                [--properties 0] [--name TEXT] [--merged 0]
//
// Common: [--gap 3] [--threads 0] [--model auto|static|velocity|field|joint] [--events auto|none|divisions]
//         [--confidence 0]
//
// Real tables: every step-th frame, rows shuffled (their order can tell the truth), exact repetitions
// dropped; `properties`: with the table's other columns. Simulated: correlated walks of simulate_motion in a
// cube of unit density; ratio = displacement a frame over the spacing; `division`: mean frames of the cell
// cycle. Scores are those of `motes score`. Detections are the true point within `same` of them, if none is
// nearer to either; `merged`: and those within it that are not any other. One CSV row a series; `confidence`:
// only how sure links are and how many are right (bins of the probability, 15: mean given, right, number).

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <motes/sim/simulation.h>
#include <motes/tracking/confidence.h>
#include <motes/tracking/score_tracks.h>
#include <motes/tracking/series_links.h>

#include "bench/arguments.h"
#include "bench/real_series.h"

using namespace motes;

namespace {

struct Series {
  std::string name;
  TrackSet truth;
  std::vector<Detections> frames;
  double same = 1e-6;
  double merged = 0;  ///< a true point without detection is in one within this distance
};

/// The frames with detections in another order, without exact repetitions.
std::vector<Detections> shuffled(const std::vector<Detections>& frames, bool properties) {
  std::mt19937_64 rng(7);
  std::vector<Detections> out;
  for (const Detections& d : frames) {
    std::set<std::tuple<double, double, double>> seen;
    std::vector<std::size_t> order;
    for (std::size_t k = 0; k < d.size(); ++k)
      if (seen.emplace(d.x_um[k], d.y_um[k], d.z_um[k]).second) order.push_back(k);
    std::shuffle(order.begin(), order.end(), rng);
    Detections one;
    one.frame = d.frame;
    one.time_s = one.frame;
    if (properties)
      for (const PropertyColumn& column : d.properties) {
        one.properties.push_back({column.name, {}});
        for (const std::size_t k : order) one.properties.back().values.push_back(column.values[k]);
      }
    for (const std::size_t k : order) {
      one.x_um.push_back(d.x_um[k]);
      one.y_um.push_back(d.y_um[k]);
      one.z_um.push_back(d.z_um[k]);
    }
    out.push_back(std::move(one));
  }
  return out;
}

std::vector<Series> real(const bench::Arguments& arguments, const std::string& truth) {
  std::vector<Series> all;
  for (bench::RealSeries& one : bench::real_series(arguments, truth))
    all.push_back({arguments.text("name").value_or(one.name) + " k=" + std::to_string(one.step),
                   std::move(one.truth), shuffled(one.frames, arguments.number("properties", 0) != 0),
                   arguments.number("same", 1e-6), arguments.number("merged", 0)});
  return all;
}

std::vector<Series> simulated(const bench::Arguments& arguments) {
  std::vector<Series> all;
  for (const double n : arguments.numbers("n", {1000}))
    for (const double ratio : arguments.numbers("ratio", {0.3}))
      for (const double persistence : arguments.numbers("persistence", {0.8}))
        for (const double miss : arguments.numbers("miss", {0}))
          for (const double clutter : arguments.numbers("false", {0}))
            for (int seed = 1; seed <= static_cast<int>(arguments.number("seeds", 1)); ++seed) {
              sim::MotionOptions motion;
              motion.particles = static_cast<std::int64_t>(n);
              motion.frames = static_cast<std::int32_t>(arguments.number("frames", 20));
              const double side = std::cbrt(n);
              motion.box_um = {side, side, side};
              motion.persistence = persistence;
              motion.speed_um_s = ratio;
              motion.speed_spread = 0.3;
              motion.birth_rate_per_s = n * arguments.number("turnover", 0);
              motion.death_rate_per_s = arguments.number("death", arguments.number("turnover", 0));
              motion.division_s = arguments.number("division", 0);
              motion.division_spread_s = 0.3 * motion.division_s;
              motion.division_distance_um = arguments.number("distance", 0.5);
              motion.seed = static_cast<std::uint64_t>(seed);
              sim::FaultOptions faults;
              faults.miss = miss;
              faults.false_per_frame = clutter * n;
              char name[160];
              std::snprintf(name, sizeof name, "n=%g r=%g p=%g m=%g f=%g seed=%d", n, ratio, persistence,
                            miss, clutter, seed);
              Series one{name, sim::simulate_motion({}, motion), {}};
              one.frames = sim::observe({}, one.truth, motion, faults).frames;
              all.push_back(std::move(one));
            }
  return all;
}

constexpr std::size_t kBins = 15;

/// How far given confidences and right links agree.
struct Agreement {
  struct Bins {
    std::array<double, kBins> given{}, right{}, count{};
  } bins;                           ///< sums
  double judged = 0, wrong = 0;     ///< links; share of wrong ones
  double strict = 0;                ///< the same, links between false detections wrong
  double calibration_error = 0;     ///< mean |given - right| over 15 bins, by links
  double given95 = 0, count95 = 0;  ///< share right, and number, of links given .93 to .97
};

/// [points] the true points that each detection is: of those within `same` the nearest, one to one, and all
/// others within `merged` of it that no other detection is.
std::vector<std::vector<std::size_t>> true_points(const Series& series, const tracking::SeriesLinks& links) {
  const tracking::SeriesPoints& points = links.points;
  const TrackSet& truth = series.truth;
  std::map<std::int32_t, std::vector<std::size_t>> in_frame;
  for (std::size_t p = 0; p < truth.points(); ++p) in_frame[truth.frame[p]].push_back(p);
  std::vector<std::vector<std::size_t>> out(points.size());
  std::set<std::size_t> taken;
  for (std::int32_t t = 0; t < points.frames(); ++t) {
    std::vector<std::tuple<double, std::size_t, std::size_t>> pairs;
    const auto first = static_cast<std::size_t>(points.offset[static_cast<std::size_t>(t)]);
    const auto frame = points.frame(t);
    for (std::size_t k = 0; k < frame.size(); ++k)
      for (const std::size_t p : in_frame[series.frames[static_cast<std::size_t>(t)].frame]) {
        const double d =
            std::hypot(truth.x_um[p] - frame[k].x / links.axes.x, truth.y_um[p] - frame[k].y / links.axes.y,
                       truth.z_um[p] - frame[k].z / links.axes.z);
        if (d <= std::max(series.same, series.merged)) pairs.emplace_back(d, first + k, p);
      }
    std::sort(pairs.begin(), pairs.end());
    for (const auto& [d, i, p] : pairs)
      if (d <= series.same && out[i].empty() && taken.insert(p).second) out[i].push_back(p);
    for (const auto& [d, i, p] : pairs)
      if (d <= series.merged && taken.insert(p).second) out[i].push_back(p);
  }
  return out;
}

Agreement agreement(const Series& series, const tracking::SeriesLinks& links,
                    const tracking::Confidence& confidence) {
  std::vector<std::size_t> track(series.truth.points());
  for (std::size_t t = 0; t < series.truth.tracks(); ++t)
    for (auto p = series.truth.track_offsets[t]; p < series.truth.track_offsets[t + 1]; ++p)
      track[static_cast<std::size_t>(p)] = t;
  const std::vector<std::vector<std::size_t>> names = true_points(series, links);
  // Detections of one track without another one between them.
  std::map<std::size_t, std::size_t> last;
  std::set<std::pair<std::size_t, std::size_t>> linked;
  for (std::size_t i = 0; i < links.points.size(); ++i)
    for (const std::size_t p : names[i]) {
      const auto [place, first] = last.try_emplace(track[p], i);
      if (!first) linked.emplace(place->second, i), place->second = i;
    }
  Agreement out;
  auto& [given, right, count] = out.bins;
  double clutter = 0;
  for (std::size_t i = 0; i < links.points.size(); ++i) {
    const auto next = links.linking.next[i];
    if (next < 0) continue;
    const auto j = static_cast<std::size_t>(next);
    if (names[i].empty() && names[j].empty()) {
      clutter += 1;
      continue;
    }
    if (!names[i].empty() && !names[j].empty() && !series.truth.parent.empty()) {
      const std::size_t a = track[names[i].front()], b = track[names[j].front()];
      if (a != b && series.truth.parent[b] == series.truth.track_id[a]) continue;
    }
    const bool ok = linked.contains({i, j});
    const double c = confidence.link[i];
    out.judged += 1, out.wrong += !ok;
    const std::size_t bin = std::min(kBins - 1, static_cast<std::size_t>(c * kBins));
    given[bin] += c, right[bin] += ok, count[bin] += 1;
    if (c >= 0.93 && c < 0.97) out.count95 += 1, out.given95 += ok;
  }
  for (std::size_t k = 0; k < kBins; ++k) out.calibration_error += std::abs(given[k] - right[k]);
  out.strict = (out.wrong + clutter) / std::max(1.0, out.judged + clutter);
  out.calibration_error /= std::max(1.0, out.judged);
  out.wrong /= std::max(1.0, out.judged);
  out.given95 /= std::max(1.0, out.count95);
  return out;
}

const char* name_of(const tracking::SeriesLinks& links) {
  return links.joint                                    ? "joint"
         : links.chosen == tracking::MotionModel::field ? "field"
         : links.persistent                             ? "velocity"
                                                        : "static";
}

/// Columns of one row about links and divisions.
void print_links(const Execution& execution, const Series& series, const tracking::SeriesLinks& links,
                 double seconds) {
  const TrackSet found = tracking::build_tracks(series.frames, links);
  const LinkScores s = tracking::link_scores(execution, series.truth, found, series.same);
  const DivisionScores& d = s.division;
  const tracking::Divisions& v = links.divisions;
  std::printf(
      "%.4f,%.4f,%.3f,%lld,%lld,%.3f,%.3f,%d,%lld,%lld,%lld,%.4f,%.4f,%.4f,%.3f,%.3f,%.3f,%.2f,", s.f1,
      s.strict_f1,
      static_cast<double>(s.detected.complete) / std::max(1.0, static_cast<double>(s.detected.tracks)),
      static_cast<long long>(d.true_divisions + d.missed_divisions),
      static_cast<long long>(d.true_divisions + d.false_divisions), d.f1, d.f1_within_one, v.significant,
      static_cast<long long>(v.found), static_cast<long long>(v.backwards.value_or(0)),
      static_cast<long long>(v.misplaced.value_or(0)), v.model.share, v.model.start, v.model.end,
      v.model.middle, v.model.separation, v.model.spread, seconds);
}

/// Columns about how sure links are, and what is true of them.
void print_confidence(const Agreement& a, const tracking::Confidence& confidence, double seconds) {
  std::printf("%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.4f,%.3f,%.0f,%.2f", a.wrong, a.strict, confidence.wrong,
              confidence.error, confidence.wrong_by_odds,
              static_cast<double>(confidence.simulated_wrong) /
                  std::max(1.0, static_cast<double>(confidence.simulated_links)),
              a.calibration_error, a.given95, a.count95, seconds);
}

void print_bins(const Agreement& a) {
  std::printf(",%.0f,", a.judged);
  for (std::size_t k = 0; k < kBins; ++k)
    if (const double n = a.bins.count[k]; n > 0)
      std::printf("%s%.3f:%.3f:%.0f", k == 0 ? "" : " ", a.bins.given[k] / n, a.bins.right[k] / n, n);
}

}  // namespace

int main(int argc, char** argv) {
  const bench::Arguments arguments(argc, argv);
  const std::map<std::string, tracking::MotionModel> models{{"static", tracking::MotionModel::standing},
                                                            {"velocity", tracking::MotionModel::velocity},
                                                            {"field", tracking::MotionModel::field},
                                                            {"joint", tracking::MotionModel::joint},
                                                            {"auto", tracking::MotionModel::automatic}};
  const std::map<std::string, tracking::Events> events{{"auto", tracking::Events::automatic},
                                                       {"none", tracking::Events::none},
                                                       {"divisions", tracking::Events::divisions}};
  Execution execution;
  execution.threads = static_cast<int>(arguments.number("threads", 0));
  tracking::SeriesOptions options;
  options.model = models.at(arguments.text("model").value_or("auto"));
  options.max_gap = static_cast<int>(arguments.number("gap", 3));
  options.events = events.at(arguments.text("events").value_or("auto"));
  const auto truth = arguments.text("truth");
  const bool sure = arguments.number("confidence", 0) != 0;
  if (arguments.number("header", 1) != 0)
    std::printf(
        "series,%swrong,strict_wrong,predicted_wrong,error,believed_wrong,simulated_wrong,"
        "calibration_error,given95,count95,confidence_seconds%s\n",
        sure ? "model,"
             : "link_f1,strict_f1,complete,division_true,division_found,division_f1,"
               "division_f1_within_one,believed,found,backwards,misplaced,share,start,end,middle,"
               "separation,spread,seconds,",
        sure ? ",links,bins" : "");
  for (const Series& series : truth ? real(arguments, *truth) : simulated(arguments)) {
    tracking::SeriesLinks links;
    const double seconds =
        bench::timed([&] { links = tracking::link_series(execution, series.frames, options); });
    std::printf("%s,", series.name.c_str());
    if (sure)
      std::printf("%s,", name_of(links));
    else
      print_links(execution, series, links, seconds);
    tracking::Confidence confidence;
    tracking::ConfidenceOptions how;
    how.detections = static_cast<std::size_t>(arguments.number("simulated", 12000));
    const double confidence_s =
        bench::timed([&] { confidence = tracking::link_confidence(execution, links, options, how); });
    const Agreement a = agreement(series, links, confidence);
    print_confidence(a, confidence, confidence_s);
    if (sure) print_bins(a);
    std::printf("\n");
    std::fflush(stdout);
  }
  return 0;
}
