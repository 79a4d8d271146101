// check_example PROGRAM EXPECTATIONS DIRECTORY [ARGUMENT...]
//
// Runs an example with --quick, and the arguments if there are any, and compares the tables it wrote with what is
// expected of them; then gives it a wrong option and a directory that cannot be written. A file of expectations has a
// line
//
//     row | column | lowest | highest | why: what another implementation would give
//
// for each number, after a line `table NAME` for the file NAME_table.csv; # begins a comment. The first column of a
// table names its rows. A file without a line asks for nothing but an example that ends well.
//
// These bounds say that a number is right. That it has the same bits on every machine is another question: beside the
// file of expectations, exact/EXAMPLE/ has every table that the example writes, and all cells must be the same. The
// cell
// * stands for a measured time, which may be anything. `./run examples --quick` and tests/examples/renew write these
// tables again.
#include <sys/wait.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <string>
#include <vector>

namespace fs = std::filesystem;

namespace {

int failures = 0;

void fail(const std::string& what) {
    std::printf("FAILED: %s\n", what.c_str());
    ++failures;
}

std::string contents(const fs::path& path) {
    std::ifstream in(path);
    return {std::istreambuf_iterator<char>(in), {}};
}

struct Ended {
    int code;
    std::string errors;
};

std::string in_quotes(const std::string& text) {
    std::string out = "'";
    for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return out + "'";
}

Ended run(const std::string& program, const std::string& arguments, const fs::path& directory) {
    const fs::path errors = directory / "stderr";
    const int status = std::system((in_quotes(program) + " " + arguments + " 2> " + in_quotes(errors)).c_str());
    return {WIFEXITED(status) ? WEXITSTATUS(status) : 128, contents(errors)};
}

// The cells of a line of a CSV file.
std::vector<std::string> cells(const std::string& line) {
    std::vector<std::string> found(1);
    bool quoted = false;
    for (std::size_t i = 0; i < line.size(); ++i) {
        if (line[i] == '"' && quoted && i + 1 < line.size() && line[i + 1] == '"')
            found.back() += line[i++];
        else if (line[i] == '"')
            quoted = !quoted;
        else if (line[i] == ',' && !quoted)
            found.emplace_back();
        else
            found.back() += line[i];
    }
    return found;
}

using Table = std::map<std::string, std::map<std::string, std::string>>;  // row, column

Table read_table(const fs::path& path) {
    std::ifstream in(path);
    if (!in) fail("there is no table " + path.string());
    Table table;
    std::string line;
    std::getline(in, line);
    const std::vector<std::string> columns = cells(line);
    while (std::getline(in, line)) {
        const std::vector<std::string> row = cells(line);
        for (std::size_t c = 0; c < row.size() && c < columns.size(); ++c) table[row[0]][columns[c]] = row[c];
    }
    return table;
}

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(' ');
    return first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

std::vector<std::string> fields(const std::string& line) {
    std::vector<std::string> found;
    for (std::size_t at = 0; at != std::string::npos;) {
        const std::size_t bar = line.find('|', at);
        found.push_back(trimmed(line.substr(at, bar == std::string::npos ? bar : bar - at)));
        at = bar == std::string::npos ? bar : bar + 1;
    }
    return found;
}

void compare(const std::string& expectations, const fs::path& directory) {
    std::ifstream in(expectations);
    if (!in) return fail("there is no file " + expectations);
    Table table;
    std::string line, name;
    int numbers = 0;
    while (std::getline(in, line)) {
        if (line.empty() || line[0] == '#') continue;
        if (line.starts_with("table ")) {
            name = line.substr(6);
            table = read_table(directory / (name + "_table.csv"));
            continue;
        }
        const std::vector<std::string> field = fields(line);
        if (field.size() < 5) {
            fail("five fields are expected: " + line);
            continue;
        }
        const auto row = table.find(field[0]);
        if (row == table.end()) {
            fail(name + " has no row " + field[0]);
            continue;
        }
        const auto cell = row->second.find(field[1]);
        if (cell == row->second.end()) {
            fail(name + " has no column " + field[1]);
            continue;
        }
        char* end = nullptr;
        const double value = std::strtod(cell->second.c_str(), &end);
        ++numbers;
        if (end == cell->second.c_str() || !(value >= std::stod(field[2]) && value <= std::stod(field[3])))
            fail(name + ", " + field[0] + ", " + field[1] + ": " + cell->second + " is not in [" + field[2] + ", " +
                 field[3] + "]; " + field[4]);
    }
    std::printf("%d numbers of %s compared\n", numbers, expectations.c_str());
}

// Compares the cells of a table with those of exact/EXAMPLE/. Reports the first cell of a row that differs.
void compare_exactly(const fs::path& exact, const fs::path& table) {
    std::ifstream expected(exact / table.filename()), found(table);
    if (!expected)
        return fail("there is no " + (exact / table.filename()).string() + "; tests/examples/renew makes it");
    std::string want, got;
    for (int line = 1;; ++line) {
        const bool more = !!std::getline(expected, want), also = !!std::getline(found, got);
        if (!more && !also) return;
        if (more != also) return fail(table.filename().string() + " has another number of lines");
        const std::vector<std::string> a = cells(want), b = cells(got);
        if (a.size() != b.size()) return fail(table.filename().string() + " has other columns");
        const auto same = [](const std::string& x, const std::string& y) { return x == "*" || x == y; };
        const auto [x, y] = std::mismatch(a.begin(), a.end(), b.begin(), same);
        if (x != a.end())
            fail(table.filename().string() + ", line " + std::to_string(line) + ": " + *y + " is not exactly " + *x);
    }
}

void compare_tables_exactly(const fs::path& exact, const fs::path& directory) {
    int tables = 0;
    for (const auto& entry : fs::directory_iterator(directory))
        if (entry.path().filename().string().ends_with("_table.csv")) {
            compare_exactly(exact, entry.path());
            ++tables;
        }
    if (fs::exists(exact))
        for (const auto& entry : fs::directory_iterator(exact))
            if (!fs::exists(directory / entry.path().filename()))
                fail("there is no table " + entry.path().filename().string());
    std::printf("%d tables of %s compared\n", tables, exact.c_str());
}

void expect_refusal(const std::string& program, const std::string& arguments, const fs::path& directory) {
    const Ended ended = run(program, arguments + " > /dev/null", directory);
    const auto lines = std::count(ended.errors.begin(), ended.errors.end(), '\n');
    if (ended.code != 2 || lines != 1)
        fail(arguments + " should end with code 2 and one line, not with " + std::to_string(ended.code) +
             " and: " + ended.errors);
}

}  // namespace

int main(int argc, char** argv) {
    if (argc < 4) {
        std::fprintf(stderr, "usage: check_example PROGRAM EXPECTATIONS DIRECTORY [ARGUMENT...]\n");
        return 2;
    }
    const std::string program = argv[1];
    const fs::path directory = argv[3];
    fs::remove_all(directory);
    fs::create_directories(directory);

    std::string arguments = "--quick --out " + in_quotes(directory);
    for (int k = 4; k < argc; ++k) arguments += " " + in_quotes(argv[k]);
    const Ended ended = run(program, arguments, directory);
    if (ended.code != 0) fail("it ended with code " + std::to_string(ended.code) + ": " + ended.errors);
    compare(argv[2], directory);
    const fs::path expectations = argv[2];
    compare_tables_exactly(expectations.parent_path() / "exact" / expectations.stem(), directory);
    for (const auto& entry : fs::directory_iterator(directory))
        if (entry.path().extension() == ".log") fail("gnuplot says: " + contents(entry.path()));

    if (run(program, "--help > /dev/null", directory).code != 0) fail("--help should end with code 0");
    expect_refusal(program, "--no-such-option", directory);
    expect_refusal(program, "--quick --out /proc/pollen", directory);
    std::printf("%s\n", failures == 0 ? "passed" : "failed");
    return failures == 0 ? 0 : 1;
}
