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

void draw_scores(Panel& panel, const std::string& label, const std::vector<Scores>& methods, const std::string& name,
                 double shift) {
    std::vector<std::string> names;
    std::vector<double> x, mean, low, high, seed_x, seed_y;
    for (const Scores& scores : methods) {
        const double at = static_cast<double>(names.size()) + shift;
        names.push_back(scores.method);
        const auto found = scores.of.find(name);
        if (found == scores.of.end()) continue;
        const Cell all = mean_cell(found->second, 0);
        const double error = std::isfinite(all.error) ? all.error : 0;
        x.push_back(at);
        mean.push_back(all.value);
        low.push_back(all.value - 2 * error);
        high.push_back(all.value + 2 * error);
        for (const double score : found->second) {
            seed_x.push_back(at + 0.1);
            seed_y.push_back(score);
        }
    }
    panel.intervals(label, x, mean, low, high);
    panel.crosses("", seed_x, seed_y);
    panel.categories(names);
}
