#include <pollen/autograd/support/detail/allocate.hpp>
#include <pollen/data/formats/detail/csv_records.hpp>

#include <algorithm>
#include <cstring>

namespace pollen::detail {

namespace {

const char* find(const char* from, const char* end, char c) {
    const void* found = from < end ? std::memchr(from, c, static_cast<std::size_t>(end - from)) : nullptr;
    return found ? static_cast<const char*>(found) : end;
}

}  // namespace

std::string CsvCell::unquoted() const {
    const std::string_view raw = text();
    std::string plain;
    plain.reserve(raw.size());
    for (std::size_t i = 0; i < raw.size(); ++i) {
        plain += raw[i];
        if (quoted() && raw[i] == '"') ++i;
    }
    return plain;
}

CsvRecords::CsvRecords(Bytes bytes, const std::string& name, const CsvOptions& options)
    : name_(&name), options_(&options) {
    const char d = options.delimiter;
    if (std::strchr("\"\r\n+-.", d) || (d >= '0' && d <= '9') || (d >= 'a' && d <= 'z') || (d >= 'A' && d <= 'Z'))
        throw ValueError("csv: the delimiter has character code " + std::to_string(static_cast<unsigned char>(d)) +
                         "; it must not be a quote, a line end, or a character of numbers or words");
    const std::string_view text = as_text(bytes);
    const char* first = text.data();
    at_ = first;
    file_end_ = end_ = first + text.size();
    if (const char* nul = find(first, end_, '\0'); nul != end_)
        fail_at_line(name, 1 + std::count(first, nul, '\n'), "has a NUL byte; this is not a text file");
    quotes_ = find(first, end_, '"') != end_;
    for (;;) {
        const char* p = end_;
        while (p > first && (is_padding(p[-1]) || is_return(p - 1))) --p;
        if (p > first && p[-1] != '\n') break;
        end_ = p > first ? p - 1 : first;
        if (p == first) break;
    }
    done_ = end_ == first;
}

bool CsvRecords::next() {
    if (done_) return false;
    line_ = next_line_;
    begin_ = at_;
    end_line(at_);
    split();
    if (cells_.empty() || (cells_.size() == 1 && cells_[0].text().empty() && !cells_[0].quoted()))
        fail("is blank; only the end of the file may have blank lines");
    ++next_line_;
    done_ = eol_ == end_;
    at_ = done_ ? end_ : eol_ + 1;
    return true;
}

std::uint64_t CsvRecords::count() const {
    if (done_) return 0;
    if (!quotes_) return 1 + static_cast<std::uint64_t>(std::count(at_, end_, '\n'));
    std::uint64_t records = 0;
    for (CsvRecords rest = *this; rest.next();) ++records;
    return records;
}

void CsvRecords::end_line(const char* from) {
    eol_ = find(from, end_, '\n');
    stop_ = eol_ > from && eol_ < file_end_ && eol_[-1] == '\r' ? eol_ - 1 : eol_;
    lone_return_ = find(from, stop_, '\r') != stop_;
    if (static_cast<std::size_t>(stop_ - begin_) > options_->max_line)
        fail("is longer than the limit of " + std::to_string(options_->max_line) + " bytes");
}

void CsvRecords::split() {
    const bool runs = options_->delimiter == ' ';
    cells_.clear();
    // The first line says how many there will be; without that a vector that grows would take twice the memory.
    if (cells_.capacity() == 0)
        reserve(cells_,
                1 + static_cast<std::size_t>(std::count_if(at_, stop_, [&](char c) { return is_delimiter(c); })),
                *name_);
    for (;; ++at_) {
        while (at_ < stop_ && is_padding(*at_)) ++at_;
        if (runs && at_ == stop_) return;
        if (at_ < stop_ && *at_ == '"') {
            read_quoted();
        } else {
            const char* start = at_;
            while (at_ < stop_ && !is_delimiter(*at_)) ++at_;
            const char* last = at_;
            while (last > start && is_padding(last[-1])) --last;
            const std::string_view text(start, static_cast<std::size_t>(last - start));
            if (lone_return_ && text.find('\r') != text.npos)
                fail("column " + std::to_string(cells_.size() + 1) + ": " + lone_return);
            cells_.emplace_back(text, false);
        }
        if (at_ == stop_) return;
    }
}

// From the opening quote to the delimiter behind the cell. The cell may go on over several lines.
void CsvRecords::read_quoted() {
    const auto fail_here = [&](const char* what) { fail("column " + std::to_string(cells_.size() + 1) + ": " + what); };
    const char* start = at_ + 1;
    const char* close = find(start, end_, '"');
    while (close != end_ && close + 1 != end_ && close[1] == '"') close = find(close + 2, end_, '"');
    if (close == end_) fail_here("the quote is never closed");
    if (close > eol_) {
        next_line_ += std::count(start, close, '\n');
        end_line(close);
    }
    at_ = close + 1;
    if (options_->delimiter != ' ') {
        while (at_ < stop_ && is_padding(*at_)) ++at_;
    }
    if (at_ < stop_ && !is_delimiter(*at_)) fail_here("text follows the closing quote");
    cells_.emplace_back(std::string_view(start, static_cast<std::size_t>(close - start)), true);
}

void check_width(const CsvRecords& records, std::size_t width) {
    if (records.cells().size() != width)
        records.fail("has " + std::to_string(records.cells().size()) + " cells where line 1 has " +
                     std::to_string(width));
}

}  // namespace pollen::detail
