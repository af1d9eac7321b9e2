/// Prices by annealing (the softened assignment of Kosowsky & Yuille 1994, with the scaling of Sinkhorn
/// 1967).
///
/// At temperature t, row i demands column j with weight exp(-(c_ij - v_j) / t), divided by the sum over the
/// row. A column whose total demand exceeds 1 becomes more expensive by t times the logarithm of the
/// demand; the others become cheaper. These iterations converge to the unique prices at which every column
/// has a total demand of 1, and as t falls these prices approach those of an optimal assignment. Unlike in
/// an auction, all rows and columns move at once. So a matrix with structure, where thousands of pairs of a
/// row are nearly tight, takes as few iterations as any other.
///
/// Errors that extend over many columns take many iterations to even out, local ones few. So the
/// temperature is first lowered on a sample of 128 rows and columns, until the sample can no longer
/// distinguish its columns; its prices are extended to a sample of four times the size, which continues
/// from there; and so on up to the whole matrix, which then needs a few iterations only. Momentum (a share
/// of the last change) speeds up the extended errors.
///
/// Weights have single precision, since only differences from the row's least offer enter, and these are
/// computed in double. Sums run over kLanes lanes and over blocks of rows of fixed size, so they do not
/// depend on threads or instruction sets.

#include "matching/assignment/core/annealed_prices.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstddef>
#include <functional>
#include <limits>
#include <memory>

#include <motes/base/for_each_task.h>
#include <motes/base/function_clones.h>
#include <motes/base/index.h>
#include <motes/base/parallel_for.h>

#include "matching/assignment/core/annealing_schedule.h"
#include "matching/assignment/dense/row_keys.h"

namespace motes::matching::detail {
namespace {

using namespace annealing;

constexpr std::size_t kLanes = 16;
constexpr Index kBlocks = 16;  ///< of rows, with separate sums
constexpr float kForbiddenKey = 1e38F;
constexpr Index kFirstSize = 128;  ///< rows and columns of the coarsest sample, about
constexpr Schedule kCoarsest{0.03, 160, 0.8};

/// 2^x for x <= 0, to about 1e-5; tiny below 2^-126.
inline float exp2_of(float x) {
  x = x > -126.0F ? x : -126.0F;
  const float shifted = x + 0x1.8p23F;  // its low bits are x, rounded
  const float f = x - (shifted - 0x1.8p23F);
  const float p = 1.0F + f * (0.69314718F + f * (0.24022651F + f * (0.05550411F + f * 0.00961813F)));
  return std::bit_cast<float>(std::bit_cast<std::int32_t>(p) + (std::bit_cast<std::int32_t>(shifted) << 23));
}

/// weight[j] = 2^(-rate * key[j]), where key[j] >= 0 is the offer minus the row's least one.
MOTES_CLONES void weigh(const float* __restrict key, float rate, float* __restrict weight,
                        std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) weight[j] = exp2_of(key[j] * -rate);
}

typedef float FloatLanes __attribute__((vector_size(kLanes * sizeof(float))));
typedef double DoubleLanes __attribute__((vector_size(kLanes / 2 * sizeof(double))));

/// The sum and the sum of squares.
MOTES_CLONES std::array<float, 2> sums_of(const float* __restrict weight, std::size_t count) {
  FloatLanes sum{}, squares{};
  for (std::size_t j = 0; j < count; j += kLanes) {
    FloatLanes w;
    __builtin_memcpy(&w, weight + j, sizeof w);
    sum += w;
    squares += w * w;
  }
  std::array<float, 2> out{};
  for (std::size_t k = 0; k < kLanes; ++k) out[0] += sum[k], out[1] += squares[k];
  return out;
}

MOTES_CLONES void add_scaled(const float* __restrict weight, float factor, float* __restrict wanted,
                             std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) wanted[j] += factor * weight[j];
}

/// offer[j] = cost[j] - v[j], and the least of them.
MOTES_CLONES double offers_of(const double* __restrict cost, const double* __restrict v,
                              double* __restrict offer, std::size_t count) {
  DoubleLanes low[2];
  for (auto& lanes : low) lanes = DoubleLanes{} + std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < count; j += kLanes)
    for (std::size_t h = 0; h < 2; ++h) {
      DoubleLanes c, price;
      __builtin_memcpy(&c, cost + j + h * kLanes / 2, sizeof c);
      __builtin_memcpy(&price, v + j + h * kLanes / 2, sizeof c);
      const DoubleLanes mine = c - price;
      __builtin_memcpy(offer + j + h * kLanes / 2, &mine, sizeof c);
      low[h] = mine < low[h] ? mine : low[h];
    }
  double least = low[0][0];
  for (const auto& lanes : low)
    for (std::size_t k = 0; k < kLanes / 2; ++k) least = lanes[k] < least ? lanes[k] : least;
  return least;
}

MOTES_CLONES void above_least(const double* __restrict offer, double least, float* __restrict key,
                              std::size_t count) {
  for (std::size_t j = 0; j < count; ++j) key[j] = static_cast<float>(offer[j] - least);
}

template <class T>
void costs_of_row(const T* row, double* out, std::size_t count) {
  constexpr double kForbidden = std::numeric_limits<double>::infinity();
  for (std::size_t j = 0; j < count; ++j)
    out[j] = row[j] > kLastKey<T> ? kForbidden : static_cast<double>(row[j]);
}

std::size_t padded(Index count) { return (at(count) + kLanes - 1) / kLanes * kLanes; }

/// Iterations of the softened assignment. fill(i, out) writes the costs of row i, of the rows here: [cols]
/// doubles.
template <class Fill>
class Annealing {
 public:
  Annealing(int threads, Index rows, Index cols, const Fill& fill, const DistributedRows& distributed)
      : threads_(threads),
        rows_(rows),
        cols_(cols),
        distributed_(distributed),
        width_(padded(cols)),
        fill_(fill),
        v_(width_, 0),
        velocity_(width_, 0),
        u_(at(rows), 0),
        part_(at(kBlocks)) {
    for (auto& part : part_) part.wanted.resize(width_);
  }
  std::vector<double>& v() { return v_; }
  const std::vector<double>& u() const { return u_; }

  /// One iteration at a temperature.
  Turn turn(double temperature, double momentum) {
    const auto rate = static_cast<float>(kLog2E / temperature);
    parallel_for(threads_, kBlocks, [&](std::int64_t block) {
      Part& part = part_[at(block)];
      std::fill(part.wanted.begin(), part.wanted.end(), 0.0F);
      part.concentration = 0;
      std::vector<double> cost(width_, std::numeric_limits<double>::infinity()), offer(width_);
      std::vector<float> key(width_), weight(width_);
      const Offset begin = Offset{rows_} * block / kBlocks, end = Offset{rows_} * (block + 1) / kBlocks;
      for (Offset i = begin; i < end; ++i) {
        const double* costs = fill_(static_cast<Index>(i), cost.data());
        const double least = offers_of(costs, v_.data(), offer.data(), width_);
        if (!std::isfinite(least)) continue;
        u_[at(i)] = least;
        above_least(offer.data(), least, key.data(), width_);
        weigh(key.data(), rate, weight.data(), width_);
        const auto [sum, squares] = sums_of(weight.data(), width_);
        add_scaled(weight.data(), 1 / sum, part.wanted.data(), width_);
        part.concentration += squares / (sum * sum);
      }
    });
    double concentration = 0;
    for (const Part& part : part_) concentration += part.concentration;
    distributed_.combine(std::span(&concentration, 1), std::plus<>());
    std::vector<float>& wanted = part_[0].wanted;
    for (std::size_t k = 1; k < part_.size(); ++k)
      for (std::size_t j = 0; j < at(cols_); ++j) wanted[j] += part_[k].wanted[j];
    distributed_.combine(std::span(wanted), std::plus<>());
    double imbalance = 0;
    for (std::size_t j = 0; j < at(cols_); ++j) {
      const double excess = std::log(std::max(wanted[j], kLeastWanted));
      imbalance = std::max(imbalance, std::abs(excess));
      const double step = momentum * velocity_[j] - temperature * excess;
      velocity_[j] = step;
      v_[j] += step;
    }
    return {cols_ / concentration, imbalance};
  }

  /// The rows' mean cost above their least offer: the first temperature.
  double mean_above() {
    double sum = 0, count = 0;
    std::vector<double> cost(width_, std::numeric_limits<double>::infinity()), offer(width_);
    for (Index i = 0; i < rows_; i += std::max(1, cols_ / 64)) {
      const double* costs = fill_(i, cost.data());
      const double least = offers_of(costs, v_.data(), offer.data(), width_);
      for (std::size_t j = 0; j < at(cols_); ++j)
        if (std::isfinite(offer[j])) sum += offer[j] - least, ++count;
    }
    distributed_.combine(std::span(&sum, 1), std::plus<>());
    distributed_.combine(std::span(&count, 1), std::plus<>());
    return count == 0 ? 0 : sum / count;
  }

 private:
  struct Part {
    std::vector<float> wanted;
    double concentration = 0;
  };
  int threads_;
  Index rows_, cols_;  ///< rows of this rank; all ranks together have as many as there are columns
  const DistributedRows& distributed_;
  std::size_t width_;
  const Fill& fill_;
  std::vector<double> v_, velocity_, u_;
  std::vector<Part> part_;
};

/// Some columns and some of this rank's rows of a matrix, formed when needed or stored.
template <class T>
class Sample {
 public:
  Sample(const DenseEntries<T>& entries, Index size, const DistributedRows& distributed)
      : entries_(entries), cols_(sampled(entries.cols, size, kSaltOfColumns)) {
    for (const Index i : sampled(entries.cols, size, 0))
      if (i >= distributed.first && i - distributed.first < entries.rows)
        rows_.push_back(i - distributed.first);
    if (size > kKept) return;
    width_ = padded(size);
    kept_.assign(rows_.size() * width_, std::numeric_limits<double>::infinity());
    for (std::size_t k = 0; k < rows_.size(); ++k) form(rows_[k], cols_, &kept_[k * width_]);
  }
  Index size() const { return static_cast<Index>(cols_.size()); }
  Index rows_here() const { return static_cast<Index>(rows_.size()); }
  const std::vector<Index>& rows() const { return rows_; }
  const std::vector<Index>& cols() const { return cols_; }
  /// Row k, in place or in `room`, whose end is unchanged.
  const double* operator()(Index k, double* room) const {
    if (!kept_.empty()) return &kept_[at(k) * width_];
    form(rows_[at(k)], cols_, room);
    return room;
  }
  /// Row i of the matrix at these columns.
  void form(Index i, const std::vector<Index>& cols, double* out) const {
    const T* row = entries_.data + i * entries_.row_stride;
    if (static_cast<Index>(cols.size()) == entries_.cols && entries_.col_stride == 1)
      return costs_of_row(row, out, cols.size());
    for (std::size_t l = 0; l < cols.size(); ++l)
      costs_of_row(row + cols[l] * entries_.col_stride, out + l, 1);
  }

 private:
  static constexpr Index kKept = 1024;
  const DenseEntries<T>& entries_;
  std::vector<Index> rows_, cols_;
  std::size_t width_ = 0;
  std::vector<double> kept_;
};

/// Prices of the columns of `fine` from those of the coarse sample, whose columns give prices to its rows,
/// and these to the columns of `fine`.
template <class T>
std::vector<double> extended(int threads, const Sample<T>& coarse, const Sample<T>& fine,
                             const DistributedRows& distributed, const std::vector<double>& v,
                             double temperature) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const std::size_t wide = padded(coarse.size()), width = padded(fine.size());
  std::vector<double> u(at(coarse.rows_here()), kNone);
  std::vector<double> room(wide, kNone), offer(wide);
  std::vector<float> key(wide), weight(wide);
  const auto rate = static_cast<float>(kLog2E / temperature);
  for (Index k = 0; k < coarse.rows_here(); ++k) {
    const double least = offers_of(coarse(k, room.data()), v.data(), offer.data(), wide);
    if (!std::isfinite(least)) continue;
    above_least(offer.data(), least, key.data(), wide);
    weigh(key.data(), rate, weight.data(), wide);
    u[at(k)] = least - temperature * std::log(sums_of(weight.data(), wide)[0]);
  }
  // Columns by pieces, each with all rows: first the least, then the sum.
  std::vector<double> all_least(width, kNone), out(width, 0);
  std::vector<float> all_sums(width, 0);
  constexpr std::size_t kPiece = 256;
  const auto pass = [&](bool summing) {
    for_each_block(threads, at(fine.size()), kPiece, [&](std::size_t begin, std::size_t end) {
      const std::vector<Index> cols(fine.cols().begin() + static_cast<std::ptrdiff_t>(begin),
                                    fine.cols().begin() + static_cast<std::ptrdiff_t>(end));
      std::vector<double> cost(cols.size());
      std::vector<float> mine(cols.size());
      double* least = &all_least[begin];
      float* sum = &all_sums[begin];
      for (Index k = 0; k < coarse.rows_here(); ++k) {
        if (!std::isfinite(u[at(k)])) continue;
        fine.form(coarse.rows()[at(k)], cols, cost.data());
        if (!summing) {
          for (std::size_t j = 0; j < cols.size(); ++j) least[j] = std::min(least[j], cost[j] - u[at(k)]);
          continue;
        }
        for (std::size_t j = 0; j < cols.size(); ++j)
          mine[j] =
              std::isfinite(cost[j]) ? static_cast<float>(cost[j] - u[at(k)] - least[j]) : kForbiddenKey;
        weigh(mine.data(), rate, mine.data(), cols.size());
        for (std::size_t j = 0; j < cols.size(); ++j) sum[j] += mine[j];
      }
    });
  };
  pass(false);
  distributed.combine(std::span(all_least), [](double a, double b) { return std::min(a, b); });
  pass(true);
  distributed.combine(std::span(all_sums), std::plus<>());
  for (std::size_t j = 0; j < at(fine.size()); ++j)
    if (std::isfinite(all_least[j])) out[j] = all_least[j] - temperature * std::log(all_sums[j]);
  return out;
}

}  // namespace

template <class T>
AnnealedPrices annealed_prices(int threads, const DenseEntries<T>& entries,
                               const DistributedRows& distributed) {
  const Index n = entries.cols;
  if (n == 0) return {};
  std::vector<double> u, v;
  double temperature = 0;
  std::unique_ptr<Sample<T>> before;
  for (const Index size : sizes_up_to(n, kFirstSize)) {
    auto sample = std::make_unique<Sample<T>>(entries, size, distributed);
    Annealing annealing(size < 512 ? 1 : threads, sample->rows_here(), size, *sample, distributed);
    if (before) {
      annealing.v() = extended(threads, *before, *sample, distributed, v, temperature);
    } else {
      temperature = annealing.mean_above() / kCooling;
      if (temperature == 0)
        return {std::vector<Cost>(at(entries.rows), 0), std::vector<Cost>(at(n), 0)};  // all alike
    }
    const bool whole = before && size == n;
    cool(temperature,
         !before ? kCoarsest
         : whole ? kWhole
                 : kFiner,
         whole, [&](double t, double momentum) { return annealing.turn(t, momentum); });
    v = annealing.v();
    u = annealing.u();
    before = std::move(sample);
  }
  const auto on_grid = [&](const std::vector<double>& duals, Index count) {
    std::vector<Cost> out(at(count));
    for (std::size_t j = 0; j < out.size(); ++j)
      out[j] = static_cast<Cost>(std::llround(std::clamp(duals[j] * entries.scale, -0x1p52, 0x1p52)));
    return out;
  };
  return {on_grid(u, entries.rows), on_grid(v, n)};
}

template AnnealedPrices annealed_prices(int, const DenseEntries<std::int32_t>&, const DistributedRows&);
template AnnealedPrices annealed_prices(int, const DenseEntries<std::int64_t>&, const DistributedRows&);
template AnnealedPrices annealed_prices(int, const DenseEntries<float>&, const DistributedRows&);
template AnnealedPrices annealed_prices(int, const DenseEntries<double>&, const DistributedRows&);

}  // namespace motes::matching::detail
