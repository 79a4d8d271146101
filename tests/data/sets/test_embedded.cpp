#include "../../support.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/formats/csv.hpp>
#include <pollen/data/io/file.hpp>
#include <pollen/data/io/gzip.hpp>
#include <pollen/data/sets/detail/full_file.hpp>
#include <pollen/data/sets/detail/sha256.hpp>
#include <pollen/data/sets/embedded.hpp>

using namespace pollen;
using namespace pollen::test;

namespace {

// An environment variable for one test; nullptr means that it is not set.
class Variable {
  public:
    Variable(const char* name, const char* value) : name_(name) {
        if (const char* old = std::getenv(name)) old_ = old;
        set(value);
    }
    ~Variable() { set(old_ ? old_->c_str() : nullptr); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

  private:
    void set(const char* value) {
        if (value)
            setenv(name_, value, 1);
        else
            unsetenv(name_);
    }
    const char* name_;
    std::optional<std::string> old_;
};

const std::string kAdvice =
    "; set POLLEN_DATA to the directory data/embedded of pollen's source, or share/pollen/data of an installed pollen";

}  // namespace

BOOST_AUTO_TEST_SUITE(embedded)

BOOST_AUTO_TEST_CASE(what_comes_with_pollen) {
    const Variable none("POLLEN_DATA", nullptr);
    const std::pair<const char*, std::size_t> files[] = {{"mnist/train-images.idx.gz", 804877},
                                                         {"mnist/train-labels.idx.gz", 2534},
                                                         {"mnist/test-images.idx.gz", 155853},
                                                         {"mnist/test-labels.idx.gz", 526},
                                                         {"fashion-mnist/test-images.idx.gz", 440030},
                                                         {"fashion-mnist/test-labels.idx.gz", 524},
                                                         {"sp500/sp500.csv", 66638},
                                                         {"mushroom/agaricus-lepiota.data.gz", 29462},
                                                         {"uci/concrete.txt.gz", 10593},
                                                         {"uci/energy.txt.gz", 3962},
                                                         {"uci/wine-quality-red.txt.gz", 22507},
                                                         {"uci/yacht.txt.gz", 1627}};
    for (const auto& [file, size] : files) BOOST_TEST(read_bytes(embedded_data(file)).size() == size, file);
    BOOST_TEST(std::filesystem::is_directory(embedded_data("mnist")));
    BOOST_TEST(contents(embedded_data("sp500/sp500.csv")).starts_with("date,close\n2008-05-02,1413.900024\n"));
}

// The rows and columns that UCI describes, and the sums of the targets as awk has them.
BOOST_AUTO_TEST_CASE(tables_of_uci) {
    struct Expected {
        const char* name;
        std::int64_t rows, columns;
        double sum;
    };
    for (const Expected& expected : {Expected{"concrete", 1030, 9, 36892.5},
                                     {"energy", 768, 9, 17131.93},
                                     {"wine-quality-red", 1599, 12, 9012.0},
                                     {"yacht", 308, 7, 3232.57}}) {
        const Table table =
            read_csv(embedded_data("uci/" + std::string(expected.name) + ".txt.gz"), {.delimiter = ' '});
        BOOST_TEST((table.values.shape() == Shape{expected.rows, expected.columns}), expected.name);
        double sum = 0;
        for (std::int64_t i = 0; i < expected.rows; ++i) sum += table.values(i, expected.columns - 1);
        BOOST_TEST(sum == expected.sum, boost::test_tools::tolerance(1e-12));
    }
}

BOOST_AUTO_TEST_CASE(where_it_is_looked_for) {
    const TemporaryDirectory directory;
    put(directory / "file", "");
    {
        const Variable given("POLLEN_DATA", directory.path().c_str());
        BOOST_TEST(embedded_data("file") == directory / "file");
        BOOST_TEST(error_of<FileError>([] { embedded_data("mnist"); }) ==
                   "mnist: is not found: it is not in " + directory.path() + " (POLLEN_DATA)" + kAdvice);
    }
    const Variable none("POLLEN_DATA", "");
    BOOST_TEST(embedded_data("file", directory.path().c_str()) == directory / "file");
    BOOST_TEST(embedded_data("mnist", directory.path().c_str()) == embedded_data("mnist", ""));
    const std::string message = error_of<FileError>([&] { embedded_data("nothing", directory.path().c_str()); });
    BOOST_TEST(message.starts_with("nothing: is not found: it is not in " + directory.path() + " and /"));
    BOOST_TEST(message.ends_with(kAdvice));
}

BOOST_AUTO_TEST_CASE(the_cache) {
    const Variable cache("POLLEN_CACHE", nullptr), caches("XDG_CACHE_HOME", nullptr), home("HOME", "/h");
    BOOST_TEST(cache_directory() == "/h/.cache/pollen");
    {
        const Variable relative("XDG_CACHE_HOME", "c");
        BOOST_TEST(cache_directory() == "/h/.cache/pollen");
        const Variable absolute("XDG_CACHE_HOME", "/c");
        BOOST_TEST(cache_directory() == "/c/pollen");
        const Variable given("POLLEN_CACHE", "p");
        BOOST_TEST(cache_directory() == "p");
    }
    const Variable homeless("HOME", nullptr);
    BOOST_TEST(error_of<FileError>([] { cache_directory(); }) ==
               "there is no cache directory: set POLLEN_CACHE, or HOME, to one");
    BOOST_TEST(!find_data("mnist"));
    BOOST_TEST(!has_data("mnist"));
}

BOOST_AUTO_TEST_CASE(full_sets) {
    const TemporaryDirectory directory;
    const Variable cache("POLLEN_CACHE", directory.path().c_str());
    const std::string set = directory / "notmnist";
    BOOST_TEST(!find_data("notmnist"));
    std::filesystem::create_directory(set);
    put(set + "/test-images.idx.gz", "");
    BOOST_TEST(!find_data("notmnist"));
    BOOST_TEST(!has_data("notmnist"));
    BOOST_TEST(error_of<FileError>([] { require_data("notmnist"); }) ==
               set + "/test-labels.idx.gz: is not there; `./run data notmnist` in pollen's source brings the full set");
    put(set + "/test-labels.idx.gz", "");
    const std::string damaged = set +
                                "/test-images.idx.gz: holds 0 bytes instead of 7840016; remove it and run `./run data "
                                "notmnist` in pollen's source";
    BOOST_TEST(has_data("notmnist"));  // all its files are there; it does not look into them
    BOOST_TEST(error_of<FileError>([] { find_data("notmnist"); }) == damaged);
    BOOST_TEST(error_of<FileError>([] { require_data("notmnist"); }) == damaged);
    BOOST_TEST(error_of<FileError>([] { data_directory("notmnist"); }) == damaged);
    BOOST_TEST(data_directory("mnist") == embedded_data("mnist"));
    const std::string unknown = ": there is no set \"cifar\"; there are mnist, fashion-mnist, notmnist, sp500";
    BOOST_TEST(error_of<ValueError>([] { find_data("cifar"); }) == "find_data" + unknown);
    BOOST_TEST(error_of<ValueError>([] { has_data("cifar"); }) == "has_data" + unknown);
    BOOST_TEST(error_of<ValueError>([] { require_data("cifar"); }) == "require_data" + unknown);
}

// The digests are those of sha256sum.
BOOST_AUTO_TEST_CASE(sha256_of_bytes) {
    const auto of = [](const std::string& text) { return detail::sha256(std::as_bytes(std::span(text))); };
    BOOST_TEST(of("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    BOOST_TEST(of("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    BOOST_TEST(of(std::string(55, 'x')) == "d5e285683cd4efc02d021a5c62014694958901005d6f71e89e0989fac77e4072");
    BOOST_TEST(of(std::string(56, 'x')) == "04c26261370ee7541549d16dee320c723e3fd14671e66a099afe0a377c16888e");
    BOOST_TEST(of(std::string(63, 'x')) == "75220b47218278e656f2013bb8f0c455a25eaf01e86c64924e9d48d89776d6f2");
    BOOST_TEST(of(std::string(64, 'x')) == "7ce100971f64e7001e8fe5a51973ecdfe1ced42befe7ee8d5fd6219506b5393c");
    BOOST_TEST(of(std::string(65, 'x')) == "9537c5fdf120482f7d58d25e9ed583f52c02b4e304ea814db1633ad565aed7e9");
    BOOST_TEST(of(std::string(119, 'x')) == "000b48d4edf0fa7bee3c6236ecd2785baa5db4eeb8bb54341b029e0d9fa5fb0c");
    BOOST_TEST(of(std::string(120, 'x')) == "13f05a0b594787f5ecd315edc96141bd3243203d1b7d4f0836f37308b276ba98");
    BOOST_TEST(of(std::string(1000, 'x')) == "44f8354494a5ba03ba1792a8d3e9c534c47a9181980fde7a3f44b06ef2ae7c7f");
}

BOOST_AUTO_TEST_CASE(a_file_of_a_full_set) {
    const TemporaryDirectory directory;
    const std::string path = directory / "f.gz", text(1000, 'x');
    const detail::FullFile known{"digits", "f.gz", "f", 1000,
                                 "44f8354494a5ba03ba1792a8d3e9c534c47a9181980fde7a3f44b06ef2ae7c7f"};
    const std::string advice = "; remove it and run `./run data digits` in pollen's source";
    const auto error = [&](const std::string& contents) {
        put(path, contents);
        return error_of<FileError>([&] { detail::check_full_file(path, known); });
    };
    const auto zipped = [](const std::string& contents) {
        const std::vector<std::byte> bytes = gzip(std::as_bytes(std::span(contents)));
        return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    };
    BOOST_TEST(error(text) == "");
    BOOST_TEST(error(zipped(text)) == "");
    BOOST_TEST(error(text + "x") == path + ": holds 1001 bytes instead of 1000" + advice);
    BOOST_TEST(error(zipped(text + "x")) == path + ": gzip: expands to more than the limit of 1000 bytes" + advice);
    BOOST_TEST(error(std::string(1000, 'y')) ==
               path +
                   ": its sha256 is 7e33ae3f1e88ddf3291109cc366b12dcd8bf8fe77bec53009f200a76e4649c07 instead of "
                   "44f8354494a5ba03ba1792a8d3e9c534c47a9181980fde7a3f44b06ef2ae7c7f" +
                   advice);
    std::string broken = zipped(text);
    broken[broken.size() - 6] ^= 1;
    BOOST_TEST(error(broken).ends_with("incorrect data check" + advice));
}

BOOST_AUTO_TEST_SUITE_END()
