#include <pollen/data/io/detail/text.hpp>

#include <limits>

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
    long double wide = 0;
    if (std::from_chars(text.data(), text.data() + text.size(), wide).ec == std::errc())
        return static_cast<double>(wide);
    const bool tiny = text.find("e-") != text.npos || text.find("E-") != text.npos;
    return tiny ? 0.0 : std::numeric_limits<double>::infinity();
}

}  // namespace pollen::detail
