#pragma once

#include <filesystem>
#include <limits>
#include <string>
#include <vector>

// A cell of a table: a text, a number, or a number with its standard error.
struct Cell {
    Cell(std::string words) : text(std::move(words)) {}
    Cell(const char* words) : text(words) {}
    Cell(double number, int decimal_places) : value(number), digits(decimal_places) {}
    Cell(double number, double standard_error, int decimal_places)
        : value(number), error(standard_error), digits(decimal_places) {}

    static constexpr double none = std::numeric_limits<double>::quiet_NaN();
    std::string text;
    double value = none, error = none;
    int digits = -1;  // -1: a text
};

// A table of results, printed for people and written for programs:
//
//     ResultTable table({"sampler", "mean", "published"});
//     table.row({"NUTS", {0.4911, 0.0042, 3}, "0.490"});
//     table.show();
//     table.save(example.path("mixture"));
class ResultTable {
  public:
    explicit ResultTable(std::vector<std::string> columns) : columns_(std::move(columns)) {}

    void row(std::vector<Cell> cells);
    void show() const;
    // NAME_table.csv, with all digits and standard errors in columns of their own, `mean +-`, and NAME_table.md for a
    // README.
    void save(const std::filesystem::path& name) const;

  private:
    std::vector<std::string> columns_;
    std::vector<std::vector<Cell>> rows_;
};
