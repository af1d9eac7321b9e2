#pragma once
/// What all commands share: the common options, the effective configuration, and the output folder.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <motes/base/execution.h>
#include <motes/base/system/files.h>

#include "app/cli.h"
#include "app/command_options.h"
#include "app/config.h"
#include "app/console.h"
#include "app/short_options.h"
#include "app/stages.h"

namespace motes::app {

/// The common options as typed, and the streams.
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

/// A registered command: its options, and what it does once they are parsed.
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

/// For CommandOption::check: what is wrong with the name of a file or folder; empty if nothing is.
std::string refuse_empty_name(const std::string& name);

/// Adds --backend, --devices, --threads, --set, --json, --quiet, --seed and --config.
void add_common_options(CommandOptions command, Session& session);

/// Adds --columns.
void add_table_options(CommandOptions command, Session& session);
/// Adds --crop, for commands that read frames.
void add_crop_option(CommandOptions command, Session& session);

/// Defaults, then the YAML file (`input` when it is one, else --config), then `input` as input.path, then the
/// command line's settings. Throws UsageError, also if a command without a CUDA form is asked for cuda.
Config configure(const Session& session, const std::string& input = "", bool has_cuda_form = false);

/// Throws ResourceError if execution.backend is cuda and there is no GPU: before the work, not after it.
void require_gpu_if_asked(const Config& config);

/// Threads, back end and first device as the configuration has them.
Execution execution_of(const Config& config);

/// The numbers of the GPUs in execution.devices, at least one; {0} on the CPU and on machines without a GPU.
/// Throws UsageError for a GPU that does not exist.
std::vector<int> devices_of(const Config& config);

/// Writes the JSON result to the file of --json, if it was given.
void emit_json(Session& session, const nlohmann::ordered_json& result);

/// Creates the folder, or throws ResourceError now rather than after the work is done.
void prepare_folder(const std::filesystem::path& folder);
/// The same for the folder of a file.
void prepare_folder_of(const std::filesystem::path& file);

/// A folder that one command at a time writes to. Removes unfinished files of killed runs: outputs with these
/// stems, and those in the folder frames/. Throws ResourceError if the folder is not writable, or another run
/// is writing to it.
class OutputFolder {
 public:
  OutputFolder(const std::filesystem::path& folder, const std::vector<std::string>& stems);

 private:
  std::unique_ptr<system::FolderLock> lock_;
};

/// `given` (the -o option), else `configured`, else the input's name with `suffix`, in the current folder.
std::filesystem::path output_path(const std::string& given, const std::optional<std::string>& configured,
                                  const std::string& input, const std::string& suffix);

/// Paths that mean the same from any folder, for the record: the input, its mask and labels.
void make_input_path_absolute(Config& config);

/// Throws UsageError "COMMAND needs WHAT" where `text` is empty.
void require_argument(const std::string& text, const std::string& message);

}  // namespace motes::app
