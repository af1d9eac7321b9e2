/// The solve has stages, each of which keeps c_ij >= u_i + v_j everywhere, with equality for matched pairs.
///
/// Row reduction as in sparse_augmenting_paths.cpp, with a budget. Then searches among tight edges only,
/// which succeed often if there are many ties; what a failed search has visited is a dead end for the
/// others too.
///
/// If many rows are left, an auction with falling epsilon (Bertsekas, "The auction algorithm", 1988)
/// computes prices, and the first two stages start over from them. Bids are local and cheap, and replace
/// what would take the forests below most of their time: an auction leaves a hundredth of the rows that
/// reduction alone leaves. If it leaves no fewer rows, it is undone.
///
/// Last come phases. A forest grows from all free rows at once in order of distance (Dijkstra), until a
/// fifth of its trees have reached a free column. The duals of all settled vertices are adjusted by how
/// much nearer they are than the forest's reach, which makes the whole forest tight, and each of those
/// trees is augmented. As every column ends matched, the prices of free columns may change like those of
/// others; this is why one phase can serve many rows. The searches of the last rows are long, but these
/// rows are few.
///
/// When a forest first reaches a row, the row's edges are sorted by their offers. Prices only fall, so the
/// offer at that time (key) remains a lower bound: kPlacesAtOnce edges of a row are scanned at a time, and
/// the row waits in the queue until the forest has grown to the next key. Most edges are never scanned.

#include "matching/assignment/sparse/multi_source_paths.h"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>

#include <motes/base/index.h>

namespace motes::matching::detail {
namespace {

constexpr Cost kFar = std::numeric_limits<Cost>::max();
constexpr Cost kLowestDual = -(Cost{1} << 60);  ///< two more distances fit beside it
constexpr std::int64_t kReductionBidsPerRow = 4;
constexpr std::size_t kStride = 64;
/// An auction pays where row reduction leaves more than one in this many rows; before the first one, and
/// after.
constexpr std::size_t kFewWhenCold = 32, kFewWhenWarm = 100;
constexpr std::size_t kLeastGain =
    2;  ///< an auction that leaves more than one row in this many free is the last
constexpr double kFirstEpsilon = 2;  ///< times the mean gap
constexpr double kEpsilonFactor = 4;
constexpr int kColdStages = 5, kWarmStages = 2;
constexpr std::int64_t kStageBidsPerRow = 16;
constexpr std::size_t kTreesPerPhase = 5;  ///< one in this many is to find its end
constexpr Index kPlacesAtOnce = 4;

}  // namespace

void RadixQueue::clear() {
  for (auto& bucket : buckets_) bucket.clear();
  filled_ = 0;
  last_ = 0;
}

bool RadixQueue::pop(Entry& out) {
  if (buckets_[0].empty()) {
    if (filled_ == 0) return false;
    const int k = __builtin_ctzll(filled_) + 1;
    auto& bucket = buckets_[k];
    last_ = std::min_element(bucket.begin(), bucket.end(), [](const Entry& a, const Entry& b) {
              return a.distance < b.distance;
            })->distance;
    filled_ &= ~(std::uint64_t{1} << (k - 1));
    for (const Entry& entry : bucket) push(entry);  // all go into lower buckets
    bucket.clear();
  }
  out = buckets_[0].back();
  buckets_[0].pop_back();
  return true;
}

MultiSourcePaths::MultiSourcePaths(std::span<const Cost> v, std::span<const Index> row_to_col)
    : size_(static_cast<Index>(v.size())),
      row_edge_(v.size(), -1),
      columns_(v.size()),
      base_(v.size()),
      root_(v.size()),
      end_(v.size()) {
  for (std::size_t j = 0; j < v.size(); ++j) {
    columns_[j].v = v[j];
    lowest_v_ = std::min(lowest_v_, v[j]);
  }
  for (std::size_t i = 0; i < row_to_col.size(); ++i)
    if (row_to_col[i] != -1) columns_[at(row_to_col[i])].row = static_cast<Index>(i);
}

void MultiSourcePaths::set_graph(const SparseCosts& graph) {
  std::vector<Index> mate(at(size_), -1);
  for (Index j = 0; j < size_; ++j)
    if (columns_[at(j)].row != -1) mate[at(columns_[at(j)].row)] = j;
  offsets_ = graph.graph.row_offsets;
  edges_.resize(graph.cost.size());
  for (std::size_t e = 0; e < edges_.size(); ++e) edges_[e] = {graph.cost[e], graph.graph.col_index[e]};
  key_.clear();  // until a forest grows
  in_order_.assign(at(size_), 0);
  free_rows_.clear();
  double gaps = 0, counted = 0;
  for (Index i = 0; i < size_; ++i) {
    Cost best = kFar, second = kFar, mine = kFar;
    row_edge_[at(i)] = -1;
    for (Offset e = offsets_[at(i)]; e < offsets_[at(i) + 1]; ++e) {
      const Cost offer = edges_[at(e)].cost - columns_[at(edges_[at(e)].col)].v;
      second = std::min(second, std::max(best, offer));
      best = std::min(best, offer);
      if (edges_[at(e)].col == mate[at(i)]) row_edge_[at(i)] = e, mine = offer;
    }
    if (second != kFar) gaps += static_cast<double>(second - best), ++counted;
    if (mate[at(i)] != -1 && (row_edge_[at(i)] == -1 || mine > best)) {
      columns_[at(mate[at(i)])].row = -1;
      row_edge_[at(i)] = -1;
    }
    if (row_edge_[at(i)] == -1) free_rows_.push_back(i);
  }
  mean_gap_ = counted == 0 ? 0 : gaps / counted;
}

std::vector<Cost> MultiSourcePaths::v() const {
  std::vector<Cost> out(columns_.size());
  for (std::size_t j = 0; j < out.size(); ++j) out[j] = columns_[j].v;
  return out;
}

MultiSourcePaths::End MultiSourcePaths::solve(std::int64_t most_looks) {
  const std::vector<Cost> given = v();
  reduce_rows();
  match_on_tight_edges();
  if (auctions_pay_ && !few_are_left()) try_auction(given);
  while (!free_rows_.empty()) {
    if (lowest_v_ < kLowestDual) return End::out_of_range;
    if (const End end = grow_forest(most_looks); end != End::matched) return end;
  }
  return End::matched;
}

void MultiSourcePaths::new_search() {
  if (search_ == std::numeric_limits<std::uint32_t>::max() / 2 - 1) {
    for (Column& column : columns_) column.stamp = 0;
    search_ = 0;
  }
  ++search_;
}

Cost MultiSourcePaths::least_offer(Index row) const {
  Cost best = kFar;
  for (Offset e = offsets_[at(row)]; e < offsets_[at(row) + 1]; ++e)
    best = std::min(best, edges_[at(e)].cost - columns_[at(edges_[at(e)].col)].v);
  return best;
}

MultiSourcePaths::Offers MultiSourcePaths::two_best(Index row) const {
  Offers out{kFar, kFar, -1};
  for (Offset e = offsets_[at(row)]; e < offsets_[at(row) + 1]; ++e) {
    const Cost offer = edges_[at(e)].cost - columns_[at(edges_[at(e)].col)].v;
    if (offer < out.best)
      out = {offer, out.best, e};
    else if (offer < out.second)
      out.second = offer;
  }
  return out;
}

void MultiSourcePaths::take(Index row, Index place) {
  row_edge_[at(row)] = offsets_[at(row)] + place;
  columns_[at(edges_[at(row_edge_[at(row)])].col)].row = row;
}

void MultiSourcePaths::reduce_rows() {
  std::int64_t budget = kReductionBidsPerRow * static_cast<std::int64_t>(free_rows_.size());
  still_free_.clear();
  // Rows with consecutive numbers may be neighbours in space, and are not served one after the other: the
  // last ones would find all near columns taken.
  for (std::size_t first = 0; first < kStride; ++first)
    for (std::size_t k = first; k < free_rows_.size(); k += kStride) bid_chain(free_rows_[k], budget);
  free_rows_.swap(still_free_);
}

/// A free row takes its best offer and lowers that price until it equals the second best; the row it
/// displaced goes next. Where the two tie, no price can move: it takes a free column among the best, or
/// waits.
void MultiSourcePaths::bid_chain(Index row, std::int64_t& budget) {
  while (row != -1) {
    const Offset begin = offsets_[at(row)], end = offsets_[at(row) + 1];
    if (budget-- <= 0 || begin == end) {
      still_free_.push_back(row);
      return;
    }
    ++counts_.bids;
    auto [best, second, chosen] = two_best(row);
    Column* column = &columns_[at(edges_[at(chosen)].col)];
    if (column->row != -1 && second == kFar) {  // a single offer sets no price
      still_free_.push_back(row);
      return;
    }
    if (column->row != -1 && second == best) {
      const auto is_free = [&, least = best](Offset e) {
        const Column& other = columns_[at(edges_[at(e)].col)];
        return other.row == -1 && edges_[at(e)].cost - other.v == least;
      };
      Offset e = chosen + 1;
      while (e < end && !is_free(e)) ++e;
      if (e == end) {
        still_free_.push_back(row);
        return;
      }
      chosen = e;
      column = &columns_[at(edges_[at(e)].col)];
    }
    const Index displaced = column->row;
    if (second != kFar) column->v -= second - best;
    lowest_v_ = std::min(lowest_v_, column->v);
    column->row = row;
    row_edge_[at(row)] = chosen;
    if (displaced != -1) row_edge_[at(displaced)] = -1;
    row = displaced;
  }
}

bool MultiSourcePaths::few_are_left() const {
  const std::size_t few = at(size_) / (epsilon_ == 0 ? kFewWhenCold : kFewWhenWarm);
  return free_rows_.size() <= few;
}

/// Starts over with prices of an auction that begins with those given. If rows compete along a chain, like
/// points on a line, an auction gains little: then no other is tried, and if it gains nothing, it is undone.
void MultiSourcePaths::try_auction(const std::vector<Cost>& given) {
  const std::vector<Column> columns = columns_;
  const std::vector<Offset> row_edge = row_edge_;
  const std::vector<Index> free_rows = free_rows_;
  const Cost lowest_v = lowest_v_;
  for (std::size_t j = 0; j < given.size(); ++j) columns_[j].v = given[j];
  find_prices();
  reduce_rows();
  match_on_tight_edges();
  auctions_pay_ = kLeastGain * free_rows_.size() <= free_rows.size();
  if (free_rows_.size() < free_rows.size()) return;
  for (std::size_t j = 0; j < columns.size(); ++j) {
    columns_[j].v = columns[j].v;
    columns_[j].row = columns[j].row;
  }
  row_edge_ = row_edge;
  free_rows_ = free_rows;
  lowest_v_ = lowest_v;
}

/// Prices from an auction whose epsilon falls from stage to stage. Its matching is not kept: any prices are
/// a start for what follows, and under these nearly every row finds a column of its own.
void MultiSourcePaths::find_prices() {
  const bool cold = epsilon_ == 0;
  const double first = cold ? kFirstEpsilon * mean_gap_ : kEpsilonFactor * static_cast<double>(epsilon_);
  const int stages = cold ? kColdStages : kWarmStages;
  double epsilon = std::min(first, 0x1p58);
  for (int k = 0; k < stages && epsilon >= 1; ++k, epsilon /= kEpsilonFactor) {
    epsilon_ = static_cast<Cost>(epsilon);
    auction_stage(epsilon_);
  }
  for (Column& column : columns_) column.row = -1;
  row_edge_.assign(row_edge_.size(), -1);
  free_rows_.resize(at(size_));
  std::iota(free_rows_.begin(), free_rows_.end(), 0);
}

/// All rows bid until each has a column, or they run out of bids.
void MultiSourcePaths::auction_stage(Cost epsilon) {
  for (Column& column : columns_) column.row = -1;
  std::int64_t budget = kStageBidsPerRow * size_;
  for (Index first = 0; first < size_ && lowest_v_ >= kLowestDual; ++first) {
    stop_.check();
    for (Index row = first; row != -1 && budget > 0; --budget) {
      const auto [best, second, chosen] = two_best(row);
      if (second == kFar) break;  // a single offer sets no price
      ++counts_.bids;
      Column& column = columns_[at(edges_[at(chosen)].col)];
      column.v -= second - best + epsilon;
      lowest_v_ = std::min(lowest_v_, column.v);
      row = std::exchange(column.row, row);
    }
  }
}

void MultiSourcePaths::match_on_tight_edges() {
  new_search();
  still_free_.clear();
  for (const Index source : free_rows_) {
    const Index end = tight_end(source);
    if (end == -1) {  // visited columns stay marked
      still_free_.push_back(source);
      continue;
    }
    for (const Index col : ready_) columns_[at(col)].stamp = 0;
    columns_[at(end)].stamp = 0;
    augment(source, end);
  }
  free_rows_.swap(still_free_);
}

/// Breadth first over the tight edges to columns without a mark; the free column found, or -1.
Index MultiSourcePaths::tight_end(Index source) {
  ready_.clear();
  counts_.looks += offsets_[at(source) + 1] - offsets_[at(source)];
  Cost u = least_offer(source);
  Index row = source;
  for (std::size_t next = 0;; ++next) {
    for (Offset e = offsets_[at(row)]; e < offsets_[at(row) + 1]; ++e) {
      Column& column = columns_[at(edges_[at(e)].col)];
      if (edges_[at(e)].cost - column.v != u || column.stamp == settled_stamp()) continue;
      column.stamp = settled_stamp();
      column.via_row = row;
      column.via_place = static_cast<Index>(e - offsets_[at(row)]);
      if (column.row == -1) return edges_[at(e)].col;
      ready_.push_back(edges_[at(e)].col);
    }
    if (next == ready_.size()) return -1;
    const Column& column = columns_[at(ready_[next])];
    row = column.row;
    u = edges_[at(row_edge_[at(row)])].cost - column.v;
    counts_.looks += offsets_[at(row) + 1] - offsets_[at(row)];
  }
}

void MultiSourcePaths::augment(Index source, Index col) {
  ++counts_.augmentations;
  while (true) {
    const Column& column = columns_[at(col)];
    const Index row = column.via_row, released = col_of(row);
    take(row, column.via_place);
    if (row == source) return;
    col = released;
  }
}

void MultiSourcePaths::sort_row(Index row) {
  in_order_[at(row)] = 1;
  const Offset begin = offsets_[at(row)], end = offsets_[at(row) + 1];
  const Index mate = col_of(row);
  scratch_.clear();
  for (Offset e = begin; e < end; ++e) {
    const Edge& edge = edges_[at(e)];
    scratch_.emplace_back(edge, edge.cost - columns_[at(edge.col)].v);
  }
  std::sort(scratch_.begin(), scratch_.end(), [](const auto& a, const auto& b) {
    return a.second != b.second ? a.second < b.second : a.first.col < b.first.col;
  });
  for (Offset e = begin; e < end; ++e) {
    const auto& [edge, key] = scratch_[at(e - begin)];
    edges_[at(e)] = edge;
    key_[at(e)] = key;
    if (edge.col == mate) row_edge_[at(row)] = e;
  }
}

/// Relaxes the row's edges from `place` on as far as the forest has grown, and at least the next few.
void MultiSourcePaths::scan(Index row, Index place) {
  const Offset begin = offsets_[at(row)], last = offsets_[at(row) + 1];
  const Cost base = base_[at(row)];
  for (Offset e = begin + place; e < last;) {
    counts_.looks += kPlacesAtOnce;
    for (const Offset stop = std::min<Offset>(last, e + kPlacesAtOnce); e < stop; ++e) {
      const Edge& edge = edges_[at(e)];
      Column& column = columns_[at(edge.col)];
      const Cost distance = base + edge.cost - column.v;
      if (column.stamp == settled_stamp() || (column.stamp == reached_stamp() && distance >= column.distance))
        continue;
      column.stamp = reached_stamp();
      column.distance = distance;
      column.via_row = row;
      column.via_place = static_cast<Index>(e - begin);
      if (distance == now_)
        ready_.push_back(edge.col);
      else
        queue_.push({distance, edge.col, -1});
    }
    if (e < last && base + key_[at(e)] > now_) {
      queue_.push({base + key_[at(e)], row, static_cast<Index>(e - begin)});
      return;
    }
  }
}

/// One phase. Returns matched, unless no tree reaches a free column, or none within the budget.
MultiSourcePaths::End MultiSourcePaths::grow_forest(std::int64_t most_looks) {
  ++counts_.phases;
  plant_trees();
  const std::size_t wanted = std::max<std::size_t>(1, free_rows_.size() / kTreesPerPhase);
  std::size_t ended = 0;
  while (ended < wanted) {
    stop_.check();
    if (counts_.looks > most_looks) return End::slow;
    const Index col = nearest_column();
    if (col == -1) break;
    ended += settle(col);
  }
  counts_.settled += static_cast<std::int64_t>(settled_.size());
  if (ended == 0) return End::trapped;
  lower_prices();
  still_free_.clear();
  for (const Index row : free_rows_)
    end_[at(row)] == -1 ? still_free_.push_back(row) : augment(row, end_[at(row)]);
  free_rows_.swap(still_free_);
  return End::matched;
}

/// Every free row with edges becomes the root of a tree.
void MultiSourcePaths::plant_trees() {
  new_search();
  queue_.clear();
  ready_.clear();
  next_ready_ = 0;
  settled_.clear();
  now_ = 0;
  key_.resize(edges_.size());
  for (const Index row : free_rows_) {
    end_[at(row)] = -1;
    if (offsets_[at(row)] == offsets_[at(row) + 1]) continue;
    enter(row, row, -least_offer(row));
  }
}

/// Adds the row to the tree of `root`.
void MultiSourcePaths::enter(Index row, Index root, Cost base) {
  if (!in_order_[at(row)]) sort_row(row);
  root_[at(row)] = root;
  base_[at(row)] = base;
  scan(row, 0);
}

/// The nearest column that is not settled, to whose distance the forest grows; -1: no other is reached.
Index MultiSourcePaths::nearest_column() {
  while (true) {
    if (next_ready_ < ready_.size()) {
      const Index col = ready_[next_ready_++];
      if (columns_[at(col)].stamp != settled_stamp()) return col;
      continue;
    }
    RadixQueue::Entry entry;
    if (!queue_.pop(entry)) return -1;
    if (entry.place != -1) {  // a row with more edges to scan
      now_ = entry.distance;
      scan(entry.item, entry.place);
      continue;
    }
    const Column& column = columns_[at(entry.item)];
    if (column.stamp == settled_stamp() || column.distance != entry.distance) continue;  // an older entry
    now_ = entry.distance;
    return entry.item;
  }
}

/// The column joins its tree for good, with its row. Returns whether it is the tree's first end.
bool MultiSourcePaths::settle(Index col) {
  Column& column = columns_[at(col)];
  column.stamp = settled_stamp();
  settled_.push_back(col);
  const Index root = root_[at(column.via_row)];
  if (column.row == -1) {
    const bool first = end_[at(root)] == -1;
    if (first) end_[at(root)] = col;
    return first;
  }
  enter(column.row, root, now_ - (edges_[at(row_edge_[at(column.row)])].cost - column.v));
  return false;
}

/// Makes the forest tight, up to the distance to which it has grown.
void MultiSourcePaths::lower_prices() {
  for (const Index col : settled_) {
    Column& column = columns_[at(col)];
    column.v -= now_ - column.distance;
    lowest_v_ = std::min(lowest_v_, column.v);
  }
}

}  // namespace motes::matching::detail
