/// The table of short options.

#include "app/options/short_options.h"

#include <algorithm>
#include <array>

#include "app/options/options.h"

namespace motes::app {
namespace {

struct Short {
  const char* name;
  const char* key;
  const char* value;   ///< name of the value in help
  ShortOptionSet set;  ///< smallest set that has it
};

constexpr std::array<Short, 8> kShort{
    {{"voxel", "input.voxel_um", "Z,Y,X or UM", ShortOptionSet::units},
     {"dt", "input.dt_s", "SECONDS", ShortOptionSet::units},
     {"channel", "input.channel", "N", ShortOptionSet::detection},
     {"axes", "input.axes", "LETTERS", ShortOptionSet::detection},
     {"radius", "detection.radius_um", "UM or Z,Y,X", ShortOptionSet::detection},
     {"threshold", "detection.threshold", "QUALITY", ShortOptionSet::detection},
     {"gate", "linking.gate_um", "UM", ShortOptionSet::linking},
     {"min-length", "linking.min_length", "POINTS", ShortOptionSet::linking}}};

std::string first_sentence(const std::string& text) { return text.substr(0, text.find_first_of(";.")); }

}  // namespace

void add_short_options(CommandOptions command, ShortOptions& values, ShortOptionSet set) {
  for (const Short& option : kShort) {
    if (option.set > set) continue;
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
    set_key(config, option.key, found->second, std::string("--") + option.name);
  }
}

}  // namespace motes::app
