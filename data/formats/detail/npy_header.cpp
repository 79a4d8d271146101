#include <pollen/data/formats/detail/npy_header.hpp>

#include <pollen/data/io/detail/printable.hpp>

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>

namespace pollen::detail {

namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t max_header = 10000;

// The header is a Python literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. Only dicts of
// this very form are read: nothing here can be nested.
class Parser {
  public:
    Parser(Bytes bytes, std::size_t at, std::size_t end, const std::string& name)
        : text_(reinterpret_cast<const char*>(bytes.data()), end), at_(at), name_(name) {}

    void parse(NpyHeader& header) {
        bool descr = false, fortran_order = false, shape = false;
        expect('{', "header");
        while (!take('}')) {
            skip_spaces();
            const std::size_t key_at = at_;
            const std::string_view key = quoted("header: a key");
            bool& seen = key == "descr" ? descr : key == "fortran_order" ? fortran_order : shape;
            if (key != "descr" && key != "fortran_order" && key != "shape") {
                fail(key_at,
                     "header: the key " + printable(key) + " is unknown; descr, fortran_order and shape are expected");
            }
            if (seen) fail(key_at, "header: the key " + printable(key) + " comes twice");
            seen = true;
            expect(':', "header");
            if (key == "descr") {
                read_descr(header);
            } else if (key == "fortran_order") {
                header.fortran_order = read_bool();
            } else {
                read_shape(header);
            }
            if (take(',')) continue;
            expect('}', "header");
            break;
        }
        skip_spaces();
        if (at_ != text_.size()) fail(at_, "header: there is more behind the closing }");
        const auto need = [&](bool seen, const char* key) {
            if (!seen) fail(at_, std::string("header: the key ") + key + " is missing");
        };
        need(descr, "descr");
        need(fortran_order, "fortran_order");
        need(shape, "shape");
    }

  private:
    [[noreturn]] void fail(std::size_t at, const std::string& what) const {
        throw FileError(name_ + ": offset " + std::to_string(at) + ": " + what);
    }

    void skip_spaces() {
        while (at_ < text_.size() &&
               (text_[at_] == ' ' || text_[at_] == '\t' || text_[at_] == '\r' || text_[at_] == '\n'))
            ++at_;
    }

    bool take(char c) {
        skip_spaces();
        if (at_ == text_.size() || text_[at_] != c) return false;
        ++at_;
        return true;
    }

    void expect(char c, const char* field) {
        if (!take(c)) fail(at_, std::string(field) + ": " + found() + " where " + c + " is expected");
    }

    std::string found() const {
        return at_ == text_.size() ? std::string("the header ends") : printable(text_.substr(at_, 1)) + " stands";
    }

    std::string_view quoted(const char* field) {
        skip_spaces();
        if (at_ == text_.size() || (text_[at_] != '\'' && text_[at_] != '"'))
            fail(at_, std::string(field) + ": " + found() + " where a string in quotes is expected");
        const std::size_t close = text_.find(text_[at_], at_ + 1);
        if (close == std::string_view::npos) fail(at_, std::string(field) + ": the string has no closing quote");
        const std::string_view inside = text_.substr(at_ + 1, close - at_ - 1);
        at_ = close + 1;
        return inside;
    }

    void read_descr(NpyHeader& header) {
        static constexpr std::array<std::string_view, 12> types = {"b1", "i1", "i2", "i4", "i8", "u1",
                                                                   "u2", "u4", "u8", "f2", "f4", "f8"};
        static const std::string accepted =
            "; accepted are b1, i1, i2, i4, i8, u1, u2, u4, u8, f2, f4 and f8 behind <, > or =, or | for one byte";
        skip_spaces();
        const std::size_t at = at_;
        if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '(' || text_[at_] == '{'))
            fail(at, "descr: records are not read" + accepted);
        const std::string_view descr = quoted("descr");
        const bool known = descr.size() == 3 && std::find(types.begin(), types.end(), descr.substr(1)) != types.end();
        if (!known || std::string_view("<>=|").find(descr[0]) == std::string_view::npos ||
            (descr[0] == '|' && descr[2] != '1'))
            fail(at, "descr: " + printable(descr) + " is not read" + accepted);
        header.kind = descr[1];
        header.item_bytes = descr[2] - '0';
        header.big_endian = descr[0] == '>';
    }

    bool read_bool() {
        skip_spaces();
        for (const std::string_view word : {"False", "True"}) {
            if (text_.substr(at_, word.size()) != word) continue;
            at_ += word.size();
            return word == "True";
        }
        fail(at_, "fortran_order: " + found() + " where True or False is expected");
    }

    // (), (3,) or (3, 4) with or without a last comma; (3) is no tuple.
    void read_shape(NpyHeader& header) {
        skip_spaces();
        header.shape_at = at_;
        expect('(', "shape");
        bool comma = true;
        while (!take(')')) {
            if (!comma) fail(at_, "shape: " + found() + " where a comma or ) is expected");
            if (header.sizes.size() == max_rank)
                fail(header.shape_at, "shape: more than " + std::to_string(max_rank) + " axes are not supported");
            header.sizes.push_back(size());
            comma = take(',');
        }
        if (header.sizes.size() == 1 && !comma)
            fail(header.shape_at, "shape: one size in parentheses is no tuple; it needs a comma");
    }

    std::uint64_t size() {
        skip_spaces();
        const std::size_t at = at_;
        if (at_ < text_.size() && text_[at_] == '-') fail(at, "shape: a size is negative; sizes are 0 or more");
        std::uint64_t value = 0;
        for (; at_ < text_.size() && text_[at_] >= '0' && text_[at_] <= '9'; ++at_) {
            if (at_ > at && value == 0) fail(at, "shape: a size starts with 0");
            value = value * 10 + static_cast<std::uint64_t>(text_[at_] - '0');
            if (value > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) || at_ - at >= 19)
                fail(at, "shape: a size is above 2^63 - 1");
        }
        if (at_ == at) fail(at, "shape: " + found() + " where a size is expected");
        return value;
    }

    std::string_view text_;
    std::size_t at_;
    const std::string& name_;
};

}  // namespace

NpyHeader parse_npy_header(Bytes bytes, const std::string& name) {
    const auto byte = [&](std::size_t at) { return std::to_integer<std::size_t>(bytes[at]); };
    const auto fail = [&](std::size_t at, const std::string& what) {
        throw FileError(name + ": offset " + std::to_string(at) + ": " + what);
    };
    for (std::size_t i = 0; i < magic.size(); ++i) {
        if (i == bytes.size() || byte(i) != static_cast<unsigned char>(magic[i]))
            fail(0, "magic: not an NPY file, which starts with 93 4E 55 4D 50 59 (\\x93NUMPY)");
    }
    if (bytes.size() < 8) fail(6, "version: the file ends here");
    if (byte(6) < 1 || byte(6) > 3 || byte(7) != 0)
        fail(6, "version: " + std::to_string(byte(6)) + "." + std::to_string(byte(7)) +
                    " is not read; 1.0, 2.0 and 3.0 are");
    const std::size_t length_bytes = byte(6) == 1 ? 2 : 4;
    if (bytes.size() < 8 + length_bytes) fail(8, "header length: the file ends here");
    std::size_t length = 0;
    for (std::size_t i = 0; i < length_bytes; ++i) length |= byte(8 + i) << (8 * i);
    if (length > max_header)
        fail(8, "header length: " + std::to_string(length) + " is above the limit of " + std::to_string(max_header));
    const std::size_t start = 8 + length_bytes;
    if (length > bytes.size() - start)
        fail(8, "header length: " + std::to_string(length) + ", but only " + std::to_string(bytes.size() - start) +
                    " bytes follow");
    NpyHeader header;
    header.data_at = start + length;
    Parser(bytes, start, header.data_at, name).parse(header);
    return header;
}

std::string npy_header_text(const std::string& descr, const Shape& shape) {
    std::string text = "{'descr': '" + descr + "', 'fortran_order': False, 'shape': (";
    for (int axis = 0; axis < shape.rank(); ++axis) text += (axis ? ", " : "") + std::to_string(shape[axis]);
    text += shape.rank() == 1 ? ",), }" : "), }";
    // NumPy leaves room for the first size to grow to 21 digits in place.
    if (shape.rank() > 0) text.append(21 - std::to_string(shape[0]).size(), ' ');
    const std::size_t used = magic.size() + 4 + text.size() + 1;
    text.append((64 - used % 64) % 64, ' ');
    text += '\n';
    std::string head(magic);
    head += {'\1', '\0', static_cast<char>(text.size() & 0xff), static_cast<char>(text.size() >> 8)};
    return head + text;
}

}  // namespace pollen::detail
