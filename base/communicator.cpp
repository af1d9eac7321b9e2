/// The parts of a communicator that need no MPI: errors on all ranks, a single rank, and ranks as threads.

#include <algorithm>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <new>
#include <stdexcept>
#include <thread>

#include <motes/base/communicator.h>
#include <motes/base/errors.h>

namespace motes {

Block block_of(Index n, int rank, int size) {
  const Index each = n / size, more = n % size;
  return {rank * each + std::min<Index>(rank, more), each + (rank < more ? 1 : 0)};
}

void Communicator::all_reduce(std::span<std::int64_t> values, Reduction how) {
  if (size_ == 1 || values.empty()) return;
  counted(values.size_bytes(), [&] { do_all_reduce(values.data(), values.size(), how); });
}

void Communicator::gather(const void* mine, std::size_t bytes) {
  if (size_ > 1) {
    counted(bytes, [&] { do_all_gather(mine, bytes, gathered_); });
    return;
  }
  gathered_.resize(bytes);
  if (bytes > 0) std::memcpy(gathered_.data(), mine, bytes);
}

std::int64_t Communicator::exchange_bytes(std::span<const std::span<const std::byte>> to, std::int64_t value,
                                          const std::function<std::byte*(std::size_t)>& room) {
  if (size_ == 1) {
    std::byte* place = room(to[0].size());
    if (!to[0].empty()) std::memcpy(place, to[0].data(), to[0].size());
    return value;
  }
  std::size_t bytes = 0;
  for (std::size_t k = 0; k < to.size(); ++k) bytes += k == at(rank_) ? 0 : to[k].size();
  std::int64_t sum = 0;
  counted(bytes, [&] { sum = do_exchange(to, value, room); });
  return sum;
}

void Communicator::broadcast(std::string& text, int root) {
  auto length = static_cast<std::int64_t>(text.size());
  broadcast(std::span(&length, 1), root);
  text.resize(at(length));
  broadcast(std::span(text.data(), text.size()), root);
}

void Communicator::collect(std::string_view mine, const std::function<void(int, std::string_view)>& use) {
  if (size_ == 1) return use(0, mine);
  std::exception_ptr failure;  // of rank 0, while the others continue to send
  counted(rank_ == 0 ? 0 : mine.size(), [&] {
    do_collect(mine, [&](int rank, std::string_view bytes) {
      if (failure != nullptr) return;
      try {
        use(rank, bytes);
      } catch (...) {
        failure = std::current_exception();
      }
    });
  });
  if (failure != nullptr) std::rethrow_exception(failure);
}

void Communicator::rest() {
  if (size_ > 1) counted(0, [&] { do_rest(); });
}

namespace {

enum class Kind : std::int64_t { error, invalid, memory, other };
struct Failure {
  Kind kind = Kind::other;
  std::int64_t code = static_cast<int>(ExitCode::resources);
};

[[noreturn]] void throw_again(const Failure& failure, const std::string& what) {
  switch (failure.kind) {
    case Kind::invalid:
      throw std::invalid_argument(what);
    case Kind::memory:
      throw std::bad_alloc();
    case Kind::error:
      switch (static_cast<ExitCode>(failure.code)) {
        case ExitCode::usage:
          throw UsageError(what);
        case ExitCode::input:
          throw InputError(what);
        case ExitCode::interrupted:
          throw Interrupted(what);
        default:
          throw ResourceError(what);
      }
    default:
      throw ResourceError(what);
  }
}

}  // namespace

void Communicator::agreed(const std::function<void()>& body) {
  if (size_ == 1) return body();
  constexpr std::int64_t kFine = std::numeric_limits<std::int64_t>::max();
  std::int64_t first = rank_;
  Failure failure;
  std::string what;
  try {
    body();
    first = kFine;
  } catch (const Error& error) {
    failure = {Kind::error, static_cast<int>(error.code())};
    what = error.what();
  } catch (const std::invalid_argument& error) {
    failure.kind = Kind::invalid;
    what = error.what();
  } catch (const std::bad_alloc&) {
    failure.kind = Kind::memory;
  } catch (const std::exception& error) {
    what = error.what();
  }
  first = all_reduce(first, Reduction::min);
  if (first == kFine) return;
  const int root = static_cast<int>(first);
  broadcast(std::span(&failure, 1), root);
  broadcast(what, root);
  agreed_error_ = true;
  throw_again(failure, root == 0 ? what : "rank " + std::to_string(root) + ": " + what);
}

namespace {

class SingleRank final : public Communicator {
 public:
  SingleRank() : Communicator(0, 1) {}
  void abort(int code) override { std::_Exit(code); }

 private:
  void do_all_reduce(std::int64_t*, std::size_t, Reduction) override {}
  void do_all_gather(const void*, std::size_t, std::vector<std::byte>&) override {}
  void do_broadcast(void*, std::size_t, int) override {}
  std::int64_t do_exchange(std::span<const std::span<const std::byte>>, std::int64_t,
                           const std::function<std::byte*(std::size_t)>&) override {
    return 0;
  }
  void do_collect(std::string_view, const std::function<void(int, std::string_view)>&) override {}
  void do_rest() override {}
};

/// The error of a rank that waited for one that failed.
struct OtherRankFailed : ResourceError {
  OtherRankFailed() : ResourceError("another rank failed") {}
};

/// The barrier of the threads, with the data that each offers to the others.
struct RankBarrier {
  struct Offer {
    const void* data = nullptr;
    std::size_t bytes = 0;
  };

  explicit RankBarrier(int ranks) : offered(at(ranks)) {}

  /// Returns when all threads have arrived; throws if one has failed.
  void wait() {
    std::unique_lock lock(mutex);
    const std::int64_t round = rounds;
    if (++here == static_cast<int>(offered.size())) {
      here = 0;
      ++rounds;
      all_here.notify_all();
    }
    all_here.wait(lock, [&] { return failed || rounds != round; });
    if (rounds == round) throw OtherRankFailed();
  }
  void fail() {
    const std::lock_guard lock(mutex);
    failed = true;
    all_here.notify_all();
  }

  std::vector<Offer> offered;
  std::mutex mutex;
  std::condition_variable all_here;
  int here = 0;
  std::int64_t rounds = 0;
  bool failed = false;
};

class ThreadRank final : public Communicator {
 public:
  ThreadRank(RankBarrier& barrier, int rank)
      : Communicator(rank, static_cast<int>(barrier.offered.size())), barrier_(barrier) {}
  void abort(int) override { throw OtherRankFailed(); }

 private:
  /// Calls use(k, offer of rank k) for every rank, while all offers are valid.
  template <class Use>
  void exchange_offers(const void* data, std::size_t bytes, Use&& use) {
    barrier_.offered[at(rank())] = {data, bytes};
    barrier_.wait();
    for (std::size_t k = 0; k < barrier_.offered.size(); ++k) use(static_cast<int>(k), barrier_.offered[k]);
    barrier_.wait();
  }

  void do_all_reduce(std::int64_t* values, std::size_t count, Reduction how) override {
    std::vector<std::int64_t> out(values, values + count);
    exchange_offers(values, count * sizeof *values, [&](int k, const RankBarrier::Offer& other) {
      if (k == rank()) return;
      const auto* theirs = static_cast<const std::int64_t*>(other.data);
      for (std::size_t i = 0; i < count; ++i)
        out[i] = how == Reduction::sum   ? out[i] + theirs[i]
                 : how == Reduction::min ? std::min(out[i], theirs[i])
                                         : std::max(out[i], theirs[i]);
    });
    std::copy(out.begin(), out.end(), values);
  }
  void do_all_gather(const void* mine, std::size_t bytes, std::vector<std::byte>& all) override {
    all.clear();
    exchange_offers(mine, bytes, [&](int, const RankBarrier::Offer& other) {
      const auto* from = static_cast<const std::byte*>(other.data);
      all.insert(all.end(), from, from + other.bytes);
    });
  }
  void do_broadcast(void* values, std::size_t bytes, int root) override {
    exchange_offers(values, bytes, [&](int k, const RankBarrier::Offer& other) {
      if (k == root && k != rank()) std::memcpy(values, other.data, bytes);
    });
  }
  std::int64_t do_exchange(std::span<const std::span<const std::byte>> to, std::int64_t value,
                           const std::function<std::byte*(std::size_t)>& room) override {
    struct Offered {
      std::span<const std::span<const std::byte>> to;
      std::int64_t value;
    };
    const Offered mine{to, value};
    std::int64_t sum = 0;
    std::vector<std::span<const std::byte>> lists(at(size()));
    const auto take = [&](int k, const RankBarrier::Offer& other) {
      const auto& theirs = *static_cast<const Offered*>(other.data);
      sum += theirs.value;
      lists[at(k)] = theirs.to[at(rank())];
      if (k + 1 < size()) return;
      std::size_t total = 0;
      for (const auto& list : lists) total += list.size();
      std::byte* place = room(total);
      for (const auto& list : lists) place = std::copy(list.begin(), list.end(), place);
    };
    exchange_offers(&mine, sizeof mine, take);
    return sum;
  }
  void do_collect(std::string_view mine, const std::function<void(int, std::string_view)>& use) override {
    exchange_offers(mine.data(), mine.size(), [&](int k, const RankBarrier::Offer& other) {
      if (rank() == 0) use(k, {static_cast<const char*>(other.data), other.bytes});
    });
  }
  void do_rest() override { barrier_.wait(); }

  RankBarrier& barrier_;
};

}  // namespace

std::unique_ptr<Communicator> single_rank() { return std::make_unique<SingleRank>(); }

void run_as_threads(int ranks, const std::function<void(Communicator&)>& body) {
  RankBarrier barrier(ranks);
  std::vector<std::exception_ptr> thrown(at(ranks));
  std::vector<bool> relayed(at(ranks), false);
  std::mutex relayed_mutex;
  {
    std::vector<std::jthread> threads;
    for (int rank = 0; rank < ranks; ++rank)
      threads.emplace_back([&, rank] {
        ThreadRank communicator(barrier, rank);
        try {
          body(communicator);
        } catch (const OtherRankFailed&) {
          const std::lock_guard lock(relayed_mutex);
          relayed[at(rank)] = true;
          thrown[at(rank)] = std::current_exception();
        } catch (...) {
          thrown[at(rank)] = std::current_exception();
        }
        if (thrown[at(rank)] != nullptr) barrier.fail();
      });
  }
  for (const bool is_relayed : {false, true})
    for (std::size_t k = 0; k < thrown.size(); ++k)
      if (thrown[k] != nullptr && relayed[k] == is_relayed) std::rethrow_exception(thrown[k]);
}

}  // namespace motes
