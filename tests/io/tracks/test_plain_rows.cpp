#include <catch2/catch.hpp>
#include <omp.h>

#include <motes/io/tables.h>

#include "io/tracks/tables/plain_rows.h"
#include "tests/io/track_samples.h"

using namespace motes;
using namespace motes::testing;
using namespace motes::io::detail;
using Catch::Matchers::Contains;

namespace {

const io::TableOptions kPixels{Vec3{1, 1, 1}, std::nullopt};

/// Sets the number of threads of io's loops during its lifetime.
class Threads {
 public:
  explicit Threads(int threads) : before_(omp_get_max_threads()) { omp_set_num_threads(threads); }
  ~Threads() { omp_set_num_threads(before_); }
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

 private:
  int before_;
};

/// Rows of particle, frame, x, y, z, mass, parent; about every `every`-th is unusual in one of many ways.
/// `quoted`: the same table with each number in quotes, so that it is read row by row.
std::string awkward_table(std::size_t rows, std::size_t every, bool quoted) {
  std::mt19937_64 random(11);
  std::string text = "particle,frame,x,y,z,mass,parent\n";
  const auto number = [&](double value) {
    char buffer[40];
    std::snprintf(buffer, sizeof buffer, quoted ? "\"%.17g\"" : "%.17g", value);
    return std::string(buffer);
  };
  for (std::size_t row = 0; row < rows; ++row) {
    const std::size_t particle = row / 10, frame = row % 10;
    const auto place = [&] { return number(static_cast<double>(random() % 1000000007) / 3e7); };
    const std::string x = place(), y = place(), z = place();
    const std::size_t odd = random() % every;
    if (odd == 0) text += "# a comment, with \"quotes\" and, commas\n";
    if (odd == 1) text += "\n   \n";
    text += std::to_string(particle) + ',' + std::to_string(frame) + (odd == 2 ? ".0," : ",");
    text += (odd == 3 ? " +" + std::to_string(row) : x) + ',' +
            (odd == 4 ? "\"" + std::to_string(row) + "\"" : y);
    text += ',' + (odd == 5 ? z + ' ' : z) + ',';
    if (odd == 6) {
      text += "1e-400";
    } else if (odd != 7) {
      text += odd == 8 ? "NA" : number(static_cast<double>(row));
    }
    text += odd == 9 ? ",\r\n" : ",-1\n";
  }
  return text;
}

void require_same_points(const io::PointTable& a, const io::PointTable& b) {
  CHECK(a.notes == b.notes);
  REQUIRE(a.frames.size() == b.frames.size());
  for (std::size_t f = 0; f < a.frames.size(); ++f) {
    CHECK(same_bits(a.frames[f].x_um, b.frames[f].x_um));
    CHECK(same_bits(a.frames[f].y_um, b.frames[f].y_um));
    CHECK(same_bits(a.frames[f].z_um, b.frames[f].z_um));
    require_same_columns(a.frames[f].properties, b.frames[f].properties);
  }
}

}  // namespace

TEST_CASE("blocks of plain rows cover a text, and end before rows that are not plain") {
  PlainLayout layout{
      ',', {PlainField::frame, PlainField::coordinate, PlainField::number, PlainField::skip}, 1e3};
  const std::string plain = "0,1,2,a\n1,-1e3,nan,b b\r\n2, 5,,\n3.0,5,inf,x\"y\n";
  for (const std::size_t bytes : {std::size_t{1}, std::size_t{9}, std::size_t{1000}}) {
    const auto blocks = read_plain_blocks(plain, 0, layout, 100, bytes);
    std::vector<std::int32_t> frame;
    std::vector<double> x, y;
    std::size_t at = 0;
    for (const PlainBlock& block : blocks) {
      CHECK(block.begin == at);
      CHECK(block.plain_end == block.end);
      CHECK(block.rows == block.frame.size());
      at = block.end;
      frame.insert(frame.end(), block.frame.begin(), block.frame.end());
      x.insert(x.end(), block.numbers[1].begin(), block.numbers[1].end());
      y.insert(y.end(), block.numbers[2].begin(), block.numbers[2].end());
    }
    CHECK(at == plain.size());
    CHECK(frame == std::vector<std::int32_t>{0, 1, 2, 3});
    CHECK(x == std::vector<double>{1, -1000, 5, 5});
    CHECK(same_bits(y, {2, std::nan(""), std::nan(""), std::numeric_limits<double>::infinity()}));
  }
  for (const std::string row :
       {"", "\n", "# 1,2,3,4\n", "1,2,3\n", "1,2,3,4,5\n", "-1,2,3,4\n", "2147483648,2,3,4\n", "1.5,2,3,4\n",
        "1,+2,3,4\n", "1,1001,3,4\n", "1,nan,3,4\n", "1,2 ,3,4\n", "1,2,\"3\",4\n", "1,2,3,\"4\"\n",
        "1,2,x,4\n", "1,,3,4\n", "1,2,1e999,4\n", "1,2,3,4\r5,6,7,8\n", "  \n"}) {
    INFO(row);
    const std::string text = "0,1,2,a\n" + row;
    const auto blocks = read_plain_blocks(text, 0, layout, 100, 1000);
    REQUIRE(blocks.size() == 1);
    CHECK(blocks[0].rows == 1);
    CHECK(blocks[0].plain_end == 8);
    CHECK(blocks[0].numbers[1] == std::vector<double>{1});
    CHECK(blocks[0].numbers[2] == std::vector<double>{2});
  }
}

TEST_CASE("a table is read to the same points by blocks and row by row, for any number of threads") {
  const TempDir dir;
  const std::size_t every = GENERATE(std::size_t{1000000}, std::size_t{2000}, std::size_t{50});
  INFO("one awkward row in " << every);
  constexpr std::size_t kRows = 40000;  // several blocks
  spill(dir / "plain.csv", awkward_table(kRows, every, false));
  spill(dir / "quoted.csv", awkward_table(kRows, every, true));
  const io::PointTable by_rows = io::read_points_csv(dir / "quoted.csv", kPixels);
  const TrackSet tracks = io::read_tracks_csv(dir / "quoted.csv");
  CHECK(tracks.points() == kRows);
  for (const int threads : {1, 3}) {
    const Threads now(threads);
    require_same_points(io::read_points_csv(dir / "plain.csv", kPixels), by_rows);
    require_same_tracks(io::read_tracks_csv(dir / "plain.csv"), tracks);
  }
}

TEST_CASE("errors and notes of large tables name the first line that has one") {
  const TempDir dir;
  const std::string row = "3,0.123456789012345,0.123456789012345,0.123456789012345,7\n";
  std::string text = "frame,x,y,z,name\n";
  const auto add = [&](int rows) {
    for (int i = 0; i < rows; ++i) text += row;
  };
  add(30000);
  text += "3,1,2,3,EMS\n";  // line 30002
  add(30000);
  text += "3,1,2,3,ABp\n";
  SECTION("a column of text") {
    spill(dir / "t.csv", text);
    const io::PointTable table = io::read_points_csv(dir / "t.csv", kPixels);
    CHECK(table.frames.at(0).size() == 60002);
    CHECK(table.frames[0].properties.empty());
    REQUIRE(table.notes.size() == 1);
    CHECK_THAT(table.notes[0], Contains("'name' is left out: line 30002 holds 'EMS'"));
  }
  SECTION("a bad number") {
    add(10000);
    text += "3,1,2,wrong,7\n";  // line 70004
    add(100);
    text += "-3,1,2,3,7\n";
    spill(dir / "t.csv", text);
    CHECK_THAT(error_of<InputError>([&] { io::read_points_csv(dir / "t.csv", kPixels); }),
               Contains("t.csv:70004: z is 'wrong'"));
  }
  SECTION("a quoted field with line ends, across blocks") {
    text += "3,1,2,3,\"";
    add(30000);
    text += "\"\n-1,1,2,3,7\n";
    spill(dir / "t.csv", text);
    CHECK_THAT(error_of<InputError>([&] { io::read_points_csv(dir / "t.csv", kPixels); }),
               Contains("t.csv:90005: frame is '-1'"));
  }
}

TEST_CASE("tables are written as the same bytes for any number of threads, and read back to the bit") {
  const TempDir dir;
  TrackSet tracks;
  for (std::int64_t t = 0; t < 5000; ++t) {
    std::vector<std::int32_t> frames;
    for (std::int32_t f = 0; f <= t % 9; ++f) frames.push_back(f);
    add_track(tracks, 3 * t, frames);
  }
  std::vector<Detections> frames(3);
  for (std::size_t f : {std::size_t{0}, std::size_t{2}}) {
    frames[f].frame = static_cast<std::int32_t>(f);
    frames[f].x_um = frames[f].y_um = frames[f].z_um = tracks.x_um;
  }
  frames[1].frame = 1;
  frames[1].properties = {{"snr", {}}};
  frames[2].properties = {{"snr", tracks.z_um}};
  {
    const Threads one(1);
    io::write_tracks_csv(dir / "t1.csv", tracks);
    io::write_points_csv(dir / "p1.csv", {frames, "um", {}});
  }
  const Threads three(3);
  io::write_tracks_csv(dir / "t3.csv", tracks);
  io::write_points_csv(dir / "p3.csv", {frames, "um", {}});
  CHECK(slurp(dir / "t1.csv") == slurp(dir / "t3.csv"));
  CHECK(slurp(dir / "p1.csv") == slurp(dir / "p3.csv"));
  require_same_paths(io::read_tracks_csv(dir / "t3.csv"), tracks);
  const io::PointTable points = io::read_points_csv(dir / "p3.csv", {});
  REQUIRE(points.frames.size() == 3);
  CHECK(same_bits(points.frames[2].x_um, frames[2].x_um));
  CHECK(same_bits(points.frames[2].properties.at(0).values, tracks.z_um));
  CHECK(points.frames[1].empty());
}
