#include "../../support.hpp"
#include "../run/run_files.hpp"
#include "stan_csv_text.hpp"

#include <pollen/data/formats/npz.hpp>
#include <pollen/samplers/draws/npz_draws.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>

#include <array>
#include <bit>
#include <limits>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(stan_csv)

namespace {

constexpr double inf = std::numeric_limits<double>::infinity(), nan = std::numeric_limits<double>::quiet_NaN();

const std::vector<Quantity> quantities{{"mu", {}, 0}, {"0.weight", {2, 3}, 1}, {"v", {2}, 7}};

// Two chains of three draws with all kinds of numbers.
Draws some_draws(bool weights) {
    const std::array<double, 9> odd{0.1, -0.0, inf, -inf, 5e-324, 1e308, 1.0 / 3, nan, -2};
    Draws draws{.quantities = quantities, .values = normals({2, 3, 9}), .chains = {}, .files = {}};
    draws.facts = {.hamiltonian = true, .weighted = weights, .max_tree_depth = 10, .metric = MetricKind::diagonal};
    std::copy(odd.begin(), odd.end(), draws.values.mutable_data() + 9);
    for (int c = 0; c < 2; ++c) {
        ChainRecord& r = draws.chains.emplace_back();
        r.chain = c + 1;
        for (int t = 0; t < 3; ++t)
            r.add({.energy = 1.25 * t,
                   .hamiltonian = t == 1 ? nan : 2.5 + c,
                   .acceptance = 0.9,
                   .step_size = 0.125,
                   .gradients = 7 + t,
                   .tree_depth = 3,
                   .divergent = t == 2},
                  weights ? 1.0 / (1 + t) : 1);
        r.step_size_after_warmup = 0.125;
        r.inverse_metric = {1, 0.5, 1.0 / 3};
        r.warmup_seconds = 0.01;
        r.sampling_seconds = 0.02;
    }
    return draws;
}

std::vector<std::uint64_t> bits_of(const Tensor<double>& x) {
    std::vector<std::uint64_t> bits;
    for (const double value : x.values()) bits.push_back(std::bit_cast<std::uint64_t>(value));
    return bits;
}

}  // namespace

// A file of an earlier run would be read as one more chain.
BOOST_AUTO_TEST_CASE(files_of_other_chains_are_in_the_way) {
    const TemporaryDirectory folder;
    const Draws two = some_draws(false);
    Draws one = two;
    one.chains.pop_back();
    one.values = Tensor<double>(Shape{1, 3, 9}, two.values.values().first(27));
    write_stan_csv(folder.path(), two);
    write_stan_csv(folder.path(), two);
    const std::string before = contents(folder / "chain_1.csv");
    BOOST_TEST(error_of<FileError>([&] { write_stan_csv(folder.path(), one); }) ==
               folder /
                   "chain_2.csv: is there already, and is not one of these chains; remove it, or choose "
                   "another directory");
    BOOST_TEST(contents(folder / "chain_1.csv") == before);
    std::filesystem::remove(folder / "chain_2.csv");
    write_stan_csv(folder.path(), one);
    BOOST_TEST(read_stan_csv(folder.path()).chains.size() == 1u);
}

BOOST_AUTO_TEST_CASE(the_layout_is_that_of_cmdstan) {
    const ChainFacts nuts{.hamiltonian = true,
                          .max_tree_depth = 8,
                          .target_acceptance = 0.9,
                          .metric = MetricKind::diagonal,
                          .step_size = 1};
    std::string text = stan_csv_header({.model = "m",
                                        .sampler = "Walk\n(2)",
                                        .chain = 3,
                                        .warmup = 100,
                                        .draws = 20,
                                        .thin = 5,
                                        .save_warmup = true,
                                        .seed = 42,
                                        .file = "chain_3.csv",
                                        .facts = nuts},
                                       quantities);
    text += stan_csv_adaptation(0.5, std::array<double, 3>{1, 2, 0.1}, 3);
    StanCsvRows(quantities)
        .append(text, nuts,
                {.energy = 6.5,
                 .hamiltonian = 7.25,
                 .acceptance = 0.98,
                 .step_size = 0.5,
                 .gradients = 7,
                 .tree_depth = 3,
                 .divergent = true},
                1, std::array<double, 9>{1, 2, 3, 4, 5, 6, 7, 8, 0.1});
    text += stan_csv_footer(0.00001, 12.5);
    BOOST_TEST(text == R"(# stan_version_major = 2
# stan_version_minor = 31
# stan_version_patch = 0
# model = m
# method = sample (Default)
#   sample
#     num_samples = 100
#     num_warmup = 100
#     save_warmup = 1
#     thin = 5
#     adapt
#       engaged = 1
#       gamma = 0.05
#       delta = 0.9
#       kappa = 0.75
#       t0 = 10
#     algorithm = hmc (Default)
#       hmc
#         engine = nuts (Default)
#           nuts
#             max_depth = 8
#         metric = diag_e (Default)
#         stepsize = 1
# id = 3
# init = 2
# random
#   seed = 42
# output
#   file = chain_3.csv
# sampler = Walk (2)
lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,mu,0_weight.1.1,0_weight.2.1,0_weight.1.2,0_weight.2.2,0_weight.1.3,0_weight.2.3,v.1,v.2
# Adaptation terminated
# Step size = 0.5
# Diagonal elements of inverse mass matrix:
# 1, 2, 0.10000000000000001
-6.5,0.97999999999999998,0.5,3,7,1,7.25,1,2,5,3,6,4,7,8,0.10000000000000001
# 
#  Elapsed Time: 0.000010 seconds (Warm-up)
#                12.500000 seconds (Sampling)
#                12.500010 seconds (Total)
# 
)");
    BOOST_TEST(stan_csv_adaptation(0.5, std::array<double, 4>{1, 2, 3, 4}, 2) ==
               "# Adaptation terminated\n# Step size = 0.5\n# Elements of inverse mass matrix:\n# 1, 2\n# 3, 4\n");
    BOOST_TEST(stan_csv_adaptation(0.5, {}, 2) ==
               "# Adaptation terminated\n# Step size = 0.5\n# No free parameters for unit metric\n");
}

// Who has no tree, no momenta and no acceptance says nothing of them.
BOOST_AUTO_TEST_CASE(a_sampler_has_the_columns_it_has) {
    const auto file = [](const ChainFacts& facts) {
        std::string text = stan_csv_header({.draws = 20, .thin = 5, .facts = facts}, {{"mu", {}, 0}});
        StanCsvRows({{"mu", {}, 0}})
            .append(text, facts,
                    {.energy = 1,
                     .hamiltonian = 2,
                     .acceptance = 0.5,
                     .step_size = 0.25,
                     .gradients = 3,
                     .tree_depth = 4,
                     .divergent = true},
                    0.125, std::array<double, 1>{6});
        return text;
    };
    const auto has = [](const std::string& text, const std::string& part) { return text.find(part) != text.npos; };
    const std::string sgld = file({.acceptance = false, .weighted = true});
    BOOST_TEST(sgld.ends_with("\nlp__,stepsize__,n_leapfrog__,weight__,mu\n-1,0.25,3,0.125,6\n"));
    BOOST_TEST(has(sgld, "#     thin = 5\n#     algorithm = fixed_param\n#       fixed_param\n# id = 1\n"));
    const std::string mala = file({.target_acceptance = 0.6, .metric = MetricKind::dense});
    BOOST_TEST(mala.ends_with("\nlp__,accept_stat__,stepsize__,n_leapfrog__,mu\n-1,0.5,0.25,3,6\n"));
    const std::string hmc =
        file({.hamiltonian = true, .target_acceptance = 0.6, .metric = MetricKind::unit, .step_size = 0.5});
    BOOST_TEST(
        hmc.ends_with("\nlp__,accept_stat__,stepsize__,n_leapfrog__,divergent__,energy__,mu\n-1,0.5,0.25,3,1,2,6\n"));
    BOOST_TEST(has(hmc, "#       delta = 0.6\n"));
    BOOST_TEST(has(hmc, "#         engine = static\n#         metric = unit_e\n#         stepsize = 0.5\n"));
    for (const std::string& text : {sgld, mala, hmc}) {
        StanCsvReader reader(bytes_of(text), "c.csv");
        BOOST_TEST(reader.header().draws == 20);
        BOOST_TEST(reader.header().thin == 5);
        BOOST_TEST(reader.header().facts.max_tree_depth == 0);
        BOOST_TEST(reader.header().facts.acceptance == (text != sgld));
        BOOST_TEST(reader.header().facts.hamiltonian == (text == hmc));
        BOOST_TEST(reader.header().facts.weighted == (text == sgld));
        StanCsvReader::Row row;
        BOOST_TEST(reader.next(row));
        BOOST_TEST(row.weight == (text == sgld ? 0.125 : 1));
        BOOST_TEST(row.statistics.gradients == 3);
        BOOST_TEST(row.values[0] == 6);
    }
}

BOOST_AUTO_TEST_CASE(what_is_written_is_read) {
    for (const bool weights : {false, true}) {
        const TemporaryDirectory folder;
        const Draws draws = some_draws(weights);
        const std::vector<std::string> files = write_stan_csv(folder.path(), draws);
        const Draws read = read_stan_csv(files);
        BOOST_TEST((bits_of(read.values) == bits_of(draws.values)));
        BOOST_TEST(read.values.shape() == draws.values.shape());
        BOOST_TEST(read["0_weight"](1, 2, 1, 0) == draws["0.weight"](1, 2, 1, 0));
        BOOST_TEST(read["0.weight"] == draws["0.weight"]);
        BOOST_TEST(read["0.weight[2,1]"] == draws["0.weight[2,1]"]);
        BOOST_TEST(read.at("0.weight", {1, 2}) == draws.at("0.weight", {1, 2}));
        BOOST_TEST(read.statistic(&ChainRecord::energy) == draws.statistic(&ChainRecord::energy));
        BOOST_TEST(read.statistic(&ChainRecord::weight) == draws.statistic(&ChainRecord::weight));
        BOOST_TEST(read.statistic(&ChainRecord::gradients) == draws.statistic(&ChainRecord::gradients));
        BOOST_TEST(read.statistic(&ChainRecord::divergent) == draws.statistic(&ChainRecord::divergent));
        BOOST_TEST(std::isnan(read.chains[0].hamiltonian[1]));
        BOOST_TEST(read.chains[1].chain == 2);
        BOOST_TEST(read.chains[1].inverse_metric == draws.chains[1].inverse_metric);
        BOOST_TEST(read.chains[1].step_size_after_warmup == 0.125);
        BOOST_TEST(read.chains[1].warmup_seconds == 0.01);
        BOOST_TEST(read.chains[1].sampling_seconds == 0.02);
        BOOST_TEST(read.chains[1].divergences == 1);
    }
}

// A directory is made where there is none, and read as a whole.
BOOST_AUTO_TEST_CASE(directories) {
    const TemporaryDirectory folder;
    const Draws draws = some_draws(false);
    write_stan_csv(folder / "new/run", draws);
    const Draws read = read_stan_csv(folder / "new/run");
    BOOST_TEST((bits_of(read.values) == bits_of(draws.values)));
    BOOST_TEST(read.files.size() == draws.chains.size());
    BOOST_TEST(read_stan_csv(folder / "new/run/chain_2.csv").chains[0].chain == 2);
    BOOST_TEST(error_of<FileError>([&] { read_stan_csv(folder / "new"); }) ==
               folder / "new: there is no chain_1.csv in it");
}

// A file of CmdStan 2.31 with a line of every kind, shortened.
BOOST_AUTO_TEST_CASE(files_of_cmdstan_are_read) {
    const std::string text = R"(# stan_version_major = 2
# model = bernoulli_model
# start_datetime = 2023-01-01 00:00:00 UTC
# method = sample (Default)
#   sample (Default)
#     num_samples = 4
#     num_warmup = 3 (Default)
#     save_warmup = 1
#     thin = 2
# id = 0 (Default)
lp__,accept_stat__,stepsize__,treedepth__,n_leapfrog__,divergent__,energy__,theta,z.1.1,z.2.1
-7.2,0.98,1,1,1,0,7.3,0.1,1,2
-7.1,0.97,1,1,3,0,7.2,0.2,3,4
# Adaptation terminated
# Step size = 0.9
# Diagonal elements of inverse mass matrix:
# 0.45, 1, 2
-6.8,1,0.9,1,1,0,6.9,0.25,5,6
-6.9,0.9,0.9,2,3,0,7,0.30,7,8
# 
#  Elapsed Time: 0.004 seconds (Warm-up)
#                0.011 seconds (Sampling)
#                0.015 seconds (Total)
# 
)";
    StanCsvReader reader(bytes_of(text), "c.csv");
    BOOST_TEST(reader.quantities().size() == 2);
    BOOST_TEST(reader.quantities()[1].shape == (Shape{2, 1}));
    StanCsvReader::Row row;
    std::vector<double> theta;
    std::vector<bool> warmup;
    while (reader.next(row)) {
        theta.push_back(row.values[0]);
        warmup.push_back(row.warmup);
    }
    BOOST_TEST((theta == std::vector<double>{0.1, 0.2, 0.25, 0.3}));
    BOOST_TEST((warmup == std::vector<bool>{true, true, false, false}));
    BOOST_TEST((reader.inverse_metric() == std::vector<double>{0.45, 1, 2}));
    BOOST_TEST(reader.sampling_seconds() == 0.011);
    BOOST_TEST(!reader.cut_short());
}

BOOST_AUTO_TEST_CASE(names_that_cannot_be_columns) {
    const auto error = [](std::vector<Quantity> q) { return error_of<ValueError>([&] { stan_csv_header({}, q); }); };
    for (const char* name : {"", "a b", "a,b", "x__", "#x", "a\"", "a\nb"})
        BOOST_TEST(error({{name, {}, 0}})
                       .starts_with("stan_csv: the quantity \"" + std::string(Error(name).what()) +
                                    "\" cannot be a column: "));
    BOOST_TEST(error({{"a.b", {}, 0}, {"a_b", {}, 1}}) == "stan_csv: two quantities would have the columns a_b");
}

// Whatever is changed in a file, it is read or refused with a FileError.
BOOST_AUTO_TEST_CASE(damage_is_survived) {
    const TemporaryDirectory folder;
    const std::string text = contents(write_stan_csv(folder.path(), some_draws(true))[0]);
    Random random(3);
    const auto below = [&](std::size_t n) {
        return static_cast<std::size_t>(random.uniform<double>() * static_cast<double>(n));
    };
    const std::string alphabet = "0123456789.,-+e#=_\n\r \t\"nifx";
    int refused = 0;
    for (int k = 0; k < 3000; ++k) {
        std::string damaged = text;
        for (std::size_t times = 1 + below(4); times > 0; --times) {
            const std::size_t at = below(damaged.size());
            if (below(3) == 0)
                damaged.erase(at, 1 + below(20));
            else
                damaged[at] = below(8) == 0 ? static_cast<char>(below(256)) : alphabet[below(alphabet.size())];
        }
        refused += !error_in(damaged).empty();
    }
    BOOST_TEST(refused > 500);
}

BOOST_AUTO_TEST_CASE(npz_has_an_array_a_quantity) {
    const TemporaryDirectory folder;
    const Draws draws = some_draws(true);
    write_npz_draws(folder / "d.npz", draws);
    const Npz npz = Npz::read(folder / "d.npz");
    BOOST_TEST(npz.get<double>("0.weight").shape() == (Shape{2, 3, 2, 3}));
    BOOST_TEST(npz.get<double>("0.weight")(1, 2, 1, 0) == draws.values(1, 2, 4));
    BOOST_TEST(npz.get<double>("mu") == draws["mu"]);
    BOOST_TEST(npz.get<double>("weight__") == draws.statistic(&ChainRecord::weight));
    BOOST_TEST(npz.get<double>("lp__")(0, 2) == -2.5);
    BOOST_TEST(npz.get<std::int32_t>("divergent__")(1, 2) == 1);
    BOOST_TEST(npz.get<std::int32_t>("n_leapfrog__")(1, 2) == draws.chains[1].gradients[2]);
    BOOST_TEST(npz.names().size() == 12);
}

BOOST_AUTO_TEST_SUITE_END()
