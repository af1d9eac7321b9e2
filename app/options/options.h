#pragma once
/// The option table: every configuration key with its type, default, unit, domain and meaning. YAML, --set,
/// `motes info --options` and docs/configuration.md all read it.

#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "app/options/config.h"

namespace motes::app {

/// A configuration value before it has a type: one word, a list of words, or words by key.
struct Value {
  std::vector<std::string> items;  ///< of a map: key, word, key, word ...
  bool list = false;
  bool map = false;
  const std::string& word() const { return items.front(); }
};

/// Thrown by Option::set; what() says what is allowed instead.
struct BadValue : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Option {
  std::string path;     ///< "linking.gate_um"
  std::string unit;     ///< "um", "s" ...; empty: none
  std::string allowed;  ///< in words: "auto, or a number above 0"
  std::string doc;
  std::function<void(Config&, const Value&)> set;  ///< throws BadValue
  std::function<Value(const Config&)> get;
};

/// All options, section by section in the order users should read them.
const std::vector<Option>& options();

/// The option of that path, or nullptr.
const Option* find_option(std::string_view path);

/// The part of a path before its first dot.
std::string section_of(const std::string& path);

/// The paths of all options, in table order.
const std::vector<std::string>& option_paths();

/// "0.5", "[0.2, 0.1, 0.1]": the value as a user would type it.
std::string to_text(const Value& value);

/// The text of docs/configuration.md.
std::string options_markdown();

}  // namespace motes::app
