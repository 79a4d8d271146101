#include "method_colour.hpp"

#include <cctype>
#include <cstddef>
#include <string_view>

namespace {

struct NamedColour {
    std::string_view name, colour;
};

// Hues are those of Okabe and Ito, which differ for those who do not see some colours, too. Methods of one family have
// shades of one hue.
constexpr NamedColour named_colours[] = {
    // what is known: black; what is given: grey, and orange for what is strange
    {"exact", "#000000"},
    {"posterior", "#000000"},
    {"law", "#000000"},
    {"truth", "#000000"},
    {"published", "#000000"},
    {"data", "#666666"},
    {"measured", "#666666"},
    {"digits", "#666666"},
    {"clothes", "#E69F00"},
    {"letters", "#E69F00"},
    {"divergent", "#E69F00"},
    // one set of weights: vermilion
    {"SGD", "#D55E00"},
    {"MAP", "#D55E00"},
    {"best weights", "#D55E00"},
    {"best fit", "#D55E00"},
    {"point estimate", "#D55E00"},
    {"one network", "#D55E00"},
    {"greedy", "#D55E00"},
    {"gradient descent", "#7F3300"},
    {"momentum", "#7F3300"},
    {"least squares", "#7F3300"},
    {"1 % chance", "#7F3300"},
    {"5 % chance", "#F2A65A"},
    // several sets of weights: orange
    {"ensemble", "#E69F00"},
    {"MC dropout", "#8F6300"},
    // fitted laws: green
    {"Bayes by Backprop", "#009E73"},
    {"BBB", "#009E73"},
    {"Thompson", "#009E73"},
    {"mean field", "#009E73"},
    {"rank 10", "#88B04B"},
    {"SWAG", "#5CC4A5"},
    {"multi-SWAG", "#2E8B74"},
    {"Laplace", "#005940"},
    {"Gaussian path", "#005940"},
    // Langevin dynamics: blue
    {"SGLD", "#0072B2"},
    {"cyclical SGLD", "#00395A"},
    {"pSGLD", "#56B4E9"},
    {"hybrid", "#6C7FD8"},
    // Hamiltonian dynamics: pink, purple and violet
    {"SGHMC", "#CC79A7"},
    {"HMC", "#7B2D73"},
    {"NUTS", "#5B2EA6"},
    // random walks: olive, and crimson between temperatures
    {"Metropolis", "#A08C00"},
    {"random walk", "#A08C00"},
    {"tempering", "#C2185B"},
};

bool begins_with(std::string_view label, std::string_view name) {
    return label.starts_with(name) &&
           (label.size() == name.size() || std::isalnum(static_cast<unsigned char>(label[name.size()])) == 0);
}

}  // namespace

std::string method_colour(const std::string& label) {
    NamedColour found{};
    for (const NamedColour& m : named_colours)
        if (begins_with(label, m.name) && m.name.size() > found.name.size()) found = m;
    return std::string(found.colour);
}
