#pragma once

#include <pollen/data/formats/csv.hpp>
#include <pollen/data/io/detail/memory_budget.hpp>
#include <pollen/data/io/detail/text.hpp>

#include <string_view>

// How a CSV file falls into records and cells: the part that the readers of numbers and of text share.
namespace pollen::detail {

// Of 16 bytes: a line may have a million.
class CsvCell {
  public:
    CsvCell(std::string_view text, bool quoted) : begin_(text.data()), twice_size_(2 * text.size() + quoted) {}

    std::string_view text() const { return {begin_, twice_size_ / 2}; }  // without outer quotes and blanks around it
    bool quoted() const { return twice_size_ % 2 != 0; }                 // a quote inside is then written twice
    std::string unquoted() const;

  private:
    const char* begin_;
    std::size_t twice_size_;  // plus 1 if it is quoted
};

class CsvRecords {
  public:
    // Keeps references: the arguments must live longer.
    CsvRecords(Bytes bytes, const std::string& name, const CsvOptions& options);

    // Reads one record into cells(); false at the end. The error messages count lines, of which a record with quoted
    // line ends has several.
    bool next();
    const std::vector<CsvCell>& cells() const { return cells_; }
    std::int64_t line() const { return line_; }

    // The number of records that follow.
    std::uint64_t count() const;

    [[noreturn]] void fail(const std::string& what) const { fail_at_line(*name_, line_, what); }

  private:
    void split();
    void read_quoted();
    void end_line(const char* from);
    bool is_return(const char* at) const { return *at == '\r' && at + 1 < file_end_ && at[1] == '\n'; }
    bool is_padding(char c) const { return is_blank(c) && (c != options_->delimiter || c == ' '); }
    bool is_delimiter(char c) const { return c == options_->delimiter || (c == '\t' && options_->delimiter == ' '); }

    const std::string* name_;
    const CsvOptions* options_;
    const char* begin_ = nullptr;  // of the record in cells_
    const char* at_ = nullptr;     // the next unread byte
    const char* end_ = nullptr;    // of the last line that is not blank
    const char* file_end_ = nullptr;
    const char* eol_ = nullptr;   // of the line that at_ is in
    const char* stop_ = nullptr;  // the same without a carriage return
    bool quotes_ = false;         // whether there are any
    bool lone_return_ = false;    // whether the line has a carriage return elsewhere than at its end
    bool done_ = false;
    std::int64_t line_ = 0;  // of the record in cells_
    std::int64_t next_line_ = 1;
    std::vector<CsvCell> cells_;
};

// The columns that were asked for, found in a file's first record.
struct CsvColumns {
    std::vector<std::string> names;  // of the selected columns
    std::vector<std::size_t> cells;  // where each is in a record
    std::size_t width = 0;           // cells in a record
    bool header = false;             // whether the first record is one

    // `column 3 (price)`, for messages; without a header `column 3`.
    std::string label(std::size_t column) const;
};

// `records` stands on the first record of a table of numbers or of text.
CsvColumns csv_columns(const CsvRecords& records, const CsvOptions& options, bool numbers, MemoryBudget& budget);

// The cell as a number, NaN where it is left out; false where it is something else.
bool parse_csv_number(const CsvCell& cell, double& value);

// "a", "b" and 7 more
std::string list_names(const std::vector<std::string>& names);

// Throws for a record that does not have `width` cells.
void check_width(const CsvRecords& records, std::size_t width);

}  // namespace pollen::detail
