/// The ranks that a launcher started: their numbers are in the environment, and MPI is in the module
/// motes_mpi.

#include <cstdlib>
#include <filesystem>
#include <mutex>
#include <string>

#include <motes/base/communicator.h>
#include <motes/base/errors.h>
#include <motes/base/system/shared_library.h>

#include "base/mpi/mpi_functions.h"

namespace motes {
namespace {

int number(const char* name, int otherwise) {
  const char* text = std::getenv(name);
  if (text == nullptr || *text == '\0') return otherwise;
  char* end = nullptr;
  const long value = std::strtol(text, &end, 10);
  return *end == '\0' && value >= 0 && value < (1L << 24) ? static_cast<int>(value) : otherwise;
}

class MpiRanks final : public Communicator {
 public:
  explicit MpiRanks(const mpi::Functions& f) : Communicator(f.rank(), f.size()), f_(f) {}
  void abort(int code) override {
    f_.abort(code);
    std::_Exit(code);
  }

 private:
  static constexpr std::size_t kInline = 2040;  ///< bytes that fit into the first message
  struct Packet {
    std::size_t bytes;
    std::byte data[kInline];
  };

  static constexpr std::size_t kShort = 1008;  ///< bytes that fit into the message between two ranks
  struct Parcel {
    std::size_t bytes;
    std::int64_t value;
    std::byte data[kShort];
  };

  void do_all_reduce(std::int64_t* values, std::size_t count, Reduction how) override {
    f_.all_reduce(values, count, how == Reduction::min ? 0 : how == Reduction::max ? 1 : 2);
  }
  /// Sends short lists in one message, with their lengths; longer ones follow in a second message.
  void do_all_gather(const void* mine, std::size_t bytes, std::vector<std::byte>& all) override {
    packets_.resize(at(size()));
    sizes_.resize(at(size()));
    mine_.bytes = bytes;
    if (bytes > 0 && bytes <= kInline) std::memcpy(mine_.data, mine, bytes);
    f_.all_gather(&mine_, sizeof mine_, packets_.data());
    std::size_t total = 0;
    bool fits = true;
    for (std::size_t k = 0; k < sizes_.size(); ++k) {
      total += sizes_[k] = packets_[k].bytes;
      fits = fits && sizes_[k] <= kInline;
    }
    all.resize(total);
    if (!fits) return f_.all_gather_v(mine, sizes_.data(), all.data());
    std::byte* to = all.data();
    for (const Packet& packet : packets_) {
      if (packet.bytes > 0) std::memcpy(to, packet.data, packet.bytes);
      to += packet.bytes;
    }
  }
  void do_broadcast(void* values, std::size_t bytes, int root) override { f_.broadcast(values, bytes, root); }
  /// Sends one message from each rank to each, with the length of its list, and the list itself if it is
  /// short. Longer lists follow, only between the ranks concerned.
  std::int64_t do_exchange(std::span<const std::span<const std::byte>> to, std::int64_t value,
                           const std::function<std::byte*(std::size_t)>& room) override {
    const std::size_t ranks = to.size(), me = at(rank());
    parcels_out_.resize(ranks);
    parcels_in_.resize(ranks);
    for (std::size_t k = 0; k < ranks; ++k) {
      parcels_out_[k].bytes = to[k].size();
      parcels_out_[k].value = value;
      if (!to[k].empty() && to[k].size() <= kShort)
        std::memcpy(parcels_out_[k].data, to[k].data(), to[k].size());
    }
    f_.all_to_all(parcels_out_.data(), sizeof(Parcel), parcels_in_.data());
    std::size_t total = 0;
    std::int64_t sum = 0;
    bool any_long = false;
    for (std::size_t k = 0; k < ranks; ++k) {
      total += parcels_in_[k].bytes;
      sum += parcels_in_[k].value;
      any_long |= k != me && (parcels_in_[k].bytes > kShort || to[k].size() > kShort);
    }
    std::vector<const void*> mine(ranks, nullptr);
    std::vector<void*> theirs(ranks, nullptr);
    std::vector<std::size_t> bytes(ranks, 0), bytes_of_theirs(ranks, 0);
    std::byte* place = room(total);
    for (std::size_t k = 0; k < ranks; ++k) {
      const Parcel& parcel = parcels_in_[k];
      if (parcel.bytes > kShort && k != me) {
        theirs[k] = place;
        bytes_of_theirs[k] = parcel.bytes;
      } else if (parcel.bytes > 0) {
        std::memcpy(place, k == me ? to[k].data() : parcel.data, parcel.bytes);
      }
      place += parcel.bytes;
      if (to[k].size() <= kShort || k == me) continue;
      mine[k] = to[k].data();
      bytes[k] = to[k].size();
    }
    if (any_long) f_.all_to_all_v(mine.data(), bytes.data(), theirs.data(), bytes_of_theirs.data());
    return sum;
  }
  void do_collect(std::string_view mine, const std::function<void(int, std::string_view)>& use) override {
    std::uint64_t bytes = mine.size();
    if (rank() > 0) {
      f_.send(&bytes, sizeof bytes, 0);
      return f_.send(mine.data(), mine.size(), 0);
    }
    use(0, mine);
    std::string theirs;
    for (int k = 1; k < size(); ++k) {
      f_.receive(&bytes, sizeof bytes, k);
      theirs.resize(bytes);
      f_.receive(theirs.data(), theirs.size(), k);
      use(k, theirs);
    }
  }
  void do_rest() override { f_.rest(); }

  const mpi::Functions& f_;
  Packet mine_{};
  std::vector<Packet> packets_;
  std::vector<Parcel> parcels_out_, parcels_in_;
  std::vector<std::size_t> sizes_;
};

/// Loads the MPI module from the executable's folder, where a build puts it, or from where `cmake --install`
/// puts it. Returns nullptr, with the reason in `why`, if there is none.
const mpi::Functions* load_module(std::string& why) {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  const char* given = std::getenv("MOTES_MPI_MODULE");
  std::vector<std::filesystem::path> places;
  if (given != nullptr) places.emplace_back(given);
  places.push_back(here / "libmotes_mpi.so");
  places.push_back(here.parent_path() / MOTES_MPI_MODULE_DIR / "libmotes_mpi.so");
  why = "this build or installation has no MPI (MOTES_MPI)";
  for (const auto& place : places) {
    if (!std::filesystem::exists(place, ignored)) continue;
    std::string reason;
    // Global: Open MPI's own plug-ins look for its symbols.
    const system::SharedLibrary module(place.string(), system::Symbols::global, reason);
    if (!module.loaded()) {
      why = !reason.empty() ? reason : place.string() + " cannot be loaded";
      continue;
    }
    const auto find = reinterpret_cast<const mpi::Functions* (*)()>(module.find(mpi::kSymbol));
    if (find != nullptr && find()->interface == mpi::kInterface) return find();
    why = place.string() + " is of another version of motes";
  }
  return nullptr;
}

struct World {
  const mpi::Functions* functions = nullptr;
  std::unique_ptr<Communicator> ranks;
};
World& the_world() {
  static World world;
  return world;
}

}  // namespace

Launched launched() {
  struct Names {
    const char *rank, *size, *local_rank, *local_size;
  };
  for (const Names& names :
       {Names{"OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
              "OMPI_COMM_WORLD_LOCAL_SIZE"},
        Names{"PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
        Names{"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "SLURM_LOCALID", "SLURM_STEP_TASKS_PER_NODE"}}) {
    const int size = number(names.size, 1), rank = number(names.rank, -1);
    if (size > 1 && rank >= 0)
      return {rank, size, number(names.local_rank, rank), number(names.local_size, size)};
  }
  return {};
}

Communicator& world() {
  World& world = the_world();
  if (world.ranks != nullptr) return *world.ranks;
  const Launched told = launched();
  if (told.size == 1) {
    world.ranks = single_rank();
    return *world.ranks;
  }
  std::string why;
  world.functions = load_module(why);
  if (world.functions == nullptr)
    throw ResourceError("started as one of " + std::to_string(told.size) + " ranks, but " + why +
                        "; build with MOTES_MPI=ON, or start motes without a launcher");
  world.functions->enter();
  if (world.functions->size() != told.size)
    throw ResourceError("the launcher reports " + std::to_string(told.size) + " ranks, MPI of " +
                        std::to_string(world.functions->size()) +
                        "; start motes with the mpirun of the MPI that it was built with");
  world.ranks = std::make_unique<MpiRanks>(*world.functions);
  return *world.ranks;
}

void leave_world() {
  World& world = the_world();
  world.ranks.reset();
  if (world.functions != nullptr) world.functions->leave();
  world.functions = nullptr;
}

}  // namespace motes
