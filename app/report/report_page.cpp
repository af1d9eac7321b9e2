/// Computes the charts and tables of report.html and fills its template.

#include "app/report/report_page.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>
#include <string_view>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "app/options/options.h"
#include "app/report/page_texts.h"

namespace motes::app {
namespace {

using nlohmann::ordered_json;

/// The means of groups of `each` successive values.
std::vector<double> means_of(const std::vector<double>& values, std::size_t each) {
  std::vector<double> means;
  for (std::size_t i = 0; i < values.size(); i += each) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(values.size(), i + each));
    means.push_back(std::accumulate(begin, end, 0.0) / static_cast<double>(end - begin));
  }
  return means;
}

ordered_json counts_chart(const PointSeries& series, const ordered_json& report) {
  constexpr std::size_t kMostShown = 2000;
  std::vector<double> frame, found, from, links;
  for (const FrameSummary& summary : series.summaries) {
    frame.push_back(summary.frame);
    found.push_back(static_cast<double>(summary.detections));
  }
  for (const auto& pair : report.at("pairs")) {
    from.push_back(pair.at("from").get<double>());
    links.push_back(pair.at("links").get<double>());
  }
  const std::size_t each = frame.size() / kMostShown + 1;
  const std::string title = "Detections of each frame, and links from it to the next";
  return chart(each == 1 ? title : fmt::format("{} (means of {} frames)", title, each), "frame", "number",
               {series_of("detections", means_of(frame, each), means_of(found, each)),
                series_of("links", means_of(from, each), means_of(links, each))});
}

/// Lengths of links over one frame step, of a regular sample of tracks if there are more than a million
/// points.
std::vector<double> displacements(const TrackSet& tracks, std::int32_t step) {
  constexpr std::size_t kMost = 1'000'000;
  const std::size_t every = tracks.points() / kMost + 1;
  std::vector<double> lengths;
  for (std::size_t t = 0; t < tracks.tracks(); t += every) {
    for (auto i = static_cast<std::size_t>(tracks.track_offsets[t]) + 1;
         i < static_cast<std::size_t>(tracks.track_offsets[t + 1]); ++i) {
      if (tracks.frame[i] - tracks.frame[i - 1] != step) continue;
      lengths.push_back(std::hypot(tracks.x_um[i] - tracks.x_um[i - 1], tracks.y_um[i] - tracks.y_um[i - 1],
                                   tracks.z_um[i] - tracks.z_um[i - 1]));
    }
  }
  return lengths;
}

ordered_json displacement_chart(const TrackSet& tracks, std::int32_t step, const tracking::Gate& gate) {
  constexpr std::size_t kBins = 60;
  const std::vector<double> lengths = displacements(tracks, step);
  const double longest = lengths.empty() ? 0 : *std::max_element(lengths.begin(), lengths.end());
  const double width = std::max(longest, (gate.bounded() ? gate.um : 0.0)) * 1.02 / kBins;
  std::vector<double> x, y(kBins + 1, 0);
  for (std::size_t i = 0; i <= kBins; ++i) x.push_back(static_cast<double>(i) * width);
  for (const double length : lengths) y[std::min(kBins - 1, static_cast<std::size_t>(length / width))] += 1;
  if (lengths.empty()) x.clear(), y.clear();
  ordered_json histogram = series_of("links", x, y);
  histogram["steps"] = "before";  // Chart.js: a value applies up to the next x
  std::vector<ordered_json> all{std::move(histogram)};
  if (gate.bounded() && !lengths.empty()) {
    ordered_json line = series_of("gate (" + to_string(gate.source) + ")", {gate.um, gate.um},
                                  {0, *std::max_element(y.begin(), y.end())});
    line["dashed"] = true;
    all.push_back(std::move(line));
  }
  return chart("Displacements between successive frames", "displacement (" + tracks.length_unit + ")",
               "links", std::move(all));
}

ordered_json length_chart(const TrackSet& tracks) {
  std::map<std::int64_t, double> count;
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    count[tracks.track_offsets[t + 1] - tracks.track_offsets[t]] += 1;
  std::vector<double> x, y;
  for (const auto& [length, number] : count) {
    x.push_back(static_cast<double>(length));
    y.push_back(number);
  }
  ordered_json lengths = series_of("tracks", x, y);
  lengths["points"] = true;
  return chart("Lengths of tracks", "points of a track", "tracks", {std::move(lengths)});
}

ordered_json msd_chart(const TrackSet& tracks, std::int32_t step) {
  constexpr std::size_t kLags = 30, kMost = 1'000'000;
  std::array<double, kLags + 1> sum{}, pairs{};
  const std::size_t every = tracks.points() / kMost + 1;
  for (std::size_t t = 0; t < tracks.tracks(); t += every) {
    const auto begin = static_cast<std::size_t>(tracks.track_offsets[t]);
    const auto end = static_cast<std::size_t>(tracks.track_offsets[t + 1]);
    for (std::size_t i = begin; i < end; ++i) {
      for (std::size_t j = i + 1; j < end; ++j) {
        const auto lag = static_cast<std::size_t>((tracks.frame[j] - tracks.frame[i]) / step);
        if (lag > kLags) break;
        const double dx = tracks.x_um[j] - tracks.x_um[i], dy = tracks.y_um[j] - tracks.y_um[i],
                     dz = tracks.z_um[j] - tracks.z_um[i];
        sum[lag] += dx * dx + dy * dy + dz * dz;
        pairs[lag] += 1;
      }
    }
  }
  constexpr double kEnough = 10;  // pairs
  std::vector<double> x, y;
  for (std::size_t lag = 1; lag <= kLags; ++lag) {
    if (pairs[lag] < kEnough || !(sum[lag] > 0)) continue;
    x.push_back(static_cast<double>(lag) * step * tracks.dt_s.value_or(1));
    y.push_back(sum[lag] / pairs[lag]);
  }
  ordered_json msd = series_of("MSD", x, y);
  msd["points"] = true;
  ordered_json made = chart("Mean squared displacement", tracks.dt_s ? "lag (s)" : "lag (frames)",
                            "MSD (" + tracks.length_unit + "^2)", {std::move(msd)});
  made["log"] = true;
  return made;
}

ordered_json parameters(const Session& session, const Config& config, const PointSeries& series,
                        const tracking::Gate& gate) {
  ordered_json list = ordered_json::array();
  const auto add = [&](const std::string& key, const std::string& value, const std::string& from) {
    list.push_back({{"key", key}, {"value", value}, {"from", from}});
  };
  for (const Option& option : options()) {
    const std::string section = option.path.substr(0, option.path.find('.'));
    if (section != "input" && section != "detection" && section != "linking") continue;
    add(option.path, to_text(option.get(config)), origin_of(session, config, option.path));
  }
  if (series.radius_um)
    add("spot radius",
        fmt::format("[{:.4g}, {:.4g}, {:.4g}] um [z, y, x]", series.radius_um->z, series.radius_um->y,
                    series.radius_um->x),
        series.radius_source);
  if (series.camera) add("camera", camera_text(*series.camera), series.camera->source);
  if (series.faint)
    add("false spots accepted", fmt::format("{:g} a frame", series.faint->false_per_frame),
        series.faint->source);
  if (gate.bounded())
    add("gate", fmt::format("{:.4g} {}", gate.um, series.length_unit), to_string(gate.source));
  return list;
}

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out((bytes.size() + 2) / 3 * 4, '=');
  for (std::size_t i = 0, at = 0; i < bytes.size(); i += 3, at += 4) {
    const std::size_t there = std::min<std::size_t>(3, bytes.size() - i);
    std::uint32_t word = 0;
    for (std::size_t k = 0; k < there; ++k)
      word |= std::uint32_t{static_cast<unsigned char>(bytes[i + k])} << (16 - 8 * k);
    for (std::size_t k = 0; k <= there; ++k) out[at + k] = kDigits[word >> (18 - 6 * k) & 63];
  }
  return out;
}

/// The box around all points, as sides (x, y, z) and its low corner.
struct TrackBox {
  std::array<double, 3> low{}, side{};
};

TrackBox box_of(const TrackSet& tracks) {
  TrackBox box;
  const std::array<const std::vector<double>*, 3> axes{&tracks.x_um, &tracks.y_um, &tracks.z_um};
  for (std::size_t a = 0; a < 3; ++a) {
    if (axes[a]->empty()) continue;
    const auto [low, high] = std::minmax_element(axes[a]->begin(), axes[a]->end());
    box.low[a] = *low;
    box.side[a] = *high - *low;
  }
  return box;
}

/// Of tracks longer than about this number of points, only some points are drawn.
constexpr std::int64_t kMostOfTrack = 20'000;

/// The n of which every n-th point is drawn.
std::int64_t thinning(const TrackSet& tracks) {
  std::int64_t longest = 0;
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    longest = std::max(longest, tracks.track_offsets[t + 1] - tracks.track_offsets[t]);
  return longest / kMostOfTrack + 1;
}

std::int64_t points_drawn(const TrackSet& tracks, std::size_t t, std::int64_t every) {
  return (tracks.track_offsets[t + 1] - tracks.track_offsets[t] + every - 1) / every;
}

/// The longest tracks, up to kMostPoints points, which a browser rotates smoothly.
std::vector<std::size_t> tracks_to_draw(const TrackSet& tracks, std::int64_t every) {
  constexpr std::int64_t kMostPoints = 200'000;
  std::vector<std::size_t> order;
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    if (tracks.track_offsets[t + 1] - tracks.track_offsets[t] > 1) order.push_back(t);
  const auto length = [&](std::size_t t) { return tracks.track_offsets[t + 1] - tracks.track_offsets[t]; };
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return length(a) > length(b); });
  std::int64_t points = 0;
  const auto too_many = [&](std::size_t t) {
    return (points += points_drawn(tracks, t, every)) > kMostPoints;
  };
  order.erase(std::find_if(order.begin(), order.end(), too_many), order.end());
  return order;
}

/// JSON for use in HTML: "<" is escaped, so that a "</script>" in a string does not end the element.
std::string embedded(const ordered_json& data) {
  const std::string text = data.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
  std::string out;
  for (const char c : text) {
    if (c == '<')
      out += "\\u003c";
    else
      out += c;
  }
  return out;
}

}  // namespace

ordered_json series_of(const std::string& name, std::vector<double> x, std::vector<double> y) {
  return {{"name", name}, {"x", std::move(x)}, {"y", std::move(y)}};
}

ordered_json chart(const std::string& title, const std::string& x, const std::string& y,
                   std::vector<ordered_json> series) {
  return {{"title", title}, {"x", x}, {"y", y}, {"series", std::move(series)}};
}

// `points`: base64 of little-endian uint16 x, y, z, each in 65535ths of the box.
ordered_json scene_of(const TrackSet& tracks) {
  const TrackBox box = box_of(tracks);
  const std::int64_t every = thinning(tracks);
  const std::vector<std::size_t> drawn = tracks_to_draw(tracks, every);
  std::int64_t with_links = 0;
  for (std::size_t t = 0; t < tracks.tracks(); ++t)
    if (tracks.track_offsets[t + 1] - tracks.track_offsets[t] > 1) ++with_links;
  const std::array<const std::vector<double>*, 3> axes{&tracks.x_um, &tracks.y_um, &tracks.z_um};
  std::string points;
  std::vector<std::int64_t> lengths;
  std::vector<std::int32_t> frames;
  for (const std::size_t t : drawn) {
    lengths.push_back(points_drawn(tracks, t, every));
    for (auto i = static_cast<std::size_t>(tracks.track_offsets[t]);
         i < static_cast<std::size_t>(tracks.track_offsets[t + 1]); i += static_cast<std::size_t>(every)) {
      frames.push_back(tracks.frame[i]);
      for (std::size_t a = 0; a < 3; ++a) {
        const double part = box.side[a] > 0 ? ((*axes[a])[i] - box.low[a]) / box.side[a] : 0;
        const auto value = static_cast<std::uint16_t>(std::lround(part * 65535));
        points += static_cast<char>(value & 255);
        points += static_cast<char>(value >> 8);
      }
    }
  }
  return {{"low", box.low},         {"side", box.side},         {"unit", tracks.length_unit},
          {"tracks", drawn.size()}, {"of_tracks", with_links},  {"lengths", lengths},
          {"frames", frames},       {"points", base64(points)}, {"every", every}};
}

std::string page_of(const ordered_json& data, const std::string& picture_png) {
  const std::string picture = picture_png.empty()
                                  ? ""
                                  : "<h2>Projections</h2><img alt=\"Tracks over the maximum projections xy "
                                    "and xz\" src=\"data:image/png;base64," +
                                        base64(picture_png) + "\">";
  std::string page;
  std::string_view left = kPageTemplate;
  const std::map<std::string_view, std::string_view> parts{{"picture", picture},
                                                           {"library", kChartLibrary},
                                                           {"scene_library", kSceneLibrary},
                                                           {"orbit_library", kOrbitLibrary}};
  const std::string json = embedded(data);
  while (!left.empty()) {
    const auto open = left.find("{{");
    const auto close = left.find("}}", open);
    if (open == std::string_view::npos) break;
    page += left.substr(0, open);
    const std::string_view name = left.substr(open + 2, close - open - 2);
    page += name == "data" ? std::string_view(json) : parts.at(name);
    left.remove_prefix(close + 2);
  }
  page += left;
  return page;
}

std::string origin_of(const Session& session, const Config& config, const std::string& key) {
  if (const std::string name = short_option_of(session.short_options, key); !name.empty()) return "--" + name;
  for (const std::string& setting : session.settings)
    if (setting.substr(0, setting.find('=')) == key) return "--set";
  if (key == "input.path") return "the input";
  const Option* option = find_option(key);
  return to_text(option->get(config)) == to_text(option->get(Config())) ? "default" : "configuration file";
}

std::string report_page(const Session& session, const Config& config, const PageFacts& facts,
                        const PointSeries& series, const tracking::Gate& gate, const TrackSet& tracks) {
  const ordered_json& report = facts.report;
  const std::int32_t step = config.input.frame_step;
  const ordered_json data{{"title", facts.title},
                          {"summary", facts.summary},
                          {"warnings", report.at("warnings")},
                          {"input", report.at("input")},
                          {"parameters", parameters(session, config, series, gate)},
                          {"charts",
                           {counts_chart(series, report), displacement_chart(tracks, step, gate),
                            length_chart(tracks), msd_chart(tracks, step)}},
                          {"scene", scene_of(tracks)}};
  return page_of(data, facts.picture_png);
}

}  // namespace motes::app
