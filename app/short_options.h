#pragma once
/// Short options of `track` and `detect` for frequently used configuration keys.

#include <map>
#include <string>

#include "app/command_options.h"
#include "app/config.h"

namespace motes::app {

/// What was typed for each, by name ("gate"); empty where an option was not given.
using ShortOptions = std::map<std::string, std::string>;

/// Each has those of the ones before it.
enum class ShortOptionSet {
  units,      ///< --voxel, --dt: for files of tracks
  detection,  ///< --channel, --radius, --threshold
  linking,    ///< --gate, --min-length
};

/// What help says of each is the first sentence of its key's description.
void add_short_options(CommandOptions command, ShortOptions& values, ShortOptionSet set);

/// The option that gave this key, or nothing.
std::string short_option_of(const ShortOptions& values, const std::string& key);

/// Sets the keys of those that were given. Throws UsageError naming the option.
void apply_short_options(const ShortOptions& values, Config& config);

}  // namespace motes::app
