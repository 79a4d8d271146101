#include "mushrooms.hpp"

#include <pollen/autograd/support/error.hpp>
#include <pollen/data/formats/csv.hpp>
#include <pollen/data/sets/embedded.hpp>

#include <algorithm>
#include <map>
#include <string>

using namespace pollen;

double Mushrooms::share_edible() const {
    return static_cast<double>(std::ranges::count(edible, true)) / static_cast<double>(edible.size());
}

// Each row is e or p (edible, poisonous), then 22 letters. A missing value, ?, is a letter as well.
Mushrooms read_mushrooms() {
    const std::string path = embedded_data("mushroom/agaricus-lepiota.data.gz");
    const TextTable table = read_csv_text(path, {.header = CsvOptions::Header::no});
    if (table.columns.size() != 23)
        throw ValueError(path + " has " + std::to_string(table.columns.size()) + " columns, not 23");
    std::vector<std::map<std::string, std::size_t>> places(22);
    std::size_t width = 0;
    for (std::size_t a = 0; a < 22; ++a) {
        for (const auto& row : table.rows) places[a].emplace(row[a + 1], 0);
        for (auto& [letter, place] : places[a]) place = width++;
    }
    if (width > 1000) throw ValueError(path + " has " + std::to_string(width) + " different values, more than 1000");
    Mushrooms mushrooms;
    for (std::size_t i = 0; i < table.rows.size(); ++i) {
        const auto& row = table.rows[i];
        if (row[0] != "e" && row[0] != "p")
            throw ValueError(path + ", row " + std::to_string(i + 1) + ": the class is " + row[0] + ", not e or p");
        std::vector<float> features(width, 0);
        for (std::size_t a = 0; a < 22; ++a) features[places[a].at(row[a + 1])] = 1;
        mushrooms.features.push_back(std::move(features));
        mushrooms.edible.push_back(row[0] == "e");
    }
    return mushrooms;
}
