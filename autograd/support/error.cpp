#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/autograd/support/detail/control.hpp>
#include <pollen/autograd/support/error.hpp>

#include <string_view>

namespace pollen {

namespace {

std::string escaped(const std::string& text) {
    constexpr char digits[] = "0123456789abcdef";
    std::string out;
    out.reserve(text.size());
    const auto add_hex = [&](char c) {
        const auto byte = static_cast<unsigned char>(c);
        out += {'\\', 'x', digits[byte / 16], digits[byte % 16]};
    };
    for (std::size_t i = 0; i < text.size(); ++i) {
        std::size_t controls = detail::control_length(text, i);
        if (text[i] == '\n') {
            out += "\\n";
        } else if (controls == 0) {
            out += text[i];
        } else {
            for (add_hex(text[i]); controls > 1; --controls) add_hex(text[++i]);
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
