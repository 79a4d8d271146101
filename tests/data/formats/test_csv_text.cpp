#include "../bytes.hpp"
#include "../temporary_directory.hpp"
#include "support.hpp"

#include <pollen/data/formats/csv.hpp>
#include <pollen/data/io/gzip.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

using Names = std::vector<std::string>;
using Rows = std::vector<Names>;

TextTable text(const std::string& file, const CsvOptions& options = {}) {
    return parse_csv_text(bytes_of(file), "f.csv", options);
}
std::string error(const std::string& file, const CsvOptions& options = {}) {
    return error_of<FileError>([&] { text(file, options); });
}

}  // namespace

BOOST_AUTO_TEST_SUITE(csv_text)

BOOST_AUTO_TEST_CASE(cells) {
    const TextTable table = text("date,kind\n2020-01-01, a b \n\"x, \"\"y\"\"\",\"two\r\nlines\"\r\n,\"\"\n\n");
    BOOST_TEST((table.columns == Names{"date", "kind"}));
    BOOST_TEST((table.rows == Rows{{"2020-01-01", "a b"}, {"x, \"y\"", "two\r\nlines"}, {"", ""}}));
    BOOST_TEST(table.column("kind") == 1);
    BOOST_TEST(error_of<ValueError>([&] { table.column("x"); }) ==
               "table: there is no column \"x\"; the columns are \"date\", \"kind\"");
    // A quote inside a cell that does not begin with one is a character like any other.
    BOOST_TEST((text("size\n5\" pipe\n").rows == Rows{{"5\" pipe"}}));
    BOOST_TEST((text("a,b\n\" x \",y\n").rows == Rows{{" x ", "y"}}));
    BOOST_TEST((text("a,b\n").rows.empty()));
}

BOOST_AUTO_TEST_CASE(options_and_files) {
    CsvOptions options;
    options.header = CsvOptions::Header::no;
    options.columns = {"2"};
    options.delimiter = ' ';
    const TextTable table = text("a  b\nc\td\n", options);
    BOOST_TEST((table.columns == Names{"2"}));
    BOOST_TEST((table.rows == Rows{{"b"}, {"d"}}));
    const TemporaryDirectory directory;
    put(directory / "t.csv.gz", text_of(gzip(bytes_of("x\nred\n"))));
    BOOST_TEST((read_csv_text(directory / "t.csv.gz").rows == Rows{{"red"}}));
}

BOOST_AUTO_TEST_CASE(broken_files) {
    BOOST_TEST(error("") == "f.csv: is empty; expected at least one line");
    BOOST_TEST(error("a,b\nx\n") == "f.csv: line 2: has 1 cells where line 1 has 2");
    BOOST_TEST(error("a,b\n\"x,y\n") == "f.csv: line 2: column 1: the quote is never closed");
    BOOST_TEST(error("p,x,s,p\ne,x,s,n\n") ==
               "f.csv: line 1: columns 1 and 4 have the same name, \"p\"; rename one, select other columns "
               "(CsvOptions::columns), or, if this line is not a header, set CsvOptions::header to Header::no");
    BOOST_TEST((text("1 2\nx\n").columns == Names{"1 2"}));
    BOOST_TEST(error("a\n\0\n"s) == "f.csv: line 2: has a NUL byte; this is not a text file");
}

BOOST_AUTO_TEST_CASE(memory) {
    const std::string file = "a\n" + std::string(100, 'x') + "\ny\n";
    CsvOptions options;
    // A column of two cells, a name and a place; two rows of a vector and a string; the text of the cells.
    const std::uint64_t column = 2 * 16 + sizeof(std::string) + 8,
                        rows = 2 * (16 + sizeof(Names) + sizeof(std::string));
    options.limits.max_memory = file.size() + column + rows + 2 * file.size();
    BOOST_TEST(error(file, options) == "");
    --options.limits.max_memory;
    BOOST_TEST(error(file, options) ==
               "f.csv: text of the table: 2 x 105 bytes, beside the 321 taken before, are more than the limit of 530 "
               "(ReadLimits::max_memory)");
    options.limits.max_memory = file.size() + column + rows - 1;
    BOOST_TEST(error(file, options) ==
               "f.csv: table: 2 x 72 bytes, beside the 177 taken before, are more than the limit of 320 "
               "(ReadLimits::max_memory)");
}

BOOST_AUTO_TEST_CASE(carriage_returns) {
    // Inside of quotes they are text.
    BOOST_TEST((text("a\n\"x\ry\"\r\n").rows == Rows{{"x\ry"}}));
    BOOST_TEST(error("a\nx\ry\n") ==
               "f.csv: line 2: column 1: has a carriage return (CR) that no line feed (LF) follows; lines end in LF or "
               "CR LF");
}

BOOST_AUTO_TEST_SUITE_END()
