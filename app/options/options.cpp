/// To add a key: a member in Config (app/options/config.h), a row here (or in simulation_options.cpp), and
/// `motes info --options` into docs/configuration.md; a test fails until the page is up to date.
#include "app/options/options.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include <motes/matching/registry.h>
#include <motes/tracking/linker.h>

#include "app/options/nearest.h"
#include "app/options/option_rows.h"

namespace motes::app {
namespace {

/// `auto`, a name of the solver registry, or `greedy`.
Codec<std::string> solver_name() {
  std::vector<std::string> names{"auto", tracking::kGreedySolver};
  for (const matching::SolverInfo& info : matching::solvers()) {
    if (info.family() == matching::Family::assignment) names.emplace_back(info.name);
  }
  Codec<std::string> codec = text("auto, an exact assignment solver that `motes info` lists, or greedy");
  codec.parse = [names](const Value& value) -> std::optional<std::string> {
    if (value.list) return std::nullopt;
    if (std::find(names.begin(), names.end(), value.word()) != names.end()) return value.word();
    throw BadValue("no such solver" + did_you_mean(value.word(), names, "") + " (motes info lists them)");
  };
  return codec;
}

/// The path of an image. `instead`: the message for "true" and the like, which are not paths; a file of that
/// name is written ./true.
Codec<std::string> image_path(const std::string& instead) {
  Codec<std::string> codec = text("a path");
  codec.parse = [instead](const Value& value) -> std::optional<std::string> {
    if (value.list) return std::nullopt;
    for (const std::string_view on : {"true", "yes", "on", "1"})
      if (value.word() == on) throw BadValue(instead);
    for (const std::string_view off : {"false", "no", "off", "0"})
      if (value.word() == off) throw BadValue("give a path, or none");
    return value.word();
  };
  return codec;
}

void add_input(std::vector<Option>& table) {
  table.push_back(row("input.path", "", text("a path"), MOTES_AT(input.path),
                      "Images (a file or a folder) or a table of points, relative to the YAML file."));
  table.push_back(row("input.voxel_um", "um", word_or("auto", per_axis(kPositive)), MOTES_AT(input.voxel_um),
                      "Distance between voxel centres. auto: from the metadata. For a table with columns x, "
                      "y, z: um per unit (1 keeps the numbers, in px)."));
  table.push_back(row("input.dt_s", "s", word_or("auto", real(kPositive)), MOTES_AT(input.dt_s),
                      "Time between frames. auto: from the metadata; a table without times counts frames."));
  table.push_back(row("input.channel", "", word_or("auto", integer<int>(0, 4095)), MOTES_AT(input.channel),
                      "Channel to read, counted from 0. auto: the first."));
  table.push_back(
      row("input.frame_step", "frames", integer<std::int32_t>(1, 1000000), MOTES_AT(input.frame_step),
          "Use only frames whose number is a multiple of this; numbers and times do not change."));
  table.push_back(
      row("input.frames", "", frame_range(), MOTES_AT(input.frames), "Use frames A to B - 1 only."));
  table.push_back(row("input.axes", "", word_or("auto", text("the axes, slowest first, such as TZCYX")),
                      MOTES_AT(input.axes), "Order of the file's pages, if the metadata do not state it."));
  table.push_back(
      row("input.columns", "", names_by_key({"x", "y", "z", "frame", "time", "particle", "parent"}),
          MOTES_AT(input.columns), "Names of a table's columns, such as {x: Position X, frame: Time}."));
  table.push_back(row(
      "input.unit", "",
      choice<io::TableUnit>({{"auto", io::TableUnit::unknown},
                             {"um", io::TableUnit::um},
                             {"nm", io::TableUnit::nm},
                             {"mm", io::TableUnit::mm},
                             {"px", io::TableUnit::px}}),
      MOTES_AT(input.unit),
      "Unit of a table's x, y, z, if the file does not state it. px: scaled by input.voxel_um if given."));
  table.push_back(row("input.trusted", "", truth_value(), MOTES_AT(input.trusted),
                      "Read HDF5 and VTP without the child process that guards against hostile files."));
  table.push_back(row("input.allow_outside", "", truth_value(), MOTES_AT(input.allow_outside),
                      "Let a BigDataViewer XML or OME file name data outside its folder."));
  table.push_back(row("input.crop", "voxels", word_or("none", region()), MOTES_AT(input.crop),
                      "Part of every frame to search, end exclusive, such as 100:300,0:200,:. "
                      "Positions remain those in the full frame."));
  table.push_back(row("input.mask", "", word_or("none", image_path("give the path of the mask")),
                      MOTES_AT(input.mask),
                      "Image of the input's shape (one frame or all, one plane or all). Spots are searched "
                      "where it is above 0, and keep its value as mask_label."));
  table.push_back(row("input.labels", "",
                      word_or("none", image_path("give the path of the label image; if the frames are labels "
                                                 "themselves, set detection.method: labels instead")),
                      MOTES_AT(input.labels),
                      "Label image with the input's frames; each label of a frame is one detection."));
}

void add_camera(std::vector<Option>& table) {
  table.push_back(row("detection.camera_gain", "grey levels per photon",
                      word_or("none", word_or("auto", real(kPositive))), MOTES_AT(detection.camera_gain),
                      "Grey levels for each detected photon (1 / 0.46 for 0.46 electrons per count), to "
                      "count photons and weight fits. none: not known. "
                      "auto: estimated from up to five frames."));
  table.push_back(row("detection.camera_offset", "grey levels", word_or("auto", real(kAnyNumber)),
                      MOTES_AT(detection.camera_offset),
                      "With camera_gain: grey level without light. auto: from the noise."));
  table.push_back(
      row("detection.read_noise", "grey levels", word_or("auto", real(kNotNegative)),
          MOTES_AT(detection.read_noise),
          "With camera_gain: standard deviation without light, in grey levels. auto: from the noise."));
}

void add_detection(std::vector<Option>& table) {
  table.push_back(row("detection.method", "",
                      choice<DetectionMethod>({{"auto", DetectionMethod::automatic},
                                               {"spots", DetectionMethod::spots},
                                               {"labels", DetectionMethod::labels}}),
                      MOTES_AT(detection.method),
                      "What to find: spots, or the objects of label images (input.labels, else the frames "
                      "themselves; background is 0). auto: labels if input.labels is given, else spots."));
  table.push_back(row("detection.radius_um", "um", word_or("auto", per_axis(kPositive)),
                      MOTES_AT(detection.radius_um),
                      "Spot radius: three quarters of the full width at half maximum (in a single plane "
                      "three fifths). auto: estimated."));
  table.push_back(row("detection.largest_radius_um", "um", word_or("auto", per_axis(kPositive)),
                      MOTES_AT(detection.largest_radius_um),
                      "Radius of the largest spots, if sizes differ; the search takes longer. auto: "
                      "estimated if radius_um is auto, else one size."));
  table.push_back(
      row("detection.threshold", "", word_or("auto", real(kNotNegative)), MOTES_AT(detection.threshold),
          "Lowest quality of a spot (filter response, in grey levels). auto: from each frame's noise."));
  table.push_back(row("detection.false_positives_per_frame", "spots", word_or("auto", real(kPositive)),
                      MOTES_AT(detection.false_positives_per_frame),
                      "With threshold auto: false spots to expect in a frame. auto: at most one in twenty of "
                      "those found; in track two for each found, if spots are faint and links bridge gaps."));
  table.push_back(
      row("detection.max_count", "spots", integer<std::int64_t>(0, 1000000000), MOTES_AT(detection.max_count),
          "Keep only this many of a frame's best spots (with threshold auto, even weak ones). 0: no limit."));
  table.push_back(row("detection.polarity", "",
                      word_or("auto", choice<tracking::Polarity>({{"bright", tracking::Polarity::bright},
                                                                  {"dark", tracking::Polarity::dark}})),
                      MOTES_AT(detection.polarity),
                      "Spots brighter or darker than their surroundings. auto: dark if only such are seen."));
  table.push_back(row("detection.refine", "",
                      choice<tracking::Refine>({{"auto", tracking::Refine::automatic},
                                                {"fit", tracking::Refine::fit},
                                                {"parabola", tracking::Refine::parabola}}),
                      MOTES_AT(detection.refine),
                      "How positions are refined. fit: fitted Gaussian spots, with standard errors. "
                      "parabola: the filter's peak; faster, but spots that touch are one. auto: fit."));
  add_camera(table);
}

void add_linking(std::vector<Option>& table) {
  table.push_back(row("linking.gate_um", "um", word_or("auto", real(kPositive)), MOTES_AT(linking.gate_um),
                      "Longest displacement to the next frame that may be a link; more over gaps. auto: from "
                      "max_speed_um_s if given, else none for series, estimated for pairs."));
  table.push_back(row(
      "linking.scope", "",
      choice<Scope>({{"auto", Scope::automatic}, {"pairs", Scope::pairs}, {"series", Scope::series}}),
      MOTES_AT(linking.scope),
      "How frames are linked. pairs: each to the next. series: all at once, across missed detections. auto: "
      "series, but pairs for more than 100 million detections (a million that move little and are rarely "
      "missed), or with linking.cost, linking.no_link_cost or solver greedy."));
  table.push_back(row(
      "linking.model", "",
      choice<tracking::MotionModel>({{"auto", tracking::MotionModel::automatic},
                                     {"static", tracking::MotionModel::standing},
                                     {"velocity", tracking::MotionModel::velocity},
                                     {"field", tracking::MotionModel::field},
                                     {"joint", tracking::MotionModel::joint}}),
      MOTES_AT(linking.model),
      "Series: how motion is predicted. static: not at all. velocity: from the links before and after. "
      "field: from the neighbours. joint: as velocity, over all frames at once. auto: what predicts best."));
  table.push_back(row("linking.max_gap", "frames", integer<int>(0, 100), MOTES_AT(linking.max_gap),
                      "Series: how many frames in a row a particle may be missed."));
  table.push_back(row("linking.events", "",
                      choice<tracking::Events>({{"auto", tracking::Events::automatic},
                                                {"none", tracking::Events::none},
                                                {"divisions", tracking::Events::divisions},
                                                {"merges", tracking::Events::merges}}),
                      MOTES_AT(linking.events),
                      "Series: events to look for. auto: divisions, if there are clearly more than chance "
                      "explains. merges: merges and divisions."));
  table.push_back(row("linking.confidence", "", truth_value(), MOTES_AT(linking.confidence),
                      "Series: estimate the probability that each link is right."));
  table.push_back(row("linking.min_confidence", "", real(Domain{0, 1, true, " from 0 to 1"}),
                      MOTES_AT(linking.min_confidence),
                      "Series: cut links with a lower probability of being right."));
  table.push_back(row("linking.min_length", "points", word_or("auto", integer<std::int64_t>(1, 1000000000)),
                      MOTES_AT(linking.min_length),
                      "Leave out tracks of fewer points; their detections stay. auto: 1, but short tracks "
                      "that score like noise (threshold auto) are left out."));
  table.push_back(row("linking.features", "",
                      word_or("auto", list_of("none, or a list of properties", text("a property's name"))),
                      MOTES_AT(linking.features),
                      "Series: properties (quality, intensity, radius, or a table's columns) that may tell "
                      "particles from false detections. auto: the first six."));
  table.push_back(row("linking.exclusion_um", "um", word_or("auto", real(kNotNegative)),
                      MOTES_AT(linking.exclusion_um),
                      "Series: distance that particles keep from each other; nearer detections may be false. "
                      "auto: estimated."));
  table.push_back(row("linking.gate_share", "", real(kShare), MOTES_AT(linking.gate_share),
                      "Pairs, gate_um auto: share of the true links that the gate must allow."));
  table.push_back(row("linking.max_speed_um_s", "um/s", word_or("none", real(kPositive)),
                      MOTES_AT(linking.max_speed_um_s),
                      "Sets the gate to this speed times the time between frames."));
  table.push_back(row("linking.cost", "",
                      choice<tracking::LinkCost>({{"squared", tracking::LinkCost::squared},
                                                  {"euclidean", tracking::LinkCost::euclidean}}),
                      MOTES_AT(linking.cost), "Pairs: cost of a link: its squared length or its length."));
  table.push_back(
      row("linking.no_link_cost", "um^2 (squared) or um (euclidean)", word_or("auto", real(kNotNegative)),
          MOTES_AT(linking.no_link_cost),
          "Pairs: cost of each end without a partner. auto: gate^2 (squared) or gate (euclidean)."));
  table.push_back(row("linking.solver", "", solver_name(), MOTES_AT(linking.solver),
                      "Assignment solver. auto: by size. Exact solvers differ only in speed; greedy takes "
                      "the nearest pairs first."));
  table.push_back(row("linking.verify", "", truth_value(), MOTES_AT(linking.verify),
                      "Check every assignment's certificate (greedy: that links are nearest first)."));
}

void add_execution_and_output(std::vector<Option>& table) {
  table.push_back(
      row("execution.backend", "",
          choice<Backend>({{"auto", Backend::automatic}, {"cpu", Backend::cpu}, {"cuda", Backend::cuda}}),
          MOTES_AT(execution.backend), "Where to compute. auto: on a GPU where it is faster."));
  table.push_back(row("execution.threads", "threads", integer<int>(0, 4096), MOTES_AT(execution.threads),
                      "Number of CPU threads. 0: all."));
  table.push_back(
      row("execution.devices", "", device_numbers(), MOTES_AT(execution.devices),
          "GPUs by their numbers in `motes info`. Several share the frames of track and detect."));
  table.push_back(row("execution.memory_gb", "GB", word_or("auto", real(kPositive)),
                      MOTES_AT(execution.memory_gb),
                      "Memory of a run. What is larger is kept in files in TMPDIR, else beside the results. "
                      "auto: no limit."));
  table.push_back(
      row("output.dir", "", word_or("auto", text("a folder")), MOTES_AT(output.dir),
          "Folder for results, relative to the current one; -o overrides it. auto: named after the input."));
  table.push_back(row("output.preview", "", truth_value(), MOTES_AT(output.preview),
                      "Write preview.png: maximum projections with the tracks."));
  table.push_back(row("output.report", "", truth_value(), MOTES_AT(output.report),
                      "Write report.html: plots, warnings and parameters."));
  table.push_back(row("output.vtk", "", truth_value(), MOTES_AT(output.vtk),
                      "Write tracks.vtp, tracks.vtkhdf, frames.pvd and frames/*.vtp for ParaView."));
  table.push_back(row("output.csv_names", "",
                      choice<CsvNames>({{"motes", CsvNames::motes}, {"trackpy", CsvNames::trackpy}}),
                      MOTES_AT(output.csv_names), "Columns of tracks.csv. trackpy: also x, y, z."));
  table.push_back(row("output.pairs", "", truth_value(), MOTES_AT(output.pairs),
                      "Write pairs.csv: solver, status, links and gap of every frame pair."));
}

std::vector<Option> make_table() {
  std::vector<Option> table;
  add_input(table);
  add_detection(table);
  add_linking(table);
  add_execution_and_output(table);
  add_simulation_options(table);
  return table;
}

}  // namespace

std::string section_of(const std::string& path) { return path.substr(0, path.find('.')); }

const std::vector<Option>& options() {
  static const std::vector<Option> table = make_table();
  return table;
}

const Option* find_option(std::string_view path) {
  for (const Option& option : options()) {
    if (option.path == path) return &option;
  }
  return nullptr;
}

const std::vector<std::string>& option_paths() {
  static const std::vector<std::string> paths = [] {
    std::vector<std::string> all;
    for (const Option& option : options()) all.push_back(option.path);
    return all;
  }();
  return paths;
}

std::string to_text(const Value& value) {
  if (value.map) {
    std::string joined = "{";
    for (std::size_t i = 0; i + 1 < value.items.size(); i += 2)
      joined += (i > 0 ? ", " : "") + value.items[i] + ": " + value.items[i + 1];
    return joined + "}";
  }
  if (!value.list) return value.word();
  std::string joined = "[";
  for (std::size_t i = 0; i < value.items.size(); ++i) joined += (i > 0 ? ", " : "") + value.items[i];
  return joined + "]";
}

namespace {

/// The default and, unless it is a number or the meaning explains them, the other values.
std::string values_in_short(const Option& option, const std::string& standard) {
  if (standard.empty()) return option.allowed;
  const std::string shown = "`" + standard + "`";
  const auto allows = [&](std::string_view words) { return option.allowed.find(words) != std::string::npos; };
  if (allows("one number")) return shown + ", or as [z, y, x]";
  if (option.allowed == "true or false") return shown;
  if (allows("a number") || allows("a whole number")) {
    const bool counts = parse_number<double>(standard).has_value() && !option.unit.empty();
    return shown + (counts ? " " + option.unit : "");
  }
  const std::string words = " " + option.allowed + ",";
  for (const std::string_view after : {",", " or "}) {
    const std::size_t at = words.find(" " + standard + std::string(after));
    if (at == std::string::npos) continue;
    std::string text = words.substr(0, words.size() - 1);
    text.replace(at + 1, standard.size(), shown);
    return text.substr(1);
  }
  return shown + "; " + option.allowed;
}

bool is_simulated(const std::string& section) {
  return section == "simulation" || section == "faults" || section == "imaging";
}

/// The text as a list item, wrapped at 100 columns.
std::string list_item(const std::string& text) {
  std::string item = "-";
  std::size_t column = item.size();
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    const bool fits = column + 1 + end - at <= 100;
    item += fits ? " " : "\n  ";
    item += text.substr(at, end - at);
    column = (fits ? column + 1 : 2) + end - at;
    at = end + 1;
  }
  return item + "\n";
}

}  // namespace

std::string options_markdown() {
  std::string page =
      "# Configuration\n\n"
      "Every setting, with its `default` in parentheses. `motes help KEY` explains a key, also of `motes\n"
      "simulate`, whose settings are at the end. `--set key.path=value` and other options take precedence\n"
      "over the YAML file. Vectors are [z, y, x]; lengths are in micrometres (`_um`; px for a table in\n"
      "`px`), times in seconds (`_s`). Keys under `execution` do not change the result. *Series* and\n"
      "*pairs* are values of `linking.scope`.\n";
  const Config defaults;
  std::string section;
  for (const Option& option : options()) {
    const bool simulated = is_simulated(section_of(option.path));
    if (section_of(option.path) != section) {
      section = section_of(option.path);
      page += "\n## " + section + "\n\n" + (simulated ? "    " + section + ":\n" : "");
    }
    const std::string standard = to_text(option.get(defaults));
    if (simulated) {
      page += "      " + option.path.substr(section.size() + 1) + ": " + standard + "\n";
    } else {
      page += list_item("`" + option.path + "` (" + values_in_short(option, standard) + "): " + option.doc);
    }
  }
  return page;
}

}  // namespace motes::app
