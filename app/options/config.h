#pragma once
/// The effective configuration. Only config.cpp uses YAML.
///
/// Sources of values, in rising order of precedence: defaults, the YAML file, --set and the other command
/// line options. All pass through the option table (app/options/options.h), which checks type and domain.

#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <motes/io/tables.h>
#include <motes/sim/simulation.h>
#include <motes/tracking/candidates.h>
#include <motes/tracking/crop.h>
#include <motes/tracking/divisions.h>
#include <motes/tracking/gate_estimate.h>
#include <motes/tracking/geometry.h>
#include <motes/tracking/log_detector.h>
#include <motes/tracking/motion_model.h>

namespace motes::app {

/// How simulated volumes are written.
enum class VolumeFormat { ome_tiff, bdv_h5 };
/// What one optimisation links: two successive frames, or the whole series.
enum class Scope { automatic, pairs, series };
/// How detections are found. automatic: labels if input.labels is given, else spots.
enum class DetectionMethod { automatic, spots, labels };
enum class TrackFileKind { h5, csv, xml, vtp };
enum class PointFileKind { csv, h5 };

/// Frames first, first + 1, ..., end - 1 of a series.
struct FrameRange {
  static constexpr std::int32_t kOpen = std::numeric_limits<std::int32_t>::max();
  std::int32_t first = 0;
  std::int32_t end = kOpen;  ///< kOpen: to the last frame
  bool holds(std::int32_t frame) const { return frame >= first && frame < end; }
};

/// The names of the coordinate columns in tracks.csv.
enum class CsvNames { motes, trackpy };

struct Config {
  struct Input {
    std::string path;
    std::optional<Vec3> voxel_um;  ///< none: from the metadata
    std::optional<double> dt_s;    ///< none: from the metadata
    std::optional<int> channel;
    std::int32_t frame_step = 1;
    FrameRange frames;  ///< the frames of the series to work on
    std::optional<std::string> axes;
    std::map<std::string, std::string> columns;  ///< of a table: role -> name
    io::TableUnit unit = io::TableUnit::unknown;
    bool trusted = false, allow_outside = false;  ///< io::InputPolicy
    std::optional<tracking::Region> crop;
    std::optional<std::string> mask, labels;  ///< paths
  } input;
  struct Detection {
    DetectionMethod method = DetectionMethod::automatic;
    std::optional<Vec3> radius_um;          ///< none: estimated on frames of the series
    std::optional<Vec3> largest_radius_um;  ///< none: estimated if radius_um is, else one size
    std::optional<double> threshold;        ///< none: spots are chosen by the evidence of the voxels
    std::optional<double> false_positives_per_frame;  ///< none: a small share of the spots
    std::int64_t max_count = 0;
    std::optional<tracking::Polarity> polarity;  ///< none: seen in the first frame
    tracking::Refine refine = tracking::Refine::automatic;
    /// None: fits estimate the noise of each frame. None inside (auto): estimated on the series.
    std::optional<std::optional<double>> camera_gain;
    std::optional<double> camera_offset, read_noise;  ///< none: from the noise
  } detection;
  struct Linking {
    std::optional<double> gate_um;  ///< none: from max_speed_um_s, else estimated
    Scope scope = Scope::automatic;
    tracking::MotionModel model = tracking::MotionModel::automatic;
    int max_gap = 3;
    tracking::Events events = tracking::Events::automatic;
    bool confidence = true;
    double min_confidence = 0;
    std::optional<std::int64_t> min_length;  ///< none: 1, but without short tracks that may be noise
    double gate_share = tracking::kGateShare;
    std::optional<std::vector<std::string>> features;  ///< none: all; {"none"}: no properties
    std::optional<double> exclusion_um;                ///< none: estimated
    std::optional<double> max_speed_um_s;              ///< gate = max_speed_um_s * dt_s * frame_step
    tracking::LinkCost cost = tracking::LinkCost::squared;
    std::optional<double> no_link_cost;  ///< none: gate^2 (or gate)
    std::string solver = "auto";
    bool verify = false;
  } linking;
  struct ExecutionKeys {
    Backend backend = Backend::automatic;
    int threads = 0;                  ///< 0: all of the machine
    std::vector<int> devices{0};      ///< GPUs by number; empty: all
    std::optional<double> memory_gb;  ///< 10^9 bytes; none: frames are in memory
  } execution;
  struct Output {
    std::optional<std::string> dir;  ///< none: a name made from the input's
    bool preview = true;
    bool vtk = true;
    bool report = true;
    CsvNames csv_names = CsvNames::motes;
    bool pairs = false;
  } output;
  sim::MotionOptions simulation;
  sim::FaultOptions faults;
  struct Simulated {
    std::optional<std::vector<TrackFileKind>> truth;       ///< none: by size
    std::optional<std::vector<PointFileKind>> detections;  ///< none: by size
  } simulated;
  struct Imaging {
    sim::ImagingOptions optics;
    bool write_frames = false;
    VolumeFormat format = VolumeFormat::ome_tiff;
    bool deflate = true;
  } imaging;
};

/// Reads a YAML file into `config`; keys that it does not have keep their values. Relative input.path,
/// input.mask and input.labels become relative to the file's folder. Throws UsageError with file:line for
/// unreadable YAML, unknown or repeated keys (naming the nearest known one), and values of the wrong type or
/// out of their domain.
void load_yaml(const std::filesystem::path& file, Config& config);

/// As load_yaml, for text in memory. `name` begins error messages. Relative paths are not changed.
void load_yaml_text(const std::string& text, const std::string& name, Config& config);

/// Sets one key from text as YAML would ("4", "[0.4, 0.1, 0.1]"). `source` begins error messages ("--set").
/// Throws UsageError.
void set_key(Config& config, std::string_view key, std::string_view text, std::string_view source);

/// set_key of "key=value". Throws UsageError if there is no '='.
void apply_assignment(Config& config, std::string_view assignment);

/// The configuration as YAML that load_yaml reads back to the same values: the given sections, or all.
std::string to_yaml(const Config& config, std::initializer_list<std::string_view> sections = {});

/// The configuration as results record it: without the keys that state how far the input is trusted.
Config without_policy(Config config);

/// Throws UsageError if keys contradict each other.
void check_consistency(const Config& config);

}  // namespace motes::app
