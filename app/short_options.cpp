#include "app/short_options.h"

#include <algorithm>
#include <array>

#include "app/options.h"

namespace motes::app {
namespace {

struct Short {
  const char* name;
  const char* key;
  const char* value;  ///< what help shows
  bool linking;
};

constexpr std::array<Short, 7> kShort{{{"voxel", "input.voxel_um", "Z,Y,X or UM", false},
                                       {"dt", "input.dt_s", "SECONDS", false},
                                       {"channel", "input.channel", "N", false},
                                       {"radius", "detection.radius_um", "UM or Z,Y,X", false},
                                       {"threshold", "detection.threshold", "QUALITY", false},
                                       {"gate", "linking.gate_um", "UM", true},
                                       {"min-length", "linking.min_length", "POINTS", true}}};

std::string first_sentence(const std::string& text) { return text.substr(0, text.find_first_of(";.")); }

/// "0.2,0.1,0.1" is a list.
std::string as_yaml(const std::string& text) {
  const bool list = text.find(',') != std::string::npos && !text.starts_with('[');
  return list ? '[' + text + ']' : text;
}

}  // namespace

void add_short_options(CommandOptions command, ShortOptions& values, bool linking) {
  for (const Short& option : kShort) {
    if (option.linking && !linking) continue;
    const std::string meaning = first_sentence(find_option(option.key)->doc) + " (" + option.key + ")";
    command.add_option(std::string("--") + option.name, values[option.name], meaning)
        .type_name(option.value)
        .group("Parameters");
  }
}

std::string short_option_of(const ShortOptions& values, const std::string& key) {
  for (const Short& option : kShort) {
    const auto found = values.find(option.name);
    if (option.key == key && found != values.end() && !found->second.empty()) return option.name;
  }
  return "";
}

void apply_short_options(const ShortOptions& values, Config& config) {
  for (const Short& option : kShort) {
    const auto found = values.find(option.name);
    if (found == values.end() || found->second.empty()) continue;
    set_key(config, option.key, as_yaml(found->second), std::string("--") + option.name);
  }
}

}  // namespace motes::app
