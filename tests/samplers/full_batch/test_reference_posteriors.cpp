#include <pollen/samplers/full_batch/hmc.hpp>
#include <pollen/samplers/full_batch/mala.hpp>
#include <pollen/samplers/full_batch/metropolis.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>

#include "pooled_z.hpp"
#include "reference_models.hpp"

#include <cstdio>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(reference_posteriors, *boost::unit_test::label("slow"))

constexpr int seeds = 8;

// The moments that the reference knows. Second moments without a standard error of their own have that of as many
// independent draws as the mean has.
std::vector<KnownMoments> moments_of(const Reference& reference) {
    std::vector<KnownMoments> known;
    const bool exact = !reference.exact.is_null();
    for (const auto& [name, p] : (exact ? reference.exact : reference.summary).at("parameters").items()) {
        const double mean = p.at("mean"), sd = p.at("sd");
        const double square = p.contains("mean_sq") ? double(p.at("mean_sq")) : mean * mean + sd * sd;
        known.push_back({name, mean, square, exact ? 0 : double(p.at("mcse_mean")) / sd});
    }
    return known;
}

template <class S>
struct Case {
    const char* name;
    S sampler;
    std::int64_t draws;  // of each of 4 chains
    double least_ess = 10000;
    std::int64_t thin = 1;
    std::int64_t warmup = 1000;
};

// The mixture has a second, negligible mode where both parts cover all of the data, and a chain that begins close to it
// stays there. Chains begin with mu = (-2, 2), sigma = (1, 1) and theta = 1/2; those of other models anywhere.
std::vector<std::vector<double>> starts_of(const std::string& name) {
    if (name.starts_with("low_dim_gauss_mix")) return {{-2, std::log(4), 0, 0, 0}};
    return {};
}

template <class S>
pollen::Draws sample(const Case<S>& c, const Potential<double>& model, int seed) {
    return run_chains(model, c.sampler,
                      {.warmup = c.warmup,
                       .draws = c.draws,
                       .thin = c.thin,
                       .seed = test_seed() + static_cast<std::uint64_t>(seed),
                       .starts = starts_of(c.name),
                       .show = Show::nothing});
}

// Each of eight seeds converges by itself. All of them together have an ESS beyond 10,000 and pass with |z| < 4. And
// the z-scores of the seeds one by one look standard normal: there are some 1500 of them for a sampler, so that one
// beyond 4 is nothing strange, and the greatest is compared with what is to be expected of so many.
//
// With other seeds, a sampler that is right fails in one of 80 runs by |z| < 4 (some 200 numbers), and in one of 70 by
// the other three (1/2000 each for nine posteriors).
template <class S>
void check(const std::vector<Case<S>>& cases) {
    const std::filesystem::path folder = reference_folder();
    if (folder.empty()) return;
    for (const Case<S>& c : cases) {
        const Reference reference(folder / c.name);
        const ModelPotential<double> model = reference_model(c.name, reference);
        const std::vector<KnownMoments> known = moments_of(reference);
        std::vector<pollen::Draws> runs;
        std::vector<Verdict> verdicts;
        Verdict worst;
        for (int seed = 0; seed < seeds; ++seed) {
            runs.push_back(sample(c, model, seed));
            verdicts.push_back(judge(runs.back(), known));
            BOOST_TEST(verdicts.back().converged(c.least_ess), c.name << ", seed "
                                                                      << test_seed() + static_cast<std::uint64_t>(seed)
                                                                      << ": " << verdicts.back().text());
            worst.rhat = std::max(worst.rhat, verdicts.back().rhat);
            worst.ess = std::min(worst.ess, verdicts.back().ess);
        }
        const Verdict all = judge(runs, known);
        BOOST_TEST(all.passes(10000), c.name << ", all seeds together: " << all.text());
        const PooledScores pooled = pool(runs, known, verdicts);
        BOOST_TEST(pooled.p_distance > 5e-4, c.name << ": the distance of all z-scores from the standard normal is "
                                                    << pooled.distance << ", p = " << pooled.p_distance);
        BOOST_TEST(pooled.p_mean_square > 5e-4, c.name << ": the mean square of all z-scores is " << pooled.mean_square
                                                       << ", p = " << pooled.p_mean_square);
        BOOST_TEST(pooled.p_greatest > 5e-4,
                   c.name << ": the greatest of all z-scores is " << pooled.greatest << ", p = " << pooled.p_greatest);
        std::int64_t gradients = 0;
        for (const pollen::Draws& run : runs)
            for (const ChainRecord& chain : run.chains) gradients += chain.gradient_count;
        std::printf(
            "%-40s R-hat %.4f, ESS %6.0f, all: ESS %6.0f, |z| %.2f; mean z^2 %.2f (p %.3f), distance %.3f (p %.3f), "
            "greatest %.2f (p %.3f); %.3g gradients\n",
            c.name, worst.rhat, worst.ess, all.ess, all.greatest_z(), pooled.mean_square, pooled.p_mean_square,
            pooled.distance, pooled.p_distance, pooled.greatest, pooled.p_greatest, static_cast<double>(gradients));
        std::fflush(stdout);
    }
}

constexpr const char* schools = "eight_schools-eight_schools_noncentered";
constexpr const char* mixture = "low_dim_gauss_mix-low_dim_gauss_mix";
// Where parameters are strongly correlated but the posterior is close to normal. That of the Gaussian process is not,
// and chains with a dense metric stick; with steps for an acceptance of 0.8, NUTS now and then does so, too.
constexpr MetricKind dense = MetricKind::dense;

BOOST_AUTO_TEST_CASE(nuts) {
    check<Nuts>({{schools, {.target_acceptance = 0.95}, 8000},
                 {"sblri-blr", {}, 16000},
                 {"nes1980-nes", {.metric = dense}, 5000},
                 {"kidiq-kidscore_momhsiq", {.metric = dense}, 5000},
                 {"earnings-logearn_interaction", {.metric = dense}, 6000},
                 {"arK-arK", {.metric = dense}, 5000},
                 {"gp_pois_regr-gp_pois_regr", {.target_acceptance = 0.95}, 1500, 1000},
                 {mixture, {}, 5000},
                 {"german_credit", {}, 5000}});
}

BOOST_AUTO_TEST_CASE(hmc) {
    check<Hmc>({{schools, {}, 8000},
                {"sblri-blr", {}, 6000},
                {"nes1980-nes", {.metric = dense}, 5000},
                {"kidiq-kidscore_momhsiq", {.metric = dense}, 5000},
                {"earnings-logearn_interaction", {.metric = dense}, 5000},
                {"arK-arK", {.metric = dense}, 5000},
                {"gp_pois_regr-gp_pois_regr", {}, 1000, 1000},
                {mixture, {}, 5000},
                {"german_credit", {}, 5000}});
}

BOOST_AUTO_TEST_CASE(mala) {
    check<Mala>({{schools, {.target_acceptance = 0.8}, 10000, 10000, 20, 3000},
                 {"sblri-blr", {.metric = dense}, 10000, 10000, 8, 3000},
                 {"nes1980-nes", {.metric = dense}, 10000, 10000, 4, 3000},
                 {"kidiq-kidscore_momhsiq", {.metric = dense}, 10000, 10000, 4, 3000},
                 {"german_credit", {}, 10000, 10000, 13, 3000}});
}

BOOST_AUTO_TEST_CASE(metropolis) {
    check<Metropolis>({{schools, {.metric = dense}, 10000, 10000, 20, 10000},
                       {"kidiq-kidscore_momhsiq", {.metric = dense}, 10000, 10000, 6, 10000},
                       {"arK-arK", {.metric = dense}, 10000, 10000, 9, 10000}});
}

// The funnel: whatever the seed, the summary says in words that these draws are not to be trusted.
BOOST_AUTO_TEST_CASE(centred_eight_schools_are_reported) {
    const std::filesystem::path folder = reference_folder();
    if (folder.empty()) return;
    const std::string name = "eight_schools-eight_schools_centered";
    const Reference reference(folder / name);
    const ModelPotential<double> model = reference_model(name, reference);
    for (int seed = 0; seed < seeds; ++seed) {
        const pollen::Draws draws = sample(Case<Nuts>{name.c_str(), {}, 1000}, model, seed);
        const std::string text = summary(draws);
        const auto says = [&](const char* what) { return text.find(what) != std::string::npos; };
        BOOST_TEST(says("Warning: Divergences: "), text);
        BOOST_TEST(says("of 4000 steps"), text);
        BOOST_TEST(says("The sampler cannot follow the posterior there and the draws are biased away from it"), text);
        BOOST_TEST((says("Warning: R-hat above 1.01 for ") || says("Warning: ESS below 100 a chain (400 in all) for ")),
                   text);
        BOOST_TEST(says("tau ("), text);
        BOOST_TEST(!judge(draws, moments_of(reference)).passes(1000));
    }
}

// A potential with a fault.
class Spoilt final : public Potential<double> {
  public:
    using Fault = std::function<void(std::span<const double> x, Energy& energy, std::span<double> gradient)>;
    Spoilt(const Potential<double>& good, Fault fault) : good_(good.clone()), fault_(std::move(fault)) {}

    std::unique_ptr<Potential<double>> clone() const override { return std::make_unique<Spoilt>(*good_, fault_); }
    std::int64_t size() const override { return good_->size(); }
    std::int64_t items() const override { return 0; }
    Energy evaluate(std::span<const double> x, std::span<double> g) override {
        Energy energy = good_->evaluate(x, g);
        fault_(x, energy, g);
        return energy;
    }
    Energy evaluate(std::span<const double> x, std::span<double> g, std::span<const std::int64_t>) override {
        return evaluate(x, g);
    }
    const std::vector<Quantity>& quantities() const override { return good_->quantities(); }
    void values(std::span<const double> x, std::span<double> out) override { good_->values(x, out); }
    const std::vector<Quantity>& blocks() const override { return good_->blocks(); }
    std::string describe() const override { return "spoilt"; }

  private:
    std::unique_ptr<Potential<double>> good_;
    Fault fault_;
};

// Hamiltonian Monte Carlo as in a textbook, M = 1, and accepted with probability min(1, exp(-error(dU, dK))), which
// is right for error = dU + dK.
struct Textbook {
    double step_size;
    std::int64_t most_steps;
    double (*error)(double potential, double kinetic);

    std::unique_ptr<Chain<double>> begin(std::unique_ptr<Potential<double>> potential, ChainStart<double> start) const;
    std::string describe() const { return "textbook"; }
};

class TextbookChain final : public Chain<double> {
  public:
    TextbookChain(const Textbook& options, std::unique_ptr<Potential<double>> potential, ChainStart<double> start)
        : options_(options), potential_(std::move(potential)), start_(std::move(start)) {}
    StepStatistics step() override {
        Random random = random_of(start_.seed, start_.chain, step_++);
        std::vector<double> x = start_.position, p(x.size()), g(x.size());
        random.fill_normal(p);
        const auto kinetic = [&] { return std::inner_product(p.begin(), p.end(), p.begin(), 0.0) / 2; };
        const auto move = [](std::vector<double>& a, double by, const std::vector<double>& b) {
            for (std::size_t i = 0; i < a.size(); ++i) a[i] += by * b[i];
        };
        const double before = kinetic(), energy = potential_->evaluate(x, g).total();
        double now = energy;
        const auto n = 1 + random.below(static_cast<std::uint64_t>(options_.most_steps));
        for (std::int64_t k = 0; k < static_cast<std::int64_t>(n); ++k) {
            move(p, -options_.step_size / 2, g);
            move(x, options_.step_size, p);
            now = potential_->evaluate(x, g).total();
            move(p, -options_.step_size / 2, g);
        }
        const double error = options_.error(now - energy, kinetic() - before);
        if (std::isfinite(now) && random.uniform<double>() < std::exp(-error)) start_.position = x;
        StepStatistics s;
        s.energy = energy;
        return s;
    }
    std::span<const double> position() const override { return start_.position; }
    std::int64_t steps() const override { return step_; }
    void visit(StateVisitor&) override {}

  private:
    Textbook options_;
    std::unique_ptr<Potential<double>> potential_;
    ChainStart<double> start_;
    std::int64_t step_ = 0;
};

std::unique_ptr<Chain<double>> Textbook::begin(std::unique_ptr<Potential<double>> potential,
                                               ChainStart<double> start) const {
    return std::make_unique<TextbookChain>(*this, std::move(potential), std::move(start));
}

// What is wrong fails by the same rule, where what is right passes with the same numbers of draws.
BOOST_AUTO_TEST_CASE(broken_samplers_fail) {
    const std::filesystem::path folder = reference_folder();
    if (folder.empty()) return;
    const auto without_jacobian = [](std::size_t positive) {
        return [=](std::span<const double> x, Energy& energy, std::span<double> g) {
            energy.prior += x[positive];
            if (!g.empty()) g[positive] += 1;
        };
    };
    const auto flipped = [](std::span<const double>, Energy&, std::span<double> g) {
        for (double& d : g) d = -d;
    };
    const auto nothing = [](std::span<const double>, Energy&, std::span<double>) {};

    const auto verdict = [&]<class S>(const Case<S>& c, const Spoilt::Fault& fault) {
        const Reference reference(folder / c.name);
        const Verdict v = judge(sample(c, Spoilt(reference_model(c.name, reference), fault), 0), moments_of(reference));
        std::printf("%-40s %s\n", c.name, v.text().c_str());
        return v;
    };
    constexpr double least = 10000;

    const Case<Nuts> nuts{schools, {.max_depth = 6}, 8000}, regression{"sblri-blr", {.max_depth = 6}, 20000};
    BOOST_TEST(verdict(nuts, nothing).passes(least));
    BOOST_TEST(!verdict(nuts, without_jacobian(9)).passes(least));
    BOOST_TEST(!verdict(nuts, flipped).passes(least));
    BOOST_TEST(verdict(regression, nothing).passes(least));
    BOOST_TEST(!verdict(regression, without_jacobian(5)).passes(least));

    const Case<Mala> mala{schools, {}, 10000, least, 10, 3000};
    BOOST_TEST(verdict(mala, nothing).passes(least));
    BOOST_TEST(!verdict(mala, without_jacobian(9)).passes(least));
    BOOST_TEST(!verdict(mala, flipped).passes(least));

    const auto right = [](double potential, double kinetic) { return potential + kinetic; };
    const auto without_kinetic = [](double potential, double) { return potential; };
    const auto halved = [](double potential, double kinetic) { return (potential + kinetic) / 2; };
    const auto accept_all = [](double, double) { return 0.0; };
    const auto hmc = [&](double (*error)(double, double)) { return Case<Textbook>{schools, {0.5, 12, error}, 15000}; };
    BOOST_TEST(verdict(hmc(right), nothing).passes(least));
    BOOST_TEST(!verdict(hmc(without_kinetic), nothing).passes(least));
    BOOST_TEST(!verdict(hmc(halved), nothing).passes(least));
    BOOST_TEST(!verdict(hmc(accept_all), nothing).passes(least));
    BOOST_TEST(!verdict(hmc(right), flipped).passes(least));
}

BOOST_AUTO_TEST_SUITE_END()
