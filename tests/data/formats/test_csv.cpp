#include "../bytes.hpp"
#include "../limit_texts.hpp"
#include "../temporary_directory.hpp"
#include "support.hpp"

#include <pollen/data/formats/csv.hpp>
#include <pollen/data/io/gzip.hpp>

#include <clocale>

using namespace pollen;
using namespace pollen::test;

namespace {

using Header = CsvOptions::Header;
using Names = std::vector<std::string>;

Table csv(const std::string& text, const CsvOptions& options = {}) {
    return parse_csv(bytes_of(text), "f.csv", options);
}
std::string error(const std::string& text, const CsvOptions& options = {}) {
    return error_of<FileError>([&] { csv(text, options); });
}

CsvOptions with(char delimiter) {
    CsvOptions options;
    options.delimiter = delimiter;
    return options;
}
CsvOptions with(Header header) {
    CsvOptions options;
    options.header = header;
    return options;
}
CsvOptions with(const Names& columns) {
    CsvOptions options;
    options.columns = columns;
    return options;
}
CsvOptions with_limit(std::uint64_t bytes) {
    CsvOptions options;
    options.limits.max_bytes = bytes;
    return options;
}

const Tensor<double> two_by_two{{1, 2}, {3, 4}};

}  // namespace

BOOST_AUTO_TEST_SUITE(csv_numbers)

BOOST_AUTO_TEST_CASE(headers) {
    const Table named = csv("a,b\n1,2\n3,4\n");
    BOOST_TEST((named.columns == Names{"a", "b"}));
    BOOST_TEST((named.values == two_by_two));
    BOOST_TEST(named.column("b") == 1);
    BOOST_TEST(error_of<ValueError>([&] { named.column("c"); }) ==
               "table: there is no column \"c\"; the columns are \"a\", \"b\"");
    const Table plain = csv("1,2\n3,4");
    BOOST_TEST((plain.columns == Names{"1", "2"}));
    BOOST_TEST((plain.values == two_by_two));
    BOOST_TEST((csv("1,2\n3,4\n", with(Header::yes)).columns == Names{"1", "2"}));
    BOOST_TEST((csv("1,2\n3,4\n", with(Header::yes)).values == Tensor<double>{{3, 4}}));
    BOOST_TEST(error("a,b\n1,2\n", with(Header::no)) == "f.csv: line 1: column 1: \"a\" is not a number");
    BOOST_TEST((csv("a,b\n").values.shape() == Shape{0, 2}));
    BOOST_TEST((csv(",a\n0,1\n").columns == Names{"", "a"}));
}

BOOST_AUTO_TEST_CASE(names_that_come_twice) {
    const auto twice = [](const std::string& columns, const std::string& name) {
        return "f.csv: line 1: columns " + columns + " have the same name, \"" + name +
               "\"; rename one, select other columns (CsvOptions::columns), or, if this line is not a header, set "
               "CsvOptions::header to Header::no";
    };
    BOOST_TEST(error("a,a\n1,2\n") == twice("1 and 2", "a"));
    BOOST_TEST(error("a,b,\"a\",c,a\n") == twice("1 and 3", "a"));
    BOOST_TEST(error("x,,\n1,2,3\n") == twice("2 and 3", ""));
    BOOST_TEST(error("1,1\n3,4\n", with(Header::yes)) == twice("1 and 2", "1"));
    BOOST_TEST((csv("1,1\n3,4\n").values == Tensor<double>{{1, 1}, {3, 4}}));
    BOOST_TEST((csv("a,A, a1\n1,2,3\n").columns == Names{"a", "A", "a1"}));
    BOOST_TEST((csv("a,b,a\n1,2,3\n", with(Names{"b"})).values == Tensor<double>::full({1, 1}, 2)));
}

BOOST_AUTO_TEST_CASE(numbers_that_are_no_names) {
    const auto several = [](const std::string& column, const std::string& name) {
        return "f.csv: line 1: column " + column + ": \"" + name +
               "\" holds several numbers; set CsvOptions::delimiter to the character between them, or, if it is a "
               "name, CsvOptions::header to Header::yes";
    };
    BOOST_TEST(error("1 2\n") == several("1", "1 2"));
    BOOST_TEST(error("1 2\n3\n") == several("1", "1 2"));
    BOOST_TEST(error("a,-1.5\t+2e3\n1,2\n") == several("2", "-1.5?+2e3"));
    BOOST_TEST(error("1;2;\n") == several("1", "1;2;"));
    BOOST_TEST(error("1|2\n3|4\n") == several("1", "1|2"));
    BOOST_TEST(error("1,5;2,5\n") == several("2", "5;2"));
    BOOST_TEST(error("1,2\n3,4\n", with(';')) == several("1", "1,2"));
    BOOST_TEST((csv("1 2\n3\n", with(Header::yes)).columns == Names{"1 2"}));
    for (const std::string name : {"x 1", "2020-01-02", "12:30", "1st", "1 m", "1-2", "a;b", "5 %", ";", "x"})
        BOOST_TEST((csv(name + ",y\n1,2\n").columns == Names{name, "y"}));
}

BOOST_AUTO_TEST_CASE(line_ends_marks_blanks_and_quotes) {
    for (const char* text : {"a,b\r\n1,2\r\n3,4\r\n", "\xEF\xBB\xBF\x61,b\n1,2\n3,4", "a,b\n1,2\n3,4\n\n \t\n\r\n",
                             " a , b \n 1,\t2\n3 , 4 \n", "\"a\",\"b\"\n\"1\",2\n 3, \"4\" \n", "a,b\n\" 1 \",2\n3,4",
                             "a,b\n+1,2.0\n3e0,.4E+1\n"}) {
        const Table table = csv(text);
        BOOST_TEST((table.columns == Names{"a", "b"}), text);
        BOOST_TEST((table.values == two_by_two), text);
    }
    const Table odd = csv("\"a, \"\"x\"\"\",\"b\nc\"\n1,2\n3,4\n");
    BOOST_TEST((odd.columns == Names{"a, \"x\"", "b\nc"}));
    BOOST_TEST((odd.values == two_by_two));
    BOOST_TEST((csv("1\n\"2\"\n3\n\n").values == Tensor<double>(Shape{3, 1}, std::vector<double>{1, 2, 3})));
}

BOOST_AUTO_TEST_CASE(delimiters) {
    BOOST_TEST((csv("a;b\n1;2\n3;4\n", with(';')).values == two_by_two));
    BOOST_TEST((csv("a\tb\n1\t 2\n3 \t4\n", with('\t')).values == two_by_two));
    for (const char* text :
         {"a b\n1 2\n3 4\n", "  a\t b  \n\t1   2\r\n3 \t 4 \n  \n", "\"a\" b\n1 2\n\"3\"\t\"4\" \n"}) {
        BOOST_TEST((csv(text, with(' ')).values == two_by_two), text);
        BOOST_TEST((csv(text, with(' ')).columns == Names{"a", "b"}), text);
    }
    for (const char bad : {'"', '\n', '\r', '\0', '.', '5', 'e'}) BOOST_CHECK_THROW(csv("1\n", with(bad)), ValueError);
    BOOST_TEST(
        error_of<ValueError>([] { csv("1\n", with('"')); }) ==
        "csv: the delimiter has character code 34; it must not be a quote, a line end, or a character of numbers "
        "or words");
}

BOOST_AUTO_TEST_CASE(selected_columns) {
    const std::string text = "date,x,y\n2020-01-01,1,2\n2020-01-02,3,4\n";
    BOOST_TEST((csv(text, with(Names{"x", "y"})).values == two_by_two));
    const Table turned = csv(text, with(Names{"y", "x"}));
    BOOST_TEST((turned.columns == Names{"y", "x"}));
    BOOST_TEST((turned.values == Tensor<double>{{2, 1}, {4, 3}}));
    BOOST_TEST((csv("a,1,2\nb,3,4\n", with(Names{"2", "3"})).values == two_by_two));
    BOOST_TEST((csv("land,2019,2020\na,1,2\nb,3,4\n", with(Names{"2019", "2020"})).values == two_by_two));
    BOOST_TEST(error(text, with(Names{"z"})) ==
               "f.csv: line 1: there is no column \"z\"; the columns are \"date\", \"x\", \"y\"");
    BOOST_TEST(error("x,x\n1,2\n", with(Names{"x"})) == "f.csv: line 1: there are several columns \"x\"");
    BOOST_TEST(error("1,2\n", with(Names{"3"})).starts_with("f.csv: line 1: there is no column \"3\""));
    BOOST_TEST(error_of<ValueError>([&] {
                   csv(text, with(Names{"x", "x"}));
               }) == "csv: column \"x\" is selected twice");
    BOOST_TEST(error(text, with(Names{"date"})) == "f.csv: line 2: column 1 (date): \"2020-01-01\" is not a number");
}

BOOST_AUTO_TEST_CASE(missing_numbers) {
    CsvOptions options;
    options.missing = CsvOptions::Missing::nan;
    const std::string text = "a,b,c,d,e,f\n,NA,?,nan,NaN,\"\"\n1,2,3,4,5,6\n";
    const Table table = csv(text, options);
    for (std::int64_t k = 0; k < 6; ++k) {
        BOOST_TEST(std::isnan(table.values(0, k)));
        BOOST_TEST(table.values(1, k) == static_cast<double>(k + 1));
    }
    BOOST_TEST(error(text) ==
               "f.csv: line 2: column 1 (a): \"\" is a missing number; Missing::nan would read it as NaN");
    BOOST_TEST(error("1,2\n3,NA\n") ==
               "f.csv: line 2: column 2: \"NA\" is a missing number; Missing::nan would read it as NaN");
    BOOST_TEST(csv("1,\n?,2\n", options).values.shape()[0] == 2);
    BOOST_TEST(error("a\n1e999\n", options) == "f.csv: line 2: column 1 (a): \"1e999\" is too large for a double");
    BOOST_TEST(error("a\n-inf\n", options) == "f.csv: line 2: column 1 (a): \"-inf\" is not a finite number");
}

BOOST_AUTO_TEST_CASE(not_numbers) {
    for (const std::string cell : {"2abc", "1 2", "0x10", "1e", "1,5\"", "--1", "+-1", "++1", "+", ".", "e5", "nan(1)",
                                   "-nan", "1.2.3", "1_000", "\xC2\xA0\x31", "N/A"})
        BOOST_TEST(error("a\n" + cell + "\n") != "", cell);
    BOOST_TEST(error("price,n\n1,2\n2abc,3\n") == "f.csv: line 3: column 1 (price): \"2abc\" is not a number");
    BOOST_TEST(error("a\n" + std::string(100, 'x') + "\n") ==
               "f.csv: line 2: column 1 (a): \"" + std::string(60, 'x') + "...\" is not a number");
    BOOST_TEST(error("a\nInfinity\n") == "f.csv: line 2: column 1 (a): \"Infinity\" is not a finite number");
}

BOOST_AUTO_TEST_CASE(exact_numbers) {
    const Table table = csv("0.1,0e-400,-0.00E99999,4.9e-324,1.7976931348623157e308,123456789012345678901234567890\n");
    BOOST_TEST((table.values ==
                Tensor<double>{{0.1, 0, 0, 4.9406564584124654e-324, 1.7976931348623157e308, 1.2345678901234568e29}}));
    BOOST_TEST(std::signbit(table.values(0, 2)));
    // What a double rounds to 0 or to infinity; the first line is no header for that.
    BOOST_TEST(error("1e-400,2\n3,4\n") == "f.csv: line 1: column 1: \"1e-400\" is too small for a double");
    BOOST_TEST(error("1,1e400\n3,4\n") == "f.csv: line 1: column 2: \"1e400\" is too large for a double");
    BOOST_TEST(error("a\n\" -0.002e-323 \"\n") ==
               "f.csv: line 2: column 1 (a): \" -0.002e-323 \" is too small for a double");
    BOOST_TEST(error("a\n-1e99999\n") == "f.csv: line 2: column 1 (a): \"-1e99999\" is too large for a double");
    BOOST_TEST(csv("2.5e-324\n").values.item() == 4.9406564584124654e-324);
    // A comma as decimal point, where the system has such a locale, changes nothing.
    const std::string before = std::setlocale(LC_NUMERIC, nullptr);
    std::setlocale(LC_NUMERIC, "de_DE.UTF-8");
    BOOST_TEST(csv("1.5\n").values.item() == 1.5);
    std::setlocale(LC_NUMERIC, before.c_str());
}

BOOST_AUTO_TEST_CASE(broken_lines) {
    BOOST_TEST(error("a,b\n1,2\n3\n") == "f.csv: line 3: has 1 cells where line 1 has 2");
    BOOST_TEST(error("a,b\n1,2,3\n") == "f.csv: line 2: has 3 cells where line 1 has 2");
    BOOST_TEST(error("\"a\n\n\",b\n1,2\n3,4,\n") == "f.csv: line 5: has 3 cells where line 1 has 2");
    BOOST_TEST(error("a,b\n\n1,2\n") == "f.csv: line 2: is blank; only the end of the file may have blank lines");
    BOOST_TEST(error("") == "f.csv: is empty; expected at least one line");
    BOOST_TEST(error(" \r\n\n") == "f.csv: is empty; expected at least one line");
    BOOST_TEST(error("a,b\n1,\"2\n3,4\n") == "f.csv: line 2: column 2: the quote is never closed");
    BOOST_TEST(error("a,b\n\"1\"2,3\n") == "f.csv: line 2: column 1: text follows the closing quote");
    BOOST_TEST(error("a,b\n1,2\n3,\0\n"s) == "f.csv: line 3: has a NUL byte; this is not a text file");
    BOOST_TEST(error("a\n1\r2\n") ==
               "f.csv: line 2: column 1: has a carriage return (CR) that no line feed (LF) follows; lines end in LF or "
               "CR LF");
    for (const char* text : {"a\r1\r", "a\r\n1\r", "a\r\r\n1\r\n", "a,b\n\r1,2\n", "a,b\n1,\r2\n", "a\n1\n\r",
                             "a\n1\n\r\r\n", "a\n\"1\"\r", "a\n\"1\"\r\r\n"})
        BOOST_TEST(error(text) != "", text);
    BOOST_TEST(error("a\r\n1\r\n\r\n \r\n") == "");
    CsvOptions options;
    options.max_line = 5;
    BOOST_TEST((csv("1,2.5\r\n3,4\n", options).values.shape() == Shape{2, 2}));
    BOOST_TEST(error("1,2\n3,4.55\n", options) == "f.csv: line 2: is longer than the limit of 5 bytes");
    BOOST_TEST(error("\"a\n\n\n\n\",b\n", options) == "f.csv: line 1: is longer than the limit of 5 bytes");
}

BOOST_AUTO_TEST_CASE(limits_and_gzip) {
    const std::string text = "a,b\n1,2\n3,4\n";
    const std::string whole = text_of(gzip(bytes_of(text)));
    BOOST_TEST((csv(whole).values == two_by_two));
    // The first byte alone would be a column's name.
    for (std::size_t size = 2; size < whole.size(); ++size) BOOST_TEST(error(whole.substr(0, size)) != "");
    // Cut text may still be a table, but never anything worse than an error.
    for (std::size_t size = 0; size < text.size(); ++size) error(text.substr(0, size));
    // A column takes two cells of 16 bytes, a name and a place.
    constexpr std::uint64_t columns = 2 * (2 * 16 + sizeof(std::string) + 8);
    BOOST_TEST(error(text, with_limit(columns + 32)) == "");
    BOOST_TEST(error(text, with_limit(columns + 31)) ==
               "f.csv: table: 2 x 2 x 8 bytes, beside the 156 taken before, are more than the limit of 187" +
                   by_max_bytes(columns + 31, 12));
    const std::string bomb = text_of(gzip(bytes_of(std::string(5000000, '1'))));
    BOOST_TEST(error(bomb, with_limit(1000000)) == "f.csv: gzip: expands to more than the limit of " +
                                                       std::to_string(1000000 + bomb.size()) +
                                                       by_max_bytes(1000000, bomb.size()));
    BOOST_TEST(error(bomb) == "f.csv: line 1: is longer than the limit of 1048576 bytes");
}

BOOST_AUTO_TEST_CASE(written_and_read) {
    const TemporaryDirectory directory;
    const std::string path = directory / "t.csv";
    const Names names{"plain", "with, \"quotes\"", " padded", ""};
    const Tensor<double> values{{0.1, -0.0, 1e300, NAN}, {5e-324, 1.0 / 3, 123456, -2}};
    write_csv(path, names, values);
    BOOST_TEST(contents(path) ==
               "plain,\"with, \"\"quotes\"\"\",\" padded\",\"\"\n0.1,-0,1e+300,nan\n"
               "5e-324,0.3333333333333333,123456,-2\n");
    CsvOptions options;
    options.missing = CsvOptions::Missing::nan;
    const Table table = read_csv(path, options);
    BOOST_TEST((table.columns == names));
    for (std::int64_t i = 0; i < 8; ++i) BOOST_TEST((table.values.data()[i] == values.data()[i] || i == 3));
    write_csv(path, {"x"}, Tensor<double>::zeros(Shape{0, 1}));
    BOOST_TEST(contents(path) == "x\n");
    BOOST_TEST(error_of<ShapeError>([&] {
                   write_csv(path, {"x", "y"}, Tensor<double>{1, 2});
               }) == "write_csv: values (2) for 2 column names; expected (rows, 2)");
    BOOST_TEST(error_of<ValueError>([&] {
                   write_csv(path, {}, Tensor<double>::zeros(Shape{1, 0}));
               }) == "write_csv: no columns; expected at least one name");
    BOOST_TEST(error_of<ValueError>([&] {
                   write_csv(path, {"x", "y", "x"}, Tensor<double>::zeros(Shape{1, 3}));
               }) == "write_csv: two columns have the name \"x\"");
    BOOST_TEST(contents(path) == "x\n");
}

BOOST_AUTO_TEST_SUITE_END()
