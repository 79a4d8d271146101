#include "reference_models.hpp"

#include "../../support.hpp"

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(reference_gradients)

// Stan drops additive constants: differences between points are compared.
BOOST_AUTO_TEST_CASE(log_densities_and_gradients_are_stans) {
    const std::filesystem::path folder = reference_folder();
    if (folder.empty()) return;
    int models = 0;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) {
        if (!entry.is_directory()) continue;
        const std::string name = entry.path().filename().string();
        BOOST_TEST_CONTEXT(name) {
            const Reference reference(entry.path());
            ModelPotential<double> model = reference_model(name, reference);
            // A Cholesky factor is involved; Stan rounds logits beyond 20, at one of the points by 2e-9 of the
            // gradient.
            const double tolerance = name.starts_with("gp_") ? 1e-7 : name == "german_credit" ? 5e-9 : 1e-9;
            std::optional<std::pair<double, double>> first;
            for (const Json& point : reference.gradients.at("points")) {
                const auto u = point.at("u").get<std::vector<double>>();
                const auto theirs = point.at("grad_jacobian").get<std::vector<double>>();
                BOOST_TEST_REQUIRE(std::ssize(u) == model.size());
                std::vector<double> ours(u.size());
                const double lp = -model.evaluate(u, ours).total(), stan = point.at("lp_jacobian").get<double>();
                if (!first) first = {lp, stan};
                BOOST_TEST(std::abs((lp - first->first) - (stan - first->second)) <=
                           tolerance * std::max({1.0, std::abs(lp), std::abs(stan)}));
                double scale = 0;
                for (const double g : theirs) scale = std::max(scale, std::abs(g));
                for (std::size_t k = 0; k < u.size(); ++k)
                    BOOST_TEST(std::abs(-ours[k] - theirs[k]) <=
                               tolerance * std::max(std::abs(theirs[k]), 1e-3 * scale));
            }
            ++models;
        }
    }
    BOOST_TEST(models == 10);
}

BOOST_AUTO_TEST_SUITE_END()
