#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/error.hpp>

#include <string_view>

namespace pollen {

namespace {

bool is_control(unsigned char c) { return c < 0x20 || c == 0x7f; }

// U+0080 to U+009F, which terminals obey like control characters, are C2 80 to C2 9F in UTF-8.
bool is_wide_control(std::string_view text, std::size_t at) {
    return static_cast<unsigned char>(text[at]) == 0xc2 && at + 1 < text.size() &&
           (static_cast<unsigned char>(text[at + 1]) & 0xe0) == 0x80;
}

std::string escaped(const std::string& text) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(text.size());
    const auto add_hex = [&](char c) {
        const auto byte = static_cast<unsigned char>(c);
        out += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '\n') {
            out += "\\n";
        } else if (is_control(static_cast<unsigned char>(text[i]))) {
            add_hex(text[i]);
        } else if (is_wide_control(text, i)) {
            add_hex(text[i]);
            add_hex(text[++i]);
        } else {
            out += text[i];
        }
    }
    return out;
}

}  // namespace

Error::Error(const std::string& message) : std::runtime_error(escaped(message)) {}

void detail::fail_allocation(std::string_view what, std::uint64_t bytes) {
    throw MemoryError(std::string(what) + ": the system has no " + std::to_string(bytes) + " bytes left");
}

}  // namespace pollen
