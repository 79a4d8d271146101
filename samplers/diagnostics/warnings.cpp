#include <pollen/autograd/support/error.hpp>
#include <pollen/samplers/diagnostics/detail/text_table.hpp>
#include <pollen/samplers/diagnostics/detail/warnings.hpp>

#include <algorithm>
#include <cmath>

namespace pollen::detail {

namespace {

std::string fixed(double x, int decimals) { return to_text(x, std::chars_format::fixed, decimals); }
std::string general(double x, int digits) { return to_text(x, std::chars_format::general, digits); }

// "0.25 %", "12 %", "100 %"
std::string percent(double share) {
    return share < 0.1 ? general(100 * share, 2) + " %" : fixed(100 * share, 0) + " %";
}

std::string count(std::int64_t n, const char* one, const char* many) {
    return std::to_string(n) + " " + (n == 1 ? one : many);
}

// "mu (1.23), tau (1.05) and 3 more", the worst first.
struct Mention {
    double how_bad;
    std::string text;
};
std::string list(std::vector<Mention> mentions) {
    constexpr std::size_t most = 5;
    std::stable_sort(mentions.begin(), mentions.end(),
                     [](const Mention& a, const Mention& b) { return a.how_bad > b.how_bad; });
    std::string text;
    const std::size_t shown = std::min(mentions.size(), most);
    for (std::size_t k = 0; k < shown; ++k) text += (k ? ", " : "") + mentions[k].text;
    if (mentions.size() > most) text += " and " + std::to_string(mentions.size() - most) + " more";
    return text;
}

// Collects what f(name, quantity) mentions.
template <class F>
std::vector<Mention> mentions_of(const SummaryInput& in, F f) {
    std::vector<Mention> mentions;
    for (std::size_t k = 0; k < in.quantities.size(); ++k) f(mentions, in.names[k], in.quantities[k]);
    return mentions;
}

void warn_of_values(const SummaryInput& in, std::vector<std::string>& warnings) {
    const std::string total = std::to_string(in.chains * in.draws);
    const auto broken = mentions_of(in, [&](auto& out, const std::string& name, const QuantitySummary& s) {
        if (s.not_finite > 0)
            out.push_back({static_cast<double>(s.not_finite), name + " (" + std::to_string(s.not_finite) + ")"});
    });
    if (!broken.empty())
        warnings.push_back("NaN or infinite in some of " + total + " draws: " + list(broken) +
                           ". Nothing computed from these draws can be trusted.");
    const auto constant = mentions_of(in, [](auto& out, const std::string& name, const QuantitySummary& s) {
        if (s.constant) out.push_back({0, name});
    });
    if (!constant.empty() && in.chains * in.draws > 1)
        warnings.push_back("The same in every draw: " + list(constant) +
                           ". Unless that is meant, the chains did not move.");
}

void warn_of_convergence(const SummaryInput& in, std::vector<std::string>& warnings) {
    if (in.draws < 6)
        warnings.push_back(count(in.draws, "draw", "draws") +
                           " a chain: too few for the diagnostics. R-hat needs 4 and ESS 6; hundreds are usual.");
    if (in.chains == 1)
        warnings.emplace_back("One chain: R-hat can only compare its two halves. Run at least 4 chains.");
    const auto unmixed = mentions_of(in, [](auto& out, const std::string& name, const QuantitySummary& s) {
        if (s.rhat > 1.01)
            out.push_back({s.rhat, name + " (" + (s.rhat < 1000 ? fixed(s.rhat, 3) : general(s.rhat, 3)) + ")"});
    });
    if (!unmixed.empty())
        warnings.push_back(
            "R-hat above 1.01 for " + std::to_string(unmixed.size()) + " of " +
            count(std::ssize(in.quantities), "quantity", "quantities") + ": " + list(unmixed) +
            ". The chains do not agree yet; run them longer, or reparameterise the model." +
            (in.options.network ? " Weights of a network are not identified: look at function_space." : ""));
    const double needed = 100 * static_cast<double>(in.chains);
    const auto few = mentions_of(in, [&](auto& out, const std::string& name, const QuantitySummary& s) {
        const double least = std::isnan(s.ess_tail) ? s.ess_bulk : std::min(s.ess_bulk, s.ess_tail);
        if (least < needed) out.push_back({-least, name + " (" + fixed(least, 0) + ")"});
    });
    if (!few.empty())
        warnings.push_back("ESS below 100 a chain (" + fixed(needed, 0) + " in all) for " + std::to_string(few.size()) +
                           " of " + count(std::ssize(in.quantities), "quantity", "quantities") + ": " + list(few) +
                           ". Means and quantiles are rough, and so are the diagnostics; draw more.");
    if (in.draws < 6) return;
    const auto unknown = mentions_of(in, [](auto& out, const std::string& name, const QuantitySummary& s) {
        if (s.constant || s.not_finite > 0) return;
        if (std::isnan(s.rhat) || std::isnan(s.ess_bulk) || std::isnan(s.ess_tail)) out.push_back({0, name});
    });
    if (!unknown.empty())
        warnings.push_back("R-hat or ESS cannot be computed for " + list(unknown) +
                           ": the draws take too few different values.");
}

void warn_of_trajectories(const SummaryInput& in, std::vector<std::string>& warnings) {
    Trajectories all;
    bool steps = false;
    std::vector<Mention> cold;
    for (std::size_t c = 0; c < in.options.statistics.size(); ++c) {
        const ChainStatistics& s = in.options.statistics[c];
        const Trajectories t = trajectories_of(s, in.options.max_tree_depth);
        all.asked += t.asked, all.divergent += t.divergent;
        all.trees += t.trees, all.deep += t.deep;
        steps = steps || s.steps > 0;
        const double fraction = ebfmi_of(s);
        if (fraction < 0.3)
            cold.push_back({-fraction, "chain " + std::to_string(c + 1) + " (" + fixed(fraction, 2) + ")"});
    }
    const auto share = [&](std::int64_t part, std::int64_t whole) {
        return std::to_string(part) + " of " + std::to_string(whole) + (steps ? " steps (" : " draws (") +
               percent(static_cast<double>(part) / static_cast<double>(whole)) + ")";
    };
    if (all.divergent > 0)
        warnings.push_back("Divergences: " + share(all.divergent, all.asked) +
                           ". The sampler cannot follow the posterior there and the draws are biased away from it; "
                           "raise the target acceptance towards 1 (smaller steps), or reparameterise the model.");
    if (all.deep > 0)
        warnings.push_back(
            "Tree depth: " + share(all.deep, all.trees) + " reached the limit of " +
            std::to_string(in.options.max_tree_depth) +
            ". Trajectories are cut short there, which is no error but makes the draws less independent; "
            "raise the limit, or rescale the parameters.");
    if (!cold.empty())
        warnings.push_back("E-BFMI below 0.3 in " + list(cold) +
                           ". The energy changes too slowly to reach the tails; reparameterise the model.");
}

}  // namespace

double ebfmi_of(const ChainStatistics& s) {
    if (!std::isnan(s.ebfmi)) return s.ebfmi;
    return s.energy.size() > 1 ? ebfmi(s.energy) : std::numeric_limits<double>::quiet_NaN();
}

Trajectories trajectories_of(const ChainStatistics& s, int max_tree_depth) {
    Trajectories t{.asked = std::ssize(s.divergent), .trees = std::ssize(s.tree_depth)};
    if (s.steps > 0) {
        if (t.asked > 0) t.asked = s.steps, t.divergent = s.divergences;
        if (t.trees > 0) t.trees = s.steps, t.deep = s.deep;
        return t;
    }
    t.divergent = std::count_if(s.divergent.begin(), s.divergent.end(), [](std::uint8_t d) { return d != 0; });
    t.deep = std::count_if(s.tree_depth.begin(), s.tree_depth.end(),
                           [&](std::int32_t depth) { return depth >= max_tree_depth; });
    return t;
}

void check_summary(const char* function, std::span<const std::string> names, const Shape& draws,
                   const SummaryOptions& options) {
    const std::string who = std::string(function) + ": ";
    if (draws.rank() != 3)
        throw ShapeError(who + "draws are " + to_string(draws) + "; (chains, draws, quantities) is expected");
    if (draws[0] * draws[1] == 0)
        throw ShapeError(who + "draws are " + to_string(draws) + "; at least one chain of one draw is needed");
    if (std::ssize(names) != draws[2])
        throw ShapeError(who + count(std::ssize(names), "name", "names") + " for draws " + to_string(draws) +
                         ", which hold " + count(draws[2], "quantity", "quantities"));
    if (options.statistics.empty()) return;
    if (std::ssize(options.statistics) != draws[0])
        throw ShapeError(who + "statistics of " + count(std::ssize(options.statistics), "chain", "chains") +
                         " for draws " + to_string(draws));
    for (std::size_t c = 0; c < options.statistics.size(); ++c) {
        const ChainStatistics& s = options.statistics[c];
        const auto check = [&](const char* what, std::int64_t size) {
            if (size != 0 && size != draws[1])
                throw ShapeError(who + what + " of chain " + std::to_string(c + 1) + " has " +
                                 count(size, "number", "numbers") + " for " + count(draws[1], "draw", "draws"));
        };
        check("energy", std::ssize(s.energy));
        check("divergent", std::ssize(s.divergent));
        check("tree_depth", std::ssize(s.tree_depth));
        check("acceptance", std::ssize(s.acceptance));
    }
}

std::vector<std::string> make_warnings(const SummaryInput& input) {
    std::vector<std::string> warnings;
    warn_of_values(input, warnings);
    warn_of_convergence(input, warnings);
    warn_of_trajectories(input, warnings);
    return warnings;
}

}  // namespace pollen::detail
