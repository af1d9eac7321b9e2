/// The commands: parsing, dispatch, and the exit code of every error.

#include "app/cli.h"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <new>
#include <ostream>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include <motes/base/errors.h>
#include <motes/base/system/files.h>
#include <motes/base/workspace.h>

#include "app/build_info.h"
#include "app/command.h"
#include "app/interrupt.h"
#include "app/options/nearest.h"
#include "app/options/options.h"

namespace motes::app {
namespace {

std::vector<std::string> option_names(const CLI::App& command) {
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
    for (const std::string& name : option->get_snames()) names.push_back("-" + name);
  }
  return names;
}

std::vector<std::string> command_names(const std::vector<Command>& commands) {
  std::vector<std::string> names;
  for (const Command& command : commands) names.push_back(command.options->get_name());
  return names;
}

/// Names that other programs give to our commands.
constexpr std::pair<std::string_view, const char*> kOtherWords[] = {
    {"link", "track"},       {"locate", "detect"},   {"batch", "detect"},   {"find", "detect"},
    {"msd", "analyse"},      {"analyze", "analyse"}, {"export", "convert"}, {"evaluate", "score"},
    {"compare", "score"},    {"plot", "render"},     {"view", "render"},    {"show", "info"},
    {"version", "--version"}};

/// Options of other programs, and what does the same.
constexpr std::pair<std::string_view, const char*> kOtherOptions[] = {
    {"--memory", "--set linking.max_gap=N is the number of frames in which a particle may be missing"},
    {"--search-range", "--gate UM is the longest displacement"},
    {"--diameter", "--radius UM is half of it, in um"},
    {"--pixel-size", "--voxel Z,Y,X is the voxel size, in um"},
    {"--fps", "--dt SECONDS is the time between frames"},
    {"--gpu", "--backend cuda uses a GPU"},
    {"--jobs", "--threads N limits the threads"},
    {"-j", "--threads N limits the threads"},
    {"--input", "the input needs no option: motes COMMAND FILE"},
    {"-i", "the input needs no option: motes COMMAND FILE"},
    {"--overwrite", "--force does that"},
    {"-f", "--force needs its full name"},
    {"-q", "--quiet needs its full name"},
    {"-v", "all messages are printed, unless --quiet is given"},
    {"--verbose", "all messages are printed, unless --quiet is given"}};

/// The configuration key that ends in an option's name, with or without its unit (--axes, --max-gap,
/// --gate_um); empty if there is none or more than one.
std::string key_of_option(std::string word) {
  word.erase(0, word.find_first_not_of('-'));
  std::replace(word.begin(), word.end(), '-', '_');
  std::string found;
  for (const Option& option : options()) {
    const std::string name = option.path.substr(option.path.find('.') + 1);
    if (name != word && (option.unit.empty() || name != word + "_" + option.unit)) continue;
    if (!found.empty()) return "";
    found = option.path;
  }
  return found;
}

/// What to do about a word for which a command has no argument; begins with "; " if not empty.
std::string instead_of_word(const CLI::App& command, const std::string& word) {
  const std::string name = command.get_name();
  std::error_code ignored;
  if (name == "score") return "; give both as --truth FILE --tracks FILE";
  if (!word.empty() && word.find_first_not_of("0123456789.,-:") == std::string::npos)
    return "; write values without blanks, as in --voxel 0.5,0.1,0.1 or --set key=value";
  if (std::filesystem::exists(word, ignored))
    return name == "track" || name == "detect" || name == "plan" ? "; for a series of files give their folder"
                                                                 : "";
  return command.get_option_no_throw("-o") != nullptr ? "; an output is given as -o " + word : "";
}

/// The message for the first word that no option or argument of the parsed command takes.
std::string unexpected_word(const CLI::App& app, const std::vector<Command>& commands) {
  for (const Command& command : commands) {
    if (!command.options->parsed()) continue;
    std::vector<std::string> extra = command.options->remaining();
    const bool only_words = extra.size() > 1 && extra.front() == "--";  // no options follow
    if (only_words) extra.erase(extra.begin());
    if (extra.empty()) break;
    const std::string name = command.options->get_name();
    if (only_words || !extra.front().starts_with('-')) {
      return "'" + extra.front() + "' is one argument too many for '" + name + "'" +
             instead_of_word(*command.options, extra.front()) + "; see motes " + name + " --help";
    }
    const std::string word = extra.front().substr(0, extra.front().find('='));
    if (const std::string key = key_of_option(word); !key.empty())
      return "unknown option '" + word + "'; it is a setting: --set " + key + "=...";
    for (const auto& [other, instead] : kOtherOptions)
      if (word == other) return "unknown option '" + word + "'; " + instead;
    return "unknown option '" + word + "'" +
           did_you_mean(word, option_names(*command.options), "; see motes " + name + " --help");
  }
  const std::vector<std::string> extra = app.remaining();
  const std::string word = extra.empty() ? "" : extra.front();
  if (word.starts_with('-'))
    return "unknown option '" + word + "'; options follow a command, see motes --help";
  std::error_code ignored;
  if (std::filesystem::exists(word, ignored))
    return "'" + word + "' is a file or folder; give a command first, as in motes track " + word;
  for (const auto& [other, name] : kOtherWords)
    if (word == other) return "unknown command '" + word + "'; motes " + name + " does that";
  return "unknown command '" + word + "'" + did_you_mean(word, command_names(commands), "; see motes --help");
}

/// The message for an option whose value is missing, repeated or not allowed.
std::string wrong_value(const CLI::ParseError& error, const std::vector<Command>& commands) {
  std::string name = "motes";
  const std::string text = error.what();
  for (const Command& command : commands) {
    if (!command.options->parsed()) continue;
    name += " " + command.options->get_name();
    const std::string option = text.substr(0, text.find(": "));
    const CLI::Option* mistaken = command.options->get_option_no_throw(option);
    if (mistaken == nullptr || dynamic_cast<const CLI::ArgumentMismatch*>(&error) == nullptr) break;
    if (mistaken->results().size() > 1) return option + " is given more than once; keep one of them";
    return option + " needs a value (" + mistaken->get_type_name() + "); see " + name + " --help";
  }
  return text + "; see " + name + " --help";
}

/// Replaces `motes help` and `motes help COMMAND` by the equivalent --help, and -o=DIR by -o DIR.
std::vector<const char*> spelled_out(int argc, const char* const* argv,
                                     const std::vector<Command>& commands) {
  std::vector<const char*> words;
  for (int i = 0; i < argc; ++i) {
    const bool equals = std::string_view(argv[i]).starts_with("-o=");
    if (equals) words.push_back("-o");
    words.push_back(equals ? argv[i] + 3 : argv[i]);
  }
  if (words.size() < 2 || std::string_view(words[1]) != "help") return words;
  if (words.size() == 2) return {words[0], "--help"};
  const std::vector<std::string> names = command_names(commands);
  if (words.size() == 3 && std::find(names.begin(), names.end(), words[2]) != names.end())
    return {words[0], words[2], "--help"};
  return words;
}

/// The help of a command, with one blank line between its lists.
std::string help_of(const CLI::App& command) {
  std::string text = command.help("motes");
  for (auto at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n", at))
    text.erase(at, 1);
  return text;
}

/// Parses the command line. Returns the command to run, or nullptr after printing help or the version.
const Command* parse(CLI::App& app, const std::vector<Command>& commands, int argc, const char* const* argv,
                     std::ostream& out) {
  try {
    app.parse(argc, argv);
  } catch (const CLI::CallForHelp&) {
    for (const Command& command : commands) {
      if (command.options->parsed()) return out << help_of(*command.options), nullptr;
    }
    return out << app.help(), nullptr;
  } catch (const CLI::CallForVersion&) {
    return out << "motes " << version() << '\n', nullptr;
  } catch (const CLI::ExtrasError&) {
    throw UsageError(unexpected_word(app, commands));
  } catch (const CLI::ParseError& error) {
    throw UsageError(wrong_value(error, commands));
  }
  for (const Command& command : commands) {
    if (command.options->parsed()) return &command;
  }
  throw UsageError("no command given; see motes --help");
}

/// Throws ResourceError if the file of --json cannot be made, before the work and not after it.
void check_json_folder(const std::filesystem::path& file) {
  std::error_code ignored;
  const auto type = std::filesystem::status(file, ignored).type();
  const bool is_new =
      type == std::filesystem::file_type::not_found || type == std::filesystem::file_type::regular;
  if (file.empty() || file == "-" || !is_new) return;
  const std::filesystem::path folder = file.has_parent_path() ? file.parent_path() : ".";
  if (!std::filesystem::is_directory(folder, ignored)) return;  // it is made
  if (const int error = system::refuses_files(folder))
    throw ResourceError(fmt::format("--json: {}: cannot write to the folder: {}; choose another",
                                    file.string(), std::strerror(error)));
}

/// Without the last line end, which print() adds.
std::string trimmed_end(std::string text) {
  if (text.ends_with('\n')) text.pop_back();
  return text;
}

void run_command(int argc, const char* const* argv, Session& session) {
  CLI::App app("motes: particle tracking in 3D microscopy time series", "motes");
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  app.get_formatter()->label("Positionals", "Arguments");
  app.get_formatter()->label("TEXT", "");  // the names of arguments suffice
  app.require_subcommand(0, 1);            // a second command's name is an argument, such as a file
  app.set_version_flag("-V,--version", std::string(version()));
  app.footer(
      "To begin: motes track FILE -o DIR. motes COMMAND --help lists options; motes help KEY explains a "
      "setting.");
  const std::vector<Command> commands{
      add_track(app, session),   add_detect(app, session),  add_simulate(app, session),
      add_score(app, session),   add_analyse(app, session), add_match(app, session),
      add_convert(app, session), add_render(app, session),  add_plan(app, session),
      add_merge(app, session),   add_cluster(app, session), add_info(app, session),
      add_help(app, session)};
  for (const Command& command : commands) add_common_options(CommandOptions(*command.options), session);
  const std::vector<const char*> words = spelled_out(argc, argv, commands);
  std::ostringstream said;
  const Command* command = parse(app, commands, static_cast<int>(words.size()), words.data(), said);
  if (command == nullptr) return session.console.print(trimmed_end(said.str()));
  session.console.set_quiet(session.quiet);
  if (std::error_code ignored; std::filesystem::is_directory(session.json, ignored))
    throw ResourceError("--json: " + session.json + " is a folder; give a file's name");
  check_json_folder(session.json);
  if (session.json == "-") session.console.reserve_output_for_json();
  command->run();
}

}  // namespace

int run(int argc, const char* const* argv, std::ostream& out, std::ostream& err, const Hooks& hooks) {
  const auto fail = [&](ExitCode code, std::string_view message, std::string_view more = {}) {
    err << "motes: error: ";
    write_one_line(err, message);
    err << more << '\n' << std::flush;
    return static_cast<int>(code);
  };
  clear_interrupt();
  try {
    Console console(out, err, hooks.terminal);
    Session session{console, hooks, {}, {}, {}, {}, {}, {}, {}, false, false};
    session.stages = StageClock(hooks.before_s);
    run_command(argc, argv, session);
    return static_cast<int>(ExitCode::ok);
  } catch (const Error& error) {
    return fail(error.code(), error.what());
  } catch (const std::invalid_argument& error) {
    // The matching library rejects a malformed problem.
    return fail(ExitCode::input, error.what());
  } catch (const std::bad_alloc&) {
    return fail(ExitCode::resources, "not enough memory; use a smaller input, or crop or split the series");
  } catch (const std::length_error&) {
    return fail(ExitCode::resources, "this needs more memory than can be addressed; use a smaller input");
  } catch (const std::system_error& error) {
    return fail(ExitCode::resources, error.what(), "; raise the system's limits, or use --threads 1");
  } catch (const std::exception& error) {
    return fail(ExitCode::resources, error.what(), " (unexpected); please report this");
  } catch (...) {
    return fail(ExitCode::resources, "unexpected; please report this");
  }
}

}  // namespace motes::app
