#pragma once
/// Random numbers of fixed distributions by inversion: one random 32-bit word gives one number. Everything
/// uses only + - * / and square roots, so the tables have the same bits on every machine; CPU and GPU share
/// the look-ups.

#include <cstdint>
#include <vector>

#include <motes/base/host_device.h>

namespace motes::sim::detail {

/// The position of a table in the arrays of its InversionTables.
struct TableSpan {
  std::uint32_t begin = 0;  ///< index of its first entry in `last_word`
  std::uint32_t count = 0;
  std::int32_t first = 0;  ///< the number of entry 0
};

/// Several tables side by side. Entry i of a table is the largest word that gives a number <= first + i, so
/// the last entry is 2^32 - 1.
struct InversionTables {
  /// Long tables need more bits, so that fewer entries have to be searched for each guide entry.
  explicit InversionTables(int bits = 8) : guide_bits(bits) {}

  int guide_bits;
  std::vector<TableSpan> span;
  std::vector<std::uint32_t> last_word;
  /// [spans * (2^guide_bits + 1)]: a word with leading bits b has its entry between guide[b] and guide[b +
  /// 1].
  std::vector<std::uint32_t> guide;

  /// Adds the distribution of first, first + 1, ...: `weight` [n] need not sum to 1, but its sum must be of
  /// order 1.
  void add(std::int64_t first, const std::vector<double>& weight);
  void add_poisson(double mean);
  /// Adds a normal distribution of standard deviation `steps` on the integers. For steps >= 2 its mean is 0
  /// and its variance steps^2 to the last digit of a double.
  void add_normal(double steps);
};

struct InversionView {
  const TableSpan* span;
  const std::uint32_t* last_word;
  const std::uint32_t* guide;
  int guide_bits;
};

inline InversionView view_of(const InversionTables& tables) {
  return {tables.span.data(), tables.last_word.data(), tables.guide.data(), tables.guide_bits};
}

/// The entry (not the number) of the word.
MOTES_HOST_DEVICE inline std::uint32_t find_entry(const InversionView& tables, std::uint32_t table,
                                                  std::uint32_t word) {
  const std::uint32_t* last_word = tables.last_word + tables.span[table].begin;
  const std::uint32_t* guide =
      tables.guide + table * ((std::size_t{1} << tables.guide_bits) + 1) + (word >> (32 - tables.guide_bits));
  std::uint32_t low = guide[0];
  if (word <= last_word[low]) return low;
  // Most words are found here; in the tails of a table one guide entry covers many entries.
  std::uint32_t high = guide[1];
  ++low;
  while (low < high) {
    const std::uint32_t middle = (low + high) / 2;
    if (word > last_word[middle]) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return low;
}

MOTES_HOST_DEVICE inline std::int32_t find_number(const InversionView& tables, std::uint32_t table,
                                                  std::uint32_t word) {
  return tables.span[table].first + static_cast<std::int32_t>(find_entry(tables, table, word));
}

/// Poisson numbers of any mean from `background` on, with every probability exact to 2^-31.
///
/// Fine tables are for the means background + j / kFineSteps. For a mean between two of them, background + j
/// / kFineSteps + d, the number of the lower mean is right unless the word exceeds the largest word of this
/// number for the upper mean, which happens with a probability of at most d. Then the cumulative probability
/// of the sum of a number of the table and one of mean d is computed. Signals beyond the fine tables add
/// independent numbers of the means fine_span * 2^bit, one for each binary digit of the rest, each from
/// another word.
struct PhotonTables {
  static constexpr int kFineSteps = 8;
  InversionTables fine, coarse;
  float fine_span = 0;  ///< photons above the background that fine tables cover; a power of two
  float largest = 0;    ///< signals are clamped to this, far beyond the largest grey level
  explicit PhotonTables(double background, double largest_signal);
};

struct PhotonView {
  InversionView fine, coarse;
  float fine_span, largest;
};

inline PhotonView view_of(const PhotonTables& tables) {
  return {view_of(tables.fine), view_of(tables.coarse), tables.fine_span, tables.largest};
}

/// 2^32 times the probability of a number <= first + i; 0 below the table.
MOTES_HOST_DEVICE inline double summed_probability(const std::uint32_t* last_word, std::int64_t count,
                                                   std::int64_t i) {
  if (i < 0) return 0;
  return static_cast<double>(last_word[i < count ? i : count - 1]) + 1;
}

/// The entry of a number with the mean (of the fine table) + extra, 0 < extra < 1 / kFineSteps. `entry`: the
/// entry of the word in the table.
MOTES_HOST_DEVICE inline std::uint32_t entry_of_sum(const std::uint32_t* last_word, std::uint32_t count,
                                                    std::uint32_t entry, double extra, std::uint32_t word) {
  // Probabilities of 0, 1, ... for the mean `extra`; exp(-extra) by its series. The omitted terms are below
  // 2^-33.
  constexpr int kTerms = 8;
  double none = 1;
  for (int n = 9; n > 0; --n) none = 1 - extra * (1.0 / n) * none;
  double share[kTerms];
  share[0] = none;
  for (int n = 1; n < kTerms; ++n) share[n] = share[n - 1] * extra * (1.0 / n);
  for (std::uint32_t k = entry; k < count + kTerms; ++k) {
    double sum = 0;
    for (int n = 0; n < kTerms; ++n)
      sum += share[n] * summed_probability(last_word, count, static_cast<std::int64_t>(k) - n);
    if (static_cast<double>(word) < sum) return k;
  }
  return count + kTerms;
}

/// A Poisson number of mean background + signal. `word` suffices up to fine_span; `more(n)` returns further
/// independent words, n = 0, 1, ...
template <class More>
MOTES_HOST_DEVICE inline std::int32_t photons_of(const PhotonView& tables, float signal, std::uint32_t word,
                                                 const More& more) {
  std::int32_t photons = 0;
  if (signal >= tables.fine_span) {
    if (signal > tables.largest) signal = tables.largest;
    const auto whole = static_cast<std::uint32_t>(signal / tables.fine_span);  // exact: a power of two
    signal -= static_cast<float>(whole) * tables.fine_span;
    std::uint32_t bit = 0;
    for (std::uint32_t left = whole; left != 0; left >>= 1, ++bit)
      if (left & 1U) photons += find_number(tables.coarse, bit, more(bit));
  }
  const auto step = static_cast<std::uint32_t>(signal * PhotonTables::kFineSteps);
  const float extra = signal - static_cast<float>(step) / PhotonTables::kFineSteps;
  const TableSpan& lower = tables.fine.span[step];
  std::uint32_t entry = find_entry(tables.fine, step, word);
  if (extra > 0) {
    const TableSpan& upper = tables.fine.span[step + 1];
    const std::int64_t above = std::int64_t{entry} + lower.first - upper.first;
    if (above < 0 ||
        word > tables.fine.last_word[upper.begin + (above < upper.count ? above : upper.count - 1)])
      entry = entry_of_sum(tables.fine.last_word + lower.begin, lower.count, entry,
                           static_cast<double>(extra), word);
  }
  return photons + lower.first + static_cast<std::int32_t>(entry);
}

}  // namespace motes::sim::detail
