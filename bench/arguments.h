#pragma once
/// What benchmarks share: the few options (--name value, lists of numbers separated by commas, of words by
/// blanks), the clock and the median.

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

namespace motes::bench {

class Arguments {
 public:
  Arguments(int argc, char** argv) : words_(argv + 1, argv + argc) {
    if (words_.size() % 2 == 0) return;
    std::fprintf(stderr, "usage: options come as --name value; see the head of the source file\n");
    std::exit(2);
  }
  std::optional<std::string> text(const std::string& name) const {
    for (std::size_t k = 0; k + 1 < words_.size(); k += 2)
      if (words_[k] == "--" + name) return words_[k + 1];
    return std::nullopt;
  }
  double number(const std::string& name, double otherwise) const {
    const auto given = text(name);
    return given ? std::stod(*given) : otherwise;
  }
  std::vector<double> numbers(const std::string& name, std::vector<double> otherwise) const {
    const auto given = text(name);
    if (!given) return otherwise;
    std::vector<double> out;
    std::stringstream stream(*given);
    for (std::string item; std::getline(stream, item, ',');) out.push_back(std::stod(item));
    return out;
  }
  std::vector<std::string> words(const std::string& name, const std::string& otherwise) const {
    std::vector<std::string> out;
    std::stringstream stream(text(name).value_or(otherwise));
    for (std::string word; stream >> word;) out.push_back(word);
    return out;
  }

 private:
  std::vector<std::string> words_;
};

/// Ends a benchmark whose input is wrong.
[[noreturn]] inline void fail(const std::string& why) {
  std::fprintf(stderr, "%s\n", why.c_str());
  std::exit(3);
}

/// Seconds of one call.
template <class Work>
double timed(const Work& work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The upper one of two in the middle; 0 of nothing.
inline double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values.empty() ? 0 : values[values.size() / 2];
}

}  // namespace motes::bench
