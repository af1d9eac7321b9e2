#pragma once
/// Options of a solver, as text: "name?key=value&key=value", the syntax of generated instances.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace motes::matching {

/// One option that a solver knows; rows of the registry list them.
struct OptionInfo {
  std::string_view name;
  std::string_view values;  ///< words, separated by |; or "LOW..HIGH" for a whole number, "0.1..0.9" for any
  std::string_view otherwise;  ///< the default
  std::string_view meaning;    ///< one line
};

/// Values of a solver's options, complete (defaults filled in) and checked.
class SolverOptions {
 public:
  SolverOptions() = default;
  /// Throws std::invalid_argument naming the option and what it may be: unknown names, values not listed,
  /// names given twice, items without '='. `text` is what follows the '?', and may be empty.
  SolverOptions(std::span<const OptionInfo> known, std::string_view text);

  /// The option must be one of `known`.
  const std::string& word(std::string_view name) const;
  std::int64_t number(std::string_view name) const;
  double real(std::string_view name) const;
  bool flag(std::string_view name) const { return word(name) == "1"; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// "name?options" in two; the second part is empty where there is no '?'.
std::pair<std::string_view, std::string_view> split_solver_name(std::string_view text);

}  // namespace motes::matching
