#include "../../data/limit_texts.hpp"
#include "../../support.hpp"
#include "../run/run_files.hpp"
#include "stan_csv_text.hpp"

#include <pollen/samplers/draws/stan_csv.hpp>

#include <cmath>
#include <filesystem>

using namespace pollen;
using namespace pollen::test;

// What cannot be in a file of draws, and files that do not belong together.
BOOST_AUTO_TEST_SUITE(stan_csv_checks)

namespace {

// For a cell in a column of the sampler.
std::string error_of_cell(const std::string& column, const std::string& cell) {
    return error_in("lp__," + column + ",y\n1," + cell + ",2\n");
}
std::string must_be(const std::string& column, const std::string& cell, const std::string& what) {
    return "c.csv: line 2: " + column + " is " + cell + "; it must be " + what;
}
std::string said_twice(const std::string& key) { return "# " + key + " = 1\n#   " + key + " = 1\nlp__,x\n"; }

// A header of our own, and two draws.
StanCsvHeader header_of(std::int64_t chain) {
    return {.model = "m", .sampler = "Walk(1)", .chain = chain, .warmup = 5, .draws = 2, .seed = 7};
}
void put_chain(const std::string& path, const StanCsvHeader& header,
               const std::string& rows = "-1,1,0.5,1,2\n-3,1,0.5,1,4\n") {
    put(path, stan_csv_header(header, {{"x", {}, 0}}) + rows);
}

// Of a file of CmdStan.
std::string cmdstan(int id, int seed, const std::string& more = "") {
    return "# model = b_model\n# method = sample (Default)\n#   sample (Default)\n#     num_samples = 1\n" + more +
           "# id = " + std::to_string(id) + "\n# random\n#   seed = " + std::to_string(seed) + "\nlp__,x\n-1,2\n";
}

}  // namespace

BOOST_AUTO_TEST_CASE(numbers_that_a_sampler_cannot_report) {
    for (const std::string column : {"treedepth__", "n_leapfrog__"}) {
        for (const std::string cell : {"1.5", "-3", "nan", "inf"})
            BOOST_TEST(error_of_cell(column, cell) == must_be(column, cell, "a whole number from 0 up"));
        BOOST_TEST(error_of_cell(column, "12") == "");
    }
    for (const std::string column : {"divergent__", "invalid__"}) {
        for (const std::string cell : {"-1", "2", "0.5", "nan"})
            BOOST_TEST(error_of_cell(column, cell) == must_be(column, cell, "0 or 1"));
        BOOST_TEST(error_of_cell(column, "0") == "");
        BOOST_TEST(error_of_cell(column, "1") == "");
    }
    for (const std::string cell : {"-1", "nan", "inf"})
        BOOST_TEST(error_of_cell("weight__", cell) == must_be("weight__", cell, "a finite number from 0 up"));
    BOOST_TEST(error_of_cell("weight__", "0.25") == "");
}

// Infinities and NaN are numbers where they are written as such.
BOOST_AUTO_TEST_CASE(numbers_that_no_double_holds) {
    const auto error = [](const std::string& lp, const std::string& x) {
        return error_in("lp__,x\n" + lp + "," + x + "\n");
    };
    BOOST_TEST(error("1e400", "1") == "c.csv: line 2: column 1: \"1e400\" is too large for a double");
    BOOST_TEST(error("-1e400", "1") == "c.csv: line 2: column 1: \"-1e400\" is too large for a double");
    BOOST_TEST(error("1e-400", "1") == "c.csv: line 2: column 1: \"1e-400\" is too small for a double");
    BOOST_TEST(error("1", "-0.01E-400") == "c.csv: line 2: column 2: \"-0.01E-400\" is too small for a double");
    BOOST_TEST(error_in("# delta = 1e400\nlp__,x\n") == "c.csv: line 1: delta: \"1e400\" is too large for a double");
    for (const std::string good : {"inf", "-inf", "nan", "0", "-0.0", "0e5", "5e-324", "1.7976931348623157e308"}) {
        BOOST_TEST(error(good, "1") == "", good);
        BOOST_TEST(error("1", good) == "", good);
    }
}

BOOST_AUTO_TEST_CASE(a_header_says_things_once) {
    for (const std::string key : {"num_samples", "num_warmup", "save_warmup", "thin", "id"})
        BOOST_TEST(error_in(said_twice(key)) == "c.csv: line 2: " + key + " comes twice");
}

// Nobody knows whether 1,33 is a whole row. So it does not count, and the draws say so.
BOOST_AUTO_TEST_CASE(a_row_without_an_end) {
    const TemporaryDirectory folder;
    const std::string path = folder / "c.csv";
    put(path, "lp__,x\n1,2\n1,33");
    const Draws cut = read_stan_csv(path);
    BOOST_TEST(cut.size() == 1);
    BOOST_TEST(cut.interrupted);
    BOOST_TEST(
        cut.incomplete == std::vector<std::string>{"chain 1 ends with a row that has no line end and is not counted"},
        boost::test_tools::per_element());
    for (const std::string whole : {"lp__,x\n1,2\n1,33\n", "lp__,x\n1,2\n1,33\n# end", "lp__,x\n1,2\n1,33\n  "}) {
        put(path, whole);
        const Draws draws = read_stan_csv(path);
        BOOST_TEST(draws.size() == 2);
        BOOST_TEST(!draws.interrupted);
    }
}

BOOST_AUTO_TEST_CASE(a_header_that_lost_its_number_of_draws) {
    const TemporaryDirectory folder;
    const std::string path = folder / "c.csv";
    std::string text = stan_csv_header(header_of(1), {{"x", {}, 0}}) + "-1,1,0.5,1,2\n";
    text.replace(text.find("num_samples"), 3, "nun");
    put(path, text);
    const Draws draws = read_stan_csv(path);
    BOOST_TEST(draws.interrupted);
    BOOST_TEST(draws.incomplete == std::vector<std::string>{"chain 1 does not say how many draws it holds"},
               boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(a_chain_counts_once) {
    const TemporaryDirectory folder;
    const std::string a = folder / "a.csv", b = folder / "b.csv", link = folder / "link.csv";
    put_chain(a, header_of(1));
    put_chain(b, header_of(1), "-5,1,0.5,1,6\n-7,1,0.5,1,8\n");
    std::filesystem::create_symlink(a, link);
    const auto error = [](std::vector<std::string> files) {
        return error_of<FileError>([&] { read_stan_csv(files); });
    };
    BOOST_TEST(error({a, a}) == a + ": is named twice");
    BOOST_TEST(error({a, link}) == link + ": is named twice");
    BOOST_TEST(error({a, b}) == b + ": its header says id = 1, as that of " + a + " does; they are the same chain");
    put_chain(b, header_of(2));
    BOOST_TEST(read_stan_csv(std::vector{a, b}).chains.size() == 2);
    // Files without a header do not say which chain they are.
    put(a, "lp__,x\n1,2\n");
    put(b, "lp__,x\n1,2\n");
    BOOST_TEST(read_stan_csv(std::vector{a, b}).chains.size() == 2);
    BOOST_TEST(error({a, b, a}) == a + ": is named twice");
}

// CmdStan's chains have seeds of their own if none is given, and one id with num_chains.
BOOST_AUTO_TEST_CASE(chains_of_cmdstan) {
    const TemporaryDirectory folder;
    const std::string a = folder / "a.csv", b = folder / "b.csv";
    const auto error = [&](const std::string& first, const std::string& second) {
        put(a, first), put(b, second);
        return error_of<FileError>([&] { read_stan_csv(std::vector{a, b}); });
    };
    BOOST_TEST(error(cmdstan(1, 5), cmdstan(2, 5)) == "");
    BOOST_TEST(error(cmdstan(1, 5), cmdstan(1, 6)) == "");
    BOOST_TEST(error(cmdstan(1, 5, "#     num_chains = 2\n"), cmdstan(1, 5, "#     num_chains = 2\n")) == "");
    BOOST_TEST(error(cmdstan(1, 5, "#     num_chains = 1 (Default)\n"), cmdstan(1, 5)) ==
               b + ": its header says id = 1, as that of " + a + " does; they are the same chain");
    BOOST_TEST(error(cmdstan(1, 5, "#     thin = 2\n"), cmdstan(2, 5, "#     thin = 3\n")) ==
               b + ": is not a chain of the same run as " + a + ": thin is \"3\" in it, and \"2\" in the other");
}

BOOST_AUTO_TEST_CASE(chains_of_different_runs) {
    const TemporaryDirectory folder;
    const std::string a = folder / "a.csv", b = folder / "b.csv";
    put_chain(a, header_of(1));
    const auto error = [&](const auto& change) {
        StanCsvHeader header = header_of(2);
        change(header);
        put_chain(b, header);
        const std::string text = error_of<FileError>([&] { read_stan_csv(std::vector{a, b}); });
        const std::string start = b + ": is not a chain of the same run as " + a + ": ";
        BOOST_TEST(text.starts_with(start));
        return text.substr(std::min(start.size(), text.size()));
    };
    BOOST_TEST(error([](auto& h) { h.model = "n"; }) == "model is \"n\" in it, and \"m\" in the other");
    BOOST_TEST(error([](auto& h) { h.sampler = "Walk(2)"; }) ==
               "sampler is \"Walk(2)\" in it, and \"Walk(1)\" in the other");
    BOOST_TEST(error([](auto& h) { h.sampler = ""; }) == "sampler is not said in it, and \"Walk(1)\" in the other");
    BOOST_TEST(error([](auto& h) { h.seed = 8; }) == "seed is \"8\" in it, and \"7\" in the other");
    BOOST_TEST(error([](auto& h) { h.warmup = 6; }) == "num_warmup is \"6\" in it, and \"5\" in the other");
    const std::string same(200, 's');
    StanCsvHeader header = header_of(1);
    header.sampler = same + "1";
    put_chain(a, header);
    BOOST_TEST(error([&](auto& h) { h.sampler = same + "2"; }) == "sampler is \"..." + same.substr(0, 20) +
                                                                      "2\" in it, and \"..." + same.substr(0, 20) +
                                                                      "1\" in the other");
    put(a, "lp__,accept_stat__,x\n1,0.5,2\n");
    put(b, "lp__,x\n1,2\n");
    BOOST_TEST(error_of<FileError>([&] {
                   read_stan_csv(std::vector{a, b});
               }) == b + ": is not a chain of the same run as " + a +
                         ": columns is \"lp__\" in it, and \"lp__,accept_stat__\" in the other");
}

// Each chain may begin with a step size of its own; the draws do not take one chain's for that of all.
BOOST_AUTO_TEST_CASE(facts_are_those_of_all_files) {
    const TemporaryDirectory folder;
    const std::string a = folder / "a.csv", b = folder / "b.csv";
    StanCsvHeader first = header_of(1), second = header_of(2);
    first.facts = second.facts = {.hamiltonian = true, .target_acceptance = 0.9, .step_size = 0.5};
    const std::string rows = "-1,1,0.5,1,0,2,3\n-1,1,0.5,1,0,2,3\n";
    put_chain(a, first, rows);
    put_chain(b, second, rows);
    const ChainFacts same = read_stan_csv(std::vector{a, b}).facts;
    BOOST_TEST(same.step_size == 0.5);
    BOOST_TEST(same.target_acceptance == 0.9);
    second.facts.step_size = 0.25;
    put_chain(b, second, rows);
    BOOST_TEST(std::isnan(read_stan_csv(std::vector{a, b}).facts.step_size));
    second.facts.target_acceptance = 0.8;
    put_chain(b, second, rows);
    BOOST_TEST(error_of<FileError>([&] {
                   read_stan_csv(std::vector{a, b});
               }) ==
               b + ": is not a chain of the same run as " + a + ": delta is \"0.8\" in it, and \"0.9\" in the other");
}

// CmdStan counts steps, and writes the first of every `thin`.
BOOST_AUTO_TEST_CASE(files_with_fewer_draws_than_they_say) {
    const TemporaryDirectory folder;
    const auto file = [&](int chain, int rows) {
        std::string text =
            "# num_samples = 8\n# num_warmup = 4\n# save_warmup = 1\n# thin = 3\n# id = " + std::to_string(chain) +
            "\nlp__,x\n";
        for (int k = 0; k < 2 + rows; ++k) text += "-1," + std::to_string(k) + "\n";
        put(folder / ("chain_" + std::to_string(chain) + ".csv"), text);
    };
    file(1, 3);
    file(2, 3);
    const Draws whole = read_stan_csv(folder.path());
    BOOST_TEST(whole.size() == 3);
    BOOST_TEST(whole.asked == 3);
    BOOST_TEST(!whole.interrupted);
    BOOST_TEST(whole.incomplete.empty());

    file(2, 2);
    const Draws cut = read_stan_csv(folder.path());
    BOOST_TEST(cut.size() == 2);
    BOOST_TEST(cut.asked == 3);
    BOOST_TEST(cut.interrupted);
    BOOST_TEST(cut.incomplete == std::vector<std::string>{"chain 2 holds 2 of 3 draws"},
               boost::test_tools::per_element());
    const std::string warning =
        "The files are not complete: chain 2 holds 2 of 3 draws. The run was interrupted, or a file was cut; all "
        "chains are cut to 2 draws.";
    BOOST_TEST(warnings(cut).back() == warning);
    const std::string text = summary(cut);
    BOOST_TEST(text.find("\n2 chains of 2 of 3 draws, interrupted") != text.npos, text);
    BOOST_TEST(text.ends_with("Warning: " + warning + "\n"), text);

    file(1, 0);
    BOOST_TEST(summary(read_stan_csv(folder.path())) ==
               "no draws: chain 1 holds 0 of 3 draws, chain 2 holds 2 of 3 draws\n");
    file(2, 4);
    BOOST_TEST(error_of<FileError>([&] { read_stan_csv(folder.path()); }) ==
               folder / "chain_2.csv: line 12: is a row too many: the header announces 3 draws");
    // Without a header nobody knows.
    put(folder / "chain_2.csv", "lp__,x\n1,2\n");
    BOOST_TEST(!read_stan_csv(folder / "chain_2.csv").interrupted);
    BOOST_TEST(!StanCsvReader(folder / "chain_2.csv").announced());
}

BOOST_AUTO_TEST_CASE(a_last_line_without_an_end_does_not_count) {
    const std::string text = "lp__,x\n1,2\n3,4.5";
    StanCsvReader reader(bytes_of(text), "c.csv");
    StanCsvReader::Row row;
    BOOST_TEST(reader.next(row));
    BOOST_TEST(!reader.next(row));
    BOOST_TEST(reader.cut_short());
}

BOOST_AUTO_TEST_CASE(what_is_wrong_has_its_line) {
    BOOST_TEST(error_in("") == "c.csv: there is no line of column names; is it a file of draws?");
    BOOST_TEST(error_in("x,y\n") == "c.csv: line 1: the first column is \"x\"; lp__ is expected in a file of draws");
    BOOST_TEST(error_in("lp__,lp__,y\n") == "c.csv: line 1: the column lp__ comes twice");
    BOOST_TEST(error_in("lp__,y,y\n") == "c.csv: line 1: column 3 (\"y\") is out of place or comes twice");
    BOOST_TEST(error_in("lp__,y,z__\n") == "c.csv: line 1: column 3 (\"z__\") is out of place or comes twice");
    BOOST_TEST(error_in("lp__,y.2\n") ==
               "c.csv: line 1: the 1 columns of \"y\" are not those of an array up to \"y.2\"");
    BOOST_TEST(error_in("lp__,w.1.1,w.1.2,w.2.1,w.2.2\n") ==
               "c.csv: line 1: the column \"w.1.2\" is out of place; the first index runs fastest, from 1");
    BOOST_TEST(error_in("lp__,y.9223372036854775807.9223372036854775807\n")
                   .starts_with("c.csv: line 1: the 1 columns of \"y\" are not those of an array"));
    BOOST_TEST(error_in("# a\nlp__,y\n1,2\n3\n") == "c.csv: line 4: has 1 cells; there are 2 columns");
    BOOST_TEST(error_in("lp__,y\n1,2,3\n") == "c.csv: line 2: has 3 cells; there are 2 columns");
    BOOST_TEST(error_in("lp__,y\n1,2abc\n") == "c.csv: line 2: column 2: \"2abc\" is not a number");
    BOOST_TEST(error_in("lp__,treedepth__,y\n1,-3,2\n") ==
               "c.csv: line 2: treedepth__ is -3; it must be a whole number from 0 up");
    BOOST_TEST(error_in("# thin = 0\nlp__,y\n") == "c.csv: line 1: thin: \"0\" is not a whole number from 1 up");
    BOOST_TEST(error_in(std::string("lp__,y\n1,\0\n", 11)) == "c.csv: line 2: has a NUL byte; this is not a text file");
    // Blank lines may be before the names of the columns, and after the last row.
    BOOST_TEST(error_in("\n# a\n\nlp__,y\n1,2\n \n# b\n\n") == "");
    BOOST_TEST(error_in("lp__,y\n1,2\n\n1,2\n") == "c.csv: line 3: is blank, and rows of draws follow it");
    BOOST_TEST(error_in("lp__,y\n\t\n# a\n1,2\n") == "c.csv: line 2: is blank, and rows of draws follow it");
    const std::string ends =
        "has a carriage return (CR) that does not end it; lines must end with LF, or with CR and LF";
    BOOST_TEST(error_in("lp__,y\r\n1,2\r\n1,3\r") == "");
    BOOST_TEST(error_in("lp__,y\r1,2\r1,3\r") == "c.csv: line 1: " + ends);
    BOOST_TEST(error_in("lp__,y\n1,2\n1,3\r1,4\n") == "c.csv: line 3: " + ends);
    BOOST_TEST(error_in("lp__,y\n# a\r1,2\n1,4\n") == "c.csv: line 2: " + ends);
    BOOST_TEST(error_in("lp__,y\n1,2\n1,3\r1,4") == "c.csv: line 3: " + ends);
    BOOST_TEST(error_of<FileError>([] { StanCsvReader("/nowhere/c.csv"); }) ==
               "/nowhere/c.csv: cannot be opened: No such file or directory");
    BOOST_TEST(error_of<FileError>([] { StanCsvReader("/dev/zero"); }) == "/dev/zero: is not a regular file");
    const TemporaryDirectory folder;
    put(folder / "a.csv", "lp__,x\n1,2\n");
    put(folder / "b.csv", "lp__,y\n1,2\n");
    const std::vector<std::string> both{folder / "a.csv", folder / "b.csv"};
    BOOST_TEST(error_of<FileError>([&] { read_stan_csv(both); }) ==
               both[1] + ": its columns are not those of " + both[0]);
    put(folder / "a.csv", std::string(1'000'000, '1'));
    BOOST_TEST(error_of<FileError>([&] { StanCsvReader(both[0], {.max_bytes = 1000}); }) ==
               both[0] + ": line 1: is longer than the limit of 1000 bytes");
}

// Messages say which limit it is.
BOOST_AUTO_TEST_CASE(memory_limits) {
    const TemporaryDirectory folder;
    const std::string path = folder / "a.csv";
    const auto error = [&](std::int64_t rows, const ReadLimits& limits) {
        std::string text = "lp__,x\n";
        for (std::int64_t k = 0; k < rows; ++k) text += "1,2\n";
        put(path, text);
        return error_of<FileError>([&] { read_stan_csv(path, limits); });
    };
    // A row counts as three times 1 + 9 numbers.
    BOOST_TEST(error(10, {.max_memory = 2400}) == "");
    BOOST_TEST(error(10, {.max_memory = 2399}) ==
               path + ": the draws so far take 2400 bytes, more than the limit of 2399 (ReadLimits::max_memory)");
    BOOST_TEST(error(10, {.max_bytes = 2353}) == "");
    BOOST_TEST(error(10, {.max_bytes = 2352}) ==
               path + ": the draws so far take 2400 bytes, more than the limit of 2399" + by_max_bytes(2352, 47));
    BOOST_TEST(error(209'716, {}) ==
               path + ": the draws so far take 50331840 bytes, more than the limit of 50331648" + by_default);
    BOOST_TEST(error_in("lp__,x,y\n1,2,3\n", {.max_memory = 10}) ==
               "c.csv: line 1: the columns take 96 bytes, more than the limit of 10 (ReadLimits::max_memory)");
}

BOOST_AUTO_TEST_CASE(words_of_the_header) {
    const std::string rows = "\nlp__,x\n1,2\n";
    for (const char* good : {"save_warmup = 1", "save_warmup = false (Default)", "fresh_momentum = 0",
                             "metric = unit_e", "metric = diag_e (Default)", "metric = dense_e"})
        BOOST_TEST(error_in("# " + std::string(good) + rows) == "", good);
    BOOST_TEST(error_in("# save_warmup = yes" + rows) ==
               "c.csv: line 1: save_warmup: \"yes\" is not 0, 1, false or true");
    BOOST_TEST(error_in("# fresh_momentum = 2" + rows) ==
               "c.csv: line 1: fresh_momentum: \"2\" is not 0, 1, false or true");
    BOOST_TEST(error_in("# metric = dense" + rows) ==
               "c.csv: line 1: metric: \"dense\" is not dense_e, diag_e or unit_e");
}

// The system would end the path at the NUL, and chain_1.csv would be there for every number.
BOOST_AUTO_TEST_CASE(a_path_with_a_nul_is_refused) {
    const TemporaryDirectory folder;
    const std::string path = folder.path() + std::string("\0/x", 3);
    const std::string expected =
        folder.path() + "\\x00/x: the path has a NUL character, at which the system would end it";
    BOOST_TEST(error_of<FileError>([&] { read_stan_csv(path); }) == expected);
    BOOST_TEST(error_of<FileError>([&] { read_stan_csv(std::vector{path}); }) == expected);
    BOOST_TEST(error_of<FileError>([&] { StanCsvReader reader(path); }) == expected);
}

BOOST_AUTO_TEST_SUITE_END()
