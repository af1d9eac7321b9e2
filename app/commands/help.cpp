/// motes help: explains keys, and prints the manual page and shell completions. All texts come from the
/// commands' options and the option table.

#include <algorithm>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include <motes/base/errors.h>

#include "app/build_info.h"
#include "app/command.h"
#include "app/options/nearest.h"
#include "app/options/options.h"

namespace motes::app {
namespace {

struct HelpArguments {
  std::string topic, completion;
  bool man = false;
};

/// Help for the keys for which `wanted(path)` is true.
template <class Wanted>
std::string key_help(const Wanted& wanted) {
  std::string text;
  for (const Option& option : options()) {
    if (!wanted(option.path)) continue;
    const std::string value = to_text(option.get(Config()));
    text += fmt::format("{} = {}\n    {}\n    allowed: {}{}\n", option.path, value.empty() ? "(none)" : value,
                        option.doc, option.allowed, option.unit.empty() ? "" : "; unit: " + option.unit);
  }
  return text;
}

/// Help for the key or section named by the topic; else for all keys with the topic in their last part, so
/// that `motes help gate` and `motes help min-length` find the keys that --gate and --min-length set.
std::string key_help(const std::string& topic) {
  const std::string section = topic + ".";
  const std::string text =
      key_help([&](const std::string& path) { return path == topic || path.starts_with(section); });
  if (!text.empty() || topic.empty()) return text;
  std::string part = topic;
  std::replace(part.begin(), part.end(), '-', '_');
  return key_help(
      [&](const std::string& path) { return path.find(part, path.find('.') + 1) != std::string::npos; });
}

std::string topic_help(const CLI::App& app, const std::string& topic) {
  if (const std::string text = key_help(topic); !text.empty()) return text;
  std::vector<std::string> known = option_paths();
  for (const CommandText& command : command_texts(app)) known.push_back(command.name);
  if (topic == "man") throw UsageError("help: the manual page is printed by motes help --man");
  if (topic == "bash" || topic == "zsh" || topic == "fish" || topic == "completion")
    throw UsageError("help: motes help --completion SHELL prints the script of bash, zsh or fish");
  throw UsageError(
      "'" + topic + "' is neither a command nor a setting" +
      did_you_mean(topic, known, "; see motes --help for commands, motes info --options for settings"));
}

/// The text with a backslash before each of the `special` characters.
std::string escaped(const std::string& text, std::string_view special) {
  std::string out;
  for (const char c : text) {
    if (special.find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

/// Escapes text for roff: backslashes, hyphens, and a first character that would begin a request.
std::string roff(const std::string& text) {
  const std::string out = escaped(text, "\\-");
  return out.starts_with('.') || out.starts_with('\'') ? "\\&" + out : out;
}

std::string man_page(const std::vector<CommandText>& commands) {
  std::string page = ".TH MOTES 1 \"\" \"motes " + roff(std::string(version())) + "\"\n.SH NAME\n" +
                     "motes \\- particle tracking in 3D microscopy time series\n.SH SYNOPSIS\n" +
                     ".B motes\n.I COMMAND\n[\\fIOPTIONS\\fR]\n.SH COMMANDS\n";
  for (const CommandText& command : commands) {
    page += ".SS " + roff(command.name) + "\n" + roff(command.doc) + "\n";
    for (const OptionText& option : command.options) {
      std::string names;
      for (const std::string& name : option.names)
        names += (names.empty() ? "" : ", ") + ("\\fB" + roff(name)) + "\\fR";
      page += ".TP\n" + names + (option.value.empty() ? "" : " \\fI" + roff(option.value) + "\\fR") + "\n" +
              roff(option.doc) + "\n";
    }
  }
  page +=
      ".SH CONFIGURATION\nKeys of the YAML configuration and of \\fB\\-\\-set\\fR, with their defaults.\n";
  for (const Option& option : options()) {
    page += ".TP\n\\fB" + roff(option.path) + "\\fR = " + roff(to_text(option.get(Config()))) + "\n" +
            roff(option.doc) + " Allowed: " + roff(option.allowed) + ".\n";
  }
  return page +
         ".SH EXIT STATUS\n0 done; 2 usage or configuration; 3 bad input data; 4 resources (memory, disk, "
         "device); 130 interrupted.\n";
}

std::string spaced(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : " ") + word;
  return text;
}

std::vector<std::string> dashed_names(const CommandText& command) {
  std::vector<std::string> names;
  for (const OptionText& option : command.options)
    if (!option.argument) names.insert(names.end(), option.names.begin(), option.names.end());
  return names;
}

std::string bash_completion(const std::vector<CommandText>& commands) {
  std::vector<std::string> names;
  std::string cases;
  for (const CommandText& command : commands) {
    names.push_back(command.name);
    cases += "    " + command.name + ") words=\"" + spaced(dashed_names(command)) + "\" ;;\n";
  }
  std::string keys;
  for (const std::string& path : option_paths()) keys += (keys.empty() ? "" : " ") + path + "=";
  return "# bash completion of motes: motes help --completion bash > "
         "~/.local/share/bash-completion/completions/motes\n"
         "_motes() {\n"
         "  local word=${COMP_WORDS[COMP_CWORD]} words=\n"
         "  COMPREPLY=()\n"
         "  if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
         "    COMPREPLY=($(compgen -W \"" +
         spaced(names) +
         "\" -- \"$word\"))\n    return\n  fi\n"
         "  if [ \"${COMP_WORDS[COMP_CWORD-1]}\" = --set ]; then\n"
         "    compopt -o nospace\n    COMPREPLY=($(compgen -W \"" +
         keys +
         "\" -- \"$word\"))\n    return\n  fi\n"
         "  [[ $word == -* ]] || return\n  case ${COMP_WORDS[1]} in\n" +
         cases + "  esac\n  COMPREPLY=($(compgen -W \"$words\" -- \"$word\"))\n}\n" +
         "complete -o default -F _motes motes\n";
}

std::string fish_completion(const std::vector<CommandText>& commands) {
  const auto quoted = [](const std::string& text) { return "'" + escaped(text, "\\'") + "'"; };
  std::string text =
      "# fish completion of motes: motes help --completion fish > ~/.config/fish/completions/motes.fish\n";
  for (const CommandText& command : commands) {
    text += "complete -c motes -n __fish_use_subcommand -f -a " + command.name + " -d " +
            quoted(command.doc) + "\n";
    for (const OptionText& option : command.options) {
      if (option.argument) continue;
      text += "complete -c motes -n '__fish_seen_subcommand_from " + command.name + "'";
      for (const std::string& name : option.names)
        text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
      text += (option.value.empty() ? "" : " -r") + std::string(" -d ") + quoted(option.doc) + "\n";
    }
  }
  return text;
}

std::string zsh_completion(const std::vector<CommandText>& commands) {
  std::string list, cases;
  for (const CommandText& command : commands) {
    list += "    '" + command.name + ":" + escaped(command.doc, ":") + "'\n";
    cases += "      " + command.name + ") _arguments";
    for (const OptionText& option : command.options) {
      if (option.argument) continue;
      for (const std::string& name : option.names) {
        std::string doc = option.doc;
        std::erase(doc, '\'');
        cases += " \\\n        '" + name + "[" + escaped(doc, "[]:") + "]" +
                 (option.value.empty() ? "" : ":" + escaped(option.value, "[]:") + ":_files") + "'";
      }
    }
    cases += " \\\n        '*:file:_files' ;;\n";
  }
  return "#compdef motes\n# zsh completion of motes: motes help --completion zsh > a folder of $fpath, as "
         "_motes\n"
         "local -a commands\ncommands=(\n" +
         list +
         ")\n_arguments -C '1:command:->command' '*::argument:->argument'\ncase $state in\n"
         "  command) _describe command commands ;;\n  argument)\n    case $words[1] in\n" +
         cases + "    esac ;;\nesac\n";
}

std::string completion(const CLI::App& app, const std::string& shell) {
  const std::vector<CommandText> commands = command_texts(app);
  if (shell == "bash") return bash_completion(commands);
  if (shell == "fish") return fish_completion(commands);
  return zsh_completion(commands);
}

}  // namespace

Command add_help(CLI::App& app, Session& session) {
  CommandOptions command =
      add_command(app, "help", "Explain a command or a key; print the manual page or shell completion");
  auto arguments = std::make_shared<HelpArguments>();
  command.add_option("TOPIC", arguments->topic, "A command, a configuration key or a section of keys");
  command.add_option("--completion", arguments->completion, "Completion script for bash, zsh or fish")
      .check_one_of({"bash", "zsh", "fish"})
      .type_name("SHELL");
  command.add_flag("--man", arguments->man, "Print the manual page, for man -l");
  return {&command.app(), [&app, &session, arguments] {
            std::string text;
            if (arguments->man)
              text = man_page(command_texts(app));
            else if (!arguments->completion.empty())
              text = completion(app, arguments->completion);
            else if (!arguments->topic.empty())
              text = topic_help(app, arguments->topic);
            else
              throw UsageError("help needs a topic, --man or --completion SHELL; see motes --help");
            while (text.ends_with('\n')) text.pop_back();
            session.console.print(text);
          }};
}

}  // namespace motes::app
