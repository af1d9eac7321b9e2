#pragma once
/// Codecs parse, check and print values of each type. The option table uses them.

#include <charconv>
#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <motes/base/errors.h>
#include <motes/tracking/crop.h>

#include "app/options/options.h"

namespace motes::app {

template <class T>
struct Codec {
  std::string allowed;
  std::function<std::optional<T>(const Value&)> parse;  ///< none: not allowed
  std::function<Value(const T&)> print;
};

Value word_value(std::string text);

/// The shortest text that reads back to the same number.
template <class Number>
std::string number_text(Number number) {
  char buffer[64];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, number).ptr;
  return {buffer, end};
}

/// The whole text as a number; none for anything else, and for NaN and infinity.
template <class Number>
std::optional<Number> parse_number(const std::string& text) {
  Number number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  if constexpr (std::is_floating_point_v<Number>) {
    if (!std::isfinite(number)) return std::nullopt;
  }
  return number;
}

struct Domain {
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_included = true;
  std::string words;  ///< " above 0", " from 0 to 1"
  bool holds(double number) const { return (low_included ? number >= low : number > low) && number <= high; }
};

inline const double kUnbounded = std::numeric_limits<double>::infinity();
inline const Domain kAnyNumber{-kUnbounded, kUnbounded, true, ""};
inline const Domain kPositive{0, kUnbounded, false, " above 0"};
inline const Domain kNotNegative{0, kUnbounded, true, " not below 0"};
inline const Domain kFraction{0, 1, true, " from 0 to 1"};
inline const Domain kShare{0, 1, false, " above 0, at most 1"};

Codec<double> real(const Domain& domain);

template <class Int>
Codec<Int> integer(Int low, Int high) {
  return {"a whole number from " + number_text(low) + " to " + number_text(high),
          [low, high](const Value& value) -> std::optional<Int> {
            if (value.list) return std::nullopt;
            const auto number = parse_number<Int>(value.word());
            return number && *number >= low && *number <= high ? number : std::nullopt;
          },
          [](const Int& number) { return word_value(number_text(number)); }};
}

/// One number for all axes, or [z, y, x].
Codec<Vec3> per_axis(const Domain& domain);

/// "A:B", "A:", ":B" or "all".
Codec<FrameRange> frame_range();

Codec<bool> truth_value();

/// x0:x1,y0:y1,z0:z1
Codec<tracking::Region> region();

Codec<std::string> text(std::string allowed);

/// Numbers of GPUs, "0,1" or [0, 1], each once; "all" is an empty list.
Codec<std::vector<int>> device_numbers();

/// Texts by key, {} for none; keys of the list only. A word is read as "key=text,key=text".
Codec<std::map<std::string, std::string>> names_by_key(std::vector<std::string> keys);

/// One of a few names.
template <class Enum>
Codec<Enum> choice(std::vector<std::pair<std::string, Enum>> names) {
  std::string allowed;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (i > 0) allowed += i + 1 == names.size() ? " or " : ", ";
    allowed += names[i].first;
  }
  return {allowed,
          [names](const Value& value) -> std::optional<Enum> {
            if (value.list) return std::nullopt;
            for (const auto& [name, constant] : names) {
              if (name == value.word()) return constant;
            }
            return std::nullopt;
          },
          [names](const Enum& constant) {
            for (const auto& [name, known] : names) {
              if (known == constant) return word_value(name);
            }
            return word_value("");
          }};
}

/// A list of values of `codec`, [] for none; a single value counts as a list of one.
template <class T>
Codec<std::vector<T>> list_of(const std::string& allowed, const Codec<T>& codec) {
  return {allowed,
          [codec](const Value& value) -> std::optional<std::vector<T>> {
            std::vector<T> all;
            for (const std::string& item : value.items) {
              auto parsed = codec.parse(word_value(item));
              if (!parsed) return std::nullopt;
              all.push_back(std::move(*parsed));
            }
            return all;
          },
          [codec](const std::vector<T>& all) {
            Value value{{}, true};
            for (const T& one : all) value.items.push_back(codec.print(one).word());
            return value;
          }};
}

/// A word that stands for "not given", or a value of `codec`.
template <class T>
Codec<std::optional<T>> word_or(const std::string& word, const Codec<T>& codec) {
  const bool listed = codec.allowed.find(", or ") != std::string::npos;
  return {word + (listed ? ", " : ", or ") + codec.allowed,
          [word, codec](const Value& value) -> std::optional<std::optional<T>> {
            if (!value.list && value.word() == word) return std::optional<T>();
            auto parsed = codec.parse(value);
            if (!parsed) return std::nullopt;
            return std::optional<std::optional<T>>(std::in_place, std::move(*parsed));
          },
          [word, codec](const std::optional<T>& value) {
            return value ? codec.print(*value) : word_value(word);
          }};
}

/// The value of a command's own option, through the same checks as configuration keys.
template <class T>
T parse_option(const std::string& text, const std::string& option, const Codec<T>& codec) {
  const auto value = codec.parse(word_value(text));
  if (!value) throw UsageError(option + ": '" + text + "' is not allowed; allowed: " + codec.allowed);
  return *value;
}

/// Access to a member of a mutable or a const Config. Made from a captureless generic lambda, so that rows of
/// the table with the same type share one function.
template <class T>
struct Member {
  T& (*of_mutable)(Config&);
  const T& (*of_const)(const Config&);
  template <class Access>
  Member(Access access) : of_mutable(access), of_const(access) {}
};

/// The row of the option table for `member`. Its set() throws BadValue.
template <class T>
Option row(std::string_view path, std::string_view unit, const Codec<T>& codec,
           std::type_identity_t<Member<T>> member, std::string_view doc) {
  return {std::string(path),
          std::string(unit),
          codec.allowed,
          std::string(doc),
          [codec, member](Config& config, const Value& value) {
            auto parsed = codec.parse(value);
            if (!parsed) throw BadValue("allowed: " + codec.allowed);
            member.of_mutable(config) = std::move(*parsed);
          },
          [codec, member](const Config& config) { return codec.print(member.of_const(config)); }};
}

}  // namespace motes::app
