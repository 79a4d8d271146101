#include <pollen/samplers/diagnostics/detail/draws_math.hpp>
#include <pollen/samplers/diagnostics/detail/text_table.hpp>
#include <pollen/samplers/diagnostics/detail/warnings.hpp>

#include <algorithm>
#include <cmath>

namespace pollen {

namespace {

using detail::number_text;
using detail::SummaryInput;

std::string fixed(double x, int decimals) { return detail::to_text(x, std::chars_format::fixed, decimals); }
std::string ess_text(double x) { return std::isnan(x) ? "nan" : fixed(x, 0); }
std::string rhat_text(double x) { return std::isnan(x) ? "nan" : x < 1000 ? fixed(x, 3) : number_text(x); }

std::string table(const SummaryInput& in) {
    std::vector<std::vector<std::string>> rows{
        {"", "mean", "sd", "mcse", "5%", "50%", "95%", "ess_bulk", "ess_tail", "r_hat"}};
    for (std::size_t k = 0; k < in.quantities.size(); ++k) {
        const QuantitySummary& s = in.quantities[k];
        rows.push_back({in.names[k], number_text(s.mean), number_text(s.sd), number_text(s.mcse), number_text(s.q5),
                        number_text(s.q50), number_text(s.q95), ess_text(s.ess_bulk), ess_text(s.ess_tail),
                        rhat_text(s.rhat)});
    }
    return detail::text_table(rows);
}

// "4 chains of 1000 draws; acceptance 0.86 (0.84 to 0.88); 0 divergences; E-BFMI 0.91 or more"
std::string about_the_run(const SummaryInput& in) {
    std::string text =
        std::to_string(in.chains) + (in.chains == 1 ? " chain of " : " chains of ") + std::to_string(in.draws);
    if (in.options.asked > 0)
        text += " of " + std::to_string(in.options.asked) + " draws, interrupted";
    else
        text += in.draws == 1 ? " draw" : " draws";
    std::vector<double> acceptances, fractions;
    std::int64_t divergent = 0, asked = 0;
    for (const ChainStatistics& s : in.options.statistics) {
        if (!s.acceptance.empty()) acceptances.push_back(detail::mean(s.acceptance));
        const double fraction = detail::ebfmi_of(s);
        if (!std::isnan(fraction)) fractions.push_back(fraction);
        const detail::Trajectories t = detail::trajectories_of(s, in.options.max_tree_depth);
        asked += t.asked;
        divergent += t.divergent;
    }
    if (!acceptances.empty()) {
        const auto [least, most] = std::minmax_element(acceptances.begin(), acceptances.end());
        text += "; acceptance " + fixed(detail::mean(acceptances), 2);
        if (acceptances.size() > 1) text += " (" + fixed(*least, 2) + " to " + fixed(*most, 2) + ")";
    }
    if (asked > 0) text += "; " + std::to_string(divergent) + (divergent == 1 ? " divergence" : " divergences");
    if (!fractions.empty())
        text += "; E-BFMI at least " + fixed(*std::min_element(fractions.begin(), fractions.end()), 2);
    return text + '\n';
}

}  // namespace

template <Real T>
std::vector<std::string> warnings(std::span<const std::string> names, const Tensor<T>& draws,
                                  const SummaryOptions& options) {
    detail::check_summary("warnings", names, draws.shape(), options);
    const std::vector<QuantitySummary> quantities = summarise(draws, options.weights);
    return detail::make_warnings({names, draws.shape()[0], draws.shape()[1], quantities, options});
}

template <Real T>
std::string summary(std::span<const std::string> names, const Tensor<T>& draws, const SummaryOptions& options) {
    detail::check_summary("summary", names, draws.shape(), options);
    const std::vector<QuantitySummary> quantities = summarise(draws, options.weights);
    const SummaryInput input{names, draws.shape()[0], draws.shape()[1], quantities, options};
    std::string text = table(input) + '\n' + about_the_run(input);
    for (const std::string& remark : options.remarks) text += remark + '\n';
    for (const std::string& warning : detail::make_warnings(input)) text += "Warning: " + warning + '\n';
    return text;
}

#define POLLEN_INSTANTIATE(T)                                                                                          \
    template std::vector<std::string> warnings(std::span<const std::string>, const Tensor<T>&, const SummaryOptions&); \
    template std::string summary(std::span<const std::string>, const Tensor<T>&, const SummaryOptions&);
POLLEN_INSTANTIATE(float)
POLLEN_INSTANTIATE(double)

}  // namespace pollen
