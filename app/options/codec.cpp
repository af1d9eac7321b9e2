/// The codecs of each type of value.

#include "app/options/codec.h"

#include <algorithm>
#include <sstream>
#include <string_view>

#include <motes/base/errors.h>

namespace motes::app {
namespace {

/// "x=A,y=B" as {x, A, y, B}; none if a part has no '='. A comma without "key=" after it is part of a name.
std::optional<std::vector<std::string>> split_pairs(std::string_view text,
                                                    const std::vector<std::string>& keys) {
  const auto key_at = [&](std::string_view rest) -> std::string {
    const std::size_t equals = rest.find('=');
    if (equals == std::string_view::npos) return {};
    std::string key(rest.substr(0, equals));
    std::erase(key, ' ');
    return std::find(keys.begin(), keys.end(), key) == keys.end() ? std::string() : key;
  };
  std::vector<std::string> items;
  while (!text.empty()) {
    const std::string key = key_at(text);
    if (key.empty()) return std::nullopt;
    text.remove_prefix(text.find('=') + 1);
    std::size_t comma = text.find(',');
    while (comma != std::string_view::npos && key_at(text.substr(comma + 1)).empty())
      comma = text.find(',', comma + 1);
    items.insert(items.end(), {key, std::string(text.substr(0, comma))});
    text.remove_prefix(comma == std::string_view::npos ? text.size() : comma + 1);
  }
  return items;
}

}  // namespace

Value word_value(std::string text) { return {{std::move(text)}, false}; }

Codec<double> real(const Domain& domain) {
  return {"a number" + domain.words,
          [domain](const Value& value) -> std::optional<double> {
            if (value.list) return std::nullopt;
            const auto number = parse_number<double>(value.word());
            return number && domain.holds(*number) ? number : std::nullopt;
          },
          [](const double& number) { return word_value(number_text(number)); }};
}

Codec<Vec3> per_axis(const Domain& domain) {
  return {"one number" + domain.words + ", or three as [z, y, x]",
          [one = real(domain)](const Value& value) -> std::optional<Vec3> {
            std::vector<double> numbers;
            for (const std::string& item : value.items) {
              const auto number = one.parse(word_value(item));
              if (!number) return std::nullopt;
              numbers.push_back(*number);
            }
            if (!value.list) return Vec3{numbers[0], numbers[0], numbers[0]};
            if (numbers.size() != 3) return std::nullopt;
            return Vec3{numbers[2], numbers[1], numbers[0]};
          },
          [](const Vec3& v) {
            if (v.x == v.y && v.y == v.z) return word_value(number_text(v.x));
            return Value{{number_text(v.z), number_text(v.y), number_text(v.x)}, true};
          }};
}

Codec<FrameRange> frame_range() {
  return {"all, or A:B, A: or :B with whole numbers 0 <= A < B",
          [](const Value& value) -> std::optional<FrameRange> {
            if (value.list) return std::nullopt;
            if (value.word() == "all") return FrameRange();
            const std::size_t colon = value.word().find(':');
            if (colon == std::string::npos) return std::nullopt;
            const std::string first = value.word().substr(0, colon), end = value.word().substr(colon + 1);
            if (first.empty() && end.empty()) return std::nullopt;
            const auto from =
                first.empty() ? std::optional<std::int32_t>(0) : parse_number<std::int32_t>(first);
            const auto to = end.empty() ? std::optional(FrameRange::kOpen) : parse_number<std::int32_t>(end);
            if (!from || !to || *from < 0 || *to <= *from) return std::nullopt;
            return FrameRange{*from, *to};
          },
          [](const FrameRange& range) {
            const bool open = range.end == FrameRange::kOpen;
            if (open && range.first == 0) return word_value("all");
            return word_value(number_text(range.first) + ":" + (open ? "" : number_text(range.end)));
          }};
}

Codec<bool> truth_value() {
  return {"true or false",
          [](const Value& value) -> std::optional<bool> {
            if (value.list || (value.word() != "true" && value.word() != "false")) return std::nullopt;
            return value.word() == "true";
          },
          [](const bool& on) { return word_value(on ? "true" : "false"); }};
}

Codec<tracking::Region> region() {
  return {"ranges of voxels x0:x1,y0:y1,z0:z1",
          [](const Value& value) -> std::optional<tracking::Region> {
            std::string whole;  // YAML reads [0:5, 0:5] as a list
            for (const std::string& item : value.items) whole += (whole.empty() ? "" : ",") + item;
            try {
              return tracking::parse_region(whole);
            } catch (const UsageError& error) {
              const std::string message = error.what(), quoted = "'" + whole + "': ";  // assign() adds it
              throw BadValue(message.starts_with(quoted) ? message.substr(quoted.size()) : message);
            }
          },
          [](const tracking::Region& r) {
            const auto end = [](std::int64_t v) { return v > 0 ? std::to_string(v) : std::string(); };
            return word_value(std::to_string(r.x0) + ":" + end(r.x1) + "," + std::to_string(r.y0) + ":" +
                              end(r.y1) + "," + std::to_string(r.z0) + ":" + end(r.z1));
          }};
}

Codec<std::string> text(std::string allowed) {
  return {std::move(allowed),
          [](const Value& value) -> std::optional<std::string> {
            if (value.list) return std::nullopt;
            return value.word();
          },
          [](const std::string& word) { return word_value(word); }};
}

Codec<std::vector<int>> device_numbers() {
  constexpr int kMost = 1023;
  return {"all, or numbers such as 0 or 1,2, each once",
          [](const Value& value) -> std::optional<std::vector<int>> {
            std::vector<int> numbers;
            if (!value.list && value.word() == "all") return numbers;
            for (const std::string& item : value.items) {
              std::istringstream parts(item + ',');
              for (std::string part; std::getline(parts, part, ',');) {
                const auto number = parse_number<int>(part);
                if (!number || *number < 0 || *number > kMost) return std::nullopt;
                if (std::find(numbers.begin(), numbers.end(), *number) != numbers.end()) return std::nullopt;
                numbers.push_back(*number);
              }
            }
            return numbers.empty() ? std::nullopt : std::optional(numbers);
          },
          [](const std::vector<int>& numbers) {
            if (numbers.empty()) return word_value("all");
            if (numbers.size() == 1) return word_value(number_text(numbers.front()));
            Value value{{}, true};
            for (const int number : numbers) value.items.push_back(number_text(number));
            return value;
          }};
}

Codec<std::map<std::string, std::string>> names_by_key(std::vector<std::string> keys) {
  std::string allowed = "role=NAME,... or {role: NAME, ...}, with the roles ";
  for (std::size_t i = 0; i < keys.size(); ++i)
    allowed += (i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ") + keys[i];
  return {allowed,
          [keys](const Value& value) -> std::optional<std::map<std::string, std::string>> {
            if (value.list) return std::nullopt;
            const auto items = value.map ? std::optional(value.items) : split_pairs(value.word(), keys);
            if (!items) return std::nullopt;
            std::map<std::string, std::string> names;
            for (std::size_t i = 0; i + 1 < items->size(); i += 2) {
              const std::string& key = (*items)[i];
              const std::string& name = (*items)[i + 1];
              if (std::find(keys.begin(), keys.end(), key) == keys.end() || name.empty()) return std::nullopt;
              if (!names.emplace(key, name).second) return std::nullopt;
            }
            return names;
          },
          [](const std::map<std::string, std::string>& names) {
            Value value{{}, false, true};
            for (const auto& [key, name] : names) value.items.insert(value.items.end(), {key, name});
            return value;
          }};
}

}  // namespace motes::app
