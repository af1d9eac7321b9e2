/// Options of the command line through CLI11.

#include "app/options/command_options.h"

#include <algorithm>
#include <utility>

#include <CLI/CLI.hpp>

#include "app/options/codec.h"

namespace motes::app {

CommandOption& CommandOption::type_name(const std::string& name) {
  option_->type_name(name);
  return *this;
}

CommandOption& CommandOption::group(const std::string& name) {
  option_->group(name);
  return *this;
}

CommandOption& CommandOption::allow_extra_args(bool allowed) {
  option_->allow_extra_args(allowed);
  return *this;
}

CommandOption& CommandOption::check(std::function<std::string(const std::string&)> fault) {
  option_->check(std::move(fault));
  return *this;
}

CommandOption& CommandOption::check_positive() {
  return check([](const std::string& text) {
    const auto number = parse_number<std::int64_t>(text);
    return number && *number > 0 ? "" : "'" + text + "' is not allowed; allowed: a whole number above 0";
  });
}

CommandOption& CommandOption::check_one_of(std::initializer_list<const char*> words) {
  const std::vector<std::string> allowed(words.begin(), words.end());
  std::string listed;
  for (const std::string& word : allowed) listed += (listed.empty() ? "" : ", ") + word;
  return check([allowed, listed](const std::string& text) {
    const bool known = std::find(allowed.begin(), allowed.end(), text) != allowed.end();
    return known ? "" : "'" + text + "' is not allowed; allowed: " + listed;
  });
}

CommandOption CommandOptions::add_option(const std::string& names, std::string& target,
                                         const std::string& doc) {
  return CommandOption(*command_->add_option(names, target, doc));
}

CommandOption CommandOptions::add_option(const std::string& names, std::vector<std::string>& target,
                                         const std::string& doc) {
  return CommandOption(*command_->add_option(names, target, doc));
}

CommandOption CommandOptions::add_option(const std::string& names, std::int64_t& target,
                                         const std::string& doc) {
  return CommandOption(*command_->add_option(names, target, doc));
}

CommandOption CommandOptions::add_flag(const std::string& names, bool& target, const std::string& doc) {
  return CommandOption(*command_->add_flag(names, target, doc));
}

std::vector<CommandText> command_texts(const CLI::App& program) {
  std::vector<CommandText> texts;
  for (const CLI::App* command : program.get_subcommands({})) {
    CommandText text{command->get_name(), command->get_description(), {}};
    for (const CLI::Option* option : command->get_options()) {
      OptionText one;
      for (const std::string& name : option->get_snames()) one.names.push_back("-" + name);
      for (const std::string& name : option->get_lnames()) one.names.push_back("--" + name);
      one.argument = one.names.empty();
      if (one.argument) one.names.push_back(option->get_name());
      one.value = one.argument || option->get_items_expected_max() == 0 ? "" : option->get_type_name();
      one.doc = option->get_description();
      text.options.push_back(std::move(one));
    }
    texts.push_back(std::move(text));
  }
  return texts;
}

CommandOptions add_command(CLI::App& program, const std::string& name, const std::string& doc) {
  return CommandOptions(*program.add_subcommand(name, doc)->group("Commands"));
}

}  // namespace motes::app
