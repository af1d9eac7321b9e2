#include "tracking/motion/local_field.h"

#include <algorithm>
#include <array>
#include <cstdint>

#include <motes/base/parallel_for.h>

#include "tracking/motion/field_fit.h"
#include "tracking/motion/near_points.h"

namespace motes::tracking {
namespace {

constexpr std::int64_t kBlock = 256;

/// Collects queries and fits them in batches.
class Fitter {
 public:
  explicit Fitter(std::vector<Vec3>& out) : out_(&out) {}

  /// Begins the next query; add() adds its neighbours.
  void begin(std::size_t query) {
    if (lanes_ == kFieldLanes) flush();
    query_[lanes_++] = query;
  }
  void add(const Vec3& offset, const Vec3& move) { batch_.add(lanes_ - 1, offset, move); }
  bool full() const { return batch_.count[lanes_ - 1] >= static_cast<double>(kFieldNeighbours); }
  /// Removes the last query.
  void forget() { batch_.count[--lanes_] = 0; }

  void flush() {
    for (std::size_t l = 0; l < lanes_; ++l) batch_.pad(l);
    const auto fields = fit_fields(batch_);
    for (std::size_t l = 0; l < lanes_; ++l) (*out_)[query_[l]] = fields[l];
    batch_.count.fill(0);
    lanes_ = 0;
  }

 private:
  std::vector<Vec3>* out_;
  FieldBatch batch_;
  std::array<std::size_t, kFieldLanes> query_{};
  std::size_t lanes_ = 0;
};

/// Finds a query's neighbours among the sources and adds them.
class ByTree {
 public:
  ByTree(std::span<const Vec3> sources, std::span<const Vec3> moves)
      : sources_(sources), moves_(moves), near_(sources) {}

  void add(const Vec3& query, std::ptrdiff_t own, std::size_t number, Fitter& fitter) {
    std::array<std::size_t, kFieldNeighbours + 1> index{};
    std::array<double, kFieldNeighbours + 1> squared{};
    const std::size_t found = near_.nearest(query, kFieldNeighbours + 1, index.data(), squared.data());
    fitter.begin(number);
    for (std::size_t k = 0; k < found && !fitter.full(); ++k)
      if (static_cast<std::ptrdiff_t>(index[k]) != own)
        fitter.add(sources_[index[k]] - query, moves_[index[k]]);
  }

 private:
  std::span<const Vec3> sources_, moves_;
  NearPoints near_;
};

}  // namespace

std::vector<Vec3> local_field(const Execution& execution, std::span<const Vec3> sources,
                              std::span<const Vec3> moves, std::span<const Vec3> queries,
                              std::span<const std::ptrdiff_t> own) {
  std::vector<Vec3> out(queries.size());
  if (sources.size() < kLeastFieldSources) return out;
  ByTree tree(sources, moves);
  const auto n = static_cast<std::int64_t>(queries.size());
  parallel_for(thread_count(execution), (n + kBlock - 1) / kBlock, [&](std::int64_t block) {
    Fitter fitter(out);
    for (std::int64_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) {
      const auto q = static_cast<std::size_t>(i);
      tree.add(queries[q], own.empty() ? -1 : own[q], q, fitter);
    }
    fitter.flush();
  });
  return out;
}

std::vector<Vec3> local_field_among(const Execution& execution, std::span<const Vec3> points,
                                    const NearLists& lists, const PointMoves& moves, bool own_counts) {
  std::vector<Vec3> out(points.size());
  if (moves.count < kLeastFieldSources) return out;
  std::vector<char> short_list((points.size() + kBlock - 1) / kBlock, 0), unfinished(points.size(), 0);
  const auto n = static_cast<std::int64_t>(points.size());
  const auto blocks = (n + kBlock - 1) / kBlock;
  parallel_for(thread_count(execution), blocks, [&](std::int64_t block) {
    Fitter fitter(out);
    for (std::int64_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i) {
      const auto q = static_cast<std::size_t>(i);
      fitter.begin(q);
      for (const std::int32_t near : lists.of(q)) {
        const auto k = static_cast<std::size_t>(near);
        if (moves.known[k] == 0 || (k == q && !own_counts)) continue;
        fitter.add(points[k] - points[q], moves.move[k]);
        if (fitter.full()) break;
      }
      if (fitter.full() || lists.complete()) continue;
      fitter.forget();
      unfinished[q] = short_list[static_cast<std::size_t>(block)] = 1;
    }
    fitter.flush();
  });
  if (std::find(short_list.begin(), short_list.end(), 1) == short_list.end()) return out;
  // If few points have displacements, the lists do not reach far enough.
  std::vector<Vec3> sources, source_moves;
  std::vector<std::ptrdiff_t> own(points.size(), -1);
  for (std::size_t k = 0; k < points.size(); ++k) {
    if (moves.known[k] == 0) continue;
    if (!own_counts) own[k] = static_cast<std::ptrdiff_t>(sources.size());
    sources.push_back(points[k]);
    source_moves.push_back(moves.move[k]);
  }
  ByTree tree(sources, source_moves);
  parallel_for(thread_count(execution), blocks, [&](std::int64_t block) {
    if (short_list[static_cast<std::size_t>(block)] == 0) return;
    Fitter fitter(out);
    for (std::int64_t i = block * kBlock; i < std::min(n, (block + 1) * kBlock); ++i)
      if (const auto q = static_cast<std::size_t>(i); unfinished[q] != 0)
        tree.add(points[q], own[q], q, fitter);
    fitter.flush();
  });
  return out;
}

}  // namespace motes::tracking
