#include "../../support.hpp"
#include "../temporary_directory.hpp"

#include <pollen/data/io/file.hpp>
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
                                                         {"sp500/sp500.csv", 66638}};
    for (const auto& [file, size] : files) BOOST_TEST(read_bytes(embedded_data(file)).size() == size, file);
    BOOST_TEST(std::filesystem::is_directory(embedded_data("mnist")));
    BOOST_TEST(contents(embedded_data("sp500/sp500.csv")).starts_with("date,close\n2008-05-02,1413.900024\n"));
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
}

BOOST_AUTO_TEST_CASE(full_sets) {
    const TemporaryDirectory directory;
    const Variable cache("POLLEN_CACHE", directory.path().c_str());
    const std::string set = directory / "notmnist";
    BOOST_TEST(!find_data("notmnist"));
    std::filesystem::create_directory(set);
    put(set + "/test-images.idx.gz", "");
    BOOST_TEST(!find_data("notmnist"));
    BOOST_TEST(error_of<FileError>([] { require_data("notmnist"); }) ==
               set + "/test-labels.idx.gz: is not there; `./run data notmnist` in pollen's source brings the full set");
    put(set + "/test-labels.idx.gz", "");
    BOOST_TEST(find_data("notmnist").value() == set);
    BOOST_TEST(require_data("notmnist") == set);
    BOOST_TEST(data_directory("notmnist") == set);
    BOOST_TEST(data_directory("mnist") == embedded_data("mnist"));
    BOOST_TEST(error_of<ValueError>([] { find_data("cifar"); }) ==
               "find_data: there is no set \"cifar\"; there are mnist, fashion-mnist, notmnist, sp500");
}

BOOST_AUTO_TEST_SUITE_END()
