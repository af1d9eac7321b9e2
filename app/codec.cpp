#include "app/codec.h"

namespace motes::app {

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

Codec<std::string> text(std::string allowed) {
  return {std::move(allowed),
          [](const Value& value) -> std::optional<std::string> {
            if (value.list) return std::nullopt;
            return value.word();
          },
          [](const std::string& word) { return word_value(word); }};
}

}  // namespace motes::app
