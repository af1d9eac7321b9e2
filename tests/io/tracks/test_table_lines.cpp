// Tables whose lines are not as they should be, as other programs write them.
#include <catch2/catch.hpp>

#include <motes/io/tables.h>

#include "tests/io/tracks/dialect.h"

using namespace motes;
using namespace motes::testing;
using Catch::Matchers::Contains;
using Catch::Matchers::VectorContains;

TEST_CASE("each line in quotes, as a spreadsheet saves a table that it took for one column") {
  const Dialect table("\"frame,x_um,y_um,name\"\r\n\"0,1.5,2,\"\"a b\"\"\"\r\n\r\n\"1,1.6,2,\"\"c,d\"\"\"");
  const io::PointTable points = table.points();
  REQUIRE(points.frames.size() == 2);
  CHECK(points.frames[1].x_um == std::vector<double>{1.6});
  CHECK_THAT(points.notes,
             VectorContains(std::string("lines that are wholly in quotes are read without them")));
  CHECK(io::is_text_table(table.path()));
  const io::PointTable semicolons = Dialect("\"frame;x_um;y_um\"\n\"0;1,5;2\"\n1;2;3\n").points();
  CHECK(semicolons.frames[0].x_um == std::vector<double>{1.5});
  CHECK(semicolons.frames[1].y_um == std::vector<double>{3});
  CHECK_THAT(Dialect("\"frame,x_um,y_um\"\n\"0,1,2\"\n\"1,a,2\"\n").refusal(),
             Contains("t.csv:3: x_um is 'a'"));
  CHECK_THAT(Dialect("\"frame,x_um,y_um\"\n\"0,1\n").refusal(), Contains("t.csv:2: a quote is never closed"));
  CHECK(Dialect("\"frame\",\"x_um\",\"y_um\"\n0,1,2\n").points().notes.size() == 1);
}

TEST_CASE("rapidSTORM names its columns in an XML comment") {
  const auto table = [](const std::string& unit, const std::string& more = "") {
    const auto field = [](const std::string& name, const std::string& of) {
      return "<field identifier=\"" + name + "\" syntax=\"integer\" semantic=\"a > b\" unit=\"" + of +
             "\" min=\"0 m\" />";
    };
    return "# <localizations insequence=\"true\" repetitions=\"variable\">" + field("Position-0-0", unit) +
           field("Position-1-0", unit) + field("ImageNumber-0-0", "frame") +
           field("Amplitude-0-0", "A/D count") + more +
           "</localizations>\n9657.5 24533.5 0 33290.1\n9658.5 24534 2 1.19225e+006\n";
  };
  const io::PointTable points = Dialect(table("nanometer"), "t.txt").points();
  REQUIRE(points.frames.size() == 3);
  CHECK(points.length_unit == "um");
  CHECK(points.frames[0].x_um == std::vector<double>{9657.5 * 1e-3});
  CHECK(points.frames[2].y_um == std::vector<double>{24534 * 1e-3});
  CHECK(points.frames[2].properties.at(0).name == "Amplitude-0-0");
  CHECK(points.frames[2].properties.at(0).values == std::vector<double>{1192250});
  CHECK_THAT(Dialect(table("pixel")).refusal(), Contains("are in pixels"));
  CHECK_THAT(Dialect(table("nanometer", "<field identifier=\"Other\"/>")).refusal(),
             Contains("t.csv:2: this row has 4 fields, the header has 5"));
  CHECK_THAT(Dialect("# <localizations >\n1 2 3\n").refusal(), Contains("no header"));
  CHECK_THAT(Dialect("frame,x_um,y_um\n0,1,2\nVoxelSize 3\n").refusal(), Contains("if the table ends here"));
}

TEST_CASE("rows that end in a delimiter, which the header lacks") {
  for (const char mark : {',', ';', '\t'}) {
    const auto row = [&](const std::string& words) {
      std::string text = words;
      std::replace(text.begin(), text.end(), ' ', mark);
      return text + "\n";
    };
    const Dialect table(row("frame x_um y_um") + row("0 1.5 2 ") + row("1 1.6 2") + row("1 1.7 2 "));
    const io::PointTable points = table.points();
    REQUIRE(points.frames.size() == 2);
    CHECK(points.frames[1].x_um == std::vector<double>{1.6, 1.7});
    CHECK(points.frames[0].properties.empty());
    CHECK_THAT(Dialect(row("frame x_um y_um") + row("0 1.5 2  ")).refusal(),
               Contains("this row has 5 fields"));
  }
}
