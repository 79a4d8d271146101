#include "../support.hpp"
#include "run_files.hpp"
#include "walk_sampler.hpp"

#include <pollen/samplers/netcdf.hpp>
#include <pollen/samplers/run.hpp>

using namespace pollen;
using namespace pollen::test;

BOOST_AUTO_TEST_SUITE(netcdf)

BOOST_AUTO_TEST_CASE(draws_become_a_netcdf_4_file_where_the_library_is_there) {
    const Folder folder;
    const Draws draws = run_chains(
        shapes_model<double>(), Walk{},
        {.chains = 2, .warmup = 5, .draws = 7, .directory = folder.path(), .save_warmup = true, .show = Show::nothing});
    const std::string path = folder / "d.nc";
    if (!have_netcdf()) {
        BOOST_TEST(error_of<Error>([&] { write_netcdf(path, draws); }) ==
                   "write_netcdf: pollen was built without libnetcdf; install the package libnetcdf-dev (Debian, "
                   "Ubuntu) and configure it again, or write an NPZ or CSV file");
        return;
    }
    write_netcdf(path, draws);
    BOOST_TEST(contents(path).starts_with("\x89HDF\r\n"));
    BOOST_TEST(contents(path).find("warmup_sample_stats") != std::string::npos);
    write_netcdf(path, draws);  // replaces it
    BOOST_TEST(error_of<FileError>([&] {
                   write_netcdf(folder / "none/d.nc", draws);
               }).starts_with(folder / "none/d.nc: cannot be saved: creating it: "));
    std::size_t files = 0;
    for ([[maybe_unused]] const auto& entry : std::filesystem::directory_iterator(folder.path())) ++files;
    BOOST_TEST(files == 5);
}

BOOST_AUTO_TEST_SUITE_END()
