#include <pollen/data/formats/csv.hpp>

#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/printable.hpp>

#include <array>
#include <charconv>
#include <set>
#include <string_view>

namespace pollen {

namespace {

// Quoted where it would not come back as it is.
std::string cell(const std::string& name) {
    const bool plain = !name.empty() && name.find_first_of(",\"\r\n") == name.npos && name.front() != ' ' &&
                       name.front() != '\t' && name.back() != ' ' && name.back() != '\t';
    if (plain) return name;
    std::string text = "\"";
    for (const char c : name) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

void write_table(const std::string& path, const std::vector<std::string>& columns, const Tensor<double>& values) {
    if (columns.empty()) throw ValueError("write_csv: no columns; expected at least one name");
    if (values.rank() != 2 || values.shape()[1] != static_cast<std::int64_t>(columns.size()))
        throw ShapeError("write_csv: values " + to_string(values.shape()) + " for " + std::to_string(columns.size()) +
                         " column names; expected (rows, " + std::to_string(columns.size()) + ")");
    std::string line;
    std::set<std::string_view> names;
    for (const std::string& name : columns) {
        if (!names.insert(name).second)
            throw ValueError("write_csv: two columns have the name " + detail::printable(name));
        if (name.find('\0') != name.npos) throw ValueError("write_csv: a column name has a NUL character");
        if (!line.empty()) line += ',';
        line += cell(name);
    }
    AtomicFile file(path);
    std::array<char, 32> digits;
    const double* value = values.data();
    for (std::int64_t row = 0; row < values.shape()[0]; ++row) {
        line += '\n';
        file.write(line.data(), line.size());
        line.clear();
        for (std::size_t k = 0; k < columns.size(); ++k, ++value) {
            if (k) line += ',';
            line.append(digits.data(), std::to_chars(digits.data(), digits.data() + digits.size(), *value).ptr);
        }
    }
    line += '\n';
    file.write(line.data(), line.size());
    file.commit();
}

}  // namespace

void write_csv(const std::string& path, const std::vector<std::string>& columns, const Tensor<double>& values) {
    detail::with_errors_at(path, [&] { write_table(path, columns, values); });
}

}  // namespace pollen
