#include "seeds.hpp"

#include <cmath>

void Scores::add_difference(const std::string& difference, const std::string& name, const Scores& other,
                            const std::string& other_name) {
    const std::vector<double>&a = of.at(name), &b = other.of.at(other_name);
    for (std::size_t k = 0; k < a.size(); ++k) add(difference, a[k] - b.at(k));
}

double mean_of(std::span<const double> x) {
    double sum = 0;
    for (const double value : x) sum += value;
    return sum / static_cast<double>(x.size());
}

Cell mean_cell(std::span<const double> x, int digits) {
    const double mean = mean_of(x), n = static_cast<double>(x.size());
    double squares = 0;
    for (const double value : x) squares += (value - mean) * (value - mean);
    return {mean, x.size() > 1 ? std::sqrt(squares / (n - 1) / n) : Cell::none, digits};
}

ResultTable table_of(const std::vector<Scores>& methods, const std::vector<ScoreColumn>& columns) {
    std::vector<std::string> names{"method"};
    for (const ScoreColumn& column : columns) names.push_back(column.name);
    ResultTable table(names);
    for (const Scores& scores : methods) {
        std::vector<Cell> row{scores.method};
        for (const ScoreColumn& column : columns) {
            const auto found = scores.of.find(column.name);
            row.push_back(found == scores.of.end() ? Cell("") : mean_cell(found->second, column.digits));
        }
        table.row(row);
    }
    return table;
}

void draw_scores(Panel& panel, const std::vector<Scores>& methods, const std::string& name, const std::string& cross) {
    for (const Scores& scores : methods) {
        const auto found = scores.of.find(name);
        if (found == scores.of.end()) continue;
        const Cell all = mean_cell(found->second, 0);
        const double error = std::isfinite(all.error) ? all.error : 0;
        panel.row(scores.method, all.value, all.value - 2 * error, all.value + 2 * error, found->second);
    }
    panel.key_of_rows("mean, two standard errors", cross);
}
