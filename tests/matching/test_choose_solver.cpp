// What `auto` stands for.

#include <catch2/catch.hpp>

#include <motes/matching/registry.h>

using namespace motes;

using namespace motes::matching;

namespace {

/// A view that says how large it is; nobody looks inside.
SparseCostsView graph_of(Offset edges, Space space) {
  SparseCostsView view;
  view.graph = {1000, 1000, {}, {static_cast<const Index*>(nullptr), static_cast<std::size_t>(edges)}};
  view.space = space;
  return view;
}
DenseCostsView matrix_of(Index rows, Space space) {
  DenseCostsView view;
  view.rows = view.cols = rows;
  view.row_stride = rows;
  view.space = space;
  return view;
}

}  // namespace

TEST_CASE("auto picks solvers that take the problem where it is to be solved, and says why") {
  for (const auto space : {Space::host, Space::device})
    for (const CostsView& problem : {CostsView(graph_of(100, space)), CostsView(graph_of(1 << 26, space)),
                                     CostsView(matrix_of(10, space)), CostsView(matrix_of(20000, space)),
                                     CostsView(GeometricCostsView{})})
      for (const auto backend : {Backend::automatic, Backend::cpu, Backend::cuda})
        for (const bool gpu_there : {false, true}) {
          const AutoChoice choice = choose_solver(problem, backend, gpu_there);
          REQUIRE(choice.info != nullptr);
          CHECK(!choice.reason.empty());
          CHECK(choice.backend != Backend::automatic);
          const auto lists = [](std::string_view all, std::string_view one) {
            return all.find(one) != std::string_view::npos;
          };
          CHECK(choice.info->backends.contains(choice.backend));
          CHECK(choice.info->costs.contains(kind_of(problem)));
          if (backend == Backend::cuda || space_of(problem) == Space::device)
            CHECK(choice.backend == Backend::cuda);
          else if (backend == Backend::cpu || !gpu_there)
            CHECK(choice.backend == Backend::cpu);
        }
  // Where a GPU is there, size decides.
  CHECK(choose_solver(graph_of(100, Space::host), Backend::automatic, true).backend == Backend::cpu);
  CHECK(choose_solver(graph_of(1 << 26, Space::host), Backend::automatic, true).backend == Backend::cuda);
  CHECK(choose_solver(matrix_of(10, Space::host), Backend::automatic, true).backend == Backend::cpu);
  CHECK(choose_solver(matrix_of(20000, Space::host), Backend::automatic, true).backend == Backend::cuda);
}
