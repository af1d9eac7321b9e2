/// The steps that all commands share.

#include "app/command.h"

#include <algorithm>
#include <cstring>
#include <numeric>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <motes/base/errors.h>
#include <motes/base/gpu/device.h>
#include <motes/base/system/threads.h>
#include <motes/io/atomic_file.h>
#include <motes/io/input_policy.h>

#include "app/run/input.h"

namespace motes::app {
namespace {

void set_if_given(Config& config, const std::string& key, const std::string& text,
                  const std::string& option) {
  if (!text.empty()) set_key(config, key, text, option);
}

}  // namespace

bool is_yaml(const std::string& path) {
  const std::string extension = std::filesystem::path(path).extension().string();
  return extension == ".yaml" || extension == ".yml";
}

std::string refuse_empty_name(const std::string& name) { return name.empty() ? "give a name" : ""; }

void add_common_options(CommandOptions command, Session& session) {
  const auto group = "Common options";
  command.add_option("--config", session.config_file, "YAML configuration").type_name("FILE").group(group);
  command
      .add_option("--set", session.settings,
                  "Set one configuration key (repeatable; overrides the YAML file)")
      .type_name("key.path=value")
      .allow_extra_args(false)
      .group(group);
  command.add_option("--backend", session.backend, "auto, cpu or cuda").type_name("NAME").group(group);
  command.add_option("--devices", session.devices, "GPUs: 0,1 or all").type_name("LIST").group(group);
  command.add_option("--threads", session.threads, "CPU threads, 0: all").type_name("N").group(group);
  command.add_option("--seed", session.seed, "Seed of random numbers").type_name("N").group(group);
  command.add_option("--json", session.json, "Write the result as JSON; - is standard output")
      .check(refuse_empty_name)
      .type_name("FILE")
      .group(group);
  command
      .add_flag("--allow-outside", session.allow_outside,
                "Let a BigDataViewer XML or OME file name data outside its folder (input.allow_outside)")
      .group(group);
  command.add_flag("--quiet", session.quiet, "Print only errors (and the JSON of --json -)").group(group);
}

void add_table_options(CommandOptions command, Session& session) {
  command
      .add_option("--columns", session.columns,
                  "Columns of a table by role: x, y, z, frame, time, particle, parent (input.columns)")
      .type_name("x=NAME,...");
}

void add_crop_option(CommandOptions command, Session& session) {
  command
      .add_option("--crop", session.crop,
                  "Search this part of every frame: x0:x1,y0:y1,z0:z1 in voxels, end exclusive (input.crop)")
      .type_name("RANGES");
}

namespace {

/// Checks once how many threads can be started, since OpenMP ends the process if the system refuses to start
/// one. Up to three writers have teams of threads of their own, and there are a few single threads.
void limit_threads_to_startable(int wanted) {
  static int asked = 1;
  if (wanted <= asked) return;
  asked = wanted;
  constexpr int kOthers = 4;
  const int with_memory = system::threads_within_memory_limit();
  if (with_memory < wanted) return system::limit_threads(with_memory);
  const int started = system::startable_threads(4 * wanted + kOthers);
  if (started < 4 * wanted + kOthers) system::limit_threads(std::max(1, (started - kOthers) / 4));
}

}  // namespace

Config configure(const Session& session, const std::string& input, bool has_cuda_form) {
  Config config;
  if (is_yaml(input)) {
    if (!session.config_file.empty()) {
      throw UsageError("--config: '" + input + "' is a configuration already; give one of them");
    }
    load_yaml(input, config);
  } else {
    if (!session.config_file.empty()) load_yaml(session.config_file, config);
    refuse_remote(input);
    if (!input.empty()) config.input.path = input;
  }
  for (const std::string& assignment : session.settings) apply_assignment(config, assignment);
  apply_short_options(session.short_options, config);
  set_if_given(config, "execution.backend", session.backend, "--backend");
  set_if_given(config, "execution.devices", session.devices, "--devices");
  set_if_given(config, "execution.threads", session.threads, "--threads");
  set_if_given(config, "simulation.seed", session.seed, "--seed");
  set_if_given(config, "input.columns", session.columns, "--columns");
  if (session.allow_outside) config.input.allow_outside = true;
  set_if_given(config, "input.crop", session.crop, "--crop");
  check_consistency(config);
  io::set_input_policy({config.input.trusted, config.input.allow_outside});
  if (config.execution.backend == Backend::cuda && !has_cuda_form)
    throw UsageError("execution.backend: this command runs on the CPU only; use auto or cpu");
  limit_threads_to_startable(thread_count({config.execution.threads}));
  return config;
}

void require_gpu_if_asked(const Config& config) {
  if (config.execution.backend != Backend::cuda) return;
  const gpu::DeviceReport report = gpu::list_devices();
  if (report.devices.empty())
    throw ResourceError("execution.backend: no GPU: " + report.why_none + "; use execution.backend: cpu");
}

Execution execution_of(const Config& config) {
  Execution execution;
  execution.threads = config.execution.threads;
  execution.backend = config.execution.backend;
  execution.device = devices_of(config).front();
  return execution;
}

std::vector<int> devices_of(const Config& config) {
  std::vector<int> numbers = config.execution.devices;
  if (config.execution.backend == Backend::cpu || numbers == std::vector{0})
    return {0};  // does not wake the GPU
  const auto there = static_cast<int>(gpu::list_devices().devices.size());
  if (there == 0) return {0};
  if (numbers.empty()) {
    numbers.resize(static_cast<std::size_t>(there));
    std::iota(numbers.begin(), numbers.end(), 0);
  }
  const int last = *std::max_element(numbers.begin(), numbers.end());
  if (last >= there)
    throw UsageError(
        fmt::format("execution.devices: this machine has no GPU {}; it has {}, numbered from 0 (motes info "
                    "lists them)",
                    last, there));
  return numbers;
}

void emit_json(Session& session, const nlohmann::ordered_json& result) {
  if (session.json.empty()) return;
  // JSON does not allow all bytes that names of files may have; others are replaced.
  const std::string text = result.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  if (session.json == "-") {
    session.console.print_json(text);
  } else {
    io::write_text(session.json, text + "\n");
  }
}

void prepare_folder(const std::filesystem::path& folder) {
  std::error_code error;
  if (std::filesystem::exists(folder, error) && !std::filesystem::is_directory(folder, error))
    throw ResourceError(folder.string() + " is a file, not a folder; choose another with -o");
  if (std::filesystem::is_symlink(folder, error) && !std::filesystem::exists(folder, error))
    throw ResourceError(folder.string() + " is a broken link; choose another folder with -o");
  std::filesystem::create_directories(folder, error);
  if (!error) error.assign(system::refuses_files(folder), std::generic_category());
  if (error) {
    throw ResourceError(folder.string() + ": cannot write to this output folder: " +
                        std::strerror(error.value()) + "; check permissions, or choose another with -o");
  }
}

void prepare_folder_of(const std::filesystem::path& file) {
  prepare_folder(file.has_parent_path() ? file.parent_path() : ".");
}

OutputFolder::OutputFolder(const std::filesystem::path& folder, const std::vector<std::string>& stems) {
  prepare_folder(folder);
  lock_ = std::make_unique<system::FolderLock>(folder);
  io::remove_stale_temporaries(folder, stems);
  std::error_code ignored;
  const std::filesystem::path frames = folder / "frames";
  if (std::filesystem::is_directory(std::filesystem::symlink_status(frames, ignored)))
    io::remove_stale_temporaries(frames);
}

std::filesystem::path output_path(const std::string& given, const std::optional<std::string>& configured,
                                  const std::string& input, const std::string& suffix) {
  if (!given.empty()) return given;
  if (configured) return *configured;
  std::filesystem::path name = std::filesystem::path(input).lexically_normal();
  if (!name.has_filename()) name = name.parent_path();
  std::string stem = name.filename().string();
  stem = stem.substr(0, stem.find('.', 1));
  return (stem.empty() || stem == "." || stem == ".." ? "motes" : stem) + suffix;
}

void make_input_path_absolute(Config& config) {
  const auto absolute = [](std::string& path) {
    if (!path.empty()) path = std::filesystem::absolute(path).lexically_normal().string();
  };
  absolute(config.input.path);
  for (auto* path : {&config.input.mask, &config.input.labels})
    if (*path) absolute(**path);
}

void require_argument(const std::string& text, const std::string& message) {
  if (text.empty()) throw UsageError(message);
}

}  // namespace motes::app
