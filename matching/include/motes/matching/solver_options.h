#pragma once
/// Options of a solver in text form, "name?key=value&key=value", as in generated instances.

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

namespace motes::matching {

/// An option of a solver, as the registry lists it.
struct OptionInfo {
  std::string_view name;
  /// Words separated by '|', or a range: "1..8" of whole numbers, "0.1..0.9" of real numbers.
  std::string_view values;
  std::string_view otherwise;  ///< the default
  std::string_view meaning;    ///< one line
};

/// The checked values of all options of a solver, defaults included.
class SolverOptions {
 public:
  SolverOptions() = default;
  /// `text` is the part after the '?', and may be empty. Throws std::invalid_argument, naming the option and
  /// its allowed values, for unknown names, values not allowed, names given twice and items without '='.
  SolverOptions(std::span<const OptionInfo> known, std::string_view text);

  /// The value of an option, which must be one of `known`.
  const std::string& word(std::string_view name) const;
  std::int64_t number(std::string_view name) const;
  double real(std::string_view name) const;
  bool flag(std::string_view name) const { return word(name) == "1"; }

 private:
  std::map<std::string, std::string, std::less<>> values_;
};

/// Splits "name?options" into name and options; the second part is empty if there is no '?'.
std::pair<std::string_view, std::string_view> split_solver_name(std::string_view text);

}  // namespace motes::matching
