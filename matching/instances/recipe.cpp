/// Parses recipes and checks their parameters.

#include "matching/instances/recipe.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include <motes/base/errors.h>

namespace motes::matching::instances {
namespace {

std::string short_text(double value) {
  char text[32];
  const auto [end, error] = std::to_chars(text, text + sizeof text, value);
  return {text, end};
}

}  // namespace

Recipe::Recipe(std::string_view text) : text_(text) {
  std::string_view rest = text.substr(4);
  const std::size_t mark = std::min(rest.find('?'), rest.size());
  family_ = rest.substr(0, mark);
  rest = rest.substr(std::min(mark + 1, rest.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view item = rest.substr(0, end);
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos || equals == 0)
      fail("'" + std::string(item) + "' is not of the form key=value");
    if (!values_.emplace(item.substr(0, equals), item.substr(equals + 1)).second)
      fail("'" + std::string(item.substr(0, equals)) + "' is given twice");
    rest = rest.substr(std::min(end + 1, rest.size()));
  }
}

void Recipe::fail(const std::string& what) const { throw UsageError(text_ + ": " + what); }

std::string Recipe::word(const std::string& key, const std::string& otherwise) {
  known_.insert(key);
  const auto found = values_.find(key);
  return found == values_.end() ? otherwise : found->second;
}

double Recipe::number(const std::string& key, std::optional<double> otherwise, double low, double high) {
  known_.insert(key);
  const auto found = values_.find(key);
  if (found == values_.end()) {
    if (!otherwise) fail("needs " + key + "=...");
    return *otherwise;
  }
  double value = 0;
  const char *begin = found->second.data(), *end = begin + found->second.size();
  const auto [stop, error] = std::from_chars(begin, end, value);
  if (error != std::errc() || stop != end || !(value >= low && value <= high))
    fail(key + "=" + found->second + " is not a number in [" + short_text(low) + ", " + short_text(high) +
         "]");
  return value;
}

std::int64_t Recipe::whole(const std::string& key, std::optional<double> otherwise, double low, double high) {
  const double value = number(key, otherwise, low, high);
  if (value != std::floor(value)) fail(key + " must be a whole number");
  return static_cast<std::int64_t>(value);
}

void Recipe::finish() const {
  for (const auto& [key, value] : values_) {
    if (known_.contains(key)) continue;
    std::string all;
    for (const auto& name : known_) all += (all.empty() ? "" : ", ") + name;
    fail("unknown parameter '" + key + "'; gen:" + family_ + " knows " + all);
  }
}

}  // namespace motes::matching::instances
