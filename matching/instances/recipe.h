#pragma once
/// Recipes: texts that describe a generated problem, "gen:FAMILY?key=value&key=value".

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>

namespace motes::matching::instances {

/// The most rows or columns a problem may have.
inline constexpr double kMostVertices = 2147483646.0;

/// What follows "gen:": a family and its parameters, asked for one by one. Everything throws UsageError.
class Recipe {
 public:
  explicit Recipe(std::string_view text);

  const std::string& family() const { return family_; }
  [[noreturn]] void fail(const std::string& what) const;

  bool has(const std::string& key) const { return values_.contains(key); }
  std::string word(const std::string& key, const std::string& otherwise);
  /// A number in [low, high]; `otherwise` absent: it must be given.
  double number(const std::string& key, std::optional<double> otherwise, double low, double high);
  std::int64_t whole(const std::string& key, std::optional<double> otherwise, double low, double high);
  bool flag(const std::string& key) { return whole(key, 0, 0, 1) == 1; }
  std::uint64_t seed() { return static_cast<std::uint64_t>(whole("seed", 1, 0, 0x1p53)); }

  /// Call when all parameters were asked for: throws for those that were not asked for.
  void finish() const;

 private:
  std::string text_, family_;
  std::map<std::string, std::string> values_;
  std::set<std::string> known_;
};

}  // namespace motes::matching::instances
