#include "comparison.hpp"

#include "convergence.hpp"

#include <pollen/autograd/math.hpp>
#include <pollen/nn/prediction/metrics.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using namespace pollen;

namespace {

struct Mean {
    double mean = 0, error = 0;

    explicit Mean(const std::vector<double>& x) {
        const double n = static_cast<double>(x.size());
        double squares = 0;
        for (const double v : x) mean += v / n;
        for (const double v : x) squares += (v - mean) * (v - mean);
        error = std::sqrt(squares / (n - 1) / n);
    }
    Cell cell(int digits, double scale = 1) const { return {scale * mean, scale * error, digits}; }
};

// One number a test digit.
struct Comparison {
    std::vector<double> agree, variation, right, surprise;  // surprise: -log p of the right class

    Comparison(const Method& method, const Indices& labels) {
        const Tensor<double>&p = method.found.at("test"), &q = method.reference;
        for (std::int64_t i = 0; i < p.shape()[0]; ++i) {
            const std::span<const double> a(p.data() + 10 * i, 10), b(q.data() + 10 * i, 10);
            const auto top = std::ranges::max_element(a) - a.begin();
            double difference = 0;
            for (std::size_t c = 0; c < 10; ++c) difference += std::abs(a[c] - b[c]) / 2;
            variation.push_back(difference);
            agree.push_back(top == std::ranges::max_element(b) - b.begin());
            right.push_back(top == labels.data()[i]);
            surprise.push_back(-math::log(a[static_cast<std::size_t>(labels.data()[i])]));
        }
    }
};

// Means with two standard errors, one a method.
void draw_means(Panel& panel, const std::vector<Method>& methods, const Indices& labels,
                std::vector<double> Comparison::*numbers) {
    for (const Method& method : methods) {
        const Mean m(Comparison(method, labels).*numbers);
        panel.row(method.name, m.mean, m.mean - 2 * m.error, m.mean + 2 * m.error);
    }
}

}  // namespace

ResultTable table_of_methods(const std::vector<Method>& methods, const Indices& labels) {
    ResultTable table({"method", "agreement, %", "total variation", "accuracy, %", "-log p", "ECE", "temperature"});
    for (const Method& m : methods) {
        const Comparison c(m, labels);
        const auto temperature = m.found.find("temperature");
        table.row({m.name,
                   Mean(c.agree).cell(1, 100),
                   Mean(c.variation).cell(3),
                   Mean(c.right).cell(1, 100),
                   Mean(c.surprise).cell(3),
                   {ece(m.found.at("test"), labels), 3},
                   temperature == m.found.end() ? Cell("-") : Cell(temperature->second(0), temperature->second(1), 3)});
    }
    return table;
}

ResultTable table_of_clothes(const std::vector<Method>& methods) {
    ResultTable table({"method", "entropy of digits", "entropy of clothes", "AUROC"});
    for (const Method& m : methods) {
        const Tensor<double> digits = predictive_entropy(m.found.at("test")),
                             clothes = predictive_entropy(m.found.at("clothes"));
        table.row({m.name,
                   Mean({digits.begin(), digits.end()}).cell(3),
                   Mean({clothes.begin(), clothes.end()}).cell(3),
                   {auroc(digits, clothes), auroc_standard_error(digits, clothes), 3}});
    }
    return table;
}

void say_distances(const std::vector<Method>& methods, const Indices& labels) {
    const auto variation = [&](const Method& m) { return Mean(Comparison(m, labels).variation).mean; };
    const double of_one_chain = variation(methods.at(1));
    std::printf("\nTotal variation from HMC, divided by that of one chain of HMC from the others:\n");
    for (std::size_t k = 2; k < methods.size(); ++k)
        std::printf("  %-12s %.1f\n", methods[k].name.c_str(), variation(methods[k]) / of_one_chain);
}

void draw_comparison(Figure& figure, const std::vector<Method>& methods, const Indices& labels) {
    draw_means(figure.panel("Distance to HMC, two standard errors", "total variation", ""), methods, labels,
               &Comparison::variation);
    draw_means(figure.panel("Test digits, two standard errors", "-log p, nats", ""), methods, labels,
               &Comparison::surprise);
    Panel& entropies = figure.panel("Predictions for pictures of clothes", "entropy, nats", "share below");
    const auto draw = [&](const Method& m, Line line) {
        const Tensor<double> entropy = predictive_entropy(m.found.at("clothes"));
        draw_share(entropies, m.name, {entropy.begin(), entropy.end()}, line);
    };
    for (const Method& m : methods)
        if (!m.name.starts_with("HMC")) draw(m, Line::plain);
    draw(methods.front(), Line::dashed);  // HMC, on top of the samplers that agree with it
    entropies.set("set xrange [0:2.4]");
    entropies.set("set yrange [0:1]");
}
