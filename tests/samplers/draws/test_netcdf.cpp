#include "../../data/faults.hpp"
#include "../../support.hpp"
#include "../run/run_files.hpp"
#include "../run/walk_sampler.hpp"

#include <pollen/autograd/support/version.hpp>
#include <pollen/samplers/draws/netcdf.hpp>
#include <pollen/samplers/full_batch/nuts.hpp>
#include <pollen/samplers/run/run_chains.hpp>

#ifdef POLLEN_HAVE_NETCDF
#include <netcdf.h>
#endif

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(netcdf)

namespace {

Draws some_draws(const TemporaryDirectory& folder) {
    return run_chains(shapes_model<double>(), Nuts{},
                      {.chains = 2,
                       .warmup = 5,
                       .draws = 7,
                       .directory = folder / "run",
                       .save_warmup = true,
                       .show = Show::nothing});
}

}  // namespace

#ifndef POLLEN_HAVE_NETCDF

BOOST_AUTO_TEST_CASE(without_the_library_an_error_says_so) {
    const TemporaryDirectory folder;
    const Draws draws = some_draws(folder);
    BOOST_TEST(!have_netcdf());
    BOOST_TEST(error_of<Error>([&] { write_netcdf(folder / "d.nc", draws); }) ==
               "write_netcdf: pollen was built without libnetcdf; install the package libnetcdf-dev (Debian, "
               "Ubuntu) and configure it again, or write an NPZ or CSV file");
}

#else

namespace {

// A file as libnetcdf itself reads it.
class File {
  public:
    explicit File(const std::string& path) { check(nc_open(path.c_str(), NC_NOWRITE, &id_)); }
    ~File() { nc_close(id_); }
    File(const File&) = delete;

    bool has(const std::string& group) const {
        int id = 0;
        return nc_inq_ncid(id_, group.c_str(), &id) == NC_NOERR;
    }
    int group(const std::string& name) const {
        int id = 0;
        check(nc_inq_ncid(id_, name.c_str(), &id));
        return id;
    }
    bool has(const std::string& group, const std::string& variable) const {
        int id = 0;
        return nc_inq_varid(this->group(group), variable.c_str(), &id) == NC_NOERR;
    }
    // The values, whatever their type, with the shape that the dimensions give.
    Tensor<double> values(const std::string& group, const std::string& name, int type) const {
        const int in = this->group(group);
        int variable = 0, rank = 0, found = 0, dims[NC_MAX_VAR_DIMS];
        check(nc_inq_varid(in, name.c_str(), &variable));
        check(nc_inq_var(in, variable, nullptr, &found, &rank, dims, nullptr));
        BOOST_TEST(found == type);
        std::vector<std::int64_t> sizes;
        for (int k = 0; k < rank; ++k) {
            std::size_t size = 0;
            char dim[NC_MAX_NAME + 1];
            check(nc_inq_dim(in, dims[k], dim, &size));
            const std::string expected = k == 0   ? name == "draw" ? "draw" : "chain"
                                         : k == 1 ? "draw"
                                                  : name + "_dim_" + std::to_string(k - 2);
            BOOST_TEST(dim == expected);
            sizes.push_back(static_cast<std::int64_t>(size));
        }
        Tensor<double> x = Tensor<double>::empty(Shape(sizes));
        check(nc_get_var_double(in, variable, x.fresh_data()));
        return x;
    }
    std::string text(const std::string& group, const char* variable, const char* name) const {
        const int in = this->group(group);
        int id = NC_GLOBAL;
        if (variable) check(nc_inq_varid(in, variable, &id));
        std::size_t length = 0;
        check(nc_inq_attlen(in, id, name, &length));
        std::string text(length, ' ');
        check(nc_get_att_text(in, id, name, text.data()));
        return text;
    }

  private:
    static void check(int status) { BOOST_REQUIRE_MESSAGE(status == NC_NOERR, nc_strerror(status)); }
    int id_ = 0;
};

}  // namespace

BOOST_AUTO_TEST_CASE(draws_become_a_netcdf_4_file) {
    const TemporaryDirectory folder;
    const Draws draws = some_draws(folder);
    const std::string path = folder / "d.nc";
    BOOST_TEST(have_netcdf());
    write_netcdf(path, draws);
    write_netcdf(path, draws);  // replaces it
    BOOST_TEST(contents(path).starts_with("\x89HDF\r\n"));
    const File file(path);
    for (const Quantity& q : draws.quantities) {
        BOOST_TEST(file.values("posterior", q.name, NC_DOUBLE) == draws[q.name]);
        BOOST_TEST(file.values("warmup_posterior", q.name, NC_DOUBLE).shape()[1] == 5);
    }
    BOOST_TEST(file.values("posterior", "w", NC_DOUBLE).shape() == (Shape{2, 7, 2, 3}));
    BOOST_TEST(file.values("posterior", "chain", NC_INT64) == (Tensor<double>{0, 1}));
    BOOST_TEST(file.values("posterior", "draw", NC_INT64) == (Tensor<double>{0, 1, 2, 3, 4, 5, 6}));
    const Tensor<double> lp = file.values("sample_stats", "lp", NC_DOUBLE);
    BOOST_TEST(lp(1, 3) == -draws.chains[1].energy[3]);
    const auto same = [&](const char* name, int type, auto which) {
        BOOST_TEST(file.values("sample_stats", name, type) == draws.statistic(which));
    };
    same("acceptance_rate", NC_DOUBLE, &ChainRecord::acceptance);
    same("step_size", NC_DOUBLE, &ChainRecord::step_size);
    same("tree_depth", NC_INT64, &ChainRecord::tree_depth);
    same("n_steps", NC_INT64, &ChainRecord::gradients);
    same("diverging", NC_BYTE, &ChainRecord::divergent);
    same("energy", NC_DOUBLE, &ChainRecord::hamiltonian);
    BOOST_TEST(!file.has("sample_stats", "weight"));
    BOOST_TEST(file.values("warmup_sample_stats", "lp", NC_DOUBLE).shape() == (Shape{2, 5}));
    BOOST_TEST(file.text("sample_stats", "diverging", "dtype") == "bool");
    BOOST_TEST(file.text("posterior", nullptr, "inference_library") == "pollen");
    BOOST_TEST(file.text("posterior", nullptr, "inference_library_version") == std::string(version()));
    BOOST_TEST(file.text("posterior", nullptr, "created_at").size() == 19);
}

BOOST_AUTO_TEST_CASE(a_sampler_has_the_statistics_it_has) {
    const TemporaryDirectory folder;
    write_netcdf(folder / "d.nc", run_chains(shapes_model<double>(), Walk{.weight = 2},
                                             {.chains = 2, .warmup = 5, .draws = 7, .show = Show::nothing}));
    const File file(folder / "d.nc");
    for (const char* name : {"lp", "acceptance_rate", "step_size", "n_steps", "weight"})
        BOOST_TEST(file.has("sample_stats", name), name);
    for (const char* name : {"tree_depth", "diverging", "energy"}) BOOST_TEST(!file.has("sample_stats", name), name);
    BOOST_TEST(!file.has("warmup_posterior"));
}

BOOST_AUTO_TEST_CASE(the_files_of_the_draws_may_be_gone) {
    const TemporaryDirectory folder;
    const Draws draws = some_draws(folder);
    std::filesystem::rename(folder / "run", folder / "moved");
    write_netcdf(folder / "d.nc", draws);
    const File file(folder / "d.nc");
    BOOST_TEST(file.values("posterior", "x", NC_DOUBLE) == draws["x"]);
    BOOST_TEST(!file.has("warmup_posterior"));
}

BOOST_AUTO_TEST_CASE(what_cannot_be_written) {
    const TemporaryDirectory folder;
    const Draws draws = some_draws(folder);
    BOOST_TEST(error_of<FileError>([&] { write_netcdf(folder / "none/d.nc", draws); }) ==
               folder / "none/d.nc: cannot be saved: there is no directory " + folder / "none");
    BOOST_TEST(error_of<ValueError>([&] { write_netcdf(folder / "d.nc", Draws()); }) ==
               "write_netcdf: the values of the draws are not in memory (keep = false)");
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
    BOOST_TEST(files == 1);
}

// Whoever may write to the directory can guess the name of a temporary file, and put a link there.
BOOST_AUTO_TEST_CASE(links_are_not_followed_to_other_files) {
    const TemporaryDirectory folder;
    const Draws draws = some_draws(folder);
    const std::string path = folder / "d.nc", victim = folder / "victim", process = std::to_string(::getpid());
    put(victim, "mine");
    std::vector<std::string> names{path + "." + process + ".tmp"};
    for (int k = 0; k < 50; ++k) names.push_back(folder / (".d.nc." + process + "-" + std::to_string(k) + ".tmp"));
    for (const std::string& name : names) std::filesystem::create_symlink(victim, name);
    write_netcdf(path, draws);
    BOOST_TEST(contents(victim) == "mine");
    BOOST_TEST(!std::filesystem::is_symlink(path));
    BOOST_TEST(contents(path).starts_with("\x89HDF\r\n"));
}

BOOST_AUTO_TEST_CASE(a_failure_leaves_the_old_file_and_nothing_else) {
    const TemporaryDirectory folder;
    const Draws draws = some_draws(folder);
    const std::string path = folder / "d.nc";
    put(path, "old");
    int n = 0;
    for (bool written = false; !written; ++n) {
        std::string struck, error;
        {
            const Faults full(n, [] { return ENOSPC; });
            error = error_of<FileError>([&] { write_netcdf(path, draws); });
            struck = full.struck();
        }
        written = contents(path) != "old";
        if (struck == "write")
            BOOST_TEST(error == path + ": cannot be saved: writing: No space left on device");
        else if (!written)
            BOOST_TEST(error.starts_with(path + ": cannot be saved: "), error);
        std::size_t files = 0;
        for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
        BOOST_TEST(files == 2);
    }
    BOOST_TEST(n > 4);
}

#endif

BOOST_AUTO_TEST_SUITE_END()
