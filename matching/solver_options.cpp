/// Parses and checks options of solvers.

#include <algorithm>
#include <charconv>
#include <stdexcept>

#include <motes/matching/solver_options.h>

namespace motes::matching {
namespace {

/// Removes and returns the text of `rest` up to the next `separator`, which is removed too.
std::string_view next_item(std::string_view& rest, char separator) {
  const std::size_t end = std::min(rest.find(separator), rest.size());
  const std::string_view item = rest.substr(0, end);
  rest.remove_prefix(std::min(end + 1, rest.size()));
  return item;
}

template <class Number>
bool to_number(std::string_view text, Number& value) {
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && stop == text.data() + text.size();
}

template <class Number>
bool within(std::string_view low_text, std::string_view high_text, std::string_view value) {
  Number low = 0, high = 0, number = 0;
  if (!to_number(low_text, low) || !to_number(high_text, high))
    throw std::logic_error("an option's range is malformed: " + std::string(low_text) + ".." +
                           std::string(high_text));
  return to_number(value, number) && low <= number && number <= high;
}

bool allowed(std::string_view values, std::string_view value) {
  if (const std::size_t dots = values.find(".."); dots != std::string_view::npos) {
    const std::string_view low = values.substr(0, dots), high = values.substr(dots + 2);
    return low.find('.') == std::string_view::npos ? within<std::int64_t>(low, high, value)
                                                   : within<double>(low, high, value);
  }
  while (!values.empty())
    if (next_item(values, '|') == value) return true;
  return false;
}

std::string names_of(std::span<const OptionInfo> known) {
  std::string all;
  for (const auto& option : known) all += (all.empty() ? "" : ", ") + std::string(option.name);
  return all;
}

}  // namespace

SolverOptions::SolverOptions(std::span<const OptionInfo> known, std::string_view text) {
  while (!text.empty()) {
    const std::string_view item = next_item(text, '&');
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      throw std::invalid_argument("option '" + std::string(item) + "' is not of the form name=value");
    const std::string name(item.substr(0, equals)), value(item.substr(equals + 1));
    const auto option =
        std::find_if(known.begin(), known.end(), [&](const auto& o) { return o.name == name; });
    if (option == known.end())
      throw std::invalid_argument("no option is called '" + name + "'; " +
                                  (known.empty() ? "this solver has none" : "there are " + names_of(known)));
    if (!allowed(option->values, value))
      throw std::invalid_argument("option " + name + "=" + value + ": it takes " +
                                  std::string(option->values));
    if (!values_.emplace(name, value).second)
      throw std::invalid_argument("option '" + name + "' is given twice");
  }
  for (const auto& option : known) values_.emplace(option.name, option.otherwise);
}

const std::string& SolverOptions::word(std::string_view name) const {
  const auto found = values_.find(name);
  if (found == values_.end()) throw std::logic_error("no such option: " + std::string(name));
  return found->second;
}

std::int64_t SolverOptions::number(std::string_view name) const {
  std::int64_t value = 0;
  if (!to_number(word(name), value)) throw std::logic_error("no number: option " + std::string(name));
  return value;
}

double SolverOptions::real(std::string_view name) const {
  double value = 0;
  if (!to_number(word(name), value)) throw std::logic_error("no number: option " + std::string(name));
  return value;
}

std::pair<std::string_view, std::string_view> split_solver_name(std::string_view text) {
  const std::string_view name = next_item(text, '?');
  return {name, text};
}

}  // namespace motes::matching
