#include "../../support.hpp"
#include "run_files.hpp"
#include "short_run.hpp"
#include "walk_sampler.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/autograd/support/detail/errors_at.hpp>
#include <pollen/nn/potentials/function_potential.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#include <atomic>
#include <memory>
#include <new>
#include <stdexcept>

using namespace pollen;
using namespace pollen::test;

// What a run throws if one of its chains throws.
BOOST_AUTO_TEST_SUITE(run_errors)

// Whatever is thrown, an error of pollen's says in which chain.
BOOST_AUTO_TEST_CASE(anything_that_is_thrown_names_the_chain) {
    const auto error = [](auto thrown, std::int64_t at) {
        const auto evaluations = std::make_shared<std::atomic<std::int64_t>>(0);
        const FunctionPotential<double> potential({"x"}, [=](std::span<const double>, std::span<double> slope) {
            if (++*evaluations > at) throw thrown;
            if (!slope.empty()) slope[0] = 0;
            return 0.0;
        });
        RunOptions options = short_run(0, 100);
        options.chains = 1;
        return error_of<Error>([&] { run_chains(potential, Walk{}, options); });
    };
    for (const std::int64_t at : {0, 20}) {
        BOOST_TEST(error(3, at) == "run_chains: chain 1: something that is not a std::exception was thrown");
        BOOST_TEST(error(std::bad_alloc(), at) == "run_chains: chain 1: the system refused the memory");
        BOOST_TEST(error(std::out_of_range("no such place"), at) == "run_chains: chain 1: no such place");
    }
    BOOST_TEST(error_of<MemoryError>([] {
                   detail::with_errors_at("here", [] { std::vector<int>().reserve(~std::size_t{0}); });
               }) == "here: the system cannot have so much memory");
    BOOST_TEST(error_of<ValueError>([] { detail::with_errors_at("here", [] { throw ValueError("there"); }); }) ==
               "there");
}

BOOST_AUTO_TEST_CASE(a_fault_in_one_chain_keeps_what_all_have_drawn) {
    const TemporaryDirectory folder;
    RunOptions options = short_run();
    const Draws good = run_chains(shapes_model<double>(), Walk{}, options);
    options.directory = folder / "run";
    std::shared_ptr<Draws> kept;
    with_threads(1, [&] {
        try {
            run_chains(shapes_model<double>(), Walk{.bad_chain = 1, .bad_step = 70}, options);
        } catch (const RunError& error) {
            BOOST_TEST(error.what() == "run_chains: chain 2: a fault");
            BOOST_CHECK_THROW(std::rethrow_exception(error.cause()), std::runtime_error);
            kept = std::make_shared<Draws>(error.draws());
        }
    });
    BOOST_REQUIRE(kept);
    BOOST_TEST(kept->interrupted);
    BOOST_TEST(!kept->chains.empty());
    for (std::int64_t t = 0; t < kept->size(); ++t) BOOST_TEST(kept->values(0, t, 0) == good.values(0, t, 0));
    StanCsvReader reader(folder / "run/chain_2.csv");
    std::int64_t rows = 0;
    for (StanCsvReader::Row row; reader.next(row); ++rows) BOOST_TEST(row.values[0] == good.values(1, rows, 0));
    BOOST_TEST(rows == 20);
    // The fault mended, the run goes on as if nothing had been.
    options.resume = true;
    const Draws resumed = run_chains(shapes_model<double>(), Walk{}, options);
    BOOST_TEST(resumed.values == good.values);
}

BOOST_AUTO_TEST_CASE(a_model_that_throws_names_the_chain) {
    const auto model = ModelPotential<double>([](Model<double>& m) {
        const auto x = m.real("x");
        if (x.item() > 5) throw std::logic_error("x is large");
        m.prior(x * x * -0.5);
    });
    RunOptions options = short_run();
    options.starts = {{0}, {1}, {6}};
    BOOST_TEST(error_of<Error>([&] { run_chains(model, Walk{}, options); }) == "run_chains: chain 3: x is large");
    options = short_run(0, 200);
    options.starts = {{0}, {4.99}, {0}};
    BOOST_TEST(error_of<RunError>([&] { run_chains(model, Walk{.scale = 0.1}, options); }) ==
               "run_chains: chain 2: x is large");
    const auto undefined = ModelPotential<double>([](Model<double>& m) { m.prior(log(m.real("x") * 0.0 - 1.0)); });
    BOOST_TEST(error_of<ValueError>([&] {
                   run_chains(undefined, Walk{}, short_run());
               }).starts_with("run_chains: chain 1: find_start: no starting point in 100 attempts: "));
}

BOOST_AUTO_TEST_SUITE_END()
