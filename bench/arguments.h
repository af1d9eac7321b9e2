#pragma once
/// The few options of a benchmark: --name value, lists separated by commas.

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

 private:
  std::vector<std::string> words_;
};

}  // namespace motes::bench
