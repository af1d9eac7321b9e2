// Ranks as threads: shares, collectives, and errors, after which no rank may wait forever.

#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include <catch2/catch.hpp>

#include <motes/base/communicator.h>
#include <motes/base/errors.h>

using namespace motes;

TEST_CASE("communicator: blocks cover every element once, as evenly as can be") {
  for (const int size : {1, 2, 3, 7})
    for (const Index n : {0, 1, 2, 6, 7, 8, 100, 2147483647}) {
      Index next = 0;
      for (int rank = 0; rank < size; ++rank) {
        const Block block = block_of(n, rank, size);
        CHECK(block.first == next);
        CHECK((block.count == n / size || block.count == n / size + 1));
        next += block.count;
      }
      CHECK(next == n);
    }
}

TEST_CASE("communicator: rank 0 collects in the order of ranks, and throws once all have sent") {
  for (const int size : {1, 2, 5}) {
    std::string collected;
    run_as_threads(size, [&](Communicator& ranks) {
      const std::string mine(static_cast<std::size_t>(ranks.rank()) * 1000, 'a');
      ranks.collect(mine + std::to_string(ranks.rank()), [&](int rank, std::string_view bytes) {
        if (bytes.size() == static_cast<std::size_t>(rank) * 1000 + 1) collected += bytes.back();
      });
      ranks.rest();
      int used = 0;
      const auto refuse = [&](int, std::string_view) {
        ++used;
        throw InputError("refused");
      };
      if (ranks.rank() == 0) {
        CHECK_THROWS_AS(ranks.collect("x", refuse), InputError);
        CHECK(used == 1);
      } else {
        ranks.collect("x", refuse);
      }
      ranks.rest();
    });
    CHECK(collected == std::string("01234").substr(0, static_cast<std::size_t>(size)));
  }
}

TEST_CASE("communicator: threads reduce, gather and broadcast") {
  for (const int size : {1, 2, 3, 5}) {
    std::vector<int> checked(static_cast<std::size_t>(size), 0);
    run_as_threads(size, [&](Communicator& ranks) {
      const int rank = ranks.rank();
      for (int round = 0; round < 100; ++round) {
        std::vector<std::int64_t> values{rank, -rank, round};
        ranks.all_reduce(values, Reduction::max);
        const bool greatest = values == std::vector<std::int64_t>{ranks.size() - 1, 0, round};
        const bool sum = ranks.all_reduce(rank, Reduction::sum) == size * (size - 1) / 2;
        const bool least = ranks.all_reduce(rank + 5, Reduction::min) == 5;
        // Rank k gives k values, so that rank 0 gives none.
        const std::vector<int> mine(static_cast<std::size_t>(rank), rank);
        std::vector<int> wanted, all;
        for (int k = 0; k < size; ++k) wanted.insert(wanted.end(), static_cast<std::size_t>(k), k);
        ranks.all_gather<int>(mine, all);
        std::string text = rank == size - 1 ? "from the last" : "";
        ranks.broadcast(text, size - 1);
        if (greatest && sum && least && all == wanted && text == "from the last")
          ++checked[static_cast<std::size_t>(rank)];
      }
    });
    CHECK(checked == std::vector<int>(static_cast<std::size_t>(size), 100));
  }
}

TEST_CASE("communicator: every rank sends every other a list of its own") {
  for (const int size : {1, 2, 3, 5}) {
    std::vector<int> checked(static_cast<std::size_t>(size), 0);
    run_as_threads(size, [&](Communicator& ranks) {
      const int rank = ranks.rank();
      for (int round = 0; round < 50; ++round) {
        // Lists of 0 to 3000 elements; those of some pairs are empty.
        const auto length = [&](int from, int to) { return (from * 7 + to * 3 + round) % 4 * 1000; };
        std::vector<std::vector<int>> lists(static_cast<std::size_t>(size));
        for (int k = 0; k < size; ++k)
          lists[static_cast<std::size_t>(k)].assign(static_cast<std::size_t>(length(rank, k)),
                                                    1000 * rank + k);
        std::vector<int> wanted, got{-1};
        for (int k = 0; k < size; ++k)
          wanted.insert(wanted.end(), static_cast<std::size_t>(length(k, rank)), 1000 * k + rank);
        const std::int64_t sum = ranks.exchange<int>(lists, got, rank + round);
        if (got == wanted && sum == size * (size - 1) / 2 + size * round)
          ++checked[static_cast<std::size_t>(rank)];
      }
    });
    CHECK(checked == std::vector<int>(static_cast<std::size_t>(size), 50));
  }
}

TEST_CASE("communicator: an error on one rank is thrown on all, and they go on") {
  std::vector<std::string> heard(3);
  std::vector<int> after(3, 0);
  run_as_threads(3, [&](Communicator& ranks) {
    const auto k = static_cast<std::size_t>(ranks.rank());
    try {
      ranks.agreed([&] {
        if (ranks.rank() > 0) throw InputError("x.mtx:3: bad value on " + std::to_string(ranks.rank()));
      });
    } catch (const InputError& error) {
      heard[k] = error.what();
      after[k] = ranks.has_agreed_error() ? 1 : 0;
    }
    after[k] += static_cast<int>(ranks.all_reduce(1, Reduction::sum));
  });
  CHECK(heard == std::vector<std::string>(3, "rank 1: x.mtx:3: bad value on 1"));
  CHECK(after == std::vector<int>(3, 4));
  CHECK_THROWS_AS(run_as_threads(2,
                                 [](Communicator& ranks) {
                                   ranks.agreed([&] {
                                     if (ranks.rank() == 0) throw std::invalid_argument("row 3");
                                   });
                                 }),
                  std::invalid_argument);
}

TEST_CASE("communicator: a rank that fails alone leaves none waiting") {
  CHECK_THROWS_WITH(run_as_threads(3,
                                   [](Communicator& ranks) {
                                     if (ranks.rank() == 2) throw ResourceError("rank 2's disk is full");
                                     ranks.all_reduce(1, Reduction::sum);
                                   }),
                    "rank 2's disk is full");
}

TEST_CASE("communicator: without a launcher there is one rank, and no MPI") {
  CHECK(launched().size == 1);
  CHECK(world().size() == 1);
  CHECK(world().all_gather<int>(std::vector<int>{3, 4}) == std::vector<int>{3, 4});
}
