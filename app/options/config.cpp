/// Reads and writes the configuration as YAML.

#include "app/options/config.h"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <set>
#include <vector>

#include <yaml-cpp/yaml.h>

#include <motes/base/errors.h>
#include <motes/tracking/linker.h>

#include "app/options/nearest.h"
#include "app/options/options.h"

namespace motes::app {
namespace {

constexpr std::uintmax_t kLargestConfig = 1 << 20;

std::string at_line(const std::string& file, const YAML::Mark& mark) {
  return file + ":" + std::to_string(mark.line + 1) + ": ";
}

/// Whether the option's value is a map, as its default is then.
bool takes_map(const Option& option) { return option.get(Config()).map; }

bool takes_list(const Option& option) {
  return option.allowed.find("[z, y, x]") != std::string::npos ||
         option.allowed.find("a list of") != std::string::npos;
}

/// The value of a key; `where` begins the error message.
Value to_value(const YAML::Node& node, const std::string& where, const std::string& allowed, bool takes_map) {
  if (node.IsScalar()) return {{node.Scalar()}, false};
  if (node.IsSequence()) {
    Value value{{}, true};
    for (const YAML::Node& item : node) {
      if (!item.IsScalar())
        throw UsageError(where + "a list may hold plain values only; allowed: " + allowed);
      value.items.push_back(item.Scalar());
    }
    return value;
  }
  if (node.IsMap() && takes_map) {
    Value value{{}, false, true};
    for (const auto& entry : node) {
      if (!entry.first.IsScalar() || !entry.second.IsScalar())
        throw UsageError(where + "a map may hold plain values only; allowed: " + allowed);
      value.items.insert(value.items.end(), {entry.first.Scalar(), entry.second.Scalar()});
    }
    return value;
  }
  throw UsageError(where + (node.IsMap() ? "a map is given instead of a value" : "no value given") +
                   "; allowed: " + allowed);
}

void assign(Config& config, const Option& option, const Value& value, const std::string& where) {
  try {
    option.set(config, value);
  } catch (const BadValue& bad) {
    throw UsageError(where + "'" + to_text(value) + "' is not allowed; " + bad.what());
  }
}

[[noreturn]] void fail_unknown(const std::string& where, const std::string& key,
                               const std::vector<std::string>& known) {
  throw UsageError(where + "unknown key '" + key + "'" + did_you_mean(key, known, "") +
                   " (motes info --options lists all keys)");
}

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> found;
    for (const std::string& path : option_paths()) {
      if (found.empty() || found.back() != section_of(path)) found.push_back(section_of(path));
    }
    return found;
  }();
  return names;
}

std::string key_text(const YAML::Node& key, const std::string& file) {
  if (!key.IsScalar()) throw UsageError(at_line(file, key.Mark()) + "a key must be one word");
  return key.Scalar();
}

void load_section(Config& config, const std::string& section, const YAML::Node& body,
                  const std::string& file) {
  std::set<std::string> seen;
  for (const auto& entry : body) {
    const std::string path = section + "." + key_text(entry.first, file);
    const std::string line = at_line(file, entry.first.Mark());
    const Option* option = find_option(path);
    if (option == nullptr) fail_unknown(line, path, option_paths());
    if (!seen.insert(path).second) throw UsageError(line + path + " is given twice; keep one of them");
    const std::string where = line + path + ": ";
    assign(config, *option, to_value(entry.second, where, option->allowed, takes_map(*option)), where);
  }
}

YAML::Node parse(const std::string& text, const std::string& file) {
  try {
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw UsageError(at_line(file, error.mark) + "not valid YAML: " + error.msg);
  }
}

std::string read_whole(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) {
    throw UsageError(file.string() + ": no such configuration file; check the path");
  }
  if (std::filesystem::file_size(file, error) > kLargestConfig) {
    throw UsageError(file.string() + ": larger than 1 MiB, so this is not a configuration; give a YAML file");
  }
  std::ifstream in(file, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw UsageError(file.string() + ": cannot be read; check its permissions");
  return text;
}

/// Replaces ~/ at the beginning of a path, as shells do, but not for YAML or after `--set key=`.
void expand_home(std::string& path) {
  const char* home = std::getenv("HOME");
  if (home != nullptr && *home != '\0' && (path == "~" || path.starts_with("~/"))) path.replace(0, 1, home);
}

void expand_home(Config& config) {
  expand_home(config.input.path);
  for (auto* path : {&config.input.mask, &config.input.labels, &config.output.dir})
    if (*path) expand_home(**path);
}

void make_relative_to(const std::filesystem::path& folder, std::string& path) {
  if (path.empty() || std::filesystem::path(path).is_absolute()) return;
  path = (folder / path).lexically_normal().string();
}

}  // namespace

void load_yaml_text(const std::string& text, const std::string& name, Config& config) {
  const YAML::Node root = parse(text, name);
  if (root.IsNull()) return;
  if (!root.IsMap()) {
    throw UsageError(at_line(name, root.Mark()) +
                     "expected sections such as 'input:' and 'linking:' with keys below");
  }
  Config loaded = config;
  std::set<std::string> seen;
  for (const auto& entry : root) {
    const std::string section = key_text(entry.first, name);
    const std::string line = at_line(name, entry.first.Mark());
    const auto& known = section_names();
    if (std::find(known.begin(), known.end(), section) == known.end()) fail_unknown(line, section, known);
    if (!seen.insert(section).second)
      throw UsageError(line + "section '" + section + "' is given twice; merge them");
    if (entry.second.IsNull()) continue;
    if (!entry.second.IsMap())
      throw UsageError(line + "section '" + section + "' must hold keys, such as '" +
                       *std::find_if(option_paths().begin(), option_paths().end(),
                                     [&](const auto& p) { return section_of(p) == section; }) +
                       "'");
    load_section(loaded, section, entry.second, name);
  }
  expand_home(loaded);
  config = std::move(loaded);
}

void load_yaml(const std::filesystem::path& file, Config& config) {
  Config loaded = config;
  loaded.input.path.clear();
  loaded.input.mask.reset();
  loaded.input.labels.reset();
  load_yaml_text(read_whole(file), file.string(), loaded);
  make_relative_to(file.parent_path(), loaded.input.path);
  if (loaded.input.path.empty()) loaded.input.path = config.input.path;
  for (auto member : {&Config::Input::mask, &Config::Input::labels}) {
    if (loaded.input.*member) make_relative_to(file.parent_path(), *(loaded.input.*member));
    if (!(loaded.input.*member)) loaded.input.*member = config.input.*member;
  }
  config = std::move(loaded);
}

void set_key(Config& config, std::string_view key, std::string_view text, std::string_view source) {
  const std::string path(key);
  const std::string before = std::string(source) + ": ";
  const Option* option = find_option(path);
  if (option == nullptr) fail_unknown(before, path, option_paths());
  const std::string where = before + path + ": ";
  // Only lists and maps need YAML's syntax. A plain word is used unchanged, so that paths may have any
  // character.
  Value value{{std::string(text)}, false};
  const std::string listed =
      takes_list(*option) && text.find(',') != std::string_view::npos && !text.starts_with('[')
          ? '[' + std::string(text) + ']'  // "0.2,0.1,0.1"
          : std::string(text);
  if (listed.starts_with('[') || (text.starts_with('{') && takes_map(*option)))
    value = to_value(parse(listed, std::string(source)), where, option->allowed, takes_map(*option));
  if (text.empty()) throw UsageError(where + "no value given; allowed: " + option->allowed);
  assign(config, *option, value, where);
  expand_home(config);
}

void apply_assignment(Config& config, std::string_view assignment) {
  const std::size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    throw UsageError("--set: '" + std::string(assignment) + "' has no '='; write --set key.path=value");
  }
  set_key(config, assignment.substr(0, equals), assignment.substr(equals + 1), "--set");
}

std::string to_yaml(const Config& config, std::initializer_list<std::string_view> sections) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  std::string section;
  for (const Option& option : options()) {
    const std::string owner = section_of(option.path);
    if (sections.size() > 0 && std::find(sections.begin(), sections.end(), owner) == sections.end()) continue;
    if (owner != section) {
      if (!section.empty()) out << YAML::EndMap;
      section = owner;
      out << YAML::Key << section << YAML::Value << YAML::BeginMap;
    }
    out << YAML::Key << option.path.substr(owner.size() + 1) << YAML::Value;
    const Value value = option.get(config);
    if (value.map) {
      out << YAML::Flow << YAML::BeginMap;
      for (std::size_t i = 0; i + 1 < value.items.size(); i += 2)
        out << YAML::Key << value.items[i] << YAML::Value << value.items[i + 1];
      out << YAML::EndMap;
    } else if (value.list) {
      out << YAML::Flow << value.items;
    } else {
      out << value.word();
    }
  }
  if (!section.empty()) out << YAML::EndMap;
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

Config without_policy(Config config) {
  config.input.trusted = config.input.allow_outside = false;
  return config;
}

namespace {

void check_detection(const Config& config) {
  const Config::Detection& d = config.detection;
  if (d.method == DetectionMethod::spots && config.input.labels)
    throw UsageError("input.labels gives the detections; leave it out, or set detection.method: labels");
  const bool labels = d.method == DetectionMethod::labels || config.input.labels;
  if (labels && config.input.mask)
    throw UsageError("input.mask is for spots; leave it out if detections are labels");
  if (!d.largest_radius_um) return;
  if (!d.radius_um)
    throw UsageError(
        "detection.largest_radius_um needs detection.radius_um, the radius of the smallest spots");
  const Vec3 &least = *d.radius_um, &most = *d.largest_radius_um;
  if (most.x < least.x || most.y < least.y || most.z < least.z)
    throw UsageError("detection.largest_radius_um is below detection.radius_um along an axis; raise it");
}

}  // namespace

void check_consistency(const Config& config) {
  check_detection(config);
  if (config.linking.gate_um && config.linking.max_speed_um_s) {
    throw UsageError("linking.gate_um and linking.max_speed_um_s both give the gate; set one of them only");
  }
  const bool pairs_only = config.linking.solver == tracking::kGreedySolver ||
                          config.linking.cost != tracking::LinkCost::squared ||
                          config.linking.no_link_cost.has_value();
  if (config.linking.scope == Scope::series && pairs_only) {
    throw UsageError(
        "linking.scope: series estimates its costs from the data; linking.cost, linking.no_link_cost and "
        "linking.solver: greedy need linking.scope: pairs");
  }
  const bool static_model = config.linking.model == tracking::MotionModel::automatic ||
                            config.linking.model == tracking::MotionModel::standing;
  if (config.linking.min_confidence > 0 && !config.linking.confidence) {
    throw UsageError("linking.min_confidence needs linking.confidence: true");
  }
  if (config.linking.scope == Scope::pairs && config.linking.min_confidence > 0) {
    throw UsageError(
        "linking.min_confidence: linking.scope: pairs has no confidence; use linking.scope: series");
  }
  const bool events = config.linking.events == tracking::Events::divisions ||
                      config.linking.events == tracking::Events::merges;
  if (config.linking.scope == Scope::pairs && events) {
    throw UsageError(
        "linking.events: linking.scope: pairs finds no divisions or merges; use linking.scope: series");
  }
  if (config.linking.scope == Scope::pairs && !static_model) {
    throw UsageError("linking.model: linking.scope: pairs predicts no motion; use linking.scope: series");
  }
}

}  // namespace motes::app
