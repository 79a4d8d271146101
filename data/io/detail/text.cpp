#include <pollen/data/io/detail/text.hpp>

#include <cmath>
#include <limits>
#include <locale>
#include <sstream>
#include <string>

namespace pollen::detail {

std::string_view as_text(Bytes bytes) {
    std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (text.starts_with("\xEF\xBB\xBF")) text.remove_prefix(3);
    return text;
}

void fail_at_line(const std::string& name, std::int64_t line, const std::string& what) {
    throw FileError(name + ": line " + std::to_string(line) + ": " + what);
}

double parse_extreme(std::string_view text) {
    std::istringstream in{std::string(text)};
    in.imbue(std::locale::classic());
    double value = 0;
    in >> value;
    return in.fail() ? std::copysign(std::numeric_limits<double>::infinity(), value) : value;
}

}  // namespace pollen::detail
