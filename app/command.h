#pragma once
/// Common to all commands: options, the effective configuration, JSON and the output folder.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <motes/base/execution.h>
#include <motes/base/system/files.h>

#include "app/cli.h"
#include "app/console.h"
#include "app/options/command_options.h"
#include "app/options/config.h"
#include "app/options/short_options.h"
#include "app/report/stages.h"

namespace motes::app {

/// The common options as given on the command line, and the output.
struct Session {
  Console& console;
  const Hooks& hooks;
  std::vector<std::string> settings;  ///< --set
  std::string backend, devices, threads, seed, json, config_file;
  bool quiet = false, allow_outside = false;
  StageClock stages{0.0};
  ShortOptions short_options{};
  std::string columns{};  ///< --columns, of a table
  std::string crop{};     ///< --crop
};

/// A registered command: its options, and the function to run after they are parsed.
struct Command {
  CLI::App* options = nullptr;
  std::function<void()> run;
};

Command add_track(CLI::App& app, Session& session);
Command add_detect(CLI::App& app, Session& session);
Command add_simulate(CLI::App& app, Session& session);
Command add_score(CLI::App& app, Session& session);
Command add_analyse(CLI::App& app, Session& session);
Command add_match(CLI::App& app, Session& session);
Command add_render(CLI::App& app, Session& session);
Command add_convert(CLI::App& app, Session& session);
Command add_plan(CLI::App& app, Session& session);
Command add_merge(CLI::App& app, Session& session);
Command add_cluster(CLI::App& app, Session& session);
Command add_info(CLI::App& app, Session& session);
Command add_help(CLI::App& app, Session& session);

/// Whether the name is that of a YAML configuration (.yaml, .yml).
bool is_yaml(const std::string& path);

/// For CommandOption::check: an error message if the name of a file or folder is empty, else "".
std::string refuse_empty_name(const std::string& name);

/// Adds --config, --set, --backend, --devices, --threads, --seed, --json, --allow-outside and --quiet.
void add_common_options(CommandOptions command, Session& session);

/// Adds --columns.
void add_table_options(CommandOptions command, Session& session);
/// Adds --crop, for commands that read frames.
void add_crop_option(CommandOptions command, Session& session);

/// Defaults, then the YAML file (`input` if it is one, else --config), then `input` as input.path, then the
/// settings of the command line. Throws UsageError, also if cuda is requested from a command without a CUDA
/// form.
Config configure(const Session& session, const std::string& input = "", bool has_cuda_form = false);

/// Throws ResourceError if execution.backend is cuda and there is no GPU. For use before the work starts.
void require_gpu_if_asked(const Config& config);

/// Threads, back end and first device of the configuration.
Execution execution_of(const Config& config);

/// The numbers of the GPUs in execution.devices, at least one; {0} on the CPU and on machines without a GPU.
/// Throws UsageError for a GPU that does not exist.
std::vector<int> devices_of(const Config& config);

/// Writes the JSON result to the file of --json, if given.
void emit_json(Session& session, const nlohmann::ordered_json& result);

/// Creates the folder. Throws ResourceError if it cannot be written to; for use before the work starts.
void prepare_folder(const std::filesystem::path& folder);
/// The same for the folder of a file.
void prepare_folder_of(const std::filesystem::path& file);

/// A folder that only one command may write to at a time. Removes unfinished files of killed runs: outputs
/// with these stems, and those in the folder frames/. Throws ResourceError if the folder is not writable or
/// another run writes to it.
class OutputFolder {
 public:
  OutputFolder(const std::filesystem::path& folder, const std::vector<std::string>& stems);

 private:
  std::unique_ptr<system::FolderLock> lock_;
};

/// `given` (the -o option), else `configured`, else the input's name with `suffix`, in the current folder.
std::filesystem::path output_path(const std::string& given, const std::optional<std::string>& configured,
                                  const std::string& input, const std::string& suffix);

/// Makes the paths of the input, its mask and labels absolute, so that a recorded configuration is valid in
/// any folder.
void make_input_path_absolute(Config& config);

/// Throws UsageError(message) if `text` is empty.
void require_argument(const std::string& text, const std::string& message);

}  // namespace motes::app
