#include "../../support.hpp"
#include "../bytes.hpp"
#include "../temporary_directory.hpp"
#include "failing_new.hpp"

#include <pollen/autograd/parallel.hpp>
#include <pollen/data/formats/csv.hpp>
#include <pollen/data/formats/idx.hpp>
#include <pollen/data/formats/image.hpp>
#include <pollen/data/formats/libsvm.hpp>
#include <pollen/data/formats/npy.hpp>
#include <pollen/data/formats/npz.hpp>
#include <pollen/data/formats/safetensors.hpp>
#include <pollen/data/io/atomic_file.hpp>
#include <pollen/data/io/detail/file_calls.hpp>
#include <pollen/data/io/gzip.hpp>
#include <pollen/nn/layers.hpp>
#include <pollen/nn/module/save.hpp>
#include <pollen/nn/pruning/compress.hpp>
#include <pollen/samplers/draws/netcdf.hpp>
#include <pollen/samplers/draws/npz_draws.hpp>
#include <pollen/samplers/draws/stan_csv.hpp>

#include <exception>
#include <functional>
#include <map>

// Whichever allocation of a reader or a writer fails, it throws a MemoryError.

using namespace pollen;
using namespace pollen::test;

namespace {

// A folder whose files need not reach the disk.
class Folder {
  public:
    Folder() {
        detail::file_calls().fsync = [](int) { return 0; };
    }
    ~Folder() { detail::file_calls() = detail::FileCalls(); }
    std::string operator/(const std::string& name) const { return directory_ / name; }
    std::set<std::string> names() const { return directory_.names(); }

  private:
    TemporaryDirectory directory_;
};

struct Allocations {
    int failed = 0;     // one in each call of f()
    int not_named = 0;  // of which so many did not end in a MemoryError
};

// Calls f() until no allocation fails.
Allocations fail_each(const std::function<void()>& f) {
    Allocations allocations;
    for (bool failed = true; failed;) {
        std::exception_ptr thrown;
        Pool::global().trim();
        fail_new(allocations.failed);
        try {
            f();
        } catch (...) {
            thrown = std::current_exception();
        }
        failed = new_has_failed();
        if (thrown && !failed) std::rethrow_exception(thrown);
        allocations.failed += failed;
        try {
            if (thrown) std::rethrow_exception(thrown);
        } catch (const MemoryError&) {
        } catch (...) {
            ++allocations.not_named;
        }
    }
    return allocations;
}

void check_each_allocation(const std::string& what, const std::function<void()>& f) {
    const Allocations allocations = fail_each(f);
    BOOST_TEST_MESSAGE(what << ": " << allocations.failed << " allocations");
    BOOST_TEST(allocations.failed > 0, what);
    BOOST_TEST(allocations.not_named == 0, what << ": " << allocations.not_named << " errors are no MemoryError");
}

template <class Write, class Read>
void check_both(const char* what, const Folder& folder, const Write& write, const Read& read) {
    with_threads(1, [&] {
        const std::string path = folder / "a file with a name that is not short";
        check_each_allocation(std::string("writing ") + what, [&] { write(path); });
        BOOST_TEST(folder.names().size() == 1u, what << " leaves temporary files");
        check_each_allocation(std::string("reading ") + what, [&] { read(path); });
    });
}

Draws some_draws() {
    Draws draws{.quantities = {{"mu", {}, 0}, {"a_quantity_with_a_long_name", {2, 3}, 1}},
                .values = Tensor<double>::zeros({2, 3, 7}),
                .chains = {},
                .files = {}};
    draws.facts = {.hamiltonian = true, .max_tree_depth = 10, .metric = MetricKind::diagonal};
    for (int c = 1; c <= 2; ++c) {
        ChainRecord& record = draws.chains.emplace_back();
        record.chain = c;
        for (int t = 0; t < 3; ++t) record.add({}, 1);
        record.inverse_metric.assign(7, 1);
    }
    return draws;
}

const std::string long_name = "a name of more than fifteen letters";

}  // namespace

BOOST_AUTO_TEST_SUITE(no_memory)

BOOST_AUTO_TEST_CASE(what_is_not_caught_is_seen) {
    const Allocations two = fail_each([] {
        std::vector<int> first(10), second(20);
        (void)first.data(), (void)second.data();
    });
    BOOST_TEST(two.failed == 2);
    BOOST_TEST(two.not_named == 2);
    BOOST_TEST(fail_each([] {}).failed == 0);
}

BOOST_AUTO_TEST_CASE(tables) {
    const Folder folder;
    const Tensor<double> values{{1, 2}, {3, 4}};
    const std::vector<std::string> columns{"x", long_name};
    check_both(
        "csv", folder, [&](const std::string& path) { write_csv(path, columns, values); },
        [](const std::string& path) { read_csv(path); });
    check_both(
        "csv texts", folder, [&](const std::string& path) { write_csv(path, columns, values); },
        [](const std::string& path) { read_csv_text(path); });
    check_both(
        "gzipped libsvm", folder,
        [](const std::string& path) { write_file(path, gzip(bytes_of("1 1:1 5:2 # a\n-1 2:2\n"))); },
        [](const std::string& path) { read_libsvm(path); });
}

BOOST_AUTO_TEST_CASE(arrays) {
    const Folder folder;
    const Tensor<float> bytes = Tensor<float>::full({2, 3, 4}, 7);
    const NpzArrays pair{{long_name, bytes}, {"b", Indices{1}}};
    TensorFile named;
    named.set(long_name, bytes);
    named.set("octets", TensorFile::Octets{1, 2});
    named.metadata = {{"about", long_name}};
    check_both(
        "idx", folder, [&](const std::string& path) { write_file(path, idx_bytes(bytes)); },
        [](const std::string& path) { read_idx<double>(path); });
    check_both(
        "npy", folder, [&](const std::string& path) { write_npy(path, bytes); },
        [](const std::string& path) { read_npy<double>(path); });
    check_both(
        "npz", folder, [&](const std::string& path) { write_npz(path, pair); },
        [](const std::string& path) { Npz::read(path).get<double>(long_name); });
    check_both(
        "safetensors", folder, [&](const std::string& path) { write_safetensors(path, named); },
        [](const std::string& path) { read_safetensors(path).octets("octets"); });
}

BOOST_AUTO_TEST_CASE(pictures) {
    const Folder folder;
    const Tensor<float> image = Tensor<float>::full({1, 5, 4}, 0.5F);
    check_both(
        "png", folder, [&](const std::string& path) { write_png(path, image); },
        [](const std::string& path) { read_png<float>(path); });
    check_both(
        "pgm", folder, [&](const std::string& path) { write_pgm(path, image); },
        [](const std::string& path) { read_pgm<float>(path); });
    const std::string inputs = folder / "images", labels = folder / "labels";
    write_file(inputs, idx_bytes(Tensor<float>::zeros({2, 3, 3})));
    write_file(labels, idx_bytes(Indices{1, 2}));
    check_each_allocation("labelled images", [&] { read_labelled_images<float>(inputs, labels); });
}

BOOST_AUTO_TEST_CASE(networks) {
    const Folder folder;
    Sequential<float> net{Dense(3, 4), Tanh(), Dense(4, 2)}, other = net;
    initialise(net, 1);
    const std::map<std::string, std::string> about{{"about", long_name}};
    check_both(
        "a network", folder, [&](const std::string& path) { save(path, net, about); },
        [&](const std::string& path) { load(path, other); });
    BOOST_TEST((Parameters<float>(other).flatten() == Parameters<float>(net).flatten()));
    Sequential<float> zeros{Dense<float>(3, 4)};
    unflatten<float>(zeros, Tensor<float>::zeros({16}).values());
    const auto small = compress<float>(zeros);
    check_both(
        "a compressed network", folder, [&](const std::string& path) { save<float>(path, *small); },
        [&](const std::string& path) { load_compressed<float>(path, zeros); });
}

BOOST_AUTO_TEST_CASE(draws) {
    const Folder folder;
    const Draws some = some_draws();
    check_both(
        "draws", folder, [&](const std::string& path) { write_stan_csv(path, some); },
        [](const std::string& path) { read_stan_csv(path); });
    check_each_allocation("parts of a file of draws", [&] {
        stan_csv_header({.facts = some.facts}, some.quantities);
        stan_csv_adaptation(0.5, some.chains[0].inverse_metric, 7);
        stan_csv_footer(1e200, 1);
        std::string text;
        StanCsvRows(some.quantities).append(text, some.facts, {}, 1, some.values.values().first(7));
    });
    const std::string npz = folder / "draws.npz", netcdf = folder / "draws.nc";
    check_each_allocation("draws to npz", [&] { write_npz_draws(npz, some); });
    if (have_netcdf()) check_each_allocation("draws to netcdf", [&] { write_netcdf(netcdf, some); });
}

BOOST_AUTO_TEST_SUITE_END()
