#pragma once
/// The options of the command line. CLI11 parses them; only cli.cpp and command_options.cpp include it,
/// since it adds several seconds to the compilation of each file.

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace motes::app {

/// An option that was added, to set its further properties. A handle; the command line owns the option.
class CommandOption {
 public:
  explicit CommandOption(CLI::Option& option) : option_(&option) {}
  /// The name of its value in --help.
  CommandOption& type_name(const std::string& name);
  /// The heading in --help.
  CommandOption& group(const std::string& name);
  /// false: each use of the option takes one value.
  CommandOption& allow_extra_args(bool allowed);
  /// `fault` returns an error message for a value, or "" if the value is allowed.
  CommandOption& check(std::function<std::string(const std::string&)> fault);
  /// Allows whole numbers above 0.
  CommandOption& check_positive();
  CommandOption& check_one_of(std::initializer_list<const char*> words);

 private:
  CLI::Option* option_;
};

/// A command's options and arguments. A handle, as above. Targets must live until the command line is parsed.
class CommandOptions {
 public:
  explicit CommandOptions(CLI::App& command) : command_(&command) {}
  /// Names as "-o,--output"; one without dashes is a positional argument. A list takes several values.
  CommandOption add_option(const std::string& names, std::string& target, const std::string& doc);
  CommandOption add_option(const std::string& names, std::vector<std::string>& target,
                           const std::string& doc);
  CommandOption add_option(const std::string& names, std::int64_t& target, const std::string& doc);
  CommandOption add_flag(const std::string& names, bool& target, const std::string& doc);
  CLI::App& app() const { return *command_; }

 private:
  CLI::App* command_;
};

/// An option or argument as help shows it.
struct OptionText {
  std::vector<std::string> names;  ///< "-o", "--output"; of an argument its one name
  std::string value;               ///< "DIR"; empty for a flag
  std::string doc;
  bool argument = false;
};

struct CommandText {
  std::string name, doc;
  std::vector<OptionText> options;
};

/// Every command of the program, in the order in which they were added.
std::vector<CommandText> command_texts(const CLI::App& program);

/// A new command of the program, such as "track".
CommandOptions add_command(CLI::App& program, const std::string& name, const std::string& doc);

}  // namespace motes::app
